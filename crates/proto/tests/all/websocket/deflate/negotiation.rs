//! Offers and answers, section 7.1.

use super::super::wire::{config, started_client};
use super::{answer_to, asking};
use crate::common::{Case, Seen, check_client};
use wiretrial_proto::websocket::{BadDeflate, BadWebSocketConfig, DeflateConfig, WebSocketConfig};
use wiretrial_proto::{ClientSession, ErrorClass, MessageKind, Scratch};

const USUAL: DeflateConfig = DeflateConfig {
    server_no_context_takeover: false,
    client_no_context_takeover: false,
    server_max_window_bits: 15,
    client_max_window_bits: 15,
    level: 6,
};
const SMALL: DeflateConfig = DeflateConfig {
    server_no_context_takeover: true,
    client_no_context_takeover: true,
    server_max_window_bits: 10,
    client_max_window_bits: 9,
    level: 6,
};

fn offered(offer: DeflateConfig) -> Option<String> {
    let mut client = wiretrial_proto::websocket::WebSocketClient::new(
        asking(MessageKind::Text, offer).into(),
        [1, 2],
    );
    let mut out = Vec::new();
    client.start(&mut out);
    let request = String::from_utf8(out).expect("a head of text");
    let line = request.lines().find(|line| line.starts_with("Sec-WebSocket-Extensions: "));
    line.map(|line| line["Sec-WebSocket-Extensions: ".len()..].to_owned())
}

#[test]
fn offers_as_they_stand_on_the_wire() {
    assert_eq!(offered(USUAL).unwrap(), "permessage-deflate; client_max_window_bits");
    assert_eq!(
        offered(SMALL).unwrap(),
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover; \
         server_max_window_bits=10; client_max_window_bits=9"
    );
    let (mut client, _) = started_client(config(MessageKind::Text));
    let mut out = Vec::new();
    client.start(&mut out);
    assert!(!String::from_utf8(out).unwrap().contains("Extensions"), "only where it is asked for");
}

fn answer_head(offer: DeflateConfig, lines: &str) -> Vec<u8> {
    let (_, accept) = started_client(asking(MessageKind::Text, offer));
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\nUpgrade: websocket\nConnection: Upgrade\n\
         Sec-WebSocket-Accept: {accept}\n{lines}\n\n"
    );
    head.replace("\n\n\n", "\n\n").replace('\n', "\r\n").into_bytes()
}

#[test]
fn answers_that_are_taken() {
    let own = DeflateConfig { client_no_context_takeover: true, ..USUAL };
    let windows = DeflateConfig { server_max_window_bits: 12, client_max_window_bits: 11, ..USUAL };
    let rows = [
        (USUAL, "permessage-deflate", USUAL),
        (
            USUAL,
            "permessage-deflate ;server_no_context_takeover",
            DeflateConfig { server_no_context_takeover: true, ..USUAL },
        ),
        // Not asked for, and yet allowed.
        (USUAL, "permessage-deflate; client_no_context_takeover; server_max_window_bits=8", {
            DeflateConfig { server_max_window_bits: 8, ..own }
        }),
        (
            USUAL,
            "permessage-deflate; client_max_window_bits=\"9\"",
            DeflateConfig { client_max_window_bits: 9, ..USUAL },
        ),
        (USUAL, "permessage-deflate; client_max_window_bits = 15", USUAL),
        // An offered promise holds without an answer.
        (own, "permessage-deflate", own),
        (windows, "permessage-deflate; server_max_window_bits=12", windows),
        (windows, "permessage-deflate; server_max_window_bits=9; client_max_window_bits=8", {
            DeflateConfig { server_max_window_bits: 9, client_max_window_bits: 8, ..USUAL }
        }),
        (SMALL, "permessage-deflate; server_max_window_bits=10; server_no_context_takeover", SMALL),
    ];
    for (offer, extension, agreed) in rows {
        let input = answer_head(offer, &format!("Sec-WebSocket-Extensions: {extension}"));
        let mut client = started_client(asking(MessageKind::Text, offer)).0;
        client.receive(&input, &mut Scratch::new(), &mut Vec::new()).expect(extension);
        assert_eq!(client.deflate(), Some(&agreed), "{extension}");
    }
}

#[test]
fn answers_that_are_refused() {
    let one = |extension: &str| format!("Sec-WebSocket-Extensions: {extension}");
    let windows = DeflateConfig { server_max_window_bits: 12, client_max_window_bits: 11, ..USUAL };
    let rows = [
        (USUAL, String::new()),
        (USUAL, one("")),
        (USUAL, one("permessage-bzip2")),
        (USUAL, one("Permessage-Deflate")),
        (USUAL, one("permessage-deflate, permessage-deflate")),
        (USUAL, one("permessage-deflate") + "\n" + &one("x-other")),
        (USUAL, one("permessage-deflate; level=6")),
        (USUAL, one("permessage-deflate; server_no_context_takeover=1")),
        (USUAL, one("permessage-deflate; server_no_context_takeover; server_no_context_takeover")),
        (USUAL, one("permessage-deflate; server_max_window_bits")),
        (USUAL, one("permessage-deflate; server_max_window_bits=7")),
        (USUAL, one("permessage-deflate; server_max_window_bits=16")),
        (USUAL, one("permessage-deflate; server_max_window_bits=010")),
        (USUAL, one("permessage-deflate; server_max_window_bits=+9")),
        (USUAL, one("permessage-deflate; server_max_window_bits=\"9")),
        (USUAL, one("permessage-deflate; server_max_window_bits=9; server_max_window_bits=9")),
        (USUAL, one("permessage-deflate; client_max_window_bits")),
        (USUAL, one("permessage-deflate; client_max_window_bits=")),
        (USUAL, one("permessage-deflate;")),
        // What was asked for must be said, and no more given than was offered.
        (SMALL, one("permessage-deflate; server_max_window_bits=10")),
        (SMALL, one("permessage-deflate; server_no_context_takeover")),
        (windows, one("permessage-deflate; server_max_window_bits=13")),
        (windows, one("permessage-deflate; server_max_window_bits=12; client_max_window_bits=12")),
    ];
    for (offer, lines) in rows {
        let case = Case {
            name: &lines,
            input: &answer_head(offer, &lines),
            fin: false,
            expected: vec![Seen::Error(ErrorClass::Upgrade)],
            trailing: None,
        };
        let fresh = || started_client(asking(MessageKind::Text, offer)).0;
        assert_eq!(check_client(&case, fresh), b"", "{lines}");
    }
}

/// Whoever does not insist goes on without.
#[test]
fn an_offer_may_be_declined() {
    let config = asking(MessageKind::Text, USUAL);
    let mut client = started_client(WebSocketConfig { insists_on_deflate: false, ..config }).0;
    let input = answer_head(USUAL, "");
    client.receive(&input, &mut Scratch::new(), &mut Vec::new()).expect("a good answer");
    assert!(client.is_open());
    assert_eq!(client.deflate(), None);
}

/// Unasked it stays what it was: an extension that was not offered.
#[test]
fn an_answer_to_no_offer_is_refused() {
    let (mut client, accept) = started_client(config(MessageKind::Text));
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
    );
    let error = client.receive(head.as_bytes(), &mut Scratch::new(), &mut Vec::new()).unwrap_err();
    assert_eq!(error.class, ErrorClass::Upgrade);
    assert_eq!(error.detail, "the server turned on an extension that was not offered");
}

fn request(lines: &str) -> Vec<u8> {
    format!(
        "GET / HTTP/1.1\nHost: a\nConnection: Upgrade\nUpgrade: websocket\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\nSec-WebSocket-Version: 13\n{lines}\n\n"
    )
    .replace("\n\n\n", "\n\n")
    .replace('\n', "\r\n")
    .into_bytes()
}

#[test]
fn what_a_server_answers() {
    let one = |extension: &str| format!("sec-websocket-extensions: {extension}");
    let small_server = DeflateConfig { server_max_window_bits: 10, ..USUAL };
    let small_client = DeflateConfig { client_max_window_bits: 10, ..USUAL };
    let rows = [
        (USUAL, String::new(), None),
        (USUAL, one("permessage-deflate"), Some("permessage-deflate")),
        (USUAL, one("permessage-deflate; client_max_window_bits"), Some("permessage-deflate")),
        (
            USUAL,
            one("permessage-deflate; client_max_window_bits=12; server_no_context_takeover"),
            Some("permessage-deflate; server_no_context_takeover; client_max_window_bits=12"),
        ),
        (
            USUAL,
            one("permessage-deflate; server_max_window_bits=15"),
            Some("permessage-deflate; server_max_window_bits=15"),
        ),
        (
            USUAL,
            one("permessage-deflate; server_max_window_bits=\"8\"; client_no_context_takeover"),
            Some("permessage-deflate; client_no_context_takeover; server_max_window_bits=8"),
        ),
        (
            small_server,
            one("permessage-deflate"),
            Some("permessage-deflate; server_max_window_bits=10"),
        ),
        (
            small_server,
            one("permessage-deflate; server_max_window_bits=9"),
            Some("permessage-deflate; server_max_window_bits=9"),
        ),
        (
            small_client,
            one("permessage-deflate; client_max_window_bits"),
            Some("permessage-deflate; client_max_window_bits=10"),
        ),
        (
            small_client,
            one("permessage-deflate; client_max_window_bits=9"),
            Some("permessage-deflate; client_max_window_bits=9"),
        ),
        // The client cannot be told.
        (small_client, one("permessage-deflate"), None),
        (
            SMALL,
            one("permessage-deflate; client_max_window_bits"),
            Some(
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover; \
                 server_max_window_bits=10; client_max_window_bits=9",
            ),
        ),
        // The first offer that can be met.
        (
            USUAL,
            one("x-other, permessage-deflate; server_max_window_bits=99, permessage-deflate; \
                 server_no_context_takeover, permessage-deflate"),
            Some("permessage-deflate; server_no_context_takeover"),
        ),
        (USUAL, one("x-other") + "\n" + &one("permessage-deflate"), Some("permessage-deflate")),
        // Offers that are not valid are declined.
        (USUAL, one("permessage-deflate; server_max_window_bits"), None),
        (USUAL, one("permessage-deflate; client_max_window_bits=7"), None),
        (USUAL, one("permessage-deflate; client_no_context_takeover=true"), None),
        (USUAL, one("permessage-deflate; unknown"), None),
        (
            USUAL,
            one("permessage-deflate; server_no_context_takeover; server_no_context_takeover"),
            None,
        ),
        (USUAL, one("permessage-deflatE"), None),
    ];
    for (wishes, lines, expected) in rows {
        let answer = answer_to(&request(&lines), wishes).map(|answer| answer.to_string());
        assert_eq!(answer.as_deref(), expected, "{lines}");
    }
}

#[test]
fn values_out_of_range_cannot_be_asked_for() {
    let bits = |server_max_window_bits, client_max_window_bits| DeflateConfig {
        server_max_window_bits,
        client_max_window_bits,
        ..USUAL
    };
    let rows = [
        (bits(7, 15), BadDeflate::WindowBits("server_max_window_bits", 7)),
        (bits(15, 16), BadDeflate::WindowBits("client_max_window_bits", 16)),
        (DeflateConfig { level: 0, ..USUAL }, BadDeflate::Level(0)),
        (DeflateConfig { level: 10, ..USUAL }, BadDeflate::Level(10)),
    ];
    for (offer, error) in rows {
        let config: WebSocketConfig = asking(MessageKind::Text, offer);
        assert_eq!(config.validate(), Err(BadWebSocketConfig::Deflate(error)));
    }
    assert_eq!(asking(MessageKind::Text, bits(8, 8)).validate(), Ok(()));
}
