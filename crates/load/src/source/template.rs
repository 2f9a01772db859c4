//! Bytes with places for a sequence number: written in place, never rebuilt.

/// Hexadecimal digits of a sequence number.
const DIGITS: usize = 16;
const PLACEHOLDER: &str = "{seq}";

/// Bytes with places for a sequence number.
#[derive(Debug, Clone)]
pub(super) struct Template {
    bytes: Vec<u8>,
    /// Begin and width of each place.
    places: Vec<(usize, usize)>,
}

impl Template {
    /// Text in which each `{seq}` is a place of 16 digits.
    pub(super) fn from_text(text: &str) -> Self {
        let mut bytes = Vec::with_capacity(text.len());
        let mut places = Vec::new();
        let mut parts = text.split(PLACEHOLDER);
        bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
        for part in parts {
            places.push((bytes.len(), DIGITS));
            bytes.extend_from_slice(&[b'0'; DIGITS]);
            bytes.extend_from_slice(part.as_bytes());
        }
        Self { bytes, places }
    }

    /// `length` printable bytes that begin with a place, as wide as fits.
    pub(super) fn of_length(length: usize) -> Self {
        let bytes = (0..length).map(|at| b'a' + (at % 26) as u8).collect();
        Self { bytes, places: vec![(0, length.min(DIGITS))] }
    }

    /// The bytes for this sequence number. A place narrower than 16 digits takes the last ones.
    pub(super) fn write(&mut self, seq: u64) -> &[u8] {
        let digits = hexadecimal(seq);
        for &(at, width) in &self.places {
            self.bytes[at..at + width].copy_from_slice(&digits[DIGITS - width..]);
        }
        &self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }
}

fn hexadecimal(seq: u64) -> [u8; DIGITS] {
    const ALPHABET: [u8; 16] = *b"0123456789abcdef";
    let mut digits = [0; DIGITS];
    for (at, digit) in digits.iter_mut().enumerate() {
        *digit = ALPHABET[((seq >> (60 - 4 * at)) & 15) as usize];
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_becomes_the_number() {
        let mut template = Template::from_text(r#"{"id":"{seq}","again":"{seq}"}"#);
        let expected = r#"{"id":"00000000000000ff","again":"00000000000000ff"}"#;
        assert_eq!(template.write(255), expected.as_bytes());
        assert_eq!(template.len(), expected.len());
    }

    #[test]
    fn table_of_lengths() {
        let cases: [(usize, u64, &str); 4] = [
            (0, 7, ""),
            (3, 0xabcd, "bcd"),
            (16, 0x0123_4567_89ab_cdef, "0123456789abcdef"),
            (20, 1, "0000000000000001qrst"),
        ];
        for (length, seq, expected) in cases {
            assert_eq!(Template::of_length(length).write(seq), expected.as_bytes());
        }
    }
}
