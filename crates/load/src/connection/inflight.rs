//! The messages in flight on one connection, in the order in which they were sent.

use std::collections::VecDeque;

use wiretrial_proto::Tag;

use crate::clock::Nanos;

/// A message whose reply is awaited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) seq: u64,
    pub(crate) due: Nanos,
    pub(crate) sent: Nanos,
}

/// The messages in flight on one connection. Of a million connections most have one at a time: the
/// oldest is kept in its place, and only who has more pays for a ring.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    /// Means nothing where there is none.
    oldest: Pending,
    /// What was sent after the oldest; kept once it was needed.
    #[expect(clippy::box_collection, reason = "a pointer where a ring would be 32 bytes")]
    younger: Option<Box<VecDeque<Pending>>>,
    /// How many there are.
    count: u32,
    /// Messages at the end that wait for the next flush to be stamped.
    unstamped: u32,
}

impl InFlight {
    /// A message was encoded; `sent` comes with the flush.
    pub(crate) fn push(&mut self, seq: u64, due: Nanos) {
        self.push_sent(seq, due, Nanos::MAX);
        self.unstamped += 1;
    }

    /// A connection was asked for on this message's behalf: that is its send.
    pub(crate) fn push_sent(&mut self, seq: u64, due: Nanos, sent: Nanos) {
        let pending = Pending { seq, due, sent };
        if self.count == 0 {
            self.oldest = pending;
        } else {
            self.younger.get_or_insert_default().push_back(pending);
        }
        self.count += 1;
    }

    /// Stamps what is about to be handed to the kernel; reads the clock only if there is something.
    /// Gives the instant and how many messages were stamped.
    pub(crate) fn stamp_with(&mut self, clock: impl FnOnce() -> Nanos) -> Option<(Nanos, u32)> {
        if self.unstamped == 0 {
            return None;
        }
        let now = clock();
        let count = std::mem::take(&mut self.unstamped);
        let younger = self.younger.iter_mut().flat_map(|ring| ring.iter_mut().rev());
        for pending in younger.chain([&mut self.oldest]).take(count as usize) {
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
        let younger = self.younger.iter().flat_map(|ring| ring.iter().rev());
        younger.chain([&self.oldest]).take(count.min(self.count) as usize)
    }

    /// The message that the current reply belongs to.
    pub(crate) fn front(&self) -> Option<&Pending> {
        (self.count > 0).then_some(&self.oldest)
    }

    /// The message at this place, counted from the oldest.
    pub(crate) fn get(&self, at: usize) -> Option<Pending> {
        match at.checked_sub(1) {
            None => self.front().copied(),
            Some(at) => self.younger.as_ref()?.get(at).copied(),
        }
    }

    /// The message that a reply answers of which the first pieces came.
    pub(crate) fn answered(&self, tag: Tag) -> Option<&Pending> {
        match tag {
            Tag::Next => self.front(),
            Tag::Id(id) => self.last(u32::MAX).find(|pending| pending.seq == id),
        }
    }

    /// Takes the message that a reply answers. Identifiers are sequence numbers.
    pub(crate) fn take(&mut self, tag: Tag) -> Option<Pending> {
        let is_oldest = match tag {
            Tag::Next => true,
            Tag::Id(id) => self.oldest.seq == id,
        };
        if !is_oldest {
            let ring = self.younger.as_mut()?;
            let at = ring.iter().position(|pending| tag == Tag::Id(pending.seq))?;
            self.count -= 1;
            return ring.remove(at);
        }
        self.count = self.count.checked_sub(1)?;
        let taken = self.oldest;
        if let Some(next) = self.younger.as_mut().and_then(|ring| ring.pop_front()) {
            self.oldest = next;
        }
        Some(taken)
    }

    /// Takes all of them.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Pending> + use<> {
        let Self { oldest, younger, count, .. } = std::mem::take(self);
        let oldest = (count > 0).then_some(oldest);
        oldest.into_iter().chain(younger.map(|ring| *ring).unwrap_or_default())
    }

    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
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
        let sent = |seq| in_flight.answered(Tag::Id(seq)).map(|p| p.sent);
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

    #[test]
    fn it_is_a_queue_whatever_is_taken_from_it() {
        let mut rng = fastrand::Rng::with_seed(1);
        let (mut in_flight, mut model) = (InFlight::default(), VecDeque::new());
        for seq in 0..2_000u64 {
            match rng.u8(..4) {
                0 => assert_eq!(in_flight.take(Tag::Next).map(|p| p.seq), model.pop_front()),
                1 => {
                    let id = rng.u64(..=seq);
                    let at = model.iter().position(|of| *of == id);
                    let taken = in_flight.take(Tag::Id(id)).map(|p| p.seq);
                    assert_eq!(taken, at.and_then(|at| model.remove(at)));
                }
                _ => {
                    in_flight.push(seq, Nanos(seq));
                    model.push_back(seq);
                }
            }
            let places = (0..in_flight.len()).filter_map(|at| in_flight.get(at));
            assert!(places.map(|p| p.seq).eq(model.iter().copied()));
            assert!(in_flight.last(2).map(|p| p.seq).eq(model.iter().rev().take(2).copied()));
            assert_eq!(in_flight.front().map(|p| p.seq), model.front().copied());
            assert_eq!(in_flight.is_empty(), model.is_empty());
        }
        assert!(in_flight.drain().map(|p| p.seq).eq(model));
        assert!(in_flight.is_empty() && !in_flight.has_unstamped());
    }
}
