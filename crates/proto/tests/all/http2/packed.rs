//! Calls of gRPC whose messages are compressed.

use std::sync::Arc;

use wiretrial_proto::grpc::{Gzip, framed};
use wiretrial_proto::http1::HeadPart;
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request};
use wiretrial_proto::{ClientSession as _, ErrorClass, Event, Message, Scratch};

use super::calls;
use super::frames::*;
use super::play::check;

/// The longest that a message may come to be, bytes.
const MOST: usize = 1000;

/// A client that has made calls number 10, 11, 12 on streams 1, 3, 5, and takes such encodings.
fn accepting(list: &str) -> Http2Client {
    let accepted = [("Grpc-Accept-Encoding", vec![HeadPart::Text(list)])];
    let call = Http2Request::call("http", "/p.S/M", "h", &accepted, false).expect("a call");
    let limits = Http2Limits { max_inflated: MOST as u32, ..Http2Limits::default() };
    let mut client = Http2Client::new(Arc::from([call]), limits);
    let (mut out, mut scratch) = (Vec::new(), Scratch::new());
    client.start(&mut out);
    let first = settings(&[]);
    let step = client.receive(&first, &mut scratch, &mut out).expect("settings");
    assert!(matches!(step.event, Some(Event::Open)));
    let payload = framed([&b"ab"[..]]).expect("a short one");
    (10..13).for_each(|number| client.encode(&Message::new(number, &payload), &mut out));
    client
}

fn client() -> Http2Client {
    accepting("identity, gzip")
}

fn seen(bytes: &[Vec<u8>]) -> Vec<String> {
    check(client, &bytes.concat()).events
}

/// The head of a reply whose messages are in this encoding.
fn head(stream: u32, encoding: &str) -> Vec<u8> {
    let encoding = format!("grpc-encoding={encoding}");
    headers(0, stream, &[":status=200", "content-type=application/grpc", &encoding])
}

fn good(stream: u32) -> Vec<u8> {
    headers(END, stream, &["grpc-status=0"])
}

/// Messages in gzip, behind their prefixes.
fn packed(messages: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    let plain = framed(messages.iter().copied()).expect("short ones");
    Gzip::default().messages(&plain, &mut out);
    out
}

#[test]
fn compressed_messages_are_told_as_they_were() {
    let (two, plain) = (packed(&[b"abcabc", b"de"]), framed([&b"x"[..]]).expect("a short one"));
    let both = [&two[..], &plain].concat();
    let events = seen(&[
        head(3, "GZIP"),
        head(1, "gzip"),
        frame(DATA, 0, 1, &packed(&[b"yes"])),
        frame(DATA, 0, 3, &both[..9]),
        good(1),
        frame(DATA, 0, 3, &both[9..]),
        good(3),
        head(5, "gzip"),
        frame(DATA, 0, 5, &plain),
        good(5),
    ]);
    assert_eq!(
        events,
        [
            "reply 10 0 '\0\0\0\0\u{3}yes'",
            "reply 11 0 '\0\0\0\0\u{6}abcabc\0\0\0\0\u{2}de\0\0\0\0\u{1}x'",
            "reply 12 0 '\0\0\0\0\u{1}x'",
        ]
    );
}

#[test]
fn a_flag_counts_where_an_encoding_was_said_and_asked_for() {
    let yes = packed(&[b"yes"]);
    let right = "reply 11 0 '\0\0\0\0\u{3}yes'";
    let of = |list, first: Vec<u8>| {
        let behind = [frame(DATA, 0, 1, &yes), head(3, "gzip"), frame(DATA, 0, 3, &yes), good(3)];
        check(|| accepting(list), &[first, behind.concat()].concat()).events
    };
    for (encoding, what) in [("identity", "none"), ("snappy", "unknown"), ("", "empty")] {
        assert_eq!(of("gzip", head(1, encoding)), ["failed 10 Protocol", right], "{what}");
    }
    assert_eq!(of("gzip", calls::head(1)), ["failed 10 Protocol", right], "none is said");
    for list in ["identity", "deflate,br"] {
        let events = of(list, head(1, "gzip"));
        assert_eq!(events, ["failed 10 Protocol", "failed 11 Protocol"], "{list}");
    }
}

#[test]
fn what_is_wrong_with_a_compressed_message_fails_its_call_alone() {
    let yes = packed(&[b"yes"]);
    let mut sum = yes.clone();
    let of_sum = sum.len() - 8;
    sum[of_sum] ^= 1;
    // Its length is said anew, so that it is the content that breaks off.
    let mut cut_off = yes[..yes.len() - 9].to_vec();
    cut_off[4] -= 9;
    for (content, class, what) in [
        (packed(&[&[0; MOST + 1]]), "TooBig", "a bomb"),
        (vec![1, 255, 255, 255, 255], "TooBig", "a length without end"),
        (vec![1, 0, 0, 0, 3, b'y', b'e', b's'], "Protocol", "no gzip"),
        (sum, "Protocol", "another sum"),
        (cut_off, "Protocol", "cut off"),
        (vec![2, 0, 0, 0, 0], "Protocol", "another flag"),
    ] {
        let first = [head(1, "gzip"), frame(DATA, 0, 1, &content)].concat();
        let other = [head(3, "gzip"), frame(DATA, 0, 3, &yes)].concat();
        let events = seen(&[other, first, good(3)]);
        let right = "reply 11 0 '\0\0\0\0\u{3}yes'";
        assert_eq!(events, [format!("failed 10 {class}"), right.to_owned()], "{what}");
    }
    let inside = [head(1, "gzip"), frame(DATA, 0, 1, &yes[..yes.len() - 1]), good(1)];
    assert_eq!(seen(&inside), ["failed 10 Protocol"], "the reply ends inside of it");
    assert_eq!(seen(&[head(1, "gzip"), frame(DATA, END, 1, &yes)]), ["failed 10 NoStatus"]);
}

#[test]
fn a_call_is_given_up_where_its_message_is_a_bomb() {
    let (mut client, mut scratch, mut out) = (client(), Scratch::new(), Vec::new());
    let bytes = [head(1, "gzip"), frame(DATA, 0, 1, &packed(&[&[0; MOST + 1]]))].concat();
    let step = client.receive(&bytes, &mut scratch, &mut out).expect("a failure");
    let Some(Event::Failed { error, .. }) = step.event else { panic!("{step:?}") };
    assert_eq!(error.class, ErrorClass::TooBig);
    assert_eq!(error.detail, "a compressed message over the size limit after decompression");
    assert_eq!(told(&out), ["1: reset 8"]);
}

#[test]
fn it_is_known_whether_a_message_came_compressed() {
    let plain = framed([&b"yes"[..]]).expect("a short one");
    for (content, told) in [(plain, false), (packed(&[b"yes"]), true)] {
        let (mut client, mut scratch, mut out) = (client(), Scratch::new(), Vec::new());
        let bytes = [head(1, "gzip"), frame(DATA, 0, 1, &content)].concat();
        client.receive(&bytes, &mut scratch, &mut out).expect("a reply");
        assert_eq!(client.gzip(), Some(told));
    }
    assert_eq!(calls::calls().0.gzip(), None);
}
