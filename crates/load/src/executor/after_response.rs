//! Closed loop with a pause: the next message of a connection goes so long after its reply has
//! come. So its rate falls as replies take longer, by arithmetic: 1 / (pause + reply time).

use std::collections::VecDeque;

use super::{Assignment, Budget, Next, Slots};
use crate::clock::Nanos;

/// The next message goes so long after a reply has come.
#[derive(Debug)]
pub struct AfterResponse {
    begin: Nanos,
    pause: Nanos,
    pack: u32,
    budget: Budget,
    /// Slots in all, and how many of them have begun: they begin over one pause, evenly.
    slots: u64,
    begun: u64,
    /// Free slots, by the instant of their next message; as all pauses are equal, in its order.
    resting: VecDeque<(Nanos, u32)>,
}

impl AfterResponse {
    /// `slots` of all connections begin within one pause from `begin` on.
    pub fn new(begin: Nanos, pause: Nanos, slots: u64, pack: u32, budget: Budget) -> Self {
        Self { begin, pause, pack, budget, slots, begun: 0, resting: VecDeque::new() }
    }

    pub(super) fn next(&mut self, now: Nanos, slots: &mut Slots) -> Next {
        if self.budget.is_spent() {
            return Next::Finished;
        }
        while let Some(connection) = slots.take() {
            let due = if self.begun < self.slots {
                let part =
                    u128::from(self.pause.0) * u128::from(self.begun) / u128::from(self.slots);
                self.begun += 1;
                self.begin + Nanos(part as u64)
            } else {
                now + self.pause
            };
            self.resting.push_back((due, connection));
        }
        match self.resting.front() {
            None => Next::Blocked,
            Some((due, _)) if *due > now => Next::Wait(*due),
            Some(&(due, connection)) => {
                self.resting.pop_front();
                let messages = self.budget.take(self.pack);
                Next::Send(Assignment { connection, messages, due })
            }
        }
    }

    #[cfg(test)]
    pub(super) fn resting(&self, connection: u32) -> u32 {
        self.resting.iter().filter(|(_, whose)| *whose == connection).count() as u32
    }

    pub(super) fn peek(&self) -> Next {
        if self.budget.is_spent() {
            return Next::Finished;
        }
        self.resting.front().map_or(Next::Blocked, |(due, _)| Next::Wait(*due))
    }
}
