//! The workers' intervals become the run's.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use crate::clock::Nanos;
use crate::machine::Machine;
use crate::measure::snapshot::{Blocked, End, Generator, Interval, Phase, Summary};
use crate::measure::{IntervalRecord, Recorder, TrafficStanding};
use crate::plan::{Plan, Stop};

/// What the intervals of all workers add up to.
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a plan")]
pub(super) struct Merge<M> {
    machine: M,
    interval: Nanos,
    warmup: Nanos,
    keeps_connections: bool,
    stop: Stop,
    speaks_http2: bool,
    speaks_http3: bool,
    /// How many routes and flows there are; none: there is one message.
    traffic: Option<(usize, usize)>,
    /// Messages are events of streams: nothing is sent, so that nothing can be kept from it.
    holds_streams: bool,
    /// Events are asked for by polls.
    polls: bool,
    /// Intervals that are not complete, by index.
    open: BTreeMap<u64, Merged>,
    total: Merged,
    idle_per_worker: Vec<Nanos>,
    run_queue_per_worker: Vec<u64>,
    disturbed_intervals: u64,
    first_interval: Option<u64>,
    /// When the first connection was asked for, and when all stood.
    set_up: Option<(Nanos, Nanos)>,
    begin: Option<Nanos>,
    load_ended: Option<Nanos>,
    first_send: Option<Nanos>,
    /// Index of the last interval that each worker told, and whether more will come.
    progress: Vec<Progress>,
    end: Nanos,
    cpu: (u64, u64),
    run_queue_ns: u64,
}

/// How far one worker is, and how it stood there.
#[derive(Debug, Clone, Default)]
struct Progress {
    last: Option<u64>,
    standing: Standing,
    finished: bool,
}

/// What is counted at an instant, not over a time.
#[derive(Debug, Clone, Default)]
struct Standing {
    in_flight: u64,
    deliveries_in_flight: u64,
    waiting: u64,
    dropped: u64,
    open: u64,
    traffic: TrafficStanding,
}

impl Standing {
    fn of(record: &IntervalRecord) -> Self {
        Self {
            in_flight: record.in_flight,
            deliveries_in_flight: record.deliveries_in_flight,
            waiting: record.waiting,
            dropped: record.dropped,
            open: record.open,
            traffic: record.traffic.clone(),
        }
    }
}

impl AddAssign<&Self> for Standing {
    fn add_assign(&mut self, other: &Self) {
        self.in_flight += other.in_flight;
        self.deliveries_in_flight += other.deliveries_in_flight;
        self.waiting += other.waiting;
        self.dropped += other.dropped;
        self.open += other.open;
        self.traffic += &other.traffic;
    }
}

/// One interval, or the whole run.
#[derive(Default)]
struct Merged {
    recorder: Recorder,
    standing: Standing,
    least_idle: Option<Nanos>,
    disturbed: bool,
}

impl<M: Machine> Merge<M> {
    pub(super) fn new(plan: &Plan, machine: M) -> Self {
        let workers = plan.generator.threads as usize;
        Self {
            interval: plan.phases.interval,
            warmup: plan.phases.warmup,
            keeps_connections: plan.load.requests_per_connection.is_none(),
            stop: plan.stop,
            speaks_http2: plan.target.http2,
            speaks_http3: plan.target.http3,
            traffic: plan.traffic.as_ref().map(|it| (it.routes.len(), it.flows.len())),
            holds_streams: plan.hears_events(),
            polls: plan.polls(),
            open: BTreeMap::new(),
            total: Merged::default(),
            idle_per_worker: vec![Nanos::ZERO; workers],
            run_queue_per_worker: vec![0; workers],
            disturbed_intervals: 0,
            first_interval: None,
            set_up: None,
            begin: None,
            load_ended: None,
            first_send: None,
            progress: vec![Progress::default(); workers],
            end: Nanos::ZERO,
            cpu: machine.process_cpu_ns(),
            run_queue_ns: 0,
            machine,
        }
    }

    /// The connections of one worker stand.
    pub(super) fn connected(&mut self, since: Nanos, at: Nanos) {
        let (first, last) = self.set_up.unwrap_or((since, at));
        self.set_up = Some((first.min(since), last.max(at)));
    }

    /// The load begins at this instant.
    pub(super) fn set_begin(&mut self, begin: Nanos) {
        self.begin = Some(begin);
    }

    /// A worker sends no more.
    pub(super) fn load_ended(&mut self, first_send: Option<Nanos>, at: Nanos) {
        self.load_ended = self.load_ended.max(Some(at));
        self.first_send = match (self.first_send, first_send) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    /// A worker is done.
    pub(super) fn finished(&mut self, worker: u32, at: Nanos) {
        self.progress[worker as usize].finished = true;
        self.end = self.end.max(at);
    }

    pub(super) fn is_finished(&self) -> bool {
        self.progress.iter().all(|worker| worker.finished) && self.open.is_empty()
    }

    /// Takes in one worker's interval; its recorder comes back for another use.
    pub(super) fn interval(&mut self, worker: u32, record: IntervalRecord) -> Box<Recorder> {
        let merged = self.open.entry(record.index).or_default();
        let standing = Standing::of(&record);
        merged.standing += &standing;
        merged.disturbed |= record.disturbed;
        let idle = record.recorder.idle;
        merged.least_idle = Some(merged.least_idle.map_or(idle, |least| least.min(idle)));
        merged.recorder.add(&record.recorder);
        self.idle_per_worker[worker as usize] += idle;
        self.run_queue_per_worker[worker as usize] = record.run_queue_ns;
        let progress = &mut self.progress[worker as usize];
        (progress.last, progress.standing) = (Some(record.index), standing);
        record.recorder
    }

    /// The next interval that is complete: each worker has told its part, or has finished before.
    pub(super) fn next_interval(&mut self) -> Option<Interval> {
        let entry = self.open.first_entry()?;
        let index = *entry.key();
        // Workers tell their intervals in order.
        let told = |worker: &Progress| worker.finished || worker.last >= Some(index);
        if !self.progress.iter().all(told) {
            return None;
        }
        let mut merged = entry.remove();
        // Who finished before stands as it stood then.
        for worker in self.progress.iter().filter(|worker| worker.last < Some(index)) {
            merged.standing += &worker.standing;
        }
        let standing = &merged.standing;
        let first = *self.first_interval.get_or_insert(index);
        let start = Nanos(index * self.interval.0);
        let end = Nanos((index + 1) * self.interval.0);
        let over = self.progress.iter().all(|worker| worker.finished);
        let end = if over { end.min(self.end) } else { end };
        let mut counters = merged.recorder.counters(
            standing.in_flight,
            standing.waiting,
            standing.dropped - self.total.standing.dropped.min(standing.dropped),
        );
        counters.deliveries.in_flight = standing.deliveries_in_flight;
        counters.empty_polls = self.polls.then_some(merged.recorder.empty_polls);
        let interval = Interval {
            index: index - first,
            start_ns: start.0,
            end_ns: end.0,
            phase: self.phase(start),
            counters,
            connections: merged.recorder.connections(standing.open),
            bytes: merged.recorder.bytes,
            generator: self.generator(merged.least_idle.unwrap_or_default(), end - start),
            disturbed: merged.disturbed,
            histograms: merged.recorder.encoded_histograms(),
            http2: self.speaks_http2.then_some(merged.recorder.http2),
            http3: self.speaks_http3.then_some(merged.recorder.http3),
            traffic: self.traffic.map(|counts| {
                let mut figures = merged.recorder.traffic(counts, &standing.traffic, false);
                let before = self.total.standing.traffic.dropped;
                figures.dropped -= before.min(figures.dropped);
                figures
            }),
        };
        self.add_to_total(&merged);
        Some(interval)
    }

    fn add_to_total(&mut self, merged: &Merged) {
        let total = &mut self.total;
        total.recorder.add(&merged.recorder);
        total.standing = merged.standing.clone();
        self.disturbed_intervals += u64::from(merged.disturbed);
    }

    fn phase(&self, start: Nanos) -> Phase {
        match (self.begin, self.load_ended) {
            (Some(begin), _) if start < begin => Phase::Connect,
            (None, _) => Phase::Connect,
            (_, Some(ended)) if start >= ended => Phase::Drain,
            (Some(begin), _) if start < begin + self.warmup => Phase::WarmUp,
            _ => Phase::Measure,
        }
    }

    /// Whether the load ended because so many messages were asked for and no more. Then the last
    /// reply is what ends it: with many in flight, all of them may be handed out at its begin.
    fn is_all_handed_out(&self) -> bool {
        let stop = self.stop;
        let in_time = stop.duration.zip(self.begin).is_none_or(|(duration, begin)| {
            self.load_ended.is_some_and(|ended| ended < begin + self.warmup + duration)
        });
        in_time && [stop.requests, stop.requests_each, stop.sessions].iter().any(Option::is_some)
    }

    /// The process's cost since the last call.
    fn generator(&mut self, least_idle: Nanos, length: Nanos) -> Generator {
        let (user, system) = self.machine.process_cpu_ns();
        let (user_before, system_before) = std::mem::replace(&mut self.cpu, (user, system));
        let run_queue: u64 = self.run_queue_per_worker.iter().sum();
        let run_queue_before = std::mem::replace(&mut self.run_queue_ns, run_queue);
        Generator {
            cpu_user_ns: user - user_before,
            cpu_system_ns: system - system_before,
            peak_rss_bytes: self.machine.peak_rss_bytes(),
            loop_utilisation: utilisation(least_idle, length),
            run_queue_ns: run_queue.saturating_sub(run_queue_before),
        }
    }

    pub(super) fn summary(&self, stopped: bool, signal: Option<i32>) -> Summary {
        let total = &self.total;
        let (cpu_user_ns, cpu_system_ns) = self.machine.process_cpu_ns();
        let begin = self.begin.unwrap_or(self.end);
        let first_send = self.first_send.unwrap_or(begin);
        let load_ended = match self.load_ended {
            Some(at) if stopped || !self.is_all_handed_out() => at.max(first_send),
            _ => self.end,
        };
        let least_idle = self.idle_per_worker.iter().min().copied().unwrap_or_default();
        let first = Nanos(self.first_interval.unwrap_or_default() * self.interval.0);
        let set_up = self.set_up.filter(|_| self.keeps_connections && self.begin.is_some());
        let standing = &total.standing;
        let mut counters =
            total.recorder.counters(standing.in_flight, standing.waiting, standing.dropped);
        counters.deliveries.in_flight = standing.deliveries_in_flight;
        counters.empty_polls = self.polls.then_some(total.recorder.empty_polls);
        Summary {
            end: if stopped { End::Interrupted } else { End::Complete },
            signal,
            connect_start_ns: set_up.map(|(first, _)| first.0),
            connected_ns: set_up.map(|(_, last)| last.0),
            first_send_ns: first_send.0,
            measure_start_ns: (begin + self.warmup).min(load_ended).0,
            measure_end_ns: load_ended.0,
            end_ns: self.end.0,
            counters,
            connections: total.recorder.connections(standing.open),
            bytes: total.recorder.bytes,
            generator: Generator {
                cpu_user_ns,
                cpu_system_ns,
                peak_rss_bytes: self.machine.peak_rss_bytes(),
                loop_utilisation: utilisation(least_idle, self.end - first),
                run_queue_ns: self.run_queue_per_worker.iter().sum(),
            },
            blocked: if self.holds_streams { Blocked::default() } else { total.recorder.blocked() },
            disturbed_intervals: self.disturbed_intervals,
            examples: total.recorder.examples(),
            histograms: total.recorder.encoded_histograms(),
            http2: self.speaks_http2.then_some(total.recorder.http2),
            http3: self.speaks_http3.then_some(total.recorder.http3),
            traffic: self
                .traffic
                .map(|counts| total.recorder.traffic(counts, &standing.traffic, true)),
            published: None,
        }
    }
}

fn utilisation(idle: Nanos, length: Nanos) -> f64 {
    if length == Nanos::ZERO {
        return 0.0;
    }
    (1.0 - idle.0 as f64 / length.0 as f64).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::Monotonic;

    fn of_two_workers() -> Merge<Monotonic> {
        let plan = json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": "ws://127.0.0.1:9/",
                "message": {"source": {"from": "sequence", "bytes": 20}},
            },
            "load": {"connections": 2},
            "stop": {"duration_ns": 1_000_000_000_u64},
            "generator": {"threads": 2},
        });
        Merge::new(&Plan::from_json(&plan.to_string()).expect("a plan"), Monotonic::start())
    }

    #[test]
    fn the_load_never_ends_before_its_first_send() {
        let mut merge = of_two_workers();
        merge.load_ended(Some(Nanos(30)), Nanos(20));
        merge.load_ended(None, Nanos(10));
        let summary = merge.summary(true, None);
        assert_eq!((summary.first_send_ns, summary.measure_end_ns), (30, 30));
    }

    #[test]
    fn messages_that_are_counted_end_with_the_last_reply() {
        let mut merge = of_two_workers();
        merge.set_begin(Nanos(10));
        merge.load_ended(Some(Nanos(30)), Nanos(30));
        merge.end = Nanos(500);
        assert_eq!(merge.summary(false, None).measure_end_ns, 30);
        // Two messages were asked for, and handed out long before the time was over.
        merge.stop.requests = Some(2);
        assert_eq!(merge.summary(false, None).measure_end_ns, 500);
        // Whoever is stopped awaits what is in flight; that is no part of the load.
        assert_eq!(merge.summary(true, None).measure_end_ns, 30);
        // The time was over first.
        merge.stop.duration = Some(Nanos(20));
        assert_eq!(merge.summary(false, None).measure_end_ns, 30);
    }

    fn record(index: u64, standing: u64) -> IntervalRecord {
        IntervalRecord {
            index,
            recorder: Box::default(),
            in_flight: standing,
            deliveries_in_flight: standing,
            waiting: standing,
            dropped: standing,
            open: standing,
            disturbed: false,
            run_queue_ns: 0,
            traffic: TrafficStanding::default(),
        }
    }

    #[test]
    fn empty_polls_are_told_where_somebody_polls() {
        let mut merge = of_two_workers();
        assert_eq!(merge.summary(false, None).counters.empty_polls, None);
        merge.polls = true;
        for (worker, count) in [(0, 2), (1, 3)] {
            let mut told = record(0, 0);
            told.recorder.empty_polls = count;
            merge.interval(worker, told);
        }
        let interval = merge.next_interval().expect("told by both");
        assert_eq!(interval.counters.empty_polls, Some(5));
        assert_eq!(merge.summary(false, None).counters.empty_polls, Some(5));
    }

    #[test]
    fn who_finished_an_interval_earlier_stands_as_it_stood_then() {
        let mut merge = of_two_workers();
        merge.interval(0, record(0, 3));
        merge.finished(0, Nanos(1));
        merge.interval(1, record(0, 4));
        assert_eq!(merge.next_interval().expect("told by both").connections.open, 7);
        merge.interval(1, record(1, 5));
        merge.finished(1, Nanos(2));
        let last = merge.next_interval().expect("told by who is left");
        assert_eq!(last.connections.open, 8);
        assert_eq!(last.counters.dropped, 1, "since the interval before");
        let summary = merge.summary(false, None);
        assert_eq!(summary.connections.open, 8);
        assert_eq!(summary.counters.in_flight, 8);
        assert_eq!(summary.counters.waiting, 8);
        assert_eq!(summary.counters.dropped, 8);
        assert_eq!(summary.counters.deliveries.in_flight, 8);
    }
}
