//! Bursts: as many packs as there are connections go at once, each on a connection drawn at random,
//! and when all of them are answered the next burst goes. A closed loop; a connection may be drawn
//! several times, or not at all.

use fastrand::Rng;

use super::{Assignment, Budget, Next, Slots};
use crate::clock::Nanos;

/// A pack for each connection there is, on connections drawn with replacement; then the next burst.
#[derive(Debug)]
pub struct RandomBurst {
    connections: u32,
    pack: u32,
    budget: Budget,
    rng: Rng,
    /// Packs of the current burst that were not sent.
    unsent: u32,
    /// When it began: all of its packs are due then.
    begun: Nanos,
}

impl RandomBurst {
    /// Over so many connections, at least one. The same seed draws the same connections. The slots
    /// must be [without limit](Slots::without_limit).
    pub fn new(connections: u32, pack: u32, budget: Budget, seed: u64) -> Self {
        let rng = Rng::with_seed(seed);
        Self { connections, pack, budget, rng, unsent: 0, begun: Nanos::ZERO }
    }

    pub(super) fn next(&mut self, now: Nanos, slots: &mut Slots) -> Next {
        if self.budget.is_spent() {
            return Next::Finished;
        }
        if self.unsent == 0 {
            if slots.taken() > 0 {
                return Next::Blocked;
            }
            self.unsent = self.connections;
            self.begun = now;
        }
        self.unsent -= 1;
        slots.take_another();
        let connection = self.rng.u32(..self.connections);
        let messages = self.budget.take(self.pack);
        Next::Send(Assignment { connection, messages, due: self.begun })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(executor: &mut RandomBurst, slots: &mut Slots, now: Nanos) -> Vec<u32> {
        std::iter::from_fn(|| match executor.next(now, slots) {
            Next::Send(assignment) => {
                assert_eq!(assignment.due, now);
                Some(assignment.connection)
            }
            _ => None,
        })
        .collect()
    }

    #[test]
    fn a_burst_has_a_pack_for_each_connection_and_waits_for_all() {
        let mut slots = Slots::without_limit(50);
        let mut executor = RandomBurst::new(50, 10, Budget::UNLIMITED, 7);
        let first = drawn(&mut executor, &mut slots, Nanos(1));
        assert_eq!((first.len(), slots.taken()), (50, 50));
        assert!(first.iter().all(|connection| *connection < 50));
        for connection in &first[1..] {
            slots.release(*connection, 1);
        }
        assert_eq!(executor.next(Nanos(2), &mut slots), Next::Blocked);
        slots.release(first[0], 1);
        let second = drawn(&mut executor, &mut slots, Nanos(3));
        assert_eq!(second.len(), 50);
        assert_ne!(first, second);
    }

    #[test]
    fn connections_are_drawn_with_replacement_from_the_seed() {
        let draw = |seed| {
            let mut executor = RandomBurst::new(1000, 1, Budget::UNLIMITED, seed);
            drawn(&mut executor, &mut Slots::without_limit(1000), Nanos(1))
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
        let mut different = draw(3);
        different.sort_unstable();
        different.dedup();
        // 1 - 1/e of them on the average: 632, standard deviation 10.
        assert!((580..690).contains(&different.len()), "{}", different.len());
    }

    #[test]
    fn a_budget_ends_in_the_middle_of_a_burst() {
        let mut slots = Slots::without_limit(8);
        let mut executor = RandomBurst::new(8, 10, Budget::of(25), 0);
        assert_eq!(drawn(&mut executor, &mut slots, Nanos(1)).len(), 3);
        assert_eq!(executor.next(Nanos(1), &mut slots), Next::Finished);
    }
}
