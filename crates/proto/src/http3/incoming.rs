//! One message as it comes on its stream, however its bytes are cut.
//!
//! Knows what has to be kept of a frame that is not whole; must not know what a message says.

use super::message::{MessageReader, Part, missing};
use super::wrong::Wrong;

/// What comes on a stream of requests, in one direction.
#[derive(Debug, Clone)]
pub(super) struct Incoming {
    reader: MessageReader,
    /// The begin of a frame: its head, or fields in part.
    carry: Vec<u8>,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Came<'a, R> {
    /// A whole block of fields, as it was read.
    Fields(R),
    /// A piece of content; never empty.
    Content(&'a [u8]),
}

impl Default for Incoming {
    /// A stream that is not there.
    fn default() -> Self {
        Self::new(0, true)
    }
}

impl Incoming {
    /// As [`MessageReader::new`].
    pub(super) fn new(most: usize, is_client: bool) -> Self {
        Self { reader: MessageReader::new(most as u64, is_client), carry: Vec::new() }
    }

    /// Takes bytes from the front of the input, and says how many; a block of fields is read by `read`.
    /// Where nothing came all of the input was taken, and what is needed of it is kept. Nothing is to be taken behind
    /// what is wrong.
    #[inline]
    pub(super) fn take<'a, R>(
        &mut self,
        input: &'a [u8],
        read: impl FnOnce(&[u8]) -> Result<R, Wrong>,
    ) -> Result<(usize, Option<Came<'a, R>>), Wrong> {
        let mut consumed = 0;
        while !self.carry.is_empty() {
            let more = missing(&self.carry).min(input.len() - consumed);
            if more == 0 {
                return Ok((consumed, None));
            }
            self.carry.extend_from_slice(&input[consumed..consumed + more]);
            consumed += more;
            let taken = self.reader.read(&self.carry)?;
            if let Some(Part::Fields(block)) = taken.part {
                let read = read(block)?;
                self.carry.clear();
                return Ok((consumed, Some(Came::Fields(read))));
            }
            // Nothing of a frame's content is kept beside that of fields.
            self.carry.drain(..taken.consumed);
        }
        let taken = self.reader.read(&input[consumed..])?;
        consumed += taken.consumed;
        let came = match taken.part {
            Some(Part::Fields(block)) => Came::Fields(read(block)?),
            Some(Part::Content(piece)) => Came::Content(piece),
            None => {
                self.carry.extend_from_slice(&input[consumed..]);
                return Ok((input.len(), None));
            }
        };
        Ok((consumed, Some(came)))
    }

    /// As [`MessageReader::has_head`].
    pub(super) fn has_head(&mut self) {
        self.reader.has_head();
    }

    /// Does what came end between two frames?
    #[inline]
    pub(super) fn is_between(&self) -> bool {
        self.carry.is_empty() && self.reader.is_between()
    }

    /// As [`MessageReader::end`].
    pub(super) fn end(&self) -> Result<(), Wrong> {
        Ok(self.reader.end(self.carry.len())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http3::frame::{write_data_head, write_headers};

    #[test]
    fn what_is_kept_is_a_head_or_fields_in_part() {
        let mut message = Vec::new();
        write_headers(&[b'f'; 70], &mut message);
        write_data_head(100, &mut message);
        message.extend_from_slice(&[b'c'; 100]);
        for cut in 0..=message.len() {
            let (first, second) = message.split_at(cut);
            let mut incoming = Incoming::new(100, true);
            let (mut fields, mut content) = (0, Vec::new());
            for mut rest in [first, second] {
                loop {
                    let (taken, came) = incoming.take(rest, |block| Ok(block.len())).unwrap();
                    rest = &rest[taken..];
                    match came {
                        None => break,
                        Some(Came::Fields(length)) => {
                            assert_eq!(length, 70);
                            fields += 1;
                            incoming.has_head();
                        }
                        Some(Came::Content(piece)) => content.extend_from_slice(piece),
                    }
                }
                assert!(rest.is_empty() && incoming.carry.len() < 73);
            }
            assert_eq!((fields, content.len()), (1, 100), "cut at {cut}");
            assert!(incoming.is_between() && incoming.end().is_ok());
        }
    }
}
