//! Messages go out and come back.

use wiretrial_net::{Key, Ready};
use wiretrial_proto::ClientSession as _;

use super::{Stage, Worker};
use crate::clock::Nanos;
use crate::connection::{Connection, Ending, Expected, Ledger, Nobody, State, Waiting};
use crate::executor::{Assignment, Next};
use crate::machine::Machine;
use crate::mutation::{self, Mutation};
use crate::plan::LoopPlan;

/// Reads of one connection before it is the others' turn.
const ROUNDS_PER_TURN: u32 = 4;

/// What reading a connection has brought.
#[derive(Debug, Default)]
struct Turn {
    /// When it came.
    at: Nanos,
    /// Messages are done.
    done: bool,
    /// Nothing more is known to wait.
    drained: bool,
}

impl<M: Machine> Worker<M> {
    /// Sends all that is due: encodes it first, so that messages of one connection go in one write.
    pub(super) fn pump(&mut self, now: Nanos) {
        loop {
            self.encode_due(now);
            self.flush_encoded(now);
            // A flush makes room for what was queued, or shows that a connection is over.
            if !self.turns.any_has_room() {
                return;
            }
        }
    }

    fn flush_encoded(&mut self, now: Nanos) {
        while let Some(index) = self.turns.take_unflushed() {
            self.flush(index, now);
        }
    }

    fn encode_due(&mut self, now: Nanos) {
        while let Some(index) = self.turns.take_roomy() {
            self.send_queued(index, now);
        }
        let Stage::Load { end } = self.stage else { return };
        if now >= end && !self.is_open_loop() {
            return;
        }
        // Open loop: what was due before the end is still sent, what is due at it is not.
        let asked = now.min(end - Nanos(1));
        while let Some(executor) = &mut self.executor {
            match executor.next(asked, &mut self.slots) {
                Next::Send(assignment) => {
                    self.part_packs(assignment.connection, now);
                    self.step_begins(assignment.connection, now);
                    let packs = assignment.messages.div_ceil(self.plan().load.pack);
                    self.connections[assignment.connection as usize].slots_out += packs;
                    self.send(assignment, now);
                }
                Next::Finished => {
                    // The end tells when the first message went, which may be one of these.
                    self.flush_encoded(now);
                    return self.all_assigned(now);
                }
                Next::Wait(_) | Next::Blocked => return,
            }
        }
    }

    /// In a burst each pack is a write of its own, also on a connection that is drawn again.
    fn part_packs(&mut self, index: u32, now: Nanos) {
        let is_drawn_again = self.connections[index as usize].ledger.has_unstamped();
        if is_drawn_again && self.setup.plan.load.loop_ == LoopPlan::RandomBurst {
            self.flush(index, now);
        }
    }

    /// When the executor has something to send, if nothing comes before. `pumped` is the instant
    /// for which `pump` was called: what is due by then is sent, or waits for a free slot.
    pub(super) fn next_due(&mut self, pumped: Nanos) -> Nanos {
        match self.executor.as_mut().map(|executor| executor.peek(pumped)) {
            Some(Next::Wait(due)) => due,
            _ => Nanos::MAX,
        }
    }

    fn send(&mut self, assignment: Assignment, now: Nanos) {
        let Assignment { connection: index, messages, due } = assignment;
        if self.users.as_ref().is_some_and(|users| users.converse()) {
            return self.converse(assignment, now);
        }
        let user = self.user_on(index).unwrap_or(index);
        let renews = self.renews();
        let own = self.first_number(index);
        if self.is_full_for(index, messages) {
            self.renew(index, now);
        }
        self.ask_on(index, now);
        let connection = &mut self.connections[index as usize];
        match connection.state {
            State::Ready => {
                let after = u64::from(connection.requests) + u64::from(messages);
                let is_spent = renews.is_some_and(|limit| after > limit);
                let messages = messages.min(connection.room());
                if connection.congested || is_spent || messages == 0 {
                    return self.queue(&assignment);
                }
                if !connection.ledger.has_unstamped() {
                    self.turns.has_encoded(index);
                }
                self.payloads.are_due(due);
                let mut left = messages;
                while left > 0 {
                    let (first, count) = numbers(connection, &mut self.tally.next, own, left);
                    left -= count;
                    connection.ledger.push(first, count, due);
                    let (buffers, recorder) = (&mut self.buffers, &mut self.recorder);
                    match &mut self.users {
                        None => {
                            let payloads = &mut self.payloads;
                            connection.encode(first, count, payloads, buffers, recorder);
                        }
                        Some(users) => {
                            let user = users.asks(index, first, user);
                            users.encode(user, first, connection, buffers, recorder);
                        }
                    }
                    let Some(deliveries) = &mut self.deliveries else { continue };
                    for number in first..first + u64::from(count) {
                        let owed = deliveries.sent(index, number as u32, due, now);
                        self.recorder.deliveries.expected += owed.expected;
                        self.recorder.deliveries.missing += owed.missing;
                    }
                }
                self.tally.begin(messages);
                if messages < assignment.messages {
                    let (rest, pack) = (assignment.messages - messages, self.plan().load.pack);
                    self.connections[index as usize].queue.push_rest(rest, pack, due);
                    self.tally.wait(rest);
                }
            }
            // Kept connections come back by themselves; what waits goes out then.
            _ if renews.is_none() => self.queue(&assignment),
            State::Idle => {
                self.send_with_connection(assignment, now);
                self.connect(index, now);
            }
            State::Connecting | State::Securing | State::Opening => {
                self.send_with_connection(assignment, now);
            }
            State::Backoff => self.queue(&assignment),
        }
    }

    /// The first number of a connection's messages, where it numbers its own.
    fn first_number(&self, index: u32) -> Option<u64> {
        self.setup.factory.first_number(self.share.first_connection + index)
    }

    /// The messages wait until their connection has room for them.
    fn queue(&mut self, assignment: &Assignment) {
        let Assignment { connection: index, messages, due } = *assignment;
        let pack = self.plan().load.pack;
        self.connections[index as usize].queue.push_packs(messages, pack, due);
        self.tally.wait(messages);
    }

    /// The message waits for a connection that is asked for on its behalf: that is its send.
    pub(super) fn send_with_connection(&mut self, assignment: Assignment, now: Nanos) {
        let Assignment { connection: index, messages, due } = assignment;
        let user = self.user_on(index);
        let open_loop = self.is_open_loop();
        let own = self.first_number(index);
        let connection = &mut self.connections[index as usize];
        let mut left = messages;
        while left > 0 {
            let (first, count) = numbers(connection, &mut self.tally.next, own, left);
            left -= count;
            connection.ledger.push_sent(first, count, due, now);
        }
        if open_loop {
            self.recorder.lag(now - due, messages);
        }
        self.recorder.sent += u64::from(messages);
        if let (Some(users), Some(user)) = (&mut self.users, user) {
            users.sent(user, &mut self.recorder);
        }
        self.tally.begin(messages);
        self.tally.sent_at(now);
    }

    /// Sends what was queued on a connection, as far as it has room.
    fn send_queued(&mut self, index: u32, now: Nanos) {
        if !matches!(self.stage, Stage::Load { .. }) {
            return;
        }
        for _ in 0..self.connections[index as usize].queue.len() {
            let connection = &mut self.connections[index as usize];
            if connection.state == State::Ready && connection.room() == 0 {
                return;
            }
            let Some(waiting) = connection.queue.pop() else { return };
            let Waiting { messages, due } = waiting;
            self.tally.wait_no_more(messages);
            self.send(Assignment { connection: index, messages, due }, now);
        }
    }

    /// Stamps what is new and hands it to the kernel.
    pub(super) fn flush(&mut self, index: u32, now: Nanos) {
        let open_loop = self.is_open_loop();
        let connection = &mut self.connections[index as usize];
        let was_congested = connection.congested;
        let stamped = connection.ledger.stamp_with(|| self.clock.now());
        if let Some((sent, count)) = stamped {
            connection.went_at(sent);
            self.recorder.sent += u64::from(count);
            self.tally.sent_at(sent);
            if open_loop {
                let recorder = &mut self.recorder;
                connection.ledger.for_youngest(count, |pending| {
                    recorder.lag(pending.sent - pending.due, 1);
                });
            }
            self.steps_sent(index, count);
        }
        let connection = &mut self.connections[index as usize];
        let at = stamped.map_or(now, |(sent, _)| sent);
        let (payloads, buffers) = (&mut self.payloads, &mut self.buffers);
        let (driver, recorder) = (&mut self.driver, &mut self.recorder);
        if let Err(error) = connection.flush(driver, payloads, buffers, recorder, at) {
            let ending = connection.broken(&error);
            self.end(index, ending, now);
        } else if was_congested && !connection.congested && !connection.queue.is_empty() {
            // Whichever flush takes the last of it: no other one may follow.
            self.turns.has_room(index);
        }
        self.set_alarm(index);
        self.handed_over(index, now);
    }

    /// Something has become possible on a socket.
    pub(super) fn on_ready(&mut self, ready: Ready) {
        let index = ready.key.slot;
        if !self.is_current(ready.key) {
            return;
        }
        if ready.connected {
            self.connected(index);
            return;
        }
        if ready.writable {
            let now = self.clock.now();
            self.flush(index, now);
            if self.turns.any_has_room() {
                self.pump(now);
            }
        }
        // One that is being read on has had its turn.
        if (ready.readable || ready.hangup) && !self.turns.will_be_read(ready.key) {
            self.receive(ready.key);
        }
    }

    /// Whether this names the socket that its connection has now.
    pub(super) fn is_current(&self, key: Key) -> bool {
        let connection = self.connections.get(key.slot as usize);
        connection.is_some_and(|connection| connection.generation == key.generation)
    }

    /// Reads until nothing more is known to wait, the connection ends, or it has had its turn: a peer
    /// that sends faster than it can be read must not keep the others, and the clock, waiting. What
    /// follows from all of it goes in one write: of two writes the second would have to be handed to
    /// the kernel at once, which brings more to read in the middle of the turn.
    pub(super) fn receive(&mut self, key: Key) {
        let mut last = Turn::default();
        for round in 0..ROUNDS_PER_TURN {
            if !self.is_current(key) {
                break;
            }
            let turn = self.receive_once(key);
            last = Turn { done: last.done || turn.done, ..turn };
            if turn.drained {
                break;
            }
            if round + 1 == ROUNDS_PER_TURN {
                self.turns.is_unread(key);
            }
        }
        if last.done || self.turns.any_has_room() {
            self.pump(last.at);
        }
    }

    /// Goes on with the connections that were not read to their end in the last turn.
    pub(super) fn read_on(&mut self) {
        for key in self.turns.take_unread() {
            self.receive(key);
        }
    }

    fn receive_once(&mut self, key: Key) -> Turn {
        let index = key.slot;
        let user = self.user_on(index);
        let wrong = user.is_some() && mutation::is(Mutation::WrongUser);
        let user = if wrong { Some(index) } else { user };
        let open_loop = self.setup.plan.tells_response_times();
        let mut expected = Expected {
            witness: Nobody,
            verifier: &self.setup.verifier,
            status: self.setup.status,
            calls: self.setup.plan.target.grpc,
            kind: self.setup.kind,
            open_loop,
            payloads: &mut self.payloads,
            recorder: &mut self.recorder,
            buffers: &mut self.buffers,
            deliveries: self.deliveries.as_mut().map(|deliveries| (deliveries, index)),
        };
        let connection = &mut self.connections[index as usize];
        // Bytes that the wait brought were there when it returned; others are, as they are read.
        let were_there = self.driver.received_in_wait() || mutation::is(Mutation::StaleDone);
        let back = (were_there && !connection.is_quic()).then_some(self.back);
        let came = || back.unwrap_or_else(|| self.clock.now());
        let (driver, scratch) = (&mut self.driver, &mut self.scratch);
        let received = match (&mut self.users, user) {
            (Some(users), Some(user)) => {
                let mut expected = expected.heard_by(users.hearing(user));
                connection.receive(driver, came, scratch, &mut expected)
            }
            _ => connection.receive(driver, came, scratch, &mut expected),
        };
        let now = received.at;

        if received.done > 0 {
            connection.attempts = 0;
            self.done(index, received.done);
            self.step_over(index, now);
        }
        if received.going_on > 0 && received.ending.is_none() {
            self.encode_again_for_user(index, now);
        }
        if received.room_changed {
            self.room_changed(index);
        }
        if received.opened {
            self.ready(index, now);
        } else if self.connections[index as usize].state == State::Securing
            && received.ending.is_none()
        {
            self.secured(index, now);
        }
        self.go_on(key, received.ending, now);
        Turn { at: now, done: received.done > 0, drained: received.drained }
    }

    /// The peer lets another number of messages be in flight on a connection.
    #[cold]
    pub(super) fn room_changed(&mut self, index: u32) {
        let pack = self.setup.plan.load.pack;
        let connection = &self.connections[index as usize];
        let Some(link) = &connection.link else { return };
        let room = link.session.room();
        // A pack that is larger goes in parts.
        self.slots.set_room(index, (room / pack).max(room.min(1)));
        if !connection.queue.is_empty() {
            self.turns.has_room(index);
        }
    }

    /// What follows from what came: the connection ends, is renewed, or sends what it has to say.
    pub(super) fn go_on(&mut self, key: Key, ending: Option<Ending>, now: Nanos) {
        let index = key.slot;
        if !self.is_current(key) {
            // The first flush after its set-up has found that it is over.
            return;
        }
        if let Some(ending) = ending {
            self.end(index, ending, now);
        } else if self.has_had_its_share(index) || self.is_done(index) {
            self.renew(index, now);
        } else if self.connections[index as usize].was_left() {
            self.leave(index, "server", now);
        } else {
            self.ask_on(index, now);
            self.encode_rest(index);
            if self.connections[index as usize].has_output() {
                self.flush(index, now);
            }
        }
    }

    /// All is answered, and the connection may not carry what is to go next, if it is known, or
    /// anything.
    fn has_had_its_share(&self, index: u32) -> bool {
        let next = self.connections[index as usize].queue.front();
        self.is_full_for(index, next.map_or(1, |waiting| waiting.messages))
    }

    /// All is answered, and so many messages more are over the connection's share. Messages that went
    /// again on it may have left room for one, and not for a whole pack.
    fn is_full_for(&self, index: u32, messages: u32) -> bool {
        let Some(limit) = self.renews() else { return false };
        let connection = &self.connections[index as usize];
        u64::from(connection.requests) + u64::from(messages) > limit
            && connection.state == State::Ready
            && connection.ledger.is_empty()
    }

    /// The connection has sent all that it ever will, and every reply is here. One of a company stays
    /// to the end all the same: it is owed copies of what the others send.
    fn is_done(&self, index: u32) -> bool {
        let connection = &self.connections[index as usize];
        self.slots.is_spent(index)
            && self.deliveries.is_none()
            && connection.state == State::Ready
            && connection.ledger.is_empty()
            && connection.queue.is_empty()
    }

    /// So many messages of a connection are done, well or badly.
    pub(super) fn done(&mut self, index: u32, messages: u32) {
        if messages == 0 {
            return;
        }
        self.tally.end(messages.into());
        let connection = &mut self.connections[index as usize];
        let packs = connection.messages_done(messages, self.setup.plan.load.pack);
        self.free(index, packs);
        let connection = &self.connections[index as usize];
        if !connection.queue.is_empty() && matches!(connection.ledger, Ledger::Numbered(_)) {
            // It may have waited for one of these to end.
            self.turns.has_room(index);
        }
    }

    /// Open loop: messages that are due at this instant, and wait for a slot or, with one, for room on
    /// its connection.
    pub(super) fn waiting(&mut self, now: Nanos) -> u64 {
        if !self.is_open_loop() {
            return 0;
        }
        let queued = if mutation::is(Mutation::QueueUncounted) { 0 } else { self.tally.queued() };
        queued + self.executor.as_mut().map_or(0, |executor| executor.waiting(now))
    }

    pub(super) fn is_open_loop(&self) -> bool {
        matches!(self.setup.plan.load.loop_, LoopPlan::Open { .. })
    }
}

/// The numbers of a connection's next messages, the first and how many: its own, where replies name
/// them, from `own` on, or the worker's. They follow one another; not all that are asked for only
/// where a connection's own ones begin anew.
#[inline]
fn numbers(
    connection: &mut Connection,
    worker: &mut u64,
    own: Option<u64>,
    messages: u32,
) -> (u64, u32) {
    if let Some(first) = own {
        let next = connection.next_number;
        let count = messages.min((u32::MAX - next).saturating_add(1));
        connection.next_number = next.wrapping_add(count);
        return (first + u64::from(next), count);
    }
    let first = *worker;
    *worker += u64::from(messages);
    (first, messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_s_own_numbers_begin_anew_and_the_worker_s_go_on() {
        let (mut connection, mut worker) = (Connection::new(true), 1 << 40);
        let mut own = |connection: &mut Connection, messages| {
            numbers(connection, &mut worker, Some(7 << 32), messages)
        };
        assert_eq!(own(&mut connection, 3), (7 << 32, 3));
        connection.next_number = u32::MAX - 1;
        assert_eq!(own(&mut connection, 5), ((7 << 32) + u64::from(u32::MAX) - 1, 2));
        assert_eq!(own(&mut connection, 3), (7 << 32, 3));
        assert_eq!(numbers(&mut connection, &mut worker, None, 3), (1 << 40, 3));
        assert_eq!(worker, (1 << 40) + 3);
    }
}
