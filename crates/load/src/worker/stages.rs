//! The stages of a worker's life and its intervals: what time alone decides.

use super::Worker;
use super::intervals::{LATE, Over};
use crate::clock::Nanos;
use crate::control::Report;
use crate::deliveries::Deliveries;
use crate::executor::Executor;
use crate::machine::Machine;
use crate::measure::{Class, IntervalRecord};

/// A wait ends after this at the latest, so that a pause in it shows.
pub(super) const LONGEST_WAIT: Nanos = LATE;

/// Where a worker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its connections are being opened.
    Connect { deadline: Nanos },
    /// They stand; the run has not said when the load begins, or that instant lies ahead.
    Await,
    /// Messages are sent.
    Load { end: Nanos },
    /// No more sends.
    Drain { deadline: Nanos },
}

impl<M: Machine> Worker<M> {
    /// Goes on to the next stage when its time has come. False: all is done.
    pub(super) fn advance_stage(&mut self, now: Nanos) -> Result<bool, (Class, String)> {
        let stopping = self.wires.control.is_stopping();
        match self.stage {
            Stage::Connect { .. } | Stage::Await if stopping => self.end_load(now, Nanos::ZERO),
            Stage::Connect { .. } if self.all_stand() => {
                self.stage = Stage::Await;
                self.tell(Report::Connected { since: self.began, at: now });
            }
            Stage::Connect { deadline } if now >= deadline => {
                return Err(self.openings.why_not(self.plan().phases.connect));
            }
            Stage::Await => self.begin_load(now),
            Stage::Load { end } if stopping || now >= end => {
                self.pump(now);
                if self.stage == (Stage::Load { end }) {
                    let plan = self.plan();
                    // A stream has no end that could be awaited, but what was published last is on its way.
                    let drains = !plan.hears_events() || plan.publish.is_some();
                    let drain = if drains { plan.phases.drain } else { Nanos::ZERO };
                    self.end_load(now.min(end), drain);
                }
            }
            Stage::Drain { deadline } => {
                let deadline = if stopping { self.hasten(now, deadline) } else { deadline };
                let copies = self.deliveries.as_ref().map_or(0, Deliveries::in_flight);
                let awaits = self.tally.in_flight() + copies > 0 || self.awaits_verdicts();
                return Ok(awaits && now < deadline);
            }
            Stage::Connect { .. } | Stage::Load { .. } => {}
        }
        Ok(true)
    }

    fn all_stand(&self) -> bool {
        self.renews().is_some() || self.openings.all_stand()
    }

    fn begin_load(&mut self, now: Nanos) {
        let Some(begin) = self.wires.control.begin().filter(|begin| now >= *begin) else { return };
        let phases = self.plan().phases;
        let duration = self.plan().stop.duration;
        let end = duration.map_or(Nanos::MAX, |duration| begin + phases.warmup + duration);
        if self.renews().is_some() {
            for connection in 0..self.share.connections {
                self.slots.set_available(connection, true);
            }
        }
        self.executor = Some(self.executor_from(begin));
        self.stage = Stage::Load { end };
    }

    /// The executor has nothing more to send. What still waits for room on its connection, and
    /// then what is in flight, gets the time that any exchange has.
    pub(super) fn all_assigned(&mut self, now: Nanos) {
        let phases = self.plan().phases;
        let allowance = phases.timeout.max(phases.drain);
        match self.stage {
            Stage::Load { end } if self.tally.queued() > 0 && now < end => {
                self.stage = Stage::Load { end: end.min(now + allowance) };
            }
            _ => self.end_load(now, allowance),
        }
    }

    /// Who is asked to stop while draining drains no longer than who is asked to stop before.
    fn hasten(&mut self, now: Nanos, deadline: Nanos) -> Nanos {
        let asked = *self.asked_to_stop.get_or_insert(now);
        let deadline = deadline.min(asked + self.plan().phases.drain);
        self.stage = Stage::Drain { deadline };
        deadline
    }

    fn end_load(&mut self, now: Nanos, drain: Nanos) {
        // What is due at the very end belongs to the time after it.
        let last = now - Nanos(1);
        let waiting = self.waiting(last);
        self.tally.give_up(waiting);
        let sessions = self.sessions_waiting(last);
        self.count_blocked(now);
        if let Some(users) = &mut self.users {
            users.give_up(sessions);
        }
        self.stage = Stage::Drain { deadline: now + drain };
        self.tell(Report::LoadEnded { first_send: self.tally.first_send(), at: now });
    }

    /// When the loop must run again, whatever happens on the sockets; `pumped` as in `next_due`.
    pub(super) fn wake_at(&mut self, pumped: Nanos) -> Nanos {
        let retry = self.openings.next_retry().unwrap_or(Nanos::MAX);
        let at = self.intervals.end().min(self.next_sweep).min(retry);
        let at = at.min(self.next_rested()).min(self.next_said()).min(self.alarms.next());
        match self.stage {
            Stage::Connect { deadline } | Stage::Drain { deadline } => at.min(deadline),
            Stage::Await => at.min(self.wires.control.begin().unwrap_or(Nanos::MAX)),
            Stage::Load { end } => at.min(end).min(self.next_due(pumped)),
        }
    }

    /// Hands over the intervals that are over.
    ///
    /// # Errors
    /// Nobody takes them: they can't be kept for ever.
    pub(super) fn close_intervals(&mut self, now: Nanos) -> Result<(), (Class, String)> {
        while let Some(over) = self.intervals.take_over(now) {
            self.close_interval(over);
        }
        self.intervals.take_back(now, self.wires.recycled.try_iter())
    }

    /// Hands over the last, partial interval, and ends.
    pub(super) fn finish(&mut self, now: Nanos) {
        if let Some(deliveries) = &mut self.deliveries {
            self.recorder.deliveries.missing += deliveries.overtaken();
        }
        self.close_all();
        self.end_judging();
        let last = self.intervals.take_last(now);
        self.close_interval(last);
        self.tell(Report::Finished { at: now });
    }

    fn close_interval(&mut self, Over { index, end, disturbed }: Over) {
        let run_queue_ns = self.clock.thread_run_queue_ns();
        let busy_ns =
            (self.clock.thread_cpu_ns() + run_queue_ns).saturating_sub(self.driver.spun_ns());
        self.recorder.idle = self.intervals.idle(self.clock.now(), busy_ns);
        let fresh = self.intervals.fresh(self.wires.recycled.try_iter());
        let (waiting, sessions) = match self.stage {
            // What is due at the boundary belongs to the next interval; behind the load's end nothing
            // is due, also where a late worker closes intervals that lie there.
            Stage::Load { end: last } => {
                let last = end.min(last) - Nanos(1);
                self.count_blocked(last + Nanos(1));
                (self.waiting(last), self.sessions_waiting(last))
            }
            _ => (0, 0),
        };
        let traffic = self.traffic_standing(sessions);
        let dropped = self.executor.as_ref().map_or(0, Executor::dropped) + self.tally.gave_up();
        let record = IntervalRecord {
            index,
            recorder: std::mem::replace(&mut self.recorder, fresh),
            in_flight: self.tally.in_flight() + self.unjudged(),
            deliveries_in_flight: self.deliveries.as_ref().map_or(0, Deliveries::in_flight),
            waiting,
            dropped,
            open: self.openings.open().into(),
            disturbed,
            run_queue_ns,
            traffic,
        };
        self.tell(Report::Interval(record));
    }
}
