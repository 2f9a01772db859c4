//! Closed loop: a connection sends again when its reply has come. A stall keeps it from
//! sending; what it did not send is never back-filled.

use super::{Assignment, Budget, Next, Slots};
use crate::clock::Nanos;

/// The next message goes when a reply has come.
#[derive(Debug)]
pub struct Closed {
    pack: u32,
    budget: Budget,
}

impl Closed {
    /// `pack` messages per assignment, `budget` in all.
    pub fn new(pack: u32, budget: Budget) -> Self {
        Self { pack, budget }
    }

    pub(super) fn next(&mut self, now: Nanos, slots: &mut Slots) -> Next {
        if self.budget.is_spent() {
            return Next::Finished;
        }
        let Some(connection) = slots.take() else { return Next::Blocked };
        let messages = self.budget.take(self.pack);
        Next::Send(Assignment { connection, messages, due: now })
    }
}
