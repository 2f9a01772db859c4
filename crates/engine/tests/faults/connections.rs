//! Rows that every protocol shares: how a connection ends, or does not.

use std::time::Duration;

use serde_json::{Value, json};

use crate::outcome::checked;
use crate::rig::PROTOCOLS;
use crate::scene::{Case, check_all, pollers};
use crate::scripted::Scripted;
use crate::scripted::Step::{Cut, Drip, Finish, Flood, Open, Pause, Raw, Read, Reset, Send, Serve};
use crate::speech::{BINARY, PAYLOAD, Speech, frame, http};

const SECURE: [&str; 3] = ["https", "wss", "tls"];

/// The begin of a right reply.
fn half(scheme: &str) -> Vec<u8> {
    let mut bytes = whole(scheme);
    bytes.truncate(bytes.len() - PAYLOAD / 2);
    bytes
}

fn whole(scheme: &str) -> Vec<u8> {
    let payload = [b'x'; PAYLOAD];
    match Speech::of(scheme) {
        Speech::Http => http("200 OK", &[], &payload),
        Speech::WebSocket => frame(BINARY, &payload),
        Speech::Stream => payload.to_vec(),
    }
}

/// A deadline that no right reply misses, on whatever machine.
fn impatient(plan: &mut Value) {
    plan["phases"]["timeout_ns"] = json!(10_000_000_000_u64);
}

/// Each scheme has its own bytes, and its own cases.
fn check_each(schemes: &[&str], cases: impl Fn(&str) -> Vec<Case> + Sync) {
    std::thread::scope(|scope| {
        for scheme in schemes {
            scope.spawn(|| check_all(&[scheme], &cases(scheme)));
        }
    });
}

#[test]
fn an_end_inside_or_before_a_reply_is_truncated() {
    check_each(&[PROTOCOLS, SECURE].concat(), |scheme| {
        vec![
            Case::new("FIN inside a reply", [Open, Read, Send(half(scheme)), Finish])
                .fails("truncated"),
            Case::new("FIN inside a reply, no farewell", [Open, Read, Send(half(scheme)), Cut])
                .fails("truncated"),
            Case::new("FIN before a reply", [Open, Read, Finish]).fails("truncated"),
            Case::new("FIN before a reply, no farewell", [Open, Read, Cut]).fails("truncated"),
        ]
    });
}

#[test]
fn a_reset_is_told_with_its_phase() {
    let a_while = Pause(Duration::from_millis(100));
    check_each(&[PROTOCOLS, SECURE].concat(), |scheme| {
        vec![
            Case::new("RST before a reply", [Open, Read, Reset])
                .fails("reset")
                .says("reset", "while a reply was awaited"),
            Case::new(
                "RST inside a reply",
                [Open, Read, Send(half(scheme)), a_while.clone(), Reset],
            )
            .fails("reset")
            .says("reset", "inside a reply"),
        ]
    });
    let mut opening = Case::new("RST at once", [Pause(Duration::from_millis(300)), Reset]);
    opening.failed = Some("reset");
    check_all(&["ws"], &[opening.clone().says("reset", "in the upgrade")]);
    check_all(&SECURE, &[opening.says("reset", "in the TLS handshake")]);
}

#[test]
fn the_deadline_covers_the_whole_exchange() {
    check_each(&[PROTOCOLS, SECURE].concat(), |scheme| {
        let slow = Drip(whole(scheme), Duration::from_millis(800));
        vec![
            Case::new("a reply byte by byte", [Open, Read, slow]).fails("timeout").with(impatient),
            Case::new("no reply", [Open, Read]).fails("timeout").with(impatient),
        ]
    });
}

#[test]
fn garbage_ends_its_connection_and_is_shown_once() {
    let garbage = || Send(vec![0xff; 40]);
    check_all(
        &["http", "https", "ws", "wss"],
        &[Case::new("garbage", [Open, Read, garbage()])
            .fails("protocol")
            .says("protocol", "(at bytes ff ff ff")],
    );
    check_all(
        &["tcp", "tls"],
        &[Case::new("garbage", [Open, Read, Send(vec![0xff; PAYLOAD]), Serve])
            .counts("mismatch")
            .says("mismatch", "from byte 0 on it was '\\xff\\xff")],
    );
    check_all(
        &SECURE,
        &[Case::new("garbage below TLS", [Open, Read, Raw(vec![0xff; 40])]).fails("tls")],
    );
}

/// Pongs that nobody asked for are allowed (RFC 6455 5.5.3), and cost more to read than to write.
#[test]
fn a_flood_on_one_connection_keeps_no_other_from_its_replies() {
    const PONGS: usize = 1 << 30;
    const MESSAGES: u64 = 12;
    for poller in pollers() {
        let flood = vec![Open, Flood([0x8a, 0x00].repeat(1 << 15), PONGS)];
        let scripts = vec![vec![Open, Serve], flood, vec![Open, Serve]];
        let server = Scripted::start(Speech::of("ws"), None, scripts);
        let plan = json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": format!("ws://{}/", server.address()),
                "message": {"source": {"from": "sequence", "bytes": 20}},
            },
            "load": {"connections": 2},
            "stop": {"requests": MESSAGES},
            "phases": {"timeout_ns": 2_500_000_000_u64},
            "generator": {"poller": poller},
        });
        let summary = checked(&plan).summary;
        let counters = &summary.counters;
        assert_eq!(counters.ok, MESSAGES - 1, "{poller}: {counters:?}");
        // Its deadline and the end of the wait for it lie close together.
        let unanswered = counters.errors.values().sum::<u64>() + counters.in_flight;
        assert_eq!(unanswered, 1, "{poller}: the one that is flooded");
        let read = summary.bytes.received;
        assert!(read < PONGS as u64, "{poller}: it went on before all of the flood was read");
    }
}
