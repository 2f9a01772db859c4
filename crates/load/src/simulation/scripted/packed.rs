//! Calls of gRPC whose replies are in gzip, and are not what they should be.

use std::slice;

use serde_json::json;
use wiretrial_proto::grpc::{Gzip, framed};

use super::{Deed, Script};
use crate::simulation::scenario::MS;

const HEAD: Deed =
    Deed::Head(200, &[("content-type", "application/grpc"), ("grpc-encoding", "gzip")]);
const OK: Deed = Deed::Trailers(&[("grpc-status", "0")]);

fn packed(message: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    Gzip::default().messages(&framed([message]).expect("a short one"), &mut packed);
    packed
}

/// Calls under way on one connection, each answered with this content in such pieces; right ones say "yes".
fn calls(contents: &[&[Vec<u8>]]) -> Script {
    let deeds = contents.iter().zip(1..).map(|(pieces, at)| {
        let pieces = pieces.iter().map(|piece| (at * MS, Deed::Say(piece.clone())));
        [(0, HEAD)].into_iter().chain(pieces).chain([((at + 10) * MS, OK)]).collect()
    });
    Script {
        deeds: deeds.collect(),
        target: json!({
            "url": "grpc://127.0.0.1:9/demo.Shop/Get",
            "grpc": {"gzip": true},
            "expect": {"content": {"is": "fixed", "base64": "eWVz"}},
        }),
        load: json!({"connections": 1, "depth": contents.len()}),
        stop: json!({"requests": contents.len()}),
        ..Script::default()
    }
}

/// A bomb of some hundred bytes comes to be more than twice a right reply and 64 KiB.
#[test]
fn a_bomb_fails_its_call_with_its_reason() {
    let bomb = packed(&vec![0; 200_000]);
    assert!(bomb.len() < 1000);
    let yes = packed(b"yes");
    let (begin, end) = yes.split_at(9);
    let told = calls(&[&[bomb], slice::from_ref(&yes), &[begin.to_vec(), end.to_vec()]]).play();
    let summary = &told.summary;
    assert_eq!((summary.counters.ok, summary.counters.sent), (2, 3));
    assert_eq!(summary.counters.errors, [("too_big".to_owned(), 1)].into());
    let example = "a compressed message over the size limit after decompression";
    assert_eq!(summary.examples["too_big"], example);
    // The server is told that nobody reads on.
    assert_eq!(told.seen().last().map(String::as_str), Some("1 ms: 0/1 is taken back"));
    assert_eq!(told.recorded("failed_time"), [1_000]);
}

/// Each is a failure of its own call.
#[test]
fn what_is_no_message_in_gzip_fails_its_call_alone() {
    let yes = packed(b"yes");
    let mut sum = yes.clone();
    let of_sum = sum.len() - 8;
    sum[of_sum] ^= 1;
    // Its prefix says that it is all there.
    let mut cut_off = yes[..yes.len() - 9].to_vec();
    cut_off[4] -= 9;
    for (wrong, class, example) in [
        (sum, "protocol", "a compressed message with a wrong checksum or length"),
        (cut_off, "protocol", "a truncated compressed message"),
        (
            vec![1, 0, 0, 0, 3, b'y', b'e', b's'],
            "protocol",
            "a compressed message that is not valid gzip",
        ),
        (yes[..yes.len() - 1].to_vec(), "protocol", "the reply ended inside a message"),
        (packed(b"no"), "mismatch", ""),
    ] {
        let told = calls(&[&[wrong], slice::from_ref(&yes)]).play();
        let summary = &told.summary;
        assert_eq!(summary.counters.ok, 1, "{example}");
        assert_eq!(summary.counters.errors, [(class.to_owned(), 1)].into(), "{example}");
        assert!(summary.examples[class].contains(example), "{:?}", summary.examples);
    }
}

/// Without an encoding in the head a flag has no meaning.
#[test]
fn a_flag_without_an_encoding_is_a_failure() {
    let plain = Deed::Head(200, &[("content-type", "application/grpc")]);
    let mut script = calls(&[&[packed(b"yes")], &[packed(b"yes")]]);
    script.deeds[0][0].1 = plain;
    let told = script.play();
    let summary = &told.summary;
    assert_eq!(summary.counters.ok, 1);
    let example = "a compressed message, which nobody has asked for";
    assert_eq!(summary.examples["protocol"], example);
}
