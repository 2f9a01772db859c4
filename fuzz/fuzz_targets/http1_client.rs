//! An HTTP/1.1 client reads anything: events or a protocol error, never a panic, and the same
//! ones however the bytes were cut.
//!
//! Input: one byte (its two lowest bits: the requests that wait; the rest: how many cuts), the
//! distances between the cuts, the server's bytes.
#![no_main]

#[path = "../../crates/proto/tests/common/mod.rs"]
mod common;

use common::{Seen, cuts_from, run_client};
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::http1::{Http1Client, PayloadLength, RequestHead};
use wiretrial_proto::{ClientCodec, Request};

const WAITING: [&[&str]; 4] =
    [&["GET"], &["HEAD", "GET"], &["GET", "GET", "HEAD", "POST"], &["POST", "GET!"]];

fuzz_target!(|data: &[u8]| {
    let Some((&control, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(control >> 2)) else { return };
    let methods = WAITING[usize::from(control & 3)];
    let cuts = cuts_from(distances, input.len());
    let whole = run_client(&mut client(methods), input, &[], true);
    assert_eq!(run_client(&mut client(methods), input, &cuts, true), whole);
    assert!(whole.out.is_empty(), "a client answers nothing");
    let replies = whole.seen.iter().filter(|seen| matches!(seen, Seen::Reply { .. }));
    assert!(replies.count() <= methods.len(), "a reply to no request");
});

/// A codec that sent these requests; `!` asks the server to close.
fn client(methods: &[&str]) -> Http1Client {
    let heads = methods.iter().map(|method| {
        let close = method.ends_with('!');
        let method = method.trim_end_matches('!');
        RequestHead::new(method, "/", "host", &[], close, PayloadLength::None).expect("a request")
    });
    let mut codec = Http1Client::new(heads.collect());
    for route in 0..methods.len() {
        codec.encode(&Request { route, payload: b"" }, &mut Vec::new());
    }
    codec
}
