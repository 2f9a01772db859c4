//! Bytes as people read them, on one line.

use std::fmt::Write as _;

/// The beginning of a reply, as far as it is shown, bytes.
const SHOWN: usize = 120;

/// The first bytes of this content: text as it is, anything else escaped.
pub fn excerpt(content: &[u8]) -> String {
    let (shown, more) = if content.len() > SHOWN {
        (&content[..boundary(content, SHOWN)], "…")
    } else {
        (content, "")
    };
    format!("{}{more}", escaped(shown))
}

/// Text as it is but for what can't be printed, and bytes that are none in hexadecimal digits.
pub(super) fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '"' | '\'' | '\\' => text.push(letter),
                _ => text.extend(letter.escape_debug()),
            }
        }
        for byte in chunk.invalid() {
            // Writing to a String can't fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// The last place up to `offset` where no character of a text is cut.
pub(super) fn boundary(bytes: &[u8], offset: usize) -> usize {
    const LONGEST_TAIL: usize = 3;
    let is_tail = |byte: &u8| byte & 0xc0 == 0x80;
    let tail = bytes[..=offset.min(bytes.len() - 1)].iter().rev().take_while(|byte| is_tail(byte));
    match tail.count() {
        count @ 1..=LONGEST_TAIL if count <= offset => offset - count,
        _ => offset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_excerpts() {
        let rows: [(&[u8], &str); 6] = [
            (b"", ""),
            (br#"{"error":"bad json"}"#, r#"{"error":"bad json"}"#),
            (b"a\r\n\tb\x00\x1b[31m", "a\\r\\n\\tb\\0\\u{1b}[31m"),
            ("gr\u{fc}n \u{202e}".as_bytes(), "gr\u{fc}n \\u{202e}"),
            (b"\xff\xfeA", "\\xff\\xfeA"),
            (b"back\\slash", "back\\slash"),
        ];
        for (content, expected) in rows {
            assert_eq!(excerpt(content), expected);
        }
    }

    #[test]
    fn what_is_longer_ends_with_a_whole_character() {
        assert_eq!(excerpt(&[b'a'; SHOWN]), "a".repeat(SHOWN));
        assert_eq!(excerpt(&[b'a'; SHOWN + 1]), format!("{}…", "a".repeat(SHOWN)));
        for before in SHOWN - 4..=SHOWN {
            let text = format!("{}{}", "a".repeat(before), "\u{1f600}".repeat(9));
            let shown = excerpt(text.as_bytes());
            assert!(text.starts_with(shown.trim_end_matches('…')), "{shown}");
            assert!(shown.trim_end_matches('…').len() > SHOWN - 4, "{shown}");
        }
        assert_eq!(excerpt(&[0x80; SHOWN + 1]), format!("{}…", "\\x80".repeat(SHOWN)));
    }
}
