//! An HTTP/1.1 client reads anything: events or a protocol error, never a panic, and the same
//! ones however the bytes were cut; what it makes of the answer to one GET is what a model over
//! `httparse` makes of it; and what it read, a server can say to it again.
//!
//! Input: one byte (its two lowest bits: the requests that wait; the rest: how many cuts), the
//! distances between the cuts, the server's bytes.
#![no_main]

#[path = "../../crates/proto/tests/common/mod.rs"]
mod common;
#[path = "../../crates/proto/tests/differential/heads.rs"]
mod heads;
#[path = "../../crates/proto/tests/differential/known.rs"]
mod known;
#[path = "../../crates/proto/tests/differential/model.rs"]
mod model;

use common::{Seen, cuts_from, run_client, run_client_short};
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::http1::{BodyLength, Http1Client, Http1Server, PayloadLength, RequestHead};
use wiretrial_proto::{ClientSession, Message};

const WAITING: [&[&str]; 4] =
    [&["GET"], &["HEAD", "GET"], &["GET", "GET", "HEAD", "POST"], &["POST", "GET!"]];

fuzz_target!(|data: &[u8]| {
    let Some((&control, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(control >> 2)) else { return };
    let methods = WAITING[usize::from(control & 3)];
    let cuts = cuts_from(distances, input.len());
    let whole = run_client(&mut client(methods), input, &[], true);
    assert_eq!(run_client(&mut client(methods), input, &cuts, true), whole);
    assert_eq!(run_client_short(&mut client(methods), input, &cuts, true), whole);
    assert!(whole.out.is_empty(), "a client answers nothing");
    let replies = whole.seen.iter().filter(|seen| matches!(seen, Seen::Reply { .. }));
    assert!(replies.count() <= methods.len(), "a reply to no request");
    if methods.len() == 1 {
        heads::compare_response(input);
    }
    say_again(methods, &whole.seen);
});

/// What was read, written by a server and read once more, is the same.
fn say_again(methods: &[&str], seen: &[Seen]) {
    let mut server = Http1Server::new();
    let mut bytes = Vec::new();
    let mut expected = Vec::new();
    for (method, seen) in methods.iter().zip(seen) {
        let Seen::Reply { status, payload, last, .. } = seen else { break };
        let method = method.trim_end_matches('!');
        let request = format!("{method} / HTTP/1.1\r\nHost: h\r\n\r\n");
        common::run_server(&mut server, request.as_bytes(), &[]);
        let (head, tail) = payload.split_at(payload.len() / 2);
        let length = match status % 2 {
            0 => BodyLength::Known(payload.len() as u64),
            _ => BodyLength::Chunked,
        };
        server.respond_head(*status, "", length, !last, &mut bytes);
        server.body_chunk(head, &mut bytes);
        server.body_chunk(tail, &mut bytes);
        server.body_end(&mut bytes);
        expected.push(seen.clone());
    }
    assert_eq!(run_client(&mut client(methods), &bytes, &[], true).seen, expected);
}

/// A codec that sent these requests; `!` asks the server to close.
fn client(methods: &[&str]) -> Http1Client {
    let heads = methods.iter().map(|method| {
        let close = method.ends_with('!');
        let method = method.trim_end_matches('!');
        RequestHead::new(method, "/", "host", &[], close, PayloadLength::None).expect("a request")
    });
    let mut codec = Http1Client::new(heads.collect());
    for route in 0..methods.len() {
        codec.encode(&Message { number: 0, route, payload: b"", fill: None }, &mut Vec::new());
    }
    codec
}
