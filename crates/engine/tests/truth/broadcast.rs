//! Broadcasts: each message comes to every connection, and every copy is accounted for.

use serde_json::{Value, json};
use wiretrial_load::measure::snapshot::Deliveries;
use wiretrial_load::plan::Plan;
use wiretrial_respond::{DeflateConfig, Script};

use crate::outcome::checked;
use crate::rig::Rig;

const MS: u64 = 1_000_000;

fn broadcast(rig: &Rig, scheme: &str, connections: u32) -> Value {
    let mut plan = rig.plan(scheme);
    let url = plan["target"]["url"].as_str().expect("a URL").trim_end_matches('/').to_owned();
    plan["target"]["url"] = json!(format!("{url}/broadcast"));
    plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": 20}});
    plan["target"]["expect"] = json!({"content": {"is": "broadcast"}});
    plan["load"] = json!({"connections": connections});
    plan
}

#[test]
fn everybody_hears_everything() {
    let rig = Rig::new(Script::default());
    for scheme in ["ws", "wss"] {
        for (connections, depth, bytes) in [(1, 1, 16), (7, 1, 20), (5, 8, 1000), (3, 2, 100_000)] {
            let mut plan = broadcast(&rig, scheme, connections);
            plan["target"]["message"]["source"]["bytes"] = json!(bytes);
            plan["load"]["depth"] = json!(depth);
            plan["stop"] = json!({"requests": 200});
            let outcome = checked(&plan);
            let counters = &outcome.summary.counters;
            let name = format!("{scheme}, {connections} connections, {bytes} bytes");
            assert_eq!((counters.sent, counters.ok), (200, 200), "{name}: {:?}", outcome.errors());
            let copies = 200 * u64::from(connections);
            let heard = &counters.deliveries;
            assert_eq!((heard.expected, heard.ok), (copies, copies), "{name}: {heard:?}");
            let times = outcome.histogram("delivery_time").expect("recorded");
            assert_eq!(times.len(), copies, "{name}");
        }
    }
}

#[test]
fn a_connection_that_has_sent_its_share_stays_for_the_others_copies() {
    let rig = Rig::new(Script::default());
    let mut plan = broadcast(&rig, "ws", 8);
    plan["load"]["depth"] = json!(4);
    plan["stop"] = json!({"requests_each": 50});
    let counters = checked(&plan).summary.counters;
    assert_eq!((counters.sent, counters.ok), (400, 400));
    let Deliveries { expected, ok, missing, .. } = counters.deliveries;
    assert_eq!((expected, ok, missing), (3_200, 3_200, 0), "{:?}", counters.deliveries);
}

#[test]
fn compressed_ones_too() {
    let rig = Rig::with_deflate(DeflateConfig::default());
    let mut plan = broadcast(&rig, "ws", 4);
    plan["target"]["websocket"] = json!({"deflate": {}});
    plan["stop"] = json!({"requests": 100});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.deliveries.ok, 400, "{:?}", outcome.errors());
}

#[test]
fn text_is_told_from_bytes() {
    let rig = Rig::new(Script::default());
    let mut plan = broadcast(&rig, "ws", 2);
    plan["target"]["message"]["kind"] = json!("text");
    plan["stop"] = json!({"requests": 100});
    assert_eq!(checked(&plan).summary.counters.deliveries.ok, 200);
}

#[test]
fn an_open_loop_has_its_rate_and_each_copy_its_time() {
    let rig = Rig::new(Script::default());
    let mut plan = broadcast(&rig, "ws", 10);
    plan["load"]["executor"] = json!({"kind": "open", "rate": 200.0});
    plan["stop"] = json!({"duration_ns": 1_000 * MS});
    let outcome = checked(&plan);
    let counters = &outcome.summary.counters;
    assert_eq!(counters.sent + counters.dropped, 200);
    assert_eq!(counters.deliveries.ok, 10 * counters.sent, "{:?}", counters.deliveries);
}

#[test]
fn an_echo_alone_leaves_copies_missing() {
    // Whoever answers only the sender: its own copy comes, those of the others do not.
    let rig = Rig::new(Script::default());
    let mut plan = broadcast(&rig, "ws", 3);
    plan["target"]["url"] = rig.plan("ws")["target"]["url"].clone();
    plan["stop"] = json!({"requests": 60});
    let outcome = checked(&plan);
    let heard = &outcome.summary.counters.deliveries;
    assert_eq!((heard.expected, heard.ok), (180, 60), "{heard:?}");
    assert_eq!(heard.missing + heard.in_flight, 120, "{heard:?}");
}

#[test]
fn each_fault_is_told_apart() {
    for fault in ["repeat@10", "wrong@10"] {
        let rig = Rig::faulty(fault);
        let mut plan = broadcast(&rig, "ws", 2);
        plan["stop"] = json!({"requests": 200});
        let outcome = checked(&plan);
        let heard = &outcome.summary.counters.deliveries;
        let count = if fault == "repeat@10" { heard.duplicate } else { heard.mismatch };
        assert!((38..=42).contains(&count), "{fault}: one copy in ten of 400, not {count}");
    }
}

#[test]
fn plans_that_cannot_be_are_refused() {
    let rig = Rig::new(Script::default());
    let rows: [(Value, Value, &str); 6] = [
        (json!({"url": "http://h/"}), json!({}), "only ws and wss have broadcasts"),
        (
            json!({"message": {"source": {"from": "sequence", "bytes": 15}}}),
            json!({}),
            "16 bytes or more",
        ),
        (
            json!({"message": {"source": {"from": "template", "text": "{seq}"}}}),
            json!({}),
            "16 bytes or more",
        ),
        (json!({}), json!({"connections": 1001}), "1000 connections at most"),
        (json!({}), json!({"requests_per_connection": 5}), "stay; leave it out"),
        (json!({}), json!({"connections": 2, "depth": 65}), "at most 64 messages"),
    ];
    for (target, load, expected) in rows {
        let mut plan = broadcast(&rig, "ws", 2);
        for (place, changes) in [("target", &target), ("load", &load)] {
            for (name, value) in changes.as_object().expect("an object") {
                plan[place][name] = value.clone();
            }
        }
        let refusal = Plan::from_json(&plan.to_string()).expect_err(expected).to_string();
        assert!(refusal.contains(expected), "{refusal}");
    }
    let mut plan = broadcast(&rig, "ws", 2);
    plan["generator"] = json!({"threads": 2});
    let refusal = Plan::from_json(&plan.to_string()).expect_err("threads").to_string();
    assert!(refusal.contains("use --threads 1"), "{refusal}");
}
