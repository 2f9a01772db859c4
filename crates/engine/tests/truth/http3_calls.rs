//! Calls of gRPC over HTTP/3: each on a stream of QUIC, with all that they are over HTTP/2.

use serde_json::{Value, json};
use wiretrial_load::measure::http2::Version;
use wiretrial_respond::Script;

use crate::grpc::{self, base64};
use crate::grpc_sessions;
use crate::outcome::{Outcome, checked, run};
use crate::rig::Rig;

const MS: u64 = 1_000_000;

/// Calls of this method of the reference server, 2 connections with 4 streams each.
fn plan(rig: &Rig, method: &str, requests: u64) -> Value {
    let mut plan = grpc::plan(rig, "grpcs", method, requests);
    plan["target"]["http"] = json!({"version": "3"});
    plan["phases"] = json!({"timeout_ns": 20_000 * MS, "drain_ns": 20_000 * MS});
    plan
}

fn list() -> Vec<String> {
    (0..5).map(|value| base64(&[8, value])).collect()
}

/// That all of so many were right, each of them with so many messages.
fn all_right(outcome: &Outcome, calls: u64, messages: u64) {
    let counters = &outcome.summary.counters;
    let examples = &outcome.summary.examples;
    assert_eq!((counters.ok, counters.messages), (calls, calls * messages), "{examples:?}");
    assert_eq!(counters.statuses.get("OK"), Some(&calls), "{examples:?}");
}

#[test]
fn every_call_gets_its_own_reply_and_the_result_says_over_what() {
    let rig = Rig::with_http3(Script::default());
    let outcome = checked(&plan(&rig, "Unary", 2_000));
    all_right(&outcome, 2_000, 0);
    assert_eq!(outcome.summary.counters.statuses.len(), 1);
    assert_eq!(outcome.start.http.map(|spoken| spoken.version), Some(Version::Three));
    assert_eq!(outcome.summary.connections.opened, 2);
    assert!(outcome.summary.http2.is_none() && outcome.summary.http3.is_some());
}

#[test]
fn statuses_are_those_of_the_calls() {
    let rig = Rig::with_http3(Script::default());
    let mut five = plan(&rig, "Unary?status=5&said=no%20such", 50);
    let error = run(&five).expect_err("OK is expected").to_string();
    assert!(error.contains("status NOT_FOUND, not OK: no such"), "{error}");
    five["target"]["grpc"] = json!({"status": 5});
    let counters = checked(&five).summary.counters;
    assert_eq!((counters.ok, counters.statuses.get("NOT_FOUND")), (50, Some(&50)));
    let error = run(&plan(&rig, "Unary?bare=1", 50)).expect_err("no status").to_string();
    assert!(error.contains("no grpc-status"), "{error}");
    let error = run(&plan(&rig, "Nothing", 8)).expect_err("no such method").to_string();
    assert!(error.contains("UNIMPLEMENTED") && !error.contains('\n'), "{error}");
}

#[test]
fn wrong_replies_are_found_among_right_ones() {
    for (fault, class) in [("wrong@7", "mismatch"), ("status@7", "status")] {
        let faults = vec![fault.parse().expect("a fault")];
        let rig = Rig::with_http3(Script { faults, ..Script::default() });
        let outcome = checked(&plan(&rig, "Unary", 700));
        assert_eq!(outcome.errors().get(class), Some(&100), "{fault}: {:?}", outcome.errors());
        assert_eq!(outcome.summary.counters.ok, 600, "{fault}");
        if class == "status" {
            assert_eq!(outcome.summary.counters.statuses.get("INTERNAL"), Some(&100));
            assert_eq!(outcome.summary.examples["status"], "status INTERNAL: scripted fault");
        }
    }
}

#[test]
fn what_comes_behind_the_deadline_has_failed() {
    let delay = Some("30ms".parse().expect("a delay"));
    let rig = Rig::with_http3(Script { delay, ..Script::default() });
    let mut plan = plan(&rig, "Unary", 40);
    plan["target"]["grpc"] = json!({"deadline_ns": 10 * MS});
    assert_eq!(checked(&plan).errors().get("deadline"), Some(&40));
}

#[test]
fn messages_of_streams_are_counted_and_each_has_a_time() {
    let rig = Rig::with_http3(Script::default());
    let mut server = plan(&rig, "Server?count=20", 200);
    server["target"]["message"] = json!({"source": {"from": "fixed", "base64": base64(&[8, 5])}});
    server["target"]["grpc"] = json!({"kind": "server", "replies": [20, 20]});
    server["target"]["expect"] = json!({"content": {"is": "learned"}});
    let outcome = checked(&server);
    all_right(&outcome, 200, 20);
    assert_eq!(outcome.histogram("message_time").expect("recorded").len(), 4_000);
    let last = json!({"is": "fixed", "base64": list()[4]});
    for (kind, method, content, messages) in
        [("bidi", "Bidi", json!({"is": "echo"}), 5), ("client", "Client", last, 0)]
    {
        let mut plan = plan(&rig, method, 200);
        plan["target"]["message"] = json!({"source": {"from": "list", "base64": list()}});
        plan["target"]["grpc"] = json!({"kind": kind});
        plan["target"]["expect"] = json!({"content": content});
        all_right(&checked(&plan), 200, messages);
    }
}

#[test]
fn long_content_ends_with_its_status() {
    let rig = Rig::with_http3(Script::default());
    let mut plan = plan(&rig, "Unary", 8);
    plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": 2 << 20}});
    all_right(&checked(&plan), 8, 0);
}

#[test]
fn messages_go_in_gzip_and_replies_are_what_they_were() {
    let rig = Rig::with_http3(Script::default());
    let mut plan = plan(&rig, "Unary", 200);
    plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": 2_000}});
    plan["target"]["grpc"] = json!({"gzip": true});
    let outcome = checked(&plan);
    all_right(&outcome, 200, 0);
    assert_eq!(outcome.start.deflate.as_deref(), Some("gzip"));
    let bytes = outcome.summary.bytes;
    let unpacked = 200 * 2_005;
    assert_eq!((bytes.payload_sent, bytes.payload_received), (unpacked, unpacked));
    assert!(bytes.application_sent < unpacked / 5, "{bytes:?}");
    assert!(bytes.application_received < unpacked / 5, "{bytes:?}");
}

#[test]
fn messages_go_one_by_one() {
    let rig = Rig::with_http3(Script::default());
    for gzip in [false, true] {
        let turns = json!({"kind": "bidi", "turns": true, "gzip": gzip});
        let paced = json!({"kind": "bidi", "message_interval_ns": 10 * MS, "gzip": gzip});
        for (grpc, calls, least) in [(turns, 200, 0), (paced, 40, 39 * MS)] {
            let mut plan = plan(&rig, "Bidi", calls);
            plan["target"]["message"] = json!({"source": {"from": "list", "base64": list()}});
            plan["target"]["grpc"] = grpc;
            plan["target"]["expect"] = json!({"content": {"is": "echo"}});
            let outcome = checked(&plan);
            all_right(&outcome, calls, 5);
            assert_eq!(outcome.histogram("message_time").expect("recorded").len(), calls * 5);
            let times = outcome.histogram("service_time").expect("recorded");
            // A first message that goes late shortens its call: the others are due all the same.
            let median = times.value_at_quantile(0.5);
            assert!(median >= least, "{median} ns");
        }
    }
}

#[test]
fn sessions_make_calls_beside_requests() {
    let rig = Rig::with_http3(Script::default());
    let mut plan = grpc_sessions::over(&rig, ("https", "3"), 300);
    for load in [json!({"connections": 4}), json!({"connections": 2, "users": 12, "depth": 6})] {
        plan["load"] = load;
        let counters = checked(&plan).summary.counters;
        assert_eq!((counters.ok, counters.statuses.get("OK")), (900, Some(&600)));
    }
}
