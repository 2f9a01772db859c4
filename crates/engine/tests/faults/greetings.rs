//! Rows about servers that speak first: a greeting is no reply, and is named or read.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use wiretrial_load::{Refusal, RunError};

use crate::certificates::Certificate;
use crate::outcome::{Outcome, checked, run};
use crate::scene::{pollers, server_config};
use crate::scripted::Scripted;
use crate::scripted::Step::{self, Finish, Open, Pause, Read, Send, Serve};
use crate::speech::{BINARY, Speech, TEXT, close_frame, frame};

const MS: u64 = 1_000_000;
const WELCOME: &[u8] = b"welcome,\nno. 1";

/// A server that greets so often, in one write with the upgrade's answer or in one of its own.
fn greeter(scheme: &str, certificate: &Certificate, script: Vec<Step>) -> Scripted {
    let config = (scheme == "wss" || scheme == "tls").then(|| server_config(certificate));
    Scripted::start(Speech::of(scheme), config, vec![script])
}

fn welcome(count: usize) -> Vec<Step> {
    let greetings = (0..count).map(|_| Send(frame(TEXT, WELCOME)));
    [Open].into_iter().chain(greetings).chain([Serve]).collect()
}

fn plan(scheme: &str, server: &Scripted, certificate: &Certificate, poller: &str) -> Value {
    let tls = if scheme == "wss" || scheme == "tls" {
        json!({"ca_file": certificate.cert, "server_name": "localhost"})
    } else {
        json!({})
    };
    json!({
        "schema": "wiretrial-plan",
        "version": 1,
        "target": {
            "url": format!("{scheme}://{}/", server.address()),
            "message": {"source": {"from": "sequence", "bytes": 20}},
            "tls": tls,
        },
        "load": {"connections": 3, "depth": 2},
        "stop": {"requests": 60},
        "phases": {"connect_ns": 40_000 * MS},
        "generator": {"poller": poller},
    })
}

/// A server that the machine keeps from running may greet too late to be told apart: it is tried again.
const TRIES: usize = 20;

fn refused(plan: &Value, begin: &str, says: &[&str]) {
    let refused_once = || match run(plan) {
        Err(RunError::Refused(Refusal::Target { class, message })) => (class.name(), message),
        other => panic!("not refused: {other:?}"),
    };
    let (class, message) = (0..TRIES)
        .map(|_| refused_once())
        .find(|(class, _)| *class == begin)
        .unwrap_or_else(refused_once);
    assert_eq!(class, begin, "{message}");
    assert!(!message.contains('\n'), "{message}");
    assert!(says.iter().all(|part| message.contains(part)), "{message}");
}

/// For each poller and these schemes.
fn each(schemes: &[&str], check: impl Fn(&str, &str, &Certificate)) {
    let certificate = Certificate::new("localhost", |_| {});
    for scheme in schemes {
        for poller in pollers() {
            check(scheme, &poller, &certificate);
        }
    }
}

#[test]
fn a_greeting_is_named_with_what_it_says_and_the_remedy() {
    each(&["ws", "wss"], |scheme, poller, certificate| {
        for (count, content) in [(1, "echo"), (2, "learned")] {
            let server = greeter(scheme, certificate, welcome(count));
            let mut plan = plan(scheme, &server, certificate, poller);
            plan["target"]["expect"] = json!({"content": {"is": content}});
            let option = format!("--greetings {count}");
            refused(&plan, "protocol", &["'welcome,\\nno. 1'", "before it was asked", &option]);
        }
    });
}

#[test]
fn a_byte_stream_that_speaks_first_is_named() {
    each(&["tcp", "tls"], |scheme, poller, certificate| {
        let script = vec![Send(b"220 ready\r\n".to_vec()), Serve];
        let server = greeter(scheme, certificate, script);
        let plan = plan(scheme, &server, certificate, poller);
        refused(&plan, "protocol", &["'220 ready\\r\\n'", "before it was asked", "byte stream"]);
    });
}

#[test]
fn greetings_that_are_expected_are_read_and_counted_and_are_no_replies() {
    each(&["ws", "wss"], |scheme, poller, certificate| {
        let mut script = welcome(1);
        // One in pieces, and like an echo.
        let pieces = [frame(0x02, b"0000000000000000"), frame(0x80, b"abcd")].concat();
        script.insert(2, Send(pieces));
        let server = greeter(scheme, certificate, script);
        let mut plan = plan(scheme, &server, certificate, poller);
        plan["target"]["websocket"] = json!({"greetings": 2});
        let all_right = |outcome: &Outcome| {
            assert_eq!(outcome.summary.counters.ok, 60);
            assert!(outcome.errors().is_empty(), "{:?}", outcome.summary.examples);
            let opened = outcome.summary.connections.opened;
            assert_eq!(outcome.summary.counters.greetings, 2 * opened);
            opened
        };
        assert_eq!(all_right(&checked(&plan)), 3);
        plan["load"] = json!({"connections": 3, "requests_per_connection": 5});
        assert!(all_right(&checked(&plan)) >= 12);
        plan["target"]["expect"] = json!({"content": {"is": "broadcast"}});
        plan["load"] = json!({"connections": 1});
        assert_eq!(all_right(&checked(&plan)), 1);
    });
}

#[test]
fn a_goodbye_in_place_of_a_greeting_is_a_failed_attempt() {
    each(&["ws"], |scheme, poller, certificate| {
        // The first connection is the preflight's.
        let author = |number| match number {
            1 => vec![Open, Send(frame(TEXT, WELCOME)), Send(close_frame(1012)), Finish],
            _ => welcome(2),
        };
        let server = Scripted::written_by(Speech::WebSocket, None, Box::new(author));
        let mut plan = plan(scheme, &server, certificate, poller);
        plan["load"]["connections"] = json!(1);
        plan["target"]["websocket"] = json!({"greetings": 2});
        let connections = checked(&plan).summary.connections;
        assert_eq!((connections.attempted, connections.opened), (2, 1));
        assert_eq!(connections.failed, BTreeMap::from([("closed".to_owned(), 1)]));
        assert_eq!(connections.closed, BTreeMap::new());
    });
}

#[test]
fn greetings_that_do_not_come_are_missed() {
    each(&["ws"], |scheme, poller, certificate| {
        let server = greeter(scheme, certificate, welcome(1));
        let mut plan = plan(scheme, &server, certificate, poller);
        plan["target"]["websocket"] = json!({"greetings": 2});
        plan["phases"]["connect_ns"] = json!(600 * MS);
        refused(&plan, "timeout", &["1 of 2 greetings", "--greetings 1"]);
    });
}

/// The first connection is the preflight's, to which the server is as it should be. The third one
/// never stands, so that the load never begins.
fn not_connected(script: &[Step], class: &str, says: &[&str]) {
    each(&["ws"], |scheme, poller, certificate| {
        let script = script.to_vec();
        let author = move |number| match number {
            0 => vec![Open, Serve],
            2 => vec![Pause(Duration::from_millis(2500))],
            _ => script.clone(),
        };
        let server = Scripted::written_by(Speech::WebSocket, None, Box::new(author));
        let mut plan = plan(scheme, &server, certificate, poller);
        plan["load"]["connections"] = json!(2);
        plan["phases"]["connect_ns"] = json!(2000 * MS);
        match run(&plan) {
            Err(RunError::Worker { class: found, message }) => {
                assert_eq!(found.name(), class, "{message}");
                assert!(message.contains("of 2 connections stood"), "{message}");
                assert!(says.iter().all(|part| message.contains(part)), "{message}");
            }
            other => panic!("not refused: {other:?}"),
        }
    });
}

#[test]
fn connections_that_end_before_they_are_asked_say_why() {
    let greets = vec![Open, Send(frame(BINARY, WELCOME)), Read];
    not_connected(&greets, "protocol", &["'welcome,\\nno. 1'", "--greetings"]);
    let leaves = vec![Open, Send(close_frame(1013)), Finish];
    not_connected(&leaves, "closed", &["closed with code 1013"]);
    let ends = vec![Open, Finish];
    not_connected(&ends, "closed", &["the server closed"]);
}
