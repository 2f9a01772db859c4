//! The opening handshake: the request as written, and which answers are taken.

use super::wire::{From, TEXT, bytes, config, frame, key_in, started_client};
use crate::common::{Case, Seen, check_client};
use wiretrial_proto::websocket::{
    BadWebSocketConfig, WebSocketClient, WebSocketConfig, WebSocketServer,
};
use wiretrial_proto::{ClientSession, ErrorClass, MessageKind, Scratch};

fn with_subprotocols() -> WebSocketConfig {
    let subprotocols = vec!["chat".to_owned(), "superchat".to_owned()];
    WebSocketConfig { subprotocols, ..config(MessageKind::Text) }
}

fn fresh() -> WebSocketClient {
    started_client(with_subprotocols()).0
}

/// A 101 answer with these lines; ACCEPT stands for the right one.
fn answer(lines: &str) -> Vec<u8> {
    let (_, accept) = started_client(with_subprotocols());
    let head = format!("HTTP/1.1 101 Switching Protocols\n{lines}\n\n");
    head.replace("ACCEPT", &accept).replace('\n', "\r\n").into_bytes()
}

#[test]
fn the_request_as_it_stands_on_the_wire() {
    let mut client = WebSocketClient::new(with_subprotocols().into(), [5, 6]);
    let mut out = Vec::new();
    client.start(&mut out);
    let key = key_in(&out);
    assert_eq!(key.len(), 24);
    assert!(key.ends_with("==") && !client.is_open());
    let expected = format!(
        "GET /echo?x=1 HTTP/1.1\r\nHost: 127.0.0.1:9000\r\nUpgrade: websocket\r\n\
         Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Protocol: chat, superchat\r\nOrigin: http://127.0.0.1\r\n\r\n"
    );
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

/// The example of RFC 6455 section 1.3.
#[test]
fn the_servers_answer_as_it_stands_on_the_wire() {
    let mut out = Vec::new();
    WebSocketServer::accept("dGhlIHNhbXBsZSBub25jZQ==", Some("chat"), &mut out);
    let expected = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
         Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\
         Sec-WebSocket-Protocol: chat\r\n\r\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn answers_that_open() {
    let rows = [
        ("plain", "Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Accept: ACCEPT"),
        (
            "any case, any order, other fields",
            "Server: x\nsec-websocket-accept:ACCEPT\nCONNECTION: upgrade\nupgrade: WebSocket",
        ),
        (
            "Upgrade in a list",
            "Connection: keep-alive, UPGRADE\nUpgrade: websocket\nSec-WebSocket-Accept: ACCEPT",
        ),
        (
            "an offered subprotocol",
            "Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Accept: ACCEPT\n\
             Sec-WebSocket-Protocol: superchat",
        ),
        (
            "an empty list of extensions",
            "Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Accept: ACCEPT\n\
             Sec-WebSocket-Extensions:",
        ),
    ];
    for (name, lines) in rows {
        let answer = answer(lines);
        for interim in ["", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"]
        {
            let frames = bytes(&[frame(TEXT, "at once")], From::Server);
            let (status, kind, payload) = (0, MessageKind::Text, b"at once".to_vec());
            let case = Case {
                name,
                input: &[interim.as_bytes(), &answer].concat(),
                fin: false,
                expected: vec![Seen::Open],
                trailing: Some((&frames, vec![Seen::Reply { status, kind, payload, last: false }])),
            };
            assert_eq!(check_client(&case, fresh), b"", "{name}");
        }
    }
}

#[test]
fn a_client_is_open_after_the_answer() {
    let mut scratch = Scratch::new();
    let mut client = fresh();
    assert!(!client.is_open());
    let answer = answer("Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Accept: ACCEPT");
    client.receive(&answer, &mut scratch, &mut Vec::new()).unwrap();
    assert!(client.is_open());
    assert_eq!(client.upgrade_status(), None);
}

fn check_refused(name: &str, input: &[u8], class: ErrorClass) {
    let expected = vec![Seen::Error(class)];
    let case = Case { name, input, fin: false, expected, trailing: None };
    assert_eq!(check_client(&case, fresh), b"", "{name}: no frame goes out before the upgrade");
}

#[test]
fn answers_that_do_not_open() {
    let good = "Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Accept: ACCEPT\n";
    let rows = [
        ("no Upgrade", "Connection: Upgrade\nSec-WebSocket-Accept: ACCEPT".to_owned()),
        ("another protocol", good.replace("websocket\n", "h2c\n")),
        ("two protocols", good.replace("websocket\n", "websocket, h2c\n")),
        ("no Connection", "Upgrade: websocket\nSec-WebSocket-Accept: ACCEPT".to_owned()),
        ("another Connection", good.replace("Connection: Upgrade", "Connection: close")),
        ("no accept", "Upgrade: websocket\nConnection: Upgrade".to_owned()),
        ("a wrong accept", good.replace("ACCEPT", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")),
        ("an empty accept", good.replace("ACCEPT", "")),
        ("more than the accept", good.replace("ACCEPT", "ACCEPT=")),
        ("the accept twice", format!("{good}Sec-WebSocket-Accept: ACCEPT")),
        ("a subprotocol not offered", format!("{good}Sec-WebSocket-Protocol: other")),
        ("a subprotocol in another case", format!("{good}Sec-WebSocket-Protocol: Chat")),
        ("both subprotocols", format!("{good}Sec-WebSocket-Protocol: chat, superchat")),
        ("an extension", format!("{good}Sec-WebSocket-Extensions: permessage-deflate")),
    ];
    for (name, lines) in rows {
        check_refused(name, &answer(lines.trim_end()), ErrorClass::Upgrade);
    }
}

/// Base64 is exact about case: a comparison that ignores it would take a wrong accept.
#[test]
fn the_case_of_the_accept_counts() {
    let (_, accept) = started_client(with_subprotocols());
    let swapped: String =
        accept
            .chars()
            .map(|c| {
                if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }
            })
            .collect();
    let lines = format!("Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Accept: {swapped}");
    check_refused("swapped case", &answer(&lines), ErrorClass::Upgrade);
}

#[test]
fn other_statuses_are_told() {
    let mut scratch = Scratch::new();
    for status in [200, 204, 301, 400, 401, 403, 404, 418, 426, 429, 500, 503] {
        let input = format!("HTTP/1.1 {status} Whatever\r\nContent-Length: 2\r\n\r\nno");
        check_refused("another status", input.as_bytes(), ErrorClass::Upgrade);
        let mut client = fresh();
        client.receive(input.as_bytes(), &mut scratch, &mut Vec::new()).unwrap_err();
        assert_eq!(client.upgrade_status(), Some(status));
        assert!(!client.is_open());
        assert_eq!(client.end(), Ok(None), "told once is enough");
    }
    let mut client = fresh();
    let error = client
        .receive(b"HTTP/1.1 404 Not Found\r\n\r\n", &mut scratch, &mut Vec::new())
        .unwrap_err();
    assert_eq!(error.to_string(), "the upgrade was refused with 404 Not Found");
}

#[test]
fn what_is_no_answer_at_all() {
    check_refused("garbage", b"\x16\x03\x01\x02\x00", ErrorClass::Protocol);
    check_refused("frames at once", b"\x81\x05hello", ErrorClass::Protocol);
    check_refused("no status", b"HTTP/1.1 abc\r\n\r\n", ErrorClass::Protocol);
}

#[test]
fn an_endless_head() {
    let mut head = b"HTTP/1.1 101 Switching Protocols\r\n".to_vec();
    while head.len() <= 64 * 1024 {
        head.extend_from_slice(b"X-Filler: 0123456789012345678901234567890123456789\r\n");
    }
    check_refused("over 64 KiB", &head, ErrorClass::HeaderTooLarge);
}

#[test]
fn configurations_that_cannot_be_sent() {
    use BadWebSocketConfig as Bad;
    let good = with_subprotocols;
    let header = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let rows = [
        (WebSocketConfig { host: String::new(), ..good() }, Bad::Host(String::new())),
        (WebSocketConfig { host: "a\r\nb".into(), ..good() }, Bad::Host("a\r\nb".into())),
        (WebSocketConfig { target: "echo".into(), ..good() }, Bad::Target("echo".into())),
        (WebSocketConfig { target: "/a b".into(), ..good() }, Bad::Target("/a b".into())),
        (WebSocketConfig { target: "/a#b".into(), ..good() }, Bad::Target("/a#b".into())),
        (WebSocketConfig { headers: header("a b", "c"), ..good() }, Bad::HeaderName("a b".into())),
        (WebSocketConfig { headers: header("", "c"), ..good() }, Bad::HeaderName(String::new())),
        (WebSocketConfig { headers: header("a", "b\nc"), ..good() }, Bad::HeaderValue("a".into())),
        (WebSocketConfig { headers: header("host", "a"), ..good() }, Bad::OwnHeader("host".into())),
        (
            WebSocketConfig { subprotocols: vec!["a b".into()], ..good() },
            Bad::Subprotocol("a b".into()),
        ),
        (
            WebSocketConfig { subprotocols: vec!["a".into(), "a".into()], ..good() },
            Bad::Subprotocol("a".into()),
        ),
        (WebSocketConfig { kind: MessageKind::Body, ..good() }, Bad::Kind),
    ];
    assert_eq!(good().validate(), Ok(()));
    for (config, error) in rows {
        assert_eq!(config.validate(), Err(error));
    }
}
