//! Numbers with a prefix (RFC 7541 section 5.1).
//!
//! Knows how they are written; must not know what is counted.

use super::PackedError;

/// The largest number that is read. A length or an index that is larger can't be right: no block
/// and no table are allowed to be so long.
const MOST: u64 = u32::MAX as u64;

/// Reads a number whose first `bits` bits are in the first byte; with it, where it ends.
pub(crate) fn read(input: &[u8], bits: u32) -> Result<(usize, usize), PackedError> {
    let most = (1_u64 << bits) - 1;
    let first = u64::from(*input.first().ok_or(PackedError::Truncated)?) & most;
    if first < most {
        return Ok((first as usize, 1));
    }
    let mut value = most;
    for (place, byte) in input[1..].iter().enumerate() {
        // Five bytes hold all that is allowed; zeros behind them would hold nothing.
        if place == 5 {
            return Err(PackedError::Integer);
        }
        value += u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            let whole = usize::try_from(value).ok().filter(|_| value <= MOST);
            return Ok((whole.ok_or(PackedError::Integer)?, place + 2));
        }
    }
    if input.len() > 5 { Err(PackedError::Integer) } else { Err(PackedError::Truncated) }
}

/// Appends a number whose first `bits` bits share a byte with `flags`.
pub(crate) fn write(value: usize, bits: u32, flags: u8, out: &mut Vec<u8>) {
    let most = (1_usize << bits) - 1;
    if value < most {
        out.push(flags | value as u8);
        return;
    }
    out.push(flags | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7541, appendix C.1.
    #[test]
    fn the_examples_of_the_rfc() {
        let mut out = Vec::new();
        write(10, 5, 0, &mut out);
        write(1337, 5, 0, &mut out);
        write(42, 8, 0, &mut out);
        assert_eq!(out, [0b01010, 0b11111, 0b1001_1010, 0b1010, 0b10_1010]);
        assert_eq!(read(&out, 5), Ok((10, 1)));
        assert_eq!(read(&out[1..], 5), Ok((1337, 3)));
        assert_eq!(read(&out[4..], 8), Ok((42, 1)));
    }

    #[test]
    fn what_is_written_is_read_whatever_the_prefix() {
        let edges = [0, 1, 2, 14, 15, 16, 30, 31, 126, 127, 128, 254, 255, 256, 16_383, 1 << 20];
        for bits in 1..=8 {
            for value in edges.into_iter().chain([MOST as usize]) {
                let mut out = Vec::new();
                write(value, bits, 0, &mut out);
                assert_eq!(read(&out, bits), Ok((value, out.len())), "{value} in {bits}");
                for end in 0..out.len() {
                    assert_eq!(read(&out[..end], bits), Err(PackedError::Truncated));
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let too_large = [0x1f, 0xff, 0xff, 0xff, 0xff, 0x7f];
        assert_eq!(read(&too_large, 5), Err(PackedError::Integer));
        let without_end = [0x1f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80];
        assert_eq!(read(&without_end, 5), Err(PackedError::Integer));
    }
}
