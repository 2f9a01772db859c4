//! Connections come and go: connect, TLS, the protocol's handshake, backoff, the end.

use wiretrial_net::{ConnectSpec, Key};
use wiretrial_proto::ClientSession as _;

use super::{Stage, Worker};
use crate::clock::Nanos;
use crate::connection::{Ending, Finished, Link, State, UNSEEN, algorithm};
use crate::control::Report;
use crate::machine::Machine;
use crate::measure::Class;
use crate::mutation::{self, Mutation};

/// So many connections are closed before the run hears that the worker lives.
const CLOSED_UNTOLD: u32 = 256;

impl<M: Machine> Worker<M> {
    /// Opens kept connections for the first time, a limited number at once.
    pub(super) fn open_more(&mut self, now: Nanos) {
        if !matches!(self.stage, Stage::Connect { .. }) || self.renews().is_some() {
            return;
        }
        while let Some(index) = self.openings.take_next() {
            self.connect(index, now);
        }
    }

    /// Some connection stands.
    pub(crate) fn stands(&self) -> bool {
        self.openings.open() > 0
    }

    /// Why its connections do not stand after so long.
    pub(crate) fn why_not_all_stand(&self, waited: Nanos) -> (Class, String) {
        self.openings.why_not(waited)
    }

    /// Opens again what has waited long enough.
    pub(super) fn retry(&mut self, now: Nanos) {
        while let Some(index) = self.openings.take_due(now) {
            let connection = &mut self.connections[index as usize];
            if connection.state != State::Backoff {
                continue;
            }
            connection.state = State::Idle;
            let goes_again = !connection.ledger.is_empty();
            let is_kept = self.renews().is_none();
            if !is_kept {
                self.slots.set_available(index, true);
                self.turns.has_room(index);
            }
            if goes_again || (is_kept && self.has_more(index)) {
                self.connect(index, now);
            }
        }
    }

    /// Asks for a connection.
    pub(super) fn connect(&mut self, index: u32, now: Nanos) {
        let number = (self.share.first_connection + index) as usize;
        let is_in_load = self.is_in_load();
        let setup = &self.setup;
        let sources = &setup.plan.target.sources;
        let spec = ConnectSpec {
            peer: setup.addresses[number % setup.addresses.len()],
            source: (!sources.is_empty()).then(|| sources[number % sources.len()]),
            nodelay: true,
            receive_buffer: None,
            congestion: setup.plan.target.congestion.map(algorithm),
        };
        if mutation::is(Mutation::EndsTwice) {
            self.connections[index as usize].generation += 1;
        }
        let key = Key { slot: index, generation: self.connections[index as usize].generation };
        self.recorder.attempted += 1;
        self.openings.asked();
        let transport = setup.dial.ask(&mut self.driver, key, &spec, now);
        let entropy = self.openings.entropy();
        let connection = &mut self.connections[index as usize];
        match transport {
            Ok(transport) => {
                let front = connection.ledger.front().map_or(0, |pending| pending.number);
                // Of a conversation alone, whose user has the connection for itself.
                let users = self.users.as_mut().filter(|users| users.converse());
                let opening = users.and_then(|users| users.opening(index, front));
                let mut session = setup.factory.make(number as u32, entropy, opening);
                if is_in_load {
                    session.hasten();
                }
                let greetings = setup.plan.target.greetings;
                connection.begin(Link { transport, session }, greetings, now);
                if connection.begins_early() {
                    self.ready(index, now);
                } else if connection.is_quic() {
                    self.flush(index, now);
                }
            }
            Err(error) => {
                connection.state = State::Connecting;
                let ending = connection.broken(&error);
                self.end(index, ending, now);
            }
        }
    }

    /// Messages are sent, or were: a connection that is opened now is waited for. Those that are opened before have the
    /// time to hear what the server allows.
    fn is_in_load(&self) -> bool {
        matches!(self.stage, Stage::Load { .. } | Stage::Drain { .. })
    }

    /// TCP's own set-up is over, well or badly.
    pub(super) fn connected(&mut self, index: u32) {
        let now = self.clock.now();
        let connection = &mut self.connections[index as usize];
        if let Err(error) = connection.connected(&mut self.driver, now, &mut self.recorder) {
            let ending = connection.broken(&error);
            self.end(index, ending, now);
            return;
        }
        self.secured(index, now);
    }

    /// Goes on once TLS stands, which for plain connections it does at once.
    pub(super) fn secured(&mut self, index: u32, now: Nanos) {
        let connection = &mut self.connections[index as usize];
        let (has_tls, buffers) = (self.setup.dial.has_tls(), &mut self.buffers);
        match connection.secured(has_tls, now, buffers, &mut self.recorder) {
            Ok(true) => self.ready(index, now),
            Ok(false) => self.flush(index, now),
            Err(picked) => {
                let ending = Ending::Failed(Class::Protocol, picked.unlike_the_first());
                self.end(index, ending, now);
            }
        }
    }

    /// Requests may be sent; those that had to wait for it, or go again, do so now.
    pub(super) fn ready(&mut self, index: u32, now: Nanos) {
        self.recorder.opened += 1;
        self.openings.stood();
        let connection = &mut self.connections[index as usize];
        connection.stand(self.deliveries.as_mut().map(|deliveries| (deliveries, index)));
        // A peer that closes right behind the upgrade is sent nothing more.
        let is_open = connection.link.as_ref().is_some_and(|link| link.session.is_open());
        if self.users.is_some() {
            connection.go_again();
        }
        self.ask_on(index, now);
        if is_open && !self.encode_again_for_user(index, now) {
            let connection = &mut self.connections[index as usize];
            let (payloads, buffers) = (&mut self.payloads, &mut self.buffers);
            connection.encode_again(payloads, buffers, &mut self.recorder);
        }
        if self.connections[index as usize].room() != u32::MAX {
            self.room_changed(index);
        }
        if self.renews().is_none() {
            self.slots.set_available(index, true);
        }
        self.turns.has_room(index);
        // What goes again, or waited for the connection, is not stamped anew.
        self.connections[index as usize].went_at(now);
        self.flush(index, now);
    }

    /// The connection is over. Nothing happens where it was over before: a failed flush ends it in the
    /// middle of what its caller does.
    pub(super) fn end(&mut self, index: u32, ending: Ending, now: Nanos) {
        let Some(finished) = self.connections[index as usize].finish() else { return };
        let Finished { link, was_ready, served } = finished;
        self.alarms.set(index, Nanos::MAX);
        self.slots.set_room(index, u32::MAX);
        let ending = match ending {
            // It never stood: the attempt has failed, however politely.
            Ending::Farewell(text) if !was_ready => Ending::Failed(Class::Closed, text),
            ending => ending,
        };
        if let Some(link) = link {
            self.say_goodbye(link);
        }
        self.openings.ended(was_ready);
        if matches!(ending, Ending::Orderly(_)) {
            self.left(index, now);
        }
        if let Some(deliveries) = self.deliveries.as_mut().filter(|_| was_ready) {
            let missing = deliveries.stand_up(index);
            if !mutation::is(Mutation::OwedForgotten) {
                self.recorder.deliveries.missing += missing;
            }
        }
        if self.renews().is_none() {
            self.slots.set_available(index, false);
        }
        if !(was_ready && served) {
            // Of those that stood, too: where they end before they are asked, no load begins.
            self.openings.note_failure(ending.before_any_request(was_ready));
        }
        match ending {
            Ending::Orderly(reason) => {
                let text = "the server ended the connection".to_owned();
                self.user_lost(index, None, text, now);
                if was_ready {
                    self.recorder.connection_closed(reason);
                } else {
                    // The attempt has failed. Messages that go again wait for the next one.
                    self.recorder.connection_failed(Class::Closed);
                    self.recorder.example(Class::Closed, || UNSEEN.to_owned());
                }
                // A peer that closes before anything was asked must not be asked in a tight loop.
                if served {
                    self.reopen(index, now);
                } else {
                    self.back_off(index, now);
                }
            }
            Ending::Farewell(text) => {
                let text = self.user_lost(index, None, text, now);
                self.recorder.connection_closed("server");
                self.recorder.note("server", || text);
                // A server that leaves leaves everybody: nobody comes back at once.
                self.back_off(index, now);
            }
            Ending::Failed(class, text) => {
                let text = self.user_lost(index, Some(class), text, now);
                if was_ready {
                    self.recorder.connection_closed(class.name());
                } else {
                    self.recorder.connection_failed(class);
                }
                self.recorder.example(class, || text);
                self.fail_in_flight(index, class, now);
                self.back_off(index, now);
            }
        }
    }

    /// After an orderly end: at once where something waits for it, or where connections are kept.
    fn reopen(&mut self, index: u32, now: Nanos) {
        let sending = !matches!(self.stage, Stage::Drain { .. });
        let kept = self.renews().is_none() && sending && self.has_more(index);
        if kept || !self.connections[index as usize].ledger.is_empty() {
            self.connect(index, now);
        } else {
            self.turns.has_room(index);
        }
    }

    /// A kept connection may be given more to send, or has something left.
    fn has_more(&self, index: u32) -> bool {
        !self.slots.is_spent(index) || !self.connections[index as usize].queue.is_empty()
    }

    pub(super) fn fail_in_flight(&mut self, index: u32, class: Class, now: Nanos) {
        self.part_streams(index, now);
        self.in_flight_failed(index);
        let pack = self.setup.plan.load.pack;
        let connection = &mut self.connections[index as usize];
        self.tally.end(connection.ledger.len() as u64);
        let freed = connection.fail_all(class, pack, now, &mut self.recorder);
        if !mutation::is(Mutation::SlotsLost) {
            self.free(index, freed);
        }
        self.step_over(index, now);
    }

    fn back_off(&mut self, index: u32, now: Nanos) {
        self.slots.set_available(index, false);
        let connection = &mut self.connections[index as usize];
        connection.state = State::Backoff;
        self.openings.back_off(index, connection.attempts, now);
        connection.attempts = connection.attempts.saturating_add(1);
    }

    fn say_goodbye(&mut self, mut link: Link) {
        if let Some(used) = link.session.last_use(|| self.clock.now()) {
            self.recorder.http2.count(&used);
        }
        let (driver, buffers) = (&mut self.driver, &mut self.buffers);
        let left = link.leave(driver, buffers, || self.clock.now());
        self.recorder.bytes.sent += left.bytes;
        if let Some(figures) = &left.http3 {
            self.recorder.http3.add(figures);
        }
    }

    /// Every connection is closed in the protocol's own way. Of a million that takes minutes, in which
    /// no interval ends.
    pub(super) fn close_all(&mut self) {
        for index in 0..self.share.connections {
            let connection = &mut self.connections[index as usize];
            connection.close();
            if let Some(link) = connection.link.take() {
                self.say_goodbye(link);
            }
            if index % CLOSED_UNTOLD == CLOSED_UNTOLD - 1 {
                self.tell(Report::Closing);
            }
        }
    }

    /// The connection has carried its share of requests.
    pub(super) fn renew(&mut self, index: u32, now: Nanos) {
        self.leave(index, "plan", now);
    }

    /// Ends a connection in order, with a goodbye.
    pub(super) fn leave(&mut self, index: u32, reason: &'static str, now: Nanos) {
        self.connections[index as usize].close();
        self.end(index, Ending::Orderly(reason), now);
    }
}
