//! Texts with holes, compiled: contiguous bytes, and where values are laid into them.
//!
//! Knows how values are written. Must not know what a text is for.

use super::made::Making;
use super::values::Values;
use crate::plan::traffic::{Part, Written};

/// What holes are filled with.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// What the session knows.
    pub values: &'a Values,
    /// Which message it is.
    pub making: Making,
}

/// A text with holes.
#[derive(Debug, Clone, Default)]
pub(super) struct Template {
    bytes: Box<[u8]>,
    /// Where each hole is, in order, and what goes there.
    holes: Box<[(usize, Part)]>,
}

impl Template {
    pub(super) fn new(text: &[Part]) -> Self {
        let (mut bytes, mut holes) = (Vec::new(), Vec::new());
        for part in text {
            match part {
                Part::Text(words) => bytes.extend_from_slice(words.as_bytes()),
                hole => holes.push((bytes.len(), hole.clone())),
            }
        }
        Self { bytes: bytes.into(), holes: holes.into() }
    }

    /// What the messages of a call are where nothing changes them.
    pub(super) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), holes: Box::default() }
    }

    /// All of it, where it has no holes.
    pub(super) fn constant(&self) -> Option<&[u8]> {
        self.holes.is_empty().then_some(&*self.bytes)
    }

    /// What it comes to be: as it stands where it has no holes, and else laid into `room`.
    pub(super) fn fill<'a>(&'a self, known: Known<'_>, room: &'a mut Vec<u8>) -> &'a [u8] {
        if let Some(constant) = self.constant() {
            return constant;
        }
        room.clear();
        let mut from = 0;
        for (hole, part) in &self.holes {
            room.extend_from_slice(&self.bytes[from..*hole]);
            write(part, known, room);
            from = *hole;
        }
        room.extend_from_slice(&self.bytes[from..]);
        room
    }
}

/// Appends what goes into a hole.
pub(super) fn write(part: &Part, known: Known<'_>, out: &mut Vec<u8>) {
    match part {
        Part::Text(words) => out.extend_from_slice(words.as_bytes()),
        Part::Make(made) => known.making.write(*made, out),
        Part::Value(index, written) => {
            let value = known.values.get(*index);
            match written {
                Written::Plain => out.extend_from_slice(value),
                Written::Url => percent_encoded(value, is_unreserved, out),
                Written::Json => json_escaped(value, out),
            }
        }
    }
}

/// The same, in a request's target: what can't stand there is encoded.
pub(super) fn write_in_target(part: &Part, known: Known<'_>, out: &mut Vec<u8>) {
    match part {
        Part::Value(index, Written::Plain) => {
            percent_encoded(known.values.get(*index), may_stand_in_target, out);
        }
        _ => write(part, known, out),
    }
}

fn percent_encoded(value: &[u8], stays: impl Fn(u8) -> bool, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in value {
        if stays(byte) {
            out.push(byte);
        } else {
            let digits = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
            out.extend_from_slice(&[b'%', digits[0], digits[1]]);
        }
    }
}

/// RFC 3986 section 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// In a path or query (RFC 3986 sections 3.3, 3.4), what is encoded already included.
fn may_stand_in_target(byte: u8) -> bool {
    is_unreserved(byte) || b"!$&'()*+,;=:@/?%".contains(&byte)
}

/// As it stands inside a string of JSON (RFC 8259 section 7).
fn json_escaped(value: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for &byte in value {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            ..0x20 => {
                out.extend_from_slice(b"\\u00");
                out.push(DIGITS[usize::from(byte >> 4)]);
                out.push(DIGITS[usize::from(byte & 15)]);
            }
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::traffic::Made;

    fn words(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    #[test]
    fn holes_are_filled_as_they_are_written() {
        let mut values = Values::default();
        values.set(0, "a \"b\"\n/\u{fc}&\u{1}".as_bytes());
        let known = Known { values: &values, making: Making { seq: 4, ..Making::default() } };
        let value = |written| vec![words("<"), Part::Value(0, written), words(">")];
        let rows = [
            (vec![words("all")], "all"),
            (vec![], ""),
            (vec![Part::Make(Made::Seq), words("x"), Part::Make(Made::Seq)], "5x5"),
            (value(Written::Plain), "<a \"b\"\n/\u{fc}&\u{1}>"),
            (value(Written::Url), "<a%20%22b%22%0A%2F%C3%BC%26%01>"),
            (value(Written::Json), "<a \\\"b\\\"\\n/\u{fc}&\\u0001>"),
        ];
        let mut room = Vec::new();
        for (text, expected) in rows {
            let template = Template::new(&text);
            assert_eq!(template.fill(known, &mut room), expected.as_bytes(), "{text:?}");
        }
        let mut out = Vec::new();
        write_in_target(&Part::Value(0, Written::Plain), known, &mut out);
        assert_eq!(out, b"a%20%22b%22%0A/%C3%BC&%01");
    }
}
