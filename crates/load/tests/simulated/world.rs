//! A world of one executor and one server, moved from event to event.

use std::collections::BinaryHeap;

use wiretrial_load::clock::{Clock as _, Nanos, Simulated};
use wiretrial_load::executor::{Executor, Next, Slots};
use wiretrial_load::measure::{Recorder, Timeline};

/// One millisecond.
pub(crate) const MS: u64 = 1_000_000;
/// One second.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// A server that answers in order, needs `service` for each message, and freezes once.
pub(crate) struct Server {
    pub(crate) service: u64,
    pub(crate) freeze: std::ops::Range<u64>,
    /// All connections share one queue; otherwise each message is served by itself.
    pub(crate) queues: bool,
    free_at: u64,
}

impl Server {
    pub(crate) fn new(service: u64, freeze: std::ops::Range<u64>, queues: bool) -> Self {
        Self { service, freeze, queues, free_at: 0 }
    }

    /// When a message that comes at `now` is answered.
    pub(crate) fn answer(&mut self, now: u64) -> u64 {
        let begin = if self.queues { now.max(self.free_at) } else { now };
        let frozen = self.freeze.end - self.freeze.start;
        let done = match begin {
            begin if begin >= self.freeze.end => begin + self.service,
            begin if begin >= self.freeze.start => self.freeze.end + self.service,
            begin if begin + self.service <= self.freeze.start => begin + self.service,
            begin => begin + self.service + frozen,
        };
        self.free_at = done;
        done
    }
}

/// What was sent and answered.
pub(crate) struct World {
    pub(crate) clock: Simulated,
    pub(crate) executor: Executor,
    pub(crate) slots: Slots,
    pub(crate) recorder: Recorder,
    pub(crate) server: Server,
    pub(crate) timelines: Vec<Timeline>,
    /// Which connection sent what was due when, in the order of sending.
    pub(crate) sends: Vec<(u32, u64)>,
    /// Answers on their way: instant (negated, as the heap gives the greatest first) and what they answer.
    replies: BinaryHeap<(std::cmp::Reverse<u64>, u32, u64, u64)>,
    open: bool,
}

impl World {
    /// All connections stand from the start; each has `depth` slots.
    pub(crate) fn new(
        executor: Executor,
        open: bool,
        connections: u32,
        depth: u32,
        server: Server,
    ) -> Self {
        let mut slots = match executor {
            Executor::Phased(_) => Slots::by_connection(connections, depth),
            Executor::RandomBurst(_) => Slots::without_limit(connections),
            _ => Slots::new(connections, depth),
        };
        for connection in 0..connections {
            slots.set_available(connection, true);
        }
        Self {
            clock: Simulated::default(),
            executor,
            slots,
            recorder: Recorder::default(),
            server,
            timelines: Vec::new(),
            sends: Vec::new(),
            replies: BinaryHeap::new(),
            open,
        }
    }

    /// Sends until `end`; what is in flight then stays so.
    pub(crate) fn run_until(&mut self, end: u64) {
        loop {
            let now = self.clock.now();
            let mut next_due = u64::MAX;
            loop {
                match self.executor.next(now, &mut self.slots) {
                    Next::Send(assignment) => {
                        let done = self.server.answer(now.0);
                        self.sends.push((assignment.connection, assignment.due.0));
                        let reply = std::cmp::Reverse(done);
                        self.recorder.sent += u64::from(assignment.messages);
                        self.replies.push((reply, assignment.connection, assignment.due.0, now.0));
                    }
                    Next::Wait(due) => {
                        next_due = due.0;
                        break;
                    }
                    Next::Blocked | Next::Finished => break,
                }
            }
            let next_reply = self.replies.peek().map_or(u64::MAX, |(done, ..)| done.0);
            let next = next_due.min(next_reply);
            if next >= end {
                self.clock.advance_to(Nanos(end));
                return;
            }
            self.clock.advance_to(Nanos(next));
            self.take_replies(next);
        }
    }

    /// Messages sent and not answered.
    pub(crate) fn in_flight(&self) -> u64 {
        self.replies.len() as u64
    }

    fn take_replies(&mut self, now: u64) {
        while self.replies.peek().is_some_and(|(done, ..)| done.0 <= now) {
            let Some((done, connection, due, sent)) = self.replies.pop() else { return };
            let timeline = Timeline {
                due: Nanos(due),
                sent: Nanos(sent),
                first_byte: Nanos(done.0),
                done: Nanos(done.0),
            };
            self.recorder.replies(&timeline, 1, self.open);
            if self.open {
                self.recorder.lag(timeline.pacing_lag(), 1);
            }
            self.timelines.push(timeline);
            self.slots.release(connection, 1);
        }
    }
}
