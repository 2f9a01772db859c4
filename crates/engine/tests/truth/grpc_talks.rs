//! Calls of gRPC whose messages go one by one: nothing is said before its time, and each answer has its own.

use serde_json::{Value, json};
use wiretrial_load::plan::Plan;
use wiretrial_respond::Script;

use crate::grpc::{base64, plan};
use crate::outcome::{checked, run};
use crate::rig::Rig;

const MS: u64 = 1_000_000;
/// Messages of a call.
const COUNT: u64 = 5;

/// Calls of this many messages on 2 connections with 4 streams each.
fn talking(rig: &Rig, method: &str, requests: u64, grpc: &Value) -> Value {
    let mut plan = plan(rig, "grpc", method, requests);
    let list: Vec<_> = (0..COUNT).map(|value| base64(&[8, value as u8])).collect();
    plan["target"]["message"] = json!({"source": {"from": "list", "base64": list}});
    plan["target"]["grpc"] = grpc.clone();
    plan
}

#[test]
fn a_message_goes_at_its_instant_and_each_echo_is_right() {
    let rig = Rig::new(Script::default());
    for gzip in [false, true] {
        let grpc = json!({"kind": "bidi", "message_interval_ns": 10 * MS, "gzip": gzip});
        let mut plan = talking(&rig, "Bidi", 40, &grpc);
        plan["target"]["expect"] = json!({"content": {"is": "echo"}});
        let outcome = checked(&plan);
        let counters = &outcome.summary.counters;
        assert_eq!((counters.ok, counters.messages), (40, 40 * COUNT), "{:?}", outcome.errors());
        // The last message of a call goes four intervals after its first one is due; one that goes
        // late shortens its call.
        let calls = outcome.histogram("service_time").expect("recorded");
        let median = calls.value_at_quantile(0.5);
        assert!(median >= 39 * MS, "{median} ns");
        assert_eq!(outcome.histogram("message_time").expect("recorded").len(), 40 * COUNT);
        let bytes = outcome.summary.bytes;
        assert_eq!(bytes.payload_sent, 40 * COUNT * 7);
        assert_eq!(bytes.payload_received, bytes.payload_sent);
    }
}

#[test]
fn in_turns_each_message_waits_for_its_echo() {
    let rig = Rig::new(Script::default());
    for gzip in [false, true] {
        let grpc = json!({"kind": "bidi", "turns": true, "gzip": gzip});
        let mut plan = talking(&rig, "Bidi", 400, &grpc);
        plan["target"]["expect"] = json!({"content": {"is": "echo"}});
        let outcome = checked(&plan);
        let counters = &outcome.summary.counters;
        assert_eq!((counters.ok, counters.messages), (400, 400 * COUNT), "{:?}", outcome.errors());
        let [times, calls] =
            ["message_time", "service_time"].map(|name| outcome.histogram(name).expect("recorded"));
        assert_eq!(times.len(), 400 * COUNT);
        // Five round trips, one after the other: none of them is nothing, and all are in the call.
        assert!(times.min() > 0 && times.mean() * COUNT as f64 <= calls.mean() * 1.01);
    }
}

#[test]
fn a_stream_to_the_server_goes_at_its_pace() {
    let rig = Rig::new(Script::default());
    let grpc = json!({"kind": "client", "message_interval_ns": 5 * MS});
    let mut plan = talking(&rig, "Client", 40, &grpc);
    let last = base64(&[8, COUNT as u8 - 1]);
    plan["target"]["expect"] = json!({"content": {"is": "fixed", "base64": last}});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 40, "{:?}", outcome.errors());
    // A first message that goes late shortens its call: the others are due all the same.
    let times = outcome.histogram("service_time").expect("recorded");
    assert!(times.value_at_quantile(0.5) >= 19 * MS, "{}", times.value_at_quantile(0.5));
}

#[test]
fn wrong_echoes_are_found_in_turns() {
    let rig = Rig::new(Script::default());
    let mut plan = talking(&rig, "Bidi", 20, &json!({"kind": "bidi", "turns": true}));
    let field = json!({"number": 1, "wire": "varint", "values": ["AA==", "AQ==", "Ag==", "Aw=="]});
    plan["target"]["expect"] = json!({"content": {"is": "fields", "shape": {"fields": [field]}}});
    let error = run(&plan).expect_err("the fifth is wrong").to_string();
    assert!(error.contains("field 1 had 4"), "{error}");
}

#[test]
fn plans_that_cannot_be_are_refused() {
    let rig = Rig::new(Script::default());
    let rows = [
        (json!({"message_interval_ns": MS}), "only for methods with a client stream"),
        (
            json!({"kind": "server", "message_interval_ns": MS}),
            "only for methods with a client stream",
        ),
        (json!({"kind": "bidi", "message_interval_ns": 0}), "0 is too short"),
        (json!({"kind": "client", "turns": true}), "only for bidirectional streams"),
        (json!({"kind": "bidi", "turns": true, "message_interval_ns": MS}), "exclude each other"),
        (
            json!({"kind": "bidi", "message_interval_ns": 3_000 * MS}),
            "the last message of a call is due after 12000 ms",
        ),
    ];
    for (grpc, expected) in rows {
        let plan = talking(&rig, "Bidi", 1, &grpc);
        let refusal = Plan::from_json(&plan.to_string()).expect_err(expected).to_string();
        assert!(refusal.contains(expected) && !refusal.contains('\n'), "{refusal}");
    }
    let mut plan = talking(&rig, "Bidi", 1, &json!({"kind": "bidi", "turns": true}));
    plan["target"]["message"] = json!({});
    let refusal = Plan::from_json(&plan.to_string()).expect_err("one message").to_string();
    assert!(refusal.contains("pacing needs a call with several messages"), "{refusal}");
}
