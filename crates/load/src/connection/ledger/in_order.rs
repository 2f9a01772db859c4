//! Messages that are answered in the order in which they were sent.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use super::Pending;
use crate::clock::Nanos;

/// The messages in flight on one connection. Those of a pack differ in their numbers only, which
/// follow one another: they are kept, stamped and found as one. Of a million connections most have
/// one run at a time: the oldest is kept in its place, and only who has more pays for a ring.
#[derive(Debug, Default)]
pub(crate) struct InOrder {
    /// Means nothing where there is none.
    oldest: Pending,
    /// How many there are of its run, with itself; zero only where nothing is in flight.
    alike: Count,
    /// Messages at the end that wait for the next flush to be stamped.
    unstamped: u32,
    /// What was sent after them; kept once it was needed.
    younger: Option<Box<Younger>>,
}

#[derive(Debug, Default)]
struct Younger {
    runs: VecDeque<Run>,
    /// How many messages there are.
    count: usize,
}

/// A number of messages, of which one value cannot be: the ledger's other form stands there, and costs
/// a connection no byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Count(NonZeroU32);

impl Count {
    #[inline]
    const fn of(messages: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(messages))
    }

    #[inline]
    const fn get(self) -> u32 {
        self.0.get() - 1
    }
}

impl Default for Count {
    fn default() -> Self {
        Self::of(0)
    }
}

/// Messages that are alike but for their numbers, which follow one another. Never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first: Pending,
    count: u32,
}

impl Run {
    fn messages(self) -> impl DoubleEndedIterator<Item = Pending> {
        let Self { first, count } = self;
        (0..u64::from(count)).map(move |place| Pending { number: first.number + place, ..first })
    }

    /// Do more messages, of which this is the first, belong to it?
    fn goes_on_with(&self, next: &Pending) -> bool {
        let Self { first, count } = self;
        first.number + u64::from(*count) == next.number
            && first.due == next.due
            && first.sent == next.sent
    }
}

impl InOrder {
    /// So many messages were encoded, with this number and those after it; `sent` comes with the
    /// flush.
    pub(crate) fn push(&mut self, number: u64, count: u32, due: Nanos) {
        self.push_sent(number, count, due, Nanos::MAX);
        self.unstamped += count;
    }

    /// A connection was asked for on these messages' behalf: that is their send.
    pub(crate) fn push_sent(&mut self, number: u64, count: u32, due: Nanos, sent: Nanos) {
        if count == 0 {
            return;
        }
        let first = Pending { number, due, sent };
        let run = Run { first, count };
        if self.alike.get() == 0 {
            (self.oldest, self.alike) = (first, Count::of(count));
            return;
        }
        if self.younger.as_ref().is_none_or(|younger| younger.runs.is_empty())
            && self.oldest_run().goes_on_with(&first)
        {
            self.alike = Count::of(self.alike.get() + count);
            return;
        }
        let younger = self.younger.get_or_insert_default();
        younger.count += count as usize;
        match younger.runs.back_mut().filter(|last| last.goes_on_with(&first)) {
            Some(last) => last.count += count,
            None => younger.runs.push_back(run),
        }
    }

    /// Stamps what is about to be handed to the kernel; reads the clock only if there is something.
    /// Gives the instant and how many messages were stamped.
    pub(crate) fn stamp_with(&mut self, clock: impl FnOnce() -> Nanos) -> Option<(Nanos, u32)> {
        if self.unstamped == 0 {
            return None;
        }
        let now = clock();
        let count = std::mem::take(&mut self.unstamped);
        let mut left = count;
        let younger = self.younger.iter_mut().flat_map(|younger| younger.runs.iter_mut().rev());
        let younger = younger.map(|run| (&mut run.first, run.count));
        for (first, alike) in younger.chain([(&mut self.oldest, self.alike.get())]) {
            if first.sent == Nanos::MAX {
                first.sent = now;
                left = left.saturating_sub(alike);
            }
            if left == 0 {
                break;
            }
        }
        Some((now, count))
    }

    /// Are there messages that no flush has stamped?
    pub(crate) fn has_unstamped(&self) -> bool {
        self.unstamped > 0
    }

    /// All of them, the oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Pending> {
        let younger = self.younger.iter().flat_map(|younger| younger.runs.iter());
        [self.oldest_run()].into_iter().chain(younger.copied()).flat_map(Run::messages)
    }

    /// The message that the current reply belongs to.
    pub(crate) fn front(&self) -> Option<&Pending> {
        (self.alike.get() > 0).then_some(&self.oldest)
    }

    /// The message that the current reply belongs to, and how many there are that differ from it in
    /// their numbers only, which follow one another, with itself.
    #[inline]
    pub(crate) fn oldest_alike(&self) -> Option<(Pending, u32)> {
        let alike = self.alike.get();
        (alike > 0).then_some((self.oldest, alike))
    }

    /// Takes the message that a reply answers.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Pending> {
        let (taken, _) = self.oldest_alike()?;
        self.take_several(1);
        Some(taken)
    }

    /// Takes so many of those that are alike, or all of them.
    #[inline]
    pub(crate) fn take_several(&mut self, count: u32) {
        let left = self.alike.get().saturating_sub(count);
        self.alike = Count::of(left);
        // The preflight's number is the last there is.
        self.oldest.number = self.oldest.number.wrapping_add(count.into());
        if left == 0 {
            self.next_run();
        }
    }

    /// Takes all of them.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Pending> + use<> {
        let Self { oldest: first, alike, younger, .. } = std::mem::take(self);
        let younger = younger.map(|younger| younger.runs).unwrap_or_default();
        [Run { first, count: alike.get() }].into_iter().chain(younger).flat_map(Run::messages)
    }

    pub(crate) fn len(&self) -> usize {
        self.alike.get() as usize + self.younger.as_ref().map_or(0, |younger| younger.count)
    }

    /// The oldest with those like it; empty where nothing is in flight.
    fn oldest_run(&self) -> Run {
        Run { first: self.oldest, count: self.alike.get() }
    }

    /// The oldest run is over.
    #[inline]
    fn next_run(&mut self) {
        let Some(younger) = &mut self.younger else { return };
        let Some(Run { first, count }) = younger.runs.pop_front() else { return };
        younger.count -= count as usize;
        (self.oldest, self.alike) = (first, Count::of(count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(in_flight: &InOrder) -> usize {
        let younger = in_flight.younger.as_ref().map_or(0, |younger| younger.runs.len());
        usize::from(in_flight.alike.get() > 0) + younger
    }

    #[test]
    fn only_new_messages_are_stamped() {
        let mut in_flight = InOrder::default();
        in_flight.push_sent(1, 1, Nanos(5), Nanos(6));
        in_flight.push(2, 1, Nanos(7));
        in_flight.push(3, 2, Nanos(8));
        assert_eq!(in_flight.stamp_with(|| Nanos(9)), Some((Nanos(9), 3)));
        assert_eq!(in_flight.stamp_with(|| Nanos(10)), None);
        let sent: Vec<u64> = in_flight.iter().map(|pending| pending.sent.0).collect();
        assert_eq!(sent, [6, 9, 9, 9]);
    }

    #[test]
    fn a_pack_is_one_run_and_packs_of_one_flush_that_follow_one_another_are() {
        let mut in_flight = InOrder::default();
        in_flight.push(0, 10, Nanos(1));
        in_flight.push(10, 1, Nanos(1));
        assert_eq!(runs(&in_flight), 1);
        in_flight.push(12, 1, Nanos(1)); // a number is left out
        in_flight.push(13, 1, Nanos(2)); // another instant
        assert_eq!(runs(&in_flight), 3);
        in_flight.stamp_with(|| Nanos(3));
        in_flight.push(14, 1, Nanos(2)); // another flush
        assert_eq!((runs(&in_flight), in_flight.len()), (4, 14));
    }

    #[test]
    fn it_is_a_queue_whatever_is_taken_from_it() {
        let mut rng = fastrand::Rng::with_seed(1);
        let (mut in_flight, mut model) = (InOrder::default(), VecDeque::new());
        let mut next = 0;
        for step in 0..4_000_u64 {
            match rng.u8(..6) {
                0..4 => assert_eq!(in_flight.take(), model.pop_front()),
                4 => {
                    in_flight.stamp_with(|| Nanos(step));
                    for pending in model.iter_mut().filter(|it| it.sent == Nanos::MAX) {
                        pending.sent = Nanos(step);
                    }
                }
                _ => {
                    let (count, due) = (rng.u32(..5), Nanos(rng.u64(..2)));
                    in_flight.push(next, count, due);
                    for _ in 0..count {
                        model.push_back(Pending { number: next, due, sent: Nanos::MAX });
                        next += 1;
                    }
                }
            }
            assert!(in_flight.iter().eq(model.iter().copied()));
            assert!(in_flight.iter().rev().eq(model.iter().rev().copied()));
            assert_eq!(in_flight.len(), model.len());
            assert_eq!(in_flight.front(), model.front());
        }
        assert!(in_flight.drain().eq(model));
        assert!(in_flight.len() == 0 && !in_flight.has_unstamped());
    }
}
