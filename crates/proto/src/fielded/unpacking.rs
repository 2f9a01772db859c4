//! Compressed messages of calls, which come in pieces on many streams.
//!
//! Knows whose pieces they are and how long a message may come to be. Must not know what a reply is.

use crate::grpc::{BadMessage, Deframer, Gunzip};

/// What came of compressed messages that have not come whole.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    /// By stream; 0: of none.
    begun: Vec<(u32, Vec<u8>)>,
    /// A compressed message has come.
    pub(crate) came: bool,
}

impl Packed {
    /// Lays a piece of a stream's content into `out` as it is with messages that are not compressed; one of them comes
    /// to be `most` bytes, or less. `is_open` tells of which streams more may come.
    pub(crate) fn unpack(
        &mut self,
        (id, frames): (u32, &mut Deframer),
        (piece, most): (&[u8], usize),
        gunzip: &mut Gunzip,
        out: &mut Vec<u8>,
        is_open: impl FnMut(u32) -> bool,
    ) -> Result<(), BadMessage> {
        out.clear();
        let at = self.place(id, is_open);
        let (stream, held) = &mut self.begun[at];
        let told = gunzip.unpack((frames, held), piece, most, out);
        *stream = if held.is_empty() { 0 } else { id };
        self.came |= told?;
        Ok(())
    }

    /// Where the stream's message is: where it has begun, or else where none is any more.
    fn place(&mut self, id: u32, mut is_open: impl FnMut(u32) -> bool) -> usize {
        let own = self.begun.iter().position(|(stream, _)| *stream == id);
        let free = || self.begun.iter().position(|(stream, _)| *stream == 0 || !is_open(*stream));
        let Some(at) = own.or_else(free) else {
            self.begun.push((id, Vec::new()));
            return self.begun.len() - 1;
        };
        let (stream, held) = &mut self.begun[at];
        if *stream != id {
            held.clear();
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::{Gzip, framed};

    const MOST: usize = 100;

    #[test]
    fn pieces_of_many_streams_come_together_each_with_its_own() {
        let plain = framed([&b"abcabcabc"[..]]).expect("a short one");
        let mut content = Vec::new();
        Gzip::default().messages(&plain, &mut content);
        let (mut packed, mut gunzip, mut out) = (Packed::default(), Gunzip::default(), Vec::new());
        let mut frames = [Deframer::default(); 3];
        for (at, byte) in content.iter().enumerate() {
            for (id, frames) in (1..).zip(&mut frames) {
                let piece = std::slice::from_ref(byte);
                let told =
                    packed.unpack((id, frames), (piece, MOST), &mut gunzip, &mut out, |_| true);
                assert_eq!(told, Ok(()));
                let is_last = at + 1 == content.len();
                assert_eq!(out, if is_last { &plain[..] } else { &[] }, "byte {at} of stream {id}");
            }
        }
        assert!(packed.begun.len() <= 3);
    }

    #[test]
    fn what_has_begun_on_a_stream_that_is_gone_is_nobody_s() {
        let (mut packed, mut gunzip, mut out) = (Packed::default(), Gunzip::default(), Vec::new());
        for id in 1..100 {
            let begin = [1, 0, 0, 0, 9, id as u8];
            let mut frames = Deframer::default();
            let told =
                packed.unpack((id, &mut frames), (&begin, MOST), &mut gunzip, &mut out, |open| {
                    open == id
                });
            assert_eq!((told, packed.begun.len()), (Ok(()), 1));
            assert_eq!(packed.begun[0], (id, vec![id as u8]));
        }
    }
}
