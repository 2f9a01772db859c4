//! Closed loop over time: a connection that is there sends again when its reply has come; how many are
//! there changes as stages say. One that is not there stays open, and sends nothing.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{Assignment, Budget, Next, Slots};
use crate::clock::Nanos;
use crate::pacing::Attendance;

/// The next message goes when a reply has come, on connections that are there.
#[derive(Debug)]
pub struct Ramped {
    attendance: Attendance,
    pack: u32,
    budget: Budget,
    /// Connections that are there and may have free slots, in turn.
    ready: VecDeque<u32>,
    /// Connections that will be there, by the instant from which on.
    absent: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// Which ones are among these.
    is_absent: Vec<bool>,
}

impl Ramped {
    /// Over so many connections, `pack` messages per assignment, `budget` in all. The slots must be
    /// [by connection](Slots::by_connection).
    pub fn new(attendance: Attendance, connections: u32, pack: u32, budget: Budget) -> Self {
        Self {
            attendance,
            pack,
            budget,
            ready: VecDeque::new(),
            absent: BinaryHeap::new(),
            is_absent: vec![false; connections as usize],
        }
    }

    pub(super) fn next(&mut self, now: Nanos, slots: &mut Slots) -> Next {
        if self.budget.is_spent() {
            return Next::Finished;
        }
        while let Some(connection) = slots.freed() {
            self.look_at(connection, now);
        }
        while let Some(Reverse((from, connection))) = self.absent.peek().copied()
            && from <= now
        {
            self.absent.pop();
            self.is_absent[connection as usize] = false;
            self.look_at(connection, now);
        }
        while let Some(connection) = self.ready.front().copied() {
            if slots.take_of(connection) {
                let messages = self.budget.take(self.pack);
                return Next::Send(Assignment { connection, messages, due: now });
            }
            self.ready.pop_front();
        }
        self.peek()
    }

    pub(super) fn peek(&self) -> Next {
        self.absent.peek().map_or(Next::Blocked, |Reverse((from, _))| Next::Wait(*from))
    }

    fn look_at(&mut self, connection: u32, now: Nanos) {
        match self.attendance.of(connection, now) {
            Some(from) if from <= now => self.ready.push_back(connection),
            Some(from) if !self.is_absent[connection as usize] => {
                self.is_absent[connection as usize] = true;
                self.absent.push(Reverse((from, connection)));
            }
            // It is known to be absent, or does not come again.
            Some(_) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacing::Course;
    use crate::plan::Stage;

    const MS: fn(u64) -> Nanos = Nanos::from_millis;

    fn ramped(connections: u32, each: u32, stages: &[Stage], budget: Budget) -> (Ramped, Slots) {
        let course = Course::new(Nanos::ZERO, stages);
        let attendance = Attendance::new(course, connections, 0, 1);
        let mut slots = Slots::by_connection(connections, each);
        (0..connections).for_each(|connection| slots.set_available(connection, true));
        (Ramped::new(attendance, connections, 1, budget), slots)
    }

    fn stage(ms: u64, from: f64, to: f64) -> Stage {
        Stage { time: MS(ms), from, to }
    }

    fn sent(executor: &mut Ramped, slots: &mut Slots, now: Nanos) -> Vec<u32> {
        std::iter::from_fn(|| match executor.next(now, slots) {
            Next::Send(Assignment { connection, messages: 1, due }) => {
                assert_eq!(due, now);
                Some(connection)
            }
            _ => None,
        })
        .collect()
    }

    #[test]
    fn as_many_connections_send_as_the_stages_say() {
        let stages =
            [stage(100, 0.0, 1.0), stage(50, 1.0, 1.0), stage(0, 1.0, 0.5), stage(100, 0.5, 0.0)];
        let (mut all, mut slots) = ramped(10, 1, &stages, Budget::UNLIMITED);
        let mut active = Vec::new();
        // Between the instants at which one comes or goes.
        for now in (0..30).map(|now| MS(10 * now + 3)) {
            let sent = sent(&mut all, &mut slots, now);
            active.push(sent.len());
            // All are answered at once.
            for connection in sent {
                slots.release(connection, 1);
            }
        }
        assert_eq!(active[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "they come");
        assert_eq!(active[10..15], [10; 5], "all are there");
        assert_eq!(active[15..25], [5, 4, 4, 3, 3, 2, 2, 1, 1, 0], "they go");
        assert!(active[25..].iter().all(|count| *count == 0), "nobody is left");
        assert_eq!(all.next(MS(400), &mut slots), Next::Blocked);
    }

    #[test]
    fn the_next_one_comes_when_it_is_due_and_not_before() {
        let (mut all, mut slots) = ramped(2, 1, &[stage(100, 0.0, 1.0)], Budget::UNLIMITED);
        assert_eq!(all.next(MS(0), &mut slots), Next::Wait(MS(25)));
        assert_eq!(all.next(MS(24), &mut slots), Next::Wait(MS(25)));
        assert_eq!(sent(&mut all, &mut slots, MS(25)), [0]);
        assert_eq!(all.peek(), Next::Wait(MS(75)));
        assert_eq!(sent(&mut all, &mut slots, MS(75)), [1]);
        assert_eq!(all.peek(), Next::Blocked, "both are there, and wait for replies");
    }

    #[test]
    fn all_slots_of_a_connection_are_used_and_a_lost_one_comes_back() {
        let (mut all, mut slots) = ramped(2, 3, &[stage(0, 0.0, 1.0)], Budget::of(10));
        slots.set_available(1, false);
        assert_eq!(sent(&mut all, &mut slots, MS(0)), [0, 0, 0]);
        slots.set_available(1, true);
        slots.release(0, 2);
        assert_eq!(sent(&mut all, &mut slots, MS(1)), [1, 1, 1, 0, 0]);
        slots.release(1, 3);
        assert_eq!(sent(&mut all, &mut slots, MS(2)), [1, 1], "ten are all");
        assert_eq!(all.next(MS(2), &mut slots), Next::Finished);
    }
}
