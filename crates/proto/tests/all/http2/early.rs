//! Requests right behind the client's preface, before the server's settings have come (RFC 9113 section 3.4).

use std::sync::Arc;

use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request, PREFACE};
use wiretrial_proto::{ClientSession as _, ErrorClass, Message};

use super::client::{POST, ok, requests};
use super::frames::*;
use super::play::{check, play};

/// The identifiers of settings.
const MAX_STREAMS: u16 = 3;
const INITIAL_WINDOW: u16 = 4;
/// What may be sent on a stream before the server has said anything, bytes.
const FIRST_WINDOW: usize = 65_535;

/// A session that has begun, and what it has said.
fn begun(requests: Arc<[Http2Request]>) -> (Http2Client, Vec<u8>) {
    let mut client = Http2Client::new(requests, Http2Limits::default());
    let mut out = Vec::new();
    client.hasten();
    client.start(&mut out);
    (client, out)
}

/// One that has sent GET requests number 10, 11 and 12 as well.
fn three() -> Http2Client {
    let (mut client, mut out) = begun(requests());
    (10..13).for_each(|number| client.encode(&Message::new(number, b""), &mut out));
    client
}

/// A request behind which no other goes on its connection.
fn last() -> Arc<[Http2Request]> {
    let (path, length) = ([HeadPart::Text("/a")], PayloadLength::None);
    Arc::from([Http2Request::with_holes("http", "GET", &path, "h", &[], true, length).unwrap()])
}

#[test]
fn requests_go_right_behind_the_preface() {
    let asked = |stream: u32| {
        format!("{stream}: headers :method=GET :scheme=http :authority=h :path=/a end")
    };
    let (mut client, mut out) = begun(requests());
    assert_eq!((client.is_open(), client.room()), (true, 100));
    client.encode_alike(10, 3, b"", &mut out);
    let wanted = ["settings of 18".to_owned(), "0: window 67043329".to_owned()];
    let wanted = wanted.into_iter().chain([1, 3, 5].map(asked));
    assert_eq!(told(&out[PREFACE.len()..]), wanted.collect::<Vec<_>>());
}

#[test]
fn the_settings_come_before_the_first_reply_and_say_how_many_streams_there_may_be() {
    for (entries, room) in
        [(vec![], u32::MAX), (vec![(MAX_STREAMS, 7)], 7), (vec![(MAX_STREAMS, 1000)], 1000)]
    {
        let seen = check(three, &[settings(&entries), ok(1, "one"), ok(5, "three")].concat());
        let opened = format!("open {room}");
        assert_eq!(seen.events, [opened.as_str(), "reply 10 200 'one'", "reply 12 200 'three'"]);
        assert_eq!(told(&seen.out), ["settings ack"]);
    }
    assert_eq!(check(three, &ok(1, "one")).events, ["error Protocol"], "the settings are missing");
}

#[test]
fn what_is_refused_for_want_of_streams_goes_again() {
    let bytes =
        [settings(&[(MAX_STREAMS, 1)]), number(RESET, 3, 7), number(RESET, 5, 7), ok(1, "one")];
    let seen = check(three, &bytes.concat());
    let wanted = ["open 1", "unprocessed 11", "unprocessed 12", "reply 10 200 'one'"];
    assert_eq!(seen.events, wanted);
}

#[test]
fn no_request_follows_the_last_one_when_the_settings_come() {
    let fresh = || {
        let (mut client, mut out) = begun(last());
        client.encode(&Message::new(10, b""), &mut out);
        assert_eq!((client.is_open(), client.room()), (false, 0));
        client
    };
    let seen = check(fresh, &[settings(&[]), ok(1, "one")].concat());
    assert_eq!(seen.events, ["open 0", "reply 10 200 'one' last"]);
    let mut client = fresh();
    play(&mut client, &[&settings(&[])]);
    assert!(!client.is_open());
}

#[test]
fn content_goes_as_far_as_the_first_window_lets_it() {
    let content = vec![b'x'; FIRST_WINDOW + 1_000];
    let post = |client: &mut Http2Client| {
        let mut out = Vec::new();
        client.encode(&Message { route: POST, ..Message::new(1, &content) }, &mut out);
        let frames = told(&out);
        let data = frames.iter().filter_map(|frame| frame.strip_prefix("1: data "));
        data.map(str::len).sum::<usize>()
    };
    let (mut client, _) = begun(requests());
    assert_eq!(post(&mut client), FIRST_WINDOW);
    assert_eq!(client.take_use().map(|used| used.sends_held), Some(1));
    let wider = [settings(&[(INITIAL_WINDOW, 100_000)]), number(WINDOW, 0, 100_000)].concat();
    let seen = play(&mut client, &[&wider]);
    assert_eq!(told(&seen.out)[1], format!("1: data {} end", "x".repeat(1_000)));
    // A smaller window than the first one: what went is over it.
    let (mut client, _) = begun(requests());
    post(&mut client);
    let smaller = [settings(&[(INITIAL_WINDOW, 5)]), number(WINDOW, 0, 100_000)].concat();
    assert_eq!(told(&play(&mut client, &[&smaller]).out), ["settings ack"]);
    let over = FIRST_WINDOW as u32 - 5;
    assert!(play(&mut client, &[&number(WINDOW, 1, over)]).out.is_empty());
    assert_eq!(told(&play(&mut client, &[&number(WINDOW, 1, 2)]).out), ["1: data xx"]);
}

#[test]
fn an_end_before_the_settings_is_that_of_a_server_that_does_not_speak_it() {
    for mut client in [begun(requests()).0, three()] {
        let error = client.end().unwrap_err();
        assert_eq!(error.class, ErrorClass::Truncated);
        assert_eq!(error.detail, "the server ended the connection before it spoke HTTP/2");
    }
}

#[test]
fn calls_wait_for_the_settings_as_their_clients_do() {
    let call = Http2Request::call("http", "/p.S/M", "h", &[], false).unwrap();
    let (mut client, _) = begun(Arc::from([requests()[0].clone(), call]));
    assert!(!client.is_open());
    assert_eq!(play(&mut client, &[&settings(&[(MAX_STREAMS, 7)])]).events, ["open 7"]);
    assert!(client.is_open());
}
