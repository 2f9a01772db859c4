//! Calls of gRPC: messages out, and replies whose status stands behind their content.

use std::sync::Arc;

use wiretrial_proto::Message;
use wiretrial_proto::grpc::{ACCEPTED, Gzip, framed};
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http3::{ErrorCode, Http3Client, Http3Limits, Http3Request, Outgoing};

use super::frames::*;
use super::play::{check, play};

const CALL: usize = 0;
const GZIP: usize = 1;
const GET: usize = 2;
const KIND: [&str; 2] = [":status=200", "content-type=application/grpc"];

fn requests() -> Arc<[Http3Request]> {
    let call = |headers: &[_]| Http3Request::call("https", "/a.B/C", "h", headers, false).unwrap();
    let (target, none) = ([HeadPart::Text("/a")], PayloadLength::None);
    Arc::from([
        call(&[]),
        call(&[(ACCEPTED, vec![HeadPart::Text("gzip")])]),
        Http3Request::with_holes("https", "GET", &target, "h", &[], false, none).unwrap(),
    ])
}

fn fresh(tells_heads: bool) -> Http3Client {
    let made = if tells_heads { Http3Client::telling_heads } else { Http3Client::new };
    let limits = Http3Limits { max_inflated: 100, ..Http3Limits::default() };
    let mut client = made(requests(), limits);
    client.start(&mut Outgoing::new());
    client.allow(100);
    client
}

/// A client that has sent messages number 10, 11, ... on these routes and streams 0, 4, ...
fn client(routes: &[usize]) -> Http3Client {
    let mut client = fresh(false);
    for (number, &route) in (10..).zip(routes) {
        let payload: &[u8] = if route == GET { b"" } else { b"\0\0\0\0\x01x" };
        client.encode(&Message { number, route, payload, fill: None }, &mut Outgoing::new());
    }
    client
}

/// A message of so many bytes behind its prefix, as it comes.
fn message(text: &str) -> String {
    String::from_utf8(framed([text.as_bytes()]).unwrap()).unwrap()
}

fn head(more: &[&str]) -> Vec<u8> {
    headers(&[&KIND[..], more].concat())
}

#[test]
fn the_status_behind_the_content_is_the_reply_s() {
    let said = [
        control(3, &[]),
        whole(0, &[head(&[]), data(&message("one")), headers(&["grpc-status=0"])]),
        begun(4, &[head(&[]), data(&message("a")), data(&message("b"))]),
        whole(8, &[headers(&[":status=404"]), data("no")]),
        whole(4, &[data(&message("c")), headers(&["grpc-status=5", "grpc-message=no%20such"])]),
    ];
    let seen = check(|| client(&[CALL, CALL, GET]), &said);
    let all = ["a", "b", "c"].map(message).concat();
    let wanted = [
        format!("reply 10 0 '{}'", message("one")),
        "reply 12 404 'no'".to_owned(),
        format!("reply 11 5 '{all}'"),
    ];
    assert_eq!(seen.events, wanted);
    assert!(seen.said.is_empty(), "{:?}", seen.said);
    let mut one = client(&[CALL]);
    let five = whole(0, &[head(&[]), headers(&["grpc-status=5", "grpc-message=no%20such"])]);
    play(&mut one, &[(five.0, &five.1, five.2)]);
    assert_eq!(one.said(), b"no%20such");
}

#[test]
fn a_head_may_be_all_of_a_reply() {
    let said = [
        whole(0, &[head(&["grpc-status=12", "grpc-message=x"])]),
        whole(4, &[headers(&[":status=200", "grpc-status=0"])]),
        whole(8, &[headers(&[":status=503", "content-type=text/html"]), data("sorry")]),
    ];
    let seen = check(|| client(&[CALL, CALL, CALL]), &said);
    assert_eq!(seen.events, ["reply 10 12 ''", "reply 11 0 ''", "reply 12 503 'sorry'"]);
}

#[test]
fn heads_and_trailers_are_told_where_that_is_wanted() {
    let heads = || {
        let mut client = fresh(true);
        client.encode(&Message::new(10, b"\0\0\0\0\0"), &mut Outgoing::new());
        client
    };
    let said = [whole(0, &[head(&["a=b"]), data(&message("x")), headers(&["grpc-status=0"])])];
    let seen = check(heads, &said);
    let wanted = [
        "head 10 200 content-type=application/grpc a=b".to_owned(),
        "trailers 10 grpc-status=0".to_owned(),
        format!("reply 10 0 '{}'", message("x")),
    ];
    assert_eq!(seen.events, wanted);
}

#[test]
fn what_is_no_reply_to_a_call_fails_it_alone() {
    let long = message("abcde");
    let (cut, more) = long.split_at(7);
    for (frames, class) in [
        (vec![head(&[]), data(&message("x"))], "NoStatus"),
        (vec![head(&[])], "NoStatus"),
        (vec![headers(&[":status=200", "content-type=text/html"]), data("x")], "Protocol"),
        (vec![headers(&[":status=200", "grpc-status=0"]), data("x")], "Protocol"),
        (vec![head(&["grpc-status=five"])], "Protocol"),
        (vec![head(&[]), headers(&["grpc-status=five"])], "Protocol"),
        (vec![head(&[]), data(cut), headers(&["grpc-status=0"])], "Protocol"),
        (vec![head(&[]), data("\u{1}\0\0\0\0"), headers(&["grpc-status=0"])], "Protocol"),
        (vec![head(&[]), data(cut), data(&format!("{more}\u{2}"))], "Protocol"),
    ] {
        let other = whole(4, &[head(&[]), data(&message("y")), headers(&["grpc-status=0"])]);
        let seen = check(|| client(&[CALL, CALL]), &[whole(0, &frames), other]);
        let wanted = [format!("failed 10 {class}"), format!("reply 11 0 '{}'", message("y"))];
        assert_eq!(seen.events, wanted, "{frames:?}");
    }
}

/// A reply that is none does not say that it was the last, and the connection has to end all the same.
#[test]
fn a_server_that_has_left_is_left_behind_a_reply_that_is_none() {
    for last in [
        vec![head(&[]), data(&message("x"))],
        vec![headers(&[":status=200", "content-type=text/html"]), data("x")],
    ] {
        let said = [control(3, &[goaway(4)]), whole(0, &last)];
        let seen = check(|| client(&[CALL]), &said);
        let (failed, leaving) = seen.events.split_at(1);
        assert!(failed[0].starts_with("failed 10 "), "{failed:?}");
        assert_eq!(leaving, ["leaving"], "{last:?}");
        let mut client = client(&[CALL]);
        for (stream, bytes, fin) in &said {
            play(&mut client, &[(*stream, &bytes[..], *fin)]);
        }
        assert_eq!((client.is_open(), client.room()), (false, 0), "nothing more is sent on it");
    }
}

#[test]
fn messages_in_gzip_are_told_as_they_were() {
    let plain = framed([&b"abcabcabcabc"[..], b"", b"one"]).unwrap();
    let mut packed = Vec::new();
    Gzip::default().messages(&plain, &mut packed);
    let content = || frame(0x0, &packed);
    let (gzip, end) = (head(&["grpc-encoding=gzip"]), headers(&["grpc-status=0"]));
    let mut long = Vec::new();
    Gzip::default().messages(&framed([&[b'x'; 101][..]]).unwrap(), &mut long);
    let said = [
        begun(0, &[gzip.clone(), content()]),
        whole(4, &[gzip.clone(), content(), end.clone()]),
        whole(0, &[content(), end.clone()]),
        // Nobody asked for it here.
        whole(8, &[gzip.clone(), content(), end.clone()]),
        whole(12, &[gzip.clone(), frame(0x0, &long), end.clone()]),
    ];
    let asked = || client(&[GZIP, GZIP, CALL, GZIP]);
    let seen = check(asked, &said);
    let text = String::from_utf8(plain).unwrap();
    let wanted = [
        format!("reply 11 0 '{text}'"),
        format!("reply 10 0 '{text}{text}'"),
        "failed 12 Protocol".to_owned(),
        "failed 13 TooBig".to_owned(),
    ];
    assert_eq!(seen.events, wanted);
    let mut one = asked();
    assert_eq!(one.gzip(), Some(false));
    play(&mut one, &[(4, &said[1].1, true)]);
    assert_eq!(one.gzip(), Some(true));
}

#[test]
fn messages_of_a_call_go_one_by_one() {
    let (mut client, mut out) = (fresh(false), Outgoing::new());
    let call = client.encode_first(&Message::new(10, b"first"), &mut out);
    client.say(call, b"second", false, &mut out);
    client.say(call, b"last", true, &mut out);
    client.say(call, b"behind", true, &mut out);
    let target = ":method=POST :scheme=https :authority=h :path=/a.B/C";
    let fields = format!("[{target} content-type=application/grpc te=trailers]");
    assert_eq!(told(&out), [format!("0: {fields}, 'first', 'second', 'last' fin")]);
}

#[test]
fn what_nobody_waits_for_is_not_said() {
    let (mut client, mut out) = (fresh(false), Outgoing::new());
    let over = client.encode_first(&Message::new(10, b"first"), &mut out);
    let unwanted = client.encode_first(&Message::new(11, b"first"), &mut out);
    // The first is answered before its end, and the server wants no more of the second.
    let all = [head(&[]), headers(&["grpc-status=0"])].concat();
    let seen = play(&mut client, &[(0, &all, true)]);
    assert_eq!(seen.events, ["reply 10 0 ''"]);
    assert_eq!(seen.said, ["0: reset NoError"]);
    out.clear();
    client.stop_sending(4, ErrorCode::NoError as u64, &mut out).unwrap();
    assert_eq!(told(&out), ["4: reset NoError"]);
    out.clear();
    for call in [over, unwanted] {
        client.say(call, b"more", false, &mut out);
    }
    assert!(out.is_empty());
    // What is awaited still comes.
    let seen = play(&mut client, &[(4, &all, true)]);
    assert_eq!(seen.events, ["reply 11 0 ''"]);
    assert!(seen.said.is_empty());
}
