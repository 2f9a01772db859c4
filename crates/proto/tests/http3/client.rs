//! The client's side against streams of a server.

use std::sync::Arc;

use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http3::{ErrorCode, Http3Client, Http3Limits, Http3Request, Outgoing};
use wiretrial_proto::{ErrorClass, Event, Message, Tag};

use super::frames::*;
use super::play::{check, play};

const GET: usize = 0;
const HEAD: usize = 1;
const POST: usize = 2;
const LAST: usize = 3;

pub(super) fn requests() -> Arc<[Http3Request]> {
    let made = |method: &str, close, length| {
        let target = [HeadPart::Text("/a")];
        Http3Request::with_holes("https", method, &target, "h", &[], close, length).unwrap()
    };
    Arc::from([
        made("GET", false, PayloadLength::None),
        made("HEAD", false, PayloadLength::None),
        made("POST", false, PayloadLength::Varying),
        made("GET", true, PayloadLength::None),
    ])
}

/// A client that has sent messages number 10, 11, ... on these routes and streams 0, 4, ...; those to
/// POST have content.
fn client(tells_heads: bool, routes: &[usize]) -> (Http3Client, Outgoing) {
    let made = if tells_heads { Http3Client::telling_heads } else { Http3Client::new };
    let limits = Http3Limits { max_field_section: 2_000, ..Http3Limits::default() };
    let mut client = made(requests(), limits);
    let mut out = Outgoing::new();
    client.start(&mut out);
    out.clear();
    client.allow(100);
    for (number, &route) in (10..).zip(routes) {
        let payload: &[u8] = if route == POST { b"content" } else { b"" };
        client.encode(&Message { number, route, payload, fill: None }, &mut out);
    }
    (client, out)
}

fn three() -> Http3Client {
    client(false, &[GET, GET, GET]).0
}

fn ok(content: &str) -> Vec<Vec<u8>> {
    vec![headers(&[":status=200"]), data(content)]
}

#[test]
fn it_begins_with_its_settings_and_sends_each_request_on_a_stream() {
    let mut client = Http3Client::new(requests(), Http3Limits::default());
    let mut out = Outgoing::new();
    client.start(&mut out);
    assert_eq!(told(&out), ["2: control, settings 65536 false"]);
    assert!(client.is_open() && client.room() == 0);
    client.allow(2);
    assert_eq!(client.room(), 2);
    out.clear();
    client.encode(&Message::new(7, b""), &mut out);
    client.encode(&Message { number: 8, route: POST, payload: b"abc", fill: None }, &mut out);
    let get = ":method=GET :scheme=https :authority=h :path=/a";
    let post = ":method=POST :scheme=https :authority=h :path=/a content-length=3";
    assert_eq!(told(&out), [format!("0: [{get}] fin"), format!("4: [{post}], 'abc' fin")]);
    assert_eq!(client.room(), 2, "both are in flight");
    client.allow(1);
    assert_eq!(client.room(), 2, "what was allowed stays so");
    let seen = play(&mut client, &[(0, &ok("x").concat(), true)]);
    assert_eq!((seen.events, client.room()), (vec!["reply 7 200 'x'".to_owned()], 1));
}

#[test]
fn replies_come_in_any_order_and_in_pieces() {
    let said = [
        begun(4, &[headers(&[":status=200", "content-length=4"]), data("ab")]),
        control(3, &[]),
        whole(0, &[headers(&[":status=404"]), data(""), data("one")]),
        whole(8, &[frame(GREASE, b"?"), headers(&[":status=204"]), frame(GREASE, &[7; 70])]),
        whole(4, &[frame(GREASE, b""), data("c"), data("d"), frame(GREASE, b"end")]),
    ];
    let seen = check(three, &said);
    assert_eq!(seen.events, ["reply 10 404 'one'", "reply 12 204 ''", "reply 11 200 'abcd'"]);
    assert!(seen.said.is_empty());
}

#[test]
fn heads_are_told_with_their_fields() {
    let fresh = || client(true, &[GET, HEAD]).0;
    let said = [
        whole(
            0,
            &[
                headers(&[":status=103", "link=x"]),
                headers(&[":status=200", "a=b"]),
                data("one"),
                headers(&["checksum=0"]),
            ],
        ),
        whole(4, &[headers(&[":status=200", "content-length=9"])]),
    ];
    let seen = check(fresh, &said);
    let wanted = [
        "head 10 200 a=b",
        "trailers 10 checksum=0",
        "reply 10 200 'one'",
        "head 11 200 content-length=9",
        "reply 11 200 ''",
    ];
    assert_eq!(seen.events, wanted);
}

#[test]
fn the_same_head_says_the_same_again() {
    let both = [":status=200", "content-length=2", "a=b"];
    let said = [
        whole(0, &[headers(&both), data("ab")]),
        whole(4, &[headers(&both), data("cd")]),
        whole(8, &[headers(&both), data("e")]),
    ];
    let seen = check(three, &said);
    assert_eq!(seen.events, ["reply 10 200 'ab'", "reply 11 200 'cd'", "failed 12 Protocol"]);
}

#[test]
fn what_is_wrong_with_a_message_is_that_message_s() {
    let status = headers(&[":status=200"]);
    let cases: [(&str, Vec<Vec<u8>>, &str); 14] = [
        ("nothing", vec![], "Protocol"),
        ("only an interim head", vec![headers(&[":status=103"])], "Protocol"),
        ("101", vec![headers(&[":status=101"])], "Protocol"),
        ("no status", vec![headers(&["a=b"])], "Protocol"),
        ("two", vec![headers(&[":status=200", ":status=200"])], "Protocol"),
        ("of a request", vec![headers(&[":status=200", ":path=/"])], "Protocol"),
        ("upper case", vec![headers(&[":status=200", "A=b"])], "Protocol"),
        ("of HTTP/1.1", vec![headers(&[":status=200", "connection=close"])], "Protocol"),
        ("status behind", vec![status.clone(), headers(&[":status=200"])], "Protocol"),
        ("less", vec![headers(&[":status=200", "content-length=3"]), data("ab")], "Protocol"),
        ("more", vec![headers(&[":status=200", "content-length=1"]), data("ab")], "Protocol"),
        (
            "trailers too early",
            vec![headers(&[":status=200", "content-length=1"]), headers(&["a=b"])],
            "Protocol",
        ),
        (
            "long",
            vec![headers(&[":status=200", &format!("a={}", "~".repeat(1960))])],
            "HeaderTooLarge",
        ),
        ("longer", vec![frame(0x1, &[0; 2001])], "HeaderTooLarge"),
    ];
    for (name, frames, class) in cases {
        let said = [whole(0, &frames), whole(4, &ok("fine"))];
        let seen = check(three, &said);
        assert_eq!(
            seen.events,
            [format!("failed 10 {class}"), "reply 11 200 'fine'".into()],
            "{name}"
        );
        let code = if class == "Protocol" { "MessageError" } else { "ExcessiveLoad" };
        assert_eq!(seen.said, [format!("0: stop {code}")], "{name}");
    }
}

#[test]
fn what_breaks_the_rules_ends_the_connection() {
    let head = headers(&[":status=200"]);
    let cases: [(&str, Vec<Piece>, ErrorCode); 16] = [
        ("content first", vec![begun(0, &[data("x")])], ErrorCode::FrameUnexpected),
        ("settings", vec![begun(0, &[frame(SETTINGS, b"")])], ErrorCode::FrameUnexpected),
        (
            "content behind trailers",
            vec![begun(0, &[head.clone(), headers(&["a=b"]), data("x")])],
            ErrorCode::FrameUnexpected,
        ),
        ("of HTTP/2", vec![begun(0, &[head.clone(), frame(0x6, b"")])], ErrorCode::FrameUnexpected),
        ("a push", vec![begun(0, &[frame(PUSH_PROMISE, b"\0")])], ErrorCode::IdError),
        ("a stream of a push", vec![begun(3, &[vec![1, 0]])], ErrorCode::IdError),
        ("half a frame", vec![whole(0, &[head.clone(), vec![0, 5, b'x']])], ErrorCode::FrameError),
        ("half a head", vec![whole(0, &[head.clone(), vec![0x40]])], ErrorCode::FrameError),
        ("half of the fields", vec![whole(0, &[vec![1, 5, 0]])], ErrorCode::FrameError),
        ("bits", vec![begun(0, &[frame(0x1, &[0])])], ErrorCode::QpackDecompressionFailed),
        (
            "a table",
            vec![begun(0, &[frame(0x1, &[0, 0, 0x80])])],
            ErrorCode::QpackDecompressionFailed,
        ),
        ("no settings", vec![begun(3, &[vec![0], goaway(0)])], ErrorCode::MissingSettings),
        ("two controls", vec![control(3, &[]), control(7, &[])], ErrorCode::StreamCreationError),
        (
            "it ends",
            vec![whole(3, &[vec![0], frame(SETTINGS, b"")])],
            ErrorCode::ClosedCriticalStream,
        ),
        (
            "a server's request",
            vec![begun(1, std::slice::from_ref(&head))],
            ErrorCode::StreamCreationError,
        ),
        (
            "a table's size",
            vec![begun(3, &[vec![2, 0x3f, 0xe1, 0x1f]])],
            ErrorCode::QpackEncoderStreamError,
        ),
    ];
    for (name, said, code) in cases {
        let seen = check(three, &said);
        assert_eq!(seen.events, ["error Protocol"], "{name}");
        assert_eq!(seen.said, [format!("close {code:?}")], "{name}");
    }
}

#[test]
fn streams_that_nobody_knows_are_not_read() {
    let said = [
        begun(7, &[vec![0x40, 0x5f], vec![b'?'; 100]]),
        begun(7, &[vec![0, 4, 0]]),
        whole(11, &[vec![0x21]]),
        whole(15, &[]),
        begun(19, &[vec![3, 0x44]]),
        begun(23, &[vec![2, 0x20]]),
        whole(400, &ok("of nobody")),
        whole(0, &ok("x")),
    ];
    let seen = check(three, &said);
    assert_eq!(seen.events, ["reply 10 200 'x'"]);
    assert_eq!(seen.said, ["7: stop StreamCreationError", "11: stop StreamCreationError"]);
}

#[test]
fn a_server_that_leaves_says_what_it_has_not_processed() {
    let said = [control(3, &[goaway(8)]), whole(4, &ok("b")), whole(0, &ok("a"))];
    let seen = check(three, &said);
    assert_eq!(seen.events, ["reply 11 200 'b'", "reply 10 200 'a' last"]);
    let seen = check(three, &[whole(0, &ok("a")), control(3, &[goaway(400), goaway(4)])]);
    assert_eq!(seen.events, ["reply 10 200 'a'", "leaving"], "none of what is awaited");
    let seen = check(three, &[control(3, &[goaway(4), goaway(8)])]);
    assert_eq!(seen.events, ["error Protocol"], "it takes back what it refused");
    assert_eq!(seen.said, ["close IdError"]);
    let mut client = three();
    let (id, bytes, _) = control(3, &[goaway(0xffff_fffc)]);
    assert!(play(&mut client, &[(id, &bytes, false)]).events.is_empty());
    assert!(!client.is_open() && client.room() == 0, "it will leave");
}

/// What is not awaited any more does not say that it was the last, and the connection has to end all the same.
#[test]
fn a_server_that_has_left_is_left_behind_a_stream_that_is_reset_or_given_up() {
    let said = [control(3, &[goaway(8)]), whole(0, &ok("a"))];
    let all: Vec<_> = said.iter().map(|(id, bytes, fin)| (*id, &bytes[..], *fin)).collect();
    let ends: [fn(&mut Http3Client, &mut Outgoing) -> bool; 3] = [
        |client, out| client.reset(4, ErrorCode::InternalError as u64, out).unwrap().is_some(),
        |client, out| client.reset(4, ErrorCode::RequestRejected as u64, out).unwrap().is_some(),
        |client, out| client.cancel(11, out),
    ];
    for end in ends {
        let (mut client, mut out) = (three(), Outgoing::new());
        assert_eq!(play(&mut client, &all).events, ["reply 10 200 'a'"]);
        assert!(!client.has_left(), "a reply is awaited");
        assert!(end(&mut client, &mut out) && client.has_left());
        assert_eq!((client.is_open(), client.room()), (false, 0));
        assert_eq!(play(&mut client, &[(8, b"", false)]).events, ["leaving"]);
        assert!(!client.has_left(), "it was told");
    }
}

#[test]
fn the_last_request_ends_the_connection_with_its_reply() {
    let fresh = || client(false, &[GET, LAST]).0;
    assert!(!fresh().is_open());
    let seen = check(fresh, &[whole(4, &ok("b")), whole(0, &ok("a")), whole(0, &ok("c"))]);
    assert_eq!(seen.events, ["reply 11 200 'b'", "reply 10 200 'a' last"]);
}

#[test]
fn a_stream_that_is_reset_is_one_message_s() {
    let (mut client, mut out) = client(false, &[GET, POST, GET]);
    out.clear();
    let tag = |number| Tag::Number(number);
    let rejected = ErrorCode::RequestRejected as u64;
    let event = client.reset(0, rejected, &mut out).unwrap();
    assert_eq!(event, Some(Event::Unprocessed { tag: tag(10) }));
    assert_eq!(client.reset(0, rejected, &mut out), Ok(None), "it is gone");
    let Ok(Some(Event::Failed { tag: of, error })) = client.reset(4, 0x102, &mut out) else {
        panic!("it has failed")
    };
    assert_eq!((of, error.class), (tag(11), ErrorClass::Reset));
    assert_eq!(error.to_string(), "the server reset the stream: H3_INTERNAL_ERROR");
    assert_eq!(told(&out), ["4: reset RequestCancelled"], "its content need not go");
    let (id, bytes, _) = control(3, &[]);
    play(&mut client, &[(id, &bytes, false)]);
    assert!(client.reset(3, 0x100, &mut out).is_err());
    assert!(client.end().is_ok(), "nothing means anything any more");
}

#[test]
fn a_server_that_refuses_for_ever_is_not_asked_for_ever() {
    let (mut client, mut out) = client(false, &[]);
    client.allow(10_000);
    let rejected = ErrorCode::RequestRejected as u64;
    let mut unprocessed = 0;
    for place in 0..1_001 {
        client.encode(&Message::new(place, b""), &mut out);
        let event = client.reset(4 * place, rejected, &mut out).unwrap();
        unprocessed += u32::from(matches!(event, Some(Event::Unprocessed { .. })));
    }
    assert_eq!(unprocessed, 1_000);
}

#[test]
fn a_server_may_reply_without_the_rest_of_a_request() {
    let (mut client, mut out) = client(false, &[POST]);
    out.clear();
    assert!(client.stop_sending(0, 0x100, &mut out).is_ok());
    assert_eq!(told(&out), ["0: reset NoError"]);
    let seen = play(&mut client, &[(0, &ok("x").concat(), true)]);
    assert_eq!(seen.events, ["reply 10 200 'x'"]);
    assert!(client.stop_sending(2, 0x100, &mut out).is_err(), "settings are wanted");
}

#[test]
fn a_reply_that_nobody_wants_is_given_up() {
    let (mut client, mut out) = client(false, &[GET, GET]);
    out.clear();
    assert!(client.cancel(10, &mut out) && !client.cancel(10, &mut out));
    assert_eq!(told(&out), ["0: reset RequestCancelled", "0: stop RequestCancelled"]);
    let seen = play(&mut client, &[(0, &ok("a").concat(), true), (4, &ok("b").concat(), true)]);
    assert_eq!(seen.events, ["reply 11 200 'b'"]);
    assert!(client.end().is_ok());
}

#[test]
fn what_was_sent_too_early_goes_again() {
    let (mut client, mut out) = client(false, &[GET, POST, GET]);
    assert_eq!(client.refused_early(&mut out), [10, 11, 12]);
    assert_eq!(told(&out), ["2: control, settings 2000 false"], "what was not done is forgotten");
    assert_eq!(client.room(), 0);
    client.allow(1);
    out.clear();
    client.encode(&Message::new(12, b""), &mut out);
    let seen = play(&mut client, &[(0, &ok("x").concat(), true)]);
    assert_eq!(seen.events, ["reply 12 200 'x'"]);
}

#[test]
fn the_last_request_goes_again_where_it_was_sent_too_early() {
    let (mut client, mut out) = client(false, &[LAST]);
    assert!(!client.is_open());
    assert_eq!(client.refused_early(&mut out), [10]);
    assert!(client.is_open());
}

#[test]
fn a_connection_that_ends_in_a_reply_is_cut_off() {
    assert_eq!(three().end().unwrap_err().class, ErrorClass::Truncated);
    let (mut idle, mut out) = client(false, &[]);
    assert!(idle.end().is_ok());
    let mut client = three();
    client.close(&mut out);
    client.close(&mut out);
    assert_eq!(told(&out), ["close NoError"]);
    assert!(!client.is_open() && client.end().is_ok());
}
