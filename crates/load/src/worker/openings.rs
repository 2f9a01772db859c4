//! Which connections stand, are on their way, or wait for their next try.
//!
//! Knows counts and instants. Must not know sockets, nor why a connection ended.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::clock::Nanos;
use crate::measure::Class;
use crate::mutation::{self, Mutation};

/// Connections that may be on their way at once, per worker: below every usual listen backlog.
const AT_ONCE: u32 = 128;
/// Wait after the first failed attempt; doubled up to [`LONGEST_BACKOFF`].
const FIRST_BACKOFF: Nanos = Nanos::from_millis(10);
const LONGEST_BACKOFF: Nanos = Nanos::from_secs(1);

/// The set-up of a worker's connections.
#[derive(Debug)]
pub(super) struct Openings {
    all: u32,
    /// Connections that are ready.
    open: u32,
    /// Connections on their way to it.
    opening: u32,
    /// Next connection to open for the first time.
    next: u32,
    /// Connections to open again, by instant.
    retries: BinaryHeap<Retry>,
    /// Last reason why a connection did not stand.
    last_failure: Option<(Class, String)>,
    rng: fastrand::Rng,
}

impl Openings {
    /// None of so many stands.
    pub(super) fn new(all: u32, rng: fastrand::Rng) -> Self {
        Self {
            all,
            open: 0,
            opening: 0,
            next: 0,
            retries: BinaryHeap::new(),
            last_failure: None,
            rng,
        }
    }

    /// What the masks and the handshake of a new connection are drawn from.
    pub(super) fn entropy(&mut self) -> [u64; 2] {
        [self.rng.u64(..), self.rng.u64(..)]
    }

    /// Whose turn it is to be opened for the first time; a limited number is on its way at once.
    pub(super) fn take_next(&mut self) -> Option<u32> {
        if self.opening >= AT_ONCE || self.next >= self.all {
            return None;
        }
        self.next += 1;
        Some(self.next - 1)
    }

    /// A connection was asked for.
    pub(super) fn asked(&mut self) {
        self.opening += 1;
    }

    /// A connection stands.
    pub(super) fn stood(&mut self) {
        self.opening -= 1;
        self.open += 1;
    }

    /// A connection has ended that stood, or did not come to.
    pub(super) fn ended(&mut self, stood: bool) {
        let count = if stood { &mut self.open } else { &mut self.opening };
        *count -= 1;
    }

    /// Why a connection did not stand, or ended before anything was asked on it.
    pub(super) fn note_failure(&mut self, failure: Option<(Class, String)>) {
        self.last_failure = failure.or(self.last_failure.take());
    }

    /// A connection is tried again after a while, which grows with its attempts in a row.
    pub(super) fn back_off(&mut self, connection: u32, attempts: u8, now: Nanos) {
        let doubled = FIRST_BACKOFF.0 << attempts.min(7);
        let longest = doubled.min(LONGEST_BACKOFF.0);
        // Between half and the whole, so that a thousand connections don't come back at one instant.
        let wait = longest / 2 + self.rng.u64(0..=longest / 2);
        if mutation::is(Mutation::RetryLost) && !self.retries.is_empty() {
            return;
        }
        self.retries.push(Retry { due: now + Nanos(wait), connection });
    }

    /// One that has waited long enough.
    pub(super) fn take_due(&mut self, now: Nanos) -> Option<u32> {
        if self.next_retry()? > now {
            return None;
        }
        self.retries.pop().map(|retry| retry.connection)
    }

    /// When the next one has waited long enough.
    pub(super) fn next_retry(&self) -> Option<Nanos> {
        self.retries.peek().map(|retry| retry.due)
    }

    /// Connections that stand.
    pub(super) fn open(&self) -> u32 {
        self.open
    }

    pub(super) fn all_stand(&self) -> bool {
        self.open == self.all
    }

    /// Why not all stand after so long.
    pub(super) fn why_not(&self, waited: Nanos) -> (Class, String) {
        let none = || (Class::ConnectTimeout, self.still_opening());
        let (class, why) = self.last_failure.clone().unwrap_or_else(none);
        let (open, all, waited) = (self.open, self.all, waited.0 / 1_000_000);
        (class, format!("{open} of {all} connections stood after {waited} ms: {why}"))
    }

    fn still_opening(&self) -> String {
        if self.open == 0 {
            return "no answer to the connect".to_owned();
        }
        "none failed, so allow more time: --connect-timeout".to_owned()
    }

    /// Open, on their way, waiting for their next try, and never asked for from this one on.
    #[cfg(test)]
    pub(super) fn counts(&self) -> (usize, usize, usize, u32) {
        (self.open as usize, self.opening as usize, self.retries.len(), self.next)
    }
}

/// A connection to open again.
#[derive(Debug, PartialEq, Eq)]
struct Retry {
    due: Nanos,
    connection: u32,
}

/// The earliest is the greatest: `BinaryHeap` gives the greatest first.
impl Ord for Retry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.due, other.connection).cmp(&(self.due, self.connection))
    }
}

impl PartialOrd for Retry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openings(all: u32) -> Openings {
        Openings::new(all, fastrand::Rng::with_seed(1))
    }

    #[test]
    fn a_limited_number_is_on_its_way_at_once() {
        let mut openings = openings(200);
        let ask = |openings: &mut Openings| {
            std::iter::from_fn(|| {
                let next = openings.take_next()?;
                openings.asked();
                Some(next)
            })
            .count()
        };
        assert_eq!(ask(&mut openings), 128);
        openings.stood();
        openings.ended(false);
        assert_eq!((ask(&mut openings), openings.open()), (2, 1));
    }

    #[test]
    fn the_wait_doubles_up_to_a_second_and_the_earliest_comes_first() {
        let mut openings = openings(3);
        for (attempts, longest) in [(0, 10), (1, 20), (6, 640), (7, 1000), (255, 1000)] {
            openings.back_off(0, attempts, Nanos::ZERO);
            let due = openings.next_retry().expect("it comes back");
            let (least, most) = (Nanos::from_millis(longest / 2), Nanos::from_millis(longest));
            assert!((least..=most).contains(&due), "{attempts}: {due:?}");
            assert_eq!(openings.take_due(due - Nanos(1)), None);
            assert_eq!(openings.take_due(due), Some(0));
        }
        openings.back_off(1, 7, Nanos::ZERO);
        openings.back_off(2, 0, Nanos::ZERO);
        let late = Nanos::from_secs(2);
        let order = [openings.take_due(late), openings.take_due(late), openings.take_due(late)];
        assert_eq!(order, [Some(2), Some(1), None]);
    }

    #[test]
    fn what_is_said_where_not_all_stand() {
        let mut openings = openings(2);
        let waited = Nanos::from_millis(70);
        let none = "0 of 2 connections stood after 70 ms: no answer to the connect";
        assert_eq!(openings.why_not(waited), (Class::ConnectTimeout, none.to_owned()));
        openings.asked();
        openings.stood();
        assert!(openings.why_not(waited).1.ends_with("allow more time: --connect-timeout"));
        openings.note_failure(Some((Class::Reset, "it broke".to_owned())));
        openings.note_failure(None);
        let last = "1 of 2 connections stood after 70 ms: it broke";
        assert_eq!(openings.why_not(waited), (Class::Reset, last.to_owned()));
        assert!(!openings.all_stand());
    }
}
