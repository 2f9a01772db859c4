//! What waits too long: connections that do not come to stand, messages that are not answered.

use wiretrial_net::Key;

use super::Worker;
use crate::clock::Nanos;
use crate::connection::{Ending, LATE, State};
use crate::machine::Machine;
use crate::measure::Class;
use crate::mutation::{self, Mutation};

/// Deadlines are looked at this often within one timeout, and between these bounds.
const SWEEPS_PER_TIMEOUT: u64 = 8;
const SHORTEST_SWEEP: Nanos = Nanos::from_millis(5);
const LONGEST_SWEEP: Nanos = Nanos::from_secs(1);

impl<M: Machine> Worker<M> {
    /// Fails what has waited too long.
    pub(super) fn sweep(&mut self, now: Nanos) {
        if now < self.next_sweep {
            return;
        }
        let timeout = self.plan().phases.timeout;
        let period = Nanos(timeout.0 / SWEEPS_PER_TIMEOUT);
        self.next_sweep = now + period.clamp(SHORTEST_SWEEP, LONGEST_SWEEP);
        if let Some(deliveries) = &mut self.deliveries {
            self.recorder.deliveries.missing += deliveries.overdue(now, timeout);
        }
        for index in 0..self.share.connections {
            let connection = &self.connections[index as usize];
            let ending = match connection.state {
                State::Idle | State::Backoff => continue,
                State::Connecting | State::Securing | State::Opening => {
                    if now - connection.since < timeout {
                        continue;
                    }
                    let text = match connection.greetings {
                        0 => "the connection did not stand in time".to_owned(),
                        _ => connection.ungreeted(),
                    };
                    Ending::Failed(Class::ConnectTimeout, text)
                }
                State::Ready => {
                    if self.setup.plan.hears_events() {
                        if let Some(ending) = self.sweep_streams(index, now) {
                            self.end(index, ending, now);
                        }
                        continue;
                    }
                    if !self.is_overdue(index, now) || self.give_up_overdue(index, now) {
                        continue;
                    }
                    Ending::Failed(Class::Timeout, LATE.to_owned())
                }
            };
            self.end(index, ending, now);
        }
    }

    /// Has the oldest message of a connection waited too long?
    fn is_overdue(&self, index: u32, now: Nanos) -> bool {
        let oldest = self.connections[index as usize].ledger.front();
        oldest.is_some_and(|pending| now - pending.sent >= self.plan().phases.timeout)
    }

    /// Fails the messages alone that have waited too long, while others are answered on their
    /// connection. False: the connection has to be given up.
    fn give_up_overdue(&mut self, index: u32, now: Nanos) -> bool {
        let mut given_up = 0;
        while self.is_overdue(index, now)
            && let connection = &mut self.connections[index as usize]
            && let Some(number) = connection.ledger.front().map(|oldest| oldest.number)
            && connection.give_up_oldest(now, &mut self.recorder)
        {
            self.user_given_up(index, number);
            given_up += 1;
        }
        self.done(index, given_up);
        if given_up > 0 {
            self.step_over(index, now);
        }
        if self.is_overdue(index, now) {
            return false;
        }
        if given_up > 0 && !mutation::is(Mutation::CancelUnflushed) {
            // The peer is told so, and what waited for its room goes on its way.
            let generation = self.connections[index as usize].generation;
            self.go_on(Key { slot: index, generation }, None, now);
        }
        true
    }
}
