//! A compressed message as it was (RFC 7692 section 7.2.2), a bounded step at a time.
//!
//! Knows compressed bytes and the pieces that they come to; of a message only what it counts
//! and checks. Must not know frames or masks.

use std::fmt;

use zlib_rs::{Inflate, InflateError, InflateFlush, Status};

use super::TAIL;
use super::parameters::Direction;
use crate::websocket::frame::broken;
use crate::websocket::message::Incoming;
use crate::{MessageKind, ProtocolError, Scratch};

/// The receiving direction of one connection.
///
/// The decompressor's memory (up to some 40 KB) is taken with the first message; without takeover
/// it is given back after each.
pub(in crate::websocket) struct Inflater {
    decompressor: Option<Inflate>,
    direction: Direction,
    /// The decompressor is inside a stream: it was given bytes since the message began, or since
    /// the last final block.
    inside: bool,
}

/// What one call of the decompressor did.
struct Done {
    taken: usize,
    given: usize,
    status: Result<Status, InflateError>,
}

impl Inflater {
    pub(super) fn new(direction: Direction) -> Self {
        Self { decompressor: None, direction, inside: false }
    }

    /// Takes bytes from the front of `payload`, which is the current frame's, and says how many,
    /// and how many came of them: those are at the front of `scratch`.
    pub(in crate::websocket) fn step(
        &mut self,
        payload: &[u8],
        scratch: &mut Scratch,
        message: &mut Incoming,
        limit: u64,
    ) -> Result<(usize, usize), ProtocolError> {
        if payload.is_empty() && !message.is_held_back() {
            return Ok((0, 0));
        }
        // One byte over the limit is enough to know that it is over.
        let left = message.room(limit).saturating_add(1);
        let size = usize::try_from(left).map_or(Scratch::SIZE, |left| left.min(Scratch::SIZE));
        let room = &mut scratch.buffer()[..size];
        let window_bits = self.direction.window_bits;
        let decompressor = self.decompressor.get_or_insert_with(|| new(window_bits));
        let Done { taken, given, status } = run(decompressor, payload, room, InflateFlush::NoFlush);
        self.inside = true;
        message.take(taken);
        message.hold_back(given == size && matches!(status, Ok(Status::Ok)));
        message.grow(&room[..given], limit)?;
        match status {
            Err(_) => return Err(broken("a compressed message that is not DEFLATE")),
            // The sender closed its stream; what follows is a new one (section 7.2.3.5).
            Ok(Status::StreamEnd) => {
                self.decompressor = None;
                self.inside = false;
            }
            Ok(Status::Ok | Status::BufError) => {}
        }
        Ok((taken, given))
    }

    /// Ends the message, of which all was taken.
    pub(in crate::websocket) fn finish(
        &mut self,
        message: &mut Incoming,
    ) -> Result<MessageKind, ProtocolError> {
        if let (true, Some(decompressor)) = (self.inside, &mut self.decompressor) {
            // Behind the tail a block is over, and the decompressor leaves the byte that follows
            // alone. Where the message was cut off inside of a block, it does something else.
            let [a, b, c, d] = TAIL;
            let done = run(decompressor, &[a, b, c, d, 0], &mut [0], InflateFlush::Block);
            if (done.taken, done.given) != (TAIL.len(), 0) || done.status.is_err() {
                return Err(broken("a compressed message that ends inside of a block"));
            }
        }
        self.inside = false;
        if !self.direction.takeover {
            self.decompressor = None;
        }
        message.finish()
    }
}

/// For a window of 8 bits memory is kept for 9: a message cannot tell the difference.
fn new(window_bits: u8) -> Inflate {
    Inflate::new(false, window_bits.max(9))
}

fn run(decompressor: &mut Inflate, from: &[u8], to: &mut [u8], flush: InflateFlush) -> Done {
    let (taken, given) = (decompressor.total_in(), decompressor.total_out());
    let status = decompressor.decompress(from, to, flush);
    Done {
        taken: (decompressor.total_in() - taken) as usize,
        given: (decompressor.total_out() - given) as usize,
        status,
    }
}

impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflater")
            .field("direction", &self.direction)
            .field("inside", &self.inside)
            .finish_non_exhaustive()
    }
}
