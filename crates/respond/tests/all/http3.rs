//! HTTP/3 over real sockets: what a client is answered, and what a script makes of it.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;
use std::time::Duration;

use crate::common::quic::{Cut, Line, converse, server};
use crate::common::session::{Contents, number};
use crate::common::{WANTED, assert_answered, await_all_gone, pattern};
use wiretrial_net::clock::monotonic_ns;
use wiretrial_net::quic::{Direction, Read, TransportSettings};
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http3::qpack::{self, Secrecy};
use wiretrial_proto::http3::{
    Http3Client, Http3Limits, Http3Request, write_data_head, write_headers,
};
use wiretrial_proto::{ErrorClass, Event, Message};
use wiretrial_respond::{Fault, Script, Server};

const MS: u64 = 1_000_000;
/// As long as one can wait to be sure that nothing comes.
const SILENCE: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(20);
/// More than anybody takes.
const MOST: usize = 100 << 20;
const NO_ERROR: u64 = 0x100;
const INTERNAL_ERROR: u64 = 0x102;

/// What a client saw.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    /// Of which message, its status and its content.
    Reply(u64, u16, Vec<u8>),
    Failed(u64, ErrorClass),
    Unprocessed(u64),
    Leaving,
    Cut(Cut),
}

use Seen::{Failed, Leaving, Reply, Unprocessed};

type Wanted<'a> = (&'a str, &'a str, &'a [u8]);

fn session(wanted: &[Wanted<'_>]) -> Http3Client {
    let requests: Vec<_> = wanted
        .iter()
        .map(|(method, target, _)| {
            let (target, length) = ([HeadPart::Text(target)], PayloadLength::Varying);
            let typed = [("content-type", vec![HeadPart::Text("text/plain")])];
            Http3Request::with_holes("https", method, &target, "a", &typed, false, length).unwrap()
        })
        .collect();
    Http3Client::new(Arc::from(requests), Http3Limits::default())
}

/// Asks for these at once on one connection, and what comes of it, with the time since then.
fn ask_within(line: &mut Line, wanted: &[Wanted<'_>], patience: Duration) -> Vec<(Seen, u64)> {
    let mut session = session(wanted);
    let (mut seen, mut begin, mut missing) = (Vec::new(), monotonic_ns(), wanted.len());
    let mut contents = Contents::default();
    let talk = converse(line, &mut session, patience, |session, event, out| {
        let what = match event {
            Event::Open => {
                begin = monotonic_ns();
                for (route, (_, _, payload)) in wanted.iter().enumerate() {
                    let number = route as u64;
                    session.encode(&Message { number, route, payload, fill: None }, out);
                }
                return true;
            }
            Event::Chunk { tag, piece } => {
                contents.add(tag, piece);
                return true;
            }
            Event::Reply(reply) => {
                missing -= 1;
                let (number, content) = contents.whole(&reply);
                seen.push((Reply(number, reply.status, content), monotonic_ns() - begin));
                if missing == 0 || !reply.last {
                    return missing > 0;
                }
                // The others are not answered.
                missing = 0;
                Leaving
            }
            Event::Failed { tag, error } => {
                missing -= 1;
                Failed(number(tag), error.class)
            }
            Event::Unprocessed { tag } => {
                missing -= 1;
                Unprocessed(number(tag))
            }
            Event::Leaving => {
                missing = 0;
                Leaving
            }
            other => panic!("{other:?}"),
        };
        seen.push((what, monotonic_ns() - begin));
        missing > 0
    });
    if let Err(cut) = talk
        && missing > 0
    {
        seen.push((Seen::Cut(cut), monotonic_ns() - begin));
    }
    seen
}

/// Statuses and contents of the replies to these, in their order, over a connection of this kind.
fn ask(
    server: &Server,
    transport: TransportSettings,
    wanted: &[Wanted<'_>],
) -> Vec<(u16, Vec<u8>)> {
    let mut line = Line::to(server, transport);
    let mut replies = vec![(0, Vec::new()); wanted.len()];
    for (seen, _) in ask_within(&mut line, wanted, PATIENCE) {
        let Reply(number, status, content) = seen else { panic!("{seen:?}") };
        replies[number as usize] = (status, content);
    }
    line.client.connection().close(NO_ERROR, "", monotonic_ns());
    line.turn();
    replies
}

#[test]
fn each_route_answers_as_in_http1() {
    let server = server(Script::default(), 1);
    assert_answered(&ask(&server, TransportSettings::default(), &WANTED));
    await_all_gone(&server, 1);
    assert_eq!(server.stats().requests, WANTED.len() as u64);
}

#[test]
fn a_client_with_narrow_windows_gets_all_of_it() {
    let server = server(Script::default(), 1);
    let long = pattern(200_000);
    let wanted: [Wanted<'_>; 3] =
        [("GET", "/bytes/3000000", b""), ("POST", "/echo", &long), ("GET", "/bytes/1000000", b"")];
    let narrow = TransportSettings {
        stream_window: 20_000,
        connection_window: 50_000,
        ..TransportSettings::default()
    };
    let replies = ask(&server, narrow, &wanted);
    assert!(replies[0] == (200, pattern(3_000_000)));
    assert!(replies[1] == (200, long));
    assert!(replies[2] == (200, pattern(1_000_000)));
}

#[test]
fn several_threads_answer_many_streams_of_many_connections() {
    let server = server(Script::default(), 3);
    let wanted: Vec<Wanted<'_>> =
        (0..60).map(|at| if at % 7 == 0 { WANTED[4] } else { WANTED[at % 3] }).collect();
    for _ in 0..12 {
        let replies = ask(&server, TransportSettings::default(), &wanted);
        for (at, (status, content)) in replies.iter().enumerate() {
            let right = match at % 3 {
                _ if at % 7 == 0 => pattern(100_000),
                0 => b"hello".to_vec(),
                1 => b"received: hello".to_vec(),
                _ => wiretrial_respond::MESSAGE.to_vec(),
            };
            assert!((*status, content) == (200, &right), "{at}");
        }
    }
    await_all_gone(&server, 12);
    let stats = server.stats();
    assert_eq!(stats.requests, 12 * 60);
    assert!(stats.sent > 12 * 9 * 100_000 && stats.received > 0, "{stats:?}");
}

#[test]
fn a_stream_that_is_given_up_leaves_the_others_alone() {
    let server = server(Script::default(), 1);
    let mut line = Line::to(&server, TransportSettings::default());
    let wanted: [Wanted<'_>; 2] = [("GET", "/bytes/1000000000000", b""), WANTED[2]];
    let mut session = session(&wanted);
    let (mut came, mut answered) = (0, 0);
    let talk = converse(&mut line, &mut session, PATIENCE, |session, event, out| {
        match event {
            Event::Open => {
                session.encode(&Message { number: 0, route: 0, payload: b"", fill: None }, out);
            }
            Event::Chunk { piece, .. } => {
                came += piece.len();
                if came > 100_000 && session.cancel(0, out) {
                    session.encode(&Message { number: 1, route: 1, payload: b"", fill: None }, out);
                }
            }
            Event::Reply(reply) => {
                assert_eq!((number(reply.tag), reply.status), (1, 200));
                answered += 1;
            }
            other => panic!("{other:?}"),
        }
        answered == 0
    });
    assert_eq!((talk, answered), (Ok(()), 1));
    // The stream that was given up costs nothing more.
    assert!(server.stats().sent < 50_000_000, "{:?}", server.stats());
}

/// The head of a request, with content that goes on for ever where it posts.
fn begun(method: &str, target: &str) -> Vec<u8> {
    let (mut block, mut bytes) = (Vec::new(), Vec::new());
    qpack::write_prefix(&mut block);
    let origin = [(":scheme", "https"), (":authority", "a")];
    for (name, value) in [(":method", method), (":path", target)].into_iter().chain(origin) {
        qpack::write_field(name.as_bytes(), value.as_bytes(), Secrecy::Plain, &mut block);
    }
    write_headers(&block, &mut bytes);
    if method == "POST" {
        write_data_head(1 << 40, &mut bytes);
    }
    bytes
}

#[test]
fn who_does_not_read_is_neither_written_to_nor_read_from() {
    let server = server(Script::default(), 1);
    let narrow = TransportSettings { stream_window: 10_000, ..TransportSettings::default() };
    let mut line = Line::to(&server, narrow);
    while line.client.connection().is_handshaking() {
        line.turn();
        while line.client.event(monotonic_ns()).is_some() {}
    }
    // Nobody reads what comes of these.
    for at in 0..20 {
        let connection = line.client.connection();
        let stream = connection.open(Direction::Bidirectional, monotonic_ns()).unwrap();
        assert_eq!(stream, 4 * at);
        let get = begun("GET", "/bytes/1000000000000");
        connection.send(stream, &get, true, monotonic_ns()).unwrap();
    }
    let connection = line.client.connection();
    let upload = connection.open(Direction::Bidirectional, monotonic_ns()).unwrap();
    connection.send(upload, &begun("POST", "/echo"), false, monotonic_ns()).unwrap();
    let (block, mut taken, mut since) = (vec![7; 64 * 1024], 0, monotonic_ns());
    while taken < MOST && monotonic_ns() - since < 500 * MS {
        let count = line.client.connection().write(upload, &block, monotonic_ns()).unwrap();
        if count > 0 {
            (taken, since) = (taken + count, monotonic_ns());
        }
        line.turn();
        while line.client.event(monotonic_ns()).is_some() {}
    }
    // The window of a stream, and what the server holds.
    assert!(taken < 40 << 20, "the server took {taken} bytes");
    // The others are served all the while.
    let replies = ask(&server, TransportSettings::default(), &WANTED[2..3]);
    assert_eq!(replies, [(200, wiretrial_respond::MESSAGE.to_vec())]);
}

#[test]
fn a_client_that_moves_stays_with_its_thread() {
    let server = server(Script::default(), 4);
    for _ in 0..3 {
        let mut line = Line::to(&server, TransportSettings::default());
        while line.client.connection().is_handshaking() {
            line.turn();
            while line.client.event(monotonic_ns()).is_some() {}
        }
        for at in 0..7 {
            if at > 0 {
                line.move_on();
            }
            let connection = line.client.connection();
            let stream = connection.open(Direction::Bidirectional, monotonic_ns()).unwrap();
            connection.send(stream, &begun("GET", "/message"), true, monotonic_ns()).unwrap();
            let (mut reply, since) = (Vec::new(), monotonic_ns());
            while line.client.connection().read(stream, &mut reply, MOST) != Ok(Read::Finished) {
                assert!(monotonic_ns() - since < PATIENCE.as_nanos() as u64, "it is lost");
                line.turn();
                while line.client.event(monotonic_ns()).is_some() {}
            }
            assert!(reply.ends_with(wiretrial_respond::MESSAGE));
        }
    }
    assert_eq!(server.stats().accepted, 3);
}

#[test]
fn a_server_that_stops_takes_leave() {
    let server = server(Script::default(), 2);
    let mut line = Line::to(&server, TransportSettings::default());
    let mut session = session(&WANTED);
    let (mut server, mut stopped) = (Some(server), None);
    let talk = converse(&mut line, &mut session, PATIENCE, |session, event, out| {
        match event {
            Event::Open => {
                session.encode(&Message { number: 0, route: 2, payload: b"", fill: None }, out);
            }
            Event::Reply(_) => {
                let server = server.take().unwrap();
                stopped = Some(std::thread::spawn(move || server.stop().unwrap()));
            }
            Event::Leaving => assert!(!session.is_open()),
            Event::Chunk { .. } | Event::Room => {}
            other => panic!("{other:?}"),
        }
        true
    });
    assert_eq!(talk, Err(Cut::Closed(NO_ERROR)));
    assert!(!session.is_open(), "it was told before");
    assert_eq!(stopped.unwrap().join().unwrap().open, 0);
}

#[test]
fn whoever_speaks_another_protocol_is_told() {
    let server = server(Script::default(), 1);
    let mut line = Line::to(&server, TransportSettings::default());
    let mut session = session(&WANTED);
    let talk = converse(&mut line, &mut session, PATIENCE, |_, event, out| {
        if matches!(event, Event::Open) {
            // A frame of HTTP/2 on a stream of a request (RFC 9114, section 7.2.8).
            out.write(0, false, |bytes| bytes.extend_from_slice(&[0x6, 0]));
        }
        true
    });
    assert_eq!(talk, Err(Cut::Closed(0x105)), "H3_FRAME_UNEXPECTED");
    assert_eq!(server.stats().requests, 0);
}

#[test]
fn the_reply_that_is_to_be_the_last_is() {
    let script = Script { close_after: "2".parse().ok(), ..Script::default() };
    let server = server(script, 1);
    let mut line = Line::to(&server, TransportSettings::default());
    let seen = sorted(ask_within(&mut line, &WANTED[..2], PATIENCE));
    assert_eq!(seen[..2], [right(0, "hello"), right(1, "received: hello")]);
    // The connection ends once the client has all of it.
    while server.stats().open > 0 {
        line.turn();
        while line.client.event(monotonic_ns()).is_some() {}
    }
    await_all_gone(&server, 1);
}

fn faulty(fault: &str, delay: Option<&str>) -> Server {
    let faults = vec![fault.parse::<Fault>().unwrap()];
    let delay = delay.map(|delay| delay.parse().unwrap());
    server(Script { faults, delay, ..Script::default() }, 1)
}

const TEXTS: [Wanted<'_>; 3] =
    [("POST", "/echo", b"one."), ("POST", "/echo", b"two."), ("POST", "/echo", b"three.")];

fn right(number: u64, text: &str) -> Seen {
    Reply(number, 200, text.as_bytes().to_vec())
}

/// What was seen, in the order of the messages' numbers.
fn sorted(seen: Vec<(Seen, u64)>) -> Vec<Seen> {
    let mut seen: Vec<_> = seen.into_iter().map(|(seen, _)| seen).collect();
    seen.sort_by_key(|seen| match seen {
        Reply(number, ..) | Failed(number, _) | Unprocessed(number) => *number,
        Leaving | Seen::Cut(_) => u64::MAX,
    });
    seen
}

/// What comes of three requests.
fn seen(server: &Server) -> Vec<Seen> {
    let mut line = Line::to(server, TransportSettings::default());
    let seen = sorted(ask_within(&mut line, &TEXTS, SILENCE));
    line.client.connection().close(NO_ERROR, "", monotonic_ns());
    line.turn();
    seen
}

#[test]
fn a_fault_of_a_stream_is_that_streams_alone() {
    let all = |second: Seen| vec![right(0, "one."), second, right(2, "three.")];
    let cases = [
        ("wrong@2", all(right(1, "two/"))),
        ("status@2", all(Reply(1, 500, b"scripted fault\n".to_vec()))),
        ("refuse@2", all(Unprocessed(1))),
        ("cancel@2", all(Failed(1, ErrorClass::Reset))),
        ("length@2", all(Failed(1, ErrorClass::Protocol))),
        ("repeat@2", all(Failed(1, ErrorClass::Protocol))),
        ("silent@2", vec![right(0, "one."), right(2, "three."), Seen::Cut(Cut::Silence)]),
        ("swap@2", vec![right(0, "one."), right(1, "three."), right(2, "two.")]),
        ("slow@2", all(right(1, "two."))),
        // Of HTTP/2 alone.
        ("pings@2", all(right(1, "two."))),
        ("window@2", all(right(1, "two."))),
    ];
    for (fault, wanted) in cases {
        let server = faulty(fault, None);
        assert_eq!(seen(&server), wanted, "{fault}");
        await_all_gone(&server, 1);
    }
}

#[test]
fn a_fault_of_the_connection_ends_all_that_is_behind_it() {
    let one = right(0, "one.");
    let cut = |why: Cut| vec![one.clone(), Seen::Cut(why)];
    let cases = [
        ("truncate@2", cut(Cut::Broken(ErrorClass::Protocol))),
        ("garbage@2", cut(Cut::Broken(ErrorClass::Protocol))),
        ("reset@2", cut(Cut::Closed(INTERNAL_ERROR))),
        ("close@2", cut(Cut::Closed(NO_ERROR))),
        ("goaway@2", vec![one.clone(), Leaving]),
    ];
    for (fault, wanted) in cases {
        let server = faulty(fault, None);
        let mut found = seen(&server);
        // What is sent behind it may come before it.
        found.retain(|seen| *seen != right(2, "three."));
        assert_eq!(found, wanted, "{fault}");
        await_all_gone(&server, 1);
    }
}

#[test]
fn delays_run_side_by_side() {
    let server = faulty("wrong@1000", Some("0ms,200ms@0.4"));
    let wanted: Vec<Wanted<'_>> = vec![TEXTS[0]; 20];
    let mut line = Line::to(&server, TransportSettings::default());
    let seen = ask_within(&mut line, &wanted, PATIENCE);
    let order: Vec<u64> = seen
        .iter()
        .map(|(seen, _)| match seen {
            Reply(number, 200, _) => *number,
            other => panic!("{other:?}"),
        })
        .collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..20).collect::<Vec<_>>());
    let slow: Vec<_> = seen.iter().filter(|(_, time)| *time >= 200 * MS).collect();
    assert!((1..20).contains(&slow.len()), "{seen:?}");
    assert!(seen[20 - slow.len()..].iter().all(|(_, time)| *time >= 200 * MS), "{seen:?}");
}
