//! One connection: transport + session + the messages in flight on it.
//!
//! Knows how bytes become outcomes. Must not know who sends next (the executor) nor when
//! anything happens: it is handed `now`.

mod buffers;
mod datagrams;
mod dial;
mod ending;
mod event;
mod forms;
mod intake;
mod ledger;
mod link;
mod outcome;
mod partial;
mod queue;
mod quic;
mod receive;
mod right;
mod setup;
mod streams;
mod talk;
mod witness;

use wiretrial_net::{Driver, NetError};
use wiretrial_proto::{ClientSession as _, Fill, Message};

pub(crate) use buffers::Buffers;
pub(crate) use dial::{Behaviour, Dial, algorithm};
pub(crate) use ending::{Ending, Finished, UNSEEN};
pub(crate) use ledger::{Ledger, Pending};
pub(crate) use link::{AnyTransport, Link};
pub(crate) use outcome::Expected;
pub(crate) use outcome::FORESEEN;
pub(crate) use queue::{Queue, Waiting};
pub(crate) use setup::Picked;
pub(crate) use streams::SILENT;
pub(crate) use witness::{Judged, Nobody, Testimony, Witness};

use partial::Partial;

use crate::clock::Nanos;
use crate::measure::{Class, Recorder};
use crate::mutation::{self, Mutation};
use crate::outgoing::Outgoing;
use crate::source::traffic::Request;
use crate::source::{LONG, Payloads};

/// What is said of a message that was not answered in time.
pub(crate) const LATE: &str = "no whole reply before the deadline";

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No socket.
    Idle,
    /// No socket, and none before its time: the last attempt failed.
    Backoff,
    /// TCP is being set up.
    Connecting,
    /// TLS is being set up.
    Securing,
    /// The protocol's own handshake is under way.
    Opening,
    /// Requests may be sent.
    Ready,
}

/// One connection. There may be a million of them, of which most wait: what only a busy one needs is
/// elsewhere, and comes when it is needed.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) state: State,
    /// Counts the sockets that have ended, so that late readiness of an old one is told apart.
    pub(crate) generation: u32,
    pub(crate) link: Option<Link>,
    /// What is in flight.
    pub(crate) ledger: Ledger,
    /// Assigned, not yet encoded: the connection is congested, or has had its share of requests.
    pub(crate) queue: Queue,
    /// What has not come, or gone, whole; kept once it was needed.
    partial: Option<Box<Partial>>,
    /// Number of the next message, where replies name it; goes on over reconnects.
    pub(crate) next_number: u32,
    /// Requests encoded since the connection was ready.
    pub(crate) requests: u32,
    /// Slots that the executor has handed out and not got back.
    pub(crate) slots_out: u32,
    /// Messages done since the last slot was given back.
    done_in_pack: u32,
    /// When the current step of the set-up began.
    pub(crate) since: Nanos,
    /// Messages that the server sends by itself before requests may be sent, and that are still to come.
    pub(crate) greetings: u8,
    /// Failed attempts in a row, as far as they are counted.
    pub(crate) attempts: u8,
    /// The kernel took not all of the last flush.
    pub(crate) congested: bool,
}

impl Connection {
    /// Without a socket. Numbered: replies say by number which message they answer.
    pub(crate) fn new(numbered: bool) -> Self {
        Self {
            state: State::Idle,
            generation: 0,
            link: None,
            ledger: Ledger::new(numbered),
            queue: Queue::default(),
            partial: None,
            next_number: 0,
            requests: 0,
            slots_out: 0,
            done_in_pack: 0,
            since: Nanos::ZERO,
            greetings: 0,
            attempts: 0,
            congested: false,
        }
    }

    /// Takes a socket, on which so many greetings are to come first.
    pub(crate) fn begin(&mut self, link: Link, greetings: u8, now: Nanos) {
        self.greetings = greetings;
        self.link = Some(link);
        self.state = State::Connecting;
        self.since = now;
    }

    /// Gives its socket up, and forgets all that belonged to it. What the kernel still tells of that
    /// socket is void: the generation is another one. None: it has none, so it has ended before.
    pub(crate) fn finish(&mut self) -> Option<Finished> {
        let was_ready = match self.state {
            State::Idle | State::Backoff if mutation::is(Mutation::EndsTwice) => false,
            State::Idle | State::Backoff => return None,
            State::Connecting | State::Securing | State::Opening => false,
            State::Ready => true,
        };
        self.state = State::Idle;
        if !mutation::is(Mutation::EndsTwice) {
            self.generation = self.generation.wrapping_add(1);
        }
        self.partial = None;
        self.ledger.forget_begun();
        self.congested = false;
        let served = std::mem::take(&mut self.requests) > 0;
        Some(Finished { link: self.link.take(), was_ready, served })
    }

    /// Encodes messages that are new or go again, with this number and those after it; they are
    /// stamped by the next flush.
    pub(crate) fn encode(
        &mut self,
        first: u64,
        count: u32,
        payloads: &mut Payloads,
        buffers: &mut Buffers,
        recorder: &mut Recorder,
    ) {
        let Some(Link { transport, session }) = &mut self.link else { return };
        let out = transport.out();
        buffers.lend(out);
        let before = out.len();
        let numbers = (0..u64::from(count)).map(|place| first.wrapping_add(place));
        // What is begun has no holes in its head.
        let long = payloads.longest() > LONG && !payloads.fills_heads();
        let mut payload_sent = 0;
        if let Some(streams) = payloads.streams() {
            streams::ask(session, streams, numbers, out);
        } else if let Some(payload) = payloads.alike().filter(|_| !long) {
            session.encode_alike(first, count, payload, out);
            payload_sent = count as usize * payload.len();
        } else {
            for number in numbers {
                if long {
                    let outgoing = &mut self.partial.get_or_insert_default().outgoing;
                    // Nothing may stand between its pieces.
                    while let Some(taken) = Outgoing::advance(outgoing, payloads, out) {
                        payload_sent += taken;
                    }
                    *outgoing = Outgoing::begin(session, number, payloads, out);
                    if outgoing.is_some() {
                        continue;
                    }
                }
                payload_sent += talk::encode(session, &mut self.ledger, number, payloads, out);
            }
        }
        recorder.bytes.payload_sent += payload_sent as u64;
        recorder.bytes.application_sent += (out.len() - before) as u64;
        self.requests = self.requests.saturating_add(count);
    }

    /// Encodes the request with this number to a route, which is new or goes again; it is stamped by the next
    /// flush. Gives its length.
    pub(crate) fn encode_request(
        &mut self,
        number: u64,
        route: usize,
        request: &Request<'_>,
        buffers: &mut Buffers,
        recorder: &mut Recorder,
    ) -> usize {
        let Some(Link { transport, session }) = &mut self.link else { return 0 };
        let out = transport.out();
        buffers.lend(out);
        let before = out.len();
        let Request { values, ends, cookies, body: payload } = *request;
        let fill = Some(&Fill { values, ends, cookies });
        session.encode(&Message { number, route, payload, fill }, out);
        let bytes = out.len() - before;
        recorder.bytes.payload_sent += payload.len() as u64;
        recorder.bytes.application_sent += bytes as u64;
        self.requests = self.requests.saturating_add(1);
        bytes
    }

    /// So many bytes that were encoded last, and are not with the kernel yet.
    pub(crate) fn encoded(&mut self, bytes: usize) -> &[u8] {
        let Some(link) = &mut self.link else { return &[] };
        let out = link.transport.out();
        &out[out.len() - bytes.min(out.len())..]
    }

    /// Encodes all that was in flight when the last connection ended; where replies are numbered, as
    /// far as the peer has room, and then [the rest](Self::encode_rest).
    pub(crate) fn encode_again(
        &mut self,
        payloads: &mut Payloads,
        buffers: &mut Buffers,
        recorder: &mut Recorder,
    ) {
        if let Ledger::Numbered(ledger) = &mut self.ledger {
            ledger.go_again();
            return self.encode_rest(payloads, buffers, recorder);
        }
        let again = std::mem::replace(&mut self.ledger, Ledger::new(false));
        again.for_each(|pending| self.encode(pending.number, 1, payloads, buffers, recorder));
        self.ledger = again;
    }

    /// Encodes what goes again and had no room before, as far as there is room now.
    #[inline]
    pub(crate) fn encode_rest(
        &mut self,
        payloads: &mut Payloads,
        buffers: &mut Buffers,
        recorder: &mut Recorder,
    ) {
        while let Some(number) = self.next_again() {
            self.encode(number, 1, payloads, buffers, recorder);
        }
    }

    /// The next message that goes again, if there is one and room for it.
    #[inline]
    pub(crate) fn next_again(&mut self) -> Option<u64> {
        match (&mut self.ledger, &self.link) {
            (Ledger::Numbered(ledger), Some(link)) => ledger.next_again(link.session.room()),
            _ => None,
        }
    }

    /// All that was in flight when the last connection ended is to go again, where replies are numbered.
    pub(crate) fn go_again(&mut self) {
        if let Ledger::Numbered(ledger) = &mut self.ledger {
            ledger.go_again();
        }
    }

    /// What was encoded goes to the kernel now.
    #[inline]
    pub(crate) fn went_at(&mut self, now: Nanos) {
        if let Some(link) = &mut self.link {
            link.session.came_at(now);
        }
    }

    /// Hands what is encoded to the kernel, and of a long message as much as it takes.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) fn flush(
        &mut self,
        driver: &mut Driver,
        payloads: &mut Payloads,
        buffers: &mut Buffers,
        recorder: &mut Recorder,
        now: Nanos,
    ) -> Result<(), NetError> {
        let Some(link) = &mut self.link else { return Ok(()) };
        loop {
            let flushed = link.flush(driver, buffers, now)?;
            recorder.bytes.sent += flushed.bytes as u64;
            self.congested = !flushed.done;
            let Some(partial) = self.partial.as_mut().filter(|_| flushed.done) else { break };
            let out = link.transport.out();
            let before = out.len();
            let advanced = Outgoing::advance(&mut partial.outgoing, payloads, out);
            let Some(taken) = advanced else { break };
            recorder.bytes.payload_sent += taken as u64;
            recorder.bytes.application_sent += (out.len() - before) as u64;
        }
        buffers.take_back(link.transport.out());
        Ok(())
    }

    /// Encodes an orderly goodbye, unless it would come into the middle of a message.
    pub(crate) fn close(&mut self) {
        let is_inside = self.partial.as_ref().is_some_and(|partial| partial.outgoing.is_some());
        if let Some(Link { transport, session }) = &mut self.link
            && self.state == State::Ready
            && !is_inside
        {
            session.close(transport.out());
        }
    }

    /// Something waits for a flush, or did when the last one was over: with TLS, a fill sends
    /// what waited, and only another flush tells that nothing is left.
    pub(crate) fn has_output(&self) -> bool {
        let waits = self.link.as_ref().is_some_and(Link::has_output);
        waits || self.congested || self.ledger.has_unstamped()
    }

    /// Has something of a reply come, or of what may be one?
    fn has_begun(&self) -> bool {
        self.partial.as_ref().is_some_and(|partial| partial.has_begun()) || self.ledger.has_begun()
    }

    /// How many messages more may begin on it.
    #[inline]
    pub(crate) fn room(&self) -> u32 {
        match (&self.ledger, &self.link) {
            _ if mutation::is(Mutation::RoomIgnored) => u32::MAX,
            (Ledger::Numbered(ledger), Some(link)) => {
                link.session.room().saturating_sub(ledger.len() as u32)
            }
            // Who answers in order sets no limit.
            _ => u32::MAX,
        }
    }

    /// Gives up the oldest message alone, whose reply has not come in time, where later ones were
    /// answered; what tells the peer so waits for a flush.
    pub(crate) fn give_up_oldest(&mut self, now: Nanos, recorder: &mut Recorder) -> bool {
        let (Ledger::Numbered(ledger), Some(link)) = (&mut self.ledger, &mut self.link) else {
            return false;
        };
        let Some(oldest) = ledger.front().copied() else { return false };
        let Link { transport, session } = link;
        let out = Partial::way_out(&mut self.partial, transport);
        // Where none was, the peer or the way to it is gone, and with it the connection.
        if !ledger.has_answered_since(oldest.sent) {
            return false;
        }
        // What had no room on this connection need not be called back.
        if ledger.oldest_has_gone() && !session.cancel(oldest.number, out) {
            return false;
        }
        ledger.give_up_oldest();
        recorder.failure(Class::Timeout, now - oldest.sent);
        recorder.example(Class::Timeout, || LATE.to_owned());
        true
    }

    /// So many messages are done, well or badly: how many packs are done with them, and slots free?
    pub(crate) fn messages_done(&mut self, count: u32, pack: u32) -> u32 {
        self.done_in_pack += count;
        if self.done_in_pack < pack {
            return 0;
        }
        let packs = self.done_in_pack / pack;
        self.done_in_pack %= pack;
        self.slots_out = self.slots_out.saturating_sub(packs);
        packs
    }

    /// Everything in flight has failed; gives the number of slots that are free now. Those of
    /// packs that are assigned and not encoded, or in part, stay out.
    pub(crate) fn fail_all(
        &mut self,
        class: Class,
        pack: u32,
        now: Nanos,
        recorder: &mut Recorder,
    ) -> u32 {
        let failed = self.ledger.len() as u32;
        self.ledger.drain(|pending| recorder.failure(class, now - pending.sent));
        if !self.queue.is_empty() {
            return self.messages_done(failed, pack);
        }
        // Of the last pack of all, which may be a smaller one, too.
        self.done_in_pack = 0;
        std::mem::take(&mut self.slots_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_ends_once_and_its_generation_with_it() {
        let mut connection = Connection::new(false);
        assert!(connection.finish().is_none(), "it never began");
        connection.state = State::Ready;
        (connection.requests, connection.congested) = (3, true);
        let finished = connection.finish().expect("it was ready");
        assert!(finished.was_ready && finished.served);
        assert_eq!((connection.state, connection.generation), (State::Idle, 1));
        assert_eq!((connection.requests, connection.congested), (0, false));
        assert!(connection.finish().is_none(), "it has ended");
        connection.state = State::Backoff;
        assert!(connection.finish().is_none(), "it waits for its next socket");
        connection.state = State::Connecting;
        let finished = connection.finish().expect("it was on its way");
        assert!(!finished.was_ready && !finished.served);
        assert_eq!(connection.generation, 2);
    }

    #[test]
    fn slots_of_packs_that_fail_in_part_come_back_with_their_rest() {
        let (mut connection, mut recorder) = (Connection::new(true), Recorder::default());
        let mut fail = |connection: &mut Connection| {
            connection.fail_all(Class::Reset, 5, Nanos(1), &mut recorder)
        };
        connection.slots_out = 2;
        connection.ledger.push_sent(0, 7, Nanos::ZERO, Nanos::ZERO);
        connection.queue.push_packs(3, 5, Nanos::ZERO);
        assert_eq!((fail(&mut connection), connection.slots_out), (1, 1));
        let rest = connection.queue.pop().expect("a rest").messages;
        assert_eq!((connection.messages_done(rest, 5), connection.slots_out), (1, 0));
        // The last pack of a load may be smaller than others.
        connection.slots_out = 2;
        connection.ledger.push_sent(7, 8, Nanos::ZERO, Nanos::ZERO);
        assert_eq!((fail(&mut connection), connection.slots_out), (2, 0));
    }

    #[test]
    fn a_million_connections_that_wait_fit_into_a_small_machine() {
        assert!(size_of::<Connection>() <= 240, "{} bytes", size_of::<Connection>());
    }
}
