//! One world: workers, their run and their peers on one thread, in virtual time.
//!
//! Knows whose turn it is. Must not judge what comes of it: that is `checks`'.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError};

use wiretrial_net::Driver;
use wiretrial_net::simulation::{Network, Peers};

use super::facts::{Facts, Witness};
use super::peers::Crowd;
use super::scenario::Scenario;
use super::spoken::{Right, Spoken};
use crate::clock::{Clock, Nanos};
use crate::control::{Control, Report};
use crate::emit::{Emit, Ndjson};
use crate::judging::{Judge, bench};
use crate::machine::Machine;
use crate::measure::Recorder;
use crate::measure::snapshot::{Snapshot, Summary};
use crate::plan::Scheme;
use crate::preflight::{Setup, Tables, dial_from, reach, routes};
use crate::protocol::ProtocolFactory;
use crate::run::{Oversight, shares};
use crate::source::Verifier;
use crate::worker::{Rest, Wires, Worker};

/// More turns than this, and the run does not end.
const MOST_TURNS: u64 = 2_000_000;
/// More turns than this, one after the other, that had no rest and nothing to do are a spin.
const MOST_IDLE_TURNS: u64 = 1_000;

/// What came of a world.
#[derive(Debug)]
pub(super) struct Played {
    /// All lines, as they were written.
    pub(super) bytes: Vec<u8>,
    pub(super) snapshots: Vec<Snapshot>,
    pub(super) summary: Summary,
    pub(super) facts: Facts,
    pub(super) begin: Option<Nanos>,
    /// When each worker sent no more.
    pub(super) load_ended: Vec<Nanos>,
    /// Open loop: messages of all workers that were due before and at the end of their load.
    pub(super) due: Option<(u64, u64)>,
    /// By worker and slot: it had sent all that it ever would.
    pub(super) spent: Vec<Vec<bool>>,
    pub(super) open_sockets: usize,
    pub(super) turns: u64,
}

/// The clock of a world, and what its machine says of itself.
#[derive(Debug, Clone)]
struct Virtual(Network);

impl Clock for Virtual {
    fn now(&self) -> Nanos {
        Nanos(self.0.read_clock())
    }
}

impl Machine for Virtual {
    fn thread_cpu_ns(&self) -> u64 {
        self.0.worked()
    }

    fn thread_run_queue_ns(&self) -> u64 {
        0
    }

    fn process_cpu_ns(&self) -> (u64, u64) {
        (self.0.worked(), 0)
    }

    fn peak_rss_bytes(&self) -> u64 {
        0
    }

    fn identity(&self) -> (String, u64) {
        (String::new(), 0)
    }
}

/// Keeps snapshots, and writes them as a normal run does.
#[derive(Default)]
struct Tape {
    bytes: Vec<u8>,
    snapshots: Vec<Snapshot>,
}

impl Emit for Tape {
    fn emit(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        self.snapshots.push(snapshot.clone());
        Ndjson(&mut self.bytes).emit(snapshot)
    }
}

/// A worker, and for how long it has nothing to do; none: it is done.
struct Actor {
    worker: Worker<Virtual>,
    rest: Option<Rest>,
    recycle: Sender<Box<Recorder>>,
}

/// Plays a scenario to its end.
///
/// # Errors
/// What must hold in every turn and did not.
pub(super) fn play(scenario: &Scenario) -> Result<Played, String> {
    let witness = Witness::default();
    let crowd = Crowd::new(scenario.manners.clone(), Arc::clone(&witness));
    play_among(scenario, Box::new(crowd), &witness)
}

/// The same among these peers.
///
/// # Errors
/// As there.
pub(super) fn play_among(
    scenario: &Scenario,
    peers: Box<dyn Peers>,
    witness: &Witness,
) -> Result<Played, String> {
    let network = Network::new(scenario.nature.clone(), peers);
    let setup = Arc::new(setup(scenario));
    let control = Arc::new(Control::default());
    let (report, reports) = channel();
    let mut actors = Vec::new();
    let shares = shares(&setup.plan);
    let deep = setup.routes.as_ref().filter(|routes| routes.are_deep());
    let (judge, benches) = deep.map(|routes| bench(routes, shares.len())).unzip();
    let mut benches = benches.into_iter().flatten();
    for share in shares {
        let (recycle, recycled) = channel();
        let (control, report, bench) = (Arc::clone(&control), report.clone(), benches.next());
        let wires = Wires { control, report, recycled, bench };
        let driver = Driver::simulated(&network).map_err(|error| error.to_string())?;
        let clock = Virtual(network.clone());
        let worker = Worker::new(Arc::clone(&setup), share, wires, clock, driver)
            .map_err(|error| error.to_string())?;
        actors.push(Actor { worker, rest: None, recycle });
    }
    let mut tape = Tape::default();
    let clock = Virtual(network.clone());
    let oversight = Oversight::new(&setup.plan, &control, clock, &mut tape);
    let mut stage = Stage {
        network: &network,
        control: &control,
        reports,
        stop_at: scenario.stop_at,
        judge,
        judges_once_in: scenario.judges_once_in,
        latest_end: scenario.latest_end().0,
        load_ended: vec![Nanos::ZERO; actors.len()],
        turns: 0,
        idle_turns: 0,
        woken: false,
    };
    let summary = stage.run(&mut actors, oversight)?;
    let facts = witness.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let due = |before: Nanos| {
        let all = actors.iter().zip(&stage.load_ended);
        all.map(|(actor, &end)| actor.worker.due_by(end - before)).sum::<Option<u64>>()
    };
    Ok(Played {
        due: due(Nanos(1)).zip(due(Nanos::ZERO)),
        spent: actors.iter().map(|actor| actor.worker.spent()).collect(),
        begin: control.begin(),
        load_ended: stage.load_ended,
        turns: stage.turns,
        open_sockets: network.open_sockets(),
        bytes: tape.bytes,
        snapshots: tape.snapshots,
        summary,
        facts,
    })
}

/// What the preflight would have found.
fn setup(scenario: &Scenario) -> Setup {
    let plan = scenario.plan.clone();
    let routes = routes(&plan);
    let factory = match scenario.manners.spoken {
        Spoken::Multiplexed => ProtocolFactory::Multiplexed,
        _ => ProtocolFactory::new(&plan, routes.as_deref()).expect("a plan that can be run"),
    };
    let verifier = match scenario.manners.right {
        Right::Learned(content) => Verifier::learned(content, false),
        Right::Routes | Right::Talk => Verifier::Any,
        _ => Verifier::new(&plan.target.expect.content),
    };
    Setup {
        addresses: vec![([127, 0, 0, 1], 9).into()],
        kind: factory.reply_kind().filter(|_| verifier.is_exact()),
        status: (plan.target.url.scheme == Scheme::Http).then_some(plan.target.expect.status),
        dial: dial_from(Some(scenario.nature.seed), &plan).expect("settings"),
        factory,
        verifier,
        reply_bytes: 0,
        learned: None,
        tls_description: None,
        http: None,
        congestion: None,
        deflate: None,
        poller: "simulated",
        poller_shortfall: None,
        tables: Tables::Shared,
        routes,
        reach: reach(&plan),
        started_unix_ns: 0,
        plan,
    }
}

/// Where workers take their turns.
struct Stage<'w> {
    network: &'w Network,
    control: &'w Control,
    reports: Receiver<(u32, Report)>,
    stop_at: Option<u64>,
    judge: Option<Judge>,
    judges_once_in: u64,
    latest_end: u64,
    load_ended: Vec<Nanos>,
    turns: u64,
    /// Turns in a row that began at once, with nothing ready.
    idle_turns: u64,
    /// The load was begun since the last turn: every worker wakes.
    woken: bool,
}

impl Stage<'_> {
    fn run(
        &mut self,
        actors: &mut [Actor],
        mut oversight: Oversight<'_, Virtual, Tape>,
    ) -> Result<Summary, String> {
        for actor in &mut *actors {
            self.work(actor)?;
        }
        self.hear(actors, &mut oversight)?;
        while actors.iter().any(|actor| actor.rest.is_some()) {
            self.turns += 1;
            let now = self.network.now();
            if self.turns > MOST_TURNS || now > self.latest_end {
                return Err(format!("it does not end: {} turns, {now} ns", self.turns));
            }
            if self.stop_at.take_if(|at| *at <= now).is_some() {
                self.control.stop();
                self.woken = true;
            }
            self.turn(actors)?;
            if self.judges_once_in > 0 && self.turns.is_multiple_of(self.judges_once_in) {
                self.judge.as_ref().map(Judge::next);
            }
            self.hear(actors, &mut oversight)?;
        }
        if !oversight.is_over() {
            return Err("all workers are done, and the run is not over".to_owned());
        }
        oversight.conclude().map_err(|error| error.to_string())
    }

    /// Those that have something to do, or whose rest is over, take their turn.
    fn turn(&mut self, actors: &mut [Actor]) -> Result<(), String> {
        let rests = actors.iter().filter_map(|actor| actor.rest);
        let until = rests.map(|rest| rest.until.0).min().unwrap_or_default();
        let woken = std::mem::take(&mut self.woken);
        let is_ready = (0..actors.len() as u32).any(|driver| self.network.is_ready(driver));
        let is_idle = until <= self.network.now() && !is_ready && !woken;
        self.idle_turns = if is_idle { self.idle_turns + 1 } else { 0 };
        if self.idle_turns > MOST_IDLE_TURNS {
            return Err(format!("it spins: it asks to be woken at {until} ns, which has passed"));
        }
        // One worker alone passes the time in its own wait.
        let is_alone = actors.len() == 1;
        if !woken && !is_alone {
            self.network.pass_until_ready(until);
        }
        let now = self.network.now();
        for (number, actor) in actors.iter_mut().enumerate() {
            let Some(rest) = actor.rest else { continue };
            let is_due = rest.until.0 <= now || self.network.is_ready(number as u32);
            if !(woken || is_alone || is_due) {
                continue;
            }
            self.network.wait_until_at_most(until);
            actor.worker.rest(rest).map_err(|(_, text)| text)?;
            self.work(actor)?;
        }
        Ok(())
    }

    fn work(&self, actor: &mut Actor) -> Result<(), String> {
        actor.rest = actor.worker.work().map_err(|(_, text)| text)?;
        if actor.rest.is_some() {
            actor.worker.inspect(Nanos(self.network.now()))?;
        }
        Ok(())
    }

    fn hear(
        &mut self,
        actors: &[Actor],
        oversight: &mut Oversight<'_, Virtual, Tape>,
    ) -> Result<(), String> {
        while let Ok((worker, report)) = self.reports.try_recv() {
            if let Report::LoadEnded { at, .. } = report {
                self.load_ended[worker as usize] = at;
            }
            let begun = self.control.begin().is_some();
            let used = oversight.hear(worker, report).map_err(|error| error.to_string())?;
            self.woken |= !begun && self.control.begin().is_some();
            if let Some(mut recorder) = used {
                recorder.clear();
                // A worker that is done needs none.
                let _ = actors[worker as usize].recycle.send(recorder);
            }
        }
        Ok(())
    }
}
