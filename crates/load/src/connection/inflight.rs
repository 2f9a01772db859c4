//! The messages in flight on one connection, in the order in which they were sent.

use std::collections::VecDeque;

use wiretrial_proto::Tag;

use crate::clock::Nanos;

/// A message whose reply is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) seq: u64,
    pub(crate) due: Nanos,
    pub(crate) sent: Nanos,
}

/// The messages in flight on one connection.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    ring: VecDeque<Pending>,
    /// Messages at the end of the ring that wait for the next flush to be stamped.
    unstamped: u32,
}

impl InFlight {
    /// A message was encoded; `sent` comes with the flush.
    pub(crate) fn push(&mut self, seq: u64, due: Nanos) {
        if self.ring.capacity() == 0 {
            // The first growth would be to four: a million idle connections have one at most.
            self.ring.reserve_exact(1);
        }
        self.ring.push_back(Pending { seq, due, sent: Nanos::MAX });
        self.unstamped += 1;
    }

    /// A connection was asked for on this message's behalf: that is its send.
    pub(crate) fn push_sent(&mut self, seq: u64, due: Nanos, sent: Nanos) {
        self.ring.push_back(Pending { seq, due, sent });
    }

    /// Stamps what is about to be handed to the kernel; reads the clock only if there is something.
    /// Gives the instant and how many messages were stamped.
    pub(crate) fn stamp_with(&mut self, clock: impl FnOnce() -> Nanos) -> Option<(Nanos, u32)> {
        if self.unstamped == 0 {
            return None;
        }
        let now = clock();
        let count = std::mem::take(&mut self.unstamped);
        for pending in self.ring.iter_mut().rev().take(count as usize) {
            pending.sent = now;
        }
        Some((now, count))
    }

    /// Are there messages that no flush has stamped?
    pub(crate) fn has_unstamped(&self) -> bool {
        self.unstamped > 0
    }

    /// The `count` youngest messages.
    pub(crate) fn last(&self, count: u32) -> impl Iterator<Item = &Pending> {
        self.ring.iter().rev().take(count as usize)
    }

    /// The message that the current reply belongs to.
    pub(crate) fn front(&self) -> Option<&Pending> {
        self.ring.front()
    }

    /// The message at this place, counted from the oldest.
    pub(crate) fn get(&self, at: usize) -> Option<Pending> {
        self.ring.get(at).copied()
    }

    /// The message that a reply answers of which the first pieces came.
    pub(crate) fn answered(&self, tag: Tag) -> Option<&Pending> {
        match tag {
            Tag::Next => self.ring.front(),
            Tag::Id(id) => self.ring.iter().find(|pending| pending.seq == id),
        }
    }

    /// Takes the message that a reply answers. Identifiers are sequence numbers.
    pub(crate) fn take(&mut self, tag: Tag) -> Option<Pending> {
        match tag {
            Tag::Next => self.ring.pop_front(),
            Tag::Id(id) => {
                let at = self.ring.iter().position(|pending| pending.seq == id)?;
                self.ring.remove(at)
            }
        }
    }

    /// Takes all of them.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Pending> + '_ {
        self.unstamped = 0;
        self.ring.drain(..)
    }

    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_messages_are_stamped() {
        let mut in_flight = InFlight::default();
        in_flight.push_sent(1, Nanos(5), Nanos(6));
        in_flight.push(2, Nanos(7));
        in_flight.push(3, Nanos(8));
        assert_eq!(in_flight.stamp_with(|| Nanos(9)), Some((Nanos(9), 2)));
        assert_eq!(in_flight.stamp_with(|| Nanos(10)), None);
        let sent = |seq| in_flight.ring.iter().find(|p| p.seq == seq).map(|p| p.sent);
        assert_eq!([sent(1), sent(2), sent(3)], [Some(Nanos(6)), Some(Nanos(9)), Some(Nanos(9))]);
    }

    #[test]
    fn replies_with_identifiers_may_come_in_any_order() {
        let mut in_flight = InFlight::default();
        for seq in 0..3 {
            in_flight.push(seq, Nanos::ZERO);
        }
        assert_eq!(in_flight.take(Tag::Id(1)).map(|p| p.seq), Some(1));
        assert_eq!(in_flight.take(Tag::Id(1)), None);
        assert_eq!(in_flight.take(Tag::Next).map(|p| p.seq), Some(0));
        assert_eq!(in_flight.len(), 1);
    }
}
