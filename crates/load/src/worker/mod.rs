//! One worker: one thread, one loop. Due -> send -> poll -> receive -> snapshot.
//!
//! The only place that knows both time and sockets. Must not know other workers (the run
//! merges), nor how a protocol or a pacer works.

mod alarms;
mod connecting;
mod conversations;
mod deadlines;
#[cfg(test)]
mod inspect;
mod intervals;
mod loads;
mod openings;
mod sessions;
mod stages;
mod streams;
mod talks;
mod tally;
mod traffic;
mod turns;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use wiretrial_net::{Driver, NetError};
use wiretrial_proto::Scratch;

use crate::clock::Nanos;
use crate::connection::{Buffers, Connection};
use crate::control::{Control, Report};
use crate::deliveries::Deliveries;
use crate::executor::{Budget, Executor, Slots};
use crate::judging::Bench;
use crate::machine::Machine;
use crate::measure::{Class, Recorder};
use crate::plan::{LoopPlan, PacingDocument, Plan};
use crate::preflight::{Setup, Tables};
use crate::source::Payloads;
use crate::users::Users;

use alarms::Alarms;
use intervals::Intervals;
use openings::Openings;
use stages::{LONGEST_WAIT, Stage};
use tally::Tally;
use turns::Turns;

/// A worker's part of the plan.
#[derive(Debug)]
pub(crate) struct Share {
    /// Number of the worker, from 0.
    pub(crate) worker: u32,
    /// Its number among the workers of all engines that make the load together.
    pub(crate) place: u32,
    /// Number of its first connection, among those of all engines.
    pub(crate) first_connection: u32,
    /// Its connections.
    pub(crate) connections: u32,
    /// Its messages.
    pub(crate) budget: Budget,
    /// Of its messages, where the worker numbers them; no other worker has these numbers.
    pub(crate) first_number: u64,
    /// One session after the other, on each connection in turn.
    pub(crate) in_turn: bool,
}

impl Share {
    /// The first number of the messages of the worker at this place.
    pub(crate) fn first_number(place: u32) -> u64 {
        u64::from(place) << 40
    }
}

/// How a worker talks to its run.
#[derive(Debug)]
pub(crate) struct Wires {
    pub(crate) control: Arc<Control>,
    /// Reports, each with the worker's number.
    pub(crate) report: Sender<(u32, Report)>,
    /// Recorders to use again.
    pub(crate) recycled: Receiver<Box<Recorder>>,
    /// Where replies are judged beside the load; none: each one is judged at once.
    pub(crate) bench: Option<Bench>,
}

/// How long a worker has nothing to do, unless something comes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rest {
    /// The present.
    from: Nanos,
    /// When it is over.
    pub(crate) until: Nanos,
}

/// One thread's connections and loop.
pub(crate) struct Worker<M> {
    setup: Arc<Setup>,
    share: Share,
    wires: Wires,
    clock: M,
    driver: Driver,

    connections: Vec<Connection>,
    slots: Slots,
    executor: Option<Executor>,
    payloads: Payloads,
    /// Where connections encode what they send.
    buffers: Buffers,
    /// Who is owed what, where a message has many receivers.
    deliveries: Option<Deliveries>,
    /// What the users of traffic know; none where there is one message.
    users: Option<Box<Users>>,
    /// Where sessions lay what they unpack.
    scratch: Scratch,
    recorder: Box<Recorder>,

    openings: Openings,
    /// When connections want to be looked at, where they say so.
    alarms: Alarms,
    turns: Turns,
    tally: Tally,
    intervals: Intervals,
    stage: Stage,
    /// When it began to open connections.
    began: Nanos,
    /// When it saw, while draining, that the run is to stop.
    asked_to_stop: Option<Nanos>,
    /// When the last wait returned.
    back: Nanos,
    next_sweep: Nanos,
}

impl<M: Machine> Worker<M> {
    pub(crate) fn new(
        setup: Arc<Setup>,
        share: Share,
        mut wires: Wires,
        clock: M,
        driver: Driver,
    ) -> Result<Self, NetError> {
        let plan = &setup.plan;
        wires.control.register(driver.waker());
        if setup.tables == Tables::PerWorker {
            driver.own_descriptors()?;
        }
        let mut recorder = Box::<Recorder>::default();
        if driver.poller_name() != setup.poller {
            // One ring more than this machine grants: the run goes on, and says so.
            let shortfall = driver.shortfall().unwrap_or_default();
            recorder.note("poller", || format!("worker {}: epoll, {shortfall}", share.worker));
        }
        let deliveries = plan.audience().map(|size| Deliveries::new(share.connections, size));
        let now = clock.now();
        let rng = fastrand::Rng::with_seed(plan.load.seed ^ (u64::from(share.place) << 32));
        let slots = slots(plan, share.connections);
        let numbered = setup.factory.is_numbered();
        let payloads = streams::payloads(&setup, &clock);
        Ok(Self {
            clock,
            driver,
            connections: (0..share.connections).map(|_| Connection::new(numbered)).collect(),
            slots,
            executor: None,
            payloads,
            buffers: Buffers::default(),
            deliveries,
            users: sessions::users(&setup, &share, wires.bench.take()),
            scratch: Scratch::new(),
            recorder,
            openings: Openings::new(share.connections, rng),
            alarms: Alarms::new(if setup.dial.is_quic() { share.connections } else { 0 }),
            turns: Turns::default(),
            tally: Tally::new(share.first_number),
            intervals: Intervals::new(plan.phases.interval, now),
            stage: Stage::Connect { deadline: now + plan.phases.connect },
            began: now,
            asked_to_stop: None,
            back: now,
            next_sweep: now,
            setup,
            share,
            wires,
        })
    }

    /// Runs to the end of the plan, and reports on the way.
    pub(crate) fn run(mut self) {
        if let Err(failure) = self.run_loop() {
            let (class, message) = failure;
            self.tell(Report::Failed { class, message });
        }
    }

    fn run_loop(&mut self) -> Result<(), (Class, String)> {
        while let Some(rest) = self.work()? {
            self.rest(rest)?;
        }
        Ok(())
    }

    /// Does what time demands, and says how long nothing more is to do; none: the plan is done.
    ///
    /// # Errors
    /// Why the run can't go on.
    pub(crate) fn work(&mut self) -> Result<Option<Rest>, (Class, String)> {
        let now = self.clock.now();
        self.hear_verdicts();
        self.close_intervals(now)?;
        if !self.advance_stage(now)? {
            self.finish(now);
            return Ok(None);
        }
        self.open_more(now);
        self.retry(now);
        self.answer_alarms(now);
        self.sweep(now);
        self.free_rested(now);
        self.say_due(now);
        self.pump(now);

        // As of the instant up to which all is sent: what fell due since does not wait.
        let wake_at = self.wake_at(now);
        let from = self.clock.now();
        // Not for long: who waits for nothing but a reply sees no pause.
        let wake_at = wake_at.min(from + LONGEST_WAIT);
        Ok(Some(Rest { from, until: if self.turns.all_are_read() { wake_at } else { from } }))
    }

    /// Waits, and does what the sockets demand.
    ///
    /// # Errors
    /// Why the run can't go on.
    pub(crate) fn rest(&mut self, Rest { from, until }: Rest) -> Result<(), (Class, String)> {
        let waited = self.driver.wait(Some((until - from).as_duration()));
        waited.map_err(|error| fatal(&error))?;
        let back = self.clock.now();
        self.intervals.look_for_pause(until.max(from), back);
        self.back = back;
        self.read_on();
        while let Some(ready) = self.driver.next() {
            self.on_ready(ready);
        }
        Ok(())
    }

    fn tell(&self, report: Report) {
        // The run is gone only after it failed itself; then nobody listens.
        let _ = self.wires.report.send((self.share.worker, report));
    }

    fn plan(&self) -> &Plan {
        &self.setup.plan
    }

    /// Connections are opened anew after so many requests, as part of an exchange.
    fn renews(&self) -> Option<u64> {
        self.plan().load.requests_per_connection
    }
}

fn fatal(error: &NetError) -> (Class, String) {
    (Class::from(error.class()), error.to_string())
}

/// The places for packs in flight that a plan gives to so many connections.
fn slots(plan: &Plan, connections: u32) -> Slots {
    let each = plan.load.depth / plan.load.pack;
    if plan.load.users.is_some() {
        return Slots::new(connections, each);
    }
    if plan.traffic.is_some() {
        return Slots::by_connection(connections, each);
    }
    let slots = match plan.load.loop_ {
        LoopPlan::Open { pacing: PacingDocument::Phased, .. } => {
            Slots::by_connection(connections, each)
        }
        LoopPlan::Closed if !plan.load.stages.is_empty() => Slots::by_connection(connections, each),
        LoopPlan::RandomBurst => Slots::without_limit(connections),
        _ => Slots::new(connections, each),
    };
    match plan.stop.requests_each {
        Some(each) => slots.with_quota(each / u64::from(plan.load.pack)),
        None => slots,
    }
}
