//! Text of JSON with places for a number: of as many digits as it has, so that the length varies.

use std::io::Write as _;

use super::template::{Digits, same};
use crate::plan::{JsonPart, NUMBER_BYTES};

/// Digits of the greatest number there is.
const MOST_DIGITS: usize = 20;

/// What [`Template`](super::template::Template) is where numbers stand outside of strings.
#[derive(Debug, Clone)]
pub(super) struct JsonText {
    parts: Vec<JsonPart>,
    /// Bytes of all parts but the numbers.
    constant: usize,
    /// How many numbers there are.
    numbers: usize,
    digits: Digits,
    /// What was written last; never grows.
    bytes: Vec<u8>,
}

impl JsonText {
    pub(super) fn new(parts: &[JsonPart]) -> Self {
        let constant = parts.iter().map(|part| match part {
            JsonPart::Text(text) => text.len(),
            JsonPart::Digits => NUMBER_BYTES,
            JsonPart::Number => 0,
        });
        let constant = constant.sum();
        let numbers = parts.iter().filter(|part| **part == JsonPart::Number).count();
        let bytes = Vec::with_capacity(constant + numbers * MOST_DIGITS);
        Self { parts: parts.to_vec(), constant, numbers, digits: Digits::default(), bytes }
    }

    /// The bytes for this sequence number.
    pub(super) fn write(&mut self, seq: u64) -> &[u8] {
        self.bytes.clear();
        for part in &self.parts {
            match part {
                JsonPart::Text(text) => self.bytes.extend_from_slice(text.as_bytes()),
                JsonPart::Digits => {
                    self.bytes.extend_from_slice(self.digits.of(seq).as_flattened());
                }
                JsonPart::Number => {
                    // Writing into a Vec can't fail.
                    let _ = write!(self.bytes, "{}", number(seq));
                }
            }
        }
        &self.bytes
    }

    /// Are these the bytes for this sequence number?
    pub(super) fn is(&mut self, seq: u64, bytes: &[u8]) -> bool {
        bytes.len() == self.length(seq) && same(self.write(seq), bytes)
    }

    pub(super) fn length(&self, seq: u64) -> usize {
        let digits = number(seq).checked_ilog10().map_or(1, |log| log as usize + 1);
        self.constant + self.numbers * digits
    }

    pub(super) fn longest(&self) -> usize {
        self.constant + self.numbers * MOST_DIGITS
    }
}

/// Messages count from 1, and the preflight's own one, with the greatest sequence number, is 0: all
/// are whole numbers that a reader of JSON takes as they are, and small ones where they can be.
fn number(seq: u64) -> u64 {
    seq.wrapping_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_leading_zeros_and_digits_stay_as_they_are() {
        let text = |text: &str| JsonPart::Text(text.to_owned());
        let parts = [
            text(r#"{"id":"#),
            JsonPart::Number,
            text(r#","key":""#),
            JsonPart::Digits,
            text(r#"","again":"#),
            JsonPart::Number,
            text("}"),
        ];
        let mut json = JsonText::new(&parts);
        let capacity = json.bytes.capacity();
        let worker = (1 << 13) - 1;
        let rows = [
            (u64::MAX, "0", "ffffffffffffffff"),
            (0, "1", "0000000000000000"),
            (8, "9", "0000000000000008"),
            (9, "10", "0000000000000009"),
            (worker << 40 | ((1 << 40) - 1), "9007199254740992", "001fffffffffffff"),
        ];
        for (seq, number, digits) in rows {
            let expected = format!(r#"{{"id":{number},"key":"{digits}","again":{number}}}"#);
            assert_eq!(json.write(seq), expected.as_bytes());
            assert_eq!(json.length(seq), expected.len());
            assert!(json.is(seq, expected.as_bytes()) && !json.is(seq ^ 2, expected.as_bytes()));
            assert!(expected.len() <= json.longest());
        }
        assert_eq!(json.bytes.capacity(), capacity, "it never grows");
    }
}
