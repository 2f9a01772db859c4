//! One run: workers, barrier, phases, merge.
//!
//! Knows how many workers there are and what they report. Must not know sockets or
//! protocols: workers do.

mod merge;
mod oversight;
mod publishing;
mod rehearsal;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use wiretrial_net::Driver;
use wiretrial_net::clock::realtime_ns;
use wiretrial_net::machine::{pin_current_thread, set_timer_slack_min, set_turns_min};

use crate::clock::Monotonic;
use crate::control::{Control, Report};
use crate::emit::Emit;
use crate::executor::Budget;
use crate::judging::{self, Adjournment, Bench};
use crate::measure::figures::TrafficNames;
use crate::measure::snapshot::{
    Failure, Learned, Profiled, SNAPSHOT_SCHEMA, SNAPSHOT_VERSION, Snapshot, Start, Summary,
};
use crate::measure::{Class, Recorder};
use crate::plan::redaction::Secrets;
use crate::plan::{Plan, Target};
use crate::preflight::{Refusal, Setup, await_start, driver_config, prepare};
use crate::source::Payloads;
use crate::worker::{Share, Wires, Worker};

pub(crate) use oversight::Oversight;
use publishing::{Publishing, publisher};
use rehearsal::rehearse;

/// Where no worker says anything for so long they are lost: each reports its intervals, and closing.
const SILENCE: Duration = Duration::from_secs(30);

/// So many rows of data are looked through for secrets that a server may send back.
const MOST_SECRETS: usize = 1000;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It could not begin.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// A worker could not begin or go on.
    #[error("{message}")]
    Worker {
        /// How it failed.
        class: Class,
        /// One line.
        message: String,
    },
    /// The snapshots could not be written. The load was stopped.
    #[error("the output can't be written: {0}")]
    Output(#[from] io::Error),
}

/// Runs a plan to its end, or until `control` stops it, and emits snapshots on the way.
///
/// # Errors
/// The run could not begin or go on; a [`Snapshot::Failure`] was emitted then, where output still works.
pub fn run(plan: Plan, control: &Arc<Control>, emit: &mut impl Emit) -> Result<Summary, RunError> {
    let outcome = try_run(plan, control, emit);
    if let Some(failure) = outcome.as_ref().err().and_then(failure) {
        // Where this can't be written either, the failure itself is what matters.
        let _ = emit.emit(&Snapshot::Failure(failure));
    }
    outcome
}

fn try_run(plan: Plan, control: &Arc<Control>, emit: &mut impl Emit) -> Result<Summary, RunError> {
    let clock = match plan.share.start {
        None => Monotonic::start(),
        Some(origin) => await_start(&plan, Monotonic::since(origin), control)?,
    };
    let started_unix_ns = realtime_ns();
    let setup = Arc::new(prepare(plan, None, &clock, started_unix_ns, control, true)?);
    rehearse(&setup, &clock, control)?;
    let publisher = publisher(&setup, clock, started_unix_ns, control)?;
    emit.emit(&Snapshot::Start(start(&setup)))?;

    let mut crew = Crew::default();
    let outcome = crew
        .hire(&setup, publisher, control, clock)
        .and_then(|reports| oversee(&reports, &mut crew, &setup, control, clock, emit));
    if outcome.is_err() {
        control.stop();
    }
    crew.dismiss();
    outcome
}

fn start(setup: &Setup) -> Start {
    let payloads = Payloads::new(&setup.plan.target.payload);
    Start {
        schema: SNAPSHOT_SCHEMA.to_owned(),
        version: SNAPSHOT_VERSION,
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        url: setup.plan.target.url.text.clone(),
        addresses: setup.addresses.iter().map(ToString::to_string).collect(),
        started_unix_ns: setup.started_unix_ns,
        threads: setup.plan.generator.threads,
        poller: setup.poller.to_owned(),
        poller_shortfall: setup.poller_shortfall.clone(),
        request_payload_bytes: payloads.fixed_length().unwrap_or_default() as u64,
        reply_payload_bytes: setup.routes.is_none().then_some(setup.reply_bytes),
        tls: setup.tls_description.clone(),
        http: setup.http,
        header_profile: profiled(&setup.plan.target),
        insecure: setup.plan.target.tls.as_ref().is_some_and(|tls| tls.insecure),
        congestion: setup.congestion.clone(),
        deflate: setup.deflate.clone(),
        learned: setup.learned.clone().map(|learned| Learned {
            excerpt: secrets(&setup.plan).hidden_in(&learned.excerpt),
            ..learned
        }),
        traffic: setup.plan.traffic.as_ref().map(|traffic| TrafficNames {
            routes: traffic.routes.iter().map(|route| route.name.clone()).collect(),
            flows: traffic.flows.iter().map(|flow| flow.name.clone()).collect(),
        }),
    }
}

fn profiled(target: &Target) -> Option<Profiled> {
    let profile = target.profile.as_ref()?;
    Some(Profiled { profile: profile.kind, field_bytes: target.field_bytes(profile) })
}

/// What a server may send back, and an excerpt must not show.
pub(crate) fn secrets(plan: &Plan) -> Secrets {
    let mut named = plan.target.headers.clone();
    if let Some(traffic) = &plan.traffic {
        named.extend(traffic.named_texts(MOST_SECRETS));
    }
    Secrets::of(&plan.target.url.path, &named)
}

/// What a failed run says on its last line; nothing where the output itself failed.
fn failure(error: &RunError) -> Option<Failure> {
    let (class, exit_code) = match error {
        RunError::Output(_) => return None,
        RunError::Refused(Refusal::Plan(_)) => ("plan", 2),
        RunError::Refused(Refusal::Machine(_) | Refusal::Capacity(_)) => ("preflight", 1),
        RunError::Refused(Refusal::Interrupted { signal }) => {
            ("interrupted", signal.map_or(1, |signal| 128 + signal))
        }
        RunError::Worker { class: Class::Client, .. } => (Class::Client.name(), 4),
        RunError::Refused(Refusal::Target { class, .. }) | RunError::Worker { class, .. } => {
            (class.name(), 1)
        }
    };
    Some(Failure {
        schema: SNAPSHOT_SCHEMA.to_owned(),
        version: SNAPSHOT_VERSION,
        class: class.to_owned(),
        message: error.to_string(),
        exit_code,
    })
}

/// The workers of a run.
#[derive(Default)]
struct Crew {
    threads: Vec<JoinHandle<()>>,
    recyclers: Vec<Sender<Box<Recorder>>>,
    judge: Option<JoinHandle<()>>,
    adjournment: Option<Adjournment>,
    publishing: Option<Publishing>,
}

impl Crew {
    fn hire(
        &mut self,
        setup: &Arc<Setup>,
        publisher: Option<Arc<Setup>>,
        control: &Arc<Control>,
        clock: Monotonic,
    ) -> Result<Receiver<(u32, Report)>, RunError> {
        let (report, reports) = channel();
        let shares = shares(&setup.plan);
        let mut benches = self.seat_judge(setup, control, shares.len())?.into_iter();
        for share in shares {
            let (give_back, recycled) = channel();
            let (control, report, bench) = (Arc::clone(control), report.clone(), benches.next());
            let wires = Wires { control, report, recycled, bench };
            let setup = Arc::clone(setup);
            let thread = std::thread::Builder::new()
                .name(format!("worker-{}", share.worker))
                .spawn(move || work(setup, share, wires, clock))
                .map_err(|error| no_thread("a worker's", &error))?;
            self.threads.push(thread);
            self.recyclers.push(give_back);
        }
        let begun = publisher.map(|own| Publishing::begin(own, &setup.plan, control, clock));
        self.publishing = begun.transpose()?;
        Ok(reports)
    }

    /// Starts a thread that judges a sample of replies, where the plan has checks for that; gives each worker's bench.
    fn seat_judge(
        &mut self,
        setup: &Setup,
        control: &Arc<Control>,
        workers: usize,
    ) -> Result<Vec<Bench>, RunError> {
        let Some(routes) = setup.routes.as_ref().filter(|routes| routes.are_deep()) else {
            return Ok(Vec::new());
        };
        let (judge, benches) = judging::bench(routes, workers);
        self.adjournment = Some(judge.adjournment());
        let control = Arc::clone(control);
        let thread = std::thread::Builder::new()
            .name("judge".to_owned())
            .spawn(move || judge.run(|| control.wake_all()))
            .map_err(|error| no_thread("the judge's", &error))?;
        self.judge = Some(thread);
        Ok(benches)
    }

    /// Gives an emptied recorder back to its worker.
    fn recycle(&self, worker: u32, mut recorder: Box<Recorder>) {
        recorder.clear();
        // A worker that is done needs none.
        let _ = self.recyclers[worker as usize].send(recorder);
    }

    fn dismiss(self) {
        if let Some(publishing) = self.publishing {
            // The run has failed, and says why.
            let _ = publishing.end();
        }
        for thread in self.threads {
            // A worker that panicked has aborted the process or was seen as lost.
            let _ = thread.join();
        }
        if let Some(adjournment) = self.adjournment {
            adjournment.adjourn();
        }
        // What it judges now is its last; without workers nothing more comes.
        let _ = self.judge.map(JoinHandle::join);
    }
}

fn no_thread(whose: &str, error: &io::Error) -> RunError {
    let message = format!("can't start {whose} thread: {error}");
    RunError::Worker { class: Class::Client, message }
}

/// The plan, divided exactly: the sum of the shares is the plan. Who sits at one table has one worker.
pub(crate) fn shares(plan: &Plan) -> Vec<Share> {
    let threads = plan.generator.threads;
    let (all, together) = (plan.load.connections, plan.together());
    let mut given = 0;
    (0..threads)
        .map(|worker| {
            let groups = part(all.div_ceil(together).into(), worker, threads) as u32;
            let connections = (groups * together).min(all - given);
            let each = plan.stop.requests_each.map(|each| each * u64::from(connections));
            let counted = plan.stop.requests.or(plan.stop.sessions);
            let requests = counted.map(|requests| part(requests, worker, threads));
            let budget = match (requests, each) {
                (Some(requests), Some(each)) => Some(requests.min(each)),
                (requests, each) => requests.or(each),
            };
            let place = plan.share.first_worker + worker;
            let share = Share {
                worker,
                place,
                first_connection: plan.share.first_connection + given,
                connections,
                budget: budget.map_or(Budget::UNLIMITED, Budget::of),
                first_number: Share::first_number(place),
                in_turn: false,
            };
            given += connections;
            share
        })
        .collect()
}

fn part(whole: u64, index: u32, of: u32) -> u64 {
    let (index, of) = (u64::from(index), u64::from(of));
    whole / of + u64::from(index < whole % of)
}

fn work(setup: Arc<Setup>, share: Share, wires: Wires, clock: Monotonic) {
    let number = share.worker;
    let report = wires.report.clone();
    let cpus = &setup.plan.generator.cpus;
    let cpu = cpus.get(number as usize % cpus.len().max(1)).copied();
    set_timer_slack_min();
    set_turns_min();
    let worker = pin_current_thread(cpu.as_slice())
        .and_then(|()| Driver::new(&driver_config(&setup.plan)))
        .and_then(|driver| Worker::new(setup, share, wires, clock, driver));
    match worker {
        Ok(worker) => worker.run(),
        Err(error) => {
            let class = Class::from(error.class());
            let _ = report.send((number, Report::Failed { class, message: error.to_string() }));
        }
    }
}

/// Listens to the workers until all are done.
fn oversee(
    reports: &Receiver<(u32, Report)>,
    crew: &mut Crew,
    setup: &Setup,
    control: &Control,
    clock: Monotonic,
    emit: &mut impl Emit,
) -> Result<Summary, RunError> {
    let mut oversight = Oversight::new(&setup.plan, control, clock, emit);
    while !oversight.is_over() {
        // After a pause of the whole process the first wait is over before anybody could report.
        let report = reports.recv_timeout(SILENCE).or_else(|_| reports.recv_timeout(SILENCE));
        let (worker, report) = report.map_err(|_| RunError::Worker {
            class: Class::Client,
            message: "a worker stopped reporting".to_owned(),
        })?;
        if let Some(recorder) = oversight.hear(worker, report)? {
            crew.recycle(worker, recorder);
        }
    }
    if let Some(publishing) = crew.publishing.take() {
        let published = publishing.end()?;
        // All of them have heard and said what they ever will.
        let unconfirmed_came = setup.reach.as_ref().map_or(0, |reach| reach.unconfirmed_came());
        oversight.hear_of(published, unconfirmed_came);
    }
    oversight.conclude()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_whole() {
        for whole in [0, 1, 7, 100, 1_000_003] {
            for of in 1..9 {
                let sum: u64 = (0..of).map(|index| part(whole, index, of)).sum();
                assert_eq!(sum, whole);
            }
        }
    }

    #[test]
    fn engines_that_share_a_load_are_one_engine_with_the_workers_of_all() {
        let plan = |load: &str, threads: u32, share: &str| {
            let json = format!(
                r#"{{"schema": "wiretrial-plan", "version": 1, "load": {{{load}}},
                     "target": {{"url": "styx://h:1", "styx": {{"table_size": 6}}}},
                     "stop": {{"requests": 1003}}, "generator": {{"threads": {threads}}},
                     "share": {share}}}"#
            );
            Plan::from_json(&json).expect("a plan")
        };
        let seen = |plan: &Plan| -> Vec<(u32, u32, u32)> {
            let of = |share: Share| (share.place, share.first_connection, share.connections);
            shares(plan).into_iter().map(of).collect()
        };
        let whole = seen(&plan(r#""connections": 100"#, 4, "null"));
        let shared = |first_worker: u32, first: u32, own: u32| {
            let share = format!(
                r#"{{"first_worker": {first_worker}, "workers": 4, "first_connection": {first},
                     "connections": 100}}"#
            );
            seen(&plan(&format!(r#""connections": {own}"#), 2, &share))
        };
        assert_eq!([shared(0, 0, 54), shared(2, 54, 46)].concat(), whole);
    }
}
