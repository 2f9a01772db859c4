//! A WebSocket server reads anything: events or a protocol error, never a panic, and the same
//! ones however the bytes were cut.
//!
//! Input: one byte (how many cuts), the distances between the cuts, the client's bytes.
#![no_main]

#[path = "../../crates/proto/tests/common/mod.rs"]
mod common;

use common::{Seen, cuts_from, run_server};
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::MessageKind;
use wiretrial_proto::websocket::WebSocketServer;

const MAX_MESSAGE: u64 = 20_000;

fuzz_target!(|data: &[u8]| {
    let Some((&count, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(count)) else { return };
    let cuts = cuts_from(distances, input.len());
    let whole = run_server(&mut WebSocketServer::new(MAX_MESSAGE), input, &[]);
    assert_eq!(run_server(&mut WebSocketServer::new(MAX_MESSAGE), input, &cuts), whole);
    let mut kind = MessageKind::Binary;
    for seen in whole.seen {
        match seen {
            Seen::Message(begun) => kind = begun,
            Seen::End(payload) => {
                assert!(payload.len() as u64 <= MAX_MESSAGE);
                assert!(kind == MessageKind::Binary || str::from_utf8(&payload).is_ok());
            }
            Seen::Close(code) => assert!((1000..5000).contains(&code)),
            _ => {}
        }
    }
});
