//! The messages in flight on one connection, from their encoding to their reply.
//!
//! Knows instants and numbers. Must not know what a reply is, nor who sends next.
//!
//! It has two forms. Where replies come in order, a message is found without its number, and a
//! connection that waits for one reply needs no memory beside itself. Where replies carry numbers,
//! each message is found by its own.

mod in_order;
mod numbered;

pub(crate) use in_order::InOrder;
pub(crate) use numbered::Numbered;

use wiretrial_proto::grpc::Deframer;

use crate::clock::Nanos;
use crate::plan::grpc::Pace;
use crate::source::Progress;

/// A message whose reply is awaited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) number: u64,
    pub(crate) due: Nanos,
    pub(crate) sent: Nanos,
}

/// A reply that has not come whole.
#[derive(Debug, Default)]
pub(crate) struct Begun {
    pub(crate) progress: Progress,
    /// When it began to come; none: it has not.
    pub(crate) first_byte: Option<Nanos>,
    /// Its messages, where each has a time of its own.
    pub(crate) messages: Messages,
}

impl Begun {
    /// It is over: what is kept is memory.
    pub(super) fn clear(&mut self) {
        self.first_byte = None;
        self.messages = Messages::default();
        self.progress.clear();
    }
}

/// Messages of a reply of gRPC.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    frames: Deframer,
    /// When the last one came, or the call was sent.
    last: Nanos,
    /// Where those of the call go one by one, and not all have gone when it began.
    pub(crate) talk: Option<Talk>,
}

/// A call whose messages go one by one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Talk {
    /// Of the session.
    pub(crate) stream: u32,
    /// Bytes of its payload that have gone: as they are, and as they went.
    pub(crate) plain: usize,
    pub(crate) gone: usize,
    /// Messages that have gone, and those of the reply that have come.
    pub(crate) said: u32,
    pub(crate) heard: u32,
    /// When the first went.
    pub(crate) began: Nanos,
    /// When the next is due; in turns when the last went.
    pub(crate) due: Nanos,
}

impl Talk {
    /// A message of the reply came: when that was due which it answers; none: it answers none.
    fn answers(&mut self, pace: Pace, sent: Nanos) -> Option<Nanos> {
        let before = self.heard;
        self.heard += 1;
        match pace {
            _ if before >= self.said => None,
            _ if before == 0 => Some(sent),
            Pace::Every(interval) => Some(self.began + Nanos(interval.0 * u64::from(before))),
            Pace::Turns => Some(self.due),
        }
    }

    /// Is all answered that has gone?
    pub(crate) fn is_answered(&self) -> bool {
        self.heard == self.said
    }
}

impl Messages {
    /// A piece of the reply came to a call that was sent at this instant and goes on at this pace: tells for each message
    /// that ended with it how long before that was due which it answers, or how long before the last one came.
    pub(crate) fn answers(
        &mut self,
        (pace, sent): (Pace, Nanos),
        piece: &[u8],
        now: Nanos,
        mut tell: impl FnMut(Nanos),
    ) {
        for _ in 0..self.frames.pass(piece).unwrap_or_default() {
            let since = self.talk.as_mut().and_then(|talk| talk.answers(pace, sent));
            tell(now - since.unwrap_or(self.last));
            self.last = now;
        }
    }

    /// A piece of the reply came: how many messages ended with it, and how long after the one before them, or after
    /// the call was sent.
    pub(crate) fn piece(&mut self, piece: &[u8], now: Nanos) -> (u32, Nanos) {
        // What is no message the session has refused.
        let count = self.frames.pass(piece).unwrap_or_default();
        if count == 0 {
            return (0, Nanos::ZERO);
        }
        (count, now - std::mem::replace(&mut self.last, now))
    }
}

/// The messages in flight on one connection.
#[derive(Debug)]
pub(crate) enum Ledger {
    InOrder(InOrder),
    /// Boxed, because there may be a million of the others.
    Numbered(Box<Numbered>),
}

macro_rules! each {
    ($self:ident, $form:ident => $call:expr) => {
        match $self {
            Ledger::InOrder($form) => $call,
            Ledger::Numbered($form) => $call,
        }
    };
}

impl Ledger {
    pub(crate) fn new(numbered: bool) -> Self {
        if numbered { Self::Numbered(Box::default()) } else { Self::InOrder(InOrder::default()) }
    }

    /// So many messages were encoded, with this number and those after it; `sent` comes with the
    /// flush.
    #[inline]
    pub(crate) fn push(&mut self, number: u64, count: u32, due: Nanos) {
        each!(self, form => form.push(number, count, due));
    }

    /// A connection was asked for on these messages' behalf: that is their send.
    pub(crate) fn push_sent(&mut self, number: u64, count: u32, due: Nanos, sent: Nanos) {
        each!(self, form => form.push_sent(number, count, due, sent));
    }

    /// Stamps what is about to be handed to the kernel; reads the clock only if there is something.
    /// Gives the instant and how many messages were stamped.
    #[inline]
    pub(crate) fn stamp_with(&mut self, clock: impl FnOnce() -> Nanos) -> Option<(Nanos, u32)> {
        each!(self, form => form.stamp_with(clock))
    }

    /// Are there messages that no flush has stamped?
    pub(crate) fn has_unstamped(&self) -> bool {
        each!(self, form => form.has_unstamped())
    }

    /// Those that were pushed last, the youngest first.
    pub(crate) fn for_youngest(&self, count: u32, mut take: impl FnMut(Pending)) {
        let count = count as usize;
        each!(self, form => form.iter().rev().take(count).for_each(&mut take));
    }

    /// All of them, the oldest first.
    pub(crate) fn for_each(&self, take: impl FnMut(Pending)) {
        each!(self, form => form.iter().for_each(take));
    }

    /// The oldest.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Pending> {
        each!(self, form => form.front())
    }

    /// Has a reply begun to come, as far as it is kept here?
    pub(crate) fn has_begun(&self) -> bool {
        matches!(self, Self::Numbered(ledger) if ledger.has_begun())
    }

    /// What was begun on a connection that has ended came to nothing, nor does anything wait for it.
    pub(crate) fn forget_begun(&mut self) {
        if let Self::Numbered(ledger) = self {
            ledger.forget_begun();
        }
    }

    /// All of them have failed; each is shown on its way out.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(Pending)) {
        match self {
            Self::InOrder(in_order) => in_order.drain().for_each(&mut take),
            Self::Numbered(numbered) => {
                std::mem::take(&mut **numbered).iter().for_each(&mut take);
            }
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        each!(self, form => form.len())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_connection_has_in_flight_costs_it_little() {
        assert_eq!(size_of::<Pending>(), 24);
        assert!(size_of::<Ledger>() <= 40, "{} bytes", size_of::<Ledger>());
    }
}
