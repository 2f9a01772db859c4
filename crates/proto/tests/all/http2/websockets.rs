//! WebSockets on streams (RFC 8441): both sides, whole, byte by byte and cut in two at every place.

use std::collections::BTreeMap;
use std::sync::Arc;

use wiretrial_proto::http2::{
    Http2Connect, Http2Event, Http2Limits, Http2Server, Http2WebSockets, PREFACE,
};
use wiretrial_proto::websocket::{DeflateConfig, WebSocketConfig, WebSocketServer};
use wiretrial_proto::{ClientSession as _, Event, Message, MessageKind, Scratch, Tag};

use super::frames::*;
use super::play::{check, play};

const ENABLE: (u16, u32) = (8, 1);
const MOST_STREAMS: u16 = 3;

fn config() -> WebSocketConfig {
    WebSocketConfig {
        host: "h".to_owned(),
        target: "/chat".to_owned(),
        headers: vec![("Cookie".to_owned(), " a=b ".to_owned())],
        subprotocols: vec!["one".to_owned()],
        kind: MessageKind::Text,
        max_message: 1 << 20,
        deflate: None,
        insists_on_deflate: false,
    }
}

fn fresh_of(config: WebSocketConfig, streams: u32) -> Http2WebSockets {
    let request = Http2Connect::websocket("http", &config).unwrap();
    let (config, request) = (Arc::new(config), Arc::new(request));
    let mut client = Http2WebSockets::new(config, request, streams, [1, 2], Http2Limits::default());
    client.start(&mut Vec::new());
    client
}

fn fresh() -> Http2WebSockets {
    fresh_of(config(), 2)
}

/// A client whose two streams were accepted, and carry messages 10 and 11.
fn asked() -> Http2WebSockets {
    let (mut client, mut out) = (fresh(), Vec::new());
    let bytes = [settings(&[ENABLE]), accepted(1), accepted(3)].concat();
    let seen = play(&mut client, &[&bytes]);
    assert_eq!(seen.events, ["open 2"]);
    (10..12).for_each(|number| client.encode(&Message::new(number, b"hi"), &mut out));
    client
}

fn accepted(stream: u32) -> Vec<u8> {
    headers(0, stream, &[":status=200"])
}

/// A server's frame of a message, not masked.
fn message(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    WebSocketServer::new(1 << 20).message(MessageKind::Text, text.as_bytes(), &mut out);
    out
}

#[test]
fn streams_are_opened_once_the_server_has_said_that_it_takes_them() {
    let mut client = fresh();
    let seen = play(&mut client, &[&settings(&[ENABLE])]);
    assert!(seen.events.is_empty() && !client.is_open());
    let connect = ":method=CONNECT :protocol=websocket :scheme=http :path=/chat :authority=h \
                   sec-websocket-version=13 sec-websocket-protocol=one cookie=a=b";
    let wanted = [
        "settings ack".to_owned(),
        format!("1: headers {connect}"),
        format!("3: headers {connect}"),
    ];
    assert_eq!(told(&seen.out), wanted);
    let seen = check(fresh, &[settings(&[ENABLE]), accepted(3), accepted(1)].concat());
    assert_eq!(seen.events, ["open 2"]);
}

#[test]
fn a_server_that_does_not_take_them_is_refused_with_a_reason() {
    for first in [settings(&[]), settings(&[(8, 0)])] {
        let seen = check(fresh, &first);
        assert_eq!(seen.events, ["error Upgrade"]);
        assert!(seen.wrong.contains("--http 1.1"), "{}", seen.wrong);
        assert!(!told(&seen.out).iter().any(|it| it.contains("headers")), "nothing is asked");
    }
    let taken_back = [settings(&[ENABLE]), settings(&[(8, 0)])].concat();
    assert_eq!(check(fresh, &taken_back).events, ["error Protocol"]);
}

#[test]
fn as_many_are_opened_as_the_server_lets() {
    let begin = [settings(&[ENABLE, (MOST_STREAMS, 1)]), accepted(1)].concat();
    let seen = check(fresh, &begin);
    assert_eq!(seen.events, ["open 1"]);
    let more = [begin, settings(&[(MOST_STREAMS, 5)]), accepted(3)].concat();
    assert_eq!(check(fresh, &more).events, ["open 1", "room 2"]);
}

#[test]
fn heads_that_accept_nothing() {
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("not found", headers(END, 1, &[":status=404"]), "error Upgrade"),
        ("with content", headers(0, 1, &[":status=503"]), "error Upgrade"),
        ("101", headers(0, 1, &[":status=101"]), "error Protocol"),
        ("no status", headers(0, 1, &["a=b"]), "error Protocol"),
        (
            "a subprotocol",
            headers(0, 1, &[":status=200", "sec-websocket-protocol=two"]),
            "error Upgrade",
        ),
        (
            "an extension",
            headers(0, 1, &[":status=200", "sec-websocket-extensions=permessage-deflate"]),
            "error Upgrade",
        ),
        ("reset", number(RESET, 1, 8), "error Reset"),
        ("content first", frame(DATA, 0, 1, b"x"), "error Protocol"),
        ("another connection", goaway(0, 0), "leaving"),
    ];
    for (name, bytes, wanted) in cases {
        let seen = check(fresh, &[settings(&[ENABLE]), bytes].concat());
        assert_eq!(seen.events, [wanted], "{name}: {}", seen.wrong);
    }
    let good = [
        headers(0, 1, &[":status=103", "link=x"]),
        headers(0, 1, &[":status=200", "sec-websocket-protocol=one"]),
        // What HTTP/1.1 would prove with it is nothing here.
        headers(0, 3, &[":status=204", "sec-websocket-accept=x"]),
    ];
    let seen = check(fresh, &[settings(&[ENABLE]), good.concat()].concat());
    assert_eq!(seen.events, ["open 2"]);
    let refused = [settings(&[ENABLE]), number(RESET, 3, 7), accepted(1), accepted(5)].concat();
    assert_eq!(check(fresh, &refused).events, ["open 2"], "what was refused is asked again");
}

#[test]
fn replies_belong_to_the_message_on_their_stream() {
    let (one, two) = (message("one"), message(&"two".repeat(100)));
    let mut ping = Vec::new();
    WebSocketServer::new(9).ping(b"?", &mut ping);
    let bytes = [
        frame(DATA, 0, 3, &two[..2]),
        frame(DATA, PADDED, 1, &[&[3][..], &ping, &one[..1], &[0; 3]].concat()),
        frame(DATA, 0, 3, &two[2..50]),
        frame(DATA, 0, 1, &[&one[1..], &ping[..1]].concat()),
        frame(DATA, 0, 1, &ping[1..]),
        frame(DATA, 0, 3, &two[50..]),
    ];
    let seen = check(asked, &bytes.concat());
    let wanted =
        ["reply 10 0 'one' text".to_owned(), format!("reply 11 0 '{}' text", "two".repeat(100))];
    assert_eq!(seen.events, wanted);
    // Two pongs of seven bytes each.
    let mut frames = seen.out.as_slice();
    for _ in 0..2 {
        assert_eq!(frames[..4], [0, 0, 7, DATA]);
        assert_eq!(frames[9], 0x8a);
        frames = &frames[16..];
    }
    assert!(frames.is_empty());
}

#[test]
fn several_messages_in_one_piece() {
    let bytes = frame(DATA, 0, 1, &[message(""), message("x")].concat());
    let seen = check(asked, &bytes);
    let wanted = ["reply 10 0 '' text", "error Protocol"];
    assert_eq!(seen.events, wanted, "nobody asked for the second");
}

#[test]
fn a_websocket_that_ends_fails_its_message_and_is_opened_again() {
    let mut close = Vec::new();
    WebSocketServer::new(9).close(1001, "", &mut close);
    let cases: [(&str, Vec<u8>, &str); 8] = [
        ("close", frame(DATA, END, 1, &close), "Closed"),
        ("close first", frame(DATA, 0, 1, &close), "Closed"),
        ("end", frame(DATA, END, 1, b""), "Truncated"),
        ("end in a message", frame(DATA, END, 1, &message("abc")[..3]), "Truncated"),
        ("reset", number(RESET, 1, 8), "Reset"),
        ("masked", frame(DATA, 0, 1, &[0x81, 0x81, 1, 2, 3, 4, 5]), "Protocol"),
        ("not UTF-8", frame(DATA, 0, 1, &[0x81, 1, 0xff]), "Utf8"),
        ("trailers", headers(END, 1, &["a=b"]), "Truncated"),
    ];
    for (name, bytes, class) in cases {
        let answer = frame(DATA, 0, 3, &message("there"));
        let seen = check(asked, &[bytes, answer, accepted(5)].concat());
        let wanted = [&*format!("failed 10 {class}"), "reply 11 0 'there' text", "room 2"];
        assert_eq!(seen.events, wanted, "{name}");
        let connects = told(&seen.out).iter().filter(|it| it.starts_with("5: headers")).count();
        assert_eq!(connects, 1, "{name}");
    }
    let answered = frame(DATA, 0, 1, &message("a"));
    let seen = check(asked, &[answered, number(RESET, 1, 8)].concat());
    assert_eq!(seen.events, ["reply 10 0 'a' text", "parted Reset"]);
}

#[test]
fn websockets_that_only_end_are_not_opened_for_ever() {
    let bytes: Vec<u8> = (0..2_000_u32)
        .flat_map(|place| {
            let stream = 5 + 2 * place;
            [accepted(stream), number(RESET, stream, 8)].concat()
        })
        .collect();
    let mut client = asked();
    let seen = play(&mut client, &[&number(RESET, 1, 8), &bytes]);
    assert_eq!(seen.events.last().unwrap(), "error Reset");
    assert!(seen.events.len() < 2_100);
}

#[test]
fn a_server_that_leaves_answers_what_it_has_taken_in() {
    let leaves = [goaway(1, 0), frame(DATA, 0, 1, &message("last"))].concat();
    assert_eq!(check(asked, &leaves).events, ["reply 10 0 'last' text", "leaving"]);
    assert_eq!(check(asked, &goaway(0, 0)).events, ["leaving"]);
    let mut client = asked();
    play(&mut client, &[&goaway(1, 0)]);
    assert_eq!((client.room(), client.is_open()), (0, false));
}

/// What a server says, frame by frame.
type Said = Vec<Vec<u8>>;

/// CONNECT on stream 1 and 3, and a server that leaves before it has answered either.
#[test]
fn websockets_that_a_leaving_server_goes_on_with_are_waited_for() {
    const GRACEFUL: u32 = 0x7fff_ffff;
    let begin = |last| [settings(&[ENABLE]), goaway(last, 0)].concat();
    let refused = headers(END, 1, &[":status=404"]);
    let cases: [(&str, Said, &[&str]); 10] = [
        ("nothing yet", vec![begin(1)], &[]),
        ("the one of two", vec![begin(1), accepted(1)], &["open 1"]),
        ("both", vec![begin(3), accepted(3), accepted(1)], &["open 2"]),
        ("accepted before", vec![settings(&[ENABLE]), accepted(1), goaway(1, 0)], &["open 1"]),
        ("by and by", vec![begin(GRACEFUL), accepted(1), goaway(1, 0)], &["open 1"]),
        ("never", vec![begin(GRACEFUL), goaway(0, 0)], &["leaving"]),
        ("not found", vec![begin(1), refused], &["error Upgrade"]),
        ("not looked at", vec![begin(1), number(RESET, 1, 7)], &["leaving"]),
        ("one not looked at", vec![begin(3), accepted(1), number(RESET, 3, 7)], &["open 1"]),
        ("reset", vec![begin(1), number(RESET, 1, 8)], &["error Reset"]),
    ];
    for (name, bytes, wanted) in cases {
        let seen = check(fresh, &bytes.concat());
        assert_eq!(seen.events, wanted, "{name}: {}", seen.wrong);
        let asked = told(&seen.out).iter().filter(|it| it.contains("CONNECT")).count();
        assert_eq!(asked, 2, "{name}: no other is asked for");
    }
    let error = {
        let mut client = fresh();
        play(&mut client, &[&begin(1)]);
        client.end().unwrap_err()
    };
    assert_eq!(error.detail, "the connection ended before the upgrade");
    // What comes to stand carries its messages, and is left behind the first reply.
    let late = || {
        let (mut client, mut out) = (fresh(), Vec::new());
        play(&mut client, &[&[begin(3), accepted(1), accepted(3)].concat()]);
        assert_eq!((client.room(), client.is_open()), (2, true));
        (10..12).for_each(|number| client.encode(&Message::new(number, b"hi"), &mut out));
        client
    };
    let said = [frame(DATA, 0, 1, &message("a")), frame(DATA, 0, 3, &message("b"))];
    let seen = check(late, &said.concat());
    assert_eq!(seen.events, ["reply 10 0 'a' text", "reply 11 0 'b' text", "leaving"]);
    let mut client = late();
    play(&mut client, &[&said[0]]);
    assert_eq!((client.room(), client.is_open(), client.has_left()), (0, false, false));
    assert!(client.cancel(11, &mut Vec::new()) && client.has_left());
}

#[test]
fn a_message_is_given_up_with_its_stream() {
    let (mut client, mut out) = (asked(), Vec::new());
    assert!(client.cancel(11, &mut out) && !client.cancel(11, &mut out));
    let told = told(&out);
    assert!(told[0].starts_with("3: reset 8"), "{told:?}");
    assert!(told[1].starts_with("5: headers :method=CONNECT"), "{told:?}");
    assert_eq!(client.room(), 1);
    // What is on its way is passed over.
    let late = [frame(DATA, 0, 3, &message("late")), accepted(5)].concat();
    assert_eq!(play(&mut client, &[&late]).events, ["room 2"]);
}

#[test]
fn at_the_end_each_is_closed_and_the_connection_behind_them() {
    let (mut client, mut out) = (asked(), Vec::new());
    client.close(&mut out);
    let told = told(&out);
    assert_eq!(told.len(), 3);
    assert!(told[..2].iter().all(|it| it.contains("data") && it.ends_with("end")), "{told:?}");
    assert!(client.end().is_ok());
    let error = asked().end().unwrap_err();
    assert_eq!(error.detail, "the connection ended without a close frame");
}

#[test]
fn headers_about_the_connection_are_refused() {
    let config =
        WebSocketConfig { headers: vec![("Keep-Alive".to_owned(), "1".to_owned())], ..config() };
    assert!(Http2Connect::websocket("http", &config).is_err());
}

/// Both sides of one connection talk, with compression, in pieces of so many bytes.
fn talk(deflate: bool, size: usize) {
    let wishes = deflate.then(DeflateConfig::default);
    let config = WebSocketConfig { deflate: wishes, insists_on_deflate: deflate, ..config() };
    let mut client = fresh_of(config, 3);
    let limits = Http2Limits { connect_protocol: true, ..Http2Limits::default() };
    let (mut server, mut sockets) = (Http2Server::new(limits), BTreeMap::new());
    let (mut up, mut down) = (Vec::new(), Vec::new());
    up.extend_from_slice(PREFACE);
    up.extend(settings(&[]));
    let payload = |number: u64| format!("{number} ").repeat(number as usize * 500).into_bytes();
    let (mut replies, mut sent) = (BTreeMap::<u64, Vec<u8>>::new(), 0);
    let (mut heard, mut told, mut whole) = (Vec::new(), Vec::new(), 0);
    let mut scratch = Scratch::new();
    for _ in 0..100_000 {
        let part: Vec<u8> = up.drain(..up.len().min(size)).collect();
        heard.extend(part);
        let mut offset = 0;
        loop {
            let step = server.receive(&heard[offset..], &mut scratch, &mut down).unwrap();
            offset += step.consumed;
            match step.event {
                None => break,
                Some(Http2Event::Request { stream, connect: Some(connect), .. }) => {
                    let answer = wishes.and_then(|wishes| connect.accept_deflate(&wishes));
                    let text = answer.as_ref().map(ToString::to_string).unwrap_or_default();
                    let field = [("sec-websocket-extensions", text.as_bytes())];
                    let fields = if deflate { &field[..] } else { &[] };
                    server.respond(stream, 200, fields, false, &mut down);
                    let socket = match &answer {
                        Some(answer) => WebSocketServer::with_deflate(1 << 20, answer),
                        None => WebSocketServer::new(1 << 20),
                    };
                    sockets.insert(stream, (socket, Vec::new(), Vec::new()));
                }
                Some(Http2Event::Chunk { stream, piece }) => {
                    let (socket, carry, message) = sockets.get_mut(&stream).unwrap();
                    carry.extend_from_slice(piece);
                    let (mut out, mut own) = (Vec::new(), Scratch::new());
                    let mut taken = 0;
                    loop {
                        use wiretrial_proto::{ServerCodec as _, ServerEvent};
                        let step = socket.receive(&mut carry[taken..], &mut own, &mut out).unwrap();
                        taken += step.consumed;
                        match step.event {
                            None => break,
                            Some(ServerEvent::Chunk(piece)) => message.extend_from_slice(piece),
                            Some(ServerEvent::End) => {
                                let message = std::mem::take(message);
                                socket.message(MessageKind::Text, &message, &mut out);
                            }
                            Some(_) => {}
                        }
                    }
                    carry.drain(..taken);
                    server.content(stream, &out, false, &mut down);
                }
                Some(_) => {}
            }
        }
        heard.drain(..offset);
        let part: Vec<u8> = down.drain(..down.len().min(size)).collect();
        told.extend(part);
        let mut offset = 0;
        loop {
            let step = client.receive(&told[offset..], &mut scratch, &mut up).unwrap();
            offset += step.consumed;
            match step.event {
                None => break,
                Some(Event::Chunk { tag: Tag::Number(number), piece }) => {
                    replies.entry(number).or_default().extend_from_slice(piece);
                }
                Some(Event::Reply(reply)) => {
                    let Tag::Number(number) = reply.tag else { panic!("it has a number") };
                    let mut text = replies.remove(&number).unwrap_or_default();
                    text.extend_from_slice(reply.payload);
                    assert_eq!(text, payload(number), "{number}");
                    whole += 1;
                }
                Some(Event::Open) => {}
                Some(other) => panic!("{other:?}"),
            }
        }
        told.drain(..offset);
        while client.is_open() && sent < 9 && sent - whole < 3 {
            client.encode(&Message::new(sent, &payload(sent)), &mut up);
            sent += 1;
        }
        if whole == 9 {
            assert_eq!(client.deflate().is_some(), deflate);
            return;
        }
    }
    panic!("{whole} of 9 came back");
}

#[test]
fn both_sides_talk_however_the_bytes_are_cut_with_and_without_compression() {
    for size in [1, 7, 1000, 100_000] {
        talk(false, size);
        talk(true, size);
    }
}
