//! How many receivers each published event has come to, and which events may not have been published at all.
//!
//! Knows numbers of events and counts. Must not know who the receivers are, nor when an event came. All workers
//! of a run count together, and wait for each other only about events that were not confirmed.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Events that may be on their way at once; of one that is further behind, nobody asks any more.
const WINDOW: u64 = 1024;
/// Bits of a place that are the count; those above are the event's number.
const COUNT_BITS: u32 = 32;

/// The last events, and to how many receivers each has come.
#[derive(Debug)]
pub(crate) struct Reach {
    receivers: u32,
    places: Box<[AtomicU64]>,
    /// Is there an event that was not confirmed? Most runs have none, and ask no more than this.
    any_unconfirmed: AtomicBool,
    unconfirmed: Mutex<Unconfirmed>,
}

/// The events of which nobody knows whether the server has taken them, as the request that published each has failed.
#[derive(Debug, Default)]
struct Unconfirmed {
    /// Their numbers, in order.
    runs: Vec<Range<u64>>,
    /// Copies of theirs that came and are counted in no place any more.
    came: u64,
}

impl Reach {
    /// Of events that so many receivers are to be told.
    pub(crate) fn new(receivers: u32) -> Self {
        Self {
            receivers,
            places: (0..WINDOW).map(|_| AtomicU64::new(0)).collect(),
            any_unconfirmed: AtomicBool::new(false),
            unconfirmed: Mutex::default(),
        }
    }

    /// The event with this number has come to one more receiver. True: that was the last of them.
    pub(crate) fn one_more(&self, number: u64) -> bool {
        let own = number as u32;
        let counted = |place: u64| {
            let (other, count) = ((place >> COUNT_BITS) as u32, place as u32);
            match own.wrapping_sub(other).cast_signed() {
                0 => Some(count.saturating_add(1)),
                // The place is a later event's.
                ..0 => None,
                1.. => Some(1),
            }
        };
        let place = &self.places[(number % WINDOW) as usize];
        let before = place.fetch_update(Relaxed, Relaxed, |place| {
            counted(place).map(|count| u64::from(own) << COUNT_BITS | u64::from(count))
        });
        if self.any_unconfirmed.load(Relaxed) {
            self.keep(number, before);
        }
        before.ok().and_then(counted) == Some(self.receivers)
    }

    /// Nobody knows whether the server has taken the event with this number. That is said before the next one is posted,
    /// so that it is known wherever the next one is heard.
    pub(crate) fn not_confirmed(&self, number: u64) {
        self.unconfirmed().add(number);
        self.any_unconfirmed.store(true, Relaxed);
    }

    /// How many of these events were not confirmed.
    pub(crate) fn unconfirmed_in(&self, events: &Range<u64>) -> u64 {
        if self.any_unconfirmed.load(Relaxed) { self.unconfirmed().among(events) } else { 0 }
    }

    /// Copies that came of all events that were not confirmed.
    pub(crate) fn unconfirmed_came(&self) -> u64 {
        let unconfirmed = self.unconfirmed();
        let counted = |number: u64| {
            let place = self.places[(number % WINDOW) as usize].load(Relaxed);
            if (place >> COUNT_BITS) as u32 == number as u32 { u64::from(place as u32) } else { 0 }
        };
        unconfirmed.came + unconfirmed.runs.iter().cloned().flatten().map(counted).sum::<u64>()
    }

    /// A copy of this event came, and this stood in its place before, if that was not a later event's: keeps the count of
    /// an event that was not confirmed and has no place any more.
    #[cold]
    fn keep(&self, number: u64, before: Result<u64, u64>) {
        let (other, copies) = match before {
            Err(_) => (number, 1),
            Ok(place) => {
                let behind = (number as u32).wrapping_sub((place >> COUNT_BITS) as u32);
                if behind == 0 {
                    return;
                }
                (number.wrapping_sub(behind.into()), u64::from(place as u32))
            }
        };
        let mut unconfirmed = self.unconfirmed();
        if unconfirmed.among(&(other..other.saturating_add(1))) > 0 {
            unconfirmed.came += copies;
        }
    }

    fn unconfirmed(&self) -> MutexGuard<'_, Unconfirmed> {
        self.unconfirmed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unconfirmed {
    /// Numbers come in order.
    fn add(&mut self, number: u64) {
        match self.runs.last_mut() {
            Some(last) if number == last.end => last.end += 1,
            Some(last) if number < last.end => {}
            _ => self.runs.push(number..number.saturating_add(1)),
        }
    }

    fn among(&self, events: &Range<u64>) -> u64 {
        let before = self.runs.partition_point(|run| run.end <= events.start);
        let runs = self.runs.iter().skip(before).take_while(|run| run.start < events.end);
        runs.map(|run| run.end.min(events.end) - run.start.max(events.start)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_all_receivers_is_told_so_once() {
        let reach = Reach::new(3);
        for number in [0, 1, WINDOW, 5 * WINDOW + 7, u64::from(u32::MAX / 2)] {
            let told = [(); 4].map(|()| reach.one_more(number));
            assert_eq!(told, [false, false, true, false], "{number}");
        }
        assert!(Reach::new(1).one_more(0));
    }

    #[test]
    fn events_are_counted_side_by_side_and_one_far_behind_no_more() {
        let reach = Reach::new(2);
        assert!(!reach.one_more(3) && !reach.one_more(4) && reach.one_more(3) && reach.one_more(4));
        assert!(!reach.one_more(5) && !reach.one_more(5 + WINDOW));
        assert!(!reach.one_more(5), "its place is another one's");
        assert!(reach.one_more(5 + WINDOW));
    }

    #[test]
    fn events_that_were_not_confirmed_are_known_by_their_numbers() {
        let reach = Reach::new(2);
        assert_eq!(reach.unconfirmed_in(&(0..9)), 0);
        for number in [2, 3, 3, 7] {
            reach.not_confirmed(number);
        }
        for (events, count) in [(0..2, 0), (0..3, 1), (3..4, 1), (0..9, 3), (4..7, 0), (7..8, 1)] {
            assert_eq!(reach.unconfirmed_in(&events), count, "{events:?}");
        }
    }

    #[test]
    fn copies_of_events_that_were_not_confirmed_are_counted_wherever_they_are() {
        let reach = Reach::new(3);
        // One comes before it is known, one behind that, and both count.
        reach.one_more(5);
        reach.not_confirmed(5);
        reach.one_more(5);
        reach.one_more(6);
        assert_eq!(reach.unconfirmed_came(), 2);
        // Its place is a later event's, which is confirmed; a receiver that is far behind hears it all the same.
        reach.one_more(5 + WINDOW);
        reach.one_more(6 + WINDOW);
        assert_eq!(reach.unconfirmed_came(), 2);
        reach.one_more(5);
        reach.one_more(6);
        assert_eq!(reach.unconfirmed_came(), 3);
        reach.not_confirmed(5 + WINDOW);
        assert_eq!(reach.unconfirmed_came(), 4);
        // Of which none has come.
        reach.not_confirmed(5 + 2 * WINDOW);
        assert_eq!(reach.unconfirmed_came(), 4);
    }

    #[test]
    fn workers_count_together() {
        const EVENTS: u64 = 500;
        let reach = Reach::new(4);
        let last = std::thread::scope(|scope| {
            let count = || (0..EVENTS).filter(|number| reach.one_more(*number)).count();
            let workers = [(); 4].map(|()| scope.spawn(count));
            workers.map(|worker| worker.join().expect("joined")).iter().sum::<usize>()
        });
        assert_eq!(last as u64, EVENTS);
    }
}
