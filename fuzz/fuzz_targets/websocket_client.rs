//! A WebSocket client reads anything: events or a protocol error, never a panic, and the same
//! ones however the bytes were cut.
//!
//! Input: one byte (its lowest bit: is the handshake behind us; the rest: how many cuts), the
//! distances between the cuts, the server's bytes.
#![no_main]

#[path = "../../crates/proto/tests/common/mod.rs"]
mod common;

use std::sync::Arc;

use common::{Seen, cuts_from, run_client, run_client_short};
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::websocket::{WebSocketClient, WebSocketConfig, WebSocketServer};
use wiretrial_proto::{ClientSession, MessageKind, Scratch};

const MAX_MESSAGE: u64 = 20_000;

fuzz_target!(|data: &[u8]| {
    let Some((&control, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(control >> 1)) else { return };
    let cuts = cuts_from(distances, input.len());
    let whole = run_client(&mut client(control & 1 == 1), input, &[], true);
    assert_eq!(run_client(&mut client(control & 1 == 1), input, &cuts, true), whole);
    assert_eq!(run_client_short(&mut client(control & 1 == 1), input, &cuts, true), whole);
    for seen in whole.seen {
        match seen {
            Seen::Reply { kind, payload, .. } => {
                assert!(payload.len() as u64 <= MAX_MESSAGE);
                assert!(kind == MessageKind::Binary || str::from_utf8(&payload).is_ok());
            }
            Seen::Close(code) => assert!((1000..5000).contains(&code)),
            _ => {}
        }
    }
});

fn client(open: bool) -> WebSocketClient {
    let mut scratch = Scratch::new();
    let config = WebSocketConfig {
        host: "localhost".to_owned(),
        target: "/".to_owned(),
        headers: Vec::new(),
        subprotocols: vec!["chat".to_owned()],
        kind: MessageKind::Text,
        max_message: MAX_MESSAGE,
        deflate: None,
        insists_on_deflate: false,
    };
    let mut client = WebSocketClient::new(Arc::new(config), [1, 2]);
    let mut request = Vec::new();
    client.start(&mut request);
    if open {
        let request = str::from_utf8(&request).expect("a head of text");
        let (_, behind) = request.split_once("Sec-WebSocket-Key: ").expect("a key");
        let mut answer = Vec::new();
        WebSocketServer::accept(&behind[..24], None, &mut answer);
        client.receive(&answer, &mut scratch, &mut Vec::new()).expect("a good answer");
        assert!(client.is_open());
    }
    client
}
