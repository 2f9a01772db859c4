//! Before the load: does the plan fit this machine, and does the target answer rightly?
//!
//! Knows everything that is made once for a run, and the one exchange that proves it.
//! Must not know workers.

mod answer;
mod capacity;
mod greeting;
mod refusal;

pub use capacity::Shortage;
pub(crate) use capacity::Tables;
pub use refusal::Refusal;

use std::net::SocketAddr;

use wiretrial_net::machine::resolve;
use wiretrial_net::{
    ClientTls, ClientTlsSettings, ConnectSpec, Driver, DriverConfig, Fill, Key, NetError,
    PollerKind, Transport,
};
use wiretrial_proto::{ClientSession as _, Event, Message, MessageKind, Reply, Scratch, Tag};

use crate::clock::{Clock, Monotonic, Nanos};
use crate::control::Control;
use crate::measure::Class;
use crate::measure::snapshot::Learned;
use crate::outgoing::Outgoing;
use crate::plan::{ContentRule, Plan, PollerDocument, Scheme, Target, TlsPlan};
use crate::protocol::{Protocol, ProtocolFactory};
use crate::source::{Payloads, Progress, Verifier};

use answer::Answer;
use greeting::Greeting;
use refusal::target;

/// The preflight's own message carries this number, which no message of the load has.
const PREFLIGHT_NUMBER: u64 = u64::MAX;
/// How long an exchange waits before it looks whether somebody wants it to stop.
const LOOK_UP: Nanos = Nanos::from_millis(50);
/// The most that is kept of a reply which is to be learned, bytes.
const MOST_LEARNED: usize = 64 << 20;
/// More than is shown of a reply that is not learned, bytes.
const SHOWN: usize = 256;
/// What to do where the first reply is no echo.
const NO_ECHO: &str =
    "; where the server does not echo, use --expect status, json:PATH=VALUE or regex:PATTERN";
/// The own copy of a message, as a reply: what there is to check was checked.
const COPY: Reply<'static> =
    Reply { tag: Tag::Oldest, status: 0, kind: MessageKind::Binary, payload: &[], last: false };
/// A refusing server is asked again this often.
const RETRY: Nanos = Nanos::from_millis(50);

/// What all workers share: made once, proven by one exchange.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) plan: Plan,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) tls: Option<ClientTls>,
    pub(crate) factory: ProtocolFactory,
    pub(crate) verifier: Verifier,
    /// Kind of a right reply; none where the protocol has no kinds, or any will do.
    pub(crate) kind: Option<MessageKind>,
    /// HTTP status of a right reply; none for other protocols.
    pub(crate) status: Option<u16>,
    pub(crate) reply_bytes: u64,
    /// What the first reply carried, where that is what is right.
    pub(crate) learned: Option<Learned>,
    pub(crate) tls_description: Option<String>,
    /// Agreed compression of messages.
    pub(crate) deflate: Option<String>,
    pub(crate) poller: &'static str,
    /// Why it is not the fastest there is.
    pub(crate) poller_shortfall: Option<String>,
    pub(crate) tables: Tables,
}

/// Gives the run's clock when it begins to run.
pub(crate) fn await_start(
    plan: &Plan,
    clock: Monotonic,
    control: &Control,
) -> Result<Monotonic, Refusal> {
    let mut pause = Driver::new(&driver_config(plan)).map_err(|error| target(&error, None))?;
    control.register(pause.waker());
    loop {
        if control.is_stopping() {
            return Err(Refusal::Interrupted { signal: control.signal() });
        }
        let left = clock.until_start();
        if left == Nanos::ZERO {
            return Ok(clock);
        }
        pause.wait(Some(left.as_duration())).map_err(|error| target(&error, None))?;
    }
}

/// Makes ready, and proves that the target answers rightly.
pub(crate) fn prepare(plan: Plan, clock: &impl Clock, control: &Control) -> Result<Setup, Refusal> {
    let factory = ProtocolFactory::new(&plan)?;
    let tls = plan.target.tls.as_ref().map(client_tls).transpose()?;
    let candidates = addresses(&plan.target)?;
    let tables = capacity::check(&plan, &candidates)?;
    let deadline = clock.now() + plan.phases.connect;
    let mut pause = Driver::new(&driver_config(&plan)).map_err(|error| target(&error, None))?;
    control.register(pause.waker());
    let answer = loop {
        let asking = Asking { plan: &plan, tls: tls.as_ref(), factory: &factory, clock, control };
        match asking.each(&candidates, deadline) {
            Ok(answer) => break answer,
            Err(_) if control.is_stopping() => {
                return Err(Refusal::Interrupted { signal: control.signal() });
            }
            // It may be starting: only a refusal is worth waiting for.
            Err(refusal @ Refusal::Target { class: Class::Refused, .. }) => {
                pause.wait(Some(RETRY.as_duration())).map_err(|error| target(&error, None))?;
                if clock.now() >= deadline {
                    return Err(refusal);
                }
            }
            Err(refusal) => return Err(refusal),
        }
    };
    let (verifier, learned) = answer.verifier(&plan.target.expect.content);
    Ok(Setup {
        addresses: if plan.target.addresses.is_empty() { vec![answer.address] } else { candidates },
        kind: factory.reply_kind().filter(|_| verifier.is_exact()),
        status: (plan.target.url.scheme == Scheme::Http).then_some(plan.target.expect.status),
        tls,
        factory,
        verifier,
        reply_bytes: answer.length,
        learned,
        tls_description: answer.tls,
        deflate: answer.deflate,
        poller: answer.poller,
        poller_shortfall: answer.poller_shortfall,
        tables,
        plan,
    })
}

/// The driver that a plan asks for.
pub(crate) fn driver_config(plan: &Plan) -> DriverConfig {
    let poller = match plan.generator.poller {
        PollerDocument::Auto => PollerKind::Auto,
        PollerDocument::Uring => PollerKind::Uring,
        PollerDocument::Epoll => PollerKind::Epoll,
    };
    DriverConfig { poller, spin: plan.generator.spin, ..DriverConfig::default() }
}

fn client_tls(plan: &TlsPlan) -> Result<ClientTls, Refusal> {
    let settings = ClientTlsSettings {
        ca_file: plan.ca_file.clone(),
        insecure: plan.insecure,
        server_name: plan.server_name.clone(),
        resumption: plan.resumption,
        alpn: Vec::new(),
    };
    ClientTls::new(&settings).map_err(|error| target(&error, None))
}

fn addresses(plan: &Target) -> Result<Vec<SocketAddr>, Refusal> {
    if !plan.addresses.is_empty() {
        return Ok(plan.addresses.clone());
    }
    resolve(&plan.url.host, plan.url.port).map_err(|error| target(&error, None))
}

/// What it takes to ask.
struct Asking<'p, C> {
    plan: &'p Plan,
    tls: Option<&'p ClientTls>,
    factory: &'p ProtocolFactory,
    clock: &'p C,
    control: &'p Control,
}

impl<C: Clock> Asking<'_, C> {
    /// The first address that answers is the one in use: a name may have others that nobody listens
    /// on. One that does not even refuse takes its part of the time, and not that of the others.
    fn each(&self, candidates: &[SocketAddr], deadline: Nanos) -> Result<Answer, Refusal> {
        let mut first_refusal = None;
        for (at, &address) in candidates.iter().enumerate() {
            let now = self.clock.now();
            let left = (candidates.len() - at) as u64;
            let part = Nanos((deadline - now).0 / left);
            match self.one(address, now + part) {
                Ok(answer) => return Ok(answer),
                Err(refusal) => first_refusal.get_or_insert(refusal),
            };
        }
        Err(first_refusal
            .unwrap_or_else(|| Refusal::Machine("no address to connect to".to_owned())))
    }

    fn one(&self, address: SocketAddr, deadline: Nanos) -> Result<Answer, Refusal> {
        // Behind all of the load's, and at a table of its own.
        let (share, together) = (self.plan.share, self.plan.together());
        let number = share.connections.next_multiple_of(together) + share.first_worker * together;
        let session = self.factory.make(number, entropy());
        let of_message = match self.factory.first_number(number) {
            None => PREFLIGHT_NUMBER,
            Some(first) => first + u64::from(u32::MAX),
        };
        let exchange = Exchange::begin(self.plan, address, self.tls, session, of_message)?;
        exchange.run(self.clock, self.control, deadline)
    }
}

fn entropy() -> [u64; 2] {
    [getrandom::u64().unwrap_or(1), getrandom::u64().unwrap_or(2)]
}

/// One exchange on a connection of its own.
#[expect(clippy::struct_excessive_bools, reason = "four independent facts of one moment")]
struct Exchange<'p> {
    plan: &'p Plan,
    address: SocketAddr,
    driver: Driver,
    transport: Transport,
    session: Protocol,
    /// Of the message that is sent.
    number: u64,
    payloads: Payloads,
    progress: Progress,
    /// What is right; none: what is to be learned.
    verifier: Option<Verifier>,
    /// All of the reply where it is learned, and else its beginning.
    content: Vec<u8>,
    /// TCP stands.
    connected: bool,
    /// There is more to read that no readiness will tell of.
    undrained: bool,
    /// The codec's handshake was sent.
    started: bool,
    /// The request was sent, or began to be.
    asked: bool,
    /// What the server says before that.
    greeting: Greeting,
    /// It is long, and not all of it was sent.
    outgoing: Option<Outgoing>,
}

impl<'p> Exchange<'p> {
    fn begin(
        plan: &'p Plan,
        address: SocketAddr,
        tls: Option<&ClientTls>,
        session: Protocol,
        number: u64,
    ) -> Result<Self, Refusal> {
        let refuse = |error: NetError| target(&error, Some(address));
        let mut driver = Driver::new(&driver_config(plan)).map_err(refuse)?;
        let source = plan.target.sources.first().copied();
        let spec = ConnectSpec { peer: address, source, nodelay: true, receive_buffer: None };
        let socket = driver.connect(Key { slot: 0, generation: 0 }, &spec).map_err(refuse)?;
        let transport = match tls {
            None => Transport::plain(socket),
            Some(tls) => Transport::tls_client(socket, tls, &mut driver).map_err(refuse)?,
        };
        Ok(Self {
            plan,
            address,
            driver,
            transport,
            session,
            number,
            payloads: Payloads::new(&plan.target.payload),
            progress: Progress::default(),
            verifier: Some(&plan.target.expect.content)
                .filter(|rule| **rule != ContentRule::Learned)
                .map(Verifier::new),
            content: Vec::new(),
            connected: false,
            undrained: false,
            started: false,
            asked: false,
            greeting: Greeting::of(plan),
            outgoing: None,
        })
    }

    fn run(
        mut self,
        clock: &impl Clock,
        control: &Control,
        deadline: Nanos,
    ) -> Result<Answer, Refusal> {
        let mut carry = Vec::new();
        self.greeting.begin(clock.now());
        loop {
            let now = clock.now();
            if control.is_stopping() {
                return Err(Refusal::Interrupted { signal: control.signal() });
            }
            if now >= deadline {
                return Err(self.too_late());
            }
            if self.undrained
                && let Some(answer) = self.receive(&mut carry)?
            {
                return Ok(answer);
            }
            if self.connected {
                // The server may have been silent for long enough to be asked.
                self.advance(now)?;
            }
            let patience = if self.undrained { Nanos::ZERO } else { LOOK_UP };
            let wait = (deadline - now).min(patience).as_duration();
            self.driver.wait(Some(wait)).map_err(|error| self.net(&error))?;
            while let Some(ready) = self.driver.next() {
                if ready.connected {
                    let result = self.driver.connect_result(self.transport.socket_mut());
                    result.map_err(|error| self.net(&error))?;
                    self.connected = true;
                    self.advance(now)?;
                } else if ready.readable || ready.hangup {
                    if let Some(answer) = self.receive(&mut carry)? {
                        return Ok(answer);
                    }
                    self.advance(now)?;
                } else if ready.writable {
                    self.advance(now)?;
                }
            }
        }
    }

    fn too_late(&self) -> Refusal {
        let limit = self.plan.phases.connect.0 / 1_000_000;
        let missing = self.greeting.missing().filter(|_| self.session.is_open());
        let (class, what) = match missing.as_deref() {
            Some(missing) => (Class::Timeout, missing),
            None if self.connected => (Class::Timeout, "no whole reply"),
            None => (Class::ConnectTimeout, "no answer to the connect"),
        };
        self.refuse(class, &format!("{what} from {} within {limit} ms", self.address))
    }

    /// Asks once everything before it stands, and sends what there is to send.
    fn advance(&mut self, now: Nanos) -> Result<(), Refusal> {
        if self.transport.is_established() {
            if !self.started {
                self.started = true;
                self.session.start(self.transport.out());
            }
            if self.session.is_open() && !self.asked && self.may_ask(now)? {
                self.asked = true;
                let out = self.transport.out();
                self.outgoing =
                    Outgoing::begin(&mut self.session, self.number, &self.payloads, out);
                if self.outgoing.is_none() {
                    let payload = self.payloads.get(self.number);
                    self.session.encode(&Message::new(self.number, payload), out);
                }
            }
        }
        loop {
            let flushed = self.transport.flush(&mut self.driver);
            let is_done = flushed.map_err(|error| self.net(&error))?.done;
            let (current, out) = (&mut self.outgoing, self.transport.out());
            if !is_done || Outgoing::advance(current, &mut self.payloads, out).is_none() {
                return Ok(());
            }
        }
    }

    fn may_ask(&mut self, now: Nanos) -> Result<bool, Refusal> {
        self.greeting.is_over(now).map_err(|(class, text)| self.refuse(class, &text))
    }

    fn receive(&mut self, carry: &mut Vec<u8>) -> Result<Option<Answer>, Refusal> {
        let bytes = match self.transport.fill(&mut self.driver, carry) {
            Fill::WouldBlock => {
                self.undrained = false;
                return Ok(None);
            }
            Fill::Failed(error) => return Err(target(&error, Some(self.address))),
            Fill::End => return self.ended(),
            Fill::Data(bytes, _, drained) => {
                self.undrained = !drained;
                bytes.to_vec()
            }
        };
        if !self.asked && matches!(self.session, Protocol::Stream(_)) {
            let (class, text) = Greeting::stream(&bytes);
            return Err(self.refuse(class, &text));
        }
        let (mut at, mut scratch) = (0, Scratch::new());
        loop {
            let outgoing = self.outgoing.as_mut();
            let out = outgoing.map_or_else(|| self.transport.out(), Outgoing::behind);
            let step = self.session.receive(&bytes[at..], &mut scratch, out);
            let step = step.map_err(|error| self.refuse(error.class.into(), error.detail))?;
            at += step.consumed;
            match step.event {
                None => break,
                Some(Event::Reply(reply)) if !self.asked => self.greeting.message(reply.payload),
                Some(Event::Chunk { piece, .. }) if !self.asked => self.greeting.piece(piece),
                Some(Event::Reply(reply)) => return self.judge(&reply).map(Some),
                Some(Event::Chunk { piece, .. }) => self.keep(piece)?,
                Some(Event::Failed { error, .. }) => {
                    return Err(self.refuse(error.class.into(), error.detail));
                }
                Some(Event::Delivery(copy)) if copy.own && !copy.intact => {
                    let text = "the first copy was not what its message was";
                    return Err(self.refuse(Class::Mismatch, text));
                }
                Some(Event::Delivery(copy)) if copy.own => {
                    let payload = copy.payload.unwrap_or_default();
                    return self.judge(&Reply { payload, ..COPY }).map(Some);
                }
                Some(Event::Open | Event::Room | Event::Delivery(_) | Event::Bulletin(_)) => {}
                Some(Event::Close(close)) => {
                    let text = format!("the server closed with code {}", close.code);
                    return Err(self.refuse(Class::Closed, &text));
                }
            }
        }
        carry.extend_from_slice(&bytes[at..]);
        Ok(None)
    }

    fn ended(&mut self) -> Result<Option<Answer>, Refusal> {
        let event = self.session.end_by(self.transport.ended_on_purpose());
        match event.map_err(|error| self.refuse(error.class.into(), error.detail))? {
            Some(Event::Reply(reply)) => self.judge(&reply).map(Some),
            _ => {
                Err(self
                    .refuse(Class::Truncated, "the server closed the connection before its reply"))
            }
        }
    }

    fn keep(&mut self, piece: &[u8]) -> Result<(), Refusal> {
        if let Some(verifier) = &self.verifier {
            let room = SHOWN.saturating_sub(self.content.len());
            self.content.extend_from_slice(&piece[..piece.len().min(room)]);
            verifier.update(&mut self.progress, self.number, piece, &mut self.payloads);
            return Ok(());
        }
        if self.content.len() + piece.len() > MOST_LEARNED {
            let text = format!(
                "the first reply is over {} MiB, too much to learn by heart: say what is expected",
                MOST_LEARNED >> 20
            );
            return Err(self.refuse(Class::TooBig, &text));
        }
        self.content.extend_from_slice(piece);
        self.progress.received += piece.len() as u64;
        Ok(())
    }

    fn judge(&mut self, reply: &Reply<'_>) -> Result<Answer, Refusal> {
        self.keep(reply.payload)?;
        let length = self.progress.received;
        let expect = &self.plan.target.expect;
        if self.plan.target.url.scheme == Scheme::Http && reply.status != expect.status {
            let text = format!(
                "the server answered with status {}, not {}: check the URL and the method {}, or say which status is right",
                reply.status, expect.status, self.plan.target.method
            );
            return Err(self.refuse(Class::Status, &text));
        }
        if let Some(verifier) = &self.verifier {
            let content = verifier.finish(&mut self.progress, self.number, &mut self.payloads);
            content.map_err(|mismatch| {
                let is_echo = expect.content == ContentRule::Echo;
                let remedy = if is_echo { NO_ECHO } else { "" };
                let text = format!("the first reply was not what is expected: {mismatch}{remedy}");
                self.refuse(Class::Mismatch, &text)
            })?;
        }
        Ok(Answer {
            address: self.address,
            // A long payload is not made whole for nothing.
            echoes: self.verifier.is_none()
                && !self.content.is_empty()
                && self.content == self.payloads.get(self.number),
            content: std::mem::take(&mut self.content),
            length,
            tls: self.transport.tls_description(),
            deflate: self.session.deflate(),
            poller: self.driver.poller_name(),
            poller_shortfall: self.driver.shortfall().map(str::to_owned),
        })
    }

    fn net(&self, error: &NetError) -> Refusal {
        target(error, Some(self.address))
    }

    fn refuse(&self, class: Class, message: &str) -> Refusal {
        Refusal::Target { class, message: format!("{}: {message}", self.plan.target.url.text) }
    }
}
