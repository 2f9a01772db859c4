//! A message made smaller (RFC 7692 section 7.2.1).
//!
//! Knows bytes and where a message ends; must not know frames.

use std::fmt;

use zlib_rs::{Deflate, DeflateFlush};

use super::TAIL;
use super::parameters::Direction;

/// Room that is made for compressed bytes at a time: at least, at most.
const ROOM: (usize, usize) = (64, 64 * 1024);

/// The sending direction of one connection.
///
/// The compressor's memory (some 300 KB for a window of 15 bits) is taken with the first message;
/// without takeover it is given back after each.
pub(in crate::websocket) struct Deflater {
    compressor: Option<Deflate>,
    direction: Direction,
    level: u8,
}

impl Deflater {
    pub(super) fn new(direction: Direction, level: u8) -> Self {
        Self { compressor: None, direction, level }
    }

    /// Appends what a piece of the message comes to so far, maybe nothing; with the last piece,
    /// all of the rest.
    pub(in crate::websocket) fn append(&mut self, piece: &[u8], last: bool, out: &mut Vec<u8>) {
        let start = out.len();
        let flush = if last { DeflateFlush::SyncFlush } else { DeflateFlush::NoFlush };
        self.compress(piece, flush, out);
        if !last {
            return;
        }
        if out[start..].ends_with(&TAIL) {
            out.truncate(out.len() - TAIL.len());
        } else {
            // Nothing since the last flush: the compressor sees no need for another. An empty
            // message is an empty block (section 7.2.3.6).
            out.push(0);
        }
        if !self.direction.takeover {
            self.compressor = None;
        }
    }

    fn compress(&mut self, piece: &[u8], flush: DeflateFlush, out: &mut Vec<u8>) {
        let Direction { window_bits, .. } = self.direction;
        // A compressor for 9 bits refers back by 250 bytes at most: 8 bits are enough for that.
        let new = || Deflate::new(self.level.into(), false, window_bits.max(9));
        let compressor = self.compressor.get_or_insert_with(new);
        let mut rest = piece;
        loop {
            let start = out.len();
            out.resize(start + (rest.len() + ROOM.0).min(ROOM.1), 0);
            let (read, written) = (compressor.total_in(), compressor.total_out());
            let done = compressor.compress(rest, &mut out[start..], flush);
            debug_assert!(done.is_ok(), "a compressor fails only where it is misused: {done:?}");
            rest = &rest[(compressor.total_in() - read) as usize..];
            let end = start + (compressor.total_out() - written) as usize;
            let room_left = end < out.len();
            out.truncate(end);
            if room_left {
                return;
            }
        }
    }
}

impl fmt::Debug for Deflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deflater")
            .field("direction", &self.direction)
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}
