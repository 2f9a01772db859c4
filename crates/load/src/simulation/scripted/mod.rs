//! Worlds that are written out: a server of HTTP/2 that does what its script says, when it says so.
//!
//! Knows what a script is, and how its world is played. Must not know what must come of it: that is the tests'.

mod calls;
mod early;
mod events;
mod host;
mod packed;
mod streams;
mod talks;

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use wiretrial_net::simulation::Nature;
use wiretrial_proto::http2::ErrorCode;

use super::facts::Witness;
use super::scenario::{MS, Manners, Scenario};
use super::spoken::{Right, Spoken};
use super::world::play_among;
use crate::emit::words::decode;
use crate::measure::snapshot::Summary;
use crate::plan::Plan;
use host::Host;

/// What a server does to a request.
#[derive(Debug, Clone)]
pub(super) enum Deed {
    /// The head of its answer: a status, and fields.
    Head(u16, &'static [(&'static str, &'static str)]),
    /// Content.
    Say(Vec<u8>),
    /// Content, and the end.
    End(Vec<u8>),
    /// Fields behind the content, and the end.
    Trailers(&'static [(&'static str, &'static str)]),
    Reset(ErrorCode),
    /// It takes its leave; it goes on with streams up to this one.
    Leave(u32),
    /// The connection ends.
    Finish,
    /// It is broken.
    Break,
}

/// A server, and what is asked of it.
pub(super) struct Script {
    /// What is done to each request, in the order in which they come over all connections, and how long after it came.
    pub(super) deeds: Vec<Vec<(u64, Deed)>>,
    /// The same of each piece of a request, in the order in which they come; none: nobody looks at pieces.
    pub(super) on_message: Vec<Vec<(u64, Deed)>>,
    /// Bytes that the server takes on a stream before it allows more.
    pub(super) window: u32,
    /// Streams that the server lets be open at once on a connection.
    pub(super) streams: u32,
    /// So long after bytes came the server looks at them.
    pub(super) reads_after: u64,
    /// So long each byte is on its way, in either direction; where it is, the server looks at once.
    pub(super) way: u64,
    /// Members of the plan's target, beside its URL.
    pub(super) target: Value,
    pub(super) load: Value,
    pub(super) stop: Value,
    /// What is published, which its own deeds have to tell; null: nothing.
    pub(super) publish: Value,
    pub(super) timeout: u64,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            deeds: Vec::new(),
            on_message: Vec::new(),
            window: 1 << 20,
            streams: u32::MAX,
            reads_after: 0,
            way: 0,
            target: json!({
                "url": "http://127.0.0.1:9/page",
                "http": {"version": "2"},
                // "here"
                "expect": {"content": {"is": "fixed", "base64": "aGVyZQ=="}},
            }),
            load: json!({"connections": 1}),
            stop: json!({"requests": 1}),
            publish: Value::Null,
            timeout: 400 * MS,
        }
    }
}

/// What came of it.
pub(super) struct Told {
    pub(super) summary: Summary,
    /// What the server saw: when, nanoseconds from the first request on, and what.
    pub(super) log: Vec<(u64, String)>,
}

impl Script {
    /// Plays it with either poller, and sees that the same comes of both.
    pub(super) fn play(&self) -> Told {
        let [ring, epoll] = [true, false].map(|receives_in_wait| self.play_with(receives_in_wait));
        assert_eq!(ring.log, epoll.log);
        assert_eq!(ring.summary.counters, epoll.summary.counters);
        assert_eq!(ring.summary.http2, epoll.summary.http2);
        assert_eq!(ring.summary.histograms, epoll.summary.histograms);
        ring
    }

    fn play_with(&self, receives_in_wait: bool) -> Told {
        let document = json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": self.target,
            "load": self.load,
            "stop": self.stop,
            "publish": self.publish,
            "phases": {"timeout_ns": self.timeout, "interval_ns": 100 * MS, "drain_ns": 2_000 * MS},
        });
        let plan = Plan::from_json(&document.to_string());
        let scenario = Scenario {
            plan: plan.unwrap_or_else(|error| panic!("{error}: {document}")),
            nature: nature(receives_in_wait),
            manners: manners(),
            stop_at: None,
            judges_once_in: 0,
        };
        let log = Arc::new(Mutex::new(Vec::new()));
        let host = Host::new(self, Arc::clone(&log));
        let played = play_among(&scenario, Box::new(host), &Witness::default());
        let played = played.unwrap_or_else(|what| panic!("{what}"));
        assert_eq!(played.open_sockets, 0, "sockets were left open");
        let counters = &played.summary.counters;
        let failed: u64 = counters.errors.values().sum();
        assert_eq!(counters.sent, counters.ok + failed + counters.in_flight);
        let log = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
        let begin = log.first().map_or(0, |(at, _): &(u64, _)| *at);
        let log = log.into_iter().map(|(at, what)| (at - begin, what));
        Told { summary: played.summary, log: log.collect() }
    }
}

impl Told {
    /// What was recorded of a metric, in order, microseconds; as exact as its histogram.
    pub(super) fn recorded(&self, metric: &str) -> Vec<u64> {
        recorded(&self.summary, metric)
    }

    /// What the server saw, in words.
    pub(super) fn seen(&self) -> Vec<String> {
        let in_words =
            |(at, what): &(u64, String)| format!("{} ms: {what}", *at as f64 / MS as f64);
        self.log.iter().map(in_words).collect()
    }
}

/// What was recorded of a metric, in order, microseconds; as exact as its histogram.
pub(super) fn recorded(summary: &Summary, metric: &str) -> Vec<u64> {
    let Some(text) = summary.histograms.get(metric) else { return Vec::new() };
    let histogram = decode(text).expect("a histogram");
    let values = histogram.iter_recorded();
    let rounded = |ns: u64| (ns as f64 / 100_000.0).round() as u64 * 100;
    let each = values.flat_map(|value| {
        let count = value.count_at_value() as usize;
        std::iter::repeat_n(rounded(value.value_iterated_to()), count)
    });
    each.collect()
}

/// Nothing takes any time but what the script says.
pub(super) fn nature(receives_in_wait: bool) -> Nature {
    Nature {
        seed: 1,
        receives_in_wait,
        buffer_bytes: 65_536,
        piece_bytes: 65_536,
        send_buffer: 1 << 20,
        clock_step: 0,
        lateness: 0,
        pauses_once_in: 0,
        short_writes_once_in: 0,
        submits_once_in: 0,
        latency: 0,
    }
}

/// Of these only what is right is asked for, which the plan says.
pub(super) fn manners() -> Manners {
    Manners {
        seed: 1,
        spoken: Spoken::Http,
        right: Right::Anything,
        good: true,
        mild: false,
        calm_at: 0,
        bad_once_in: 1,
        lies: false,
        service: 0,
        piece: 65_536,
        gap: 0,
        connect: 0,
        greetings: 0,
        text: false,
        differ: false,
        deflate: None,
        reorders: false,
        redirects: false,
        scattered: false,
        secrets: None,
    }
}
