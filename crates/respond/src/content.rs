//! The content of answers.
//!
//! Knows bytes. Must not know how they are framed or sent.

use std::fmt::Write as _;

/// The body of `GET /message`: 64 bytes of JSON.
pub const MESSAGE: &[u8; 64] =
    b"{\"id\":\"7\",\"text\":\"One message of 64 bytes, asked for in 4 ways\"}";

/// What precedes the request's body in the answer to `POST /test`.
pub(crate) const RECEIVED: &[u8] = b"received: ";

/// Types of content.
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";
pub(crate) const BYTES: &str = "application/octet-stream";
pub(crate) const JSON: &str = "application/json";

/// The body of `GET /`.
pub(crate) const PAGE: &[u8] = include_bytes!("page.html");

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The beginning of the pattern: the alphabet repeated, from its first letter.
pub(crate) static PATTERN: [u8; 16 * 1024] = pattern();

/// The byte at this offset of the body of `GET /bytes/N` and `GET /chunked/N`.
pub const fn pattern_at(offset: u64) -> u8 {
    ALPHABET[(offset % ALPHABET.len() as u64) as usize]
}

/// Up to `most` bytes of the pattern from this offset on; at least one unless `most` is 0.
pub(crate) fn pattern_from(offset: u64, most: u64) -> &'static [u8] {
    let start = (offset % ALPHABET.len() as u64) as usize;
    let length = most.min((PATTERN.len() - start) as u64) as usize;
    &PATTERN[start..start + length]
}

/// The body of `GET /messages/ID`: JSON.
pub(crate) fn message_by_id(id: &str) -> String {
    let mut body = String::from("{\"id\":");
    append_json(id, &mut body);
    body + "}"
}

/// Appends a text as JSON has it.
pub(crate) fn append_json(text: &str, body: &mut String) {
    body.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => body.extend(['\\', letter]),
            // JSON requires an escape for these (RFC 8259 section 7).
            '\0'..' ' => {
                // Writing to a String cannot fail.
                let _ = write!(body, "\\u{:04x}", u32::from(letter));
            }
            _ => body.push(letter),
        }
    }
    body.push('"');
}

const fn pattern() -> [u8; 16 * 1024] {
    let mut bytes = [0; 16 * 1024];
    let mut offset = 0;
    while offset < bytes.len() {
        bytes[offset] = pattern_at(offset as u64);
        offset += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_the_pattern_join() {
        let mut whole = Vec::new();
        while whole.len() < 100_000 {
            whole.extend_from_slice(pattern_from(whole.len() as u64, 9_001));
        }
        assert!((0..).zip(&whole).all(|(offset, &byte)| byte == pattern_at(offset)));
    }

    #[test]
    fn ids_are_written_as_json() {
        let table = [
            ("7", r#"{"id":"7"}"#),
            ("a b", r#"{"id":"a b"}"#),
            ("é\u{1f600}", "{\"id\":\"é\u{1f600}\"}"),
            ("\"\\", r#"{"id":"\"\\"}"#),
            ("\n\0\u{1f}", r#"{"id":"\u000a\u0000\u001f"}"#),
        ];
        for (id, body) in table {
            assert_eq!(message_by_id(id), body);
        }
    }
}
