//! Messages whose replies say by their number which one they answer, and come in any order.

use std::collections::VecDeque;

use super::{Begun, Pending};
use crate::clock::Nanos;
use crate::mutation::{self, Mutation};

/// Runs of answered messages that are kept, beside as many as wait.
const MOST_IDLE: usize = 64;
/// The most messages of a run.
const LONGEST: u32 = u64::BITS;

/// The messages in flight on one connection, in the order of their numbers, which is that in which
/// they were sent. Those of a pack differ in their numbers only, which follow one another: they are kept, stamped
/// and found as a few runs. Finding one takes no search where it is of the oldest run, and a binary search else.
#[derive(Debug, Default)]
pub(crate) struct Numbered {
    /// The first message of the first one waits, if there is one.
    runs: VecDeque<Run>,
    /// How many messages wait.
    waiting: usize,
    /// Messages at the end that wait for the next flush to be stamped.
    unstamped: u32,
    /// Messages at the end that were sent on an earlier connection, and wait for room on this one.
    behind: usize,
    /// Those that the peer refused to look at, and that wait for room again.
    refused: VecDeque<u64>,
    /// When the message was sent that was sent last of those that were answered.
    answered: Nanos,
    /// What came of replies that are not whole, in the order of their messages' numbers.
    begun: Vec<(u64, Box<Begun>)>,
    /// To be used again.
    #[expect(clippy::vec_box, reason = "they come and go boxed")]
    spare: Vec<Box<Begun>>,
}

/// Messages that are alike but for their numbers, which follow one another.
#[derive(Debug)]
struct Run {
    first: Pending,
    /// How many there are, with those that were answered: at least one, and [`LONGEST`] at most.
    count: u32,
    /// A bit for each that waits, the first one's the lowest.
    waits: u64,
}

/// Where a message stands until one is taken or added.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    run: usize,
    bit: u32,
}

/// Where the oldest stands, if there is one.
const OLDEST: Place = Place { run: 0, bit: 0 };

impl Run {
    #[inline]
    fn message(&self, bit: u32) -> Pending {
        Pending { number: self.first.number.wrapping_add(bit.into()), ..self.first }
    }

    /// Those that wait, the oldest first.
    fn waiting(&self) -> impl DoubleEndedIterator<Item = Pending> {
        (0..self.count)
            .filter(move |bit| self.waits >> bit & 1 == 1)
            .map(move |bit| self.message(bit))
    }

    /// Is there room in it, and is this the next message of it?
    fn goes_on_with(&self, next: &Pending) -> bool {
        self.count < LONGEST && self.message(self.count) == *next
    }

    /// So many more belong to it, at least one; gives how many of them have room.
    fn add(&mut self, messages: u32) -> u32 {
        let added = messages.min(LONGEST - self.count);
        self.waits |= (u64::MAX >> (LONGEST - added)) << self.count;
        self.count += added;
        added
    }
}

impl Numbered {
    /// So many messages were encoded, with this number and those after it; `sent` comes with the
    /// flush.
    pub(crate) fn push(&mut self, number: u64, count: u32, due: Nanos) {
        self.push_sent(number, count, due, Nanos::MAX);
        self.unstamped += count;
    }

    /// A connection was asked for on these messages' behalf: that is their send.
    pub(crate) fn push_sent(&mut self, number: u64, count: u32, due: Nanos, sent: Nanos) {
        self.waiting += count as usize;
        let (mut next, mut left) = (Pending { number, due, sent }, count);
        while left > 0 {
            if !self.runs.back().is_some_and(|last| last.goes_on_with(&next)) {
                self.runs.push_back(Run { first: next, count: 0, waits: 0 });
            }
            let added = self.runs.back_mut().map_or(left, |last| last.add(left));
            left -= added;
            // The preflight's number is the last there is.
            next.number = next.number.wrapping_add(added.into());
        }
    }

    /// As [`InOrder::stamp_with`](super::InOrder::stamp_with).
    pub(crate) fn stamp_with(&mut self, clock: impl FnOnce() -> Nanos) -> Option<(Nanos, u32)> {
        if self.unstamped == 0 {
            return None;
        }
        let now = clock();
        let count = std::mem::take(&mut self.unstamped);
        let mut left = count;
        for run in self.runs.iter_mut().rev() {
            if run.first.sent == Nanos::MAX {
                run.first.sent = now;
                left = left.saturating_sub(run.count);
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

    /// All that wait, the oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Pending> {
        self.runs.iter().flat_map(Run::waiting)
    }

    /// The oldest that waits.
    pub(crate) fn front(&self) -> Option<&Pending> {
        self.runs.front().map(|run| &run.first)
    }

    /// All go again, on a new connection.
    pub(crate) fn go_again(&mut self) {
        self.behind = self.waiting;
        self.refused.clear();
        self.forget_idle();
    }

    /// The peer has refused to look at the message with this number, which goes again. False: there
    /// is no such message in flight.
    pub(crate) fn refused(&mut self, number: u64) -> bool {
        let waits = self.place(number).is_some();
        if waits {
            self.refused.push_back(number);
        }
        waits
    }

    /// The next message that goes again, where so many may be in flight.
    pub(crate) fn next_again(&mut self, room: u32) -> Option<u64> {
        let in_flight = self.waiting - self.behind - self.refused.len();
        if in_flight < room as usize && !self.refused.is_empty() {
            return self.refused.pop_front();
        }
        if self.behind == 0 || self.waiting - self.behind >= room as usize {
            return None;
        }
        self.behind -= 1;
        // So many wait behind it.
        let mut left = self.behind;
        for run in self.runs.iter().rev() {
            let waiting = run.waits.count_ones() as usize;
            if left < waiting {
                return run.waiting().nth_back(left).map(|pending| pending.number);
            }
            left -= waiting;
        }
        None
    }

    /// Is the oldest on its way to the peer, or was it?
    pub(crate) fn oldest_has_gone(&self) -> bool {
        self.waiting > self.behind
    }

    /// The message with this number, if it waits for its reply.
    pub(crate) fn get(&self, number: u64) -> Option<Pending> {
        self.place(number).map(|place| self.at(place))
    }

    /// The message with this number waits, and what came of its reply.
    pub(crate) fn begun(&mut self, number: u64) -> Option<&mut Begun> {
        let place = self.place(number)?;
        let place = if mutation::is(Mutation::PieceToOldest) { OLDEST } else { place };
        let Pending { number, sent, .. } = self.at(place);
        let place = self.begun_at(number).unwrap_or_else(|place| {
            let mut begun = self.spare.pop().unwrap_or_default();
            begun.messages.last = sent;
            self.begun.insert(place, (number, begun));
            place
        });
        self.begun.get_mut(place).map(|(_, begun)| &mut **begun)
    }

    /// Takes the message with this number out, and what came of its reply; that is to be
    /// [given back](Self::give_back).
    pub(crate) fn take(&mut self, number: u64) -> Option<(Pending, Option<Box<Begun>>)> {
        self.answered(number).map(|place| self.take_at(place))
    }

    /// Where the message with this number stands until one is taken or added, if it waits for its reply
    /// and nothing of that came before.
    #[inline]
    pub(crate) fn plain(&self, number: u64) -> Option<(Place, Pending)> {
        let place = self.answered(number)?;
        let pending = self.at(place);
        let is_plain = self.begun_at(pending.number).is_err();
        is_plain.then_some((place, pending))
    }

    /// Takes out what stands at a place that is [plain](Self::plain): it was answered.
    #[inline]
    pub(crate) fn answer_plain(&mut self, place: Place) {
        let Pending { number, sent, .. } = self.at(place);
        self.note_answered(sent);
        self.leave(place, number);
    }

    /// The message with this number, which stays, and what came of its reply; that is to be
    /// [given back](Self::give_back).
    pub(crate) fn look(&mut self, number: u64) -> Option<(Pending, Option<Box<Begun>>)> {
        let pending = self.get(number)?;
        Some((pending, self.take_begun(number)))
    }

    /// Takes the message with this number out: it was answered, and nobody asks what came of its
    /// reply before.
    pub(crate) fn answer(&mut self, number: u64) -> Option<Pending> {
        let (pending, begun) = self.take(number)?;
        self.give_back(begun);
        self.note_answered(pending.sent);
        Some(pending)
    }

    /// Takes the oldest out, wherever it is: it is given up.
    pub(crate) fn give_up_oldest(&mut self) -> Option<Pending> {
        let (pending, begun) = self.oldest().map(|place| self.take_at(place))?;
        self.give_back(begun);
        self.behind = self.behind.min(self.waiting);
        Some(pending)
    }

    fn take_at(&mut self, place: Place) -> (Pending, Option<Box<Begun>>) {
        let pending = self.at(place);
        self.leave(place, pending.number);
        (pending, self.take_begun(pending.number))
    }

    /// The message with this number, which stands there, waits no more.
    #[inline]
    fn leave(&mut self, Place { run, bit }: Place, number: u64) {
        self.runs[run].waits &= !(1 << bit);
        self.waiting -= 1;
        if !self.refused.is_empty() {
            self.refused.retain(|&refused| refused != number);
        }
        while let Some(first) = self.runs.front_mut() {
            let answered = first.waits.trailing_zeros();
            if answered < LONGEST {
                first.waits >>= answered;
                first.count -= answered;
                first.first = first.message(answered);
                break;
            }
            self.runs.pop_front();
        }
        if self.runs.len() > 2 * self.waiting + MOST_IDLE {
            self.forget_idle();
        }
    }

    /// Runs of which nobody waits any more are over.
    #[cold]
    fn forget_idle(&mut self) {
        self.runs.retain(|run| run.waits > 0);
    }

    /// A message that was sent at this instant was answered.
    pub(crate) fn note_answered(&mut self, sent: Nanos) {
        self.answered = self.answered.max(sent);
    }

    /// Was a message answered that was sent no earlier than at this instant?
    pub(crate) fn has_answered_since(&self, sent: Nanos) -> bool {
        self.answered >= sent
    }

    /// Where that stands which came of the reply to this message, or else where it would.
    #[inline]
    fn begun_at(&self, number: u64) -> Result<usize, usize> {
        self.begun.binary_search_by_key(&number, |(of, _)| *of)
    }

    fn take_begun(&mut self, number: u64) -> Option<Box<Begun>> {
        self.begun_at(number).ok().map(|place| self.begun.remove(place).1)
    }

    /// What came of a reply that is over.
    pub(crate) fn give_back(&mut self, begun: Option<Box<Begun>>) {
        let Some(mut begun) = begun else { return };
        if self.spare.len() < MOST_IDLE {
            begun.clear();
            self.spare.push(begun);
        }
    }

    /// Has a reply begun to come?
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.iter().any(|(_, begun)| begun.first_byte.is_some())
    }

    /// What was begun on a connection that has ended came to nothing, and what waited for room on it
    /// waits no more.
    pub(crate) fn forget_begun(&mut self) {
        self.behind = 0;
        self.refused.clear();
        self.begun.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting
    }

    fn oldest(&self) -> Option<Place> {
        (!self.runs.is_empty()).then_some(OLDEST)
    }

    /// Where the message stands that a reply with this number answers.
    #[inline]
    fn answered(&self, number: u64) -> Option<Place> {
        if mutation::is(Mutation::NumberIgnored) { self.oldest() } else { self.place(number) }
    }

    #[inline]
    fn at(&self, Place { run, bit }: Place) -> Pending {
        self.runs[run].message(bit)
    }

    /// Where this message stands, if it waits for its reply.
    #[inline]
    fn place(&self, number: u64) -> Option<Place> {
        // Numbers of 32 bits may begin anew: they still follow each other from the first one.
        let first = self.runs.front()?;
        let ahead = number.wrapping_sub(first.first.number);
        let run = if ahead < first.count.into() { 0 } else { self.search(ahead)? };
        let found = &self.runs[run];
        let bit = number.wrapping_sub(found.first.number);
        let waits = bit < found.count.into() && found.waits >> bit & 1 == 1;
        let place = Place { run, bit: bit as u32 };
        (waits && (self.behind == 0 || self.has_gone(place))).then_some(place)
    }

    /// The last run that begins no farther behind the first message.
    fn search(&self, ahead: u64) -> Option<usize> {
        let first = self.runs.front()?.first.number;
        let begins = |run: &Run| run.first.number.wrapping_sub(first) <= ahead;
        self.runs.partition_point(begins).checked_sub(1)
    }

    /// Is a message that waits none of those that wait for room?
    #[cold]
    fn has_gone(&self, Place { run, bit }: Place) -> bool {
        let behind = self.runs.iter().skip(run + 1).map(|run| run.waits.count_ones());
        let own = (self.runs[run].waits >> bit).count_ones();
        (behind.sum::<u32>() + own) as usize > self.behind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_come_in_any_order_and_each_once() {
        let mut ledger = Numbered::default();
        ledger.push(5, 4, Nanos::ZERO);
        ledger.stamp_with(|| Nanos(9));
        let mut take = |number| ledger.take(number).map(|(pending, _)| pending.number);
        assert_eq!((take(4), take(9)), (None, None), "no such message");
        assert_eq!((take(6), take(6)), (Some(6), None));
        assert_eq!((take(5), take(8)), (Some(5), Some(8)));
        assert_eq!(ledger.front().map(|pending| pending.number), Some(7));
        assert_eq!((ledger.len(), ledger.runs.len()), (1, 1));
    }

    #[test]
    fn what_came_of_a_reply_is_kept_with_its_message() {
        let mut ledger = Numbered::default();
        ledger.push(0, 3, Nanos::ZERO);
        for number in [2, 1] {
            ledger.begun(number).expect("it waits").first_byte = Some(Nanos(number));
        }
        let (_, begun) = ledger.take(1).expect("it waits");
        assert_eq!(begun.as_ref().and_then(|begun| begun.first_byte), Some(Nanos(1)));
        ledger.give_back(begun);
        assert!(ledger.begun(1).is_none(), "it is answered");
        assert_eq!(ledger.begun(0).expect("it waits").first_byte, None, "nothing of it came");
        ledger.forget_begun();
        assert!(!ledger.has_begun());
    }

    #[test]
    fn messages_that_go_again_wait_until_there_is_room() {
        let mut ledger = Numbered::default();
        ledger.push_sent(0, 5, Nanos::ZERO, Nanos(1));
        assert!(ledger.take(1).is_some());
        ledger.go_again();
        assert!(!ledger.oldest_has_gone());
        let again = |ledger: &mut Numbered, room| {
            std::iter::from_fn(|| ledger.next_again(room)).collect::<Vec<_>>()
        };
        assert_eq!(again(&mut ledger, 2), [0, 2]);
        assert!(ledger.take(3).is_none() && ledger.begun(4).is_none(), "they have not gone");
        assert!(ledger.take(2).is_some() && ledger.oldest_has_gone());
        assert_eq!(again(&mut ledger, 2), [3]);
        assert!(ledger.give_up_oldest().is_some() && ledger.take(3).is_some());
        assert_eq!(ledger.give_up_oldest().map(|pending| pending.number), Some(4));
        assert_eq!((again(&mut ledger, 9), ledger.len()), (vec![], 0));
    }

    #[test]
    fn a_message_that_was_refused_goes_again_once_there_is_room() {
        let mut ledger = Numbered::default();
        ledger.push_sent(0, 3, Nanos::ZERO, Nanos(1));
        assert!(ledger.refused(1) && !ledger.refused(7), "it is in flight, or not");
        assert_eq!(ledger.next_again(2), None, "two others are in flight");
        assert!(ledger.take(0).is_some());
        assert_eq!((ledger.next_again(2), ledger.next_again(2)), (Some(1), None));
        assert!(ledger.refused(1) && ledger.take(1).is_some(), "who answers has not refused");
        assert_eq!((ledger.next_again(9), ledger.len()), (None, 1));
        assert!(ledger.refused(2));
        ledger.go_again();
        assert_eq!((ledger.next_again(9), ledger.next_again(9)), (Some(2), None), "once");
    }

    #[test]
    fn one_that_is_never_answered_holds_no_memory_of_those_behind_it() {
        let mut ledger = Numbered::default();
        ledger.push(0, 1, Nanos::ZERO);
        for number in 1..100_000 {
            ledger.push(number, 1, Nanos::ZERO);
            ledger.stamp_with(|| Nanos(number));
            assert!(ledger.take(number).is_some());
        }
        assert!(ledger.runs.len() <= MOST_IDLE + 2, "{}", ledger.runs.len());
        assert_eq!(ledger.iter().map(|pending| pending.number).collect::<Vec<_>>(), [0]);
    }

    /// Against a list that is searched from its beginning; numbers begin anew on the way.
    #[test]
    fn it_is_a_list_whatever_is_taken_from_it() {
        let mut rng = fastrand::Rng::with_seed(1);
        let (mut ledger, mut model) = (Numbered::default(), Vec::<Pending>::new());
        let whose = 7 << 32;
        let mut next = u32::MAX - 2_000;
        for step in 0..8_000_u64 {
            match rng.u8(..6) {
                0..4 => {
                    let back = rng.u32(..40);
                    let number = whose | u64::from(next.wrapping_sub(back));
                    let found = model.iter().position(|of| of.number == number);
                    let taken = ledger.take(number).map(|(pending, _)| pending);
                    assert_eq!(taken, found.map(|place| model.remove(place)));
                }
                4 => {
                    ledger.stamp_with(|| Nanos(step));
                    for pending in model.iter_mut().filter(|it| it.sent == Nanos::MAX) {
                        pending.sent = Nanos(step);
                    }
                }
                _ => {
                    let count = rng.u32(..5);
                    for _ in 0..count {
                        let number = whose | u64::from(next);
                        ledger.push(number, 1, Nanos(step));
                        model.push(Pending { number, due: Nanos(step), sent: Nanos::MAX });
                        next = next.wrapping_add(1);
                    }
                }
            }
            assert!(ledger.iter().eq(model.iter().copied()));
            assert!(ledger.iter().rev().eq(model.iter().rev().copied()));
            assert_eq!((ledger.len(), ledger.front()), (model.len(), model.first()));
        }
        assert!(next < u32::MAX / 2, "they began anew");
    }
}
