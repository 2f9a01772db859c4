//! HTTP/2 over real sockets: frames out, frames in.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use crate::common::session::{Contents, converse};
use crate::common::{Client, WANTED, assert_answered, faulty, pattern, plan, server};
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request};
use wiretrial_proto::{ClientSession as _, Event, Message};
use wiretrial_respond::{Script, Server, start};

/// Asks for these with one connection, all at once, and gives each reply by its place.
fn ask(
    server: &Server,
    limits: Http2Limits,
    wanted: &[(&str, &str, &[u8])],
) -> Vec<(u16, Vec<u8>)> {
    let requests: Vec<_> = wanted
        .iter()
        .map(|(method, target, _)| {
            let (target, length) = ([HeadPart::Text(target)], PayloadLength::Varying);
            let typed = [("content-type", vec![HeadPart::Text("text/plain")])];
            Http2Request::with_holes("http", method, &target, "a", &typed, false, length).unwrap()
        })
        .collect();
    let mut session = Http2Client::new(Arc::from(requests), limits);
    let mut client = Client::http(server);
    let (mut replies, mut contents) = (vec![(0, Vec::new()); wanted.len()], Contents::default());
    let mut missing = wanted.len();
    let talk = converse(&mut client, &mut session, |session, event, out| {
        match event {
            Event::Open => {
                for (route, (_, _, payload)) in wanted.iter().enumerate() {
                    let number = route as u64;
                    session.encode(&Message { number, route, payload, fill: None }, out);
                }
            }
            Event::Chunk { tag, piece } => contents.add(tag, piece),
            Event::Reply(reply) => {
                let (number, content) = contents.whole(&reply);
                replies[number as usize] = (reply.status, content);
                missing -= 1;
            }
            Event::Room => {}
            other => panic!("{other:?}"),
        }
        missing > 0
    });
    talk.unwrap();
    replies
}

#[test]
fn each_route_answers_as_in_http1() {
    let server = server(Script::default());
    assert_answered(&ask(&server, Http2Limits::default(), &WANTED));
}

#[test]
fn a_client_with_narrow_windows_gets_all_of_it() {
    let server = server(Script::default());
    let long = pattern(200_000);
    let wanted: [(&str, &str, &[u8]); 3] =
        [("GET", "/bytes/3000000", b""), ("POST", "/echo", &long), ("GET", "/bytes/1000000", b"")];
    let limits = Http2Limits { stream_window: 20_000, ..Http2Limits::default() };
    let replies = ask(&server, limits, &wanted);
    assert!(replies[0] == (200, pattern(3_000_000)));
    assert!(replies[1] == (200, long));
    assert!(replies[2] == (200, pattern(1_000_000)));
}

#[test]
fn faults_meet_single_replies() {
    let wanted: [(&str, &str, &[u8]); 3] =
        [("POST", "/echo", b"a"), ("POST", "/echo", b"b"), ("GET", "/bytes/3", b"")];
    let replies = ask(&faulty("wrong@2"), Http2Limits::default(), &wanted);
    let wrong: Vec<_> = replies.iter().map(|(_, content)| &content[..]).collect();
    let right = [&b"a"[..], b"b", b"ABC"];
    assert_eq!(wrong.iter().zip(right).filter(|(wrong, right)| **wrong != *right).count(), 1);
    let replies = ask(&faulty("status@3"), Http2Limits::default(), &wanted);
    assert_eq!(replies.iter().filter(|(status, _)| *status == 500).count(), 1);
}

#[test]
fn what_begins_like_http2_and_goes_on_otherwise_is_answered_as_what_it_is() {
    let server = start(plan(Script::default())).unwrap();
    let mut client = Client::http(&server);
    client.send("PRI");
    client.expect_silence();
    client.send("NT / HTTP/1.1\r\nHost: a\r\n\r\n");
    client.expect("HTTP/1.1 501 Not Implemented\r\n");
}
