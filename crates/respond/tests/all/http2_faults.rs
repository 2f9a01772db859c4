//! Delays and faults of HTTP/2, each on its own stream, as a client sees them.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;
use std::time::Duration;

use crate::common::session::{Contents, Cut, converse, number};
use crate::common::{Client, await_all_gone, faulty, pattern, server};
use wiretrial_net::clock::monotonic_ns;
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request};
use wiretrial_proto::{ClientSession as _, ErrorClass, Event, Message};
use wiretrial_respond::{Script, Server};

const MS: u64 = 1_000_000;
/// As long as one can wait to be sure that nothing comes.
const SILENCE: Duration = Duration::from_millis(300);

/// What a client saw.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    /// Of which message, its content.
    Reply(u64, String),
    /// Another status than 200.
    Status(u64, u16),
    /// Of which message, after so much content.
    Failed(u64, ErrorClass, usize),
    Unprocessed(u64),
    /// The connection.
    Broken(ErrorClass),
    Leaving,
    /// So many streams are allowed.
    Room(u32),
    /// FIN or RST.
    Ended,
    /// Nothing more came.
    Silence,
}

use Seen::{Broken, Ended, Failed, Leaving, Reply, Room, Silence, Status, Unprocessed};

/// Posts these texts at once on one connection, and what comes of it, with the time since then.
fn post(server: &Server, texts: &[&str]) -> Vec<(Seen, u64)> {
    let wanted: Vec<_> = texts.iter().map(|text| ("POST", "/echo", text.as_bytes())).collect();
    ask(server, &wanted)
}

fn seen(server: &Server, texts: &[&str]) -> Vec<Seen> {
    post(server, texts).into_iter().map(|(seen, _)| seen).collect()
}

fn right(number: u64, text: &str) -> Seen {
    Reply(number, text.to_owned())
}

fn ask(server: &Server, wanted: &[(&str, &str, &[u8])]) -> Vec<(Seen, u64)> {
    let requests: Vec<_> = wanted
        .iter()
        .map(|(method, target, _)| {
            let (target, length) = ([HeadPart::Text(target)], PayloadLength::Varying);
            Http2Request::with_holes("http", method, &target, "a", &[], false, length).unwrap()
        })
        .collect();
    let mut session = Http2Client::new(Arc::from(requests), Http2Limits::default());
    let mut client = Client::http(server);
    client.0.set_read_timeout(Some(SILENCE)).unwrap();
    let (mut seen, mut begin) = (Vec::new(), monotonic_ns());
    let (mut contents, mut missing) = (Contents::default(), wanted.len());
    let talk = converse(&mut client, &mut session, |session, event, out| {
        let what = match event {
            Event::Open => {
                begin = monotonic_ns();
                for (route, (_, _, payload)) in wanted.iter().enumerate() {
                    let number = route as u64;
                    session.encode(&Message { number, route, payload, fill: None }, out);
                }
                return missing > 0;
            }
            Event::Chunk { tag, piece } => {
                contents.add(tag, piece);
                return missing > 0;
            }
            Event::Reply(reply) => {
                missing -= 1;
                let (number, content) = contents.whole(&reply);
                match reply.status {
                    200 => Reply(number, String::from_utf8(content).unwrap()),
                    status => Status(number, status),
                }
            }
            Event::Failed { tag, error } => {
                missing -= 1;
                Failed(number(tag), error.class, contents.taken(tag).len())
            }
            Event::Unprocessed { tag } => {
                missing -= 1;
                Unprocessed(number(tag))
            }
            Event::Leaving => {
                missing = 0;
                Leaving
            }
            Event::Room => Room(session.room()),
            other => panic!("{other:?}"),
        };
        seen.push((what, monotonic_ns() - begin));
        missing > 0
    });
    if let Err(cut) = talk {
        let what = match cut {
            Cut::Ended => Ended,
            Cut::Silence => Silence,
            Cut::Broken(class) => Broken(class),
        };
        seen.push((what, monotonic_ns() - begin));
    }
    seen
}

#[test]
fn delays_run_side_by_side_and_the_quick_ones_come_first() {
    let delay = Some("0ms,200ms@0.4".parse().unwrap());
    let server = server(Script { delay, seed: 7, ..Script::default() });
    let texts: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let seen = post(&server, &texts);
    assert_eq!(seen.len(), 20, "{seen:?}");
    let order: Vec<u64> = seen
        .iter()
        .map(|(seen, _)| match seen {
            Reply(number, text) if *text == number.to_string() => *number,
            other => panic!("{other:?}"),
        })
        .collect();
    let quick = order.windows(2).take_while(|pair| pair[0] < pair[1]).count() + 1;
    assert!((1..20).contains(&quick), "some are slow: {order:?}");
    // Behind the quick ones come the slow ones, which waited side by side.
    assert!(order[quick..].windows(2).all(|pair| pair[0] < pair[1]), "{order:?}");
    assert!(seen[quick..].iter().all(|(_, time)| *time >= 200 * MS), "{seen:?}");
}

#[test]
fn a_fault_of_a_stream_is_that_streams_alone() {
    let texts = ["one.", "two.", "three."];
    let all = |second: Seen| vec![right(0, "one."), second, right(2, "three.")];
    let cases = [
        ("wrong@2", all(right(1, "two/"))),
        ("status@2", all(Status(1, 500))),
        ("refuse@2", all(Unprocessed(1))),
        ("cancel@2", all(Failed(1, ErrorClass::Reset, 2))),
        ("length@2", all(Failed(1, ErrorClass::Protocol, 0))),
        ("silent@2", vec![right(0, "one."), right(2, "three."), Silence]),
        ("swap@2", vec![right(0, "one."), right(1, "three."), right(2, "two.")]),
        ("pings@2", all(right(1, "two."))),
        ("settings@2", all(right(1, "two."))),
    ];
    for (fault, wanted) in cases {
        assert_eq!(seen(&faulty(fault), &texts), wanted, "{fault}");
    }
}

#[test]
fn a_fault_of_the_connection_ends_all_that_is_behind_it() {
    let texts = ["one.", "two.", "three."];
    let one = right(0, "one.");
    let cases = [
        ("truncate@2", vec![one.clone(), Ended]),
        ("reset@2", vec![one.clone(), Ended]),
        ("close@2", vec![one.clone(), Ended]),
        ("garbage@2", vec![one.clone(), Broken(ErrorClass::Protocol)]),
        ("repeat@2", vec![one.clone(), right(1, "two."), Broken(ErrorClass::Protocol)]),
        ("headers@2", vec![one.clone(), Broken(ErrorClass::HeaderTooLarge)]),
        ("bomb@2", vec![one.clone(), Broken(ErrorClass::HeaderTooLarge)]),
        ("goaway@2", vec![one, Leaving]),
    ];
    for (fault, wanted) in cases {
        let mut found = seen(&faulty(fault), &texts);
        if fault == "reset@2" && found == [Ended] {
            // A reset overtakes what was sent before it.
            found.insert(0, right(0, "one."));
        }
        assert_eq!(found, wanted, "{fault}");
    }
}

#[test]
fn a_server_that_leaves_answers_what_came_before() {
    let script = Script {
        delay: Some("100ms".parse().unwrap()),
        faults: vec!["goaway@3".parse().unwrap()],
        ..Script::default()
    };
    let server = server(script);
    let found: Vec<_> = post(&server, &["one.", "two.", "three.", "four."]);
    // All are due at once: the first two in their order, then the one in whose place it leaves.
    let what: Vec<_> = found.iter().map(|(seen, _)| seen.clone()).collect();
    assert_eq!(what, [right(0, "one."), right(1, "two."), Leaving]);
    await_all_gone(&server, 1);
}

#[test]
fn a_slow_reply_goes_byte_by_byte_and_the_others_go_on() {
    let found = post(&faulty("slow@1"), &["0123456789"]);
    assert_eq!(found[0].0, right(0, "0123456789"));
    // Nine pauses between ten bytes.
    assert!(found[0].1 >= 90 * MS, "{found:?}");
    let found = seen(&faulty("slow@2"), &["one.", "twotwotwo", "three."]);
    assert_eq!(found, [right(0, "one."), right(2, "three."), right(1, "twotwotwo")]);
}

#[test]
fn a_swap_without_another_reply_sends_the_previous_one_again() {
    let server = faulty("swap@2");
    assert_eq!(seen(&server, &["one."]), [right(0, "one.")]);
    // Another connection has no previous one: the next reply is tried.
    assert_eq!(seen(&server, &["two."]), [right(0, "two.")]);
    let found = seen(&faulty("swap@3"), &["one.", "two.", "three."]);
    assert_eq!(found, [right(0, "one."), right(1, "two."), right(2, "two.")]);
}

#[test]
fn a_limit_is_lowered_before_a_reply() {
    // The setting comes before the reply behind which it is scripted.
    let found = seen(&faulty("streams@2"), &["one.", "two.", "three."]);
    assert_eq!(found, [right(0, "one."), Room(1), right(1, "two."), right(2, "three.")]);
}

#[test]
fn long_replies_are_cut_and_otherwise_whole() {
    let wanted: [(&str, &str, &[u8]); 2] =
        [("GET", "/bytes/300000", b""), ("GET", "/chunked/300000", b"")];
    let found = ask(&faulty("cancel@1"), &wanted);
    for (number, (seen, _)) in (0..).zip(&found) {
        let Failed(of, ErrorClass::Reset, content) = *seen else { panic!("{seen:?}") };
        assert!(of == number && (10_000..100_000).contains(&content), "{seen:?}");
    }
    let whole = String::from_utf8(pattern(300_000)).unwrap();
    for fault in ["swap@2", "repeat@2", "slow@2"] {
        let mut found: Vec<_> = ask(&faulty(fault), &wanted).into_iter().map(|it| it.0).collect();
        found.sort_by_key(|seen| matches!(seen, Reply(1, _)));
        assert!(found == [Reply(0, whole.clone()), Reply(1, whole.clone())], "{fault}");
    }
}

#[test]
fn whatever_went_wrong_who_leaves_is_let_go() {
    let kinds = "wrong swap repeat truncate reset close silent garbage slow status refuse cancel \
                 goaway length pings settings headers bomb streams window";
    for kind in kinds.split_whitespace() {
        let server = faulty(&format!("{kind}@2"));
        seen(&server, &["one.", "two.", "three."]);
        await_all_gone(&server, 1);
    }
}
