//! Messages that are too long to be held: they go out in pieces, and are verified as they come.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::json;
use wiretrial_load::measure::Class;
use wiretrial_load::{Refusal, RunError};
use wiretrial_proto::websocket::WebSocketServer;
use wiretrial_respond::Script;

use crate::outcome::{checked, run};
use crate::rig::Rig;

/// More than is encoded at once, and no multiple of anything.
const LENGTH: usize = (1 << 20) + 12_345;

#[test]
fn every_byte_goes_and_comes_back() {
    let rig = Rig::new(Script::default());
    for scheme in ["http", "https", "ws", "wss", "tcp", "tls"] {
        for (depth, pack) in [(1, 1), (2, 2), (3, 1)] {
            let mut plan = rig.plan(scheme);
            plan["target"]["message"]["source"]["bytes"] = json!(LENGTH);
            plan["load"] = json!({"connections": 2, "depth": depth, "pack": pack});
            plan["stop"] = json!({"requests": 12});
            plan["phases"]["timeout_ns"] = json!(20_000_000_000_u64);
            let summary = checked(&plan).summary;
            let context = format!("{scheme}, depth {depth}, packs of {pack}: {summary:?}");
            assert_eq!((summary.counters.ok, summary.counters.errors.len()), (12, 0), "{context}");
            assert_eq!(summary.bytes.payload_sent, 12 * LENGTH as u64, "{context}");
            assert_eq!(summary.bytes.payload_received, 12 * LENGTH as u64, "{context}");
            assert!(summary.bytes.application_sent >= 12 * LENGTH as u64, "{context}");
        }
    }
}

#[test]
fn a_wrong_byte_is_found_wherever_it_is() {
    let rig = Rig::faulty("wrong@2");
    let mut plan = rig.plan("http");
    plan["target"]["message"]["source"]["bytes"] = json!(LENGTH);
    plan["stop"] = json!({"requests": 4});
    let counters = checked(&plan).summary.counters;
    assert!(counters.errors.get("mismatch").is_some_and(|&count| count > 0), "{counters:?}");
    // Of a long frame each second piece is wrong: already that of the preflight.
    let mut plan = rig.plan("ws");
    plan["target"]["message"]["source"]["bytes"] = json!(LENGTH);
    let refused = run(&plan).expect_err("it is wrong");
    let RunError::Refused(Refusal::Target { class, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(class, Class::Mismatch);
}

/// What a codec has to say while a message is on its way out goes behind it.
#[test]
fn an_answer_to_a_ping_waits_for_the_end_of_the_message() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    // The preflight's connection, and the load's.
    let server = std::thread::spawn(move || {
        (0..2).map(|_| exchange(listener.accept().expect("a client").0)).collect::<Vec<_>>()
    });
    let mut plan = Rig::new(Script::default()).plan("ws");
    plan["target"]["url"] = json!(format!("ws://{address}/"));
    plan["target"]["message"]["source"]["bytes"] = json!(LENGTH);
    plan["stop"] = json!({"requests": 1});
    plan["phases"]["timeout_ns"] = json!(20_000_000_000_u64);
    let counters = checked(&plan).summary.counters;
    assert_eq!((counters.ok, counters.errors.len()), (1, 0), "{counters:?}");
    let pong = [0x8a, 0x83, b'n', b'o', b'w'];
    assert_eq!(server.join().expect("it served"), [pong, pong]);
}

/// Pings in the middle of a message, echoes it, and gives the frame that came behind it, unmasked.
fn exchange(mut stream: TcpStream) -> [u8; 5] {
    let head = String::from_utf8(until(&mut stream, b"\r\n\r\n")).expect("a head");
    let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
    let mut out = Vec::new();
    WebSocketServer::accept(key.expect("a key"), None, &mut out);
    stream.write_all(&out).expect("sent");

    let header: [u8; 14] = take(&mut stream);
    assert_eq!(header[..2], [0x82, 0xff], "one long frame");
    let mut payload = vec![0; LENGTH];
    let (first, rest) = payload.split_at_mut(LENGTH / 2);
    stream.read_exact(first).expect("half of it");
    stream.write_all(b"\x89\x03now").expect("sent");
    // Long enough to be read before the rest is asked for; if not, nothing is tested, or wrong.
    std::thread::park_timeout(Duration::from_millis(100));
    stream.read_exact(rest).expect("the rest of it");
    unmask(&mut payload, &header[10..]);
    let mut echo = vec![0x82, 127];
    echo.extend_from_slice(&(LENGTH as u64).to_be_bytes());
    echo.extend_from_slice(&payload);
    stream.write_all(&echo).expect("sent");

    let mut pong: [u8; 9] = take(&mut stream);
    let (head, body) = pong.split_at_mut(6);
    unmask(body, &head[2..]);
    let pong = [head[0], head[1], body[0], body[1], body[2]];
    // The client takes its leave.
    let _ = stream.read_to_end(&mut Vec::new());
    pong
}

fn take<const N: usize>(stream: &mut TcpStream) -> [u8; N] {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).expect("so many bytes");
    bytes
}

fn until(stream: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(end) {
        bytes.extend_from_slice(&take::<1>(stream));
    }
    bytes
}

fn unmask(payload: &mut [u8], mask: &[u8]) {
    for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}
