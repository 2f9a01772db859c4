//! Closed loop: a connection sends again when its reply has come. A stall keeps it from
//! sending; what it did not send is never back-filled.

use super::{Assignment, Budget, Next, Slots};
use crate::clock::Nanos;

/// The next message goes when a reply has come.
#[derive(Debug)]
pub struct Closed {
    pack: u32,
    budget: Budget,
    /// So many packs of one connection at most are assigned at once.
    at_once: u32,
}

impl Closed {
    /// `pack` messages per assignment, `budget` in all.
    pub fn new(pack: u32, budget: Budget) -> Self {
        Self { pack, budget, at_once: 1 }
    }

    /// Where several slots in turn are of one connection, all of their packs are one assignment.
    #[must_use]
    pub fn together(self) -> Self {
        Self { at_once: u32::MAX / self.pack, ..self }
    }

    pub(super) fn next(&mut self, now: Nanos, slots: &mut Slots) -> Next {
        if self.budget.is_spent() {
            return Next::Finished;
        }
        let left = self.budget.limit(u64::from(self.at_once) * u64::from(self.pack));
        let most = left.div_ceil(u64::from(self.pack)) as u32;
        let Some((connection, packs)) = slots.take_several(most) else { return Next::Blocked };
        let messages = self.budget.take(packs * self.pack);
        Next::Send(Assignment { connection, messages, due: now })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(executor: &mut Closed, slots: &mut Slots) -> Vec<(u32, u32)> {
        std::iter::from_fn(|| match executor.next(Nanos(1), slots) {
            Next::Send(Assignment { connection, messages, .. }) => Some((connection, messages)),
            _ => None,
        })
        .collect()
    }

    fn slots(connections: u32, each: u32) -> Slots {
        let mut slots = Slots::new(connections, each);
        (0..connections).for_each(|connection| slots.set_available(connection, true));
        slots
    }

    #[test]
    fn packs_of_one_connection_may_go_together() {
        let mut executor = Closed::new(2, Budget::UNLIMITED);
        assert_eq!(
            sent(&mut executor, &mut slots(2, 3)),
            [(0, 2); 3].into_iter().chain([(1, 2); 3]).collect::<Vec<_>>()
        );
        assert_eq!(sent(&mut executor.together(), &mut slots(2, 3)), [(0, 6), (1, 6)]);
    }

    #[test]
    fn what_goes_together_takes_no_more_slots_than_it_has_packs() {
        let mut executor = Closed::new(4, Budget::of(10)).together();
        let mut slots = slots(1, 16);
        assert_eq!(sent(&mut executor, &mut slots), [(0, 10)]);
        assert_eq!(slots.taken(), 3);
        assert_eq!(executor.next(Nanos(1), &mut slots), Next::Finished);
    }
}
