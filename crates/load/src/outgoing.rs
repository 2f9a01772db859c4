//! A long message on its way out: its payload is appended piece by piece, as the kernel takes it.
//!
//! Knows the codec and the payloads; must not know sockets.

use wiretrial_proto::{ClientCodec as _, Pieces};

use crate::protocol::Protocol;
use crate::source::{LONG, Payloads};

/// So many bytes of a payload are encoded at once.
const PIECE: usize = 256 * 1024;

/// A message of which only the beginning is encoded.
#[derive(Debug)]
pub(crate) struct Outgoing {
    seq: u64,
    /// Bytes of the payload that are encoded.
    at: usize,
    length: usize,
    pieces: Pieces,
    /// What the codec said meanwhile, and goes behind the message.
    behind: Vec<u8>,
}

impl Outgoing {
    /// Encodes what goes before the payload; none, and nothing is encoded, where the message is
    /// short, or is needed whole.
    #[inline]
    pub(crate) fn begin(
        codec: &mut Protocol,
        seq: u64,
        payloads: &Payloads,
        out: &mut Vec<u8>,
    ) -> Option<Self> {
        let length = payloads.length(seq);
        if length <= LONG {
            return None;
        }
        let pieces = codec.begin(0, length as u64, out)?;
        Some(Self { seq, at: 0, length, pieces, behind: Vec::new() })
    }

    /// Where what the codec says is appended.
    pub(crate) fn behind(&mut self) -> &mut Vec<u8> {
        &mut self.behind
    }

    /// Encodes the next piece, and behind the last one what was said meanwhile; gives the bytes of
    /// the payload.
    pub(crate) fn append(&mut self, payloads: &mut Payloads, out: &mut Vec<u8>) -> usize {
        let begin = self.at;
        while self.at - begin < PIECE && !self.is_done() {
            let rest = payloads.from(self.seq, self.at);
            let piece = &rest[..rest.len().min(PIECE - (self.at - begin))];
            self.pieces.append(piece, out);
            self.at += piece.len();
        }
        if self.is_done() {
            out.append(&mut self.behind);
        }
        self.at - begin
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at == self.length
    }
}
