//! A wrong, swapped or repeated reply is caught; each fault has its class; the sums hold.

use std::collections::BTreeSet;

use serde_json::json;

use crate::outcome::{Outcome, checked};
use crate::rig::Rig;

/// Of a run whose every 10th reply goes wrong.
fn outcome(kind: &str, scheme: &str, depth: u32) -> Outcome {
    let rig = Rig::faulty(&format!("{kind}@10"));
    let mut plan = rig.plan(scheme);
    plan["load"] = json!({"connections": 2, "depth": depth});
    // Whoever is answered has all the time in the world: a busy machine is no fault.
    let timeout: u64 = if kind == "silent" { 300_000_000 } else { 20_000_000_000 };
    plan["phases"]["timeout_ns"] = json!(timeout);
    checked(&plan)
}

/// Classes of failed messages, and of connections that failed with no message on its way: a reply
/// that nobody asked for fails its connection.
fn caught(outcome: &Outcome) -> BTreeSet<String> {
    let closed = outcome.summary.connections.closed.keys();
    let failed = closed.filter(|reason| !["plan", "server"].contains(&reason.as_str()));
    failed.chain(outcome.errors().keys()).cloned().collect()
}

#[test]
fn each_fault_is_counted_under_its_class() {
    let cases: [(&str, &str, &[&str]); 24] = [
        ("wrong", "http", &["mismatch"]),
        ("wrong", "ws", &["mismatch"]),
        ("wrong", "tcp", &["mismatch"]),
        ("swap", "http", &["mismatch"]),
        ("swap", "ws", &["mismatch"]),
        ("swap", "tcp", &["mismatch"]),
        // A second copy comes unasked, or is taken for the answer to the next message.
        ("repeat", "http", &["mismatch", "protocol"]),
        ("repeat", "ws", &["mismatch", "protocol"]),
        ("repeat", "tcp", &["mismatch", "protocol"]),
        ("truncate", "http", &["truncated"]),
        ("truncate", "ws", &["truncated"]),
        ("truncate", "tcp", &["truncated"]),
        ("reset", "http", &["reset"]),
        ("reset", "ws", &["reset"]),
        ("reset", "tcp", &["reset"]),
        ("close", "http", &["truncated"]),
        ("close", "ws", &["truncated", "closed"]),
        ("close", "tcp", &["truncated"]),
        ("silent", "http", &["timeout"]),
        ("silent", "ws", &["timeout"]),
        ("silent", "tcp", &["timeout"]),
        ("garbage", "http", &["protocol"]),
        ("garbage", "ws", &["protocol", "utf8", "truncated"]),
        ("status", "http", &["status"]),
    ];
    for (kind, scheme, classes) in cases {
        let outcome = outcome(kind, scheme, 1);
        let caught = caught(&outcome);
        assert!(!caught.is_empty(), "{kind} over {scheme} was not caught");
        let all_known = caught.iter().all(|class| classes.contains(&class.as_str()));
        assert!(all_known, "{kind} over {scheme}: {caught:?}");
        assert!(outcome.summary.counters.ok > 0, "{kind} over {scheme}: the others go on");
    }
}

#[test]
fn replies_swapped_among_those_in_flight_are_caught() {
    for scheme in ["http", "ws", "tcp"] {
        let outcome = outcome("swap", scheme, 8);
        assert!(outcome.errors().contains_key("mismatch"), "{scheme}: {:?}", outcome.errors());
    }
}

#[test]
fn garbage_in_a_byte_stream_is_a_mismatch() {
    let outcome = outcome("garbage", "tcp", 1);
    assert!(outcome.errors().contains_key("mismatch"), "{:?}", outcome.errors());
}

#[test]
fn other_connections_are_not_touched_by_one_that_fails() {
    let rig = Rig::faulty("silent@10");
    let mut plan = rig.plan("ws");
    plan["load"] = json!({"connections": 20});
    plan["stop"] = json!({"duration_ns": 1_000_000_000});
    plan["phases"]["timeout_ns"] = json!(200_000_000);
    let outcome = checked(&plan);
    assert_eq!(outcome.errors().keys().collect::<Vec<_>>(), ["timeout"]);
    let times = outcome.histogram("service_time").expect("recorded");
    assert!(times.len() > 100, "{} right replies", times.len());
    let failed = outcome.histogram("failed_time").expect("recorded");
    let deadline = failed.lowest_equivalent(200_000_000);
    assert!(failed.min() >= deadline, "no sooner than the deadline: {} ns", failed.min());
}
