//! The server's side against frames of a client.

use wiretrial_proto::Scratch;
use wiretrial_proto::http2::{Http2Event, Http2Limits, Http2Server, PREFACE};

use super::frames::*;
use super::play::{Seen, in_all_ways};

/// Plays bytes that come in these pieces; each whole request is answered with what it brought.
fn play(server: &mut Http2Server, pieces: &[&[u8]]) -> Seen {
    let mut seen = Seen::default();
    let (mut scratch, mut carry) = (Scratch::new(), Vec::new());
    let mut content = std::collections::BTreeMap::<u32, Vec<u8>>::new();
    for piece in pieces {
        carry.extend_from_slice(piece);
        let mut offset = 0;
        loop {
            let step = match server.receive(&carry[offset..], &mut scratch, &mut seen.out) {
                Ok(step) => step,
                Err(error) => {
                    seen.events.push(format!("error {:?}", error.class));
                    seen.wrong = error.to_string();
                    return seen;
                }
            };
            offset += step.consumed;
            seen.events.push(match step.event {
                None => break,
                Some(Http2Event::Request { stream, connect: Some(it), .. }) => {
                    format!("{stream}: connect {} {}", it.is_websocket(), it.is_known_version())
                }
                Some(Http2Event::Request { stream, method, target, content_length, .. }) => {
                    let length = content_length.map_or(String::new(), |it| format!(" {it}"));
                    format!("{stream}: {method} {}{length}", target.unwrap_or("-"))
                }
                Some(Http2Event::Chunk { stream, piece }) => {
                    content.entry(stream).or_default().extend_from_slice(piece);
                    continue;
                }
                Some(Http2Event::End { stream }) => {
                    let whole = content.remove(&stream).unwrap_or_default();
                    assert!(server.respond(stream, 200, &[], whole.is_empty(), &mut seen.out));
                    if !whole.is_empty() {
                        assert!(server.content(stream, &whole, true, &mut seen.out));
                    }
                    format!("{stream}: end '{}'", String::from_utf8_lossy(&whole))
                }
                Some(Http2Event::Gone { stream }) => format!("{stream}: gone"),
                Some(Http2Event::Leaving) => "leaving".to_owned(),
                Some(Http2Event::Room) => continue,
            });
        }
        carry.drain(..offset);
    }
    seen
}

/// Plays frames behind the preface in all ways in which they may come.
pub(super) fn check(limits: Http2Limits, frames: &[u8]) -> Seen {
    let bytes = [&PREFACE[..], &settings(&[]), frames].concat();
    in_all_ways(&bytes, |pieces| play(&mut Http2Server::new(limits), pieces))
}

fn get(stream: u32) -> Vec<u8> {
    headers(END, stream, &[":method=GET", ":scheme=http", ":path=/a", ":authority=h"])
}

fn post(stream: u32, more: &[&str]) -> Vec<u8> {
    let fields = [&[":method=POST", ":scheme=http", ":path=/b", ":authority=h"][..], more].concat();
    headers(0, stream, &fields)
}

/// What a client is told behind our settings and the answer to its own.
fn answers(seen: &Seen) -> Vec<String> {
    told(&seen.out).split_off(3)
}

#[test]
fn it_begins_with_its_settings() {
    let seen = check(Http2Limits::default(), &[]);
    assert_eq!(told(&seen.out), ["settings of 12", "0: window 67043329", "settings ack"]);
    let mut server = Http2Server::new(Http2Limits::default());
    let seen = play(&mut server, &[b"GET / HTTP/1.1\r\n"]);
    assert_eq!(seen.events, ["error Protocol"]);
    assert!(seen.out.is_empty());
}

#[test]
fn requests_are_told_as_they_come_and_answered_on_their_streams() {
    let frames = [
        post(1, &["content-length=4"]),
        get(3),
        frame(DATA, 0, 1, b"ab"),
        post(5, &["te=trailers"]),
        frame(DATA, END, 1, b"cd"),
        frame(DATA, 0, 5, b"x"),
        headers(END, 5, &["checksum=1"]),
    ];
    let seen = check(Http2Limits::default(), &frames.concat());
    let wanted =
        ["1: POST /b 4", "3: GET /a", "3: end ''", "5: POST /b", "1: end 'abcd'", "5: end 'x'"];
    assert_eq!(seen.events, wanted);
    let wanted = [
        "3: headers :status=200 end",
        "1: headers :status=200",
        "1: data abcd end",
        "5: headers :status=200",
        "5: data x end",
    ];
    assert_eq!(answers(&seen), wanted);
}

#[test]
fn a_request_that_is_none_is_reset_and_the_others_go_on() {
    let cases = [
        ("no path", headers(END, 1, &[":method=GET", ":scheme=http", ":authority=h"])),
        ("nobody", headers(END, 1, &[":method=GET", ":scheme=http", ":path=/"])),
        (
            "a status",
            headers(
                END,
                1,
                &[":method=GET", ":scheme=http", ":path=/", ":authority=h", ":status=200"],
            ),
        ),
        ("about the connection", post(1, &["connection=close"])),
        ("te", post(1, &["te=gzip"])),
        ("more content", [post(1, &["content-length=1"]), frame(DATA, 0, 1, b"ab")].concat()),
        ("less content", [post(1, &["content-length=3"]), frame(DATA, END, 1, b"ab")].concat()),
        ("trailers in the middle", [post(1, &[]), headers(0, 1, &["a=b"])].concat()),
    ];
    for (name, wrong) in cases {
        let seen = check(Http2Limits::default(), &[wrong, get(3)].concat());
        assert_eq!(seen.events.last().map(String::as_str), Some("3: end ''"), "{name}");
        assert!(seen.events.contains(&"1: gone".to_owned()), "{name}: {:?}", seen.events);
        assert!(answers(&seen).contains(&"1: reset 1".to_owned()), "{name}");
    }
}

/// The first byte of each block that was sent.
fn begins(mut out: &[u8]) -> Vec<u8> {
    let mut found = Vec::new();
    while let Some((head, rest)) = out.split_first_chunk::<9>() {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        found.extend((head[3] == HEADERS).then_some(rest[0]));
        out = &rest[length..];
    }
    found
}

#[test]
fn a_smaller_table_is_told_of_once() {
    let small = [settings(&[(1, 100)]), settings(&[(1, 4096)]), get(1), get(3)].concat();
    assert_eq!(begins(&check(Http2Limits::default(), &small).out), [0x20, 0x88]);
    let usual = [settings(&[(1, 8192)]), get(1)].concat();
    assert_eq!(begins(&check(Http2Limits::default(), &usual).out), [0x88]);
}

#[test]
fn a_stream_is_not_opened_twice_nor_by_nobody() {
    let cases = [
        ("its own number", get(2), 1),
        ("a lower number", [get(5), get(3)].concat(), 1),
        ("a number again", [get(1), get(3), get(1)].concat(), 5),
        ("behind its end", [get(1), frame(DATA, 0, 1, b"a")].concat(), 5),
        ("content of nothing", frame(DATA, 0, 1, b"a"), 1),
        ("a stream on itself", frame(PRIORITY, 0, 3, &[0, 0, 0, 3, 1]), 1),
    ];
    for (name, frames, code) in cases {
        let seen = check(Http2Limits::default(), &frames);
        assert_eq!(seen.events.last().map(String::as_str), Some("error Protocol"), "{name}");
        let last = told(&seen.out).last().cloned().unwrap_or_default();
        assert!(
            last.starts_with("goaway") && last.ends_with(&format!(" {code}")),
            "{name}: {last}"
        );
    }
}

#[test]
fn more_streams_than_allowed_are_refused() {
    let limits = Http2Limits { max_streams: 1, ..Http2Limits::default() };
    let frames = [post(1, &[]), get(3), frame(DATA, END, 1, b"a"), get(5)];
    let seen = check(limits, &frames.concat());
    let wanted = ["1: POST /b", "1: end 'a'", "5: GET /a", "5: end ''"];
    assert_eq!(seen.events, wanted);
    assert_eq!(answers(&seen)[0], "3: reset 7");
}

#[test]
fn a_request_that_is_taken_back_is_gone() {
    let frames = [post(1, &[]), number(RESET, 1, 8), get(3), goaway(0, 0)];
    let seen = check(Http2Limits::default(), &frames.concat());
    assert_eq!(seen.events, ["1: POST /b", "1: gone", "3: GET /a", "3: end ''", "leaving"]);
    // Opened and taken back again and again: it costs the client nothing, and has an end.
    let rapid: Vec<u8> = (0..10_001_u32)
        .flat_map(|place| [get_open(1 + 2 * place), number(RESET, 1 + 2 * place, 8)].concat())
        .collect();
    let bytes = [&PREFACE[..], &settings(&[]), &rapid].concat();
    let mut server = Http2Server::new(Http2Limits::default());
    let seen = play(&mut server, &[&bytes]);
    assert_eq!(seen.events.last().map(String::as_str), Some("error Protocol"));
    assert!(told(&seen.out).last().is_some_and(|last| last.ends_with(" 11")));
}

/// A request whose end is to come.
fn get_open(stream: u32) -> Vec<u8> {
    headers(0, stream, &[":method=GET", ":scheme=http", ":path=/a", ":authority=h"])
}

#[test]
fn an_answer_goes_as_far_as_windows_let_it() {
    let mut server = Http2Server::new(Http2Limits::default());
    let begin = [&PREFACE[..], &settings(&[(4, 3)])].concat();
    play(&mut server, &[&begin]);
    let frames = [post(1, &[]), frame(DATA, END, 1, b"abcdefgh")].concat();
    let seen = play(&mut server, &[&frames]);
    assert_eq!(told(&seen.out), ["1: headers :status=200", "1: data abc"]);
    assert_eq!((server.held(), server.open_streams()), (5, 1));
    let seen = play(&mut server, &[&number(WINDOW, 1, 4)]);
    assert_eq!(told(&seen.out), ["1: data defg"]);
    let seen = play(&mut server, &[&number(WINDOW, 1, 4)]);
    assert_eq!(told(&seen.out), ["1: data h end"]);
    assert_eq!((server.held(), server.open_streams()), (0, 0));
    assert!(!server.content(1, b"more", true, &mut Vec::new()), "it is over");
}

#[test]
fn who_is_answered_early_is_asked_to_stop() {
    let mut server = Http2Server::new(Http2Limits::default());
    play(&mut server, &[&[&PREFACE[..], &settings(&[]), &post(1, &[])].concat()]);
    let mut out = Vec::new();
    assert!(server.respond(1, 413, &[("a", b"b")], true, &mut out));
    assert_eq!(told(&out), ["1: headers :status=413 a=b end", "1: reset 0"]);
    let seen = play(&mut server, &[&frame(DATA, END, 1, b"on its way"), &get(3)]);
    assert_eq!(seen.events, ["3: GET /a", "3: end ''"]);
}

#[test]
fn it_leaves_with_the_number_of_the_last_request() {
    let mut server = Http2Server::new(Http2Limits::default());
    play(&mut server, &[&[&PREFACE[..], &settings(&[]), &get(1), &post(3, &[])].concat()]);
    let mut out = Vec::new();
    server.leave(&mut out);
    server.leave(&mut out);
    assert_eq!(told(&out), ["goaway 3 0"]);
    let seen = play(&mut server, &[&frame(DATA, END, 3, b"abc")]);
    assert_eq!(seen.events, ["3: end 'abc'"], "what came is answered");
    // What was on its way is passed over, whatever follows on its stream.
    let late = [post(7, &[]), frame(DATA, 0, 7, b"abc"), number(RESET, 7, 8), get(9), get(5)];
    let seen = play(&mut server, &[&late[..4].concat()]);
    assert_eq!((seen.events, server.open_streams()), (Vec::<String>::new(), 0));
    let seen = play(&mut server, &[&late[4]]);
    assert_eq!(told(&seen.out).last().unwrap(), "goaway 3 1", "no more than was said before");
}

#[test]
fn who_leaves_before_the_client_has_begun_says_its_settings_first() {
    let mut server = Http2Server::new(Http2Limits::default());
    let mut out = Vec::new();
    server.leave(&mut out);
    assert_eq!(out, b"");
    let seen = play(&mut server, &[&[&PREFACE[..], &settings(&[]), &get(1)].concat()]);
    let told = told(&seen.out);
    assert!(
        told[0].starts_with("settings of") && told.contains(&"goaway 0 0".to_owned()),
        "{told:?}"
    );
    assert_eq!(seen.events, Vec::<String>::new());
}

/// A client that has not heard of a narrow window may send what is allowed without settings.
#[test]
fn a_narrow_window_holds_once_it_was_heard_of() {
    let limits = Http2Limits { stream_window: 100, ..Http2Limits::default() };
    let mut server = Http2Server::new(limits);
    let begin = [&PREFACE[..], &settings(&[]), &post(1, &[]), &post(3, &[])].concat();
    play(&mut server, &[&begin]);
    let seen = play(&mut server, &[&frame(DATA, 0, 1, &[b'x'; 300])]);
    assert_eq!(told(&seen.out), ["1: window 300"], "it is 200 below nothing otherwise");
    let pieces =
        [frame(DATA, 0, 3, &[b'x'; 16_384]).repeat(4), frame(SETTINGS, 1, 0, b"")].concat();
    let seen = play(&mut server, &[&pieces]);
    assert!(!told(&seen.out).iter().any(|line| line.contains("reset")), "{:?}", told(&seen.out));
    for (length, answer) in [(100, "1: window 100"), (101, "1: reset 3")] {
        let seen = play(&mut server, &[&frame(DATA, 0, 1, &vec![b'x'; length])]);
        assert_eq!(told(&seen.out), [answer]);
    }
}
