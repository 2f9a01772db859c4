//! Rows about WebSocket, and about echoes.

use serde_json::{Value, json};
use wiretrial_respond::Script;

use crate::certificates::Certificate;
use crate::outcome::checked;
use crate::rig::Rig;
use crate::scene::{Case, check_all, pollers, server_config};
use crate::scripted::Step::{self, Open, Read, Reply, ReplyAs, Send, Serve, Swap};
use crate::scripted::{Scripted, Seen};
use crate::speech::{BINARY, CLOSE, PING, PONG, Speech, TEXT, close_frame, frame, frames};

const SCHEMES: [&str; 2] = ["ws", "wss"];
/// The first byte of a whole binary message that is compressed.
const COMPRESSED: u8 = BINARY | 0x40;

/// The close codes that a connection saw, from the peer that closes or answers a close.
fn close_codes(seen: &Seen) -> Vec<u16> {
    let rest = frames(&seen.rest);
    let closes = seen.control.iter().chain(&rest).filter(|(first, _)| *first == CLOSE);
    closes.map(|(_, payload)| u16::from_be_bytes([payload[0], payload[1]])).collect()
}

fn broken(name: &'static str, bytes: &[u8]) -> Case {
    Case::new(name, [Open, Read, Send(bytes.to_vec())])
        .fails("protocol")
        .sees(|seen| assert_eq!(close_codes(seen), [1002], "{seen:?}"))
}

fn altered(payload: &[u8]) -> Vec<u8> {
    let mut other = payload.to_vec();
    other[0] ^= 1;
    other
}

fn two_at_once(plan: &mut Value) {
    plan["load"]["depth"] = json!(2);
    plan["load"]["pack"] = json!(2);
}

#[test]
fn a_broken_rule_of_framing_is_answered_with_1002() {
    check_all(
        &SCHEMES,
        &[
            broken("an unknown data opcode", &frame(0x83, b"abc")),
            broken("an unknown control opcode", &frame(0x8b, b"abc")),
            broken("a reserved bit", &frame(BINARY | 0x40, b"abc")),
            broken("a length not in its shortest form", &[BINARY, 126, 0, 20]),
            broken(
                "a long length not in its shortest form",
                &[BINARY, 127, 0, 0, 0, 0, 0, 0, 1, 0],
            ),
            broken("a length of 2^63", &[BINARY, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            broken("a masked frame", &[BINARY, 0x80 | 1, 1, 2, 3, 4, 5]),
            broken("a fragmented ping", &frame(0x09, b"abc")),
            broken("a long ping", &[PING, 126, 0, 200]),
            broken("a continuation of nothing", &frame(0x80, b"abc")),
            broken(
                "a message inside a message",
                &[frame(0x02, b"abc"), frame(BINARY, b"abc")].concat(),
            ),
            broken("a close frame with half a code", &frame(CLOSE, &[3])),
            broken("a close frame with a code of its own", &close_frame(1005)),
        ],
    );
}

#[test]
fn a_ping_between_fragments_is_answered_and_is_no_message() {
    let split: fn(&[u8]) -> Vec<u8> = |payload| {
        let (begin, end) = payload.split_at(7);
        [frame(0x02, begin), frame(PING, b"still there?"), frame(0x80, end)].concat()
    };
    check_all(
        &SCHEMES,
        &[Case::new("a ping between fragments", [Open, Read, ReplyAs(split), Serve]).sees(
            |seen| {
                assert_eq!(seen.control[0], (PONG, b"still there?".to_vec()));
                assert!(seen.requests > 1, "the conversation goes on");
            },
        )],
    );
}

#[test]
fn wrong_repeated_and_reordered_echoes_are_mismatches() {
    let mut reordered = Case::new("reordered", [Open, Read, Read, Swap, Reply, Reply, Serve])
        .counts("mismatch")
        .with(two_at_once);
    reordered.errors = vec![("mismatch", 2)];
    let mut repeated = Case::new("repeated", [Open, Read, Read, ReplyAs(twice_as_frames), Serve])
        .with(two_at_once);
    repeated.errors = vec![("mismatch", 1)];
    let wrong = |make| Case::new("wrong", [Open, Read, ReplyAs(make), Serve]).counts("mismatch");
    check_all(
        &SCHEMES,
        &[
            wrong(|payload| frame(BINARY, &altered(payload))),
            wrong(|payload| frame(BINARY, &payload[1..])),
            wrong(|payload| frame(TEXT, payload)).says("mismatch", "Text"),
            wrong(|_| frame(BINARY, b"")),
            reordered.clone(),
            repeated,
            Case::new("two for one", [Open, Read, ReplyAs(twice_as_frames)]).closes("protocol"),
        ],
    );
    check_all(
        &["tcp", "tls"],
        &[
            wrong(altered).says("mismatch", "byte 0"),
            reordered,
            Case::new("more than was sent", [Open, Read, ReplyAs(|payload| payload.repeat(2))])
                .closes("protocol"),
        ],
    );
}

fn twice_as_frames(payload: &[u8]) -> Vec<u8> {
    frame(BINARY, payload).repeat(2)
}

#[test]
fn text_that_is_not_utf8_and_messages_without_bound_are_closed_with_their_codes() {
    check_all(
        &SCHEMES,
        &[
            Case::new("not UTF-8", [Open, Read, Send(frame(TEXT, &[b'a', 0xc3, 0x28]))])
                .fails("utf8")
                .sees(|seen| assert_eq!(close_codes(seen), [1007])),
            Case::new(
                "2^62 bytes",
                [Open, Read, Send([&[BINARY, 127, 0x40], &[0; 7][..]].concat())],
            )
            .fails("too_big")
            .sees(|seen| assert_eq!(close_codes(seen), [1009])),
        ],
    );
}

/// A whole message in one compressed frame: so many runs of 258 zeros, at 13 bits each.
fn bomb(runs: usize) -> Vec<u8> {
    let mut bits = vec![false, true, false];
    let mut code = |value: u32, length: u32| {
        // Huffman codes go in with their highest bit first (RFC 1951 section 3.1.1).
        bits.extend((0..length).rev().map(|at| value >> at & 1 == 1));
    };
    code(0b0011_0000, 8);
    for _ in 0..runs {
        code(0b1100_0101, 8);
        code(0, 5);
    }
    // The end of the block, and the begin of an empty stored one, whose end RFC 7692 leaves out.
    code(0, 7);
    code(0, 3);
    let byte = |bits: &[bool]| {
        bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << at)
    };
    let payload: Vec<u8> = bits.chunks(8).map(byte).collect();
    let length = u16::try_from(payload.len()).expect("one frame of medium length");
    let mut frame = vec![COMPRESSED, 126];
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(&payload);
    frame
}

#[test]
fn a_deflate_bomb_is_closed_when_it_is_too_big() {
    const AGREED: Step = Step::OpenWith(
        "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; \
         client_no_context_takeover",
    );
    // Without a context, what the client compressed is its own echo.
    let echo: fn(&[u8]) -> Vec<u8> = |payload| frame(COMPRESSED, payload);
    let exchanges = (0..40).flat_map(|_| [Read, ReplyAs(echo)]);
    let right: Vec<Step> = std::iter::once(AGREED).chain(exchanges).collect();
    for secure in [false, true] {
        let certificate = Certificate::new("localhost", |_| {});
        let tls = secure.then(|| server_config(&certificate));
        for poller in pollers() {
            // 4.6 MB, if anybody were to unpack them. They come at once: bytes that nobody has read
            // turn the close into a reset, and a reset can overtake the close frame.
            let scripts = [&right[..], &[AGREED, Read, Send(bomb(18_000))], &right[..]];
            let scripts = scripts.map(<[Step]>::to_vec).to_vec();
            let server = Scripted::start(Speech::WebSocket, tls.clone(), scripts);
            let mut plan = Rig::new(Script::default()).plan("ws");
            let scheme = if secure { "wss" } else { "ws" };
            plan["target"]["url"] = json!(format!("{scheme}://{}/", server.address()));
            plan["target"]["tls"]["ca_file"] = json!(certificate.cert);
            plan["target"]["websocket"] = json!({"deflate": {}});
            plan["generator"] = json!({"poller": poller});
            plan["stop"] = json!({"requests": 10});
            let outcome = checked(&plan);
            assert_eq!(outcome.errors()["too_big"], 1, "{:?}", outcome.summary.examples);
            assert_eq!(outcome.summary.counters.ok, 9, "{:?}", outcome.errors());
            let unpacked = outcome.summary.bytes.payload_received;
            assert!(unpacked < 1 << 20, "{unpacked} bytes were unpacked");
            assert_eq!(close_codes(&server.end()[1]), [1009]);
        }
    }
}

#[test]
fn the_code_of_a_close_is_recorded() {
    let then_leaves: fn(&[u8]) -> Vec<u8> =
        |payload| [frame(BINARY, payload), close_frame(1001)].concat();
    check_all(
        &SCHEMES,
        &[
            Case::new("a close between messages", [Open, Read, ReplyAs(then_leaves)])
                .closes("server")
                .says("server", "code 1001")
                .sees(|seen| assert_eq!(close_codes(seen), [1001])),
            Case::new("a close in place of a reply", [Open, Read, Send(close_frame(1011))])
                .fails("closed")
                .says("closed", "code 1011")
                .sees(|seen| assert_eq!(close_codes(seen), [1011])),
        ],
    );
}

#[test]
fn who_was_sent_away_does_not_come_back_at_once() {
    const SHORTEST: u64 = 5_000_000;
    let then_leaves: fn(&[u8]) -> Vec<u8> =
        |payload| [frame(BINARY, payload), close_frame(1012)].concat();
    let leaves = || vec![Open, Read, ReplyAs(then_leaves)];
    let rig = Rig::new(Script::default());
    for poller in pollers() {
        let server = Scripted::start(Speech::WebSocket, None, vec![leaves(); 8]);
        let mut plan = rig.plan("ws");
        plan["target"]["url"] = json!(format!("ws://{}/", server.address()));
        plan["generator"] = json!({"poller": poller});
        plan["stop"] = json!({"requests": 3});
        let outcome = checked(&plan);
        assert_eq!(outcome.summary.counters.ok, 3, "{:?}", outcome.errors());
        // The first connection is the preflight's, which does not wait for a farewell.
        let seen = server.end();
        for pair in seen[1..].windows(2) {
            let [Some((_, left)), Some((back, _))] = [pair[0].times, pair[1].times] else { break };
            assert!(back >= left + SHORTEST, "{} ns", back - left);
        }
        assert!(seen.len() >= 4, "{seen:?}");
    }
}

#[test]
fn an_upgrade_that_is_refused_is_asked_for_again() {
    let refused = |name, answer: &str| {
        let mut case = Case::new(name, [Send(answer.as_bytes().to_vec())]);
        case.failed = Some("upgrade");
        case
    };
    let accepted = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
        Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    check_all(
        &SCHEMES,
        &[
            refused("503", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
                .says("upgrade", "503"),
            refused("a wrong accept", accepted).says("upgrade", "Sec-WebSocket-Accept"),
        ],
    );
}
