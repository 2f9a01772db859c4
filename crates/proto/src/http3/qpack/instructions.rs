//! What the peer's decoder says of the entries that we put into its table (RFC 9204 section 4.4).
//!
//! Knows how many there are, and how many the peer is known to have; must not know what they say.

use crate::packed::{PackedError, integer};

/// Entries that were put into the peer's table, and blocks that refer to them.
///
/// A block refers to none until the peer has said that it has them all: no block has to wait there.
#[derive(Debug, Default)]
pub struct QpackPut {
    /// Entries that were put there.
    inserted: u64,
    /// Those of them that the peer has.
    known: u64,
    /// Blocks with references that the peer has not said to have read.
    open: u64,
}

impl QpackPut {
    /// More entries were put there.
    pub fn put(&mut self, more: u64) {
        self.inserted += more;
    }

    /// Are there entries, and has the peer all of them?
    #[inline]
    pub fn is_known(&self) -> bool {
        self.inserted > 0 && self.known == self.inserted
    }

    /// A block that refers to some goes out.
    #[inline]
    pub fn refer(&mut self) {
        self.open += 1;
    }

    /// Takes in the whole instructions at the begin of `input` and returns how many bytes they are.
    /// One that has not come whole stays; it is shorter than 8 bytes.
    ///
    /// # Errors
    /// For people: the connection ends with `QPACK_DECODER_STREAM_ERROR`.
    pub fn instructions(&mut self, input: &[u8]) -> Result<usize, &'static str> {
        let mut consumed = 0;
        while let Some(&first) = input.get(consumed) {
            let bits = if first >= 0x80 { 7 } else { 6 };
            let (number, taken) = match integer::read(&input[consumed..], bits) {
                Ok(read) => read,
                Err(PackedError::Truncated) => break,
                Err(_) => return Err("a number in an instruction that is too large"),
            };
            consumed += taken;
            match first {
                // A block is read. Which one makes no difference: the peer had the entries before.
                0x80.. => {
                    let left = self.open.checked_sub(1);
                    self.open = left.ok_or("an acknowledgement of a block that nobody sent")?;
                }
                // A stream was given up; its block may have been read, or not.
                0x40.. => {}
                _ => {
                    self.known += number as u64;
                    if number == 0 || self.known > self.inserted {
                        return Err("an acknowledgement of entries that nobody made");
                    }
                }
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
        let mut none = QpackPut::default();
        assert_eq!(none.instructions(&[0x44, 0x7f, 0x01, 0x7f]), Ok(3), "the last is not whole");
        assert_eq!(none.instructions(&[]), Ok(0));
        assert!(!none.is_known());
    }

    #[test]
    fn entries_are_known_once_all_of_them_are() {
        let mut put = QpackPut::default();
        put.put(3);
        assert_eq!((put.instructions(&[0x01]), put.is_known()), (Ok(1), false));
        assert_eq!((put.instructions(&[0x02]), put.is_known()), (Ok(1), true));
        put.refer();
        assert_eq!(put.instructions(&[0x84, 0x44]), Ok(2));
        assert!(put.instructions(&[0x88]).is_err(), "one block was sent");
    }

    #[test]
    fn what_nobody_did_is_not_acknowledged() {
        for said in [&[0x80][..], &[0x01], &[0x44, 0x00]] {
            assert!(QpackPut::default().instructions(said).is_err(), "{said:x?}");
        }
        let mut put = QpackPut::default();
        put.put(2);
        assert!(put.instructions(&[0x03]).is_err());
        let endless = [0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80];
        assert!(QpackPut::default().instructions(&endless).is_err());
    }
}
