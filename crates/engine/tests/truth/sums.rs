//! Exact numbers: each load model sends what the plan says, over each transport.

use serde_json::json;
use wiretrial_respond::Script;

use crate::outcome::checked;
use crate::rig::{PROTOCOLS, Rig};

#[test]
fn every_transport_sends_exactly_what_the_plan_says() {
    let rig = Rig::new(Script::default());
    for scheme in ["http", "https", "ws", "wss", "tcp", "tls"] {
        for (connections, depth, pack, threads) in [(1, 1, 1, 1), (7, 1, 1, 2), (3, 8, 4, 1)] {
            let mut plan = rig.plan(scheme);
            plan["load"] = json!({"connections": connections, "depth": depth, "pack": pack});
            plan["stop"] = json!({"requests": 1003});
            plan["generator"] = json!({"threads": threads});
            let outcome = checked(&plan);
            let counters = &outcome.summary.counters;
            assert_eq!(
                (counters.sent, counters.ok),
                (1003, 1003),
                "{scheme} {:?}",
                outcome.errors()
            );
            assert_eq!(outcome.summary.connections.opened, connections, "{scheme}");
        }
    }
}

#[test]
fn an_open_loop_sends_what_is_due_and_nothing_else() {
    let rig = Rig::new(Script::default());
    for scheme in PROTOCOLS {
        for (pacing, pack) in [("constant", 1), ("constant", 5), ("poisson", 1)] {
            let mut plan = rig.plan(scheme);
            plan["load"] = json!({
                "connections": 20, "depth": pack, "pack": pack, "seed": 7,
                "executor": {"kind": "open", "rate": 2000.0, "pacing": pacing},
            });
            plan["stop"] = json!({"duration_ns": 1_000_000_000});
            let outcome = checked(&plan);
            let counters = &outcome.summary.counters;
            let arrivals = counters.sent + counters.dropped;
            if pacing == "constant" {
                assert_eq!(arrivals, 2000, "{scheme}, packs of {pack}");
            } else {
                // Standard deviation of 2000 Poisson arrivals: 45.
                assert!((1800..2200).contains(&arrivals), "{scheme}: {arrivals}");
            }
            assert_eq!(counters.ok, counters.sent, "{scheme}: {:?}", outcome.errors());
            let response = outcome.histogram("response_time").expect("recorded");
            assert_eq!(response.len(), counters.ok);
        }
    }
}

#[test]
fn a_connection_per_request_is_a_connection_per_request() {
    let rig = Rig::new(Script::default());
    for scheme in ["http", "https", "ws", "wss", "tcp", "tls"] {
        for per_connection in [1, 10] {
            let mut plan = rig.plan(scheme);
            plan["load"] = json!({"connections": 4, "requests_per_connection": per_connection});
            plan["stop"] = json!({"requests": 200});
            let outcome = checked(&plan);
            let counters = &outcome.summary.counters;
            assert_eq!((counters.sent, counters.ok), (200, 200), "{scheme} {:?}", outcome.errors());
            let opened = outcome.summary.connections.opened;
            let least = 200 / per_connection;
            assert!((least..least + 4).contains(&opened), "{scheme}: {opened} of {least}");
        }
    }
}

#[test]
fn each_connection_sends_its_own_number_of_messages_and_ends() {
    let rig = Rig::new(Script::default());
    for scheme in ["http", "https", "ws", "tcp"] {
        for per_connection in [None, Some(1), Some(10)] {
            for depth in [1, 4] {
                if per_connection == Some(1) && depth > 1 {
                    continue;
                }
                let mut plan = rig.plan(scheme);
                plan["load"] = json!({
                    "connections": 5, "depth": depth, "requests_per_connection": per_connection,
                });
                plan["stop"] = json!({"requests_each": 30});
                let outcome = checked(&plan);
                let counters = &outcome.summary.counters;
                let what = format!("{scheme}, {per_connection:?}: {:?}", outcome.errors());
                assert_eq!((counters.sent, counters.ok), (150, 150), "{what}");
                let connections = &outcome.summary.connections;
                let each = per_connection.map_or(1, |requests| 30_u64.div_ceil(requests));
                assert_eq!(connections.opened, 5 * each, "{what}");
                assert_eq!(connections.closed.values().sum::<u64>(), 5 * each, "{what}");
            }
        }
    }
}

#[test]
fn a_server_that_ends_its_connections_in_order_costs_no_reply() {
    let close_after = std::num::NonZeroU32::new(10);
    let rig = Rig::new(Script { close_after, ..Script::default() });
    for depth in [1, 4] {
        let mut plan = rig.plan("http");
        plan["load"] = json!({"connections": 3, "depth": depth});
        plan["stop"] = json!({"requests": 300});
        let outcome = checked(&plan);
        let counters = &outcome.summary.counters;
        assert_eq!(
            (counters.sent, counters.ok),
            (300, 300),
            "depth {depth}: {:?}",
            outcome.errors()
        );
        assert!(outcome.summary.connections.closed["server"] >= 27, "depth {depth}");
    }
}

#[test]
fn a_first_reply_that_echoes_is_learned_as_an_echo() {
    let rig = Rig::new(Script::default());
    let mut plan = rig.plan("http");
    plan["target"]["expect"] = json!({"content": {"is": "learned"}});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 100, "{:?}", outcome.errors());
}

#[test]
fn large_messages_are_verified_as_they_flow() {
    let rig = Rig::new(Script::default());
    for scheme in ["http", "ws", "wss", "tcp"] {
        let mut plan = rig.plan(scheme);
        plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": 8 << 20}});
        plan["stop"] = json!({"requests": 3});
        plan["phases"]["timeout_ns"] = json!(60_000_000_000_u64);
        let outcome = checked(&plan);
        assert_eq!(outcome.summary.counters.ok, 3, "{scheme}: {:?}", outcome.errors());
        let bytes = outcome.summary.bytes;
        assert!(bytes.application_sent >= 3 * (8 << 20), "{scheme}: {bytes:?}");
        assert!(bytes.application_received >= 3 * (8 << 20), "{scheme}: {bytes:?}");
    }
}

#[test]
fn bytes_are_counted_on_both_sides_of_tls() {
    let rig = Rig::new(Script::default());
    let plain = checked(&rig.plan("ws")).summary.bytes;
    let secure = checked(&rig.plan("wss")).summary.bytes;
    assert_eq!(
        plain.sent,
        plain.application_sent + upgrade_bytes(plain.sent - plain.application_sent)
    );
    assert_eq!(secure.application_sent, plain.application_sent);
    // A TLS 1.3 record of application data costs 22 bytes: header 5, content type 1, tag 16.
    assert!(secure.sent >= plain.application_sent + 100 * 22, "{secure:?}");
}

/// The upgrade request is no message: it is sent and not counted as application bytes of one.
fn upgrade_bytes(bytes: u64) -> u64 {
    assert!((100..400).contains(&bytes), "{bytes} bytes of upgrade");
    bytes
}
