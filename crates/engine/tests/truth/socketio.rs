//! Events over Socket.IO, each acknowledged, each acknowledgement checked.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use serde_json::json;
use wiretrial_load::plan::Plan;
use wiretrial_proto::Scratch;
use wiretrial_proto::socketio::{SocketIoEvent, SocketIoServer};
use wiretrial_proto::websocket::accept_key;
use wiretrial_respond::Script;

use crate::outcome::checked;
use crate::rig::Rig;

#[test]
fn every_event_is_acknowledged() {
    let rig = Rig::new(Script::default());
    for scheme in ["socketio+ws", "socketio+wss"] {
        for (connections, depth, pack, per_connection) in
            [(1, 1, 1, None), (3, 8, 4, None), (4, 2, 1, Some(10))]
        {
            let mut plan = rig.plan(scheme);
            plan["load"] = json!({
                "connections": connections, "depth": depth, "pack": pack,
                "requests_per_connection": per_connection,
            });
            plan["stop"] = json!({"requests": 400});
            let outcome = checked(&plan);
            let counters = &outcome.summary.counters;
            let name = format!("{scheme}, depth {depth}");
            assert_eq!((counters.sent, counters.ok), (400, 400), "{name}: {:?}", outcome.errors());
            // `["get","messages","testing"]` and `[null,{"id":"testing"}]`.
            let bytes = outcome.summary.bytes;
            assert_eq!(
                (bytes.payload_sent, bytes.payload_received),
                (400 * 28, 400 * 23),
                "{name}"
            );
        }
    }
}

#[test]
fn arguments_are_echoed_and_large_ones_are_checked_as_they_flow() {
    let rig = Rig::new(Script::default());
    let long = "x".repeat(200_000);
    let rows = [
        (format!(r#"["echo","{{seq}}","{long}"]"#), "learned", 0),
        (r#"["get","messages","{seq}"]"#.to_owned(), "learned", 0),
        (r#"["get","messages",{"n":1}]"#.to_owned(), "learned", 20),
        (format!(r#"["echo","{long}"]"#), "learned", 20),
    ];
    for (text, rule, right) in rows {
        let mut plan = rig.plan("socketio+ws");
        plan["target"]["message"] = json!({"source": {"from": "template", "text": text}});
        plan["target"]["expect"] = json!({"content": {"is": rule}});
        plan["load"] = json!({"connections": 2, "depth": 5});
        plan["stop"] = json!({"requests": 20});
        plan["phases"]["timeout_ns"] = json!(60_000_000_000_u64);
        let outcome = checked(&plan);
        let counters = &outcome.summary.counters;
        // What differs from event to event cannot be learned from one: it is a mismatch, and counted.
        let wrong = counters.errors.get("mismatch").copied().unwrap_or_default();
        assert_eq!((counters.ok, wrong), (right, 20 - right), "{}", &text[..20]);
    }
}

#[test]
fn acknowledgements_in_another_order_find_their_events() {
    // The seventh of each pack of eight, behind the one that preflight had, so that there is a next.
    let rig = Rig::faulty("swap@8");
    let mut plan = rig.plan("socketio+ws");
    plan["load"] = json!({"connections": 1, "depth": 8, "pack": 8});
    plan["stop"] = json!({"requests": 400});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 400, "{:?}", outcome.errors());
}

#[test]
fn an_altered_acknowledgement_is_a_mismatch() {
    let rig = Rig::faulty("wrong@10");
    let mut plan = rig.plan("socketio+ws");
    plan["stop"] = json!({"requests": 99});
    let outcome = checked(&plan);
    assert_eq!(outcome.errors().get("mismatch"), Some(&10), "{:?}", outcome.errors());
}

#[test]
fn what_is_no_event_is_refused() {
    let rig = Rig::new(Script::default());
    for text in ["{}", "[]", "[1]", "[\"a\"", "x"] {
        let mut plan = rig.plan("socketio+ws");
        plan["target"]["message"] = json!({"source": {"from": "template", "text": text}});
        let refusal = Plan::from_json(&plan.to_string()).expect_err(text).to_string();
        assert!(refusal.contains("an event is an array of JSON"), "{refusal}");
    }
}

/// A server that never acknowledges each 25th event, and all others at once.
fn forgetful() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve_forgetfully(stream));
        }
    });
    address
}

/// None: the client has left.
fn serve_forgetfully(mut stream: TcpStream) -> Option<()> {
    let (mut input, mut buffer) = (Vec::new(), [0; 4096]);
    while !input.ends_with(b"\r\n\r\n") {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        input.extend_from_slice(&buffer[..count]);
    }
    let head = String::from_utf8(std::mem::take(&mut input)).ok()?;
    let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "))?;
    let accept = String::from_utf8_lossy(&accept_key(key)).into_owned();
    let upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade";
    let mut out = format!("{upgrade}\r\nSec-WebSocket-Accept: {accept}\r\n\r\n").into_bytes();
    let mut server = SocketIoServer::new(1, 1 << 20);
    server.greet(&mut out);
    loop {
        stream.write_all(&out).ok()?;
        out.clear();
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        input.extend_from_slice(&buffer[..count]);
        loop {
            let step = server.receive(&mut input, &mut Scratch::new(), &mut out).ok()?;
            let (consumed, is_over) = (step.consumed, step.event.is_none());
            let asked = match step.event {
                Some(SocketIoEvent::Event { id, .. }) => id.filter(|id| id % 25 != 4),
                _ => None,
            };
            input.drain(..consumed);
            if let Some(id) = asked {
                server.acknowledge(id, b"[1]", &mut out);
            }
            if is_over {
                break;
            }
        }
    }
}

#[test]
fn an_event_that_is_never_acknowledged_fails_alone() {
    let mut plan = Rig::new(Script::default()).plan("socketio+ws");
    plan["target"]["url"] = json!(format!("socketio+ws://{}/", forgetful()));
    // More than are forgotten, so that later ones are answered.
    plan["load"] = json!({"connections": 1, "depth": 16});
    plan["stop"] = json!({"requests": 200});
    plan["phases"]["timeout_ns"] = json!(2_000_000_000_u64);
    plan["phases"]["drain_ns"] = json!(20_000_000_000_u64);
    let outcome = checked(&plan);
    let counters = &outcome.summary.counters;
    assert_eq!((counters.sent, counters.ok), (200, 192), "{:?}", outcome.errors());
    assert_eq!(outcome.errors().get("timeout"), Some(&8));
    assert_eq!(outcome.summary.connections.opened, 1, "the connection stays");
}
