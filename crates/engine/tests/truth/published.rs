//! What is published while streams are held: each copy verified, numbered and timed, and the last one known.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wiretrial_load::measure::snapshot::Published;
use wiretrial_respond::Script;

use crate::outcome::{Outcome, checked, histogram_of, run};
use crate::rig::Rig;

const MS: u64 = 1_000_000;
const RECEIVERS: u32 = 7;

/// Streams of events, WebSockets, Socket.IO, or polls.
const SCHEMES: [&str; 7] = ["http", "https", "ws", "wss", "http+poll", "https+poll", "socketio+ws"];

/// Those who hear what is published 100 times a second, for so many milliseconds from the begin of the load on.
pub(crate) fn plan(rig: &Rig, scheme: &str, ms: u64) -> Value {
    let (scheme, polls) = match scheme.strip_suffix("+poll") {
        Some(scheme) => (scheme, true),
        None => (scheme, false),
    };
    let mut plan = rig.plan(scheme);
    let posts = rig.plan(if matches!(scheme, "https" | "wss") { "https" } else { "http" });
    let url = posts["target"]["url"].as_str().expect("a URL");
    if !scheme.starts_with("socketio") {
        let heard = url.replace("/echo", if polls { "/next" } else { "/subscribe" });
        let socket = if scheme.starts_with("ws") { "ws" } else { "http" };
        plan["target"]["url"] = json!(heard.replacen("http", socket, 1));
    }
    plan["target"]["http"] = json!({"sse": scheme.starts_with("http") && !polls});
    plan["target"]["message"] = json!({});
    plan["target"]["expect"] = json!({});
    plan["load"] = json!({"connections": RECEIVERS, "executor": {"kind": "hold"}});
    plan["stop"] = json!({"duration_ns": ms * MS});
    plan["publish"] = json!({
        "url": url.replace("/echo", "/publish"),
        "rate": 100.0,
        "bytes": 100,
        "settle_ns": 200 * MS,
        "long_poll": polls,
    });
    plan
}

pub(crate) fn published(outcome: &Outcome) -> &Published {
    outcome.summary.published.as_ref().expect("something was to be published")
}

fn classes(outcome: &Outcome) -> BTreeSet<&str> {
    let counted = outcome.errors().iter().filter(|(_, count)| **count > 0);
    counted.map(|(class, _)| class.as_str()).collect()
}

/// Each receiver was told each event once and in order, and each copy has its time.
#[track_caller]
fn assert_all_told(outcome: &Outcome) {
    let (counters, published) = (&outcome.summary.counters, published(outcome));
    let events = published.counters.ok;
    assert!(events > 10 && published.counters.errors.is_empty(), "{published:?}");
    assert_eq!((counters.in_flight, published.undelivered), (published.receivers, 0));
    assert_eq!(counters.ok, events * published.receivers, "{:?}", outcome.summary.examples);
    assert_eq!(classes(outcome), BTreeSet::new(), "{:?}", outcome.summary.examples);
    let copies = outcome.histogram("delivery_time").expect("recorded");
    assert_eq!(copies.len(), counters.ok);
    let last = outcome.histogram("reach_time").expect("recorded");
    assert_eq!(last.len(), events);
    assert!(copies.min() <= last.min() && last.max() <= copies.max(), "it is one of them");
    let responses = histogram_of(&published.histograms["response_time"]);
    assert_eq!(responses.len(), events);
}

#[test]
fn each_receiver_is_told_each_event_once_and_in_order() {
    let rig = Rig::new(Script::default());
    for scheme in SCHEMES {
        let outcome = checked(&plan(&rig, scheme, 700));
        assert_all_told(&outcome);
        // The reference server has polls wait for longer than that.
        let empty_polls = outcome.summary.counters.empty_polls;
        assert_eq!(empty_polls, scheme.ends_with("+poll").then_some(0), "{scheme}");
        // 500 ms of them; one that is due at the very end is not sent.
        assert!(published(&outcome).counters.ok <= 50, "{:?}", published(&outcome));
        assert_eq!(published(&outcome).counters.sent, published(&outcome).counters.ok);
        assert_eq!(published(&outcome).receivers, u64::from(RECEIVERS));
    }
}

#[test]
fn over_http2_each_stream_is_told() {
    let rig = Rig::new(Script::default());
    for scheme in ["http", "https"] {
        let mut plan = plan(&rig, scheme, 700);
        plan["target"]["http"]["version"] = json!("2");
        plan["load"]["depth"] = json!(5);
        let outcome = checked(&plan);
        assert_all_told(&outcome);
        assert_eq!(published(&outcome).receivers, u64::from(5 * RECEIVERS));
    }
}

#[test]
fn over_http3_each_stream_is_told() {
    let rig = Rig::with_http3(Script::default());
    let mut plan = plan(&rig, "https", 1_500);
    plan["target"]["http"]["version"] = json!("3");
    plan["load"] = json!({"connections": 2, "depth": 5});
    plan["publish"]["settle_ns"] = json!(1_000 * MS);
    // Who has left is told no more: the server goes on with those who come next.
    for _ in 0..2 {
        let outcome = checked(&plan);
        assert_all_told(&outcome);
        assert_eq!(published(&outcome).receivers, 10);
    }
}

#[test]
fn each_call_of_grpc_is_told() {
    let rig = Rig::new(Script::default());
    for (scheme, called) in [("http", "grpc"), ("https", "grpcs")] {
        let mut plan = plan(&rig, scheme, 700);
        let url = plan["target"]["url"].as_str().expect("a URL").replacen(scheme, called, 1);
        plan["target"]["url"] = json!(url.replace("/subscribe", "/wiretrial.Push/Subscribe"));
        plan["target"]["http"] = json!({});
        plan["target"]["grpc"] = json!({"kind": "server"});
        plan["load"] = json!({"connections": RECEIVERS, "depth": 5});
        let outcome = checked(&plan);
        assert_all_told(&outcome);
        assert_eq!(published(&outcome).receivers, u64::from(5 * RECEIVERS));
    }
}

#[test]
fn several_workers_know_together_who_was_the_last() {
    let rig = Rig::new(Script::default());
    for scheme in ["http", "ws", "http+poll"] {
        let mut plan = plan(&rig, scheme, 700);
        plan["generator"]["threads"] = json!(3);
        assert_all_told(&checked(&plan));
    }
}

#[test]
fn a_copy_is_no_earlier_than_the_delay_of_its_server() {
    let delay = Some("30ms".parse().expect("a delay"));
    let rig = Rig::new(Script { delay, ..Script::default() });
    for scheme in ["http", "ws", "socketio+ws"] {
        let outcome = checked(&plan(&rig, scheme, 900));
        assert_all_told(&outcome);
        for name in ["delivery_time", "reach_time"] {
            let times = outcome.histogram(name).expect("recorded");
            assert!(times.min() >= times.lowest_equivalent(30 * MS), "{name}: {} ns", times.min());
        }
    }
}

/// What is due while the server is frozen is told late by as much: who publishes waits, and its events stay due.
#[test]
fn a_stall_shows_in_the_time_of_every_event_that_was_due_in_it() {
    for scheme in ["http", "ws", "http+poll"] {
        let stall = Some("at:600ms/300ms".parse().expect("a stall"));
        let rig = Rig::new(Script { stall, ..Script::default() });
        let outcome = checked(&plan(&rig, scheme, 1_200));
        assert_all_told(&outcome);
        let last = outcome.histogram("reach_time").expect("recorded");
        let late = last.count_between(50 * MS, u64::MAX);
        // 30 events were due in it, the first of them 300 ms before it was over.
        assert!(late >= 15, "{scheme}: {late} were late");
    }
}

#[test]
fn copies_that_are_wrong_or_come_twice_are_found() {
    for (fault, class) in [("wrong@9", "mismatch"), ("repeat@9", "order")] {
        for scheme in ["http", "ws", "socketio+ws"] {
            let rig = Rig::faulty(fault);
            let outcome = checked(&plan(&rig, scheme, 900));
            // The answer to who publishes may be what the fault meets, or the head of a stream.
            assert!(classes(&outcome).contains(class), "{fault} {scheme}: {:?}", outcome.errors());
            let counters = &outcome.summary.counters;
            assert!(counters.ok > 100, "{fault} {scheme}: {counters:?}");
        }
    }
}

#[test]
fn who_breaks_off_misses_what_is_published_meanwhile() {
    // Nine replies are heads and the preflight's; then each event has its publisher's and seven.
    let rig = Rig::faulty("close@53");
    let outcome = checked(&plan(&rig, "http", 900));
    // A stream that ended is asked for again after 3 s, and the run is over before.
    let published = published(&outcome);
    assert!(published.undelivered > 10, "{published:?}");
    let reached = outcome.histogram("reach_time").map_or(0, |times| times.len());
    assert!(reached < published.counters.ok, "{reached} events came to all");
}

#[test]
fn nothing_runs_where_events_cannot_be_published() {
    let rig = Rig::new(Script::default());
    let mut plan = plan(&rig, "http", 500);
    let url = plan["publish"]["url"].as_str().expect("a URL").replace("/publish", "/message");
    plan["publish"]["url"] = json!(url);
    let refusal = run(&plan).expect_err("it takes no POST").to_string();
    assert!(refusal.contains("/message") && refusal.contains("status 405"), "{refusal}");
}

#[test]
fn what_cannot_be_is_refused_with_the_remedy() {
    type Row = (&'static str, fn(&mut Value));
    let rig = Rig::new(Script::default());
    let rows: [Row; 8] = [
        ("publish: only streams", |plan| plan["target"]["http"] = json!({})),
        ("message: who hears", |plan| {
            plan["target"]["http"] = json!({});
            plan["target"]["url"] = json!("ws://127.0.0.1:9/subscribe");
            plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": 20}});
        }),
        ("stop", |plan| plan["stop"] = json!({"requests": 7})),
        ("publish.rate: 0", |plan| plan["publish"]["rate"] = json!(0.0)),
        ("publish.bytes: 32", |plan| plan["publish"]["bytes"] = json!(32)),
        ("publish.settle_ns", |plan| plan["publish"]["settle_ns"] = json!(500 * MS)),
        ("publish.url", |plan| plan["publish"]["url"] = json!("ws://h/")),
        ("publish: what is published", |plan| {
            plan["share"] =
                json!({"first_worker": 0, "workers": 2, "first_connection": 0, "connections": 14});
        }),
    ];
    for (begins, change) in rows {
        let mut plan = plan(&rig, "http", 500);
        change(&mut plan);
        let error = wiretrial_load::plan::Plan::from_json(&plan.to_string()).expect_err(begins);
        assert!(error.to_string().starts_with(begins), "{begins}: {error}");
    }
}
