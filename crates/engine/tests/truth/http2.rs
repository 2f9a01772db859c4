//! HTTP/2: many messages in flight on a connection, each told from the others by its stream.

use serde_json::{Value, json};
use wiretrial_respond::Script;

use crate::outcome::{checked, run};
use crate::rig::Rig;

const SCHEMES: [&str; 2] = ["http", "https"];
const MS: u64 = 1_000_000;

/// Echoes over HTTP/2, 4 connections with 8 streams each.
fn plan(rig: &Rig, scheme: &str, requests: u64) -> Value {
    let mut plan = rig.plan(scheme);
    plan["target"]["http"] = json!({"version": "2"});
    plan["load"] = json!({"connections": 4, "depth": 8});
    plan["stop"] = json!({"requests": requests});
    plan
}

fn script(close_after: u32) -> Script {
    Script { close_after: std::num::NonZeroU32::new(close_after), ..Script::default() }
}

#[test]
fn every_stream_gets_its_own_reply() {
    let rig = Rig::new(Script::default());
    for scheme in SCHEMES {
        let outcome = checked(&plan(&rig, scheme, 4_000));
        assert_eq!(outcome.summary.counters.ok, 4_000, "{scheme}");
        assert!(outcome.errors().is_empty(), "{scheme}: {:?}", outcome.errors());
    }
}

#[test]
fn content_longer_than_a_window_is_verified_to_its_last_byte() {
    let rig = Rig::new(Script::default());
    for scheme in SCHEMES {
        let mut plan = plan(&rig, scheme, 24);
        plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": 5 << 20}});
        plan["phases"] = json!({"timeout_ns": 20_000 * MS, "drain_ns": 20_000 * MS});
        let outcome = checked(&plan);
        let counters = &outcome.summary.counters;
        assert_eq!(counters.ok, 24, "{scheme}: {counters:?}");
    }
}

#[test]
fn a_reply_is_no_faster_than_its_delay_and_streams_wait_side_by_side() {
    let delay = Some("20ms".parse().expect("a delay"));
    let rig = Rig::new(Script { delay, ..Script::default() });
    let outcome = checked(&plan(&rig, "http", 320));
    let times = outcome.histogram("service_time").expect("recorded");
    assert_eq!(times.len(), 320);
    assert!(times.min() >= times.lowest_equivalent(20 * MS), "{} ns", times.min());
}

/// Each connection ends after ten replies, in the middle of what is in flight on it.
#[test]
fn what_a_server_did_not_process_before_it_left_goes_again() {
    let rig = Rig::new(script(10));
    for scheme in SCHEMES {
        let outcome = checked(&plan(&rig, scheme, 600));
        assert_eq!(outcome.summary.counters.ok, 600, "{scheme}: {:?}", outcome.errors());
    }
}

/// The first requests of each go before the server has said anything.
#[test]
fn a_connection_for_each_few_requests_gets_every_reply() {
    let rig = Rig::new(Script::default());
    for scheme in SCHEMES {
        for each in [1, 8] {
            let mut plan = plan(&rig, scheme, 160);
            plan["load"] = json!({
                "connections": 4, "depth": each, "requests_per_connection": each,
            });
            let outcome = checked(&plan);
            assert_eq!(outcome.summary.counters.ok, 160, "{scheme}: {:?}", outcome.errors());
            let opened = outcome.summary.connections.opened;
            assert!(opened >= 160 / each, "{scheme} {each}: {opened}");
            let settings = outcome.histogram("settings_time").map(|times| times.len());
            assert_eq!(settings, Some(opened), "{scheme} {each}");
        }
    }
}

#[test]
fn wrong_replies_are_found_among_right_ones() {
    for (fault, class) in [("wrong@7", "mismatch"), ("status@7", "status")] {
        let rig = Rig::faulty(fault);
        for scheme in SCHEMES {
            let outcome = checked(&plan(&rig, scheme, 700));
            let found = outcome.errors().get(class).copied().unwrap_or_default();
            // The preflight's reply is the first of all: every seventh is wrong, whoever gets it.
            assert_eq!(found, 100, "{scheme} {fault}: {:?}", outcome.errors());
            assert_eq!(outcome.summary.counters.ok, 600, "{scheme} {fault}");
        }
    }
}

#[test]
fn a_connection_that_breaks_fails_what_was_in_flight_on_it_and_the_others_go_on() {
    for fault in ["reset@50", "truncate@50", "garbage@50"] {
        let rig = Rig::faulty(fault);
        let outcome = checked(&plan(&rig, "http", 2_000));
        let failed: u64 = outcome.errors().values().sum();
        assert!(failed > 0 && failed < 1_000, "{fault}: {:?}", outcome.errors());
        assert_eq!(outcome.summary.counters.ok + failed, 2_000, "{fault}");
    }
}

#[test]
fn a_server_that_does_not_speak_it_is_refused_in_one_line() {
    let rig = Rig::new(Script::default());
    let mut other = plan(&rig, "http", 10);
    // The raw echo says the preface back, which no server begins with.
    let port = rig.plan("tcp")["target"]["url"].as_str().expect("a URL").to_owned();
    other["target"]["url"] = json!(port.replace("tcp://", "http://") + "/echo");
    let error = run(&other).expect_err("it is no server").to_string();
    assert!(!error.contains('\n'), "{error}");
}
