//! Messages whose replies say by their number which one they answer, and come in any order.

use std::collections::VecDeque;

use super::{Begun, Pending};
use crate::clock::Nanos;
use crate::mutation::{self, Mutation};

/// Entries of answered messages that are kept, beside as many as wait: they are few where replies
/// come roughly in order, and then a number is found where it is looked for first.
const MOST_IDLE: usize = 64;

/// The messages in flight on one connection, in the order of their numbers, which is that in which
/// they were sent. Finding one takes no search where no entry before it is left out, and a binary
/// search else.
#[derive(Debug, Default)]
pub(crate) struct Numbered {
    /// The first one waits, if there is one.
    entries: VecDeque<Entry>,
    /// How many of them wait.
    waiting: usize,
    /// Messages at the end that wait for the next flush to be stamped.
    unstamped: u32,
    /// Messages at the end that were sent on an earlier connection, and wait for room on this one.
    behind: usize,
    /// Those that the peer refused to look at, and that wait for room again.
    refused: VecDeque<u64>,
    /// When the message was sent that was sent last of those that were answered.
    answered: Nanos,
    /// To be used again.
    #[expect(clippy::vec_box, reason = "they come and go boxed")]
    spare: Vec<Box<Begun>>,
}

#[derive(Debug)]
struct Entry {
    pending: Pending,
    waits: bool,
    /// What came of its reply; none: nothing.
    begun: Option<Box<Begun>>,
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
        // The preflight's number is the last there is.
        let numbers = (0..u64::from(count)).map(|place| number.wrapping_add(place));
        self.entries.extend(numbers.map(|number| Entry {
            pending: Pending { number, due, sent },
            waits: true,
            begun: None,
        }));
        self.waiting += count as usize;
    }

    /// As [`InOrder::stamp_with`](super::InOrder::stamp_with).
    pub(crate) fn stamp_with(&mut self, clock: impl FnOnce() -> Nanos) -> Option<(Nanos, u32)> {
        if self.unstamped == 0 {
            return None;
        }
        let now = clock();
        let count = std::mem::take(&mut self.unstamped);
        for entry in self.entries.iter_mut().rev().take(count as usize) {
            entry.pending.sent = now;
        }
        Some((now, count))
    }

    /// Are there messages that no flush has stamped?
    pub(crate) fn has_unstamped(&self) -> bool {
        self.unstamped > 0
    }

    /// All that wait, the oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Pending> {
        self.entries.iter().filter(|entry| entry.waits).map(|entry| entry.pending)
    }

    /// The oldest that waits.
    pub(crate) fn front(&self) -> Option<&Pending> {
        self.entries.front().map(|entry| &entry.pending)
    }

    /// All go again, on a new connection.
    pub(crate) fn go_again(&mut self) {
        self.behind = self.waiting;
        self.refused.clear();
        self.entries.retain(|entry| entry.waits);
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
        let place = self.entries.len() - self.behind;
        self.behind -= 1;
        Some(self.entries[place].pending.number)
    }

    /// Is the oldest on its way to the peer, or was it?
    pub(crate) fn oldest_has_gone(&self) -> bool {
        self.waiting > self.behind
    }

    /// The message with this number, if it waits for its reply.
    pub(crate) fn get(&self, number: u64) -> Option<&Pending> {
        self.place(number).map(|place| &self.entries[place].pending)
    }

    /// The message with this number waits, and what came of its reply.
    pub(crate) fn begun(&mut self, number: u64) -> Option<&mut Begun> {
        let place = self.place(number)?;
        let place = if mutation::is(Mutation::PieceToOldest) { 0 } else { place };
        let spare = &mut self.spare;
        let Entry { pending, begun, .. } = &mut self.entries[place];
        let begun = begun.get_or_insert_with(|| {
            let mut begun = spare.pop().unwrap_or_default();
            begun.messages.last = pending.sent;
            begun
        });
        Some(begun)
    }

    /// Takes the message with this number out, and what came of its reply; that is to be
    /// [given back](Self::give_back).
    pub(crate) fn take(&mut self, number: u64) -> Option<(Pending, Option<Box<Begun>>)> {
        let place =
            if mutation::is(Mutation::NumberIgnored) { Some(0) } else { self.place(number) };
        self.take_at(place?)
    }

    /// Where the message with this number stands until one is taken or added, if it waits for its reply
    /// and nothing of that came before.
    #[inline]
    pub(crate) fn plain(&self, number: u64) -> Option<(usize, Pending)> {
        let place =
            if mutation::is(Mutation::NumberIgnored) { Some(0) } else { self.place(number) };
        let entry = self.entries.get(place?).filter(|entry| entry.begun.is_none())?;
        Some((place?, entry.pending))
    }

    /// Takes out what stands at a place that is [plain](Self::plain): it was answered.
    #[inline]
    pub(crate) fn answer_plain(&mut self, place: usize) {
        if let Some((pending, _)) = self.take_at(place) {
            self.note_answered(pending.sent);
        }
    }

    /// The message with this number, which stays, and what came of its reply; that is to be
    /// [given back](Self::give_back).
    pub(crate) fn look(&mut self, number: u64) -> Option<(Pending, Option<Box<Begun>>)> {
        let place = self.place(number)?;
        let entry = &mut self.entries[place];
        Some((entry.pending, entry.begun.take()))
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
        let (pending, begun) = self.take_at(0)?;
        self.give_back(begun);
        self.behind = self.behind.min(self.waiting);
        Some(pending)
    }

    fn take_at(&mut self, place: usize) -> Option<(Pending, Option<Box<Begun>>)> {
        let entry = self.entries.get_mut(place)?;
        entry.waits = false;
        let taken = (entry.pending, entry.begun.take());
        if !self.refused.is_empty() {
            let number = taken.0.number;
            self.refused.retain(|&refused| refused != number);
        }
        self.waiting -= 1;
        while self.entries.front().is_some_and(|entry| !entry.waits) {
            self.entries.pop_front();
        }
        if self.entries.len() > 2 * self.waiting + MOST_IDLE {
            let unstamped = self.entries.len().saturating_sub(self.unstamped as usize);
            let mut place = 0;
            self.entries.retain(|entry| {
                place += 1;
                entry.waits || place > unstamped
            });
        }
        Some(taken)
    }

    /// A message that was sent at this instant was answered.
    pub(crate) fn note_answered(&mut self, sent: Nanos) {
        self.answered = self.answered.max(sent);
    }

    /// Was a message answered that was sent no earlier than at this instant?
    pub(crate) fn has_answered_since(&self, sent: Nanos) -> bool {
        self.answered >= sent
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
        self.entries.iter().any(|entry| entry.begun.is_some())
    }

    /// What was begun on a connection that has ended came to nothing, and what waited for room on it
    /// waits no more.
    pub(crate) fn forget_begun(&mut self) {
        self.behind = 0;
        self.refused.clear();
        for entry in &mut self.entries {
            entry.begun = None;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting
    }

    /// Where this message stands, if it waits for its reply.
    #[inline]
    fn place(&self, number: u64) -> Option<usize> {
        // Numbers of 32 bits may begin anew: they still follow each other from the first one.
        let from_first = |number: u64| number.wrapping_sub(self.entries[0].pending.number);
        let ahead = from_first(self.entries.front().map(|_| number)?);
        let is_it = |place: &usize| {
            self.entries.get(*place).is_some_and(|entry| entry.pending.number == number)
        };
        let place = usize::try_from(ahead).ok().filter(is_it).or_else(|| {
            let found =
                self.entries.binary_search_by_key(&ahead, |entry| from_first(entry.pending.number));
            found.ok()
        })?;
        let has_gone = place < self.entries.len() - self.behind;
        (has_gone && self.entries[place].waits).then_some(place)
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
        assert_eq!((ledger.len(), ledger.entries.len()), (1, 2));
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
        assert!(ledger.entries.len() <= MOST_IDLE + 2, "{}", ledger.entries.len());
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
