//! What a server makes of a client's bytes.

use wiretrial_proto::socketio::{SocketIoEvent, SocketIoServer};
use wiretrial_proto::{ClientSession as _, Message, MessageKind, Scratch};

use super::stage::{LIMIT, bare, messages, upgraded};
use crate::common::{Seen, pieces, run_client, splittings};

/// What the server reported of these messages, however they were cut, and what it said itself.
fn run(texts: &[&str]) -> (Vec<String>, Vec<u8>) {
    let (mut client, mut input) = (bare(), Vec::new());
    for text in texts {
        client.message(MessageKind::Text, text.as_bytes(), &mut input);
    }
    let whole = cut(&input, &[]);
    for cuts in splittings(input.len()).skip(1) {
        assert_eq!(cut(&input, &cuts), whole, "{texts:?} cut at {cuts:?}");
    }
    whole
}

fn cut(input: &[u8], cuts: &[usize]) -> (Vec<String>, Vec<u8>) {
    let mut codec = SocketIoServer::new(0xab, LIMIT);
    let (mut scratch, mut out) = (Scratch::new(), Vec::new());
    let (mut seen, mut held) = (Vec::new(), Vec::new());
    for piece in pieces(input, cuts) {
        held.extend_from_slice(piece);
        loop {
            let step = match codec.receive(&mut held, &mut scratch, &mut out) {
                Ok(step) => step,
                Err(error) => {
                    codec.close(1002, &mut out);
                    seen.push(format!("{:?}", error.class));
                    return (seen, out);
                }
            };
            let over = step.event.is_none();
            match step.event {
                None => {}
                Some(SocketIoEvent::Connected) => seen.push("connected".to_owned()),
                Some(SocketIoEvent::Close) => seen.push("close".to_owned()),
                Some(SocketIoEvent::Event { id, arguments }) => {
                    seen.push(format!("{id:?} {}", String::from_utf8_lossy(arguments)));
                }
            }
            let consumed = step.consumed;
            held.drain(..consumed);
            if over {
                break;
            }
        }
    }
    (seen, out)
}

#[test]
fn table_of_conversations() {
    let rows: [(&[&str], &[&str]); 16] = [
        (&["40"], &["connected"]),
        (&["40{\"token\":1}"], &["connected"]),
        (&["40", "4217[\"get\",1]"], &["connected", "Some(17) [\"get\",1]"]),
        (&["40", "42[\"news\"]"], &["connected", "None [\"news\"]"]),
        (&["40", "3", "6", "430[]", "421[]"], &["connected", "Some(1) []"]),
        (&["40", "41", "420[]"], &["connected", "close"]),
        (&["1"], &["close"]),
        (&["420[]"], &["Protocol"]),
        (&["40", "40"], &["connected", "Protocol"]),
        (&["40/admin,"], &["Protocol"]),
        (&["40", "42"], &["connected", "Protocol"]),
        (&["40", "420{}"], &["connected", "Protocol"]),
        (&["0{}"], &["Protocol"]),
        (&["44"], &["Protocol"]),
        (&["x"], &["Protocol"]),
        (&[""], &["Protocol"]),
    ];
    for (texts, expected) in rows {
        assert_eq!(run(texts).0, expected, "{texts:?}");
    }
}

#[test]
fn what_a_server_says() {
    let mut codec = SocketIoServer::new(0xab, LIMIT);
    let mut out = Vec::new();
    codec.greet(&mut out);
    codec.acknowledge(17, br#"[null,{"id":"testing"}]"#, &mut out);
    codec.emit(br#"["message","hello"]"#, &mut out);
    let greeting = r#"0{"sid":"00000000000000ab","upgrades":[],"pingInterval":86400000,"pingTimeout":20000,"maxPayload":20000}"#;
    let said = [greeting, r#"4317[null,{"id":"testing"}]"#, r#"42["message","hello"]"#];
    assert_eq!(out, messages(&said));
    let (_, out) = run(&["40", "2", "2probe"]);
    assert_eq!(out, messages(&[r#"40{"sid":"00000000000000ab"}"#, "3", "3probe"]));
    let (_, out) = run(&["41"]);
    assert_eq!(out, b"\x88\x02\x03\xe8");
    let (_, out) = run(&["x"]);
    assert_eq!(out, b"\x88\x02\x03\xea");
}

#[test]
fn both_sides_understand_each_other() {
    let (mut client, mut server) = (upgraded(), SocketIoServer::new(1, LIMIT));
    let (mut to_client, mut to_server) = (Vec::new(), Vec::new());
    server.greet(&mut to_client);
    for round in 0..4 {
        let run = run_client(&mut client, &std::mem::take(&mut to_client), &[], false);
        to_server.extend(run.out);
        let seen = run.seen;
        match round {
            0 => assert_eq!(seen, []),
            1 => assert_eq!(seen, [Seen::Open]),
            _ => assert!(matches!(&seen[..], [Seen::Reply { payload, .. }] if payload == b"[3]")),
        }
        if round > 0 {
            client.encode(&Message::new(round, b"[\"add\",1,2]"), &mut to_server);
        }
        let mut scratch = Scratch::new();
        let step = server.receive(&mut to_server, &mut scratch, &mut to_client).expect("right");
        let (consumed, event) = (step.consumed, step.event);
        if round > 0 {
            let arguments = b"[\"add\",1,2]".as_slice();
            assert_eq!(event, Some(SocketIoEvent::Event { id: Some(round), arguments }));
            server.acknowledge(round, b"[3]", &mut to_client);
        }
        to_server.drain(..consumed);
    }
}

#[test]
fn a_binary_message_is_refused() {
    let mut input = Vec::new();
    bare().message(MessageKind::Binary, b"40", &mut input);
    assert_eq!(cut(&input, &[]).0, ["Protocol"]);
}
