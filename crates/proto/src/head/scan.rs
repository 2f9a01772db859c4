//! Looks for bytes, eight at a time.
//!
//! Knows octets; must not know what they mean in a message.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Place of the first byte below 0x20 at or behind `from`.
pub(crate) fn control(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let (words, tail) = rest.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        // The lowest high bit that is set is exact: only a byte that was found borrows from the
        // byte above it.
        let word = u64::from_le_bytes(*word);
        let found = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        if found != 0 {
            return Some(from + index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let place = tail.iter().position(|byte| *byte < 0x20)?;
    Some(from + words.len() * 8 + place)
}

/// Length of the token at the front (RFC 9110 section 5.6.2).
pub(crate) fn token(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !is_token(*byte)).unwrap_or(bytes.len())
}

/// Is this byte allowed in a token (RFC 9110 section 5.6.2)?
pub(crate) const fn is_token(byte: u8) -> bool {
    TOKEN[byte as usize]
}

const TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let octet = byte as u8;
        table[byte] = octet.is_ascii_alphanumeric();
        byte += 1;
    }
    let marks = b"!#$%&'*+-.^_`|~";
    let mut index = 0;
    while index < marks.len() {
        table[marks[index] as usize] = true;
        index += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::{control, is_token, token};

    #[test]
    fn control_is_found_at_every_place() {
        for length in 0..40 {
            for place in 0..length {
                for byte in [0, b'\t', b'\n', b'\r', 0x1f] {
                    let mut bytes = vec![b' '; length];
                    bytes[place] = byte;
                    bytes[length - 1] = bytes[length - 1].min(0x1f);
                    for from in 0..=place {
                        assert_eq!(control(&bytes, from), Some(place));
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_else_is_a_control() {
        let printable: Vec<u8> = (0x20..=0xff).collect();
        assert_eq!(control(&printable, 0), None);
        assert_eq!(control(b"", 0), None);
        assert_eq!(control(b"ab", 2), None);
        assert_eq!(control(b"ab", 9), None);
    }

    #[test]
    fn a_token_ends_at_every_other_byte() {
        for length in 0..20 {
            for place in 0..length {
                for byte in 0..=255 {
                    let mut bytes = vec![b'-'; length];
                    bytes[place] = byte;
                    let expected = if is_token(byte) { length } else { place };
                    assert_eq!(token(&bytes), expected, "{byte} at {place} of {length}");
                }
            }
        }
    }

    #[test]
    fn tokens_are_those_of_the_grammar() {
        let allowed: Vec<u8> = (0..=255).filter(|byte| is_token(*byte)).collect();
        let mut expected: Vec<u8> = b"!#$%&'*+-.^_`|~".to_vec();
        expected.extend(b'0'..=b'9');
        expected.extend(b'a'..=b'z');
        expected.extend(b'A'..=b'Z');
        expected.sort_unstable();
        assert_eq!(allowed, expected);
    }
}
