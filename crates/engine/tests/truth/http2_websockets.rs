//! WebSocket over HTTP/2 (RFC 8441): many on a connection, each with one message at a time.

use std::io::{Write as _, copy, sink};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread::{JoinHandle, spawn};

use serde_json::{Value, json};
use wiretrial_load::measure::http2::{By, Version};
use wiretrial_load::plan::Plan;
use wiretrial_respond::{DeflateConfig, Script};

use crate::outcome::{checked, run};
use crate::rig::Rig;
use crate::streams::{Manners, Streams};

const SCHEMES: [&str; 2] = ["ws", "wss"];
const MS: u64 = 1_000_000;

/// SETTINGS of a server that takes WebSockets, and GOAWAY of one that has not processed any stream.
const TAKES_THEM: [u8; 15] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 1];
const LEAVES: [u8; 17] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// What makes a plan wrong.
type Change = fn(&mut Value);

/// Echoes on 4 connections with 8 WebSockets each.
fn plan(rig: &Rig, scheme: &str, requests: u64) -> Value {
    let mut plan = rig.plan(scheme);
    plan["target"]["http"] = json!({"version": "2"});
    plan["load"] = json!({"connections": 4, "depth": 8});
    plan["stop"] = json!({"requests": requests});
    plan
}

#[test]
fn every_websocket_gets_its_own_replies() {
    let rig = Rig::new(Script::default());
    for scheme in SCHEMES {
        let outcome = checked(&plan(&rig, scheme, 4_000));
        let summary = &outcome.summary;
        assert_eq!(summary.counters.ok, 4_000, "{scheme}: {:?}", outcome.errors());
        assert_eq!(summary.connections.opened, 4, "{scheme}");
        let spoken = outcome.start.http.expect("it is told");
        assert_eq!(spoken.version, Version::Two, "{scheme}");
        assert_eq!(spoken.by, if scheme == "ws" { By::PriorKnowledge } else { By::Alpn });
        let recorded = |name| outcome.histogram(name).map(|times| times.len());
        assert_eq!(recorded("settings_time"), Some(4), "{scheme}: of each connection");
        assert_eq!(recorded("upgrade_time"), Some(32), "{scheme}: of each WebSocket");
    }
}

#[test]
fn messages_longer_than_a_window_are_verified_to_their_last_byte() {
    let rig = Rig::new(Script::default());
    for scheme in SCHEMES {
        let mut plan = plan(&rig, scheme, 24);
        plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": 5 << 20}});
        plan["phases"] = json!({"timeout_ns": 20_000 * MS, "drain_ns": 20_000 * MS});
        let outcome = checked(&plan);
        assert_eq!(outcome.summary.counters.ok, 24, "{scheme}: {:?}", outcome.errors());
    }
}

#[test]
fn messages_are_compressed_where_that_is_agreed_on() {
    let rig = Rig::with_deflate(DeflateConfig::default());
    let mut plan = plan(&rig, "ws", 400);
    plan["target"]["websocket"] = json!({"deflate": {}});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 400, "{:?}", outcome.errors());
    assert_eq!(outcome.start.deflate.as_deref(), Some("permessage-deflate"));
}

#[test]
fn a_reply_is_no_faster_than_its_delay_and_websockets_wait_side_by_side() {
    let delay = Some("20ms".parse().expect("a delay"));
    let rig = Rig::new(Script { delay, ..Script::default() });
    let outcome = checked(&plan(&rig, "ws", 320));
    let times = outcome.histogram("service_time").expect("recorded");
    assert_eq!(times.len(), 320);
    assert!(times.min() >= times.lowest_equivalent(20 * MS), "{} ns", times.min());
}

/// The delay of an upgrade is that of each WebSocket, and none of the connection's settings or of a reply.
#[test]
fn an_upgrade_is_no_faster_than_its_delay_over_either_version() {
    let rig = Rig::new(Script { upgrade_delay: 80 * MS, ..Script::default() });
    for (scheme, version, upgrades) in [("ws", "1.1", 4), ("ws", "2", 32), ("wss", "2", 32)] {
        let mut plan = plan(&rig, scheme, 64);
        plan["target"]["http"]["version"] = json!(version);
        let outcome = checked(&plan);
        assert_eq!(outcome.summary.counters.ok, 64, "{:?}", outcome.errors());
        let times = outcome.histogram("upgrade_time").expect("recorded");
        assert_eq!(times.len(), upgrades, "{scheme} {version}");
        assert!(times.min() >= times.lowest_equivalent(80 * MS), "{} ns", times.min());
        let settings = outcome.histogram("settings_time").map(|times| times.len());
        assert_eq!(settings, (version == "2").then_some(4), "{scheme} {version}");
    }
}

/// WebSockets that end are opened again, each in its own time.
#[test]
fn an_upgrade_in_the_place_of_another_has_a_time_of_its_own() {
    let script = Script {
        upgrade_delay: 20 * MS,
        faults: vec!["cancel@2".parse().expect("a fault")],
        ..Script::default()
    };
    let outcome = checked(&plan(&Rig::new(script), "ws", 200));
    let failed = outcome.errors().values().sum::<u64>();
    assert!(failed >= 90, "{:?}", outcome.errors());
    let times = outcome.histogram("upgrade_time").expect("recorded");
    // More have failed than there were WebSockets at first.
    assert!(times.len() > 32, "{failed} failed, {} upgrades", times.len());
    assert!(times.min() >= times.lowest_equivalent(20 * MS), "{} ns", times.min());
    assert_eq!(outcome.histogram("settings_time").map(|times| times.len()), Some(4));
}

/// A second holds a thousand, of which 32 at most are in flight for at least 20 ms each.
#[test]
fn an_open_loop_sends_when_messages_are_due() {
    let delay = Some("20ms".parse().expect("a delay"));
    let rig = Rig::new(Script { delay, ..Script::default() });
    let mut plan = plan(&rig, "ws", 500);
    plan["load"]["executor"] = json!({"kind": "open", "rate": 1_000.0});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 500, "{:?}", outcome.errors());
    let times = outcome.histogram("response_time").expect("recorded");
    assert!(times.min() >= times.lowest_equivalent(20 * MS), "{} ns", times.min());
}

#[test]
fn each_of_a_connections_websockets_is_held_and_asked_once() {
    let rig = Rig::new(Script::default());
    let mut plan = plan(&rig, "ws", 1);
    plan["load"]["executor"] = json!({"kind": "hold"});
    plan["stop"] = json!({"duration_ns": 400 * MS});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 32, "{:?}", outcome.errors());
    assert_eq!(outcome.summary.connections.opened, 4);
}

/// Each connection ends after ten replies, in the middle of what is in flight on it.
#[test]
fn what_a_server_did_not_answer_before_it_left_goes_again() {
    let close_after = std::num::NonZeroU32::new(10);
    let rig = Rig::new(Script { close_after, ..Script::default() });
    for scheme in SCHEMES {
        let outcome = checked(&plan(&rig, scheme, 600));
        let failed: u64 = outcome.errors().values().sum();
        assert_eq!(failed, 0, "{scheme}: {:?}", outcome.errors());
        assert_eq!(outcome.summary.counters.ok, 600, "{scheme}");
    }
}

#[test]
fn a_server_that_leaves_before_it_takes_a_websocket_is_refused_with_that_reason() {
    let rig = Rig::new(Script::default());
    let mut plan = plan(&rig, "ws", 10);
    let door = door(&mut plan, 0, 1);
    let error = run(&plan).expect_err("it is left").to_string();
    door.join().expect("everybody has gone");
    assert!(error.contains("refused the request before it looked at it"), "{error}");
}

/// The connection behind that of the preflight is left before its WebSockets stand.
#[test]
fn a_connection_that_is_left_before_it_stands_is_a_failed_attempt_and_costs_no_message() {
    let rig = Rig::new(Script::default());
    let mut plan = plan(&rig, "ws", 40);
    plan["load"] = json!({"connections": 1, "depth": 8});
    let door = door(&mut plan, 1, 3);
    let outcome = checked(&plan);
    door.join().expect("everybody has gone");
    let summary = &outcome.summary;
    assert_eq!(summary.counters.ok, 40, "{:?}", outcome.errors());
    let connections = &summary.connections;
    assert_eq!((connections.opened, connections.attempted), (1, 2));
    assert_eq!(connections.failed, [("closed".to_owned(), 1)].into());
    assert!(connections.closed.is_empty(), "{:?}", connections.closed);
}

/// Has a plan ask at a door before its server, through which all of so many clients get but the one with number `left`:
/// that one is told goodbye.
fn door(plan: &mut Value, left: usize, clients: usize) -> JoinHandle<()> {
    let url = plan["target"]["url"].as_str().and_then(|url| url.strip_prefix("ws://"));
    let server = url.and_then(|url| url.strip_suffix('/')?.parse::<SocketAddr>().ok());
    let server = server.expect("an address");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    plan["target"]["url"] = json!(format!("ws://{address}/"));
    spawn(move || {
        let mut ways = Vec::new();
        for number in 0..clients {
            let (mut client, _) = listener.accept().expect("a client");
            if number == left {
                client.write_all(&[&TAKES_THEM[..], &LEAVES].concat()).expect("it listens");
                ways.push(spawn(move || drop(copy(&mut client, &mut sink()))));
                continue;
            }
            let server = TcpStream::connect(server).expect("the server");
            let there = (client.try_clone().expect("a client"), server.try_clone().expect("one"));
            for (mut from, mut to) in [there, (server, client)] {
                ways.push(spawn(move || {
                    // Either end may break off.
                    let _ = copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Write);
                }));
            }
        }
        for way in ways {
            way.join().expect("it carried");
        }
    })
}

#[test]
fn a_server_that_does_not_offer_it_is_refused_with_the_remedy() {
    let server = Streams::start(Manners::default());
    let mut plan = plan(&Rig::new(Script::default()), "ws", 10);
    plan["target"]["url"] = json!(server.url().replace("http://", "ws://"));
    let error = run(&plan).expect_err("it offers nothing").to_string();
    assert!(!error.contains('\n'), "{error}");
    assert!(error.contains("SETTINGS_ENABLE_CONNECT_PROTOCOL"), "{error}");
    assert!(error.contains("--http 1.1"), "{error}");
}

#[test]
fn a_server_of_http_1_1_is_refused_in_one_line() {
    let rig = Rig::without_http2(Script::default());
    for scheme in SCHEMES {
        let outcome = run(&plan(&rig, scheme, 10));
        if scheme == "ws" {
            // Without TLS, the reference server takes what begins as HTTP/2 does.
            assert!(outcome.is_ok());
            continue;
        }
        let error = outcome.expect_err("it picks nothing").to_string();
        assert!(!error.contains('\n') && error.contains("HTTP/2"), "{error}");
    }
}

#[test]
fn what_it_does_not_carry_is_refused_before_it_begins() {
    let rig = Rig::new(Script::default());
    let cases: [(Change, &str); 5] = [
        (|plan| plan["target"]["websocket"] = json!({"greetings": 1}), "websocket.greetings"),
        (|plan| plan["target"]["expect"] = json!({"content": {"is": "broadcast"}}), "a broadcast"),
        (|plan| plan["target"]["http"]["version"] = json!("auto"), "--http 1.1 or 2"),
        (|plan| plan["target"]["http"]["headers"] = json!([["Upgrade", "x"]]), "target.http"),
        (
            |plan| {
                plan["load"]["executor"] = json!({"kind": "hold"});
                plan["load"]["pack"] = json!(2);
            },
            "held connections",
        ),
    ];
    for (change, wanted) in cases {
        let mut plan = plan(&rig, "ws", 10);
        change(&mut plan);
        let refused = match Plan::from_json(&plan.to_string()) {
            Err(error) => error.to_string(),
            Ok(_) => run(&plan).expect_err("it is refused").to_string(),
        };
        assert!(refused.contains(wanted) && !refused.contains('\n'), "{refused}");
    }
}
