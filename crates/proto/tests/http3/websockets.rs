//! WebSockets on streams (RFC 9220): both sides, whole, byte by byte and cut in two at every place.

use std::collections::BTreeMap;
use std::sync::Arc;

use wiretrial_proto::http3::{
    Action, ErrorCode, Http3Connect, Http3Event, Http3Limits, Http3Server, Http3WebSockets,
    Outgoing,
};
use wiretrial_proto::websocket::{DeflateConfig, WebSocketConfig, WebSocketServer};
use wiretrial_proto::{Event, Message, MessageKind, Scratch, ServerCodec as _, ServerEvent, Tag};

use super::frames::*;
use super::play::{check, play};

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

fn fresh_of(config: WebSocketConfig, streams: u32) -> Http3WebSockets {
    let request = Http3Connect::websocket("https", &config).unwrap();
    let (config, request) = (Arc::new(config), Arc::new(request));
    let mut client = Http3WebSockets::new(config, request, streams, [1, 2], Http3Limits::default());
    let mut out = Outgoing::new();
    client.start(&mut out);
    client.allow(100, &mut out);
    assert_eq!(told(&out), ["2: control, settings 65536 false"], "nothing is asked so early");
    client
}

fn fresh() -> Http3WebSockets {
    fresh_of(config(), 2)
}

/// The server's control, with its settings and these frames: it takes WebSockets.
fn enabled(frames: &[Vec<u8>]) -> Piece {
    (3, [vec![0], frame(SETTINGS, &[8, 1]), frames.concat()].concat(), false)
}

fn accepted(stream: u64) -> Piece {
    begun(stream, &[headers(&[":status=200"])])
}

/// A client whose two streams were accepted, and carry messages 10 and 11.
fn asked() -> Http3WebSockets {
    let (mut client, mut out) = (fresh(), Outgoing::new());
    let said = [enabled(&[]), accepted(0), accepted(4)];
    let all: Vec<_> = said.iter().map(|(id, bytes, fin)| (*id, &bytes[..], *fin)).collect();
    assert_eq!(play(&mut client, &all).events, ["open"]);
    assert_eq!((client.room(), client.is_open()), (2, true));
    (10..12).for_each(|number| client.encode(&Message::new(number, b"hi"), &mut out));
    client
}

/// A server's frame of a message, not masked.
fn message(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    WebSocketServer::new(1 << 20).message(MessageKind::Text, text.as_bytes(), &mut out);
    out
}

#[test]
fn streams_are_opened_once_the_server_has_said_that_it_takes_them() {
    let connect = "[:method=CONNECT :protocol=websocket :scheme=https :path=/chat :authority=h \
                   sec-websocket-version=13 sec-websocket-protocol=one cookie=a=b]";
    let seen = check(fresh, &[enabled(&[])]);
    assert_eq!(seen.said, [format!("0: {connect}"), format!("4: {connect}")]);
    assert!(seen.events.is_empty());
    let seen = check(fresh, &[enabled(&[]), accepted(4), accepted(0)]);
    assert_eq!(seen.events, ["open"]);
    let seen = check(fresh, &[control(3, &[])]);
    assert_eq!(
        (seen.events, seen.said),
        (vec!["error Upgrade".into()], vec!["close NoError".into()])
    );
}

#[test]
fn heads_that_accept_nothing() {
    let cases: [(&str, Piece, &str); 8] = [
        ("not found", whole(0, &[headers(&[":status=404"])]), "error Upgrade"),
        ("101", begun(0, &[headers(&[":status=101"])]), "error Protocol"),
        ("no status", begun(0, &[headers(&["a=b"])]), "error Protocol"),
        (
            "a subprotocol",
            begun(0, &[headers(&[":status=200", "sec-websocket-protocol=two"])]),
            "error Upgrade",
        ),
        ("content first", begun(0, &[data("x")]), "error Protocol"),
        ("nothing", whole(0, &[]), "error Truncated"),
        ("long", begun(0, &[vec![1, 0x80, 1, 0, 1]]), "error HeaderTooLarge"),
        ("settings twice", enabled(&[]), "error Protocol"),
    ];
    for (name, piece, wanted) in cases {
        let seen = check(fresh, &[enabled(&[]), piece]);
        let last = seen.events.last().map(String::as_str);
        assert_eq!(last, Some(wanted), "{name}");
    }
    let good = [
        enabled(&[]),
        begun(
            0,
            &[headers(&[":status=103"]), headers(&[":status=200", "sec-websocket-protocol=one"])],
        ),
        begun(4, &[headers(&[":status=204"])]),
    ];
    assert_eq!(check(fresh, &good).events, ["open"]);
}

#[test]
fn replies_belong_to_the_message_on_their_stream() {
    let (one, two) = (message("one"), message(&"two".repeat(100)));
    let mut ping = Vec::new();
    WebSocketServer::new(9).ping(b"?", &mut ping);
    let said = [
        begun(4, &[frame(0, &two[..2])]),
        begun(0, &[frame(0, &[&ping, &one[..1]].concat()), frame(GREASE, b"?")]),
        begun(4, &[frame(0, &two[2..50]), frame(0, &two[50..])]),
        begun(0, &[frame(0, &one[1..])]),
    ];
    let seen = check(asked, &said);
    assert_eq!(
        seen.events,
        [format!("reply 11 0 '{}'", "two".repeat(100)), "reply 10 0 'one'".into()]
    );
    assert_eq!(seen.said.len(), 1, "a pong");
    let said = [begun(0, &[frame(0, &[message(""), message("x")].concat())])];
    let seen = check(asked, &said);
    assert_eq!(seen.events, ["reply 10 0 ''", "error Protocol"], "nobody asked for the second");
}

#[test]
fn a_websocket_that_ends_fails_its_message_and_is_opened_again() {
    let mut close = Vec::new();
    WebSocketServer::new(9).close(1001, "", &mut close);
    let cases: [(&str, Piece, &str); 7] = [
        ("close", whole(0, &[frame(0, &close)]), "Closed"),
        ("close first", begun(0, &[frame(0, &close)]), "Closed"),
        ("end", whole(0, &[]), "Truncated"),
        ("end in a message", whole(0, &[frame(0, &message("abc")[..3])]), "Truncated"),
        ("masked", begun(0, &[frame(0, &[0x81, 0x81, 1, 2, 3, 4, 5])]), "Protocol"),
        ("not UTF-8", begun(0, &[frame(0, &[0x81, 1, 0xff])]), "Utf8"),
        ("trailers", begun(0, &[headers(&["a=b"])]), "Protocol"),
    ];
    for (name, piece, class) in cases {
        let answer = begun(4, &[frame(0, &message("there"))]);
        let seen = check(asked, &[piece, answer, accepted(8)]);
        let wanted = [&*format!("failed 10 {class}"), "reply 11 0 'there'", "room"];
        assert_eq!(seen.events, wanted, "{name}");
        let connects = seen.said.iter().filter(|it| it.starts_with("8: [:method=CONNECT"));
        assert_eq!(connects.count(), 1, "{name}");
    }
    let (mut client, mut out) = (asked(), Outgoing::new());
    let event = client.reset(0, ErrorCode::InternalError as u64, &mut out).unwrap();
    assert!(matches!(event, Some(Event::Failed { tag: Tag::Number(10), .. })));
    let event = client.stop_sending(4, 0x100, &mut out).unwrap();
    assert!(matches!(event, Some(Event::Failed { tag: Tag::Number(11), .. })));
    let ends: Vec<_> = told(&out).into_iter().filter(|it| !it.contains("CONNECT")).collect();
    let wanted =
        ["0: reset RequestCancelled", "4: stop RequestCancelled", "4: reset RequestCancelled"];
    assert_eq!(ends, wanted);
}

#[test]
fn what_was_refused_is_asked_again_and_not_for_ever() {
    let (mut client, mut out) = (fresh_of(config(), 1), Outgoing::new());
    let (id, bytes, _) = enabled(&[]);
    play(&mut client, &[(id, &bytes, false)]);
    client.allow(10_000, &mut out);
    let rejected = ErrorCode::RequestRejected as u64;
    for place in 0..1_000 {
        assert_eq!(client.reset(4 * place, rejected, &mut out), Ok(None));
    }
    assert!(client.reset(4_000, rejected, &mut out).is_err());
    let (mut client, mut out) = (asked(), Outgoing::new());
    client.allow(10_000, &mut out);
    let mut stream = 0;
    let broken = loop {
        match client.reset(stream, 0x102, &mut out) {
            Ok(_) => stream = if stream == 0 { 8 } else { stream + 4 },
            Err(error) => break error,
        }
        let (id, bytes, _) = accepted(stream);
        play(&mut client, &[(id, &bytes, false)]);
        assert!(stream < 8_000, "without end");
    };
    assert_eq!(broken.to_string(), "the server reset the stream: H3_INTERNAL_ERROR");
}

#[test]
fn a_server_that_leaves_answers_what_it_has_taken_in() {
    let leaves = |stream| begun(3, &[goaway(stream)]);
    let last = begun(0, &[frame(0, &message("last"))]);
    let events = check(asked, &[leaves(4), last]).events;
    assert_eq!(events, ["reply 10 0 'last'", "leaving"]);
    assert_eq!(check(asked, &[leaves(0)]).events, ["leaving"]);
    let mut client = asked();
    play(&mut client, &[(3, &goaway(4), false)]);
    assert_eq!((client.room(), client.is_open()), (0, false));
}

/// CONNECT on stream 0 and 4, and a server that leaves before it has answered either.
#[test]
fn websockets_that_a_leaving_server_goes_on_with_are_waited_for() {
    let begin = |first| enabled(&[goaway(first)]);
    let leaves = |first| begun(3, &[goaway(first)]);
    let refused = whole(0, &[headers(&[":status=404"])]);
    let cases: [(&str, Vec<Piece>, &[&str]); 7] = [
        ("nothing yet", vec![begin(4)], &[]),
        ("the one of two", vec![begin(4), accepted(0)], &["open"]),
        ("both", vec![begin(8), accepted(4), accepted(0)], &["open"]),
        ("accepted before", vec![enabled(&[]), accepted(0), leaves(4)], &["open"]),
        ("by and by", vec![begin(400), accepted(0), leaves(4)], &["open"]),
        ("never", vec![begin(400), leaves(0)], &["leaving"]),
        ("not found", vec![begin(4), refused], &["error Upgrade"]),
    ];
    for (name, said, wanted) in cases {
        assert_eq!(check(fresh, &said).events, wanted, "{name}");
    }
    let asked_late = |first: u64, answers: &[u64]| {
        let (mut client, (id, bytes, _)) = (fresh(), begin(first));
        play(&mut client, &[(id, &bytes, false)]);
        for &stream in answers {
            let (id, bytes, _) = accepted(stream);
            play(&mut client, &[(id, &bytes, false)]);
        }
        client
    };
    // One that was not looked at is not asked for again.
    let rejected = ErrorCode::RequestRejected as u64;
    for (first, answers, wanted) in [(4, &[][..], Event::Leaving), (8, &[4][..], Event::Open)] {
        let (mut client, mut out) = (asked_late(first, answers), Outgoing::new());
        assert_eq!(client.reset(0, rejected, &mut out), Ok(Some(wanted)));
        assert!(!told(&out).iter().any(|it| it.contains("CONNECT")));
    }
    // What comes to stand carries its messages, and is left behind the first reply.
    let late = || {
        let (mut client, mut out) = (asked_late(8, &[0, 4]), Outgoing::new());
        assert_eq!((client.room(), client.is_open()), (2, true));
        (10..12).for_each(|number| client.encode(&Message::new(number, b"hi"), &mut out));
        client
    };
    let said = [begun(0, &[frame(0, &message("a"))]), begun(4, &[frame(0, &message("b"))])];
    let seen = check(late, &said);
    assert_eq!(seen.events, ["reply 10 0 'a'", "reply 11 0 'b'", "leaving"]);
    let mut client = late();
    play(&mut client, &[(0, &said[0].1, false)]);
    assert_eq!((client.room(), client.is_open(), client.has_left()), (0, false, false));
    assert!(client.cancel(11, &mut Outgoing::new()) && client.has_left());
}

#[test]
fn a_message_is_given_up_with_its_stream_and_at_the_end_all_are_closed() {
    let (mut client, mut out) = (asked(), Outgoing::new());
    assert!(client.cancel(11, &mut out) && !client.cancel(11, &mut out));
    let told = told(&out);
    assert_eq!(told[..2], ["4: reset RequestCancelled", "4: stop RequestCancelled"]);
    assert!(told[2].starts_with("8: [:method=CONNECT"), "{told:?}");
    assert_eq!(client.room(), 1);
    let late = frame(0, &message("late"));
    let head = headers(&[":status=200"]);
    assert_eq!(play(&mut client, &[(4, &late, true), (8, &head, false)]).events, ["room"]);
    out.clear();
    client.close(&mut out);
    let ends: Vec<_> = out
        .actions()
        .map(|action| match action {
            Action::Write { stream, fin: true, .. } => stream,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ends, [0, 8], "each with its close frame");
    assert!(client.end().is_ok() && asked().end().is_err());
}

/// A server that says each message again.
struct Echo {
    server: Http3Server,
    sockets: BTreeMap<u64, (WebSocketServer, Vec<u8>, Vec<u8>)>,
    wishes: Option<DeflateConfig>,
}

impl Echo {
    fn hear(&mut self, stream: u64, mut input: &[u8], fin: bool, out: &mut Outgoing) {
        let mut scratch = Scratch::new();
        loop {
            let step = self.server.receive(stream, input, fin, &mut scratch, out).unwrap();
            input = &input[step.consumed..];
            match step.event {
                None => return,
                Some(Http3Event::Request { stream, connect: Some(connect), .. }) => {
                    assert!(connect.is_websocket() && connect.is_known_version());
                    let answer = self.wishes.and_then(|wishes| connect.accept_deflate(&wishes));
                    let text = answer.as_ref().map(ToString::to_string).unwrap_or_default();
                    let field = [("sec-websocket-extensions", text.as_bytes())];
                    let fields = if answer.is_some() { &field[..] } else { &[] };
                    self.server.respond(stream, 200, fields, false, out);
                    let socket = match &answer {
                        Some(answer) => WebSocketServer::with_deflate(1 << 20, answer),
                        None => WebSocketServer::new(1 << 20),
                    };
                    self.sockets.insert(stream, (socket, Vec::new(), Vec::new()));
                }
                Some(Http3Event::Chunk { stream, piece }) => {
                    let said = self.echo(stream, piece);
                    self.server.content(stream, &said, false, out);
                }
                Some(_) => {}
            }
        }
    }

    fn echo(&mut self, stream: u64, piece: &[u8]) -> Vec<u8> {
        let (socket, carry, message) = self.sockets.get_mut(&stream).unwrap();
        carry.extend_from_slice(piece);
        let (mut out, mut scratch, mut taken) = (Vec::new(), Scratch::new(), 0);
        loop {
            let step = socket.receive(&mut carry[taken..], &mut scratch, &mut out).unwrap();
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
        out
    }
}

/// What is done of what was said: bytes on streams, in pieces of so many.
fn carry(out: &mut Outgoing, size: usize) -> Vec<(u64, Vec<u8>)> {
    let mut pieces = Vec::new();
    for action in out.actions() {
        if let Action::Write { stream, bytes, .. } = action {
            pieces.extend(bytes.chunks(size).map(|piece| (stream, piece.to_vec())));
        }
    }
    out.clear();
    pieces
}

/// Both sides of one connection talk.
fn talk(deflate: bool, size: usize) {
    let wishes = deflate.then(DeflateConfig::default);
    let config = WebSocketConfig { deflate: wishes, insists_on_deflate: deflate, ..config() };
    let mut client = fresh_of(config, 3);
    let limits = Http3Limits { connect_protocol: true, ..Http3Limits::default() };
    let mut echo = Echo { server: Http3Server::new(limits), sockets: BTreeMap::new(), wishes };
    let (mut out, mut back, mut scratch) = (Outgoing::new(), Outgoing::new(), Scratch::new());
    let payload = |number: u64| format!("{number} ").repeat(number as usize * 500).into_bytes();
    let (mut replies, mut sent, mut whole) = (BTreeMap::<u64, Vec<u8>>::new(), 0, 0);
    echo.server.start(&mut back);
    while whole < 12 {
        for (stream, piece) in carry(&mut back, size) {
            let mut input = &piece[..];
            loop {
                let step = client.receive(stream, input, false, &mut scratch, &mut out).unwrap();
                input = &input[step.consumed..];
                match step.event {
                    None => break,
                    Some(Event::Chunk { tag: Tag::Number(number), piece }) => {
                        replies.entry(number).or_default().extend_from_slice(piece);
                    }
                    Some(Event::Reply(reply)) => {
                        let Tag::Number(number) = reply.tag else { panic!("it has a number") };
                        let mut came = replies.remove(&number).unwrap_or_default();
                        came.extend_from_slice(reply.payload);
                        assert_eq!(came, payload(number));
                        whole += 1;
                    }
                    Some(other) => assert!(matches!(other, Event::Open), "{other:?}"),
                }
            }
        }
        while client.is_open() && sent < 12 && sent - whole < 3 {
            client.encode(&Message::new(sent, &payload(sent)), &mut out);
            sent += 1;
        }
        let pieces = carry(&mut out, size);
        assert!(!pieces.is_empty() || whole == 12, "nothing is on its way");
        for (stream, piece) in pieces {
            echo.hear(stream, &piece, false, &mut back);
        }
    }
    assert_eq!(client.deflate().is_some(), deflate);
}

#[test]
fn both_sides_talk_however_the_bytes_are_cut_with_and_without_compression() {
    for size in [1, 7, 1_000, 1 << 20] {
        talk(false, size);
        talk(true, size);
    }
}
