//! A long message on its way out: its payload is appended piece by piece, as the kernel takes it.
//!
//! Knows the session and the payloads; must not know sockets.

use wiretrial_proto::{ClientSession as _, Pieces};

use crate::protocol::Protocol;
use crate::source::{LONG, Payloads};

/// So many bytes of a payload are encoded at once.
const PIECE: usize = 256 * 1024;

/// A message of which only the beginning is encoded.
#[derive(Debug)]
pub(crate) struct Outgoing {
    number: u64,
    /// Bytes of the payload that are encoded.
    offset: usize,
    length: usize,
    pieces: Pieces,
    /// What the session said meanwhile, and goes behind the message.
    behind: Vec<u8>,
}

impl Outgoing {
    /// Encodes what goes before the payload; none, and nothing is encoded, where the message is
    /// short, or is needed whole.
    #[inline]
    pub(crate) fn begin(
        session: &mut Protocol,
        number: u64,
        payloads: &Payloads,
        out: &mut Vec<u8>,
    ) -> Option<Self> {
        let length = payloads.length(number);
        if length <= LONG {
            return None;
        }
        let pieces = session.begin(0, length as u64, out)?;
        Some(Self { number, offset: 0, length, pieces, behind: Vec::new() })
    }

    /// Where what the session says is appended.
    pub(crate) fn behind(&mut self) -> &mut Vec<u8> {
        &mut self.behind
    }

    /// Encodes the next piece of the message that is on its way, if one is, and behind the last piece
    /// what was said meanwhile; then there is none any more. Gives the bytes of the payload.
    pub(crate) fn advance(
        current: &mut Option<Self>,
        payloads: &mut Payloads,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let Self { number, offset, length, pieces, behind } = current.as_mut()?;
        let (begin, end) = (*offset, *length);
        while *offset - begin < PIECE && *offset < end {
            let rest = payloads.from(*number, *offset);
            let piece = &rest[..rest.len().min(PIECE - (*offset - begin))];
            pieces.append(piece, out);
            *offset += piece.len();
        }
        let taken = *offset - begin;
        if *offset == end {
            out.append(behind);
            *current = None;
        }
        Some(taken)
    }
}
