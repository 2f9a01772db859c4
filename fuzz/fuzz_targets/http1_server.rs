//! An HTTP/1.1 server reads anything: events or a protocol error, never a panic, and the same
//! ones however the bytes were cut. What it answers, the client's codec reads.
//!
//! Input: one byte (how many cuts), the distances between the cuts, the client's bytes.
#![no_main]

#[path = "../../crates/proto/tests/common/mod.rs"]
mod common;

use common::{Seen, cuts_from, run_client, run_server};
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::http1::{Http1Client, Http1Server, PayloadLength, RequestHead};
use wiretrial_proto::{ClientCodec, Request};

fuzz_target!(|data: &[u8]| {
    let Some((&count, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(count)) else { return };
    let cuts = cuts_from(distances, input.len());
    let mut server = Http1Server::new();
    let whole = run_server(&mut server, input, &[]);
    assert_eq!(run_server(&mut Http1Server::new(), input, &cuts), whole);
    for seen in &whole.seen {
        let Seen::Request(request) = seen else { continue };
        assert!(!request.method.is_empty() && !request.target.is_empty());
        assert!(request.websocket_key.as_ref().is_none_or(|key| key.len() == 24));
    }
    if let [Seen::Request(request), Seen::End(_)] = &whole.seen[..] {
        let mut answer = Vec::new();
        server.respond(200, "text/plain", b"hello", request.keep_alive, &mut answer);
        assert_eq!(replies(&request.method, &answer), 1);
    }
    if !whole.out.is_empty() {
        assert_eq!(replies("GET", &whole.out), 1, "a refusal is a response");
    }
});

/// How many whole replies a client that sent this one request reads.
fn replies(method: &str, bytes: &[u8]) -> usize {
    // A client does not send CONNECT; the answers here are framed as those to GET.
    let method = if method == "CONNECT" { "GET" } else { method };
    let head = RequestHead::new(method, "/", "host", &[], false, PayloadLength::None);
    let mut client = Http1Client::new([head.expect("a method that the server took")].into());
    client.encode(&Request { route: 0, payload: b"" }, &mut Vec::new());
    let seen = run_client(&mut client, bytes, &[], true).seen;
    assert!(seen.iter().all(|seen| matches!(seen, Seen::Reply { .. })), "{seen:?}");
    seen.len()
}
