//! A raw client reads anything: as many bytes as were asked for, then an error, and the same
//! however they were cut.
//!
//! Input: one byte (half of it: how many requests; the rest: how many cuts), the lengths of the
//! requests, the distances between the cuts, the server's bytes.
#![no_main]

#[path = "../../crates/proto/tests/common/mod.rs"]
mod common;

use common::{Seen, cuts_from, run_client, run_client_short};
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::raw::RawClient;
use wiretrial_proto::{ClientSession, Message};

fuzz_target!(|data: &[u8]| {
    let Some((&control, rest)) = data.split_first() else { return };
    let Some((lengths, rest)) = rest.split_at_checked(usize::from(control >> 4)) else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(control & 15)) else { return };
    let cuts = cuts_from(distances, input.len());
    let whole = run_client(&mut client(lengths), input, &[], true);
    assert_eq!(run_client(&mut client(lengths), input, &cuts, true), whole);
    assert_eq!(run_client_short(&mut client(lengths), input, &cuts, true), whole);
    let mut left = input;
    let mut waiting = lengths.iter();
    for seen in whole.seen {
        let Seen::Reply { payload, .. } = seen else { return };
        let length = waiting.next().expect("a request for each reply");
        let (expected, behind) = left.split_at(usize::from(*length));
        assert_eq!(payload, expected);
        left = behind;
    }
    assert!(left.is_empty(), "bytes that nobody asked for are an error");
});

fn client(lengths: &[u8]) -> RawClient {
    let mut codec = RawClient::new();
    for length in lengths {
        let payload = vec![b'x'; usize::from(*length)];
        codec.encode(&Message::new(0, &payload), &mut Vec::new());
    }
    codec
}
