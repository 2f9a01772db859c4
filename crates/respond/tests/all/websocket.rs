//! The WebSocket echo, byte by byte, over real sockets.

use crate::common::{self, Client, End, SWITCHED, UPGRADE, masked, pattern, server, unmasked};
use wiretrial_respond::{Script, ServerPlan, start};

const TEXT: u8 = 0x81;
const BINARY: u8 = 0x82;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;

#[test]
fn messages_of_each_length_come_back_as_one_frame() {
    let server = server(Script::default());
    let mut client = Client::websocket(&server);
    client.send(masked(TEXT, b"Hello"));
    client.expect([TEXT, 5, b'H', b'e', b'l', b'l', b'o']);
    for length in [0, 1, 125, 126, 127, 65_535, 65_536, 1_000_000] {
        let payload = pattern(length);
        client.send(masked(BINARY, &payload));
        client.expect(unmasked(BINARY, &payload));
    }
    assert_eq!(server.stats().requests, 9);
}

#[test]
fn frames_behind_the_upgrade_are_not_lost() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send([UPGRADE.as_bytes(), &masked(TEXT, b"at once")].concat());
    client.expect(SWITCHED);
    client.expect(unmasked(TEXT, b"at once"));
}

#[test]
fn an_upgrade_may_follow_other_requests() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send([common::GET_MESSAGE, UPGRADE].concat());
    client.expect(common::message_answer());
    client.expect(SWITCHED);
}

#[test]
fn an_upgrade_waits_for_the_answers_before_it() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    let get = "GET /bytes/3000000 HTTP/1.1\r\nHost: a\r\n\r\n";
    client.send([get.as_bytes(), UPGRADE.as_bytes(), &masked(TEXT, b"behind it")].concat());
    client.expect(common::bytes_head(3_000_000));
    client.expect(pattern(3_000_000));
    client.expect(SWITCHED);
    client.expect(unmasked(TEXT, b"behind it"));
    assert_eq!(server.stats().requests, 2);
}

#[test]
fn a_message_may_come_byte_by_byte() {
    let server = server(Script::default());
    let mut client = Client::websocket(&server);
    for byte in masked(TEXT, b"slowly") {
        client.send([byte]);
    }
    client.expect(unmasked(TEXT, b"slowly"));
}

#[test]
fn many_messages_at_once_come_back_in_order() {
    let server = server(Script::default());
    let mut client = Client::websocket(&server);
    let texts: Vec<String> = (0..1000).map(|n| format!("message {n}")).collect();
    let sent: Vec<u8> = texts.iter().flat_map(|text| masked(TEXT, text.as_bytes())).collect();
    client.send(sent);
    for text in texts {
        client.expect(unmasked(TEXT, text.as_bytes()));
    }
}

#[test]
fn fragments_come_back_as_fragments_and_pings_between_them_are_answered() {
    let server = server(Script::default());
    let mut client = Client::websocket(&server);
    client.send(masked(0x01, b"Hel"));
    client.expect(unmasked(0x01, b"Hel"));
    client.send(masked(PING, b"alive?"));
    client.expect(unmasked(PONG, b"alive?"));
    client.send(masked(0x80, b"lo"));
    client.expect(unmasked(0x00, b"lo"));
    client.expect(unmasked(0x80, b""));
    client.send([masked(0x02, b""), masked(0x80, b"")].concat());
    client.expect(unmasked(BINARY, b""));
}

#[test]
fn a_ping_is_no_message() {
    let server = server(Script::default());
    let mut client = Client::websocket(&server);
    client.send(masked(PING, b"?"));
    client.expect(unmasked(PONG, b"?"));
    assert_eq!(server.stats().requests, 0);
}

#[test]
fn a_close_is_answered_and_the_connection_ends() {
    let server = server(Script::default());
    let mut client = Client::websocket(&server);
    client.send([masked(TEXT, b"last"), masked(CLOSE, &[0x03, 0xe8])].concat());
    client.expect(unmasked(TEXT, b"last"));
    client.expect(unmasked(CLOSE, &[0x03, 0xe8]));
    client.expect_end(End::Fin);
}

#[test]
fn what_is_forbidden_is_answered_with_its_code() {
    let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let plan = ServerPlan { http: vec![any], max_message: 1000, ..ServerPlan::default() };
    let server = start(plan).unwrap();
    let table: [(Vec<u8>, u16); 7] = [
        (unmasked(TEXT, b"not masked"), 1002),
        (masked(0xc1, b"reserved bit"), 1002),
        (masked(0x83, b"no such opcode"), 1002),
        (masked(0x80, b"continues nothing"), 1002),
        (masked(TEXT, &[0xff]), 1007),
        (masked(TEXT, b"cut: \xce"), 1007),
        (masked(BINARY, &pattern(1001)), 1009),
    ];
    for (frame, code) in table {
        let mut client = Client::websocket(&server);
        client.send(&frame);
        let (got, end) = client.rest();
        assert_eq!(got, unmasked(CLOSE, &code.to_be_bytes()), "{code}");
        assert_eq!(end, End::Fin, "{code}");
    }
}

#[test]
fn no_close_frame_lands_inside_another_frame() {
    let server = server(Script::default());
    let mut client = Client::websocket(&server);
    let frame = masked(TEXT, b"good, then bad: \xff and more");
    client.send(&frame[..6 + 10]);
    client.expect(&unmasked(TEXT, b"good, then bad: \xff and more")[..2 + 10]);
    client.send(&frame[6 + 10..]);
    client.expect_end(End::Fin);
}

#[test]
fn a_text_that_ends_inside_a_character_is_not_echoed_whole() {
    let server = server(Script::default());
    let mut client = Client::websocket(&server);
    let frame = masked(TEXT, b"cut: \xce");
    client.send(&frame[..6 + 5]);
    client.expect(&unmasked(TEXT, b"cut: \xce")[..2 + 5]);
    client.send(&frame[6 + 5..]);
    client.expect_end(End::Fin);
}

#[test]
fn what_was_answered_before_something_forbidden_still_comes() {
    let server = server(Script::default());
    let mut client = Client::websocket(&server);
    client.send([masked(TEXT, b"good"), masked(PING, b"?"), masked(TEXT, b"bad \xff")].concat());
    client.expect(unmasked(TEXT, b"good"));
    client.expect(unmasked(PONG, b"?"));
    client.expect(unmasked(CLOSE, &1007_u16.to_be_bytes()));
    client.expect_end(End::Fin);
}

#[test]
fn a_message_that_began_earlier_does_not_hide_why_the_next_one_is_refused() {
    let server = server(Script::default());
    let mut client = Client::websocket(&server);
    let frame = masked(TEXT, b"in two parts");
    client.send(&frame[..6 + 3]);
    client.expect(&unmasked(TEXT, b"in two parts")[..2 + 3]);
    client.send([&frame[6 + 3..], &masked(TEXT, b"bad \xff")].concat());
    client.expect(b"two parts");
    client.expect(unmasked(CLOSE, &1007_u16.to_be_bytes()));
    client.expect_end(End::Fin);
}

#[test]
fn no_close_frame_lands_inside_a_frame_that_is_held_back() {
    let delay = Some("1ms".parse().unwrap());
    let server = server(Script { delay, ..Script::default() });
    let mut client = Client::websocket(&server);
    client.send([masked(TEXT, b"good"), masked(TEXT, b"bad \xff")].concat());
    client.expect(unmasked(TEXT, b"good"));
    let (got, end) = client.rest();
    assert!(unmasked(TEXT, b"bad \xff").starts_with(&got), "{got:?}");
    assert_eq!(end, End::Fin);
}

#[test]
fn a_stopping_server_says_that_it_goes_away() {
    let server = server(Script::default());
    let mut client = Client::websocket(&server);
    server.stop().unwrap();
    client.expect(unmasked(CLOSE, &1001_u16.to_be_bytes()));
    client.expect_end(End::Fin);
}
