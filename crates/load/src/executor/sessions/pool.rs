//! A pool: users who share connections, of which a step takes one, or a stream of one, as long as it is on its way.
//!
//! Knows who has which connection, and which steps have found none. Must not know when anything is due.

use crate::clock::Nanos;
use crate::executor::Slots;

/// The connections that the users of one worker share.
#[derive(Debug)]
pub(super) struct Pool {
    /// By connection: whose steps are on their way on it; whose took it last stands last.
    holders: Vec<Vec<u32>>,
    /// Each connection has several streams.
    has_streams: bool,
    /// So many of the steps that are due, the first ones, have found no free connection.
    blocked: usize,
    /// Since when the last step that got a connection had waited.
    #[cfg(test)]
    served: Nanos,
}

impl Pool {
    pub(super) fn new(connections: u32, streams: u32) -> Self {
        Self {
            holders: vec![Vec::new(); connections as usize],
            has_streams: streams > 1,
            blocked: 0,
            #[cfg(test)]
            served: Nanos::ZERO,
        }
    }

    /// Whose step has taken this connection last, of those that are on their way on it?
    #[inline]
    pub(super) fn holder(&self, connection: u32) -> Option<u32> {
        self.holders[connection as usize].last().copied()
    }

    /// Which connection a step takes, if one is free: of requests one after the other, that which was used last, as
    /// pools do; streams are taken from all connections in turn, so that what a connection carries is what was said.
    #[inline]
    pub(super) fn choose(&self, slots: &mut Slots) -> Option<u32> {
        if self.has_streams { slots.take() } else { slots.take_latest() }
    }

    /// The first step of those that are due takes a connection, for which it has waited since this instant. Gives
    /// how long it was blocked: not at all, where a connection was free when its turn came.
    pub(super) fn take(&mut self, connection: u32, user: u32, since: Nanos, now: Nanos) -> Nanos {
        self.holders[connection as usize].push(user);
        #[cfg(test)]
        {
            self.served = since;
        }
        if self.blocked == 0 {
            return Nanos::ZERO;
        }
        self.blocked -= 1;
        now - since
    }

    /// So many steps are due, and no connection is free.
    pub(super) fn blocks(&mut self, steps: usize) {
        self.blocked = steps;
    }

    /// A user's step on this connection is over. False: it had none.
    pub(super) fn leave(&mut self, connection: u32, user: u32) -> bool {
        let holders = &mut self.holders[connection as usize];
        let place = holders.iter().position(|holder| *holder == user);
        place.map(|place| holders.remove(place)).is_some()
    }

    /// So many steps are on their way on this connection.
    #[cfg(test)]
    pub(super) fn held(&self, connection: u32) -> usize {
        self.holders[connection as usize].len()
    }

    /// Users who have a connection, by connection.
    #[cfg(test)]
    pub(super) fn holders(&self) -> impl Iterator<Item = u32> {
        self.holders.iter().flatten().copied()
    }

    /// Since when the step had waited that got a connection last.
    #[cfg(test)]
    pub(super) fn served(&self) -> Nanos {
        self.served
    }
}
