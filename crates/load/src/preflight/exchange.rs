//! One exchange before the load, on a connection of its own that is like all others.
//!
//! Knows when to ask. What comes is the connection's, what is right the first reply's. Must not know
//! workers.

use std::net::SocketAddr;

use wiretrial_net::{Alpn, ConnectSpec, Driver, Key, NetError, NetErrorClass};
use wiretrial_proto::Scratch;

use super::answer::Answer;
use super::driver_config;
use super::first::FirstReply;
use super::refusal::{Refusal, target};
use crate::clock::{Clock, Nanos};
use crate::connection::{
    Buffers, Connection, Dial, Ending, Expected, Link, Picked, State, algorithm,
};
use crate::control::Control;
use crate::deliveries::Deliveries;
use crate::measure::{Class, Recorder};
use crate::plan::{Plan, Scheme};
use crate::protocol::Protocol;
use crate::source::{Payloads, Verifier};

/// What is said of a reply that is none.
const ENDLESS: &str = "a stream of events (text/event-stream), which has no end: load it with --sse; no whole reply came";
/// What to do where nobody listens for QUIC.
const NO_QUIC: &str =
    " on UDP; is the server running, and does it speak HTTP/3? else use --http 2 or 1.1";
/// How long it waits before it looks whether somebody wants it to stop.
const LOOK_UP: Nanos = Nanos::from_millis(50);
/// How it is told that a server knows nothing of what was offered, where that is HTTP/2.
const OFFERED_ALONE: &str = "(ALPN h2)";

/// Where it asks, and how.
pub(super) struct Line {
    pub(super) address: SocketAddr,
    pub(super) session: Protocol,
    /// Of the message.
    pub(super) number: u64,
    /// Replies say by number which message they answer.
    pub(super) numbered: bool,
    /// What is spoken in place of these where the server picks HTTP/2 of both that are offered.
    pub(super) if_http2: Option<Protocol>,
}

/// An exchange that is under way.
pub(super) struct Exchange<'p, C> {
    plan: &'p Plan,
    clock: &'p C,
    address: SocketAddr,
    number: u64,
    driver: Driver,
    connection: Connection,
    first: FirstReply<'p>,
    /// Who hears the message, where that is said: the sender alone.
    deliveries: Option<Deliveries>,
    payloads: Payloads,
    buffers: Buffers,
    scratch: Scratch,
    recorder: Box<Recorder>,
    /// There is more to read that no readiness will tell of.
    undrained: bool,
}

impl<'p, C: Clock> Exchange<'p, C> {
    /// Asks for the connection.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn begin(
        plan: &'p Plan,
        dial: &Dial,
        line: Line,
        clock: &'p C,
    ) -> Result<Self, Refusal> {
        let Line { address, session, number, numbered, if_http2 } = line;
        let refuse = |error: NetError| target(&error, Some(address));
        let mut driver = Driver::new(&driver_config(plan)).map_err(refuse)?;
        let source = plan.target.sources.first().copied();
        let spec = ConnectSpec {
            peer: address,
            source,
            nodelay: true,
            receive_buffer: None,
            congestion: plan.target.congestion.map(algorithm),
        };
        let (mut connection, now) = (Connection::new(numbered), clock.now());
        let key = Key { slot: 0, generation: connection.generation };
        let transport = dial.ask(&mut driver, key, &spec, now).map_err(refuse)?;
        // What the server says first is the first reply's to judge.
        if let Some(session) = if_http2 {
            connection.offer_http2(session);
        }
        connection.begin(Link { transport, session }, 0, now);
        let mut first = FirstReply::new(plan, number);
        first.greeting.begin(now);
        let mut exchange = Self {
            plan,
            clock,
            address,
            number,
            driver,
            connection,
            first,
            deliveries: plan.audience().map(|_| Deliveries::new(1, 1)),
            payloads: Payloads::of(&plan.target),
            buffers: Buffers::default(),
            scratch: Scratch::new(),
            recorder: Box::default(),
            undrained: false,
        };
        if exchange.connection.is_quic() {
            exchange.flush()?;
        }
        Ok(exchange)
    }

    /// Asks once everything before it stands, and hears the reply.
    ///
    /// # Errors
    /// What was wrong.
    pub(super) fn run(mut self, control: &Control, deadline: Nanos) -> Result<Answer, Refusal> {
        loop {
            let now = self.clock.now();
            if control.is_stopping() {
                return Err(Refusal::Interrupted { signal: control.signal() });
            }
            if now >= deadline {
                return Err(self.too_late());
            }
            let due = self.connection.deadline().filter(|due| *due <= now);
            if due.is_some() {
                self.connection.on_deadline(now);
            }
            if self.undrained || due.is_some() {
                self.receive()?;
            }
            self.ask()?;
            if self.first.came {
                return Ok(self.answer());
            }
            let patience = if self.undrained { Nanos::ZERO } else { LOOK_UP };
            let due = self.connection.deadline().unwrap_or(Nanos::MAX);
            let wait = (deadline - now).min(due - now).min(patience).as_duration();
            self.driver.wait(Some(wait)).map_err(|error| self.net(&error))?;
            while let Some(ready) = self.driver.next() {
                if ready.connected {
                    self.connected()?;
                    continue;
                }
                if ready.writable {
                    self.flush()?;
                }
                if ready.readable || ready.hangup {
                    self.receive()?;
                }
                if self.first.came {
                    return Ok(self.answer());
                }
            }
        }
    }

    fn connected(&mut self) -> Result<(), Refusal> {
        let now = self.clock.now();
        let connected = self.connection.connected(&mut self.driver, now, &mut self.recorder);
        connected.map_err(|error| self.net(&error))?;
        self.secured()
    }

    fn secured(&mut self) -> Result<(), Refusal> {
        let (now, has_tls) = (self.clock.now(), self.plan.target.tls.is_some());
        let (buffers, recorder) = (&mut self.buffers, &mut self.recorder);
        let secured = self.connection.secured(has_tls, now, buffers, recorder);
        if secured.map_err(|picked| self.refuse(Class::Protocol, not_picked(picked)))? {
            self.ready();
        }
        self.flush()
    }

    fn ready(&mut self) {
        self.connection.stand(self.deliveries.as_mut().map(|deliveries| (deliveries, 0)));
    }

    /// Sends the message once, when the server may have said what it says by itself.
    fn ask(&mut self) -> Result<(), Refusal> {
        if self.connection.state != State::Ready || self.first.asked {
            return Ok(());
        }
        let url = &self.plan.target.url;
        let replies = url.scheme == Scheme::Http && !url.grpc;
        let only_hears = self.plan.hears_events() && !replies;
        if self.plan.traffic.is_some() || only_hears {
            // It stands; what its routes answer is seen in a rehearsal, and what is published while it is held.
            self.first.came = true;
            return Ok(());
        }
        let now = self.clock.now();
        let is_over = self.first.greeting.is_over(now);
        if !is_over.map_err(|(class, text)| self.refuse(class, &text))? {
            return Ok(());
        }
        self.first.asked = true;
        self.connection.ledger.push(self.number, 1, now);
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.sent(0, self.number as u32, now, now);
        }
        let (payloads, buffers) = (&mut self.payloads, &mut self.buffers);
        self.connection.encode(self.number, 1, payloads, buffers, &mut self.recorder);
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Refusal> {
        let Self { connection, driver, payloads, buffers, recorder, clock, .. } = self;
        connection.ledger.stamp_with(|| clock.now());
        let flushed = connection.flush(driver, payloads, buffers, recorder, clock.now());
        flushed.map_err(|error| self.net(&error))
    }

    fn receive(&mut self) -> Result<(), Refusal> {
        let mut expected = Expected {
            witness: &mut self.first,
            // The witness looks at all of this.
            verifier: &Verifier::Any,
            status: None,
            calls: None,
            kind: None,
            open_loop: false,
            payloads: &mut self.payloads,
            recorder: &mut self.recorder,
            buffers: &mut self.buffers,
            deliveries: self.deliveries.as_mut().map(|deliveries| (deliveries, 0)),
        };
        let came = || self.clock.now();
        let (driver, scratch) = (&mut self.driver, &mut self.scratch);
        let received = self.connection.receive(driver, came, scratch, &mut expected);
        self.undrained = !received.drained;
        if self.first.came {
            return Ok(());
        }
        let left = || self.connection.was_left().then_some(Ending::Orderly("server"));
        match received.ending.or_else(left) {
            // A server may end the handshake, or go on in it, where it knows nothing that is offered.
            Some(Ending::Failed(Class::Tls, text)) if text.ends_with(OFFERED_ALONE) => {
                return Err(self.refuse(Class::Tls, not_picked(Picked(None))));
            }
            Some(Ending::Failed(Class::Refused, text)) if self.plan.target.http3 => {
                return Err(self.refuse(Class::Refused, &format!("{text}{NO_QUIC}")));
            }
            Some(Ending::Failed(class, text)) => return Err(self.refuse(class, &text)),
            Some(Ending::Orderly(_) | Ending::Farewell(_)) => {
                let text = "the server closed the connection before its reply";
                return Err(self.refuse(Class::Truncated, text));
            }
            None => {}
        }
        if received.opened {
            self.ready();
        } else if self.connection.state == State::Securing {
            self.secured()?;
        }
        if self.connection.has_output() { self.flush() } else { Ok(()) }
    }

    /// What was heard; the connection is left as those of the load are.
    fn answer(mut self) -> Answer {
        self.connection.close();
        // Who does not take it is left without.
        let _ = self.flush();
        let mut link = self.connection.link.take();
        let agreed = link.as_mut().and_then(|link| link.transport.agreed());
        let (tls, deflate) = match &link {
            Some(link) => (link.transport.tls_description(), link.session.deflate()),
            None => (None, None),
        };
        let congestion = link.as_ref().and_then(|link| link.transport.congestion());
        let is_http2 = link.as_ref().is_some_and(|link| link.session.is_http2());
        let streams = link.as_ref().and_then(|link| link.session.streams());
        let content = self.first.into_content(&mut self.payloads);
        let (poller, shortfall) = (self.driver.poller_name(), self.driver.shortfall());
        let poller_shortfall = shortfall.map(str::to_owned);
        if let Some(link) = link {
            link.leave(&mut self.driver, &mut self.buffers, || self.clock.now());
        }
        Answer {
            address: self.address,
            echoes: content.echoes,
            content: content.bytes,
            length: content.length,
            tls,
            congestion,
            deflate,
            agreed,
            is_http2,
            streams,
            poller,
            poller_shortfall,
        }
    }

    fn too_late(&self) -> Refusal {
        let limit = self.plan.phases.connect.0 / 1_000_000;
        let missing = self.first.greeting.missing();
        let (class, what, remedy) = match (self.connection.state, missing.as_deref()) {
            (State::Ready, Some(missing)) => (Class::Timeout, missing, ""),
            // What listens on the port and speaks no QUIC is silent.
            (State::Connecting, _) if self.plan.target.http3 => {
                (Class::ConnectTimeout, "no answer to QUIC's first datagrams", NO_QUIC)
            }
            (State::Connecting, _) => (Class::ConnectTimeout, "no answer to the connect", ""),
            _ if self.first.streams => (Class::Timeout, ENDLESS, ""),
            _ => (Class::Timeout, "no whole reply", ""),
        };
        self.refuse(class, &format!("{what} from {} within {limit} ms{remedy}", self.address))
    }

    fn net(&self, error: &NetError) -> Refusal {
        if self.plan.target.http3 && error.class() == NetErrorClass::Refused {
            return self.refuse(Class::Refused, &format!("{error}{NO_QUIC}"));
        }
        target(error, Some(self.address))
    }

    fn refuse(&self, class: Class, message: &str) -> Refusal {
        Refusal::Target { class, message: format!("{}: {message}", self.plan.target.url.text) }
    }
}

/// What is said of a server that does not speak what is to be spoken.
const fn not_picked(Picked(picked): Picked) -> &'static str {
    match picked {
        Some(Alpn::Http2) => "the server picked HTTP/2 without being offered it (ALPN)",
        _ => {
            "the server does not agree on HTTP/2 (ALPN), which --http 2, --streams and windows need; use --http 1.1"
        }
    }
}
