//! Open loop: messages are due at instants that no reply moves. One that finds no free slot
//! waits, and stays due when it was, or is counted `dropped`.

use super::{Assignment, Budget, Next, Slots};
use crate::clock::Nanos;
use crate::pacing::Pacer;
use crate::plan::Overflow;

/// Messages are due at instants that no reply moves.
#[derive(Debug)]
pub struct Open {
    pacer: Pacer,
    pack: u32,
    budget: Budget,
    overflow: Overflow,
    dropped: u64,
    /// Runs ahead of `pacer` while messages wait, to count them without storing them.
    lead: Pacer,
    /// Packs that `lead` is ahead.
    ahead: u64,
}

impl Open {
    /// The pacer's instants are those of packs.
    pub fn new(pacer: Pacer, pack: u32, budget: Budget, overflow: Overflow) -> Self {
        let lead = pacer.clone();
        Self { pacer, pack, budget, overflow, dropped: 0, lead, ahead: 0 }
    }

    pub(super) fn next(&mut self, now: Nanos, slots: &mut Slots) -> Next {
        loop {
            if self.budget.is_spent() {
                return Next::Finished;
            }
            let due = self.pacer.due();
            if due > now {
                return Next::Wait(due);
            }
            if let Some(connection) = slots.take() {
                self.advance();
                let messages = self.budget.take(self.pack);
                return Next::Send(Assignment { connection, messages, due });
            }
            if self.overflow == Overflow::Wait {
                return Next::Blocked;
            }
            self.advance();
            self.dropped += u64::from(self.budget.take(self.pack));
        }
    }

    pub(super) fn peek(&self, now: Nanos) -> Next {
        let due = self.pacer.due();
        if due > now { Next::Wait(due) } else { Next::Blocked }
    }

    pub(super) fn waiting(&mut self, now: Nanos) -> u64 {
        while self.lead.due() <= now {
            self.lead.advance();
            self.ahead += 1;
        }
        self.budget.limit(self.ahead * u64::from(self.pack))
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn advance(&mut self) {
        self.pacer.advance();
        if self.ahead == 0 {
            self.lead.advance();
        } else {
            self.ahead -= 1;
        }
    }
}
