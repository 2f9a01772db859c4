//! HTTP/2's windows, refusals and goodbyes: what is counted of them, and for how long they were in the way.

use std::time::Duration;

use serde_json::{Value, json};
use wiretrial_load::measure::http2::{By, Http2Figures, Version};
use wiretrial_proto::http2::Http2Limits;

use crate::outcome::{Outcome, checked};
use crate::rig::Rig;
use crate::streams::{Manners, Streams};

const MS: u64 = 1_000_000;

/// So many requests of 4 streams on one connection, whose answers are learned.
fn plan(server: &Streams, requests: u64) -> Value {
    let mut plan = Rig::new(wiretrial_respond::Script::default()).plan("http");
    plan["target"]["url"] = json!(server.url());
    plan["target"]["http"] = json!({"version": "2"});
    plan["target"]["message"] = json!({});
    plan["target"]["expect"] = json!({"content": {"is": "learned"}});
    plan["load"] = json!({"connections": 1, "depth": 4});
    plan["stop"] = json!({"requests": requests});
    plan
}

fn figures(outcome: &Outcome) -> Http2Figures {
    let whole = outcome.summary.http2.expect("it is HTTP/2");
    let mut sum = Http2Figures::default();
    for interval in &outcome.intervals {
        let figures = interval.http2.expect("it is HTTP/2");
        sum.goaways += figures.goaways;
        sum.refused += figures.refused;
        sum.sends_held += figures.sends_held;
        sum.held_by_stream_ns += figures.held_by_stream_ns;
        sum.held_by_connection_ns += figures.held_by_connection_ns;
        sum.streams_exhausted += figures.streams_exhausted;
        sum.stream_exhausted_ns += figures.stream_exhausted_ns;
        sum.connections_exhausted += figures.connections_exhausted;
        sum.connection_exhausted_ns += figures.connection_exhausted_ns;
    }
    assert_eq!(sum, whole, "it is told where it happened");
    whole
}

#[test]
fn a_load_that_nothing_holds_back_says_so() {
    let server = Streams::start(Manners { content: 2_000, ..Manners::default() });
    let outcome = checked(&plan(&server, 400));
    assert_eq!(figures(&outcome), Http2Figures::default());
    let spoken = outcome.start.http.expect("it is told");
    assert_eq!((spoken.version, spoken.by), (Version::Two, By::PriorKnowledge));
    assert_eq!(spoken.streams, None, "any number");
    assert_eq!((spoken.window, spoken.connection_window), (Some(4 << 20), Some(64 << 20)));
}

/// 256 KiB in windows of 16: each reply waits again and again for our word that there is room.
#[test]
fn a_server_that_our_window_holds_back_is_counted_and_timed() {
    let server = Streams::start(Manners { content: 256 << 10, ..Manners::default() });
    for (windows, is_stream) in [
        (json!({"stream": 16 << 10, "are_factor": true}), true),
        (json!({"connection": 64 << 10}), false),
    ] {
        let mut plan = plan(&server, 40);
        plan["target"]["http"]["windows"] = windows;
        let outcome = checked(&plan);
        let found = figures(&outcome);
        let times = outcome.histogram("service_time").expect("recorded");
        let messages = (times.mean() * times.len() as f64) as u64;
        let (count, waited, other) = if is_stream {
            (found.streams_exhausted, found.stream_exhausted_ns, found.connections_exhausted)
        } else {
            (found.connections_exhausted, found.connection_exhausted_ns, found.streams_exhausted)
        };
        assert!(count > 40 && other == 0, "{found:?}");
        assert!(waited > 0 && waited <= messages, "{waited} of {messages}");
        assert_eq!((found.sends_held, outcome.summary.counters.ok), (0, 40));
    }
}

/// 64 KiB out, where the server allows 20,000 bytes on a stream.
#[test]
fn requests_that_the_server_s_window_holds_back_are_counted_and_timed() {
    let limits = Http2Limits { stream_window: 20_000, ..Http2Limits::default() };
    let server = Streams::start(Manners { limits, ..Manners::default() });
    let mut plan = plan(&server, 40);
    plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": 64 << 10}});
    let found = figures(&checked(&plan));
    assert_eq!(found.sends_held, 40);
    assert!(found.held_by_stream_ns > 0 && found.held_by_connection_ns == 0, "{found:?}");
    assert_eq!((found.streams_exhausted, found.connections_exhausted), (0, 0));
}

#[test]
fn refused_streams_and_goodbyes_are_counted_and_nothing_is_lost() {
    let manners = Manners { refuses: 10, leaves_after: 95, ..Manners::default() };
    let server = Streams::start(manners);
    let outcome = checked(&plan(&server, 400));
    assert_eq!(outcome.summary.counters.ok, 400, "{:?}", outcome.errors());
    let found = figures(&outcome);
    assert!(found.refused >= 40, "{found:?}");
    assert!(found.goaways >= 4, "{found:?}");
    assert!(outcome.summary.connections.opened > found.goaways, "each was opened again");
}

/// 2 streams of 50 ms each are 40 replies per second; twice as many are due.
#[test]
fn what_finds_no_free_stream_is_due_all_the_same_and_its_wait_counts() {
    let limits = Http2Limits { max_streams: 2, ..Http2Limits::default() };
    let delay = Duration::from_millis(50);
    let server = Streams::start(Manners { limits, delay, ..Manners::default() });
    for depth in [2, 64] {
        let mut plan = plan(&server, 80);
        plan["load"] = json!({
            "connections": 1, "depth": depth, "executor": {"kind": "open", "rate": 80},
        });
        plan["phases"] = json!({"timeout_ns": 20_000 * MS, "drain_ns": 20_000 * MS});
        let outcome = checked(&plan);
        assert_eq!(outcome.summary.counters.ok, 80, "{:?}", outcome.errors());
        assert_eq!(outcome.start.http.and_then(|spoken| spoken.streams), Some(2));
        let response = outcome.histogram("response_time").expect("recorded");
        let service = outcome.histogram("service_time").expect("recorded");
        // The last is due after 79/80 s, and its pair is the 40th: it is done after 2 s at the earliest.
        let last = 2_000 * MS - 79 * 1_000 * MS / 80;
        assert!(response.max() >= response.lowest_equivalent(last), "{} ns", response.max());
        assert!(response.value_at_quantile(0.5) >= last / 3, "depth {depth}: all of them wait");
        // No more are in flight than the server allows: a stream's own time is its reply's.
        assert!(service.value_at_quantile(0.5) < last / 2, "depth {depth}");
    }
}
