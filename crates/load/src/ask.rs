//! Asking in place of loading: a few sessions, one exchange after the other, each told whole.
//!
//! Knows how a plan becomes one that asks. Who asks is a worker like those of a load, so that what is said of a
//! reply is what a load would say. Must not know what is done with what is told.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use wiretrial_net::clock::realtime_ns;
use wiretrial_net::{Driver, NetError};

use crate::clock::{Clock as _, Monotonic, Nanos};
use crate::control::{Control, Report};
use crate::exchange::{End, Exchange, OneMessage, Tape, Told, Verdict};
use crate::executor::Budget;
use crate::measure::{Class, Recorder};
use crate::plan::redaction::Secrets;
use crate::plan::traffic::{Flow, FlowStep, Order, Part, Route, Think, Traffic};
use crate::plan::{ContentRule, LoopPlan, Plan, PlanError, Scheme, SharePlan, Stop};
use crate::preflight::{Refusal, Setup, driver_config, prepare};
use crate::run::{RunError, secrets};
use crate::source::{Payloads, Verifier};
use crate::worker::{Share, Wires, Worker};

/// Behind the workers of any load: no number is used twice, and each fits into the 53 bits of a JavaScript number.
const PLACE: u32 = 1 << 12;
/// A server that has answered and then has no connection for so long went away: it is not starting.
const GONE: Nanos = Nanos::from_secs(1);
/// Nobody reads intervals.
const INTERVAL: Nanos = Nanos::from_secs(3600);

/// How is asked.
#[derive(Debug, Clone, Copy)]
pub struct Asking {
    /// Sessions of each flow; of one message, how often it is sent.
    pub sessions: u32,
    /// Connections, on which the sessions take turns.
    pub connections: u32,
    /// So much is told of each content, bytes.
    pub most_body: usize,
    /// After so long it is over, whoever waits for a reply.
    pub time_limit: Nanos,
    /// A server that refuses connections may be starting: it is tried again as long as a load would.
    pub is_patient: bool,
}

/// Asks what a plan says, and tells each exchange when it is over.
///
/// # Errors
/// Nothing could be asked, or nobody takes what is told.
pub fn ask(
    plan: &Plan,
    asking: &Asking,
    control: &Control,
    mut tell: impl FnMut(&Told) -> io::Result<()>,
) -> Result<(), RunError> {
    if asking.sessions == 0 || asking.connections == 0 {
        let text = "ask at least 1 session, on at least 1 connection".to_owned();
        return Err(Refusal::from(PlanError(text)).into());
    }
    let (clock, started_unix_ns) = (Monotonic::start(), realtime_ns());
    let limit = clock.now() + asking.time_limit;
    let secrets = secrets(plan);
    // What is asked is told field by field, which a table would have to be known for.
    let plan = &Plan { target: plan.target.without_profile(), ..plan.clone() };
    let one = one_message(plan)?;
    let said = plan.traffic.is_none().then_some(plan);
    let tape = Tape::new(origin(plan), asking.most_body, one);
    let asks = plan_of(plan, asking);
    let mut setup = prepare(asks, said, &clock, started_unix_ns, control, asking.is_patient)?;
    if said.is_some() {
        setup.factory = setup.factory.telling_heads();
    }
    let mut asker = Asker::new(setup, tape, clock, started_unix_ns)?;
    let mut end = End { asked: 0, failed: 0, left: 0 };
    let mut each = |exchange: Exchange| {
        end.asked += 1;
        end.failed += u64::from(exchange.fault.is_some());
        tell(&Told::Exchange(Box::new(told(exchange, &secrets))))
    };
    loop {
        let now = clock.now();
        // What came is told before it is said that no more comes.
        let goes_on = asker.go_on(now, now >= limit);
        asker.take().into_iter().try_for_each(&mut each)?;
        if !goes_on? {
            break;
        }
        if control.is_stopping() {
            return Err(Refusal::Interrupted { signal: control.signal() }.into());
        }
    }
    end.left = asker.left();
    tell(&Told::End { end })?;
    Ok(())
}

/// Without secrets in what is said in words.
fn told(exchange: Exchange, secrets: &Secrets) -> Exchange {
    let hidden = |fault: Option<String>| fault.map(|fault| secrets.hidden_in(&fault));
    let checks = exchange.checks.into_iter().map(|verdict| Verdict {
        holds: verdict.holds,
        came: secrets.hidden_in(&verdict.came),
        fault: hidden(verdict.fault),
    });
    Exchange { checks: checks.collect(), fault: hidden(exchange.fault), ..exchange }
}

/// A worker that asks.
struct Asker {
    worker: Worker<Monotonic>,
    sessions: u64,
    reports: Receiver<(u32, Report)>,
    give_back: Sender<Box<Recorder>>,
    url: String,
    /// So long without a connection, and the server went away.
    patience: Nanos,
    /// When one stood.
    stood: Option<Nanos>,
}

impl Asker {
    fn new(
        setup: Setup,
        tape: Tape,
        clock: Monotonic,
        started_unix_ns: u64,
    ) -> Result<Self, Refusal> {
        let url = setup.plan.target.url.text.clone();
        let patience = setup.plan.phases.connect.min(GONE);
        let of_net = |error: NetError| refusal(&url, (error.class().into(), error.to_string()));
        let driver = Driver::new(&driver_config(&setup.plan)).map_err(of_net)?;
        let (report, reports) = channel();
        let (give_back, recycled) = channel();
        let control = Arc::new(Control::default());
        control.set_begin(clock.now().max(Nanos(1)));
        let sessions = setup.plan.stop.sessions.unwrap_or_default();
        let share = Share {
            worker: 0,
            place: PLACE,
            first_connection: 0,
            connections: setup.plan.load.connections,
            budget: Budget::of(sessions),
            // Asked again, it is not the same: what is made once may be there already.
            first_number: Share::first_number(PLACE) + started_unix_ns / 1_000_000 % (1 << 40),
            in_turn: true,
        };
        let wires = Wires { control, report, recycled, bench: None };
        let mut worker =
            Worker::new(Arc::new(setup), share, wires, clock, driver).map_err(of_net)?;
        worker.tape_onto(tape);
        Ok(Self { worker, sessions, reports, give_back, url, patience, stood: None })
    }

    /// Does what is to be done, and waits; false: all is over.
    fn go_on(&mut self, now: Nanos, is_late: bool) -> Result<bool, Refusal> {
        let url = &self.url;
        let refuse = |failure| refusal(url, failure);
        if is_late {
            if let Some(tape) = self.worker.tape() {
                let text = "no whole reply before the time limit of all that was to be asked";
                tape.over(Err((Class::Timeout, text)), None);
            }
            return Ok(false);
        }
        let Some(rest) = self.worker.work().map_err(refuse)? else { return Ok(false) };
        self.worker.rest(rest).map_err(refuse)?;
        if self.worker.stands() {
            self.stood = Some(now);
        } else if self.stood.is_some_and(|at| now - at >= self.patience) {
            let (class, why) = self.worker.why_not_all_stand(self.patience);
            return Err(refuse((class, format!("the server went away: {why}"))));
        }
        for (_, report) in self.reports.try_iter() {
            if let Report::Interval(mut record) = report {
                record.recorder.clear();
                // The worker is there as long as we are.
                let _ = self.give_back.send(record.recorder);
            }
        }
        Ok(true)
    }

    fn take(&mut self) -> Vec<Exchange> {
        self.worker.tape().map(Tape::take).unwrap_or_default()
    }

    fn left(&mut self) -> u64 {
        self.sessions - self.worker.tape().map_or(0, |tape| tape.ended())
    }
}

fn refusal(url: &str, (class, text): (Class, String)) -> Refusal {
    Refusal::Target { class, message: format!("{url}: {text}") }
}

fn origin(plan: &Plan) -> String {
    let url = &plan.target.url;
    let scheme = match (url.scheme, url.secure) {
        (Scheme::Http, false) => "http",
        (Scheme::Http, true) => "https",
        (_, false) => "ws",
        (_, true) => "wss",
    };
    format!("{scheme}://{}", url.authority)
}

/// What is sent and what is right, of a plan without traffic.
fn one_message(plan: &Plan) -> Result<Option<Box<OneMessage>>, Refusal> {
    if plan.traffic.is_some() {
        return Ok(None);
    }
    let target = &plan.target;
    if target.url.scheme != Scheme::Http || target.grpc.is_some() {
        let text =
            format!("'{}' can't be asked: ask http and https URLs, or traffic", target.url.text);
        return Err(PlanError(text).into());
    }
    let verifier = match &target.expect.content {
        // Nothing is known of it yet.
        ContentRule::Learned => Verifier::Any,
        rule => Verifier::new(rule),
    };
    Ok(Some(Box::new(OneMessage::new(Payloads::new(&target.payload), verifier))))
}

/// The plan of one worker who sends one message after the other, and does not think.
fn plan_of(plan: &Plan, asking: &Asking) -> Plan {
    let traffic = plan.traffic.as_ref().map_or_else(|| one_route(plan), |traffic| once(traffic));
    let sessions = u64::from(asking.sessions) * traffic.flows.len() as u64;
    let mut plan = plan.clone();
    if plan.traffic.is_none() {
        plan.load.requests_per_connection = None;
    }
    plan.traffic = Some(Arc::new(traffic));
    plan.stop =
        Stop { duration: None, requests: None, requests_each: None, sessions: Some(sessions) };
    let load = &mut plan.load;
    (load.connections, load.users) = (asking.connections, None);
    (load.depth, load.pack) = (1, 1);
    load.loop_ = LoopPlan::Closed;
    load.stages.clear();
    plan.phases.interval = INTERVAL;
    (plan.generator.threads, plan.generator.cpus) = (1, Vec::new());
    plan.share = SharePlan {
        first_worker: 0,
        workers: 1,
        first_connection: 0,
        connections: asking.connections,
        start: None,
        awaits_begin: false,
    };
    plan
}

/// Each step once. A row that is one user's is taken from the end of its feed: a load begins at the other one.
fn once(traffic: &Traffic) -> Traffic {
    let mut once = traffic.straight();
    for feed in once.feeds.iter_mut().filter(|feed| feed.order == Order::Unique) {
        feed.rows.reverse();
        feed.order = Order::Sequential;
    }
    once
}

/// One message as a session of one step. What it carries and what is right is not said here.
fn one_route(plan: &Plan) -> Traffic {
    let target = &plan.target;
    let route = Route {
        name: format!("{} {}", target.method, target.url.path),
        method: target.method.clone(),
        target: vec![Part::Text(target.url.path.clone())],
        headers: Vec::new(),
        body: Vec::new(),
        statuses: vec![(target.expect.status, target.expect.status)],
        exactly: None,
        checks: Vec::new(),
        follow: 0,
        captures: Vec::new(),
        line: None,
        call: None,
    };
    let flow = Flow {
        name: String::new(),
        weight: 1,
        feed: None,
        cookies: false,
        fails_unasked: false,
        steps: vec![FlowStep { route: 0, think: Think::None, back: None }],
    };
    Traffic {
        feeds: Vec::new(),
        routes: vec![route],
        flows: vec![flow],
        values: Vec::new(),
        sample: 0.0,
    }
}
