//! A Socket.IO server reads anything: events or a protocol error, never a panic, and the same ones
//! however the bytes were cut.
//!
//! Input: one byte (its lowest bit: are the rest lines of text, each a message, or frames as they
//! are; the rest: how many cuts), the distances between the cuts, the client's bytes.
#![no_main]

#[allow(dead_code, reason = "the stage of the tests has more")]
#[path = "../../crates/proto/tests/common/mod.rs"]
mod common;
#[allow(dead_code, reason = "the stage of the tests has more")]
#[path = "../../crates/proto/tests/all/socketio/stage.rs"]
mod stage;

use common::{cuts_from, pieces};
use libfuzzer_sys::fuzz_target;
use stage::{LIMIT, bare};
use wiretrial_proto::socketio::{SocketIoEvent, SocketIoServer};
use wiretrial_proto::{MessageKind, Scratch};

fuzz_target!(|data: &[u8]| {
    let Some((&control, rest)) = data.split_first() else { return };
    let Some((distances, rest)) = rest.split_at_checked(usize::from(control >> 1)) else { return };
    let mut input = Vec::new();
    if control & 1 == 0 {
        input.extend_from_slice(rest);
    } else {
        let mut client = bare();
        for line in String::from_utf8_lossy(rest).split('\n') {
            client.message(MessageKind::Text, line.as_bytes(), &mut input);
        }
    }
    let cuts = cuts_from(distances, input.len());
    assert_eq!(run(&input, &cuts), run(&input, &[]));
});

fn run(input: &[u8], cuts: &[usize]) -> (Vec<String>, Vec<u8>) {
    let mut codec = SocketIoServer::new(1, LIMIT);
    let (mut scratch, mut out, mut held) = (Scratch::new(), Vec::new(), Vec::new());
    let mut seen = Vec::new();
    let mut connected = false;
    for piece in pieces(input, cuts) {
        held.extend_from_slice(piece);
        loop {
            let Ok(step) = codec.receive(&mut held, &mut scratch, &mut out) else {
                seen.push("error".to_owned());
                return (seen, out);
            };
            match step.event {
                Some(SocketIoEvent::Connected) => assert!(!std::mem::replace(&mut connected, true)),
                Some(SocketIoEvent::Event { arguments, .. }) => {
                    assert!(connected && arguments.starts_with(b"["));
                }
                _ => {}
            }
            let over = step.event.is_none();
            seen.extend(step.event.map(|event| format!("{event:?}")));
            let consumed = step.consumed;
            held.drain(..consumed);
            if over {
                break;
            }
        }
    }
    (seen, out)
}
