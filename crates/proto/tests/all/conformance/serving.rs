//! How an origin server must frame its answers, and what it must read.

use std::sync::Arc;

use wiretrial_proto::Condition;
use wiretrial_proto::http1::{BodyLength, DateField, Http1Server};

use crate::common::{Case, RequestSeen, Seen, check_server, run_server};

fn get(target: &str) -> RequestSeen {
    RequestSeen {
        method: "GET".into(),
        target: target.into(),
        keep_alive: true,
        content_length: Some(0),
        ..RequestSeen::default()
    }
}

/// Checks what is reported, however the bytes are split.
fn reads(input: &str, expected: &[Seen]) {
    let input = input.as_bytes();
    let name = String::from_utf8_lossy(input);
    let case = Case { name: &name, input, fin: false, expected: expected.to_vec(), trailing: None };
    assert_eq!(check_server(&case, Http1Server::new), b"", "{name}");
}

fn served(request: RequestSeen, payload: &str) -> [Seen; 2] {
    [Seen::Request(request), Seen::End(payload.as_bytes().to_vec())]
}

/// What is answered to this request with this status and these five bytes.
fn answer(request: &str, status: u16, length: BodyLength) -> String {
    let mut codec = Http1Server::new();
    let mut out = run_server(&mut codec, request.as_bytes(), &[]).out;
    codec.respond_head(status, "", length, true, &mut out);
    codec.body_chunk(b"hello", &mut out);
    codec.body_end(&mut out);
    String::from_utf8(out).unwrap()
}

const GET: &str = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
const HEAD: &str = "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n";
const OLD: &str = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
const KNOWN: BodyLength = BodyLength::Known(5);

/// RFC 9112 section 3.2.2.
#[test]
fn the_absolute_form_is_taken() {
    for target in ["http://h/a?b", "HTTP://h", "http://[::1]:80/"] {
        let request = format!("GET {target} HTTP/1.1\r\nHost: other\r\n\r\n");
        reads(&request, &served(get(target), ""));
    }
}

/// RFC 9110 section 5.3: nothing is reported before the head is whole.
#[test]
fn a_request_begins_when_its_head_is_whole() {
    let head = "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n\r";
    for end in 0..=head.len() {
        let seen = run_server(&mut Http1Server::new(), &head.as_bytes()[..end], &[]).seen;
        assert_eq!(seen, [], "{end}");
    }
}

/// RFC 9112 sections 6.1 and 7.1.
#[test]
fn chunked_requests_are_read() {
    let request = RequestSeen { method: "POST".into(), content_length: None, ..get("/") };
    let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    for body in ["2\r\nok\r\n0\r\n\r\n", "001;a=\"b\"\r\no\r\n1 ; c\r\nk\r\n0\r\nA: b\r\n\r\n"] {
        reads(&format!("{head}{body}"), &served(request.clone(), "ok"));
    }
}

/// RFC 9112 section 4.
#[test]
fn a_status_line_without_a_reason_keeps_its_space() {
    assert!(answer(GET, 299, KNOWN).starts_with("HTTP/1.1 299 \r\n"));
}

/// RFC 9112 section 6.1, RFC 9110 section 8.6.
#[test]
fn a_204_has_no_framing_field() {
    for length in [KNOWN, BodyLength::Chunked] {
        assert_eq!(answer(GET, 204, length), "HTTP/1.1 204 No Content\r\n\r\n");
    }
}

/// RFC 9112 section 6.1.
#[test]
fn an_old_client_gets_no_chunks() {
    let ended = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello";
    assert_eq!(answer(OLD, 200, BodyLength::Chunked), ended);
}

/// RFC 9112 sections 6.1 and 6.2.
#[test]
fn an_answer_is_framed_once() {
    for (length, field) in
        [(KNOWN, "Content-Length: 5\r\n"), (BodyLength::Chunked, "Transfer-Encoding: chunked\r\n")]
    {
        let head = answer(GET, 200, length);
        let head = head.split_once("\r\n\r\n").unwrap().0.to_owned() + "\r\n";
        assert_eq!(head, format!("HTTP/1.1 200 OK\r\n{field}"));
    }
}

/// RFC 9110 sections 8.6 and 9.3.2.
#[test]
fn head_has_the_fields_of_get_and_no_content() {
    for length in [KNOWN, BodyLength::Chunked] {
        let (whole, head) = (answer(GET, 200, length), answer(HEAD, 200, length));
        assert_eq!(head, whole[..whole.find("\r\n\r\n").unwrap() + 4]);
    }
}

/// RFC 9110 section 15.4.5: a 304 ends with its head.
#[test]
fn a_304_has_no_content() {
    for length in [KNOWN, BodyLength::Chunked] {
        assert!(answer(GET, 304, length).ends_with("\r\n\r\n"));
    }
}

/// RFC 9110 section 6.6.1.
#[test]
fn answers_and_refusals_carry_the_date() {
    let fresh = || Http1Server::with_date(Arc::new(DateField::new(784_111_777)));
    let line = "\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    for status in [200, 204, 304, 404, 500] {
        let mut codec = fresh();
        let mut out = run_server(&mut codec, GET.as_bytes(), &[]).out;
        codec.respond(status, "", b"", true, &mut out);
        assert_eq!(String::from_utf8(out).unwrap().matches(line).count(), 1, "{status}");
    }
    for request in ["nonsense\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"] {
        let out = run_server(&mut fresh(), request.as_bytes(), &[]).out;
        assert_eq!(String::from_utf8(out).unwrap().matches(line).count(), 1, "{request}");
    }
    assert!(!answer(GET, 200, KNOWN).contains("Date"), "without a clock there is none");
}

/// RFC 9110 section 10.1.1, RFC 9110 section 15.2.
#[test]
fn an_old_client_is_not_invited() {
    let request = "POST / HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\n\
        Content-Length: 2\r\n\r\nok";
    let expected = RequestSeen { method: "POST".into(), content_length: Some(2), ..get("/") };
    assert!(!expected.expects_continue);
    reads(request, &served(expected, "ok"));
}

/// RFC 9110 section 7.8.
#[test]
fn an_upgrade_counts_only_in_1_1_and_where_connection_names_it() {
    let key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (version, connection) in [("1.0", "upgrade, keep-alive"), ("1.1", "keep-alive")] {
        let request = format!(
            "GET / HTTP/{version}\r\nHost: h\r\nConnection: {connection}\r\n\
             Upgrade: websocket\r\n{key}\r\n"
        );
        reads(&request, &served(get("/"), ""));
    }
    let request = format!(
        "GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: h2c, websocket\r\n{key}\r\n"
    );
    let upgraded =
        RequestSeen { websocket_key: Some("dGhlIHNhbXBsZSBub25jZQ==".into()), ..get("/") };
    reads(&request, &served(upgraded, ""));
}

/// RFC 9110 section 13.1.
#[test]
fn conditions_are_told() {
    for (fields, condition) in [
        ("If-Match: *", Condition::None),
        ("If-Match: \"a\", W/\"b\"", Condition::Tagged),
        ("if-match: \"a\"\r\nIf-None-Match: *", Condition::Tagged),
        ("If-None-Match: *", Condition::Missing),
        ("If-None-Match: \"a\"", Condition::None),
        ("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", Condition::None),
        ("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT", Condition::None),
    ] {
        let request = format!("GET / HTTP/1.1\r\nHost: h\r\n{fields}\r\n\r\n");
        reads(&request, &served(RequestSeen { condition, ..get("/") }, ""));
    }
}

/// RFC 9112 section 9.3.2.
#[test]
fn answers_keep_the_order_of_requests() {
    let mut codec = Http1Server::new();
    let mut out = run_server(&mut codec, [GET, HEAD, OLD].concat().as_bytes(), &[]).out;
    for body in [b"a", b"b", b"c"] {
        codec.respond(200, "", body, true, &mut out);
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n";
    let expected = format!("{head}\r\na{head}\r\n{head}Connection: keep-alive\r\n\r\nc");
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}
