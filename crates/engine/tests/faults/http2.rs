//! Rows about HTTP/2: the reference server does wrong by its script, on one stream or on all of a
//! connection. Each row with every poller, by prior knowledge and over TLS.

use std::ops::RangeInclusive;

use serde_json::{Value, json};
use wiretrial_net::monotonic_ns;
use wiretrial_respond::Script;

use crate::outcome::{Outcome, checked};
use crate::rig::Rig;
use crate::scene::pollers;

const SCHEMES: [&str; 2] = ["http", "https"];
const SOCKETS: [&str; 2] = ["ws", "wss"];
const CONNECTIONS: u64 = 4;
pub(crate) const STREAMS: u64 = 8;
const MS: u64 = 1_000_000;

/// One fault, and what it must come to.
pub(crate) struct Row {
    /// As the script has it. The reply to the first message of all is the preflight's.
    pub(crate) fault: &'static str,
    pub(crate) messages: u64,
    /// Messages that fail, by class: these and no others, so many of them.
    pub(crate) fail: &'static [(&'static str, RangeInclusive<u64>)],
    /// Connections end for it.
    pub(crate) ends: bool,
}

pub(crate) const fn row(fault: &'static str, messages: u64) -> Row {
    Row { fault, messages, fail: &[], ends: false }
}

fn plan(rig: &Rig, scheme: &str, poller: &str, messages: u64) -> Value {
    let mut plan = rig.plan(scheme);
    plan["target"]["http"] = json!({"version": "2"});
    plan["generator"] = json!({"poller": poller});
    plan["load"] = json!({"connections": CONNECTIONS, "depth": STREAMS});
    plan["stop"] = json!({"requests": messages});
    plan["phases"] = json!({"timeout_ns": 20_000 * MS, "drain_ns": 20_000 * MS});
    plan
}

/// Each way in which it is asked, side by side.
fn everywhere(schemes: [&str; 2], check: impl Fn(&str, &str) + Sync) {
    let pollers = pollers();
    std::thread::scope(|scope| {
        for scheme in schemes {
            for poller in &pollers {
                let check = &check;
                scope.spawn(move || check(scheme, poller));
            }
        }
    });
}

fn check(rows: &[Row]) {
    check_with(rows, |_| {});
}

fn check_with(rows: &[Row], change: fn(&mut Value)) {
    check_over(SCHEMES, rows, change);
}

/// The same of WebSockets on streams.
pub(crate) fn check_websockets(rows: &[Row], change: fn(&mut Value)) {
    check_over(SOCKETS, rows, change);
}

fn check_over(schemes: [&str; 2], rows: &[Row], change: fn(&mut Value)) {
    everywhere(schemes, |scheme, poller| {
        for row in rows {
            let rig = Rig::faulty(row.fault);
            let mut plan = plan(&rig, scheme, poller, row.messages);
            change(&mut plan);
            judge(row, &checked(&plan), &format!("{} over {scheme} with {poller}", row.fault));
        }
    });
}

fn judge(row: &Row, outcome: &Outcome, name: &str) {
    let examples = &outcome.summary.examples;
    let mut failed = 0;
    for (class, count) in outcome.errors() {
        let expected = row.fail.iter().find(|(wanted, _)| wanted == class);
        let (_, range) = expected.unwrap_or_else(|| panic!("{name}: {class}: {examples:?}"));
        assert!(range.contains(count), "{name}: {count} {class}: {examples:?}");
        failed += count;
    }
    let must = row.fail.iter().any(|(_, range)| *range.start() > 0);
    assert!(failed > 0 || !must, "{name}: nothing failed");
    assert_eq!(outcome.summary.counters.ok + failed, row.messages, "{name}: all is told");
    let closed = &outcome.summary.connections.closed;
    assert_eq!(!closed.is_empty(), row.ends, "{name}: {closed:?}");
}

#[test]
fn a_goaway_in_the_middle_loses_nothing_and_asks_nothing_twice() {
    check(&[Row { ends: true, ..row("goaway@50", 700) }]);
}

#[test]
fn a_stream_that_is_reset_fails_its_own_message() {
    check(&[Row { fail: &[("reset", 100..=100)], ..row("cancel@7", 700) }]);
}

#[test]
fn a_refused_stream_goes_again() {
    check(&[row("refuse@7", 700)]);
}

#[test]
fn a_wrong_length_fails_its_own_message() {
    check(&[Row { fail: &[("protocol", 100..=100)], ..row("length@7", 700) }]);
}

#[test]
fn a_wrong_reply_and_swapped_ones_are_mismatches_on_their_streams() {
    check(&[
        Row { fail: &[("mismatch", 100..=100)], ..row("wrong@7", 700) },
        Row { fail: &[("status", 100..=100)], ..row("status@7", 700) },
        // Each of them is two, unless there was nobody to change places with.
        Row { fail: &[("mismatch", 100..=200)], ..row("swap@7", 700) },
    ]);
}

#[test]
fn floods_that_are_read_are_answered_and_cost_no_message() {
    check(&[row("pings@200", 700), row("settings@200", 700)]);
}

#[test]
fn heads_without_end_and_bombs_are_refused_over_http2() {
    // All that was in flight on the connection fails with it.
    const ALL: RangeInclusive<u64> = 1..=4 * STREAMS;
    check(&[
        Row { fail: &[("header_too_large", ALL)], ends: true, ..row("headers@90", 300) },
        Row { fail: &[("header_too_large", ALL)], ends: true, ..row("bomb@90", 300) },
    ]);
}

#[test]
fn a_connection_that_breaks_off_fails_what_was_in_flight_on_it() {
    const ALL: RangeInclusive<u64> = 1..=4 * STREAMS;
    const SOME: RangeInclusive<u64> = 0..=4 * STREAMS;
    check(&[
        Row { fail: &[("truncated", ALL)], ends: true, ..row("truncate@90", 300) },
        Row { fail: &[("truncated", ALL)], ends: true, ..row("close@90", 300) },
        Row { fail: &[("reset", ALL)], ends: true, ..row("reset@90", 300) },
        Row { fail: &[("protocol", ALL)], ends: true, ..row("garbage@90", 300) },
        // Nobody waits for the second one; where others did not either, nothing fails.
        Row { fail: &[("protocol", SOME)], ends: true, ..row("repeat@90", 300) },
    ]);
}

/// Half a second would do on a quick machine.
pub(crate) fn impatient(plan: &mut Value) {
    plan["phases"]["timeout_ns"] = json!(5_000 * MS);
}

#[test]
fn a_silent_stream_times_out_alone() {
    check_with(&[Row { fail: &[("timeout", 4..=4)], ..row("silent@50", 200) }], impatient);
}

#[test]
fn a_window_that_does_not_open_is_a_timeout() {
    // The connection that gets it has so many streams; whatever they carry next does not go.
    let rows =
        [Row { fail: &[("timeout", 1..=2 * STREAMS)], ends: true, ..row("window@150", 200) }];
    check_with(&rows, impatient);
}

#[test]
fn fewer_streams_are_kept_to() {
    const DELAY: u64 = 5 * MS;
    let script = || Script {
        delay: Some("5ms".parse().expect("a delay")),
        faults: vec!["streams@20".parse().expect("a fault")],
        ..Script::default()
    };
    everywhere(SCHEMES, |scheme, poller| {
        let rig = Rig::new(script());
        let mut plan = plan(&rig, scheme, poller, 100);
        plan["load"]["connections"] = json!(1);
        let begin = monotonic_ns();
        let outcome = checked(&plan);
        let time = monotonic_ns() - begin;
        assert_eq!(outcome.summary.counters.ok, 100, "{scheme} {poller}: {:?}", outcome.errors());
        // What was on its way is answered side by side, and then one after the other.
        let alone = 100 - 20 - 2 * STREAMS;
        assert!(time >= alone * DELAY, "{scheme} {poller}: {time} ns");
    });
}
