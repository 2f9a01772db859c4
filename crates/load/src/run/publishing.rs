//! Beside the load: who publishes what all of its streams have to tell.
//!
//! Knows when that begins, and sums up what its worker reports. Must not know what an event is. The worker and its
//! connection are none of the load's: what they count stands apart.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use wiretrial_net::machine::{pin_current_thread, set_timer_slack_min};
use wiretrial_net::{Driver, NetError};

use super::{RunError, no_thread};
use crate::clock::{Monotonic, Nanos};
use crate::control::{Control, Report};
use crate::executor::Budget;
use crate::measure::snapshot::Published;
use crate::measure::{Class, Recorder};
use crate::plan::Plan;
use crate::preflight::{Refusal, Setup, driver_config, prepare};
use crate::worker::{Share, Wires, Worker};

/// A class, and a line for people.
type Failed = (Class, String);

/// Somebody who publishes.
pub(super) struct Publishing(JoinHandle<Result<Published, Failed>>);

/// Makes ready who publishes beside this load, and proves by one event, which nobody hears, that it can; none: nobody
/// is to.
///
/// # Errors
/// What was wrong.
pub(super) fn publisher(
    heard: &Setup,
    clock: Monotonic,
    started_unix_ns: u64,
    control: &Control,
) -> Result<Option<Arc<Setup>>, Refusal> {
    let Some(own) = heard.plan.of_publisher() else { return Ok(None) };
    let setup = prepare(own, None, &clock, started_unix_ns, control, true)?;
    // Who hears them has to know which of them were not confirmed.
    Ok(Some(Arc::new(Setup { reach: heard.reach.clone(), ..setup })))
}

impl Publishing {
    /// Begins to publish when the load of `plan` has begun and its streams have settled.
    ///
    /// # Errors
    /// There is no thread for it.
    pub(super) fn begin(
        setup: Arc<Setup>,
        plan: &Plan,
        control: &Arc<Control>,
        clock: Monotonic,
    ) -> Result<Self, RunError> {
        let settle = plan.publish.as_ref().map(|publish| publish.settle()).unwrap_or_default();
        let receivers = u64::from(plan.receivers());
        // Behind those of the workers, if there is one more.
        let cpus = &plan.generator.cpus;
        let cpu = cpus.get(plan.generator.threads as usize % cpus.len().max(1)).copied();
        let control = Arc::clone(control);
        let thread = std::thread::Builder::new()
            .name("publisher".to_owned())
            .spawn(move || {
                let published = pin_current_thread(cpu.as_slice())
                    .map_err(|error| failed(&error))
                    .and_then(|()| publish(setup, settle, clock, &control));
                if published.is_err() {
                    // Its load has nothing to tell.
                    control.stop();
                }
                published.map(|published| Published { receivers, ..published })
            })
            .map_err(|error| no_thread("the publisher's", &error))?;
        Ok(Self(thread))
    }

    /// Waits for its end, and says what was published.
    ///
    /// # Errors
    /// Why it could not go on.
    pub(super) fn end(self) -> Result<Published, RunError> {
        let lost = || (Class::Client, "who publishes stopped reporting".to_owned());
        let published = self.0.join().unwrap_or_else(|_| Err(lost()));
        published.map_err(|(class, message)| RunError::Worker {
            class,
            message: format!("publishing: {message}"),
        })
    }
}

fn failed(error: &NetError) -> Failed {
    (Class::from(error.class()), error.to_string())
}

/// Publishes to the end of the plan, or until the run is stopped.
fn publish(
    setup: Arc<Setup>,
    settle: Nanos,
    clock: Monotonic,
    control: &Control,
) -> Result<Published, Failed> {
    set_timer_slack_min();
    let driver = Driver::new(&driver_config(&setup.plan)).map_err(|error| failed(&error))?;
    let (report, reports) = channel();
    let (give_back, recycled) = channel();
    let inner = Arc::new(Control::default());
    let wires = Wires { control: Arc::clone(&inner), report, recycled, bench: None };
    let share = Share {
        worker: 0,
        place: 0,
        first_connection: 0,
        connections: 1,
        budget: Budget::UNLIMITED,
        first_number: 0,
        in_turn: false,
    };
    let worker = Worker::new(setup, share, wires, clock, driver);
    let mut worker = worker.map_err(|error| failed(&error))?;
    let mut sum = Sum::default();
    while let Some(rest) = worker.work()? {
        if inner.begin().is_none()
            && let Some(begin) = control.begin()
        {
            inner.set_begin(begin + settle);
        }
        if control.is_stopping() {
            inner.stop();
        }
        worker.rest(rest)?;
        sum.hear(&reports, &give_back);
    }
    sum.hear(&reports, &give_back);
    worker.leave_in_flight();
    Ok(sum.published())
}

/// What the worker has reported so far.
#[derive(Default)]
struct Sum {
    recorder: Recorder,
    in_flight: u64,
    waiting: u64,
    dropped: u64,
}

impl Sum {
    fn hear(&mut self, reports: &Receiver<(u32, Report)>, give_back: &Sender<Box<Recorder>>) {
        for (_, report) in reports.try_iter() {
            let Report::Interval(record) = report else { continue };
            let mut recorder = record.recorder;
            self.recorder.add(&recorder);
            (self.in_flight, self.waiting) = (record.in_flight, record.waiting);
            self.dropped = record.dropped;
            recorder.clear();
            // A worker that is done needs none.
            let _ = give_back.send(recorder);
        }
    }

    fn published(&self) -> Published {
        Published {
            receivers: 0,
            counters: self.recorder.counters(self.in_flight, self.waiting, self.dropped),
            undelivered: 0,
            unconfirmed: 0,
            examples: self.recorder.examples(),
            histograms: self.recorder.encoded_histograms(),
        }
    }
}
