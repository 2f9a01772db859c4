//! Streams of events: each event verified, numbered and timed, over HTTP/1.1, HTTP/2 and HTTP/3.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wiretrial_respond::Script;

use crate::outcome::{Outcome, checked, run};
use crate::rig::Rig;

const MS: u64 = 1_000_000;
/// Scheme, version, streams of each connection.
const WAYS: [(&str, &str, u32); 5] = [
    ("http", "1.1", 1),
    ("https", "1.1", 1),
    ("http", "2", 5),
    ("https", "2", 5),
    ("https", "3", 5),
];
const CONNECTIONS: u32 = 3;

/// Streams of this query for so many milliseconds.
fn plan(rig: &Rig, (scheme, version, streams): (&str, &str, u32), query: &str, ms: u64) -> Value {
    let mut plan = rig.plan(scheme);
    let url = plan["target"]["url"].as_str().expect("a URL").replace("/echo", "/events");
    plan["target"]["url"] = json!(format!("{url}?{query}"));
    plan["target"]["http"] = json!({"version": version, "sse": true});
    plan["target"]["message"] = json!({});
    plan["target"]["expect"] = json!({});
    plan["load"] = json!({"connections": CONNECTIONS, "depth": streams});
    plan["stop"] = json!({"duration_ns": ms * MS});
    plan
}

fn classes(outcome: &Outcome) -> BTreeSet<&str> {
    let counted = outcome.errors().iter().filter(|(_, count)| **count > 0);
    counted.map(|(class, _)| class.as_str()).collect()
}

fn found(classes: &[&'static str]) -> BTreeSet<&'static str> {
    classes.iter().copied().collect()
}

#[test]
fn every_event_is_verified_and_its_delay_is_told() {
    let rig = Rig::with_http3(Script::default());
    for way in WAYS {
        for query in ["rate=100", "rate=100&size=5000&ids=0", "rate=100&shared=1&size=33"] {
            let outcome = checked(&plan(&rig, way, query, 500));
            let counters = &outcome.summary.counters;
            assert_eq!(
                classes(&outcome),
                found(&[]),
                "{way:?} {query}: {:?}",
                outcome.summary.examples
            );
            assert_eq!(counters.in_flight, u64::from(CONNECTIONS * way.2), "{way:?} {query}");
            assert!(counters.ok > 10 * counters.in_flight, "{way:?} {query}: {counters:?}");
            let delays = outcome.histogram("delivery_time").expect("on this machine's clock");
            assert_eq!(delays.len(), counters.ok, "{way:?} {query}");
            let gaps = outcome.histogram("message_time").expect("recorded");
            assert_eq!(gaps.len(), counters.ok, "{way:?} {query}");
            assert!(outcome.histogram("service_time").is_none(), "nothing answers");
            let stood = outcome.histogram("upgrade_time").expect("streams were accepted");
            assert_eq!(stood.len(), counters.in_flight, "{way:?} {query}");
            let settings = outcome.histogram("settings_time").map(|times| times.len());
            let wanted = (way.1 == "2").then_some(u64::from(CONNECTIONS));
            assert_eq!(settings, wanted, "{way:?} {query}");
            assert_eq!(outcome.summary.blocked.exchanges, 0);
        }
    }
}

#[test]
fn an_event_is_no_earlier_than_its_delay_and_no_more_is_its_stream() {
    let delay = Some("20ms".parse().expect("a delay"));
    let rig = Rig::new(Script { delay, ..Script::default() });
    for way in [WAYS[0], WAYS[2]] {
        let outcome = checked(&plan(&rig, way, "rate=50", 400));
        let delays = outcome.histogram("delivery_time").expect("recorded");
        assert!(delays.min() >= delays.lowest_equivalent(20 * MS), "{} ns", delays.min());
        let stood = outcome.histogram("upgrade_time").expect("recorded");
        assert!(stood.min() >= stood.lowest_equivalent(20 * MS), "{} ns", stood.min());
    }
}

/// A server that is frozen for a while tells late what was due meanwhile.
#[test]
fn a_stall_shows_in_the_delay_of_every_event_that_was_due_in_it() {
    let stall = Some("at:200ms/300ms".parse().expect("a stall"));
    let rig = Rig::new(Script { stall, ..Script::default() });
    let outcome = checked(&plan(&rig, WAYS[0], "rate=100", 1_000));
    let delays = outcome.histogram("delivery_time").expect("recorded");
    // 30 events of each stream were due in it, the first of them 300 ms before it was over.
    let late = delays.count_between(100 * MS, u64::MAX);
    assert!(late >= 15 * u64::from(CONNECTIONS), "{late} were late");
    assert_eq!(classes(&outcome), found(&[]), "{:?}", outcome.summary.examples);
}

#[test]
fn wrong_repeated_and_reordered_events_are_found_by_their_numbers() {
    let rows: [(&str, &[&str]); 3] =
        [("wrong@7", &["mismatch"]), ("repeat@7", &["order"]), ("swap@7", &["missing", "order"])];
    for (fault, expected) in rows {
        // Over HTTP/2 frames would be repeated and change places, not events.
        for way in &WAYS[..2] {
            let rig = Rig::faulty(fault);
            let outcome = checked(&plan(&rig, *way, "rate=200", 500));
            let examples = &outcome.summary.examples;
            let classes = classes(&outcome);
            // The head of a stream may be what the fault meets, and then it is none.
            let and_heads = &found(expected) | &found(&["protocol"]);
            assert!(found(expected).is_subset(&classes), "{fault} {way:?}: {examples:?}");
            assert!(classes.is_subset(&and_heads), "{fault} {way:?}: {examples:?}");
            assert!(outcome.summary.counters.ok > 50, "{fault} {way:?}");
        }
    }
    let rig = faulty_over_quic("wrong@7");
    for way in [WAYS[2], WAYS[4]] {
        let outcome = checked(&plan(&rig, way, "rate=200", 500));
        assert_eq!(classes(&outcome), found(&["mismatch"]), "{:?}", outcome.summary.examples);
    }
}

fn faulty_over_quic(fault: &str) -> Rig {
    let faults = vec![fault.parse().expect("a fault")];
    Rig::with_http3(Script { faults, ..Script::default() })
}

/// Each stream ends after five events, and goes on where it was.
#[test]
fn a_stream_that_ends_is_asked_for_again_with_its_last_id() {
    let rig = Rig::with_http3(Script::default());
    for way in WAYS {
        let outcome = checked(&plan(&rig, way, "rate=500&end=5&retry=40", 500));
        let counters = &outcome.summary.counters;
        // A gap or an event that came before would be another class.
        assert_eq!(
            classes(&outcome),
            found(&["closed"]),
            "{way:?}: {:?}",
            outcome.summary.examples
        );
        let ended = counters.errors["closed"];
        let streams = u64::from(CONNECTIONS * way.2);
        assert!(counters.ok >= 5 * ended && ended > streams, "{way:?}: {counters:?}");
        assert!(ended <= streams * (500 / 40 + 1), "{way:?}: it waits as it is told: {counters:?}");
    }
}

#[test]
fn a_connection_that_breaks_costs_one_event_of_each_of_its_streams() {
    for fault in ["close@90", "reset@90", "truncate@90", "garbage@90"] {
        for way in [WAYS[0], WAYS[2]] {
            let rig = Rig::faulty(fault);
            let outcome = checked(&plan(&rig, way, "rate=200&retry=10", 700));
            let counters = &outcome.summary.counters;
            let allowed = found(&["truncated", "reset", "protocol"]);
            assert!(
                classes(&outcome).is_subset(&allowed),
                "{fault}: {:?}",
                outcome.summary.examples
            );
            assert!(counters.errors.values().sum::<u64>() > 0, "{fault} {way:?}");
            assert!(counters.ok > 100, "{fault} {way:?}: {counters:?}");
        }
    }
}

#[test]
fn a_connection_of_quic_that_ends_costs_one_event_of_each_of_its_streams() {
    for fault in ["close@90", "reset@90"] {
        let rig = faulty_over_quic(fault);
        let outcome = checked(&plan(&rig, WAYS[4], "rate=200&retry=10", 700));
        let counters = &outcome.summary.counters;
        let allowed = found(&["truncated", "reset", "closed"]);
        assert!(classes(&outcome).is_subset(&allowed), "{fault}: {:?}", outcome.summary.examples);
        assert!(counters.errors.values().sum::<u64>() > 0, "{fault}");
        assert!(counters.ok > 100, "{fault}: {counters:?}");
    }
}

#[test]
fn a_status_that_is_no_streams_fails_its_request_alone() {
    for way in [WAYS[0], WAYS[2]] {
        let rig = Rig::faulty("status@60");
        let outcome = checked(&plan(&rig, way, "rate=100&end=10&retry=5", 700));
        let allowed = found(&["status", "closed"]);
        assert!(classes(&outcome).is_subset(&allowed), "{:?}", outcome.summary.examples);
    }
}

#[test]
fn streams_that_are_held_may_be_silent_and_others_may_not() {
    let rig = Rig::with_http3(Script::default());
    for way in WAYS {
        let mut silent = plan(&rig, way, "rate=0", 700);
        silent["phases"]["timeout_ns"] = json!(200 * MS);
        let outcome = checked(&silent);
        assert_eq!(classes(&outcome), found(&["timeout"]), "{way:?}");
        assert_eq!(outcome.summary.counters.ok, 0);
        silent["load"]["executor"] = json!({"kind": "hold"});
        let outcome = checked(&silent);
        assert_eq!(classes(&outcome), found(&[]), "{way:?}: {:?}", outcome.summary.examples);
        assert_eq!(outcome.summary.counters.in_flight, u64::from(CONNECTIONS * way.2));
    }
}

#[test]
fn what_is_no_stream_is_refused_before_the_load() {
    let rig = Rig::new(Script::default());
    for (path, says) in [
        ("/message", "application/json"),
        ("/nowhere", "status 404"),
        ("/events?rate=x", "status 400"),
    ] {
        let mut plan = plan(&rig, WAYS[0], "", 500);
        let url = plan["target"]["url"].as_str().expect("a URL").replace("/events?", path);
        plan["target"]["url"] = json!(url);
        let refusal = run(&plan).expect_err(path).to_string();
        assert!(refusal.contains(says), "{path}: {refusal}");
    }
    let mut whole = plan(&rig, WAYS[0], "rate=1", 500);
    whole["target"]["http"] = json!({});
    whole["phases"]["connect_ns"] = json!(500 * MS);
    let refusal = run(&whole).expect_err("it has no end").to_string();
    assert!(refusal.contains("--sse"), "{refusal}");
}

#[test]
fn events_follow_the_rule_of_the_plan() {
    let rig = Rig::new(Script::default());
    for (rule, expected) in [("regex:^[0-9a-f]{16} ", &[][..]), ("regex:^x", &["mismatch"])] {
        let mut plan = plan(&rig, WAYS[0], "rate=100", 300);
        plan["target"]["expect"] = json!({"content": {"is": "matching", "rules": [rule]}});
        assert_eq!(classes(&checked(&plan)), found(expected), "{rule}");
    }
}

#[test]
fn what_streams_do_not_have_is_refused_with_the_remedy() {
    type Row = (&'static str, fn(&mut Value));
    let rig = Rig::new(Script::default());
    let rows: [Row; 6] = [
        ("stop", |plan| plan["stop"] = json!({"requests": 5})),
        ("load.executor", |plan| plan["load"]["executor"] = json!({"kind": "open", "rate": 5.0})),
        ("load.depth", |plan| plan["load"]["depth"] = json!(2)),
        ("http.sse", |plan| plan["target"]["http"]["method"] = json!("POST")),
        ("expect.content", |plan| plan["target"]["expect"] = json!({"content": {"is": "learned"}})),
        ("expect.status", |plan| plan["target"]["expect"] = json!({"status": 204})),
    ];
    for (begins, change) in rows {
        let mut plan = plan(&rig, WAYS[0], "rate=1", 100);
        change(&mut plan);
        let error = wiretrial_load::plan::Plan::from_json(&plan.to_string()).expect_err(begins);
        assert!(error.to_string().starts_with(begins), "{begins}: {error}");
    }
}
