//! How many receivers each published event has come to.
//!
//! Knows numbers of events and counts. Must not know who the receivers are, nor when an event came. All workers
//! of a run count together, without waiting for each other.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Events that may be on their way at once; of one that is further behind, nobody asks any more.
const WINDOW: u64 = 1024;
/// Bits of a place that are the count; those above are the event's number.
const COUNT_BITS: u32 = 32;

/// The last events, and to how many receivers each has come.
#[derive(Debug)]
pub(crate) struct Reach {
    receivers: u32,
    places: Box<[AtomicU64]>,
}

impl Reach {
    /// Of events that so many receivers are to be told.
    pub(crate) fn new(receivers: u32) -> Self {
        Self { receivers, places: (0..WINDOW).map(|_| AtomicU64::new(0)).collect() }
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
        before.ok().and_then(counted) == Some(self.receivers)
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
