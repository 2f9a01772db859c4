//! Held connections: after a time in which nothing is sent, each one shows once that it is alive,
//! and then one after the other now and then, for as long as they are held.

use super::{Assignment, Budget, Next, Open, Slots};
use crate::clock::Nanos;
use crate::pacing::{Constant, Pacer};
use crate::plan::Overflow;

/// Connections that are asked at once, per worker: their number is no load on the server.
const ASKED_AT_ONCE: u64 = 64;

/// Nothing at first, then a message on every connection, then samples at a rate.
#[derive(Debug)]
pub struct Hold {
    /// Nothing is asked before this instant.
    begin: Nanos,
    budget: Budget,
    /// Connections that were not asked yet.
    unasked: u32,
    /// Of the samples, messages per second; 0: none.
    rate: f64,
    samples: Option<Open>,
}

impl Hold {
    /// From `begin` on one message on each of so many connections, then `rate` messages per second
    /// on all of them in turn, 0 for none; `budget` in all.
    pub fn new(connections: u32, rate: f64, begin: Nanos, budget: Budget) -> Self {
        Self { begin, budget, unasked: connections, rate, samples: None }
    }

    pub(super) fn next(&mut self, now: Nanos, slots: &mut Slots) -> Next {
        if now < self.begin {
            return Next::Wait(self.begin);
        }
        if self.budget.is_spent() {
            return Next::Finished;
        }
        if self.unasked > 0 {
            if slots.taken() >= ASKED_AT_ONCE {
                return Next::Blocked;
            }
            // A slot that was used goes behind all that were not.
            let Some(connection) = slots.take() else { return Next::Blocked };
            self.unasked -= 1;
            let messages = self.budget.take(1);
            return Next::Send(Assignment { connection, messages, due: now });
        }
        if self.rate == 0.0 {
            return Next::Blocked;
        }
        let (rate, budget) = (self.rate, self.budget);
        let samples = self.samples.get_or_insert_with(|| {
            let pacer = Pacer::Constant(Constant::new(now, rate, 0.0));
            // What finds no connection free is no sample: nobody is to catch up with it.
            Open::new(pacer, 1, budget, Overflow::Drop)
        });
        samples.next(now, slots)
    }

    pub(super) fn peek(&self, now: Nanos) -> Next {
        if now < self.begin {
            return Next::Wait(self.begin);
        }
        self.samples.as_ref().map_or(Next::Blocked, |samples| samples.peek(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos::from_secs(1);

    fn standing(connections: u32) -> Slots {
        let mut slots = Slots::new(connections, 1);
        for connection in 0..connections {
            slots.set_available(connection, true);
        }
        slots
    }

    fn connection(next: Next) -> u32 {
        match next {
            Next::Send(assignment) => assignment.connection,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_connection_is_asked_once_and_then_in_turn() {
        let mut slots = standing(3);
        let mut hold = Hold::new(3, 10.0, SECOND, Budget::UNLIMITED);
        for expected in 0..3 {
            assert_eq!(connection(hold.next(SECOND, &mut slots)), expected);
            slots.release(expected, 1);
        }
        // The samples begin when all were asked, whenever that is.
        let late = Nanos::from_secs(5);
        assert_eq!(connection(hold.next(late, &mut slots)), 0);
        assert_eq!(hold.next(late, &mut slots), Next::Wait(late + Nanos::from_millis(100)));
        assert_eq!(connection(hold.next(late + Nanos::from_millis(100), &mut slots)), 1);
    }

    #[test]
    fn no_more_than_a_few_are_asked_at_once() {
        let mut slots = standing(100);
        let mut hold = Hold::new(100, 0.0, SECOND, Budget::UNLIMITED);
        for expected in 0..ASKED_AT_ONCE as u32 {
            assert_eq!(connection(hold.next(SECOND, &mut slots)), expected);
        }
        assert_eq!(hold.next(SECOND, &mut slots), Next::Blocked);
        slots.release(7, 1);
        assert_eq!(connection(hold.next(SECOND, &mut slots)), 64);
    }

    #[test]
    fn without_a_rate_nothing_follows() {
        let mut slots = standing(1);
        let mut hold = Hold::new(1, 0.0, SECOND, Budget::UNLIMITED);
        assert_eq!(connection(hold.next(SECOND, &mut slots)), 0);
        slots.release(0, 1);
        assert_eq!(hold.next(SECOND, &mut slots), Next::Blocked);
        assert_eq!(hold.peek(SECOND), Next::Blocked);
    }

    #[test]
    fn nothing_is_asked_while_they_are_idle_and_nothing_beyond_the_budget() {
        let mut slots = standing(2);
        let begin = Nanos::from_secs(5);
        let mut hold = Hold::new(2, 100.0, begin, Budget::of(2));
        assert_eq!(hold.next(SECOND, &mut slots), Next::Wait(begin));
        assert_eq!(hold.peek(SECOND), Next::Wait(begin));
        for expected in 0..2 {
            assert_eq!(connection(hold.next(begin, &mut slots)), expected);
            slots.release(expected, 1);
        }
        assert_eq!(hold.next(begin, &mut slots), Next::Finished);
    }
}
