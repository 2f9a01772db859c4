//! The Huffman code of HPACK and QPACK (RFC 7541 section 5.2, appendix B).
//!
//! Knows bits; must not know what is written in them. The code is canonical: codes of one length
//! follow each other in the order of their symbols, and shorter codes come first. So the lengths
//! are the whole table, and all else is made of them when this is compiled.

use super::PackedError;

const EOS: usize = 256;
const LONGEST: usize = 30;
/// Codes of at most so many bits are found by one look.
const QUICK_BITS: u32 = 8;

/// Bits of each symbol's code; the last is the end of a string, which is never written.
#[rustfmt::skip]
const LENGTHS: [u8; EOS + 1] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
     6, 10, 10, 12, 13,  6,  8, 11, 10, 10,  8, 11,  8,  6,  6,  6,
     5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8, 15,  6, 12, 10,
    13,  6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,
     7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8, 13, 19, 13, 14,  6,
    15,  5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,
     6,  7,  6,  5,  5,  6,  7,  7,  7,  7,  7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

static CODE: Code = Code::of(&LENGTHS);

struct Code {
    /// Each symbol's code, in the low bits.
    codes: [u32; EOS + 1],
    /// Symbols by length, then by value.
    symbols: [u16; EOS + 1],
    /// Of each length: where its symbols begin, and its first code, at the top of 32 bits.
    first: [(u16, u64); LONGEST + 1],
    /// What codes of a length or a shorter one stay below, at the top of 32 bits.
    limits: [u64; LONGEST + 1],
    /// By the next bits: symbol and length of a code that is no longer; else length 0.
    quick: [(u8, u8); 1 << QUICK_BITS],
}

impl Code {
    const fn of(lengths: &[u8; EOS + 1]) -> Self {
        let mut made = Self {
            codes: [0; EOS + 1],
            symbols: [0; EOS + 1],
            first: [(0, 0); LONGEST + 1],
            limits: [0; LONGEST + 1],
            quick: [(0, 0); 1 << QUICK_BITS],
        };
        // Kept at the top of 32 bits, so that codes of all lengths compare.
        let mut next: u64 = 0;
        let mut placed = 0;
        let mut length = 1;
        while length <= LONGEST {
            made.first[length] = (placed as u16, next);
            let step = 1_u64 << (32 - length);
            let mut symbol = 0;
            while symbol <= EOS {
                if lengths[symbol] as usize == length {
                    made.codes[symbol] = (next >> (32 - length)) as u32;
                    made.symbols[placed] = symbol as u16;
                    placed += 1;
                    if length <= QUICK_BITS as usize {
                        let mut at = (next >> (32 - QUICK_BITS)) as usize;
                        let end = ((next + step) >> (32 - QUICK_BITS)) as usize;
                        while at < end {
                            made.quick[at] = (symbol as u8, length as u8);
                            at += 1;
                        }
                    }
                    next += step;
                }
                symbol += 1;
            }
            made.limits[length] = next;
            length += 1;
        }
        // A code that is complete has no bits that are none.
        assert!(next == 1 << 32 && placed == EOS + 1);
        made
    }

    /// The symbol whose code stands at the top of `window`, and its length.
    #[inline]
    fn find(&self, window: u32) -> (usize, u32) {
        let (symbol, length) = self.quick[(window >> (32 - QUICK_BITS)) as usize];
        if length > 0 {
            return (usize::from(symbol), u32::from(length));
        }
        let mut length = QUICK_BITS as usize + 1;
        while u64::from(window) >= self.limits[length] {
            length += 1;
        }
        let (begin, first) = self.first[length];
        let place = (u64::from(window) - first) >> (32 - length);
        (usize::from(self.symbols[usize::from(begin) + place as usize]), length as u32)
    }
}

/// Bytes that `text` takes.
pub(crate) fn length(text: &[u8]) -> usize {
    let bits: usize = text.iter().map(|&byte| usize::from(LENGTHS[usize::from(byte)])).sum();
    bits.div_ceil(8)
}

/// Appends `text` in the code.
pub(crate) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let (mut bits, mut have) = (0_u64, 0_u32);
    for &byte in text {
        let symbol = usize::from(byte);
        let length = u32::from(LENGTHS[symbol]);
        bits = bits << length | u64::from(CODE.codes[symbol]);
        have += length;
        while have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    if have > 0 {
        // Padding is the begin of EOS: ones.
        out.push((bits << (8 - have)) as u8 | (0xff >> have));
    }
}

/// Appends what `input` says, at most `room` bytes.
pub(crate) fn decode(input: &[u8], room: usize, out: &mut Vec<u8>) -> Result<(), PackedError> {
    let most = out.len().saturating_add(room);
    let (mut bits, mut have) = (0_u64, 0_u32);
    let mut input = input.iter();
    loop {
        while have < LONGEST as u32
            && let Some(&byte) = input.next()
        {
            bits = bits << 8 | u64::from(byte);
            have += 8;
        }
        let (symbol, length) = CODE.find(window(bits, have));
        if length > have {
            let is_padding = have < 8 && window(bits, have) == u32::MAX;
            return if is_padding { Ok(()) } else { Err(PackedError::Huffman) };
        }
        if symbol == EOS {
            return Err(PackedError::Huffman);
        }
        if out.len() == most {
            return Err(PackedError::TooLarge);
        }
        out.push(symbol as u8);
        have -= length;
    }
}

/// The next 32 bits; ones behind the last.
#[inline]
fn window(bits: u64, have: u32) -> u32 {
    match have {
        32.. => (bits >> (have - 32)) as u32,
        _ => (bits << (32 - have)) as u32 | (u32::MAX.checked_shr(have).unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// RFC 7541, appendices C.4 and C.6.
    #[test]
    fn the_examples_of_the_rfc() {
        let cases: [(&str, &[u8]); 4] = [
            (
                "www.example.com",
                &[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff],
            ),
            ("no-cache", &[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf]),
            ("custom-key", &[0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xa9, 0x7d, 0x7f]),
            ("302", &[0x64, 0x02]),
        ];
        for (text, code) in cases {
            let mut out = Vec::new();
            encode(text.as_bytes(), &mut out);
            assert_eq!(out, code, "{text}");
            assert_eq!(length(text.as_bytes()), code.len());
            let mut back = Vec::new();
            assert_eq!(decode(code, text.len(), &mut back), Ok(()));
            assert_eq!(back, text.as_bytes());
            let mut short = Vec::new();
            assert_eq!(decode(code, text.len() - 1, &mut short), Err(PackedError::TooLarge));
        }
    }

    #[test]
    fn every_symbol_goes_there_and_back() {
        for symbol in 0..=255_u8 {
            let (mut out, mut back) = (Vec::new(), Vec::new());
            encode(&[symbol; 3], &mut out);
            assert_eq!(decode(&out, 3, &mut back), Ok(()));
            assert_eq!(back, [symbol; 3]);
        }
    }

    #[test]
    fn padding_is_less_than_a_byte_of_ones() {
        let refused: [&[u8]; 5] = [
            // "0" is 00000: padded with zeros, or with one zero among the ones.
            &[0b0000_0000],
            &[0b0000_0101],
            // Eight ones and more are no padding.
            &[0b0000_0111, 0xff],
            &[0xff],
            // EOS, which nobody may write.
            &[0xff, 0xff, 0xff, 0xff],
        ];
        for input in refused {
            assert_eq!(decode(input, 9, &mut Vec::new()), Err(PackedError::Huffman), "{input:x?}");
        }
        assert_eq!(decode(&[0b0000_0111], 9, &mut Vec::new()), Ok(()));
        assert_eq!(decode(&[], 9, &mut Vec::new()), Ok(()));
    }

    proptest! {
        #[test]
        fn any_text_goes_there_and_back(text: Vec<u8>) {
            let (mut out, mut back) = (Vec::new(), Vec::new());
            encode(&text, &mut out);
            prop_assert_eq!(out.len(), length(&text));
            prop_assert_eq!(decode(&out, text.len(), &mut back), Ok(()));
            prop_assert_eq!(back, text);
        }

        /// What is read is written again as it was: there is one way to write a text.
        #[test]
        fn any_bytes_are_refused_or_come_back(input: Vec<u8>) {
            let mut text = Vec::new();
            if decode(&input, usize::MAX / 2, &mut text).is_ok() {
                let mut again = Vec::new();
                encode(&text, &mut again);
                prop_assert_eq!(again, input);
            }
        }
    }
}
