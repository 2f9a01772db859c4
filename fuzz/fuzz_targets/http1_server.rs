//! An HTTP/1.1 server reads anything: events or a protocol error, never a panic, and the same
//! ones however the bytes were cut; what it makes of the first request is what a model over
//! `httparse` makes of it; what it read, a client can send it again; and what it answers, the
//! client's codec reads.
//!
//! Input: one byte (how many cuts), the distances between the cuts, the client's bytes.
#![no_main]

#[path = "../../crates/proto/tests/common/mod.rs"]
mod common;
#[path = "../../crates/proto/tests/differential/heads.rs"]
mod heads;
#[path = "../../crates/proto/tests/differential/known.rs"]
mod known;
#[path = "../../crates/proto/tests/differential/model.rs"]
mod model;

use common::{RequestSeen, Seen, cuts_from, run_client, run_server};
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::http1::{BadRequest, Http1Client, Http1Server, PayloadLength, RequestHead};
use wiretrial_proto::{ClientSession, Message};

fuzz_target!(|data: &[u8]| {
    let Some((&count, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(count)) else { return };
    let cuts = cuts_from(distances, input.len());
    let mut server = Http1Server::new();
    let whole = run_server(&mut server, input, &[]);
    assert_eq!(run_server(&mut Http1Server::new(), input, &cuts), whole);
    // An expectation is refused by our own choice, of which the model knows nothing.
    if !whole.out.starts_with(b"HTTP/1.1 417 ") && !whole.out.starts_with(b"HTTP/1.1 426 ") {
        compare(input, &whole.seen);
    }
    for pair in whole.seen.windows(2) {
        if let [Seen::Request(request), Seen::End(body)] = pair {
            send_again(request, body);
        }
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

/// An upgrade that goes wrong is no matter of the model either, and in targets of other forms
/// than a path the crate that it asks is too lax to be asked for long.
fn compare(input: &[u8], seen: &[Seen]) {
    if !input.split(|byte| *byte == b' ').nth(1).is_some_and(|target| target.starts_with(b"/")) {
        return;
    }
    let asks = input.windows(9).any(|it| it.eq_ignore_ascii_case(b"websocket"));
    let refused = !matches!(seen.first(), Some(Seen::Request(_)));
    if !(asks && refused) {
        heads::compare_request(input);
    }
}

/// The same request from a client reads the same.
fn send_again(request: &RequestSeen, body: &[u8]) {
    assert!(request.websocket_key.as_ref().is_none_or(|key| key.len() == 24));
    let RequestSeen { method, target, keep_alive, .. } = request;
    let typed = [("Content-Type".to_owned(), "text/plain".to_owned())];
    let head = RequestHead::new(method, target, "h", &typed, !keep_alive, PayloadLength::Varying);
    let odd = target.bytes().any(|byte| b"\"<>\\^`{|}[]%".contains(&byte));
    let head = match head {
        Err(BadRequest::Connect | BadRequest::TraceBody) => return,
        Err(BadRequest::Target(_)) if odd => return,
        head => head.expect("what a server takes a client may send"),
    };
    let mut bytes = Vec::new();
    Http1Client::new([head].into()).encode(&Message::new(0, body), &mut bytes);
    let expected = RequestSeen {
        method: method.clone(),
        target: target.clone(),
        keep_alive: *keep_alive,
        content_length: Some(body.len() as u64),
        ..RequestSeen::default()
    };
    let seen = run_server(&mut Http1Server::new(), &bytes, &[]).seen;
    assert_eq!(seen, [Seen::Request(expected), Seen::End(body.to_vec())]);
}

/// How many whole replies a client that sent this one request reads.
fn replies(method: &str, bytes: &[u8]) -> usize {
    // A client does not send CONNECT; the answers here are framed as those to GET.
    let method = if method == "CONNECT" { "GET" } else { method };
    let head = RequestHead::new(method, "/", "host", &[], false, PayloadLength::None);
    let mut client = Http1Client::new([head.expect("a method that the server took")].into());
    client.encode(&Message::new(0, b""), &mut Vec::new());
    let seen = run_client(&mut client, bytes, &[], true).seen;
    assert!(seen.iter().all(|seen| matches!(seen, Seen::Reply { .. })), "{seen:?}");
    seen.len()
}
