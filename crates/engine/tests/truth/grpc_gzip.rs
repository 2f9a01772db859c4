//! Calls of gRPC whose messages go in gzip: each reply is checked as it was before, and what it saves is counted.

use serde_json::{Value, json};
use wiretrial_load::plan::Plan;
use wiretrial_respond::Script;

use crate::grpc::{base64, plan};
use crate::outcome::{checked, run};
use crate::rig::Rig;

const MS: u64 = 1_000_000;
const BYTES: u64 = 2_000;

/// A number and a pattern that each message repeats, in gzip.
fn packed(rig: &Rig, scheme: &str, method: &str) -> Value {
    let mut plan = plan(rig, scheme, method, 200);
    plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": BYTES}});
    plan["target"]["grpc"] = json!({"gzip": true});
    plan
}

#[test]
fn every_reply_is_its_own_and_what_it_saves_is_counted() {
    let rig = Rig::new(Script::default());
    for scheme in ["grpc", "grpcs"] {
        let outcome = checked(&packed(&rig, scheme, "Unary"));
        let summary = &outcome.summary;
        assert_eq!(summary.counters.ok, 200, "{scheme}: {:?}", summary.examples);
        assert_eq!(outcome.start.deflate.as_deref(), Some("gzip"), "{scheme}");
        let bytes = summary.bytes;
        let plain = 200 * (BYTES + 5);
        assert_eq!((bytes.payload_sent, bytes.payload_received), (plain, plain), "{scheme}");
        assert!(bytes.application_sent < plain / 5, "{scheme}: {bytes:?}");
        assert!(bytes.application_received < plain / 5, "{scheme}: {bytes:?}");
    }
}

#[test]
fn messages_of_a_stream_are_told_apart() {
    let rig = Rig::new(Script::default());
    let list: Vec<_> = (0..5).map(|value| base64(&[[8, value]; 40].concat())).collect();
    for (kind, method, content, messages) in [
        ("bidi", "Bidi", json!({"is": "echo"}), 1_000),
        ("bidi", "Bidi", json!({"is": "fields", "shape": {"others": true}}), 1_000),
        ("client", "Client", json!({"is": "fixed", "base64": list[4]}), 0),
    ] {
        let mut plan = packed(&rig, "grpc", method);
        plan["target"]["message"] = json!({"source": {"from": "list", "base64": list}});
        plan["target"]["grpc"] = json!({"kind": kind, "gzip": true});
        plan["target"]["expect"] = json!({"content": content});
        let counters = checked(&plan).summary.counters;
        assert_eq!((counters.ok, counters.messages), (200, messages), "{method} {content}");
    }
    let mut plan = packed(&rig, "grpc", "Server?count=20");
    plan["target"]["grpc"] = json!({"kind": "server", "gzip": true, "replies": [20, 20]});
    plan["target"]["expect"] = json!({"content": {"is": "learned"}});
    plan["target"]["message"] = json!({"source": {"from": "fixed", "base64": list[1]}});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.messages, 4_000);
    assert_eq!(outcome.histogram("message_time").expect("recorded").len(), 4_000);
}

#[test]
fn content_that_comes_in_many_frames_is_inflated_whole() {
    let rig = Rig::new(Script::default());
    let mut plan = packed(&rig, "grpc", "Unary");
    // What can't be made smaller, in several frames of 16 KiB.
    let noise: Vec<u8> = (0..100_000_u32).map(|at| (at.wrapping_mul(at) >> 9) as u8).collect();
    plan["target"]["message"] = json!({"source": {"from": "fixed", "base64": base64(&noise)}});
    plan["phases"] = json!({"timeout_ns": 20_000 * MS, "drain_ns": 20_000 * MS});
    assert_eq!(checked(&plan).summary.counters.ok, 200);
}

#[test]
fn the_time_of_a_reply_is_that_of_its_call() {
    let delay = Some("30ms".parse().expect("a delay"));
    let rig = Rig::new(Script { delay, ..Script::default() });
    let mut plan = packed(&rig, "grpc", "Unary");
    plan["stop"] = json!({"requests": 40});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 40);
    assert!(outcome.histogram("service_time").expect("recorded").min() >= 29 * MS);
}

#[test]
fn wrong_messages_are_found_behind_right_sums() {
    let rig = Rig::faulty("wrong@7");
    let mut plan = packed(&rig, "grpc", "Unary");
    plan["stop"] = json!({"requests": 700});
    let outcome = checked(&plan);
    assert_eq!(outcome.errors().get("mismatch"), Some(&100), "{:?}", outcome.errors());
    assert_eq!(outcome.summary.counters.ok, 600);
}

#[test]
fn a_server_that_does_not_compress_is_told_of() {
    let rig = Rig::new(Script::default());
    // Empty messages have nothing that could be made smaller.
    let mut plan = packed(&rig, "grpc", "Unary");
    plan["target"]["message"] = json!({});
    let outcome = checked(&plan);
    assert_eq!(outcome.start.deflate.as_deref(), Some("gzip, replies uncompressed"));
    plan["target"]["grpc"] = json!({});
    assert_eq!(checked(&plan).start.deflate, None);
}

#[test]
fn only_calls_go_in_gzip() {
    let rig = Rig::new(Script::default());
    let mut plan = rig.plan("http");
    plan["target"]["grpc"] = json!({"gzip": true});
    let refusal = Plan::from_json(&plan.to_string()).expect_err("no call").to_string();
    assert!(refusal.contains("only grpc:// and grpcs:// make calls"), "{refusal}");
    assert!(run(&packed(&rig, "grpc", "Unary")).is_ok());
}
