//! Calls of gRPC, whose status stands behind the content.

use std::sync::Arc;

use wiretrial_proto::grpc::framed;
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request};
use wiretrial_proto::{ClientSession as _, ErrorClass, Event, Message, Scratch};

use super::frames::*;
use super::play::check;

/// A client that has made calls number 10, 11, 12 on streams 1, 3, 5.
pub(super) fn calls() -> (Http2Client, Vec<u8>) {
    asked([true; 3])
}

/// The same, of which some are requests of HTTP.
pub(super) fn asked(are_calls: [bool; 3]) -> (Http2Client, Vec<u8>) {
    let (path, deadline) = (vec![HeadPart::Text("/p")], vec![HeadPart::Text("1S")]);
    let deadline = [("grpc-timeout", deadline)];
    let call = Http2Request::call("http", "/p.S/M", "h", &deadline, false).expect("a call");
    let length = PayloadLength::Varying;
    let page = Http2Request::with_holes("http", "POST", &path, "h", &[], false, length);
    let requests = Arc::from([page.expect("a request"), call]);
    let mut client = Http2Client::new(requests, Http2Limits::default());
    let (mut out, mut scratch) = (Vec::new(), Scratch::new());
    client.start(&mut out);
    let first = settings(&[]);
    let step = client.receive(&first, &mut scratch, &mut out).expect("settings");
    assert!(matches!(step.event, Some(Event::Open)));
    out.clear();
    let payload = framed([&b"ab"[..]]).expect("a short one");
    for (number, is_call) in (10..).zip(are_calls) {
        let message = Message { route: usize::from(is_call), ..Message::new(number, &payload) };
        client.encode(&message, &mut out);
    }
    (client, out)
}

/// The head of a reply that goes on.
pub(super) fn head(stream: u32) -> Vec<u8> {
    headers(0, stream, &[":status=200", "content-type=application/grpc+proto"])
}

fn seen(bytes: &[Vec<u8>]) -> Vec<String> {
    check(|| calls().0, &bytes.concat()).events
}

#[test]
fn a_call_is_a_post_that_takes_trailers() {
    let (_, out) = calls();
    let told = told(&out);
    let begin = "1: headers :method=POST :scheme=http :authority=h :path=/p.S/M \
                 content-type=application/grpc grpc-timeout=1S te=trailers";
    assert_eq!(told[0], begin);
    assert_eq!(told.len(), 6);
}

#[test]
fn a_reply_has_the_status_of_its_call() {
    let message = framed([&b"yes"[..]]).expect("a short one");
    let two = framed([&b"a"[..], b"b"]).expect("short ones");
    let events = seen(&[
        head(3),
        head(1),
        frame(DATA, 0, 1, &message),
        frame(DATA, 0, 3, &two[..7]),
        headers(END, 1, &["grpc-status=0"]),
        frame(DATA, 0, 3, &two[7..]),
        headers(END, 3, &["grpc-status=10", "grpc-message=gone"]),
        headers(END, 5, &[":status=200", "content-type=application/grpc", "grpc-status=5"]),
    ]);
    assert_eq!(
        events,
        [
            "reply 10 0 '\0\0\0\0\u{3}yes'",
            "reply 11 10 '\0\0\0\0\u{1}a\0\0\0\0\u{1}b'",
            "reply 12 5 ''",
        ]
    );
}

#[test]
fn what_is_said_of_a_status_is_kept() {
    let (mut client, mut out) = calls();
    let fields = [":status=200", "grpc-status=5", "grpc-message=no%20such"];
    let bytes = headers(END, 1, &fields);
    client.receive(&bytes, &mut Scratch::new(), &mut out).expect("a reply");
    assert_eq!(client.said(), b"no%20such");
}

#[test]
fn a_reply_of_http_says_its_own_status() {
    let events = seen(&[
        headers(0, 1, &[":status=503", "content-type=text/html"]),
        frame(DATA, END, 1, b"\x01no message"),
        headers(END, 3, &[":status=404"]),
        headers(END, 5, &[":status=500", "grpc-status=13"]),
    ]);
    assert_eq!(events, ["reply 10 503 '\u{1}no message'", "reply 11 404 ''", "reply 12 13 ''"]);
}

#[test]
fn a_missing_status_is_a_failure_of_its_own() {
    let message = framed([&b"yes"[..]]).expect("a short one");
    let events = seen(&[
        head(1),
        frame(DATA, END, 1, &message),
        head(3),
        frame(DATA, 0, 3, &message),
        headers(END, 3, &["other=0"]),
        headers(END, 5, &[":status=200", "content-type=application/grpc"]),
    ]);
    assert_eq!(events, ["failed 10 NoStatus", "failed 11 NoStatus", "failed 12 NoStatus"]);
}

#[test]
fn a_peer_that_has_left_is_left_behind_a_call_without_a_status() {
    let message = framed([&b"yes"[..]]).expect("a short one");
    let events = seen(&[goaway(1, 0), head(1), frame(DATA, END, 1, &message)]);
    assert_eq!(events, ["failed 10 NoStatus", "leaving"]);
}

#[test]
fn content_that_ends_without_a_status_is_told_before_the_failure() {
    let message = framed([&b"yes"[..]]).expect("a short one");
    let ((mut client, mut out), mut scratch) = (calls(), Scratch::new());
    let bytes = [head(1), frame(DATA, END, 1, &message)].concat();
    let step = client.receive(&bytes, &mut scratch, &mut out).expect("a reply");
    assert!(matches!(step.event, Some(Event::Chunk { piece, .. }) if piece == message));
    let rest = &bytes[step.consumed..];
    let step = client.receive(rest, &mut scratch, &mut out).expect("its end");
    let Some(Event::Failed { error, .. }) = step.event else { panic!("{step:?}") };
    assert_eq!(error.class, ErrorClass::NoStatus);
}

#[test]
fn what_grpc_forbids_fails_its_call_alone() {
    let message = framed([&b"yes"[..]]).expect("a short one");
    let good = |stream| [head(stream), frame(DATA, 0, stream, &message)].concat();
    for (first, what) in [
        (headers(0, 1, &[":status=200", "content-type=text/html"]), "another type"),
        (headers(0, 1, &[":status=200"]), "no type"),
        ([head(1), frame(DATA, 0, 1, &[1, 0, 0, 0, 0])].concat(), "compressed"),
        (
            [head(1), frame(DATA, 0, 1, &message[..6]), headers(END, 1, &["grpc-status=0"])]
                .concat(),
            "inside a message",
        ),
        ([good(1), headers(END, 1, &["grpc-status=zero"])].concat(), "no number"),
    ] {
        let events = seen(&[good(3), first, headers(END, 3, &["grpc-status=0"])]);
        let right = "reply 11 0 '\0\0\0\0\u{3}yes'";
        assert_eq!(events, ["failed 10 Protocol", right], "{what}");
    }
}

#[test]
fn messages_of_a_call_may_go_one_by_one() {
    let ((mut client, _), mut scratch) = (calls(), Scratch::new());
    let message = framed([&b"ab"[..]]).expect("a short one");
    let mut out = Vec::new();
    let first = Message { route: 1, ..Message::new(13, &message) };
    let stream = client.encode_first(&first, &mut out).expect("a stream");
    assert_eq!(stream, 7);
    client.say(stream, &message, false, &mut out);
    client.say(stream, &message, true, &mut out);
    let said = told(&out);
    assert!(said[0].starts_with("7: headers "), "{said:?}");
    let ends: Vec<_> = said.iter().map(|what| what.ends_with(" end")).collect();
    assert_eq!(ends, [false, false, false, true], "{said:?}");
    // A call that is answered before its end is left, and nothing is said on it any more.
    out.clear();
    let first = Message { route: 1, ..Message::new(14, &message) };
    let stream = client.encode_first(&first, &mut out).expect("a stream");
    out.clear();
    let end = headers(END, stream, &["grpc-status=0"]);
    let bytes = [head(stream), frame(DATA, 0, stream, &message), end].concat();
    let (mut rest, mut replied) = (&bytes[..], false);
    while !rest.is_empty() {
        let step = client.receive(rest, &mut scratch, &mut out).expect("a reply");
        replied |= matches!(step.event, Some(Event::Reply(reply)) if reply.status == 0);
        rest = &rest[step.consumed..];
    }
    assert!(replied);
    assert_eq!(told(&out), [format!("{stream}: reset 0")]);
    out.clear();
    client.say(stream, &message, true, &mut out);
    assert_eq!(out, b"");
}
