//! Compression, from the plan to the counted bytes.

use serde_json::{Value, json};
use wiretrial_load::plan::Plan;
use wiretrial_respond::{DeflateConfig, Script};

use crate::outcome::{Outcome, checked, run};
use crate::rig::Rig;

const BYTES: u64 = 2000;

fn compressed(scheme: &str, server: DeflateConfig, offer: &Value) -> Outcome {
    let rig = Rig::with_deflate(server);
    let mut plan = rig.plan(scheme);
    plan["target"]["websocket"] = json!({"deflate": offer});
    plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": BYTES}});
    plan["load"] = json!({"connections": 3, "depth": 4, "pack": 2});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 100, "{:?}", outcome.errors());
    outcome
}

#[test]
fn what_it_saves_is_counted() {
    for scheme in ["ws", "wss"] {
        let outcome = compressed(scheme, DeflateConfig::default(), &json!({}));
        assert_eq!(outcome.start.deflate.as_deref(), Some("permessage-deflate"), "{scheme}");
        let bytes = outcome.summary.bytes;
        assert_eq!((bytes.payload_sent, bytes.payload_received), (100 * BYTES, 100 * BYTES));
        // A number and a pattern that each message repeats.
        assert!(bytes.application_sent < 100 * BYTES / 10, "{scheme}: {bytes:?}");
        assert!(bytes.application_received < 100 * BYTES / 5, "{scheme}: {bytes:?}");
    }
}

#[test]
fn parameters_of_both_sides_are_agreed_on() {
    let server = DeflateConfig { client_max_window_bits: 10, ..DeflateConfig::default() };
    let offer =
        json!({"server_no_context_takeover": true, "server_max_window_bits": 9, "level": 1});
    let outcome = compressed("ws", server, &offer);
    let agreed = "permessage-deflate; server_no_context_takeover; server_max_window_bits=9; \
                  client_max_window_bits=10";
    assert_eq!(outcome.start.deflate.as_deref(), Some(agreed));
}

#[test]
fn payloads_are_counted_without_it_too() {
    let rig = Rig::new(Script::default());
    for scheme in ["http", "ws", "tcp"] {
        let outcome = run(&rig.plan(scheme)).expect("the run ends");
        assert_eq!(outcome.start.deflate, None, "{scheme}");
        let bytes = outcome.summary.bytes;
        assert_eq!((bytes.payload_sent, bytes.payload_received), (2000, 2000), "{scheme}");
        assert!(bytes.application_sent >= bytes.payload_sent, "{scheme}");
    }
}

#[test]
fn a_server_that_declines_is_refused() {
    let rig = Rig::new(Script::default());
    let mut plan = rig.plan("ws");
    plan["target"]["websocket"] = json!({"deflate": {}});
    let refusal = run(&plan).expect_err("another thing would be measured").to_string();
    assert!(refusal.contains("did not turn on permessage-deflate"), "{refusal}");
}

#[test]
fn plans_that_cannot_be_are_refused() {
    let rig = Rig::new(Script::default());
    let rows = [
        ("http", json!({}), "only ws and wss compress messages"),
        ("ws", json!({"level": 0}), "level=0 is not 1 (fast) to 9 (small)"),
        ("ws", json!({"server_max_window_bits": 16}), "server_max_window_bits=16 is not 8 to 15"),
    ];
    for (scheme, deflate, expected) in rows {
        let mut plan = rig.plan(scheme);
        plan["target"]["websocket"] = json!({"deflate": deflate});
        let refusal = Plan::from_json(&plan.to_string()).expect_err(expected).to_string();
        assert!(refusal.contains(expected), "{refusal}");
    }
}
