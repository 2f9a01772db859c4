//! A payload that is said to be JSON: is it, whatever number takes the place of `{seq}`?
//!
//! Knows where a text of JSON has strings; must not know where payloads come from.

use super::PLACEHOLDER;

/// A part of a text of JSON in which each `{seq}` becomes the message's number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonPart {
    /// As it stands.
    Text(String),
    /// Inside a string: 16 hexadecimal digits.
    Digits,
    /// Anywhere else: a number, without leading zeros.
    Number,
}

/// The parts of a text.
pub(super) fn parts(text: &str) -> Vec<JsonPart> {
    let (mut parts, mut inside) = (Vec::new(), false);
    let mut pieces = text.split(PLACEHOLDER).peekable();
    while let Some(piece) = pieces.next() {
        inside = ends_inside(piece, inside);
        parts.push(JsonPart::Text(piece.to_owned()));
        if pieces.peek().is_some() {
            parts.push(if inside { JsonPart::Digits } else { JsonPart::Number });
        }
    }
    parts
}

/// Does a string that begins in this piece, or before it, go on behind it?
fn ends_inside(piece: &str, mut inside: bool) -> bool {
    let mut bytes = piece.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => inside = !inside,
            b'\\' if inside => {
                bytes.next();
            }
            _ => {}
        }
    }
    inside
}

/// What is wrong with it as JSON; the column counts `{seq}` as five characters, as it is written.
pub(super) fn fault_of(parts: &[JsonPart]) -> Option<String> {
    // A digit behind the place forbids a zero, and nothing else.
    ["12345", "0"].iter().find_map(|number| fault_in(rendered(parts, number).as_bytes()))
}

/// The text with this number.
pub(super) fn rendered(parts: &[JsonPart], number: &str) -> String {
    let text = parts.iter().map(|part| match part {
        JsonPart::Text(text) => text.as_str(),
        JsonPart::Digits => "00000",
        JsonPart::Number => number,
    });
    text.collect()
}

/// What is wrong with these bytes as JSON.
pub(super) fn fault_in(bytes: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return Some(error.to_string()),
    };
    serde_json::from_str::<serde::de::IgnoredAny>(text).err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_number_unless_a_string_surrounds_it() {
        let shape = |text: &str| -> String {
            let letter = |part: &JsonPart| match part {
                JsonPart::Text(text) => text.clone(),
                JsonPart::Digits => "D".to_owned(),
                JsonPart::Number => "N".to_owned(),
            };
            parts(text).iter().map(letter).collect()
        };
        let rows = [
            (r#"{"id":{seq}}"#, r#"{"id":N}"#),
            (r#"{"id":"{seq}"}"#, r#"{"id":"D"}"#),
            (r#"{"id":"a{seq}b","n":{seq}}"#, r#"{"id":"aDb","n":N}"#),
            (r#"{"\"{seq}":{seq}}"#, r#"{"\"D":N}"#),
            (r#"{"\\":{seq},"\\\"{seq}":1}"#, r#"{"\\":N,"\\\"D":1}"#),
            ("{seq}", "N"),
            ("{seq}{seq}", "NN"),
            ("[]", "[]"),
        ];
        for (text, expected) in rows {
            assert_eq!(shape(text), expected, "{text}");
        }
    }

    #[test]
    fn table_of_what_is_json() {
        let rows = [
            (r#"{"id":{seq}}"#, None),
            (r#"{"id":"{seq}"}"#, None),
            ("[-{seq}, {seq}.5, 1e{seq}]", None),
            ("{seq}", None),
            (r#"{"id":{seq}"#, Some("EOF while parsing an object at line 1 column 11")),
            (r#"{"id":{seq}0}"#, Some("invalid number at line 1 column 8")),
            (r#"{"a":{seq},}"#, Some("key must be a string at line 1 column 12")),
            ("{\n\"a\":nul}", Some("expected ident at line 2 column 8")),
            ("", Some("EOF while parsing a value at line 1 column 0")),
        ];
        for (text, expected) in rows {
            assert_eq!(fault_of(&parts(text)).as_deref(), expected, "{text}");
        }
        assert!(fault_in(b"\"\xff\"").is_some());
    }
}
