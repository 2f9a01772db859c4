//! The client's side against frames of a server.

use std::sync::Arc;

use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request, PREFACE};
use wiretrial_proto::{ClientSession as _, ErrorClass, Event, Fill, Message, Scratch};

use super::frames::*;
use super::play::{Seen, check, play};

pub(super) fn requests() -> Arc<[Http2Request]> {
    let text = |text| vec![HeadPart::Text(text)];
    let made = |method: &str, length| {
        Http2Request::with_holes("http", method, &text("/a"), "h", &[], false, length).unwrap()
    };
    Arc::from([
        made("GET", PayloadLength::None),
        made("HEAD", PayloadLength::None),
        made("POST", PayloadLength::Varying),
    ])
}

const GET: usize = 0;
const HEAD: usize = 1;
pub(super) const POST: usize = 2;

/// A client that has sent GET requests number 10, 11, ... on streams 1, 3, ...
fn client(limits: Http2Limits, tells_heads: bool, count: u64) -> (Http2Client, Vec<u8>) {
    let made = if tells_heads { Http2Client::telling_heads } else { Http2Client::new };
    let mut client = made(requests(), limits);
    let (mut out, mut scratch) = (Vec::new(), Scratch::new());
    client.start(&mut out);
    assert!(!client.is_open());
    let first = settings(&[]);
    let step = client.receive(&first, &mut scratch, &mut out).unwrap();
    assert!(matches!(step.event, Some(Event::Open)) && client.is_open());
    out.clear();
    (0..count).for_each(|place| client.encode(&Message::new(10 + place, b""), &mut out));
    (client, out)
}

pub(super) fn three() -> Http2Client {
    client(Http2Limits::default(), false, 3).0
}

pub(super) fn ok(stream: u32, content: &str) -> Vec<u8> {
    [headers(0, stream, &[":status=200"]), frame(DATA, END, stream, content.as_bytes())].concat()
}

#[test]
fn it_begins_with_its_preface_and_its_settings() {
    let mut client = Http2Client::new(requests(), Http2Limits::default());
    let mut out = Vec::new();
    client.start(&mut out);
    assert!(out.starts_with(PREFACE));
    assert_eq!(
        told(&out[PREFACE.len()..]),
        ["settings of 18", "0: window 67043329"],
        "no push, its window, its list; and the connection's window"
    );
}

#[test]
fn requests_go_out_on_streams_of_their_own() {
    let (_, out) = client(Http2Limits::default(), false, 2);
    assert_eq!(
        told(&out),
        [
            "1: headers :method=GET :scheme=http :authority=h :path=/a end",
            "3: headers :method=GET :scheme=http :authority=h :path=/a end",
        ]
    );
}

#[test]
fn replies_come_in_any_order_and_in_pieces_of_each_other() {
    let bytes = [
        headers(0, 3, &[":status=200", "content-length=4"]),
        headers(0, 1, &[":status=404"]),
        frame(DATA, 0, 3, b"ab"),
        frame(DATA, PADDED | END, 1, b"\x03one\0\0\0"),
        headers(END, 5, &[":status=204"]),
        frame(77, 0xff, 3, b"nobody knows it"),
        frame(DATA, 0, 3, b"cd"),
        frame(DATA, END, 3, b""),
    ];
    let seen = check(three, &bytes.concat());
    assert_eq!(seen.events, ["reply 10 404 'one'", "reply 12 204 ''", "reply 11 200 'abcd'"]);
    assert!(seen.out.is_empty());
}

#[test]
fn heads_are_told_with_their_fields() {
    let fresh = || client(Http2Limits::default(), true, 2).0;
    let bytes = [
        headers(0, 1, &[":status=103", "link=x"]),
        headers(0, 1, &[":status=200", "a=b"]),
        frame(DATA, 0, 1, b"one"),
        headers(END, 1, &["grpc-status=0"]),
        headers(END, 3, &[":status=301", "location=/b"]),
    ];
    let seen = check(fresh, &bytes.concat());
    let wanted = [
        "head 10 200 a=b",
        "trailers 10 200 grpc-status=0",
        "reply 10 200 'one'",
        "head 11 301 location=/b",
        "reply 11 301 ''",
    ];
    assert_eq!(seen.events, wanted);
}

#[test]
fn a_block_may_come_in_pieces() {
    let block = block(&[":status=200", "long=abcdefghijklmnopqrstuvwxyz"]);
    let (first, rest) = block.split_at(3);
    let (second, third) = rest.split_at(5);
    let bytes = [
        frame(HEADERS, END, 1, first),
        frame(CONTINUATION, 0, 1, second),
        frame(CONTINUATION, 0, 1, b""),
        frame(CONTINUATION, WHOLE, 1, third),
    ];
    assert_eq!(check(three, &bytes.concat()).events, ["reply 10 200 ''"]);
}

#[test]
fn what_is_asked_of_the_client_is_answered() {
    let bytes = [
        frame(PING, 0, 0, b"12345678"),
        frame(PING, ACK, 0, b"12345678"),
        settings(&[(3, 7), (0xff00, 1)]),
        frame(SETTINGS, ACK, 0, b""),
        frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 9]),
        ok(1, "one"),
    ];
    let seen = check(three, &bytes.concat());
    assert_eq!(seen.events, ["room 7", "reply 10 200 'one'"]);
    let wanted = ["ping ack [49, 50, 51, 52, 53, 54, 55, 56]", "settings ack"];
    assert_eq!(told(&seen.out), wanted);
}

#[test]
fn a_peer_that_leaves_says_what_it_has_processed() {
    // Of three, the first is answered, the second on its way, the third not looked at.
    let bytes = [ok(1, "one"), goaway(3, 0), ok(3, "two")];
    let seen = check(three, &bytes.concat());
    assert_eq!(seen.events, ["reply 10 200 'one'", "reply 11 200 'two' last"]);
    let nothing_more = [ok(1, "one"), ok(3, "two"), goaway(3, 0)];
    let seen = check(three, &nothing_more.concat());
    assert_eq!(seen.events[2..], ["leaving"]);
    // A first warning, then the last number (RFC 9113 section 6.8).
    let graceful = [goaway(0x7fff_ffff, 0), ok(1, "one"), goaway(1, 0)];
    let seen = check(three, &graceful.concat());
    assert_eq!(seen.events, ["reply 10 200 'one'", "leaving"]);
    let taken_back = [goaway(1, 0), goaway(3, 0)].concat();
    assert_eq!(check(three, &taken_back).events, ["error Protocol"]);
}

/// A reply that has failed does not say that it was the last, and the connection has to end all the same.
#[test]
fn a_peer_that_has_left_is_left_behind_a_reply_that_failed() {
    let begin = || [ok(1, "one"), goaway(3, 0)].concat();
    for (last, failed) in [
        (number(RESET, 3, 2), "failed 11 Reset"),
        (number(RESET, 3, 7), "unprocessed 11"),
        (headers(0, 3, &["a=b"]), "failed 11 Protocol"),
        (number(WINDOW, 3, 0), "failed 11 Protocol"),
    ] {
        let seen = check(three, &[begin(), last].concat());
        assert_eq!(seen.events, ["reply 10 200 'one'", failed, "leaving"]);
    }
    let (mut client, mut out) = (three(), Vec::new());
    play(&mut client, &[&begin()]);
    assert!(!client.has_left(), "a reply is awaited");
    assert!(client.cancel(11, &mut out) && client.has_left(), "nobody waits for it any more");
    assert_eq!((client.is_open(), client.room()), (false, 0));
    assert_eq!(play(&mut client, &[b""]).events, ["leaving"]);
    assert!(!client.has_left(), "it was told");
}

#[test]
fn a_stream_that_is_reset_is_one_message_s_failure() {
    let bytes = [number(RESET, 1, 7), number(RESET, 3, 2), ok(5, "three"), number(RESET, 1, 8)];
    let seen = check(three, &bytes.concat());
    assert_eq!(seen.events, ["unprocessed 10", "failed 11 Reset", "reply 12 200 'three'"]);
}

#[test]
fn what_is_wrong_on_one_stream_is_reset_and_the_others_go_on() {
    let status = headers(0, 1, &[":status=200", "content-length=2"]);
    let cases = [
        ("no status", headers(0, 1, &["a=b"])),
        ("two of it", headers(0, 1, &[":status=200", ":status=200"])),
        ("upper case", headers(0, 1, &[":status=200", "A=b"])),
        ("about the connection", headers(0, 1, &[":status=200", "connection=close"])),
        ("101", headers(0, 1, &[":status=101"])),
        ("only an interim head", headers(END, 1, &[":status=100"])),
        ("content before the head", frame(DATA, 0, 1, b"abc")),
        ("too much", [status.clone(), frame(DATA, 0, 1, b"abc")].concat()),
        ("too little", [status.clone(), frame(DATA, END, 1, b"a")].concat()),
        ("a head behind content", [status.clone(), status].concat()),
        ("a window of nothing more", number(WINDOW, 1, 0)),
        ("a window that is too wide", number(WINDOW, 1, 0x7fff_ffff)),
    ];
    for (name, wrong) in cases {
        let code = if name.contains("too wide") { 3 } else { 1 };
        let late = [frame(DATA, 0, 1, b"on its way"), frame(DATA, END, 1, b"")].concat();
        // Where the end has come, nothing is late.
        let is_over = matches!(name, "content before the head" | "too little");
        let late = if is_over { Vec::new() } else { late };
        let seen = check(three, &[wrong, late, ok(3, "two")].concat());
        assert_eq!(seen.events, ["failed 10 Protocol", "reply 11 200 'two'"], "{name}");
        assert_eq!(told(&seen.out), [format!("1: reset {code}")], "{name}");
    }
}

#[test]
fn what_is_wrong_with_the_connection_ends_it() {
    let long = vec![0; 16_385];
    let cases = [
        ("a frame too long", frame(77, 0, 0, &long), 6),
        ("a push", frame(PUSH, WHOLE, 1, &[0, 0, 0, 2]), 1),
        ("content on no stream", frame(DATA, 0, 0, b"a"), 1),
        ("settings on a stream", frame(SETTINGS, 0, 1, b""), 1),
        ("a ping on a stream", frame(PING, 0, 1, &[0; 8]), 1),
        ("a ping of seven bytes", frame(PING, 0, 0, &[0; 7]), 6),
        ("a ping of seven bytes on a stream", frame(PING, 0, 1, &[0; 7]), 6),
        ("settings of five bytes", frame(SETTINGS, 0, 0, &[0; 5]), 6),
        ("an answer to settings with some", frame(SETTINGS, ACK, 0, &[0; 6]), 6),
        ("a setting out of bounds", settings(&[(5, 1)]), 1),
        ("a window out of bounds", settings(&[(4, 1 << 31)]), 3),
        ("a reset of three bytes", frame(RESET, 0, 1, &[0; 3]), 6),
        ("a reset of what is not there", number(RESET, 7, 0), 1),
        ("a window of what is not there", number(WINDOW, 8, 1), 1),
        ("the connection's window by nothing", number(WINDOW, 0, 0), 1),
        ("the connection's window too wide", number(WINDOW, 0, 0x7fff_ffff), 3),
        ("a goaway of seven bytes", frame(GOAWAY, 0, 0, &[0; 7]), 6),
        ("a priority of four bytes", frame(PRIORITY, 0, 9, &[0; 4]), 6),
        ("padding that is too long", frame(DATA, PADDED, 1, b"\x05abcd"), 1),
        ("padding that is not there", frame(DATA, PADDED, 1, b""), 1),
        ("a reply to nothing", headers(END, 7, &[":status=200"]), 1),
        ("a reply behind the reply", [ok(1, ""), frame(DATA, 0, 1, b"a")].concat(), 5),
        ("a continuation of nothing", frame(CONTINUATION, WHOLE, 1, b""), 1),
        (
            "a frame inside a block",
            [frame(HEADERS, 0, 1, b""), frame(PING, 0, 0, &[0; 8])].concat(),
            1,
        ),
        ("fields that can't be read", frame(HEADERS, WHOLE | END, 1, &[0x80]), 9),
    ];
    for (name, bytes, code) in cases {
        let seen = check(three, &bytes);
        assert_eq!(seen.events.last().map(String::as_str), Some("error Protocol"), "{name}");
        assert_eq!(told(&seen.out).last(), Some(&format!("goaway 0 {code}")), "{name}");
    }
}

#[test]
fn settings_come_first() {
    let fresh = || Http2Client::new(requests(), Http2Limits::default());
    assert_eq!(check(fresh, &frame(PING, 0, 0, &[0; 8])).events, ["error Protocol"]);
    assert_eq!(check(fresh, &frame(SETTINGS, ACK, 0, b"")).events, ["error Protocol"]);
    // What is wrong wherever it stands is told as that.
    let seen = check(fresh, &frame(SETTINGS, ACK, 0, &[0]));
    assert_eq!(told(&seen.out), ["goaway 0 6"]);
}

#[test]
fn floods_have_an_end() {
    let whole = |bytes: &[u8]| play(&mut three(), &[bytes]);
    let calm = |seen: &Seen| told(&seen.out).last().cloned() == Some("goaway 0 11".to_owned());
    let pings = frame(PING, 0, 0, &[0; 8]).repeat(10_001);
    assert!(calm(&whole(&pings)), "pings");
    assert!(calm(&whole(&settings(&[]).repeat(10_001))), "settings");
    let mut pieces = frame(HEADERS, 0, 1, b"");
    pieces.extend(frame(CONTINUATION, 0, 1, b"").repeat(64));
    assert!(calm(&whole(&pieces)), "pieces of a block");
    let mut empty = headers(0, 1, &[":status=200"]);
    empty.extend(frame(DATA, 0, 1, b"").repeat(1_001));
    assert!(calm(&whole(&empty)), "content without content");
    // Each byte refers to an entry of 4,000 bytes.
    let mut block = block(&[":status=200"]);
    block.extend([0x40, 1, b'a', 0x7f, 0xa1, 0x1e]);
    block.extend([b'x'; 4000]);
    block.extend([0xbe; 100]);
    let seen = whole(&frame(HEADERS, WHOLE | END, 1, &block));
    assert_eq!(seen.events, ["error HeaderTooLarge"]);
    // Who reads the answers may ask for ever.
    let mut client = three();
    for _ in 0..20_000 {
        let seen = play(&mut client, &[&frame(PING, 0, 0, &[0; 8])]);
        assert_eq!(seen.out.len(), 17);
    }
}

#[test]
fn a_refusal_without_end_is_a_failure() {
    let (mut client, mut out) = client(Http2Limits::default(), false, 0);
    for place in 0..1_001 {
        client.encode(&Message::new(place, b""), &mut out);
        let stream = 1 + 2 * place as u32;
        let seen = play(&mut client, &[&number(RESET, stream, 7)]);
        let wanted = if place < 1_000 { "unprocessed" } else { "failed" };
        assert!(seen.events[0].starts_with(wanted), "{place}: {:?}", seen.events);
    }
}

#[test]
fn content_goes_as_far_as_windows_let_it() {
    let (mut client, _) = client(Http2Limits::default(), false, 0);
    assert_eq!(play(&mut client, &[&settings(&[(4, 5)])]).events, [] as [&str; 0]);
    let mut out = Vec::new();
    client.encode(&Message { route: POST, ..Message::new(1, b"abcdefgh") }, &mut out);
    client.encode(&Message { route: POST, ..Message::new(2, b"ij") }, &mut out);
    let head = "headers :method=POST :scheme=http :authority=h :path=/a content-length";
    let wanted = [
        format!("1: {head}=8"),
        "1: data abcde".to_owned(),
        format!("3: {head}=2"),
        "3: data ij end".to_owned(),
    ];
    assert_eq!(told(&out), wanted, "the second does not wait for the first one's window");
    assert_eq!(client.take_use().map(|used| used.sends_held), Some(1));
    let seen = play(&mut client, &[&number(WINDOW, 1, 1)]);
    assert_eq!(told(&seen.out), ["1: data f"]);
    // A setting changes the windows of streams that are open, too.
    let seen = play(&mut client, &[&settings(&[(4, 6)])]);
    assert_eq!(told(&seen.out), ["settings ack", "1: data g"]);
    let seen = play(&mut client, &[&settings(&[(4, 0)]), &number(WINDOW, 1, 6)]);
    assert_eq!(told(&seen.out), ["settings ack"], "the window was below zero");
    let seen = play(&mut client, &[&number(WINDOW, 1, 1)]);
    assert_eq!(told(&seen.out), ["1: data h end"]);
}

#[test]
fn a_server_may_answer_before_it_has_heard_all() {
    let (mut client, _) = client(Http2Limits::default(), false, 0);
    let mut out = Vec::new();
    let long = vec![b'x'; 70_000];
    client.encode(&Message { route: POST, ..Message::new(1, &long) }, &mut out);
    let seen = play(&mut client, &[&headers(END, 1, &[":status=413"])]);
    assert_eq!(seen.events, ["reply 1 413 ''"]);
    assert_eq!(told(&seen.out), ["1: reset 0"]);
    let seen = play(&mut client, &[&number(WINDOW, 0, 100_000), &number(RESET, 1, 0)]);
    assert_eq!((seen.events.len(), seen.out.len()), (0, 0), "nothing is left of it");
}

#[test]
fn what_came_is_allowed_again() {
    let limits = Http2Limits { stream_window: 10, ..Http2Limits::default() };
    let fresh = || client(limits, false, 2).0;
    let some = |stream, text: &str| frame(DATA, 0, stream, text.as_bytes());
    let bytes = [
        headers(0, 1, &[":status=200"]),
        headers(0, 3, &[":status=200"]),
        some(1, "abcd"),
        some(1, "e"),
        some(3, "0123456789"),
        frame(DATA, END, 1, b"0123456789"),
    ];
    let seen = check(fresh, &bytes.concat());
    assert_eq!(seen.events, ["reply 10 200 'abcde0123456789'"]);
    assert_eq!(told(&seen.out), ["1: window 5", "3: window 10"]);
    let mut client = fresh();
    play(&mut client, &[&bytes.concat()]);
    assert_eq!(client.take_use(), None, "nobody told of time");
    let too_much = [headers(0, 1, &[":status=200"]), some(1, "0123456789a")].concat();
    let seen = check(fresh, &too_much);
    assert_eq!(seen.events, ["failed 10 Protocol"]);
    assert_eq!(told(&seen.out), ["1: reset 3"]);
}

#[test]
fn a_message_that_is_given_up_is_reset_and_what_comes_of_it_passed_over() {
    let fresh = || {
        let mut client = three();
        assert!(client.cancel(11, &mut Vec::new()));
        assert!(!client.cancel(11, &mut Vec::new()) && !client.cancel(99, &mut Vec::new()));
        client
    };
    let seen = check(fresh, &[ok(3, "late"), ok(1, "one")].concat());
    assert_eq!(seen.events, ["reply 10 200 'one'"]);
    // Once its end has come, more is one too many.
    let seen = check(fresh, &[ok(3, "late"), ok(3, "again")].concat());
    assert_eq!(seen.events, ["error Protocol"]);
}

#[test]
fn a_reply_to_head_has_a_length_and_no_content() {
    let fresh = || {
        let (mut client, mut out) = client(Http2Limits::default(), false, 0);
        client.encode(&Message { route: HEAD, ..Message::new(1, b"") }, &mut out);
        client.encode(&Message { route: GET, ..Message::new(2, b"") }, &mut out);
        client
    };
    let length = [":status=200", "content-length=612"];
    let seen = check(fresh, &headers(END, 1, &length));
    assert_eq!(seen.events, ["reply 1 200 ''"]);
    let seen = check(fresh, &headers(END, 3, &length));
    assert_eq!(seen.events, ["failed 2 Protocol"], "its content is missing");
}

#[test]
fn an_end_is_right_between_replies_only() {
    let (mut idle, _) = client(Http2Limits::default(), false, 0);
    assert!(idle.end().unwrap().is_none());
    let mut waiting = three();
    assert_eq!(waiting.end().unwrap_err().class, ErrorClass::Truncated);
    let mut opening = Http2Client::new(requests(), Http2Limits::default());
    assert_eq!(opening.end().unwrap_err().class, ErrorClass::Truncated);
    let mut closing = three();
    let mut out = Vec::new();
    closing.close(&mut out);
    assert_eq!(told(&out), ["goaway 0 0"]);
    assert!(!closing.is_open() && closing.end().unwrap().is_none());
}

#[test]
fn values_are_another_s_in_each_request() {
    let target = [HeadPart::Text("/a/"), HeadPart::Hole];
    let request = Http2Request::with_holes(
        "https",
        "GET",
        &target,
        "h",
        &[("x-id", vec![HeadPart::Hole])],
        false,
        PayloadLength::None,
    );
    let mut client = Http2Client::new(Arc::from([request.unwrap()]), Http2Limits::default());
    let mut out = Vec::new();
    client.receive(&settings(&[]), &mut Scratch::new(), &mut out).unwrap();
    out.clear();
    let fill = Fill { values: b"17x", ends: &[2, 3], cookies: b"" };
    client.encode(&Message { fill: Some(&fill), ..Message::new(1, b"") }, &mut out);
    let wanted = "1: headers :method=GET :scheme=https :authority=h :path=/a/17 x-id=x end";
    assert_eq!(told(&out), [wanted]);
}
