//! Bursts and held connections: exact numbers, and no burst before the last one is answered.

use serde_json::json;
use wiretrial_respond::Script;

use crate::outcome::checked;
use crate::rig::{PROTOCOLS, Rig};

const MS: u64 = 1_000_000;

#[test]
fn bursts_send_exactly_what_the_plan_says() {
    let rig = Rig::new(Script::default());
    for scheme in PROTOCOLS {
        for (connections, pack, threads) in [(1, 1, 1), (7, 1, 2), (20, 10, 1)] {
            let mut plan = rig.plan(scheme);
            plan["load"] = json!({
                "connections": connections, "depth": pack, "pack": pack, "seed": 7,
                "executor": {"kind": "random-burst"},
            });
            plan["stop"] = json!({"requests": 1003});
            plan["generator"]["threads"] = json!(threads);
            let outcome = checked(&plan);
            let counters = &outcome.summary.counters;
            let what = format!("{scheme}, {connections}: {:?}", outcome.errors());
            assert_eq!((counters.sent, counters.ok), (1003, 1003), "{what}");
            assert_eq!(outcome.summary.connections.opened, connections, "{what}");
        }
    }
}

#[test]
fn a_burst_waits_for_the_last_reply_of_the_one_before() {
    let delay = Some("20ms".parse().expect("a delay"));
    let rig = Rig::new(Script { delay, ..Script::default() });
    for scheme in PROTOCOLS {
        let mut plan = rig.plan(scheme);
        plan["load"] = json!({
            "connections": 30, "depth": 2, "pack": 2, "executor": {"kind": "random-burst"},
        });
        plan["stop"] = json!({"requests": 5 * 60});
        let outcome = checked(&plan);
        assert_eq!(outcome.summary.counters.ok, 300, "{scheme}: {:?}", outcome.errors());
        let took = outcome.summary.end_ns - outcome.summary.first_send_ns;
        assert!(took >= 5 * 20 * MS, "{scheme}: {took} ns for five bursts of 20 ms");
    }
}

#[test]
fn held_connections_are_idle_first_and_then_each_is_alive() {
    let rig = Rig::new(Script::default());
    for (scheme, connections) in [("ws", 200), ("wss", 20)] {
        let mut plan = rig.plan(scheme);
        plan["load"] = json!({
            "connections": connections, "executor": {"kind": "hold", "idle_ns": 300 * MS},
        });
        plan["stop"] = json!({"duration_ns": 20_000 * MS, "requests": connections});
        plan["generator"]["threads"] = json!(2);
        let outcome = checked(&plan);
        let summary = &outcome.summary;
        assert_eq!(summary.counters.ok, connections, "{scheme}: {:?}", outcome.errors());
        assert_eq!(summary.connections.closed.get("plan"), None, "{scheme}: none is renewed");
        let (asked, stood) = (summary.connect_start_ns, summary.connected_ns);
        let (asked, stood) = (asked.expect("kept"), stood.expect("they stood"));
        assert!(asked < stood, "{scheme}");
        let idle = summary.first_send_ns - stood;
        assert!(idle >= 300 * MS, "{scheme}: the first message went after {idle} ns");
        assert!(summary.end_ns < 20_000 * MS, "{scheme}: nothing was left to ask");
    }
}

#[test]
fn connections_that_are_not_kept_have_no_instant_at_which_all_stood() {
    let rig = Rig::new(Script::default());
    let mut plan = rig.plan("ws");
    plan["load"] = json!({"connections": 2, "requests_per_connection": 1});
    let outcome = checked(&plan);
    assert_eq!((outcome.summary.connect_start_ns, outcome.summary.connected_ns), (None, None));
}
