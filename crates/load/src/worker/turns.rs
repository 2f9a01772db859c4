//! Whose turn it is: connections that have something to send, or something left to read.
//!
//! Knows the order in which they asked. Must not know what they have.

use std::collections::VecDeque;

use wiretrial_net::Key;

/// The lists that a worker's loop works off.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Connections with room for what was queued on them.
    roomy: VecDeque<u32>,
    /// Connections with encoded messages that no write has carried yet, the earliest first.
    unflushed: VecDeque<u32>,
    /// Connections that were not read to their end, in the order in which it will be their turn.
    unread: Vec<Key>,
}

impl Turns {
    /// A connection may have room for what was queued on it.
    #[inline]
    pub(super) fn has_room(&mut self, connection: u32) {
        self.roomy.push_back(connection);
    }

    /// One that may have room.
    #[inline]
    pub(super) fn take_roomy(&mut self) -> Option<u32> {
        self.roomy.pop_front()
    }

    /// May one have room?
    #[inline]
    pub(super) fn any_has_room(&self) -> bool {
        !self.roomy.is_empty()
    }

    /// A connection has something to flush, for the first time since its last flush.
    #[inline]
    pub(super) fn has_encoded(&mut self, connection: u32) {
        self.unflushed.push_back(connection);
    }

    /// One that has something to flush: who encoded first goes first.
    #[inline]
    pub(super) fn take_unflushed(&mut self) -> Option<u32> {
        self.unflushed.pop_front()
    }

    /// A socket has more to read, and has had its turn.
    pub(super) fn is_unread(&mut self, socket: Key) {
        self.unread.push(socket);
    }

    /// Is this socket to be read on?
    #[inline]
    pub(super) fn will_be_read(&self, socket: Key) -> bool {
        self.unread.contains(&socket)
    }

    /// All that are to be read on.
    pub(super) fn take_unread(&mut self) -> Vec<Key> {
        std::mem::take(&mut self.unread)
    }

    /// Does nobody wait to be read on?
    pub(super) fn all_are_read(&self) -> bool {
        self.unread.is_empty()
    }

    /// Lengths of the lists: of those with room, to flush, to read.
    #[cfg(test)]
    pub(super) fn lengths(&self) -> (usize, usize, usize) {
        (self.roomy.len(), self.unflushed.len(), self.unread.len())
    }
}
