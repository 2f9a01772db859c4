//! Bytes with places for a sequence number: written in place, never rebuilt.

use crate::plan::{NUMBER_BYTES, PLACEHOLDER};

/// The pattern of a payload of a given length comes again after so many bytes.
pub(super) const PERIOD: usize = 26;

/// The pattern's byte at this offset.
pub(super) fn letter(offset: usize) -> u8 {
    b'a' + (offset % PERIOD) as u8
}

/// Bytes with places for a sequence number.
#[derive(Debug, Clone)]
pub(super) struct Template {
    bytes: Vec<u8>,
    /// Begin and width of each place.
    places: Vec<(usize, usize)>,
    digits: Digits,
}

/// Makes digits; those of the upper half of a number stay the same for long.
#[derive(Debug, Clone, Default)]
pub(super) struct Digits {
    /// The upper half that was last asked for, and its digits; none at first.
    upper: Option<(u32, u64)>,
}

impl Template {
    /// Text in which each `{seq}` is a place of 16 digits.
    pub(super) fn from_text(text: &str) -> Self {
        let mut bytes = Vec::with_capacity(text.len());
        let mut places = Vec::new();
        let mut parts = text.split(PLACEHOLDER);
        bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
        for part in parts {
            places.push((bytes.len(), NUMBER_BYTES));
            bytes.extend_from_slice(&[b'0'; NUMBER_BYTES]);
            bytes.extend_from_slice(part.as_bytes());
        }
        Self { bytes, places, digits: Digits::default() }
    }

    /// `length` printable bytes that begin with a place, as wide as fits.
    pub(super) fn of_length(length: usize) -> Self {
        let bytes = (0..length).map(letter).collect();
        let places = vec![(0, length.min(NUMBER_BYTES))];
        Self { bytes, places, digits: Digits::default() }
    }

    /// These bytes, with places that begin there and are so wide.
    pub(super) fn with_places(bytes: Vec<u8>, places: Vec<(usize, usize)>) -> Self {
        Self { bytes, places, digits: Digits::default() }
    }

    /// The bytes for this sequence number. A place narrower than 16 digits takes the last ones.
    #[inline]
    pub(super) fn write(&mut self, seq: u64) -> &[u8] {
        let digits = self.digits.of(seq);
        for &(offset, width) in &self.places {
            let place = &mut self.bytes[offset..offset + width];
            match place.as_chunks_mut() {
                // All digits: two stores, where a stretch of any width would be a call.
                ([upper, lower], []) => [*upper, *lower] = digits,
                _ => place.copy_from_slice(&digits.as_flattened()[NUMBER_BYTES - width..]),
            }
        }
        &self.bytes
    }

    /// Are these the bytes for this sequence number? Writes nothing: what was just written in words
    /// can't be read in longer ones before it has left the store buffer.
    #[inline]
    pub(super) fn is(&mut self, seq: u64, bytes: &[u8]) -> bool {
        if bytes.len() != self.bytes.len() {
            return false;
        }
        let digits = self.digits.of(seq);
        let mut fixed = 0;
        for &(offset, width) in &self.places {
            let place = &bytes[offset..offset + width];
            let is_right = match place.as_chunks() {
                ([upper, lower], []) => *upper == digits[0] && *lower == digits[1],
                _ => *place == digits.as_flattened()[NUMBER_BYTES - width..],
            };
            if !is_right || !same(&bytes[fixed..offset], &self.bytes[fixed..offset]) {
                return false;
            }
            fixed = offset + width;
        }
        same(&bytes[fixed..], &self.bytes[fixed..])
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// The sequence number with which a message begins, in all its digits; none where it does not.
pub(crate) fn number_in(message: &[u8]) -> Option<u64> {
    let digits = message.first_chunk::<NUMBER_BYTES>()?;
    digits.iter().try_fold(0, |number: u64, digit| match digit {
        b'0'..=b'9' => Some(number << 4 | u64::from(digit - b'0')),
        b'a'..=b'f' => Some(number << 4 | u64::from(digit - b'a' + 10)),
        _ => None,
    })
}

impl Digits {
    /// The number in hexadecimal digits, in words, as whoever needs them takes them.
    #[inline]
    pub(super) fn of(&mut self, seq: u64) -> [[u8; NUMBER_BYTES / 2]; 2] {
        let upper = (seq >> 32) as u32;
        let known = self.upper.filter(|(half, _)| *half == upper);
        let (_, first) = known.unwrap_or_else(|| (upper, eight_digits(upper)));
        self.upper = Some((upper, first));
        [first.to_be_bytes(), eight_digits(seq as u32).to_be_bytes()]
    }
}

/// Are these the same bytes? As `==`, which for a few bytes is a call that costs more than they do.
#[inline]
pub(super) fn same(one: &[u8], other: &[u8]) -> bool {
    const FEW: usize = 32;
    if one.len() > FEW || one.len() != other.len() {
        return one == other;
    }
    let ((one, one_rest), (other, other_rest)) = (one.as_chunks::<4>(), other.as_chunks::<4>());
    let words = one.iter().zip(other);
    let differ = words.fold(0, |differ, (one, other)| {
        differ | (u32::from_ne_bytes(*one) ^ u32::from_ne_bytes(*other))
    });
    let rest = one_rest.iter().zip(other_rest);
    rest.fold(differ, |differ, (one, other)| differ | u32::from(one ^ other)) == 0
}

/// All digits at once, one in each byte: this runs twice for every message.
#[inline]
fn eight_digits(half: u32) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let spread = u64::from(half);
    let spread = (spread << 16 | spread) & 0x0000_ffff_0000_ffff;
    let spread = (spread << 8 | spread) & 0x00ff_00ff_00ff_00ff;
    let spread = (spread << 4 | spread) & (EACH * 0x0f);
    // One where the digit is a letter: with six more, it no longer fits four bits.
    let letters = ((spread + EACH * 6) >> 4) & EACH;
    spread + EACH * u64::from(b'0') + letters * u64::from(b'a' - b'0' - 10)
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
    fn digits_are_those_of_the_standard_library() {
        let mut digits = Digits::default();
        for shift in 0..64 {
            for seq in
                [1_u64 << shift, 0xfedc_ba98_7654_3210_u64.rotate_left(shift), u64::MAX >> shift]
            {
                let found = digits.of(seq);
                let found = found.as_flattened();
                assert_eq!(found, format!("{seq:016x}").as_bytes(), "{seq}");
                assert_eq!(number_in(found), Some(seq));
            }
        }
    }

    #[test]
    fn what_does_not_begin_with_a_number_has_none() {
        for message in
            ["", "123456789abcdef", "0000000000000 01", "000000000000000A", "+00000000000000a"]
        {
            assert_eq!(number_in(message.as_bytes()), None, "{message}");
        }
        assert_eq!(number_in(b"00000000000000ffmore"), Some(255));
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

    #[test]
    fn what_is_written_is_right_and_nothing_else_is() {
        let templates = [
            Template::from_text("{seq}"),
            Template::from_text(
                r#"{"id":"{seq}","again":"{seq}","and more of it than a few words":1}"#,
            ),
            Template::from_text("no number"),
        ];
        for mut template in (0..70).map(Template::of_length).chain(templates) {
            for seq in [0, 0x1234_5678_9abc_def0, u64::MAX] {
                let mut bytes = template.write(seq).to_vec();
                template.write(1);
                assert!(template.is(seq, &bytes));
                for offset in 0..bytes.len() {
                    bytes[offset] ^= 1;
                    assert!(!template.is(seq, &bytes), "byte {offset} of {}", bytes.len());
                    bytes[offset] ^= 1;
                }
                assert!(
                    !template.is(seq, &bytes[..bytes.len().saturating_sub(1)]) || bytes.is_empty()
                );
                bytes.push(b'a');
                assert!(!template.is(seq, &bytes));
            }
        }
    }
}
