//! Who sends next: closed loops, bursts, open loops, held connections.
//!
//! Knows which connections have a free slot ([`Slots`]) and, in an open loop, when messages are due.
//! Must not know sockets, protocols or clocks: it is handed `now` and hands back
//! assignments, and is tested under a simulated clock.

mod after_response;
mod closed;
mod hold;
mod open;
mod phased;
mod ramped;
mod random_burst;
mod sessions;
mod slots;

pub use after_response::AfterResponse;
pub use closed::Closed;
pub use hold::Hold;
pub use open::Open;
pub use phased::Phased;
pub use ramped::Ramped;
pub use random_burst::RandomBurst;
pub use sessions::{Part, Session, Sessions};
pub use slots::Slots;

use crate::clock::Nanos;

/// One pack of messages to send on one connection, or several in one write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assignment {
    /// Index of the connection within its worker.
    pub connection: u32,
    /// Messages in the pack, or in all of them; only the last one may be a smaller pack.
    pub messages: u32,
    /// The instant at which they were due.
    pub due: Nanos,
}

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Send this, and ask again.
    Send(Assignment),
    /// Nothing before this instant, unless a slot becomes free.
    Wait(Nanos),
    /// Nothing until a slot becomes free.
    Blocked,
    /// Nothing any more.
    Finished,
}

/// Who sends next.
#[derive(Debug)]
pub enum Executor {
    /// The next message goes when a reply has come.
    Closed(Closed),
    /// Messages are due at instants that no reply moves.
    Open(Open),
    /// Each connection once, and then samples.
    Hold(Hold),
    /// As before, and each connection has its own ones.
    Phased(Phased),
    /// The next message goes so long after a reply has come.
    AfterResponse(AfterResponse),
    /// A pack for each connection, on connections drawn at random; then the next burst.
    RandomBurst(RandomBurst),
    /// The next message goes when a reply has come, on as many connections as stages say.
    Ramped(Box<Ramped>),
    /// Users who send one request after the other.
    Sessions(Box<Sessions>),
}

impl Executor {
    /// Slots of this connection that were taken for messages which are not due yet.
    #[cfg(test)]
    pub(crate) fn resting(&self, connection: u32) -> u32 {
        match self {
            Self::AfterResponse(executor) => executor.resting(connection),
            _ => 0,
        }
    }

    /// Sessions that have begun and not ended.
    #[cfg(test)]
    pub(crate) fn begun(&self) -> u64 {
        match self {
            Self::Sessions(executor) => executor.begun(),
            _ => 0,
        }
    }

    /// What to do at `now`.
    pub fn next(&mut self, now: Nanos, slots: &mut Slots) -> Next {
        match self {
            Self::Closed(executor) => executor.next(now, slots),
            Self::Open(executor) => executor.next(now, slots),
            Self::Hold(executor) => executor.next(now, slots),
            Self::Phased(executor) => executor.next(now, slots),
            Self::AfterResponse(executor) => executor.next(now, slots),
            Self::RandomBurst(executor) => executor.next(now, slots),
            Self::Ramped(executor) => executor.next(now, slots),
            Self::Sessions(executor) => executor.next(now, slots),
        }
    }

    /// What remains to wait for after [`next`](Self::next) had nothing more to send at `now`.
    pub fn peek(&self, now: Nanos) -> Next {
        match self {
            Self::Closed(_) | Self::RandomBurst(_) => Next::Blocked,
            Self::Open(executor) => executor.peek(now),
            Self::Hold(executor) => executor.peek(now),
            Self::Phased(executor) => executor.peek(),
            Self::AfterResponse(executor) => executor.peek(),
            Self::Ramped(executor) => executor.peek(),
            Self::Sessions(executor) => executor.peek(now),
        }
    }

    /// Whose step is on its way on this connection, where connections have users.
    #[inline]
    pub fn user_on(&self, connection: u32) -> Option<u32> {
        match self {
            Self::Sessions(executor) => executor.user_on(connection),
            _ => Some(connection),
        }
    }

    /// The sessions, where users have such.
    pub fn sessions(&mut self) -> Option<&mut Sessions> {
        match self {
            Self::Sessions(executor) => Some(executor),
            _ => None,
        }
    }

    /// Messages, or sessions, that are due at `now` and not yet assigned (open loop).
    pub fn waiting(&mut self, now: Nanos) -> u64 {
        match self {
            Self::Closed(_)
            | Self::Hold(_)
            | Self::AfterResponse(_)
            | Self::RandomBurst(_)
            | Self::Ramped(_) => 0,
            Self::Open(executor) => executor.waiting(now),
            Self::Phased(executor) => executor.waiting(now),
            Self::Sessions(executor) => executor.waiting(now),
        }
    }

    /// Messages given up so far because no slot was free (open loop).
    pub fn dropped(&self) -> u64 {
        match self {
            Self::Closed(_)
            | Self::Hold(_)
            | Self::AfterResponse(_)
            | Self::RandomBurst(_)
            | Self::Ramped(_)
            | Self::Sessions(_) => 0,
            Self::Open(executor) => executor.dropped(),
            Self::Phased(executor) => executor.dropped(),
        }
    }
}

/// How many messages may still be sent, or sessions begin: the share of a stop rule.
#[derive(Debug, Clone, Copy)]
pub struct Budget(Option<u64>);

impl Budget {
    /// No limit.
    pub const UNLIMITED: Self = Self(None);

    /// At most so many messages.
    pub const fn of(messages: u64) -> Self {
        Self(Some(messages))
    }

    /// Is nothing left?
    pub fn is_spent(self) -> bool {
        self.0 == Some(0)
    }

    /// So many of `messages` as are left.
    pub fn limit(self, messages: u64) -> u64 {
        self.0.map_or(messages, |left| left.min(messages))
    }

    /// Takes up to `pack` messages.
    pub fn take(&mut self, pack: u32) -> u32 {
        let Some(left) = self.0.as_mut() else { return pack };
        let taken = u64::from(pack).min(*left);
        *left -= taken;
        taken as u32
    }
}
