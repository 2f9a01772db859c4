//! One worker's counters and histograms for one interval, and their sums.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use wiretrial_proto::Bulletin;

use super::metrics::{self, Metric};
use super::snapshot::{Blocked, Bytes, Connections, Counters, Deliveries, Lobby};
use super::times::Times;
use super::{Arrival, Class, Timeline};
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
    errors: [u64; Class::ALL.len()],
    /// Connections asked for.
    pub attempted: u64,
    /// Connections that became ready for requests.
    pub opened: u64,
    failed: [u64; Class::ALL.len()],
    closed: BTreeMap<&'static str, u64>,
    /// Bytes to and from the kernel and of the protocol.
    pub bytes: Bytes,
    /// Time in which the loop had nothing to do.
    pub idle: Nanos,
    times: [Times; metrics::COUNT],
    examples: BTreeMap<&'static str, String>,
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
        self.lobby.ok += other.lobby.ok;
        self.lobby.mismatch += other.lobby.mismatch;
        self.lobby.out_of_order += other.lobby.out_of_order;
        self.lobby.missing += other.lobby.missing;
        self.attempted += other.attempted;
        self.opened += other.opened;
        self.bytes.sent += other.bytes.sent;
        self.bytes.received += other.bytes.received;
        self.bytes.application_sent += other.bytes.application_sent;
        self.bytes.application_received += other.bytes.application_received;
        self.bytes.payload_sent += other.bytes.payload_sent;
        self.bytes.payload_received += other.bytes.payload_received;
        for index in 0..Class::ALL.len() {
            self.errors[index] += other.errors[index];
            self.failed[index] += other.failed[index];
        }
        for (reason, count) in &other.closed {
            *self.closed.entry(reason).or_default() += count;
        }
        for (class, text) in &other.examples {
            self.examples.entry(class).or_insert_with(|| text.clone());
        }
        for (mine, theirs) in self.times.iter_mut().zip(&other.times) {
            mine.add(theirs);
        }
    }

    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        let mut times = std::mem::take(&mut self.times);
        times.iter_mut().for_each(Times::clear);
        *self = Self { times, ..Self::default() };
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
        }
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

fn by_name(counts: &[u64; Class::ALL.len()]) -> BTreeMap<String, u64> {
    let named = Class::ALL.iter().map(|class| (class.name().to_owned(), counts[*class as usize]));
    named.filter(|(_, count)| *count > 0).collect()
}

fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    // Writing into a Vec fails only if a count exceeds i64::MAX.
    let written = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    debug_assert!(written.is_ok());
    BASE64_STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::times::HIGHEST_NS;
    use super::*;

    fn timeline(due: u64, sent: u64, done: u64) -> Timeline {
        Timeline { due: Nanos(due), sent: Nanos(sent), first_byte: Nanos(done), done: Nanos(done) }
    }

    #[test]
    fn class_numbers_are_their_places() {
        for (index, class) in Class::ALL.iter().enumerate() {
            assert_eq!(*class as usize, index, "{}", class.name());
        }
    }

    #[test]
    fn sums_and_histograms_add_up_over_recorders() {
        let (mut total, mut part) = (Recorder::default(), Recorder::default());
        for index in 0..3u64 {
            part.clear();
            part.sent = 2;
            part.replies(&timeline(0, 10, 1000 * (index + 1)), 1, true);
            part.failure(Class::Mismatch, Nanos(5));
            total.add(&part);
        }
        let counters = total.counters(0, 0, 0);
        assert_eq!((counters.sent, counters.ok, counters.errors["mismatch"]), (6, 3, 3));
        let times = total.histogram(Metric::ResponseTime).expect("recorded");
        assert_eq!((times.len(), times.min()), (3, 1000));
        assert!(times.equivalent(times.max(), 3000));
        assert!(total.histogram(Metric::PacingLag).is_none());
    }

    #[test]
    fn what_the_lobby_tells_is_counted_once_each_and_adds_up() {
        let right = Bulletin { missed: 0, late: false, intact: true };
        let (mut total, mut part) = (Recorder::default(), Recorder::default());
        for bulletin in [
            right,
            Bulletin { missed: 3, ..right },
            Bulletin { late: true, ..right },
            Bulletin { late: true, intact: false, ..right },
            Bulletin { intact: false, ..right },
        ] {
            part.clear();
            part.bulletin(&bulletin);
            total.add(&part);
        }
        let lobby = total.counters(0, 0, 0).lobby;
        assert_eq!(lobby, Lobby { ok: 2, mismatch: 1, out_of_order: 2, missing: 3 });
    }

    #[test]
    fn longer_than_an_hour_is_recorded_as_an_hour() {
        let mut recorder = Recorder::default();
        recorder.record(Metric::ServiceTime, Nanos(2 * HIGHEST_NS));
        let times = recorder.histogram(Metric::ServiceTime).expect("recorded");
        assert!(times.max() >= HIGHEST_NS && times.max() < HIGHEST_NS + HIGHEST_NS / 1000);
    }
}
