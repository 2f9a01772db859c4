//! What comes on the two streams of QPACK beside the blocks (RFC 9204 sections 4.3 and 4.4).
//!
//! Knows what may be said where no dynamic table is; must not know who said it.

use crate::packed::{PackedError, integer};

/// Whose stream it is that the peer speaks on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The peer's encoder tells our decoder what it puts into the table.
    Encoder,
    /// The peer's decoder tells our encoder what it has read.
    Decoder,
}

/// What may come on such a stream.
#[derive(Debug, Clone, Copy)]
pub struct Instructions {
    side: Side,
}

impl Instructions {
    /// Of a stream of this kind.
    pub fn new(side: Side) -> Self {
        Self { side }
    }

    /// Passes over the whole instructions at the begin of `input` and returns how many bytes they are.
    /// One that has not come whole stays; it is shorter than 8 bytes.
    ///
    /// # Errors
    /// One that needs a dynamic table, for people: the connection ends with
    /// `QPACK_ENCODER_STREAM_ERROR` or `QPACK_DECODER_STREAM_ERROR`.
    pub fn read(self, input: &[u8]) -> Result<usize, &'static str> {
        let mut consumed = 0;
        while let Some(&first) = input.get(consumed) {
            let bits = match (self.side, first) {
                // Its capacity may be set to what it is.
                (Side::Encoder, 0x20..0x40) => 5,
                (Side::Encoder, _) => {
                    return Err("an entry for a dynamic table that nobody offered");
                }
                // A stream that was given up, which refers to nothing.
                (Side::Decoder, 0x40..0x80) => 6,
                (Side::Decoder, _) => return Err("an acknowledgement of entries that nobody made"),
            };
            match integer::read(&input[consumed..], bits) {
                Ok((capacity, _)) if self.side == Side::Encoder && capacity != 0 => {
                    return Err("a dynamic table larger than was offered");
                }
                Ok((_, taken)) => consumed += taken,
                Err(PackedError::Truncated) => break,
                Err(_) => return Err("a number in an instruction that is too large"),
            }
        }
        Ok(consumed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_no_table_is_passed_over() {
        let encoder = Instructions::new(Side::Encoder);
        assert_eq!(encoder.read(&[0x20, 0x20]), Ok(2));
        let decoder = Instructions::new(Side::Decoder);
        assert_eq!(decoder.read(&[0x44, 0x7f, 0x01, 0x7f]), Ok(3), "the last is not whole");
        assert_eq!(decoder.read(&[]), Ok(0));
    }

    #[test]
    fn what_needs_a_table_is_an_error() {
        for said in [&[0x21][..], &[0x3f, 0x01], &[0xc0, 0x00], &[0x41, b'a', 0], &[0x00]] {
            assert!(Instructions::new(Side::Encoder).read(said).is_err(), "{said:x?}");
        }
        // A section that is acknowledged, and an increment.
        for said in [&[0x80][..], &[0x01], &[0x44, 0x00]] {
            assert!(Instructions::new(Side::Decoder).read(said).is_err(), "{said:x?}");
        }
        let endless = [0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80];
        assert!(Instructions::new(Side::Decoder).read(&endless).is_err());
    }
}
