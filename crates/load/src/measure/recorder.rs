//! One worker's counters and histograms for one interval, and their sums.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use wiretrial_proto::Bulletin;
use wiretrial_proto::grpc::Status;

use super::figures::TrafficFigures;
use super::http2::Http2Figures;
use super::http3::Http3Figures;
use super::metrics::{self, Metric};
use super::snapshot::{Blocked, Bytes, Connections, Counters, Deliveries, Lobby};
use super::times::{Times, encode};
use super::traffic::by_name;
use super::{Arrival, Class, FlowRecord, RouteRecord, Timeline, TrafficStanding};
use crate::clock::Nanos;

/// Counters and histograms of one interval or of their sum.
#[derive(Debug, Default)]
pub struct Recorder {
    /// Messages; `in_flight`, `waiting` are set when the interval ends.
    pub sent: u64,
    ok: u64,
    /// Copies; `in_flight` is set when the interval ends.
    pub deliveries: Deliveries,
    lobby: Lobby,
    /// Messages with which connections began, and which nobody asked for.
    pub greetings: u64,
    /// Polls that were answered without an event.
    pub empty_polls: u64,
    errors: [u64; Class::ALL.len()],
    /// Replies of gRPC by the status of their call, where it has a name.
    statuses: [u64; Status::NAMED],
    /// The same of others.
    other_statuses: BTreeMap<u16, u64>,
    /// Messages of replies of gRPC that have several.
    messages: u64,
    /// Connections asked for.
    pub attempted: u64,
    /// Connections that became ready for requests.
    pub opened: u64,
    failed: [u64; Class::ALL.len()],
    closed: BTreeMap<&'static str, u64>,
    /// Bytes to and from the kernel and of the protocol.
    pub bytes: Bytes,
    /// What came in the way of messages over HTTP/2.
    pub http2: Http2Figures,
    /// The same over HTTP/3, and how QUIC carried them.
    pub http3: Http3Figures,
    /// Time in which the loop had nothing to do.
    pub idle: Nanos,
    times: [Times; metrics::COUNT],
    examples: BTreeMap<&'static str, String>,
    /// By route, as far as any was used.
    routes: Vec<RouteRecord>,
    /// By flow, as far as any has begun.
    flows: Vec<FlowRecord>,
}

/// One worker's interval, on its way to the run.
#[derive(Debug)]
pub struct IntervalRecord {
    /// Index of the interval.
    pub index: u64,
    /// What happened in it.
    pub recorder: Box<Recorder>,
    /// Messages in flight at its end.
    pub in_flight: u64,
    /// Copies in flight at its end.
    pub deliveries_in_flight: u64,
    /// Messages due and not sent at its end.
    pub waiting: u64,
    /// Messages given up, so far.
    pub dropped: u64,
    /// Connections ready at its end.
    pub open: u64,
    /// The worker came to its end so late that its times can't be trusted.
    pub disturbed: bool,
    /// Time that the worker's thread was runnable and not running, so far.
    pub run_queue_ns: u64,
    /// The same of traffic; empty where there is none.
    pub traffic: TrafficStanding,
}

impl Recorder {
    /// So many replies with the same timeline came whole and were right. Open loop: their response
    /// time counts too.
    pub fn replies(&mut self, timeline: &Timeline, count: u32, open_loop: bool) {
        debug_assert!(timeline.is_ordered(), "{timeline:?}");
        self.ok += u64::from(count);
        let mut record = |metric: Metric, value| self.times[metric as usize].record(value, count);
        record(Metric::ServiceTime, timeline.service_time());
        record(Metric::FirstByteTime, timeline.first_byte_time());
        if open_loop {
            record(Metric::ResponseTime, timeline.response_time());
        }
    }

    /// An event of a stream was right, and another one is awaited.
    pub fn event(&mut self) {
        self.ok += 1;
        self.sent += 1;
    }

    /// So many events were left out of a stream.
    pub fn missing(&mut self, events: u64) {
        self.sent += events;
        self.errors[Class::Missing as usize] += events;
    }

    /// A message was sent that nobody answers: nothing is timed.
    pub fn handed_over(&mut self) {
        self.ok += 1;
    }

    /// So many messages were sent, open loop: how late?
    pub fn lag(&mut self, lag: Nanos, count: u32) {
        self.times[Metric::PacingLag as usize].record(lag, count);
    }

    /// One receiver's copy of a message came.
    pub fn delivery(&mut self, arrival: Arrival, done: Nanos) {
        let deliveries = &mut self.deliveries;
        let due = match arrival {
            Arrival::Right(due) => {
                deliveries.ok += 1;
                due
            }
            Arrival::OutOfOrder(due) => {
                deliveries.out_of_order += 1;
                due
            }
            Arrival::Mismatch => {
                deliveries.mismatch += 1;
                return;
            }
            Arrival::Duplicate => {
                deliveries.duplicate += 1;
                return;
            }
            Arrival::Unowed | Arrival::Unknown => return,
        };
        self.record(Metric::DeliveryTime, done - due);
    }

    /// The lobby was told.
    pub fn bulletin(&mut self, bulletin: &Bulletin) {
        let lobby = &mut self.lobby;
        lobby.missing += u64::from(bulletin.missed);
        let count = match bulletin {
            Bulletin { late: true, .. } => &mut lobby.out_of_order,
            Bulletin { intact: false, .. } => &mut lobby.mismatch,
            _ => &mut lobby.ok,
        };
        *count += 1;
    }

    /// A reply of gRPC came, with this status of its call.
    #[inline]
    pub fn status(&mut self, status: u16) {
        match self.statuses.get_mut(usize::from(status)) {
            Some(count) => *count += 1,
            None => *self.other_statuses.entry(status).or_default() += 1,
        }
    }

    /// So many messages of a reply of gRPC came together, so long after the one before them.
    pub fn messages(&mut self, count: u32, since: Nanos) {
        self.messages += u64::from(count);
        if count > 0 {
            self.record(Metric::MessageTime, since);
        }
        if count > 1 {
            self.times[Metric::MessageTime as usize].record(Nanos::ZERO, count - 1);
        }
    }

    /// A message failed after `elapsed`.
    pub fn failure(&mut self, class: Class, elapsed: Nanos) {
        self.errors[class as usize] += 1;
        self.record(Metric::FailedTime, elapsed);
    }

    /// An attempt to connect failed.
    pub fn connection_failed(&mut self, class: Class) {
        self.failed[class as usize] += 1;
    }

    /// A connection ended that had been ready.
    pub fn connection_closed(&mut self, reason: &'static str) {
        *self.closed.entry(reason).or_default() += 1;
    }

    /// Keeps the first excerpt of each class, for people.
    pub fn example(&mut self, class: Class, text: impl FnOnce() -> String) {
        self.note(class.name(), text);
    }

    /// Keeps the first text about connections that ended for this reason, for people.
    pub fn note(&mut self, reason: &'static str, text: impl FnOnce() -> String) {
        self.examples.entry(reason).or_insert_with(text);
    }

    /// Records one value of a metric.
    pub fn record(&mut self, metric: Metric, value: Nanos) {
        self.times[metric as usize].record(value, 1);
    }

    /// The record of this route.
    pub fn route(&mut self, index: usize) -> &mut RouteRecord {
        at(&mut self.routes, index)
    }

    /// The record of this flow.
    pub fn flow(&mut self, index: usize) -> &mut FlowRecord {
        at(&mut self.flows, index)
    }

    /// The histogram of a metric; none: nothing was recorded.
    pub fn histogram(&self, metric: Metric) -> Option<Cow<'_, Histogram<u64>>> {
        self.times[metric as usize].histogram()
    }

    /// Adds what another recorder holds.
    pub fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.ok += other.ok;
        self.deliveries.add(&other.deliveries);
        self.greetings += other.greetings;
        self.empty_polls += other.empty_polls;
        self.lobby.add(&other.lobby);
        self.attempted += other.attempted;
        self.opened += other.opened;
        self.http2.add(&other.http2);
        self.http3.add(&other.http3);
        self.bytes.add(&other.bytes);
        for index in 0..Class::ALL.len() {
            self.errors[index] += other.errors[index];
            self.failed[index] += other.failed[index];
        }
        for (mine, theirs) in self.statuses.iter_mut().zip(&other.statuses) {
            *mine += theirs;
        }
        for (status, count) in &other.other_statuses {
            *self.other_statuses.entry(*status).or_default() += count;
        }
        self.messages += other.messages;
        for (reason, count) in &other.closed {
            *self.closed.entry(reason).or_default() += count;
        }
        for (class, text) in &other.examples {
            self.examples.entry(class).or_insert_with(|| text.clone());
        }
        for (mine, theirs) in self.times.iter_mut().zip(&other.times) {
            mine.add(theirs);
        }
        for (index, route) in other.routes.iter().enumerate() {
            self.route(index).add(route);
        }
        for (index, flow) in other.flows.iter().enumerate() {
            self.flow(index).add(flow);
        }
    }

    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        let mut times = std::mem::take(&mut self.times);
        times.iter_mut().for_each(Times::clear);
        let (mut routes, mut flows) =
            (std::mem::take(&mut self.routes), std::mem::take(&mut self.flows));
        routes.iter_mut().for_each(RouteRecord::clear);
        flows.iter_mut().for_each(FlowRecord::clear);
        *self = Self { times, routes, flows, ..Self::default() };
    }

    /// As counted in snapshots.
    pub fn counters(&self, in_flight: u64, waiting: u64, dropped: u64) -> Counters {
        Counters {
            sent: self.sent,
            ok: self.ok,
            errors: by_name(&self.errors),
            in_flight,
            waiting,
            dropped,
            deliveries: self.deliveries,
            lobby: self.lobby,
            greetings: self.greetings,
            // Only its run knows whether anybody polls.
            empty_polls: None,
            statuses: self.statuses(),
            messages: self.messages,
        }
    }

    fn statuses(&self) -> BTreeMap<String, u64> {
        let named = self.statuses.iter().zip(0..).map(|(count, status)| (status, *count));
        let others = self.other_statuses.iter().map(|(status, count)| (*status, *count));
        let all = named.chain(others).filter(|(_, count)| *count > 0);
        all.map(|(status, count)| (Status(status).to_string(), count)).collect()
    }

    /// As counted in snapshots.
    pub fn connections(&self, open: u64) -> Connections {
        Connections {
            attempted: self.attempted,
            opened: self.opened,
            failed: by_name(&self.failed),
            closed: self.closed.iter().map(|(reason, n)| ((*reason).to_owned(), *n)).collect(),
            open,
        }
    }

    /// The first excerpt per class.
    pub fn examples(&self) -> BTreeMap<String, String> {
        self.examples.iter().map(|(class, text)| ((*class).to_owned(), text.clone())).collect()
    }

    /// Of so many routes and flows, as they stand at the end; of a whole run with examples.
    pub fn traffic(
        &self,
        (routes, flows): (usize, usize),
        standing: &TrafficStanding,
        examples: bool,
    ) -> TrafficFigures {
        let at = |counts: &[u64], index| counts.get(index).copied().unwrap_or_default();
        let (no_route, no_flow) = (RouteRecord::default(), FlowRecord::default());
        let route = |index| {
            let record = self.routes.get(index).unwrap_or(&no_route);
            let blocked = at(&standing.blocked, index);
            let mut figures = record.figures(at(&standing.in_flight, index), blocked);
            if examples {
                figures.examples = record.examples();
            }
            figures
        };
        let flow =
            |index| self.flows.get(index).unwrap_or(&no_flow).figures(at(&standing.open, index));
        TrafficFigures {
            routes: (0..routes).map(route).collect(),
            flows: (0..flows).map(flow).collect(),
            waiting: standing.waiting,
            dropped: standing.dropped,
        }
    }

    /// The first route of which a message has failed, how, and what people are told of it.
    pub fn first_failure(&self) -> Option<(usize, Class, String)> {
        let failures = self.routes.iter().map(RouteRecord::failed);
        let (route, failure) = failures.enumerate().find_map(|(at, it)| Some((at, it?)))?;
        Some((route, failure.0, failure.1))
    }

    /// All histograms that hold something, as they go into snapshots.
    pub fn encoded_histograms(&self) -> BTreeMap<String, String> {
        metrics::TABLE
            .iter()
            .filter_map(|(metric, name, _)| {
                Some(((*name).to_owned(), encode(&*self.histogram(*metric)?)))
            })
            .collect()
    }

    /// What stalls kept a closed loop from sending: the time of all exchanges that took more
    /// than ten times the median, and more than 10 ms. Their slots could send nothing meanwhile.
    pub fn blocked(&self) -> Blocked {
        let Some(times) = self.histogram(Metric::ServiceTime) else {
            return Blocked::default();
        };
        let threshold_ns = (10 * times.value_at_quantile(0.5)).max(10_000_000);
        let mut blocked = Blocked { threshold_ns, ..Blocked::default() };
        for bucket in times.iter_recorded().filter(|b| b.value_iterated_to() > threshold_ns) {
            let count = bucket.count_at_value();
            blocked.exchanges += count;
            let value = bucket.value_iterated_to().min(times.max());
            blocked.slot_ns = blocked.slot_ns.saturating_add(count.saturating_mul(value));
        }
        blocked
    }
}

/// The one with this index, which comes to be with those before it.
fn at<T: Default>(all: &mut Vec<T>, index: usize) -> &mut T {
    if all.len() <= index {
        all.resize_with(index + 1, T::default);
    }
    &mut all[index]
}

#[cfg(test)]
mod tests;
