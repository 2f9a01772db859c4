//! Both sides of a WebSocket read anything that may be compressed: events or a protocol error,
//! never a panic, never more than the limit, and the same ones however the bytes were cut.
//!
//! Input: one byte (bit 0: the server reads, else the client; bit 1: each message stands for
//! itself; bits 2 to 4: window bits above 8; bits 5 to 7: a thirty-second of the number of cuts),
//! the distances between the cuts, the peer's bytes.
#![no_main]

#[path = "../../crates/proto/tests/common/mod.rs"]
mod common;

use std::sync::Arc;

use common::{Seen, Transcript, cuts_from, run_client, run_server};
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::http1::Http1Server;
use wiretrial_proto::websocket::{
    DeflateAnswer, DeflateConfig, WebSocketClient, WebSocketConfig, WebSocketServer,
};
use wiretrial_proto::{ClientSession, MessageKind, Scratch, ServerCodec, ServerEvent};

const MAX_MESSAGE: u64 = 100_000;

fuzz_target!(|data: &[u8]| {
    let Some((&control, rest)) = data.split_first() else { return };
    let count = usize::from(control >> 5) * 32;
    let Some((distances, input)) = rest.split_at_checked(count) else { return };
    let cuts = cuts_from(distances, input.len());
    let config = DeflateConfig {
        server_no_context_takeover: control & 2 != 0,
        client_no_context_takeover: control & 2 != 0,
        server_max_window_bits: 8 + (control >> 2 & 7),
        client_max_window_bits: 8 + (control >> 2 & 7),
        ..DeflateConfig::default()
    };
    let run: fn(DeflateConfig, &[u8], &[usize]) -> Transcript =
        if control & 1 == 1 { serve } else { ask };
    let whole = run(config, input, &[]);
    assert_eq!(run(config, input, &cuts), whole);
    let mut begun = MessageKind::Binary;
    for seen in whole.seen {
        match seen {
            Seen::Message(kind) => begun = kind,
            Seen::Reply { kind, payload, .. } => check(kind, &payload),
            Seen::End(payload) => check(begun, &payload),
            _ => {}
        }
    }
});

fn check(kind: MessageKind, payload: &[u8]) {
    assert!(payload.len() as u64 <= MAX_MESSAGE);
    assert!(kind == MessageKind::Binary || str::from_utf8(payload).is_ok());
}

fn ask(config: DeflateConfig, input: &[u8], cuts: &[usize]) -> Transcript {
    run_client(&mut pair(config).0, input, cuts, true)
}

fn serve(config: DeflateConfig, input: &[u8], cuts: &[usize]) -> Transcript {
    let answer = pair(config).1;
    run_server(&mut WebSocketServer::with_deflate(MAX_MESSAGE, &answer), input, cuts)
}

/// An open client, and what its server agreed on.
fn pair(config: DeflateConfig) -> (WebSocketClient, DeflateAnswer) {
    let mut client = WebSocketClient::new(
        Arc::new(WebSocketConfig {
            host: "localhost".to_owned(),
            target: "/".to_owned(),
            headers: Vec::new(),
            subprotocols: Vec::new(),
            kind: MessageKind::Text,
            max_message: MAX_MESSAGE,
            deflate: Some(config),
            insists_on_deflate: true,
        }),
        [1, 2],
    );
    let (mut request, mut head, mut scratch) = (Vec::new(), Vec::new(), Scratch::new());
    client.start(&mut request);
    let step = Http1Server::new().receive(&mut request, &mut scratch, &mut Vec::new());
    let step = step.expect("a good request");
    let Some(ServerEvent::Request(request)) = step.event else { panic!("no request") };
    let answer = request.websocket_extensions.accept_deflate(&config).expect("agreed");
    let key = request.websocket_key.expect("a key");
    WebSocketServer::accept_deflate(key, None, &answer, &mut head);
    client.receive(&head, &mut Scratch::new(), &mut Vec::new()).expect("a good answer");
    assert!(client.is_open());
    (client, answer)
}
