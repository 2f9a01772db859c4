//! Delays and stalls: lower bounds, because upper ones are the machine's.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::common::{
    Client, End, GET_MESSAGE, SWITCHED, UPGRADE, masked, message_answer, server, unmasked,
};
use wiretrial_net::clock::monotonic_ns;
use wiretrial_respond::Script;

const MS: u64 = 1_000_000;

fn delayed(delay: &str) -> Script {
    Script { delay: Some(delay.parse().unwrap()), seed: 7, ..Script::default() }
}

fn stalled(stall: &str) -> Script {
    Script { stall: Some(stall.parse().unwrap()), ..Script::default() }
}

/// Nanoseconds from the request to its whole answer.
fn round_trip(client: &mut Client) -> u64 {
    let begin = monotonic_ns();
    client.send(GET_MESSAGE);
    client.expect(message_answer());
    monotonic_ns() - begin
}

#[test]
fn every_answer_takes_at_least_the_delay() {
    let server = server(delayed("5ms"));
    let mut client = Client::http(&server);
    let mut raw = Client::tcp(&server);
    let mut websocket = Client::websocket(&server);
    for _ in 0..20 {
        assert!(round_trip(&mut client) >= 5 * MS);
        let begin = monotonic_ns();
        raw.send("x");
        raw.expect("x");
        assert!(monotonic_ns() - begin >= 5 * MS);
        let begin = monotonic_ns();
        websocket.send(masked(0x81, b"x"));
        websocket.expect(unmasked(0x81, b"x"));
        assert!(monotonic_ns() - begin >= 5 * MS);
    }
}

#[test]
fn an_upgrade_takes_at_least_its_delay_and_what_is_behind_it_comes_behind_it() {
    let server = server(Script { upgrade_delay: 60 * MS, ..Script::default() });
    let mut client = Client::http(&server);
    let begin = monotonic_ns();
    client.send([GET_MESSAGE.as_bytes(), UPGRADE.as_bytes(), &masked(0x81, b"x")].concat());
    client.expect(message_answer());
    client.expect(SWITCHED);
    assert!(monotonic_ns() - begin >= 60 * MS);
    client.expect(unmasked(0x81, b"x"));
    assert_eq!(server.stats().requests, 2, "it is no reply");
}

#[test]
fn a_share_of_the_answers_takes_the_rare_delay() {
    let count = |seed| {
        let server = server(Script { seed, ..delayed("1ms,100ms@0.2") });
        let mut client = Client::http(&server);
        let times: Vec<bool> = (0..50).map(|_| round_trip(&mut client) >= 100 * MS).collect();
        times.into_iter().filter(|slow| *slow).count()
    };
    // Which of them it is depends on the seed alone; a slow machine can only add some.
    let (first, second) = (count(7), count(7));
    assert!(first >= 1 && second >= 1, "{first} {second}");
    assert!(first < 50 && second < 50, "{first} {second}");
}

#[test]
fn the_end_is_delayed_with_the_answer() {
    let server = server(delayed("20ms"));
    let mut client = Client::http(&server);
    let begin = monotonic_ns();
    client.send("GET /status/204 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let (answer, end) = client.rest();
    assert!(monotonic_ns() - begin >= 20 * MS);
    assert!(answer.starts_with(b"HTTP/1.1 204 "));
    assert_eq!(end, End::Fin);
}

#[test]
fn a_client_that_finished_sending_gets_its_delayed_answers() {
    let server = server(delayed("20ms"));
    let mut client = Client::tcp(&server);
    client.send("x");
    client.0.shutdown(std::net::Shutdown::Write).unwrap();
    client.expect("x");
    client.expect_end(End::Fin);
}

#[test]
fn a_stall_freezes_everybody_for_as_long_as_it_says() {
    let server = server(stalled("at:100ms/300ms"));
    let mut client = Client::http(&server);
    let begin = monotonic_ns();
    round_trip(&mut client);
    let mut answered = Vec::new();
    while monotonic_ns() - begin < 600 * MS {
        round_trip(&mut client);
        answered.push(monotonic_ns());
    }
    // Some answer came before the freeze, so the widest gap holds all of it.
    let gap = answered.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    assert!(gap >= 290 * MS, "{gap}");
}

#[test]
fn stalls_come_back() {
    let server = server(stalled("200ms/100ms"));
    let mut client = Client::tcp(&server);
    let begin = monotonic_ns();
    let mut gaps = 0;
    while monotonic_ns() - begin < 1100 * MS {
        let sent = monotonic_ns();
        client.send("x");
        client.expect("x");
        gaps += u32::from(monotonic_ns() - sent >= 90 * MS);
    }
    // At 200, 400, 600, 800 and 1000 ms; a pause of the machine may hide one, or look like one.
    assert!(gaps >= 3, "{gaps}");
}

#[test]
fn a_frozen_server_stops_at_once() {
    let server = server(stalled("at:0s/60s"));
    let mut client = Client::http(&server);
    round_trip(&mut client);
    client.send(GET_MESSAGE);
    client.expect_silence();
    let begin = monotonic_ns();
    server.stop().unwrap();
    assert!(monotonic_ns() - begin < 30_000 * MS);
}
