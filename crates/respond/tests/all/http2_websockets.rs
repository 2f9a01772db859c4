//! WebSockets on streams of HTTP/2 (RFC 8441), over real sockets.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;
use std::time::Duration;

use crate::common::session::{Contents, Cut, converse, number};
use crate::common::{self, Client, await_all_gone, faulty, pattern, plan, server};
use wiretrial_net::clock::monotonic_ns;
use wiretrial_proto::http2::{Http2Connect, Http2Limits, Http2WebSockets};
use wiretrial_proto::websocket::{DeflateConfig, WebSocketConfig};
use wiretrial_proto::{ClientSession as _, ErrorClass, Event, Message, MessageKind};
use wiretrial_respond::{Script, Server, start};

/// What a client saw.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    /// Of which message, its content.
    Reply(u64, Vec<u8>),
    Failed(u64, ErrorClass),
    Parted(ErrorClass),
    Leaving,
    Broken(ErrorClass),
    Ended,
    Silence,
}

use Seen::{Broken, Ended, Failed, Leaving, Parted, Reply, Silence};

fn config(target: &str, deflate: bool) -> WebSocketConfig {
    WebSocketConfig {
        host: "a".to_owned(),
        target: target.to_owned(),
        headers: Vec::new(),
        subprotocols: Vec::new(),
        kind: MessageKind::Binary,
        max_message: 1 << 30,
        deflate: deflate.then(DeflateConfig::default),
        insists_on_deflate: deflate,
    }
}

/// Sends these messages, one on each of as many WebSockets on one connection, and says what came until
/// so much has, or nothing for a while.
fn ask(server: &Server, config: WebSocketConfig, messages: &[&[u8]], wanted: usize) -> Vec<Seen> {
    let request = Arc::new(Http2Connect::websocket("http", &config).unwrap());
    let (streams, limits) = (messages.len() as u32, Http2Limits::default());
    let mut session = Http2WebSockets::new(Arc::new(config), request, streams, [1, 2], limits);
    let mut client = Client::http(server);
    client.0.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let (mut seen, mut contents) = (Vec::new(), Contents::default());
    let talk = converse(&mut client, &mut session, |session, event, out| {
        match event {
            Event::Open => {
                for (place, message) in messages.iter().enumerate() {
                    session.encode(&Message::new(place as u64, message), out);
                }
            }
            Event::Chunk { tag, piece } => contents.add(tag, piece),
            Event::Reply(reply) => {
                let (number, whole) = contents.whole(&reply);
                seen.push(Reply(number, whole));
            }
            Event::Failed { tag, error } => seen.push(Failed(number(tag), error.class)),
            Event::Parted(error) => seen.push(Parted(error.class)),
            Event::Leaving => seen.push(Leaving),
            Event::Room => {}
            other => panic!("{other:?}"),
        }
        seen.len() < wanted
    });
    match talk {
        Ok(()) => {
            let mut out = Vec::new();
            session.close(&mut out);
            client.send(&out);
        }
        Err(Cut::Ended) => seen.push(Ended),
        Err(Cut::Silence) => seen.push(Silence),
        Err(Cut::Broken(class)) => seen.push(Broken(class)),
    }
    seen
}

fn echoes(messages: &[&[u8]]) -> Vec<Seen> {
    (0..).zip(messages).map(|(place, message)| Reply(place, message.to_vec())).collect()
}

#[test]
fn messages_come_back_on_many_streams_of_one_connection() {
    let server = server(Script::default());
    let long = pattern(1_000_000);
    let lengths = [0, 1, 125, 126, 127, 16_384, 65_535, 65_536, 1_000_000];
    let messages: Vec<&[u8]> = lengths.iter().map(|length| &long[..*length]).collect();
    let mut seen = ask(&server, config("/chat", false), &messages, messages.len());
    seen.sort_by_key(|seen| match seen {
        Reply(number, _) => *number,
        _ => u64::MAX,
    });
    assert!(seen == echoes(&messages));
    await_all_gone(&server, 1);
    assert_eq!(server.stats().requests, 9);
}

#[test]
fn messages_are_compressed_where_both_sides_agree() {
    let mut plan = plan(Script::default());
    plan.deflate = Some(DeflateConfig::default());
    let server = start(plan).unwrap();
    let messages: [&[u8]; 2] = [&[b'x'; 10_000], b"short"];
    let mut seen = ask(&server, config("/", true), &messages, 2);
    seen.sort_by_key(|seen| matches!(seen, Reply(1, _)));
    assert_eq!(seen, echoes(&messages));
    let none = common::server(Script::default());
    let seen = ask(&none, config("/", true), &messages, 2);
    assert_eq!(seen, [Broken(ErrorClass::Upgrade)], "it has none");
}

#[test]
fn routes_with_a_protocol_on_top_are_refused() {
    let server = server(Script::default());
    for target in ["/socket", "/socket.io/", "/broadcast"] {
        let seen = ask(&server, config(target, false), &[b"x"], 1);
        assert_eq!(seen, [Broken(ErrorClass::Upgrade)], "{target}");
    }
}

#[test]
fn each_reply_has_its_own_delay() {
    let server = server(Script { delay: Some("50ms".parse().unwrap()), ..Script::default() });
    let begin = monotonic_ns();
    let seen = ask(&server, config("/", false), &[b"one", b"two"], 2);
    assert_eq!(seen, echoes(&[b"one", b"two"]));
    assert!(monotonic_ns() - begin >= 50_000_000);
}

#[test]
fn a_websocket_stands_as_late_as_the_script_says() {
    let server = server(Script { upgrade_delay: 60_000_000, ..Script::default() });
    let begin = monotonic_ns();
    let mut seen = ask(&server, config("/", false), &[b"one", b"two"], 2);
    seen.sort_by_key(|seen| matches!(seen, Reply(1, _)));
    assert_eq!(seen, echoes(&[b"one", b"two"]));
    assert!(monotonic_ns() - begin >= 60_000_000);
    await_all_gone(&server, 1);
    assert_eq!(server.stats().requests, 2, "it is no reply");
}

#[test]
fn faults_are_those_of_one_websocket() {
    let (one, two): (&[u8], &[u8]) = (b"one", b"two");
    let replied = |number, text: &[u8]| Reply(number, text.to_vec());
    let cases: [(&str, Vec<Seen>); 8] = [
        ("wrong@2", vec![replied(0, one), replied(1, b"twn")]),
        // There is no later reply to change places with: the previous one comes again.
        ("swap@2", vec![replied(0, one), replied(1, one)]),
        ("refuse@2", vec![replied(0, one), Failed(1, ErrorClass::Reset)]),
        ("cancel@2", vec![replied(0, one), Failed(1, ErrorClass::Reset)]),
        ("silent@2", vec![replied(0, one), Silence]),
        ("slow@2", vec![replied(0, one), replied(1, two)]),
        ("goaway@2", vec![replied(0, one), Leaving]),
        ("close@2", vec![replied(0, one), Ended]),
    ];
    for (fault, wanted) in cases {
        let server = faulty(fault);
        let seen = ask(&server, config("/", false), &[one, two], 2);
        assert_eq!(seen, wanted, "{fault}");
    }
}

#[test]
fn a_server_that_stops_says_so_on_each_stream() {
    let server = server(Script::default());
    let asked = std::thread::spawn({
        let address = server.addresses().http[0];
        move || {
            let mut client = Client::connect(address);
            let config = config("/", false);
            let request = Arc::new(Http2Connect::websocket("http", &config).unwrap());
            let limits = Http2Limits::default();
            let mut session = Http2WebSockets::new(Arc::new(config), request, 2, [1, 2], limits);
            let mut parted = Vec::new();
            let talk = converse(&mut client, &mut session, |_, event, _| {
                if let Event::Parted(error) = event {
                    parted.push(error.class);
                }
                parted.len() < 2
            });
            assert_eq!(talk, Ok(()), "{parted:?}");
            parted
        }
    });
    while server.stats().accepted == 0 {
        std::thread::park_timeout(Duration::from_millis(5));
    }
    std::thread::park_timeout(Duration::from_millis(300));
    server.stop().unwrap();
    assert_eq!(asked.join().unwrap(), [ErrorClass::Closed, ErrorClass::Closed]);
}
