//! The server's side against streams of a client.

use wiretrial_proto::ErrorClass;
use wiretrial_proto::http3::{ErrorCode, Http3Limits, Http3Server, Outgoing};

use super::frames::*;
use super::play::{check, play};

fn limits() -> Http3Limits {
    Http3Limits {
        max_field_section: 2_000,
        max_streams: 3,
        connect_protocol: true,
        ..Http3Limits::default()
    }
}

fn server() -> Http3Server {
    Http3Server::new(limits())
}

fn get(path: &str) -> Vec<u8> {
    headers(&[":method=GET", ":scheme=https", ":authority=h", &format!(":path={path}")])
}

fn post(more: &[&str]) -> Vec<u8> {
    let begin = [":method=POST", ":scheme=https", ":authority=h", ":path=/p"];
    headers(&[&begin[..], more].concat())
}

/// A server to which these were said.
fn after(said: &[Piece]) -> Http3Server {
    let mut server = server();
    let all: Vec<_> = said.iter().map(|(id, bytes, fin)| (*id, &bytes[..], *fin)).collect();
    let seen = play(&mut server, &all);
    assert!(seen.said.is_empty(), "{seen:?}");
    server
}

#[test]
fn it_begins_with_its_settings() {
    let mut out = Outgoing::new();
    server().start(&mut out);
    assert_eq!(told(&out), ["3: control, settings 2000 true"]);
}

#[test]
fn requests_are_told_as_they_come() {
    let said = [
        begun(8, &[post(&["content-length=4", "a=b"]), data("ab")]),
        control(2, &[frame(0xd, &[7])]),
        whole(0, &[frame(GREASE, b"?"), get("/a"), frame(GREASE, &[7; 70])]),
        whole(8, &[data("c"), data(""), data("d"), headers(&["checksum=0"]), frame(GREASE, b"")]),
        begun(6, &[vec![0x21]]),
    ];
    let seen = check(server, &said);
    let wanted =
        ["request 8 POST /p content-length=4 a=b", "request 0 GET /a ", "end 0 ''", "end 8 'abcd'"];
    assert_eq!(seen.events, wanted);
    assert_eq!(seen.said, ["6: stop StreamCreationError"]);
}

#[test]
fn answers_go_out_on_their_streams() {
    let mut server =
        after(&[whole(0, &[get("/a")]), begun(4, &[post(&[])]), whole(8, &[get("/c")])]);
    let mut out = Outgoing::new();
    assert!(server.respond(8, 103, &[("link", b"x")], false, &mut out));
    assert!(server.respond(8, 200, &[("server", b"x")], false, &mut out));
    assert!(server.content(8, b"one", false, &mut out));
    assert!(server.respond(0, 204, &[], true, &mut out));
    assert!(server.content(8, b"two", false, &mut out));
    assert!(server.trailers(8, &[("checksum", b"0")], &mut out));
    assert!(!server.content(8, b"more", false, &mut out), "it has ended");
    assert!(server.respond(4, 413, &[], false, &mut out));
    assert!(server.content(4, b"", true, &mut out));
    assert!(!server.respond(12, 200, &[], true, &mut out), "nobody asked");
    assert_eq!(
        told(&out),
        [
            "8: [:status=103 link=x], [:status=200 server=x], 'one'",
            "0: [:status=204] fin",
            "8: 'two', [checksum=0] fin",
            "4: [:status=413] fin",
            "4: stop NoError",
        ]
    );
    assert_eq!(server.open_streams(), 0);
    let late = play(&mut server, &[(4, &data("late"), true)]);
    assert!(late.events.is_empty() && late.said.is_empty(), "{late:?}");
}

#[test]
fn what_is_no_request_is_given_up() {
    let begin = [":method=GET", ":scheme=https", ":authority=h", ":path=/"];
    let with = |more: &str| headers(&[&begin[..], &[more]].concat());
    let cases: [(&str, Vec<Vec<u8>>, &str); 15] = [
        ("nothing", vec![], "RequestIncomplete"),
        ("what nobody knows", vec![frame(GREASE, b"")], "RequestIncomplete"),
        ("no path", vec![headers(&begin[..3])], "MessageError"),
        ("two paths", vec![with(":path=/")], "MessageError"),
        ("a status", vec![with(":status=200")], "MessageError"),
        (
            "behind others",
            vec![headers(&["a=b", begin[0], begin[1], begin[2], begin[3]])],
            "MessageError",
        ),
        ("upper case", vec![with("A=b")], "MessageError"),
        ("of HTTP/1.1", vec![with("transfer-encoding=chunked")], "MessageError"),
        ("of HTTP/1.1, too", vec![with("te=gzip")], "MessageError"),
        ("two hosts", vec![with("host=i")], "MessageError"),
        (
            "to nobody",
            vec![headers(&[":method=GET", ":scheme=https", ":path=/", ":authority="])],
            "MessageError",
        ),
        ("less", vec![post(&["content-length=2"]), data("a")], "MessageError"),
        ("more", vec![post(&["content-length=2"]), data("abc")], "MessageError"),
        ("a method behind", vec![post(&[]), headers(&[":method=GET"])], "MessageError"),
        ("long", vec![frame(0x1, &[0; 2001])], "ExcessiveLoad"),
    ];
    for (name, frames, code) in cases {
        let said = [whole(4, &frames), whole(0, &[get("/b")])];
        let seen = check(server, &said);
        let last: Vec<_> = seen.events.iter().skip_while(|it| **it != "gone 4").collect();
        assert_eq!(last, ["gone 4", "request 0 GET /b ", "end 0 ''"], "{name}: {seen:?}");
        assert_eq!(seen.said[0], format!("4: reset {code}"), "{name}");
    }
}

#[test]
fn what_breaks_the_rules_ends_the_connection() {
    let cases: [(&str, Vec<Piece>, ErrorCode); 14] = [
        ("content first", vec![begun(0, &[data("x")])], ErrorCode::FrameUnexpected),
        (
            "a push",
            vec![begun(0, &[get("/"), frame(PUSH_PROMISE, b"")])],
            ErrorCode::FrameUnexpected,
        ),
        ("a stream of a push", vec![begun(2, &[vec![1]])], ErrorCode::StreamCreationError),
        ("half a frame", vec![whole(0, &[post(&[]), vec![0, 5, b'x']])], ErrorCode::FrameError),
        ("half of the fields", vec![whole(0, &[vec![1, 5, 0]])], ErrorCode::FrameError),
        ("no fields", vec![begun(0, &[frame(0x1, b"")])], ErrorCode::QpackDecompressionFailed),
        (
            "an index",
            vec![begun(0, &[frame(0x1, &[0, 0, 0xff, 0x24])])],
            ErrorCode::QpackDecompressionFailed,
        ),
        ("two controls", vec![control(2, &[]), control(6, &[])], ErrorCode::StreamCreationError),
        (
            "two encoders",
            vec![begun(2, &[vec![2]]), begun(6, &[vec![2]])],
            ErrorCode::StreamCreationError,
        ),
        ("settings twice", vec![control(2, &[frame(SETTINGS, b"")])], ErrorCode::FrameUnexpected),
        (
            "of HTTP/2",
            vec![begun(2, &[vec![0], frame(SETTINGS, &[2, 0])])],
            ErrorCode::SettingsError,
        ),
        ("it ends", vec![whole(2, &[vec![3]])], ErrorCode::ClosedCriticalStream),
        ("acknowledged", vec![begun(2, &[vec![3, 0x80]])], ErrorCode::QpackDecoderStreamError),
        ("far too many", vec![begun(4 * 100_000, &[get("/")])], ErrorCode::ExcessiveLoad),
    ];
    for (name, said, code) in cases {
        let seen = check(server, &said);
        assert_eq!(seen.events.last().map(String::as_str), Some("error Protocol"), "{name}");
        assert_eq!(seen.said, [format!("close {code:?}")], "{name}");
    }
}

#[test]
fn more_requests_than_it_takes_are_rejected() {
    let said: Vec<_> = (0..5).map(|place| begun(4 * place, &[get("/")])).collect();
    let seen = check(server, &said);
    assert_eq!(seen.events.len(), 3);
    let rejected = ["12: reset RequestRejected", "12: stop RequestRejected"];
    assert_eq!(seen.said[..2], rejected);
    assert_eq!(seen.said.len(), 4);
}

#[test]
fn a_server_that_leaves_answers_what_it_has() {
    let mut server = after(&[whole(4, &[get("/a")])]);
    let mut out = Outgoing::new();
    server.leave(&mut out);
    server.leave(&mut out);
    assert_eq!(told(&out), ["3: goaway 8"]);
    let said = play(&mut server, &[(0, &get("/late"), true), (8, &get("/too-late"), true)]);
    assert_eq!(said.events, ["request 0 GET /late ", "end 0 ''"]);
    assert_eq!(said.said, ["8: reset RequestRejected", "8: stop RequestRejected"]);
    out.clear();
    assert!(
        server.respond(4, 200, &[], true, &mut out) && server.respond(0, 200, &[], true, &mut out)
    );
    server.close(&mut out);
    assert_eq!(server.open_streams(), 0);
    assert_eq!(told(&out)[2..], ["close NoError"]);
}

#[test]
fn a_client_that_leaves_is_heard() {
    let seen = check(server, &[control(2, &[goaway(0)])]);
    assert_eq!(seen.events, ["leaving"]);
}

#[test]
fn a_request_that_is_taken_back_is_gone() {
    let mut server = after(&[begun(0, &[post(&[]), data("ab")]), whole(4, &[get("/")])]);
    let mut out = Outgoing::new();
    let gone = |event| format!("{event:?}");
    assert_eq!(gone(server.reset(0, &mut out).unwrap()), "Some(Gone { stream: 0 })");
    assert_eq!(gone(server.stop_sending(4, 0x10c, &mut out).unwrap()), "Some(Gone { stream: 4 })");
    assert_eq!(server.reset(8, &mut out), Ok(None), "before anything of it came");
    let late = play(&mut server, &[(8, &get("/"), true), (0, &data("c"), true)]);
    assert!(late.events.is_empty() && server.open_streams() == 0);
    assert_eq!(
        told(&out),
        ["0: reset RequestIncomplete", "0: stop RequestIncomplete", "4: reset RequestCancelled"]
    );
    assert!(server.stop_sending(3, 0x100, &mut out).is_err(), "settings are wanted");
    let mut server = after(&[control(2, &[])]);
    assert!(server.reset(2, &mut out).is_err());
}

#[test]
fn requests_taken_back_for_ever_end_the_connection() {
    let (mut server, mut out) = (server(), Outgoing::new());
    let mut broken = None;
    for place in 0..10_001 {
        let stream = 4 * place;
        play(&mut server, &[(stream, &get("/"), false)]);
        broken = server.reset(stream, &mut out).err();
        out.clear();
        if broken.is_some() {
            assert_eq!(place, 10_000);
        }
    }
    assert_eq!(broken.map(|error| error.class), Some(ErrorClass::Protocol));
}

#[test]
fn another_protocol_may_be_spoken_on_a_stream() {
    let connect = headers(&[
        ":method=CONNECT",
        ":protocol=websocket",
        ":scheme=https",
        ":path=/chat",
        ":authority=h",
        "sec-websocket-version=13",
    ]);
    let said = [begun(0, &[connect.clone(), data("ab")]), whole(4, &[get("/")])];
    let seen = check(server, &said);
    assert_eq!(
        seen.events,
        [
            "request 0 connect CONNECT /chat sec-websocket-version=13",
            "request 4 GET / ",
            "end 4 ''"
        ]
    );
    let (mut server, mut out) = (after(&said), Outgoing::new());
    assert!(server.respond(0, 200, &[], false, &mut out));
    assert!(server.content(0, b"cd", true, &mut out));
    assert!(!server.content(0, b"ef", true, &mut out) && server.open_streams() == 2);
    assert_eq!(told(&out), ["0: [:status=200], 'cd' fin"]);
    let seen = play(&mut server, &[(0, &data("x"), true)]);
    assert_eq!((seen.events, server.open_streams()), (vec!["end 0 'x'".to_owned()], 1));
    let plain = || Http3Server::new(Http3Limits { connect_protocol: false, ..limits() });
    assert_eq!(check(plain, &[begun(0, &[connect])]).events, ["gone 0"]);
}
