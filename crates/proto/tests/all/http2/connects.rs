//! CONNECT with a protocol (RFC 8441), as a server takes it.

use wiretrial_proto::Scratch;
use wiretrial_proto::http2::{Http2Limits, Http2Server, PREFACE};

use super::frames::*;
use super::server::check;

/// What a server sees of a request with these fields, and what it says to it.
fn server(enabled: bool, fields: &[&str]) -> (Vec<String>, Vec<String>) {
    let limits = Http2Limits { connect_protocol: enabled, ..Http2Limits::default() };
    let seen = check(limits, &headers(0, 1, fields));
    (seen.events, told(&seen.out).split_off(3))
}

#[test]
fn a_server_takes_connect_with_a_protocol_where_it_has_said_so() {
    let good = [
        ":method=CONNECT",
        ":protocol=websocket",
        ":scheme=https",
        ":path=/chat",
        ":authority=h",
        "sec-websocket-version=13",
    ];
    assert_eq!(server(true, &good).0, ["1: connect true true"]);
    let none = (vec!["1: gone".to_owned()], vec!["1: reset 1".to_owned()]);
    assert_eq!(server(false, &good), none, "it was not enabled");
    let with = |name: &str, value: &str| -> Vec<String> {
        let pairs = good.iter().map(|it| match it.strip_prefix(name) {
            Some(_) => format!("{name}{value}"),
            None => (*it).to_owned(),
        });
        pairs.filter(|it| !it.ends_with("=-")).collect()
    };
    for (name, value, wanted) in [
        (":protocol", "=chat", "1: connect false true"),
        ("sec-websocket-version", "=8", "1: connect true false"),
        ("sec-websocket-version", "=-", "1: connect true false"),
    ] {
        let fields = with(name, value);
        let fields: Vec<_> = fields.iter().map(String::as_str).collect();
        assert_eq!(server(true, &fields).0, [wanted], "{name}{value}");
    }
    for (name, value) in [
        (":method", "=GET"),
        (":scheme", "=-"),
        (":path", "=-"),
        (":path", "="),
        (":authority", "=-"),
        (":protocol", "=-"),
    ] {
        let fields = with(name, value);
        let fields: Vec<_> = fields.iter().map(String::as_str).collect();
        assert_eq!(server(true, &fields), none, "{name}{value}");
    }
    let twice = [&good[..2], &[":protocol=websocket"], &good[2..]].concat();
    assert_eq!(server(true, &twice), none);
    let behind = [&good[..1], &good[2..], &[":protocol=websocket"]].concat();
    assert_eq!(server(true, &behind), none);
}

#[test]
fn a_server_says_that_it_takes_them() {
    let mut out = Vec::new();
    let limits = Http2Limits { connect_protocol: true, ..Http2Limits::default() };
    Http2Server::new(limits).receive(PREFACE, &mut Scratch::new(), &mut out).unwrap();
    assert!(out.windows(6).any(|it| it == [0, 8, 0, 0, 0, 1]));
}
