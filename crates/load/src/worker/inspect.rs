//! What must hold of a worker whenever it is about to wait: the simulated world asks after each turn.
//!
//! Knows every count twice, as it is kept and as it is found. Must not change anything.

use super::{Stage, Worker};
use crate::clock::Nanos;
use crate::connection::{Connection, Link, State};
use crate::executor::Executor;
use crate::machine::Machine;

/// A sweep, and a machine that stands still, may come so late.
const LATE: Nanos = Nanos::from_millis(300);

/// Fails with what was expected and what was found.
macro_rules! same {
    ($what:expr, $kept:expr, $found:expr) => {
        if $kept != $found {
            return Err(format!("{}: {} were counted, {} were found", $what, $kept, $found));
        }
    };
}

impl<M: Machine> Worker<M> {
    /// Everything that must hold before it waits.
    ///
    /// # Errors
    /// What does not.
    pub(crate) fn inspect(&self, now: Nanos) -> Result<(), String> {
        let all = &self.connections;
        let found: u64 = all.iter().map(|it| it.ledger.len() as u64).sum();
        same!("messages in flight", self.tally.in_flight(), found);
        let found: u64 = all.iter().map(|it| it.queue.messages()).sum();
        same!("messages that wait for room", self.tally.queued(), found);
        if let Some(users) = &self.users {
            let (in_flight, open) = users.counts();
            same!("steps in flight", in_flight, self.tally.in_flight());
            let found = self.executor.as_ref().map_or(0, Executor::begun);
            same!("sessions that have begun", open, found);
            self.inspect_pool()?;
        }
        if let Some(deliveries) = &self.deliveries {
            same!("copies on their way", deliveries.in_flight(), deliveries.found_in_flight());
        }
        let (open, on_their_way, backing_off, _) = self.openings.counts();
        same!("connections that are open", open, count(all, &[State::Ready]));
        let opening = [State::Connecting, State::Securing, State::Opening];
        same!("connections on their way", on_their_way, count(all, &opening));
        same!("connections that wait", backing_off, count(all, &[State::Backoff]));
        let slots_out = (0..self.share.connections).map(|index| u64::from(self.slots_out(index)));
        let out: u64 = slots_out.sum();
        same!("slots that are taken", self.slots.taken_now(), out);
        let most = 2 * all.len() + 2;
        let lengths @ (roomy, unflushed, unread) = self.turns.lengths();
        if roomy > most || unread > all.len() || unflushed > 0 {
            return Err(format!("lists grow or are not worked off: {lengths:?}"));
        }
        for (index, connection) in all.iter().enumerate() {
            self.inspect_connection(index as u32, connection, now)
                .map_err(|what| format!("connection {index} is {:?}: {what}", connection.state))?;
        }
        Ok(())
    }

    /// Who has which connection of a pool, and who waits for one.
    fn inspect_pool(&self) -> Result<(), String> {
        let (Some(_), Some(Executor::Sessions(sessions))) =
            (self.plan().load.users, &self.executor)
        else {
            return Ok(());
        };
        let held = sessions.inspect_pool(LATE)?;
        same!("connections that a user has", self.slots.taken_now(), held);
        for (index, connection) in self.connections.iter().enumerate() {
            let (flight, users) = (connection.ledger.len(), sessions.held(index as u32));
            if flight > users || users != connection.slots_out as usize {
                return Err(format!("connection {index} has {flight} in flight, users: {users}"));
            }
        }
        let is_free =
            |index: &u32| self.slots.is_available(*index) && sessions.user_on(*index).is_none();
        let loads = matches!(self.stage, Stage::Load { .. });
        let (waiting, free) = (sessions.waiting_steps(), (0..self.share.connections).find(is_free));
        if let (true, true, Some(free)) = (loads, waiting > 0, free) {
            return Err(format!("{waiting} steps wait, and connection {free} is free"));
        }
        Ok(())
    }

    /// Slots of a connection that the executor has taken; those of streams that have ended rest for a while.
    fn slots_out(&self, index: u32) -> u32 {
        let resting = self.executor.as_ref().map_or(0, |executor| executor.resting(index));
        self.connections[index as usize].slots_out + resting + self.payloads.resting(index)
    }

    fn inspect_connection(&self, index: u32, it: &Connection, now: Nanos) -> Result<(), String> {
        let kept = self.renews().is_none();
        let loads = matches!(self.stage, Stage::Load { .. });
        let sends = !matches!(self.stage, Stage::Drain { .. });
        let has_link = it.link.is_some();
        let is_idle = matches!(it.state, State::Idle | State::Backoff);
        if has_link == is_idle {
            return Err(format!("it has a socket: {has_link}"));
        }
        if it.ledger.has_unstamped() {
            return Err("messages wait for a flush that nobody makes".to_owned());
        }
        let unsent = it.link.as_ref().is_some_and(Link::has_output);
        if it.state == State::Ready && unsent && !it.congested {
            return Err("bytes wait for a flush that nobody makes".to_owned());
        }
        if kept && (self.slots.is_available(index) != (it.state == State::Ready)) {
            return Err(format!("its slots can be taken: {}", self.slots.is_available(index)));
        }
        let is_parked = kept && it.state == State::Idle && index < self.openings.counts().3;
        if is_parked && sends && !self.slots.is_spent(index) {
            return Err("it is parked for good".to_owned());
        }
        if !kept && loads && it.state != State::Backoff && !self.slots.is_available(index) {
            return Err("nobody can take its slots".to_owned());
        }
        self.slots.inspect(index, self.slots_out(index))?;
        let waits_for_room = it.congested || it.room() == 0 || (!kept && !it.ledger.is_empty());
        let is_quick = matches!(it.state, State::Ready | State::Idle);
        if loads && is_quick && !it.queue.is_empty() && !waits_for_room {
            return Err(format!("{} packs wait for nothing", it.queue.len()));
        }
        let timeout = self.plan().phases.timeout;
        let limit = timeout + timeout + LATE;
        let is_late = match it.state {
            State::Idle | State::Backoff => false,
            // A stream has until its next event.
            State::Ready if self.plan().hears_events() => false,
            State::Ready => it.ledger.front().is_some_and(|first| now - first.sent > limit),
            _ => now - it.since > limit,
        };
        if is_late {
            return Err("its deadline has passed unseen".to_owned());
        }
        Ok(())
    }

    /// Open loop: messages that were due by this instant, whatever became of them.
    pub(crate) fn due_by(&self, last: Nanos) -> Option<u64> {
        let begin = self.wires.control.begin().filter(|_| self.is_open_loop())?;
        let mut executor: Executor = self.executor_from(begin);
        Some(executor.waiting(last))
    }

    /// Connections, and those of them that have sent all that they ever will.
    pub(crate) fn spent(&self) -> Vec<bool> {
        (0..self.share.connections).map(|index| self.slots.is_spent(index)).collect()
    }
}

fn count(all: &[Connection], states: &[State]) -> usize {
    all.iter().filter(|it| states.contains(&it.state)).count()
}
