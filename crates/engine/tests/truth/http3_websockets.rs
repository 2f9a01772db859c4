//! WebSocket over HTTP/3 (RFC 9220): many on a connection of QUIC, each with one message at a time.

use std::num::NonZeroU32;

use serde_json::{Value, json};
use wiretrial_load::measure::http2::{By, Version};
use wiretrial_load::plan::Plan;
use wiretrial_respond::{DeflateConfig, Script};

use crate::http3_host::{Http3Host, Manner};
use crate::outcome::{checked, run};
use crate::rig::Rig;

const MS: u64 = 1_000_000;

/// Echoes on 4 connections with 8 WebSockets each.
fn plan(rig: &Rig, requests: u64) -> Value {
    let mut plan = rig.plan("wss");
    plan["target"]["http"] = json!({"version": "3"});
    plan["load"] = json!({"connections": 4, "depth": 8});
    plan["stop"] = json!({"requests": requests});
    plan["phases"] = json!({"timeout_ns": 20_000 * MS, "drain_ns": 20_000 * MS});
    plan
}

fn faulty(fault: &str) -> Rig {
    let faults = vec![fault.parse().expect("a fault")];
    Rig::with_http3(Script { faults, ..Script::default() })
}

#[test]
fn every_websocket_gets_its_own_replies() {
    let rig = Rig::with_http3(Script::default());
    let outcome = checked(&plan(&rig, 4_000));
    let summary = &outcome.summary;
    assert_eq!(summary.counters.ok, 4_000, "{:?}", summary.examples);
    assert!(outcome.errors().is_empty(), "{:?}", outcome.errors());
    assert_eq!(summary.connections.opened, 4);
    let spoken = outcome.start.http.expect("it is told");
    assert_eq!((spoken.version, spoken.by), (Version::Three, By::Alpn));
    let recorded = |name| outcome.histogram(name).map(|times| times.len());
    assert_eq!(recorded("connect_time"), Some(4));
    assert_eq!(recorded("upgrade_time"), Some(32), "of each WebSocket");
    assert!(summary.http3.is_some());
}

#[test]
fn long_messages_are_verified_to_their_last_byte() {
    let rig = Rig::with_http3(Script::default());
    let mut plan = plan(&rig, 16);
    plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": 1 << 20}});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 16, "{:?}", outcome.errors());
}

#[test]
fn messages_are_compressed_where_that_is_agreed_on() {
    let rig = Rig::with_http3_and_deflate(DeflateConfig::default());
    let mut plan = plan(&rig, 400);
    plan["target"]["websocket"] = json!({"deflate": {}});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 400, "{:?}", outcome.errors());
    assert_eq!(outcome.start.deflate.as_deref(), Some("permessage-deflate"));
}

#[test]
fn a_reply_is_no_faster_than_its_delay_in_either_loop() {
    let delay = Some("20ms".parse().expect("a delay"));
    let rig = Rig::with_http3(Script { delay, ..Script::default() });
    for executor in [json!({"kind": "closed"}), json!({"kind": "open", "rate": 1_000.0})] {
        let mut plan = plan(&rig, 320);
        plan["load"]["executor"] = executor;
        let outcome = checked(&plan);
        assert_eq!(outcome.summary.counters.ok, 320, "{:?}", outcome.errors());
        let times = outcome.histogram("service_time").expect("recorded");
        assert!(times.min() >= times.lowest_equivalent(20 * MS), "{} ns", times.min());
    }
}

#[test]
fn an_upgrade_is_no_faster_than_its_delay() {
    let rig = Rig::with_http3(Script { upgrade_delay: 80 * MS, ..Script::default() });
    let outcome = checked(&plan(&rig, 64));
    assert_eq!(outcome.summary.counters.ok, 64, "{:?}", outcome.errors());
    let times = outcome.histogram("upgrade_time").expect("recorded");
    assert_eq!(times.len(), 32);
    assert!(times.min() >= times.lowest_equivalent(80 * MS), "{} ns", times.min());
}

#[test]
fn each_of_a_connections_websockets_is_held_and_asked_once() {
    let rig = Rig::with_http3(Script::default());
    let mut plan = plan(&rig, 1);
    plan["load"]["executor"] = json!({"kind": "hold"});
    plan["stop"] = json!({"duration_ns": 400 * MS});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 32, "{:?}", outcome.errors());
    assert_eq!(outcome.summary.connections.opened, 4);
}

#[test]
fn what_goes_wrong_on_one_costs_the_others_no_message() {
    for (fault, class) in [("wrong@7", "mismatch"), ("cancel@7", "reset")] {
        let outcome = checked(&plan(&faulty(fault), 700));
        let failed = outcome.errors().get(class).copied();
        assert_eq!(failed, Some(100), "{fault}: {:?}", outcome.errors());
        assert_eq!(outcome.summary.counters.ok, 600, "{fault}");
        assert_eq!(outcome.summary.connections.opened, 4, "{fault}");
    }
}

/// Each connection ends after ten replies, in the middle of what is in flight on it.
#[test]
fn what_a_server_did_not_answer_before_it_left_goes_again() {
    let close_after = NonZeroU32::new(10);
    let rig = Rig::with_http3(Script { close_after, ..Script::default() });
    let outcome = checked(&plan(&rig, 600));
    assert_eq!(outcome.summary.counters.ok, 600, "{:?}", outcome.errors());
    assert!(outcome.errors().is_empty(), "{:?}", outcome.errors());
}

#[test]
fn a_server_that_does_not_offer_it_is_refused_with_the_remedy() {
    let host = Http3Host::new(Manner::default());
    let mut plan = host.plan(1, 1, 1);
    let url = plan["target"]["url"].as_str().expect("a URL").replace("https://", "wss://");
    plan["target"]["url"] = json!(url);
    let error = run(&plan).expect_err("it offers nothing").to_string();
    assert!(error.contains("SETTINGS_ENABLE_CONNECT_PROTOCOL"), "{error}");
    assert!(error.contains("--http 1.1") && !error.contains('\n'), "{error}");
}

#[test]
fn what_it_does_not_carry_is_refused_before_it_begins() {
    let rig = Rig::with_http3(Script::default());
    let broadcast = json!({"content": {"is": "broadcast"}});
    for (member, value, wanted) in [
        ("websocket", json!({"greetings": 1}), "websocket.greetings"),
        ("expect", broadcast, "a broadcast"),
    ] {
        let mut plan = plan(&rig, 10);
        plan["target"][member] = value;
        let refused = Plan::from_json(&plan.to_string()).expect_err(wanted).to_string();
        assert!(refused.contains(wanted) && !refused.contains('\n'), "{refused}");
    }
}
