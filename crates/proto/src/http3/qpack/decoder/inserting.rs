//! What the peer's encoder puts into our table (RFC 9204 section 4.3).
//!
//! Knows instructions; must not know blocks.

use super::{QpackDecoder, fixed};
use crate::packed::{self, PackedError, integer};

/// No code of a byte is longer than four.
const MOST_CODED: usize = 4;

impl QpackDecoder {
    /// Takes in the whole instructions at the begin of `input`, which came on the stream of the peer's
    /// encoder, and returns how many bytes they are. One that has not come whole stays; it is not much
    /// longer than the table.
    ///
    /// # Errors
    /// For people: the connection ends with `QPACK_ENCODER_STREAM_ERROR`.
    pub fn instructions(&mut self, input: &[u8]) -> Result<usize, &'static str> {
        let (mut consumed, before) = (0, self.inserted);
        while consumed < input.len() {
            match self.instruction(&input[consumed..]) {
                Ok(taken) => consumed += taken,
                Err(Bad::Packed(PackedError::Truncated)) => break,
                Err(bad) => return Err(bad.words()),
            }
        }
        let more = self.inserted - before;
        if more > 0 {
            integer::write(more as usize, 6, 0, &mut self.said);
        }
        Ok(consumed)
    }

    fn instruction(&mut self, input: &[u8]) -> Result<usize, Bad> {
        let first = input[0];
        let bits = if first >= 0x80 { 6 } else { 5 };
        if (0x20..0x40).contains(&first) {
            let (capacity, taken) = integer::read(input, bits)?;
            if capacity > self.most {
                return Err(Bad::Capacity);
            }
            self.entries.resize(capacity);
            return Ok(taken);
        }
        self.name.clear();
        self.value.clear();
        let room = self.entries.most();
        let rest = if (0x40..0x80).contains(&first) {
            let rest = read_string(input, bits, room, &mut self.name)?;
            read_string(rest, 7, room, &mut self.value)?
        } else {
            let (index, taken) = integer::read(input, bits)?;
            let (name, value) = match first {
                0xc0.. => fixed(index).map_err(|_| Bad::Entry)?,
                _ => self.entries.get(index).ok_or(Bad::Entry)?,
            };
            self.name.extend_from_slice(name);
            if first < 0x20 {
                self.value.extend_from_slice(value);
                &input[taken..]
            } else {
                read_string(&input[taken..], 7, room, &mut self.value)?
            }
        };
        if !self.entries.add(&self.name, &self.value) {
            return Err(Bad::Size);
        }
        self.inserted += 1;
        Ok(input.len() - rest.len())
    }
}

/// What is wrong with an instruction.
#[derive(Debug, Clone, Copy)]
enum Bad {
    Packed(PackedError),
    Capacity,
    Entry,
    Size,
}

impl From<PackedError> for Bad {
    fn from(error: PackedError) -> Self {
        Self::Packed(error)
    }
}

impl Bad {
    const fn words(self) -> &'static str {
        match self {
            Self::Packed(PackedError::Huffman) => "an instruction with a string that is no code",
            Self::Packed(PackedError::TooLarge) | Self::Size => {
                "an entry that is larger than the dynamic table"
            }
            Self::Packed(_) => "a number in an instruction that is too large",
            Self::Capacity => "a dynamic table larger than was offered",
            Self::Entry => "an instruction refers to an entry that no table has",
        }
    }
}

/// As [`packed::read_string`], of an instruction: what has not come whole has a bound, too.
fn read_string<'a>(
    input: &'a [u8],
    bits: u32,
    room: usize,
    out: &mut Vec<u8>,
) -> Result<&'a [u8], PackedError> {
    let (length, _) = integer::read(input, bits)?;
    if length > room.saturating_mul(MOST_CODED) {
        return Err(PackedError::TooLarge);
    }
    packed::read_string(input, bits, room, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_come_in_any_pieces() {
        let said = b"\x3f\xbd\x01\xc0\x0fwww.example.com\x4acustom-key\x0ccustom-value\x01";
        for cut in 0..=said.len() {
            let mut decoder = QpackDecoder::new(220);
            let taken = decoder.instructions(&said[..cut]).unwrap();
            assert!(taken <= cut);
            let rest = &said[taken..];
            assert_eq!(decoder.instructions(rest), Ok(rest.len()), "cut at {cut}");
            assert_eq!(decoder.entries.get(0), Some((&b":authority"[..], &b"www.example.com"[..])));
            assert_eq!(decoder.inserted(), 3);
        }
    }

    #[test]
    fn instructions_that_break_the_rules_are_told_in_words() {
        let cases: [(&[u8], &str); 9] = [
            (b"\x3f\xbe\x01", "larger than was offered"),
            (b"\xc0\x01a", "larger than the dynamic table"),
            (b"\x3f\xbd\x01\x00", "no table has"),
            (b"\x3f\xbd\x01\x80\x01a", "no table has"),
            (b"\x3f\xbd\x01\xff\x24\x01a", "no table has"),
            (b"\x3f\xbd\x01\xc0\x7f\x70", "larger than the dynamic table"),
            (b"\x3f\xbd\x01\xc0\x7f\xff\xff\x03", "larger than the dynamic table"),
            (b"\x3f\xbd\x01\xc0\x81\x00", "no code"),
            (b"\x3f\x80\x80\x80\x80\x80\x80\x80", "too large"),
        ];
        for (said, words) in cases {
            let mut decoder = QpackDecoder::new(220);
            let wrong = decoder.instructions(&[said, &[b'x'; 300]].concat()).unwrap_err();
            assert!(wrong.contains(words), "{said:x?}: {wrong}");
        }
    }
}
