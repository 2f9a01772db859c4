//! Open loop, to each its own: every connection sends at the same rate, at a phase of its own that
//! no reply moves. A message waits for the slot of its own connection alone.

use std::collections::VecDeque;

use super::{Assignment, Budget, Next, Slots};
use crate::clock::Nanos;
use crate::pacing::Constant;
use crate::plan::Overflow;

/// The pacer's instants go to the connections in turn.
#[derive(Debug)]
pub struct Phased {
    pacer: Constant,
    pack: u32,
    budget: Budget,
    overflow: Overflow,
    /// By connection.
    turns: Vec<Turns>,
    /// Whose instant the next one is.
    turn: u32,
    /// Connections to look at: something is due, or a slot has become free.
    todo: VecDeque<u32>,
    /// Packs that are due and not sent, over all connections.
    behind: u64,
    dropped: u64,
}

/// One connection's instants.
#[derive(Debug, Clone, Copy, Default)]
struct Turns {
    /// So many are done with.
    done: u64,
    /// So many are due.
    waiting: u32,
}

impl Phased {
    /// Over so many connections, at least one; the pacer's instants are those of packs. The slots
    /// must be [by connection](Slots::by_connection).
    pub fn new(
        pacer: Constant,
        connections: u32,
        pack: u32,
        budget: Budget,
        overflow: Overflow,
    ) -> Self {
        Self {
            pacer,
            pack,
            budget,
            overflow,
            turns: vec![Turns::default(); connections as usize],
            turn: 0,
            todo: VecDeque::new(),
            behind: 0,
            dropped: 0,
        }
    }

    pub(super) fn next(&mut self, now: Nanos, slots: &mut Slots) -> Next {
        if self.budget.is_spent() {
            return Next::Finished;
        }
        self.admit(now);
        while let Some(connection) = slots.freed() {
            if self.turns[connection as usize].waiting > 0 {
                self.todo.push_back(connection);
            }
        }
        while let Some(connection) = self.todo.pop_front() {
            let Turns { done, waiting } = self.turns[connection as usize];
            if waiting == 0 {
                continue;
            }
            if slots.take_of(connection) {
                let due = self.pacer.at(done * self.turns.len() as u64 + u64::from(connection));
                self.done_with(connection);
                if waiting > 1 {
                    self.todo.push_back(connection);
                }
                let messages = self.budget.take(self.pack);
                return Next::Send(Assignment { connection, messages, due });
            }
            if self.overflow == Overflow::Drop {
                self.done_with(connection);
                self.dropped += u64::from(self.budget.take(self.pack));
                if self.budget.is_spent() {
                    return Next::Finished;
                }
            }
        }
        Next::Wait(self.pacer.due())
    }

    pub(super) fn peek(&self) -> Next {
        if self.budget.is_spent() {
            return Next::Finished;
        }
        Next::Wait(self.pacer.due())
    }

    pub(super) fn waiting(&mut self, now: Nanos) -> u64 {
        self.admit(now);
        self.budget.limit(self.behind * u64::from(self.pack))
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Notes what is due.
    fn admit(&mut self, now: Nanos) {
        while self.pacer.due() <= now {
            self.pacer.advance();
            self.turns[self.turn as usize].waiting += 1;
            self.behind += 1;
            self.todo.push_back(self.turn);
            self.turn = (self.turn + 1) % self.turns.len() as u32;
        }
    }

    fn done_with(&mut self, connection: u32) {
        let turns = &mut self.turns[connection as usize];
        turns.done += 1;
        turns.waiting -= 1;
        self.behind -= 1;
    }
}
