//! What is counted and timed of routes and flows.
//!
//! Knows outcomes by index. Must not know what routes and flows are.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use super::figures::{FlowFigures, RouteFigures};
use super::metrics::Metric;
use super::times::{Times, encode};
use super::{Class, Timeline};
use crate::clock::Nanos;

/// So many kinds of messages that nobody asked for are told apart.
const MOST_KINDS: usize = 32;
/// What those behind them are counted as.
const OTHER_KINDS: &str = "others";

type Counts = [u64; Class::ALL.len()];

/// Messages of a route.
#[derive(Debug, Default)]
pub struct RouteRecord {
    sent: u64,
    ok: u64,
    errors: Counts,
    checked: u64,
    wrong: u64,
    left_out: u64,
    followed: u64,
    bytes_sent: u64,
    bytes_received: u64,
    response: Times,
    service: Times,
    blocked: Times,
    examples: BTreeMap<&'static str, String>,
}

/// Sessions of a flow.
#[derive(Debug, Default)]
pub struct FlowRecord {
    begun: u64,
    done: u64,
    failed: Counts,
    unasked: BTreeMap<String, u64>,
    iterations: Times,
    waits: Times,
}

/// What is counted at an instant, not over a time.
#[derive(Debug, Clone, Default)]
pub struct TrafficStanding {
    /// By route: messages in flight.
    pub in_flight: Vec<u64>,
    /// By route: steps that are due and wait for a connection of the pool.
    pub blocked: Vec<u64>,
    /// By flow: sessions that have begun and not ended.
    pub open: Vec<u64>,
    /// Sessions that are due and have not begun.
    pub waiting: u64,
    /// Sessions given up, so far.
    pub dropped: u64,
}

impl AddAssign<&Self> for TrafficStanding {
    fn add_assign(&mut self, other: &Self) {
        add_each(&mut self.in_flight, &other.in_flight);
        add_each(&mut self.blocked, &other.blocked);
        add_each(&mut self.open, &other.open);
        self.waiting += other.waiting;
        self.dropped += other.dropped;
    }
}

fn add_each(own: &mut Vec<u64>, others: &[u64]) {
    if own.len() < others.len() {
        own.resize(others.len(), 0);
    }
    for (own, other) in own.iter_mut().zip(others) {
        *own += other;
    }
}

impl RouteRecord {
    /// A request of so many bytes was encoded, for the first time or again.
    pub fn encoded(&mut self, bytes: u64) {
        self.bytes_sent += bytes;
    }

    /// A step that is to be sent waited so long for a connection of the pool.
    pub fn blocked(&mut self, wait: Nanos) {
        self.blocked.record(wait, 1);
    }

    /// So many messages were sent.
    pub fn sent(&mut self, messages: u32) {
        self.sent += u64::from(messages);
    }

    /// A reply of so many bytes came whole, right or wrong.
    pub fn received(&mut self, bytes: u64) {
        self.bytes_received += bytes;
    }

    /// A redirect of so many bytes was followed.
    pub fn followed(&mut self, bytes: u64) {
        self.followed += 1;
        self.bytes_received += bytes;
    }

    /// It was right. Open loop: its response time counts too.
    pub fn right(&mut self, timeline: &Timeline, open_loop: bool) {
        self.ok += 1;
        self.service.record(timeline.service_time(), 1);
        if open_loop {
            self.response.record(timeline.response_time(), 1);
        }
    }

    /// A message was sent that nobody answers: nothing is timed.
    pub fn handed_over(&mut self) {
        self.ok += 1;
    }

    /// A reply of the sample was checked beside the load.
    pub fn checked(&mut self, is_right: bool) {
        self.checked += 1;
        self.wrong += u64::from(!is_right);
    }

    /// A reply of the sample was not checked: there was no room for it, or no time.
    pub fn left_out(&mut self) {
        self.left_out += 1;
    }

    /// A message failed so, of which people are shown this.
    pub fn failure(&mut self, class: Class, text: impl FnOnce() -> String) {
        self.errors[class as usize] += 1;
        self.examples.entry(class.name()).or_insert_with(text);
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.ok += other.ok;
        self.followed += other.followed;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.checked += other.checked;
        self.wrong += other.wrong;
        self.left_out += other.left_out;
        add_counts(&mut self.errors, &other.errors);
        self.response.add(&other.response);
        self.service.add(&other.service);
        self.blocked.add(&other.blocked);
        for (class, text) in &other.examples {
            self.examples.entry(class).or_insert_with(|| text.clone());
        }
    }

    pub(super) fn clear(&mut self) {
        let [mut response, mut service, mut blocked] =
            [&mut self.response, &mut self.service, &mut self.blocked].map(std::mem::take);
        response.clear();
        service.clear();
        blocked.clear();
        *self = Self { response, service, blocked, ..Self::default() };
    }

    pub(super) fn figures(&self, in_flight: u64, blocked: u64) -> RouteFigures {
        let times = [
            (Metric::ResponseTime, &self.response),
            (Metric::ServiceTime, &self.service),
            (Metric::BlockedTime, &self.blocked),
        ];
        RouteFigures {
            sent: self.sent,
            ok: self.ok,
            errors: by_name(&self.errors),
            in_flight,
            checked: self.checked,
            wrong: self.wrong,
            left_out: self.left_out,
            followed: self.followed,
            blocked,
            bytes_sent: self.bytes_sent,
            bytes_received: self.bytes_received,
            examples: BTreeMap::new(),
            histograms: encoded(times),
        }
    }

    /// A class in which messages have failed, and what people are told of it.
    pub(super) fn failed(&self) -> Option<(Class, String)> {
        let class = Class::ALL.into_iter().find(|class| self.errors[*class as usize] > 0)?;
        Some((class, self.examples.get(class.name()).cloned().unwrap_or_default()))
    }

    /// The first excerpt per class.
    pub(super) fn examples(&self) -> BTreeMap<String, String> {
        self.examples.iter().map(|(class, text)| ((*class).to_owned(), text.clone())).collect()
    }
}

impl FlowRecord {
    /// A session begins that was due so long ago.
    pub fn begun(&mut self, wait: Nanos) {
        self.begun += 1;
        self.waits.record(wait, 1);
    }

    /// So many were due for which no row of data was left.
    pub fn starved(&mut self, sessions: u64) {
        self.begun += sessions;
        self.failed[Class::Feed as usize] += sessions;
    }

    /// A session that was due so long ago has ended with its last step.
    pub fn done(&mut self, since_due: Nanos) {
        self.done += 1;
        self.iterations.record(since_due, 1);
    }

    /// So many messages of this kind came that nothing awaited matches.
    pub fn unasked(&mut self, kind: &str, messages: u64) {
        let is_known = self.unasked.contains_key(kind) || self.unasked.len() < MOST_KINDS;
        let kind = if is_known { kind } else { OTHER_KINDS };
        *self.unasked.entry(kind.to_owned()).or_default() += messages;
    }

    /// A session has ended with a step that failed.
    pub fn failed(&mut self, class: Class) {
        self.failed[class as usize] += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.begun += other.begun;
        self.done += other.done;
        add_counts(&mut self.failed, &other.failed);
        other.unasked.iter().for_each(|(kind, messages)| self.unasked(kind, *messages));
        self.iterations.add(&other.iterations);
        self.waits.add(&other.waits);
    }

    pub(super) fn clear(&mut self) {
        let (mut iterations, mut waits) =
            (std::mem::take(&mut self.iterations), std::mem::take(&mut self.waits));
        iterations.clear();
        waits.clear();
        *self = Self { iterations, waits, ..Self::default() };
    }

    pub(super) fn figures(&self, open: u64) -> FlowFigures {
        let times = [(Metric::IterationTime, &self.iterations), (Metric::SessionWait, &self.waits)];
        FlowFigures {
            begun: self.begun,
            done: self.done,
            failed: by_name(&self.failed),
            unasked: self.unasked.clone(),
            open,
            histograms: encoded(times),
        }
    }
}

fn add_counts(own: &mut Counts, others: &Counts) {
    for (own, other) in own.iter_mut().zip(others) {
        *own += other;
    }
}

/// The counts that are not zero, by the name of their class.
pub(super) fn by_name(counts: &Counts) -> BTreeMap<String, u64> {
    let named = Class::ALL.iter().map(|class| (class.name().to_owned(), counts[*class as usize]));
    named.filter(|(_, count)| *count > 0).collect()
}

fn encoded<const N: usize>(times: [(Metric, &Times); N]) -> BTreeMap<String, String> {
    let all = times.into_iter();
    all.filter_map(|(metric, times)| Some((metric.name().to_owned(), encode(&*times.histogram()?))))
        .collect()
}
