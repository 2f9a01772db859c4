//! Numbers of QUIC (RFC 9000 section 16): the first two bits say how many bytes there are.
//!
//! Knows how they are written; must not know what is counted.

/// The largest number there is.
pub const MOST: u64 = (1 << 62) - 1;

/// Reads a number; with it, how many bytes it takes. None: it has not come whole.
pub fn read(input: &[u8]) -> Option<(u64, usize)> {
    let &first = input.first()?;
    let length = 1_usize << (first >> 6);
    let rest = input.get(1..length)?;
    let begin = u64::from(first & 0x3f);
    Some((rest.iter().fold(begin, |value, &byte| value << 8 | u64::from(byte)), length))
}

/// Appends a number in as few bytes as it takes. Values over [`MOST`] can't be written, and no caller
/// has one: lengths and identifiers are smaller.
pub fn write(value: u64, out: &mut Vec<u8>) {
    debug_assert!(value <= MOST);
    match value {
        0..0x40 => out.push(value as u8),
        0x40..0x4000 => out.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
        0x4000..0x4000_0000 => out.extend_from_slice(&(value as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend_from_slice(&(value | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// RFC 9000, appendix A.1.
    #[test]
    fn the_examples_of_the_rfc() {
        let cases: [(&[u8], u64); 5] = [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
            (&[0x40, 0x25], 37),
        ];
        for (bytes, value) in cases {
            assert_eq!(read(bytes), Some((value, bytes.len())));
            for end in 0..bytes.len() {
                assert_eq!(read(&bytes[..end]), None, "{value} in {end} bytes");
            }
        }
    }

    #[test]
    fn each_length_ends_where_the_next_begins() {
        for (value, length) in [
            (0, 1),
            (63, 1),
            (64, 2),
            (16_383, 2),
            (16_384, 4),
            ((1 << 30) - 1, 4),
            (1 << 30, 8),
            (MOST, 8),
        ] {
            let mut out = Vec::new();
            write(value, &mut out);
            assert_eq!((out.len(), read(&out)), (length, Some((value, length))));
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(value in 0..=MOST) {
            let mut out = Vec::new();
            write(value, &mut out);
            prop_assert_eq!(read(&out), Some((value, out.len())));
        }
    }
}
