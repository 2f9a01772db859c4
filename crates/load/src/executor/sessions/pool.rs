//! A pool: users who share connections, of which a step takes one as long as it is on its way.
//!
//! Knows who has which connection, and which steps have found none. Must not know when anything is due.

use crate::clock::Nanos;

/// The connections that the users of one worker share.
#[derive(Debug)]
pub(super) struct Pool {
    /// By connection: whose step is on its way on it.
    holders: Vec<Option<u32>>,
    /// So many of the steps that are due, the first ones, have found no free connection.
    blocked: usize,
    /// Since when the last step that got a connection had waited.
    #[cfg(test)]
    served: Nanos,
}

impl Pool {
    pub(super) fn new(connections: u32) -> Self {
        Self {
            holders: vec![None; connections as usize],
            blocked: 0,
            #[cfg(test)]
            served: Nanos::ZERO,
        }
    }

    /// Whose step is on its way on this connection?
    #[inline]
    pub(super) fn holder(&self, connection: u32) -> Option<u32> {
        self.holders[connection as usize]
    }

    /// The first step of those that are due takes a connection, for which it has waited since this instant. Gives
    /// how long it was blocked: not at all, where a connection was free when its turn came.
    pub(super) fn take(&mut self, connection: u32, user: u32, since: Nanos, now: Nanos) -> Nanos {
        self.holders[connection as usize] = Some(user);
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

    /// The step on this connection is over: whose it was.
    pub(super) fn leave(&mut self, connection: u32) -> Option<u32> {
        self.holders[connection as usize].take()
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
