//! Before the load: does the plan fit this machine, and does the target answer rightly?
//!
//! Knows everything that is made once for a run, and the one exchange that proves it.
//! Must not know workers.

mod answer;
mod capacity;
mod exchange;
mod first;
mod greeting;
mod refusal;

pub use capacity::Shortage;
pub(crate) use capacity::Tables;
pub use refusal::Refusal;

use std::net::SocketAddr;
use std::sync::Arc;

use wiretrial_net::machine::resolve;
use wiretrial_net::{Alpn, ClientTls, ClientTlsSettings, Driver, DriverConfig, PollerKind};
use wiretrial_proto::MessageKind;

use crate::clock::{Clock, Monotonic, Nanos};
use crate::connection::{Behaviour, Dial, algorithm};
use crate::control::Control;
use crate::measure::Class;
use crate::measure::http2::Spoken;
use crate::measure::snapshot::Learned;
use crate::plan::{Carrier, Plan, PlanError, PollerDocument, Scheme, Target};
use crate::protocol::ProtocolFactory;
use crate::reach::Reach;
use crate::source::Verifier;
use crate::source::traffic::{Opening, Routes};

use answer::Answer;
use exchange::{Exchange, Line};
use refusal::target;

/// The preflight's own message carries this number, which no message of the load has.
const PREFLIGHT_NUMBER: u64 = u64::MAX;
/// A refusing server is asked again this often.
const RETRY: Nanos = Nanos::from_millis(50);

/// What all workers share: made once, proven by one exchange.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) plan: Plan,
    pub(crate) addresses: Vec<SocketAddr>,
    /// How connections are made.
    pub(crate) dial: Dial,
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
    /// Which HTTP is spoken, where the plan does not say HTTP/1.1.
    pub(crate) http: Option<Spoken>,
    /// The congestion control of TCP, as the kernel tells it.
    pub(crate) congestion: Option<String>,
    /// Agreed compression of messages.
    pub(crate) deflate: Option<String>,
    pub(crate) poller: &'static str,
    /// Why it is not the fastest there is.
    pub(crate) poller_shortfall: Option<String>,
    pub(crate) tables: Tables,
    /// Requests to many routes, and what right replies are; none where there is one message.
    pub(crate) routes: Option<Arc<Routes>>,
    /// Who counts to how many receivers each published event has come; none: nothing is published.
    pub(crate) reach: Option<Arc<Reach>>,
    /// Wall clock at offset 0 of the run, nanoseconds since 1970.
    pub(crate) started_unix_ns: u64,
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

/// Makes ready, and proves that the target answers rightly. `said`: the plan whose message is sent, where the one to
/// run only stands for it. Who is patient waits for a server that may be starting.
pub(crate) fn prepare(
    mut plan: Plan,
    said: Option<&Plan>,
    clock: &impl Clock,
    started_unix_ns: u64,
    control: &Control,
    is_patient: bool,
) -> Result<Setup, Refusal> {
    let routes = routes(&plan);
    let (mut factory, if_http2) = factories(said.unwrap_or(&plan), routes.as_deref())?;
    plan.target.agrees = if_http2.is_some();
    controlled(&plan.target)?;
    let dial = dial(&plan)?;
    let candidates = addresses(&plan.target)?;
    let tables = capacity::check(&plan, &candidates).map_err(Refusal::Capacity)?;
    let deadline = clock.now() + plan.phases.connect;
    let mut pause = Driver::new(&driver_config(&plan)).map_err(|error| target(&error, None))?;
    control.register(pause.waker());
    let answer = loop {
        let (dial, factory, if_http2) = (&dial, &factory, if_http2.as_ref());
        let asking = Asking { plan: &plan, dial, factory, if_http2, clock, control };
        match asking.each(&candidates, deadline) {
            Ok(answer) => break answer,
            Err(_) if control.is_stopping() => {
                return Err(Refusal::Interrupted { signal: control.signal() });
            }
            // It may be starting: only a refusal is worth waiting for.
            Err(refusal @ Refusal::Target { class: Class::Refused, .. }) if is_patient => {
                pause.wait(Some(RETRY.as_duration())).map_err(|error| target(&error, None))?;
                if clock.now() >= deadline {
                    return Err(refusal);
                }
            }
            Err(refusal) => return Err(refusal),
        }
    };
    plan.target.http2 = answer.is_http2;
    factory = if_http2.filter(|_| answer.is_http2).unwrap_or(factory);
    let (verifier, learned) = match routes {
        // Each route has its own.
        Some(_) => (Verifier::Any, None),
        // Each event is held to the rule; none is an example.
        None if plan.hears_events() => (Verifier::new(&plan.target.expect.content), None),
        None => answer.verifier(&plan.target.expect.content),
    };
    Ok(Setup {
        addresses: if plan.target.addresses.is_empty() { vec![answer.address] } else { candidates },
        kind: factory.reply_kind().filter(|_| verifier.is_exact()),
        status: (plan.target.url.scheme == Scheme::Http).then_some(plan.target.expect.status),
        dial,
        factory,
        verifier,
        reply_bytes: answer.length,
        learned,
        tls_description: answer.tls,
        congestion: answer.congestion,
        deflate: answer.deflate,
        http: Spoken::of(&plan.target, answer.agreed.is_some(), answer.streams),
        poller: answer.poller,
        poller_shortfall: answer.poller_shortfall,
        tables,
        routes,
        reach: reach(&plan),
        started_unix_ns,
        plan,
    })
}

/// The routes of a plan, ready to be used.
pub(crate) fn routes(plan: &Plan) -> Option<Arc<Routes>> {
    plan.traffic.as_ref().map(|traffic| Arc::new(Routes::new(traffic, plan)))
}

/// Who counts to how many receivers of a plan each published event has come; none: nothing is published.
pub(crate) fn reach(plan: &Plan) -> Option<Arc<Reach>> {
    plan.publish.as_ref().map(|_| Arc::new(Reach::new(plan.receivers())))
}

/// What is spoken, and the same in HTTP/2 where the server may pick it.
fn factories(
    plan: &Plan,
    routes: Option<&Routes>,
) -> Result<(ProtocolFactory, Option<ProtocolFactory>), PlanError> {
    let routes = routes.filter(|_| plan.traffic.is_some());
    let factory = ProtocolFactory::new(plan, routes)?;
    if !plan.target.agrees {
        return Ok((factory, None));
    }
    let mut in_http2 = plan.clone();
    in_http2.target.http2 = true;
    // What can't be said in HTTP/2 is not offered in it.
    Ok((factory, ProtocolFactory::new(&in_http2, routes).ok()))
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

/// How connections are made: whom they trust, and what they offer to speak.
pub(crate) fn dial(plan: &Plan) -> Result<Dial, Refusal> {
    dial_from(None, plan)
}

/// The same, from a seed where the world is a simulated one.
pub(crate) fn dial_from(seed: Option<u64>, plan: &Plan) -> Result<Dial, Refusal> {
    let target = &plan.target;
    let Some(settings) = client_tls(target) else { return Ok(Dial::Plain) };
    let dial = if target.http3 {
        let behaviour = Behaviour {
            streams: plan.load.depth,
            congestion: target.congestion.unwrap_or_default(),
            early_data: target.early_data,
            // What is held may be silent.
            held: target.sse || target.url.scheme == Scheme::WebSocket,
            seed,
        };
        Dial::quic(settings, behaviour)
    } else {
        ClientTls::new(&settings).map(Dial::Tls)
    };
    dial.map_err(|error| refusal::target(&error, None))
}

/// Whom they trust, and what they offer to speak; none: without TLS.
fn client_tls(plan: &Target) -> Option<ClientTlsSettings> {
    let tls = plan.tls.as_ref()?;
    let alpn = match plan.url.scheme {
        Scheme::Http | Scheme::WebSocket if plan.http3 => vec![Alpn::Http3],
        Scheme::Http if plan.agrees => vec![Alpn::Http2, Alpn::Http11],
        Scheme::Http | Scheme::WebSocket if plan.http2 => vec![Alpn::Http2],
        // WebSocket begins as HTTP/1.1 elsewhere.
        Scheme::Http
        | Scheme::WebSocket
        | Scheme::SocketIo
        | Scheme::Styx(_, Carrier::WebSocket) => vec![Alpn::Http11],
        // No name is registered for a byte stream.
        Scheme::Stream | Scheme::Styx(_, Carrier::Stream) => Vec::new(),
    };
    Some(ClientTlsSettings {
        ca_file: tls.ca_file.clone(),
        insecure: tls.insecure,
        server_name: tls.server_name.clone(),
        resumption: tls.resumption,
        alpn,
    })
}

/// Refuses a congestion control that the kernel's TCP may not have here.
fn controlled(target: &Target) -> Result<(), Refusal> {
    let Some(wanted) = target.congestion.filter(|_| !target.http3) else { return Ok(()) };
    let allowed = algorithm(wanted).check_for_tcp();
    allowed.map_err(|error| Refusal::Machine(error.to_string()))
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
    dial: &'p Dial,
    factory: &'p ProtocolFactory,
    /// The same in HTTP/2, where the server may pick it.
    if_http2: Option<&'p ProtocolFactory>,
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
        let first = |factory: &ProtocolFactory| {
            factory.make_first(number, entropy(), Opening::first(self.plan))
        };
        let if_http2 = self.if_http2.map(first);
        let session = first(self.factory);
        let own = self.factory.first_number(number);
        let last = own.map(|first| first + u64::from(u32::MAX));
        let (number, numbered) = (last.unwrap_or(PREFLIGHT_NUMBER), self.factory.is_numbered());
        let line = Line { address, session, number, numbered, if_http2 };
        let exchange = Exchange::begin(self.plan, self.dial, line, self.clock)?;
        exchange.run(self.control, deadline)
    }
}

fn entropy() -> [u64; 2] {
    [getrandom::u64().unwrap_or(1), getrandom::u64().unwrap_or(2)]
}
