//! Runs a plan and hands over all that was emitted, within a bound of time.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde_json::Value;
use wiretrial_load::emit::Emit;
use wiretrial_load::measure::snapshot::{Deliveries, Interval, Snapshot, Start, Summary};
use wiretrial_load::plan::Plan;
use wiretrial_load::{Control, RunError};

/// A run that takes longer hangs: no plan of these tests has so much to do.
const LONGEST: Duration = Duration::from_secs(60);

/// What a run emitted.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) start: Start,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) summary: Summary,
}

/// Runs a plan to its end.
pub(crate) fn run(plan: &Value) -> Result<Outcome, RunError> {
    run_with(plan, &Arc::default())
}

/// Runs a plan that has to come to its end, with sums that are right.
pub(crate) fn checked(plan: &Value) -> Outcome {
    let outcome = run(plan).expect("the run ends");
    outcome.check_sums();
    outcome
}

/// Runs a plan that somebody may stop.
pub(crate) fn run_with(plan: &Value, control: &Arc<Control>) -> Result<Outcome, RunError> {
    run_until(plan, control, |_| false)
}

/// Runs a plan until this is true of the intervals so far, or to its end.
pub(crate) fn run_until(
    plan: &Value,
    control: &Arc<Control>,
    enough: impl Fn(&[Interval]) -> bool + Send + 'static,
) -> Result<Outcome, RunError> {
    let text = plan.to_string();
    let plan = Plan::from_json(&text).expect("a right plan");
    let control = Arc::clone(control);
    let (ended, end) = channel();
    let runner = std::thread::spawn(move || {
        let stop = Arc::clone(&control);
        let mut kept = Kept { start: None, intervals: Vec::new(), enough, stop };
        let summary = wiretrial_load::run(plan, &control, &mut kept);
        // Nobody listens once the watchdog has barked.
        let _ = ended.send(summary.map(|summary| Outcome {
            start: kept.start.expect("the first line"),
            intervals: kept.intervals,
            summary,
        }));
    });
    let outcome = end.recv_timeout(LONGEST);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}: no end of {text}"));
    runner.join().expect("joined");
    outcome
}

struct Kept<E> {
    start: Option<Start>,
    intervals: Vec<Interval>,
    enough: E,
    stop: Arc<Control>,
}

impl<E: Fn(&[Interval]) -> bool> Emit for Kept<E> {
    fn emit(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        match snapshot {
            Snapshot::Start(start) => self.start = Some(start.clone()),
            Snapshot::Interval(interval) => {
                self.intervals.push(interval.clone());
                if (self.enough)(&self.intervals) {
                    self.stop.stop();
                }
            }
            Snapshot::Connected(_) | Snapshot::Summary(_) | Snapshot::Failure(_) => {}
        }
        Ok(())
    }
}

/// A histogram as snapshots carry it.
pub(crate) fn histogram_of(text: &str) -> Histogram<u64> {
    let bytes = BASE64_STANDARD.decode(text).expect("base64");
    Deserializer::new().deserialize(&mut bytes.as_slice()).expect("a histogram")
}

impl Outcome {
    /// Sent = ok + each error class + in flight, in the summary and over the intervals.
    pub(crate) fn check_sums(&self) {
        let counters = &self.summary.counters;
        let errors: u64 = counters.errors.values().sum();
        assert_eq!(counters.sent, counters.ok + errors + counters.in_flight, "{counters:?}");

        let sum = |field: fn(&Interval) -> u64| self.intervals.iter().map(field).sum::<u64>();
        assert_eq!(sum(|interval| interval.counters.sent), counters.sent);
        assert_eq!(sum(|interval| interval.counters.ok), counters.ok);
        assert_eq!(sum(|interval| interval.counters.errors.values().sum()), errors);
        assert_eq!(sum(|interval| interval.connections.opened), self.summary.connections.opened);
        let mut sent = 0;
        let mut done = 0;
        for Interval { index, counters, .. } in &self.intervals {
            sent += counters.sent;
            done += counters.ok + counters.errors.values().sum::<u64>();
            assert_eq!(sent, done + counters.in_flight, "interval {index}");
        }
        self.check_deliveries();
        let times = self.histogram("service_time").or_else(|| self.histogram("message_time"));
        let times = times.map_or(0, |times| times.len());
        assert_eq!(times, counters.ok, "each right reply, or event, was timed once");
    }

    /// Expected = ok + out of order + mismatch + missing + in flight, likewise.
    fn check_deliveries(&self) {
        let ended = |deliveries: &Deliveries| {
            let Deliveries { ok, out_of_order, mismatch, missing, .. } = deliveries;
            ok + out_of_order + mismatch + missing
        };
        let whole = &self.summary.counters.deliveries;
        assert_eq!(whole.expected, ended(whole) + whole.in_flight, "{whole:?}");
        let (mut expected, mut done, mut duplicate) = (0, 0, 0);
        for Interval { index, counters, .. } in &self.intervals {
            let deliveries = &counters.deliveries;
            expected += deliveries.expected;
            done += ended(deliveries);
            duplicate += deliveries.duplicate;
            assert_eq!(expected, done + deliveries.in_flight, "interval {index}");
        }
        assert_eq!((expected, done, duplicate), (whole.expected, ended(whole), whole.duplicate));
        if whole.expected == 0 {
            return;
        }
        let times = self.histogram("delivery_time").map_or(0, |times| times.len());
        assert_eq!(times, whole.ok + whole.out_of_order, "each right copy was timed once");
    }

    /// A histogram of the whole run.
    pub(crate) fn histogram(&self, name: &str) -> Option<Histogram<u64>> {
        self.summary.histograms.get(name).map(|text| histogram_of(text))
    }

    pub(crate) fn errors(&self) -> &BTreeMap<String, u64> {
        &self.summary.counters.errors
    }
}
