//! Conversations: steps that open, listen and close, and those that are over without a reply.
//!
//! Knows what a step does to its connection. Must not know whose turn it is, nor what is heard.

use super::Worker;
use crate::clock::Nanos;
use crate::connection::{Ending, Ledger, State};
use crate::executor::Assignment;
use crate::machine::Machine;
use crate::measure::Timeline;
use crate::mutation::{self, Mutation};
use crate::plan::traffic::Deed;

impl<M: Machine> Worker<M> {
    /// A user's step begins.
    pub(super) fn converse(&mut self, assignment: Assignment, now: Nanos) {
        let Assignment { connection: index, due, .. } = assignment;
        let Some(users) = &mut self.users else { return };
        let Some(deed) = users.deed(index) else { return };
        if deed == Deed::Open {
            // One of a session that failed may still stand.
            self.hang_up(index, now);
            self.send_with_connection(assignment, now);
            return self.connect(index, now);
        }
        if self.connections[index as usize].state != State::Ready {
            return self.cut_off(assignment, now);
        }
        if deed == Deed::Await {
            let came_early = users.came_early(index);
            // The time that is measured begins with the end of the step before.
            self.send_with_connection(Assignment { due, ..assignment }, due.min(now));
            if came_early {
                self.settle(index, now);
            }
            return;
        }
        let number = self.tally.next;
        self.tally.next += 1;
        let connection = &mut self.connections[index as usize];
        if !connection.ledger.has_unstamped() {
            self.turns.has_encoded(index);
        }
        connection.ledger.push(number, 1, due);
        self.tally.begin(1);
        if deed == Deed::Close {
            connection.close();
        } else {
            users.encode(index, number, connection, &mut self.buffers, &mut self.recorder);
        }
    }

    /// A step begins on a connection that is gone: it fails, or has nothing left to do.
    fn cut_off(&mut self, assignment: Assignment, now: Nanos) {
        let index = assignment.connection;
        self.send_with_connection(assignment, now);
        let Some(users) = &mut self.users else { return };
        match users.cut_off(index).filter(|_| !mutation::is(Mutation::GoneUnnoticed)) {
            None => self.settle(index, now),
            Some((class, text)) => {
                users.lost(index, Some((class, &text)), &mut self.recorder);
                let name = users.route_name(index);
                self.recorder.example(class, || format!("{name}: {text}"));
                self.fail_in_flight(index, class, now);
                self.turns.has_room(index);
            }
        }
    }

    /// A message that nobody answers is over when the kernel has all of it.
    #[inline]
    pub(super) fn handed_over(&mut self, index: u32, now: Nanos) {
        let (Some(users), Some(user)) = (&self.users, self.user_on(index)) else { return };
        if users.hands_over(user) && !self.connections[index as usize].congested {
            self.settle(index, now);
        }
    }

    /// A connection has ended as it was to: where its user waited for that, its step is over.
    pub(super) fn left(&mut self, index: u32, now: Nanos) {
        let Some(user) = self.user_on(index) else { return };
        if self.users.as_ref().is_some_and(|users| users.is_leaving(user)) {
            self.settle(index, now);
        }
    }

    /// A session is over: its connection goes with it, if it still stands.
    pub(super) fn hang_up(&mut self, index: u32, now: Nanos) {
        let converse = self.users.as_ref().is_some_and(|users| users.converse());
        if converse && self.connections[index as usize].state == State::Ready {
            self.connections[index as usize].close();
            self.end(index, Ending::Orderly("plan"), now);
        }
    }

    /// The user's step is over, without a reply that is to be judged.
    pub(super) fn settle(&mut self, index: u32, now: Nanos) {
        let open_loop = self.is_open_loop();
        let connection = &mut self.connections[index as usize];
        let Ledger::InOrder(ledger) = &mut connection.ledger else { return };
        let Some(pending) = ledger.take() else { return };
        // That it stands is as good as that it has served.
        connection.requests = connection.requests.max(1);
        connection.attempts = 0;
        let done = now.max(pending.sent);
        let timeline = Timeline { due: pending.due, sent: pending.sent, first_byte: done, done };
        if let Some(users) = &mut self.users {
            users.settle(index, &timeline, open_loop, &mut self.recorder);
        }
        self.done(index, 1);
        self.step_over(index, now);
        // What follows goes at once.
        self.turns.has_room(index);
    }
}
