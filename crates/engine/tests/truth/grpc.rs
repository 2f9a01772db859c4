//! Calls of gRPC: the status stands behind the content, and a reply may have many messages.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use wiretrial_respond::Script;

use crate::outcome::{checked, run};
use crate::rig::Rig;

const MS: u64 = 1_000_000;

pub(super) fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// Calls of this method of the reference server, 2 connections with 4 streams each.
pub(super) fn plan(rig: &Rig, scheme: &str, method: &str, requests: u64) -> Value {
    let mut plan = rig.plan(if scheme == "grpcs" { "https" } else { "http" });
    let url = plan["target"]["url"].as_str().expect("a URL");
    let (_, rest) = url.split_once("://").expect("a scheme");
    let authority = rest.trim_end_matches("/echo");
    plan["target"]["url"] = json!(format!("{scheme}://{authority}/wiretrial.Echo/{method}"));
    plan["load"] = json!({"connections": 2, "depth": 4});
    plan["stop"] = json!({"requests": requests});
    plan
}

fn message(bytes: &[u8]) -> Value {
    json!({"source": {"from": "fixed", "base64": base64(bytes)}})
}

#[test]
fn every_call_gets_its_own_reply() {
    let rig = Rig::new(Script::default());
    for scheme in ["grpc", "grpcs"] {
        let outcome = checked(&plan(&rig, scheme, "Unary", 2_000));
        let counters = &outcome.summary.counters;
        assert_eq!(counters.ok, 2_000, "{scheme}: {:?}", outcome.summary.examples);
        assert_eq!(counters.statuses.get("OK"), Some(&2_000), "{scheme}");
        assert_eq!((counters.statuses.len(), counters.messages), (1, 0), "{scheme}");
        assert!(outcome.histogram("message_time").is_none());
    }
}

#[test]
fn numbers_are_found_where_the_plan_puts_them() {
    let rig = Rig::new(Script::default());
    let mut plan = plan(&rig, "grpc", "Unary", 500);
    // Field 1, a text of 16 digits.
    let bytes = [&[10, 16][..], &[b'0'; 16]].concat();
    let source = json!({"from": "numbered", "base64": base64(&bytes), "places": [2]});
    plan["target"]["message"] = json!({"source": source});
    assert_eq!(checked(&plan).summary.counters.ok, 500);
    let field = json!({"number": 1, "wire": "len", "least": 1, "most": 1, "length": [16, 16], "utf8": true});
    plan["target"]["expect"] = json!({"content": {"is": "fields", "shape": {"fields": [field]}}});
    assert_eq!(checked(&plan).summary.counters.ok, 500);
}

#[test]
fn fields_are_checked_in_every_reply() {
    let rig = Rig::new(Script::default());
    let mut plan = plan(&rig, "grpc", "Unary", 100);
    // The first reply has field 1 = 5 as all others; what is asked is 5, or 6.
    plan["target"]["message"] = message(&[8, 5]);
    for (value, others) in [("BQ==", true), ("BQ==", false)] {
        let field = json!({"number": 1, "wire": "varint", "least": 1, "values": [value]});
        let shape = json!({"fields": [field], "others": others});
        plan["target"]["expect"] = json!({"content": {"is": "fields", "shape": shape}});
        assert_eq!(checked(&plan).summary.counters.ok, 100);
    }
    let field = json!({"number": 1, "wire": "varint", "values": ["Bg=="]});
    plan["target"]["expect"] = json!({"content": {"is": "fields", "shape": {"fields": [field]}}});
    let error = run(&plan).expect_err("the first reply is wrong").to_string();
    assert!(error.contains("field 1 had 5, not 6"), "{error}");
}

#[test]
fn wrong_replies_are_found_among_right_ones() {
    for (fault, class) in [("wrong@7", "mismatch"), ("status@7", "status")] {
        let rig = Rig::faulty(fault);
        let outcome = checked(&plan(&rig, "grpc", "Unary", 700));
        let found = outcome.errors().get(class).copied().unwrap_or_default();
        assert_eq!(found, 100, "{fault}: {:?}", outcome.errors());
        let counters = &outcome.summary.counters;
        assert_eq!(counters.ok, 600, "{fault}");
        if class == "status" {
            assert_eq!(counters.statuses.get("INTERNAL"), Some(&100));
            assert_eq!(outcome.summary.examples["status"], "status INTERNAL: scripted fault");
        }
    }
}

#[test]
fn a_status_that_is_expected_is_right() {
    let rig = Rig::new(Script::default());
    let mut plan = plan(&rig, "grpc", "Unary?status=5&said=no%20such", 50);
    let error = run(&plan).expect_err("OK is expected").to_string();
    assert!(error.contains("status NOT_FOUND, not OK: no such"), "{error}");
    plan["target"]["grpc"] = json!({"status": 5});
    let outcome = checked(&plan);
    let counters = &outcome.summary.counters;
    assert_eq!((counters.ok, counters.statuses.get("NOT_FOUND")), (50, Some(&50)));
}

#[test]
fn a_reply_without_a_status_is_refused_before_the_load() {
    let rig = Rig::new(Script::default());
    let error = run(&plan(&rig, "grpc", "Unary?bare=1", 50)).expect_err("no status").to_string();
    assert!(error.contains("no grpc-status"), "{error}");
}

#[test]
fn what_comes_behind_the_deadline_has_failed() {
    let delay = Some("30ms".parse().expect("a delay"));
    let rig = Rig::new(Script { delay, ..Script::default() });
    for (deadline, late) in [(10 * MS, 40), (10_000 * MS, 0)] {
        let mut plan = plan(&rig, "grpc", "Unary", 40);
        plan["target"]["grpc"] = json!({"deadline_ns": deadline});
        let outcome = checked(&plan);
        let found = outcome.errors().get("deadline").copied().unwrap_or_default();
        assert_eq!(found, late, "{:?}", outcome.errors());
    }
}

#[test]
fn messages_of_a_stream_are_counted_and_each_has_a_time() {
    let rig = Rig::new(Script::default());
    let mut plan = plan(&rig, "grpc", "Server?count=20", 200);
    plan["target"]["message"] = message(&[8, 5]);
    plan["target"]["grpc"] = json!({"kind": "server", "replies": [20, 20]});
    let all: Vec<_> = (0..20).map(|_| base64(&[8, 5])).collect();
    let contents = [
        json!({"is": "messages", "base64": all}),
        json!({"is": "status"}),
        json!({"is": "learned"}),
        json!({"is": "fields", "shape": {"others": true}}),
    ];
    for content in contents {
        plan["target"]["expect"] = json!({"content": content});
        let outcome = checked(&plan);
        let counters = &outcome.summary.counters;
        assert_eq!((counters.ok, counters.messages), (200, 4_000), "{content}");
        let times = outcome.histogram("message_time").expect("recorded");
        assert_eq!(times.len(), 4_000);
    }
    plan["target"]["grpc"] = json!({"kind": "server", "replies": [21, null]});
    plan["target"]["expect"] = json!({"content": {"is": "status"}});
    let error = run(&plan).expect_err("too few").to_string();
    assert!(error.contains("messages of the reply: 20, not 21 or more"), "{error}");
}

#[test]
fn a_list_is_one_call_where_the_client_sends_several() {
    let rig = Rig::new(Script::default());
    let list: Vec<_> = (0..5).map(|value| base64(&[8, value])).collect();
    for (kind, method, content) in [
        ("bidi", "Bidi", json!({"is": "echo"})),
        ("bidi", "Bidi", json!({"is": "messages", "base64": list})),
        ("client", "Client", json!({"is": "fixed", "base64": list[4]})),
    ] {
        for scheme in ["grpc", "grpcs"] {
            let mut plan = plan(&rig, scheme, method, 200);
            plan["target"]["message"] = json!({"source": {"from": "list", "base64": list}});
            plan["target"]["grpc"] = json!({"kind": kind});
            plan["target"]["expect"] = json!({"content": content});
            let outcome = checked(&plan);
            let counters = &outcome.summary.counters;
            assert_eq!(counters.ok, 200, "{scheme} {method}: {:?}", outcome.summary.examples);
            let messages = if kind == "bidi" { 1_000 } else { 0 };
            assert_eq!(counters.messages, messages, "{scheme} {method}");
        }
    }
}

#[test]
fn content_longer_than_a_window_ends_with_its_status() {
    let rig = Rig::new(Script::default());
    let mut plan = plan(&rig, "grpc", "Unary", 8);
    plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": 5 << 20}});
    plan["phases"] = json!({"timeout_ns": 20_000 * MS, "drain_ns": 20_000 * MS});
    assert_eq!(checked(&plan).summary.counters.ok, 8);
}

#[test]
fn a_server_of_http_alone_is_refused_in_one_line() {
    let rig = Rig::new(Script::default());
    let mut plan = plan(&rig, "grpc", "Nothing", 8);
    let error = run(&plan).expect_err("no such method").to_string();
    assert!(error.contains("UNIMPLEMENTED") && !error.contains('\n'), "{error}");
    plan["target"]["url"] = json!("grpc://127.0.0.1:1/");
    let text = plan.to_string();
    let error = wiretrial_load::plan::Plan::from_json(&text).expect_err("no method").to_string();
    assert!(error.contains("/package.Service/Method"), "{error}");
}
