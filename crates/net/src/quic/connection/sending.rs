//! Streams that are opened by their numbers, and bytes that wait for a window or for a stream.
//!
//! Knows order. Must not know what is sent, nor when.

use std::collections::BTreeMap;

use quinn_proto::Side;

use super::{Connection, Direction, Gone};

/// What was given to streams and has not gone.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    rests: BTreeMap<u64, Rest>,
    bytes: usize,
    /// Streams that were handed out, by direction, and those that the library was asked for.
    handed: [u64; 2],
    made: [u64; 2],
}

#[derive(Debug)]
struct Rest {
    bytes: Vec<u8>,
    /// How many of them have gone.
    gone: usize,
    /// Nothing follows.
    is_last: bool,
}

impl Connection {
    /// Opens a stream. None: the peer allows no more now; [`Event::Room`](super::Event::Room) tells when.
    pub fn open(&mut self, direction: Direction, now: u64) -> Option<u64> {
        let kind = direction as usize;
        if self.waiting.handed[kind] == self.waiting.made[kind] && !self.make(direction) {
            // Before the handshake's end it is not known what the peer allows.
            if !self.is_closed() && !self.is_handshaking() {
                self.held_up.opening[kind].get_or_insert(now);
            }
            return None;
        }
        let index = self.waiting.handed[kind];
        self.waiting.handed[kind] += 1;
        self.held_up.opens(direction, now);
        Some(self.numbered(direction, index))
    }

    /// Opens streams of this side up to the one with this number, where it is not open yet: those of one
    /// kind are opened in their order. False: the peer allows no more now. Streams of the peer are the
    /// peer's to open.
    pub fn open_to(&mut self, id: u64, now: u64) -> bool {
        let direction = Direction::of_stream(id);
        if id != self.numbered(direction, id >> 2) {
            return true;
        }
        while self.waiting.handed[direction as usize] <= id >> 2 {
            if self.open(direction, now).is_none() {
                return false;
            }
        }
        true
    }

    /// How many streams this side has opened or may open, in all, as far as it is worth knowing: no more
    /// than `ahead` of those that are opened. It never becomes less, but for [`Early::Refused`](super::Early).
    pub fn allowed(&mut self, direction: Direction, ahead: u64) -> u64 {
        // The library does not tell its limit. A stream on which nothing was sent is nothing to the peer.
        let kind = direction as usize;
        while self.waiting.made[kind] < self.waiting.handed[kind].saturating_add(ahead) {
            if !self.make(direction) {
                break;
            }
        }
        self.waiting.made[kind]
    }

    /// Sends all of these bytes on a stream, which is opened if it has to be, and with `fin` its end. What
    /// finds no window, or no stream before the handshake's end, is kept and goes by itself when it does.
    ///
    /// # Errors
    /// When the stream is finished or reset, or the peer stopped it.
    pub fn send(&mut self, id: u64, bytes: &[u8], fin: bool, now: u64) -> Result<(), Gone> {
        if let Some(rest) = self.waiting.rests.get_mut(&id) {
            if rest.is_last {
                return Err(Gone);
            }
            rest.bytes.extend_from_slice(bytes);
            rest.is_last = fin;
            self.waiting.bytes += bytes.len();
            return Ok(());
        }
        let written = if self.open_to(id, now) { Some(self.put(id, bytes, now)?) } else { None };
        match written {
            Some(count) if count == bytes.len() && fin => self.end(id),
            Some(count) if count == bytes.len() => Ok(()),
            written => {
                let bytes = bytes[written.unwrap_or(0)..].to_vec();
                self.waiting.bytes += bytes.len();
                self.waiting.rests.insert(id, Rest { bytes, gone: 0, is_last: fin });
                Ok(())
            }
        }
    }

    /// Bytes that were to be sent and wait for a window or for the handshake's end.
    pub fn unsent(&self) -> usize {
        self.waiting.bytes
    }

    /// Whether bytes of this stream wait; with `is_last` they are the last ones.
    pub(super) fn waits(&mut self, id: u64, is_last: bool) -> bool {
        let rest = self.waiting.rests.get_mut(&id);
        rest.map(|rest| rest.is_last |= is_last).is_some()
    }

    /// Sends what waits for this stream. False: something still does.
    pub(super) fn go_on(&mut self, id: u64, now: u64) -> bool {
        if !self.open_to(id, now) {
            return !self.waiting.rests.contains_key(&id);
        }
        let Some(mut rest) = self.waiting.rests.remove(&id) else { return true };
        let Ok(count) = self.put(id, &rest.bytes[rest.gone..], now) else {
            // The peer has given it up, and is told by its own event.
            self.waiting.bytes -= rest.bytes.len() - rest.gone;
            return true;
        };
        rest.gone += count;
        self.waiting.bytes -= count;
        if rest.gone < rest.bytes.len() {
            self.waiting.rests.insert(id, rest);
            return false;
        }
        if rest.is_last {
            // As above.
            let _ = self.end(id);
        }
        true
    }

    /// Sends what waits for streams of this direction, or of any.
    pub(super) fn go_on_all(&mut self, direction: Option<Direction>, now: u64) {
        let waiting: Vec<u64> = self.waiting.rests.keys().copied().collect();
        for id in waiting {
            if direction.is_none_or(|direction| direction == Direction::of_stream(id)) {
                self.go_on(id, now);
            }
        }
    }

    /// What waits for this stream goes nowhere.
    pub(super) fn drop_rest(&mut self, id: u64) {
        if let Some(rest) = self.waiting.rests.remove(&id) {
            self.waiting.bytes -= rest.bytes.len() - rest.gone;
        }
    }

    /// No stream of this side was ever opened.
    pub(super) fn forget_streams(&mut self) {
        self.waiting = Waiting::default();
    }

    fn make(&mut self, direction: Direction) -> bool {
        let is_made = self.inner.streams().open(direction.dir()).is_some();
        self.waiting.made[direction as usize] += u64::from(is_made);
        is_made
    }

    /// The number of a stream of this side (RFC 9000, section 2.1).
    fn numbered(&self, direction: Direction, index: u64) -> u64 {
        let side = u64::from(self.inner.side() == Side::Server);
        index << 2 | (direction as u64) << 1 | side
    }
}
