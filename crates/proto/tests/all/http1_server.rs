//! What the HTTP/1.1 server reads and answers: tables of bytes and events.

use crate::common::{Case, RequestSeen, Seen, check_server, run_server};
use wiretrial_proto::ErrorClass;
use wiretrial_proto::http1::{BodyLength, Http1Server};

fn get(target: &str) -> RequestSeen {
    RequestSeen {
        method: "GET".into(),
        target: target.into(),
        keep_alive: true,
        content_length: Some(0),
        ..RequestSeen::default()
    }
}

fn post(content_length: Option<u64>) -> RequestSeen {
    RequestSeen { method: "POST".into(), content_length, ..get("/") }
}

fn served(request: RequestSeen, payload: &[u8]) -> Vec<Seen> {
    vec![Seen::Request(request), Seen::End(payload.to_vec())]
}

/// A name, the bytes, what they are. A request that follows them is read, too.
type Row = (&'static str, &'static str, Vec<Seen>);

/// Requests as RFC 9112 frames them.
fn plain() -> Vec<Row> {
    vec![
        ("plain", "GET /a?b HTTP/1.1\r\nHost: h:80\r\n\r\n", served(get("/a?b"), b"")),
        (
            "empty host, other fields",
            "GET / HTTP/1.1\r\nX: \u{e9}\r\nhost:\r\n\r\n",
            served(get("/"), b""),
        ),
        ("an empty line before", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", served(get("/"), b"")),
        (
            "absolute form",
            "GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n",
            served(get("http://h/a"), b""),
        ),
        (
            "asterisk form",
            "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
            served(RequestSeen { method: "OPTIONS".into(), ..get("*") }, b""),
        ),
        (
            "a method of one's own",
            "BREW / HTTP/1.1\r\nHost: h\r\n\r\n",
            served(RequestSeen { method: "BREW".into(), ..get("/") }, b""),
        ),
        (
            "length",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
            served(post(Some(5)), b"hello"),
        ),
        (
            "no body",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
            served(post(Some(0)), b""),
        ),
        (
            "chunks",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\
             5;x\r\nhello\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n",
            served(post(None), b"hello!"),
        ),
        (
            "one chunk",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
            served(post(None), b"ab"),
        ),
        (
            "no chunks",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            served(post(None), b""),
        ),
    ]
}

/// Requests that ask for more than an answer (RFC 9110 sections 7.8 and 10.1.1).
fn asking() -> Vec<Row> {
    vec![
        (
            "expect",
            "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\nok",
            served(RequestSeen { expects_continue: true, ..post(Some(2)) }, b"ok"),
        ),
        (
            "expect without a body",
            "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n",
            served(post(Some(0)), b""),
        ),
        (
            "expect in HTTP/1.0",
            "POST / HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\n\
             Content-Length: 2\r\n\r\nok",
            served(post(Some(2)), b"ok"),
        ),
        (
            "HTTP/1.0 that stays",
            "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
            served(get("/"), b""),
        ),
        (
            "upgrade to something else",
            "GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
            served(get("/"), b""),
        ),
        (
            "upgrade that the connection does not ask for",
            "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n\r\n",
            served(get("/"), b""),
        ),
        (
            "upgrade by another method",
            "POST / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
            served(post(Some(0)), b""),
        ),
        (
            "upgrade with a body",
            "GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
             Content-Length: 1\r\n\r\na",
            served(RequestSeen { content_length: Some(1), ..get("/") }, b"a"),
        ),
        (
            "websocket",
            "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\n\
             Upgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            served(
                RequestSeen {
                    websocket_key: Some("dGhlIHNhbXBsZSBub25jZQ==".into()),
                    ..get("/ws")
                },
                b"",
            ),
        ),
        (
            "pipelined",
            "GET /a HTTP/1.1\r\nHost: h\r\n\r\nPOST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nb",
            [served(get("/a"), b""), served(post(Some(1)), b"b")].concat(),
        ),
    ]
}

#[test]
fn requests_are_read_however_they_are_split() {
    for (name, input, expected) in plain().into_iter().chain(asking()) {
        let next = (b"GET /next HTTP/1.1\r\nHost: h\r\n\r\n".as_slice(), served(get("/next"), b""));
        let input = input.as_bytes();
        let case = Case { name, input, fin: false, expected, trailing: Some(next) };
        let out = check_server(&case, Http1Server::new);
        assert!(out.is_empty(), "{name}: the caller answers");
    }
}

#[test]
fn nothing_is_read_behind_the_last_request() {
    let last = |request| RequestSeen { keep_alive: false, ..request };
    let rows = [
        ("close", "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", last(get("/")), ""),
        ("HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", last(get("/")), ""),
        (
            "close, with a body",
            "POST / HTTP/1.1\r\nHost: h\r\nConnection: Close\r\nContent-Length: 1\r\n\r\na",
            last(post(Some(1))),
            "a",
        ),
    ];
    for (name, input, request, body) in rows {
        let expected = served(request, body.as_bytes());
        let trailing = Some((b"\0 whatever".as_slice(), vec![]));
        let case = Case { name, input: input.as_bytes(), fin: false, expected, trailing };
        check_server(&case, Http1Server::new);
    }
}

const UPGRADE: &str = "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";

/// Heads that must be refused, with what, and the rule that says so.
const REFUSED: &[(u16, &str, &str)] = &[
    (400, "RFC 9112 3: three words", "GET /\r\n\r\n"),
    (400, "RFC 9112 3: single spaces", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n"),
    (400, "RFC 9112 3: single spaces", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n"),
    (400, "RFC 9112 3: one target", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n"),
    (400, "RFC 9112 3.1: a method is a token", "G(T / HTTP/1.1\r\nHost: h\r\n\r\n"),
    (400, "RFC 9112 3.1: a method is a token", " / HTTP/1.1\r\nHost: h\r\n\r\n"),
    (400, "RFC 9112 3.2: a form", "GET a HTTP/1.1\r\nHost: h\r\n\r\n"),
    (400, "RFC 9112 3.2: a form", "GET * HTTP/1.1\r\nHost: h\r\n\r\n"),
    (400, "RFC 9112 3.2: visible ASCII", "GET /\u{e9} HTTP/1.1\r\nHost: h\r\n\r\n"),
    (400, "RFC 9112 2.3: version", "GET / HTTP/1.10\r\nHost: h\r\n\r\n"),
    (400, "RFC 9112 2.3: the name is case-sensitive", "GET / http/1.1\r\nHost: h\r\n\r\n"),
    (505, "RFC 9110 15.6.6: another major version", "GET / HTTP/2.0\r\nHost: h\r\n\r\n"),
    (505, "RFC 9110 15.6.6: the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    (400, "RFC 9112 2.2: one empty line at most", "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"),
    (400, "RFC 9112 3.2: a host", "GET / HTTP/1.1\r\n\r\n"),
    (400, "RFC 9112 3.2: one host", "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n"),
    (400, "RFC 9112 3.2: a valid host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
    (400, "RFC 9112 3.2: a valid host", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    (400, "RFC 9112 5.1: space before the colon", "GET / HTTP/1.1\r\nHost : h\r\n\r\n"),
    (400, "RFC 9112 5.2: obs-fold", "GET / HTTP/1.1\r\nHost: h\r\n x\r\n\r\n"),
    (400, "RFC 9112 2.2: bare LF", "GET / HTTP/1.1\nHost: h\r\n\r\n"),
    (400, "RFC 9112 2.2: bare CR", "GET / HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n"),
    (400, "RFC 9110 5.5: NUL", "GET / HTTP/1.1\r\nHost: h\r\nA: \0\r\n\r\n"),
    (400, "RFC 9112 6.3: a length", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n"),
    (
        400,
        "RFC 9112 6.3: two lengths",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ),
    (
        400,
        "RFC 9112 6.3: length and coding",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ),
    (
        400,
        "RFC 9112 6.1: coding in HTTP/1.0",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
    ),
    (
        400,
        "RFC 9112 6.1: chunked once",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
    ),
    (
        501,
        "RFC 9112 6.1: an unknown coding",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    ),
];

#[test]
fn what_the_rules_forbid_is_refused_with_its_status() {
    for (status, rule, input) in REFUSED {
        refused(&format!("{rule}: {input:?}"), input, *status, ErrorClass::Protocol);
    }
}

#[test]
fn an_upgrade_is_checked() {
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let version = "Sec-WebSocket-Version: 13\r\n";
    let old = "Sec-WebSocket-Version: 8\r\n";
    for fields in [key.to_owned(), format!("{key}{old}")] {
        let input = format!("{UPGRADE}{fields}\r\n");
        let answer = refused("RFC 6455 4.4", &input, 426, ErrorClass::Upgrade);
        assert!(answer.contains("\r\nUpgrade: websocket\r\n"), "{answer}");
        assert!(answer.contains("\r\nSec-WebSocket-Version: 13\r\n"), "{answer}");
    }
    let bad = ["", "dGhlIHNhbXBsZQ==", "dGhlIHNhbXBsZSBub25jZSBu", "dGhlIHNhbXBsZSBub25jZ!=="];
    for key in bad {
        let input = format!("{UPGRADE}{version}Sec-WebSocket-Key: {key}\r\n\r\n");
        refused("RFC 6455 4.2.1: a key", &input, 400, ErrorClass::Protocol);
    }
    refused("RFC 6455 4.2.1: a key", &format!("{UPGRADE}{version}\r\n"), 400, ErrorClass::Protocol);
    let input = format!("{UPGRADE}{version}{key}{key}\r\n");
    refused("RFC 6455 11.3.1: one key", &input, 400, ErrorClass::Protocol);
}

#[test]
fn bad_chunks_are_refused() {
    let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    for body in ["x\r\n", "5\r\nhello!", "0\r\nA : b\r\n\r\n", "11112222333344445\r\n"] {
        let input = format!("{head}{body}");
        let expected = vec![Seen::Request(post(None)), Seen::Error(ErrorClass::Protocol)];
        let case =
            Case { name: body, input: input.as_bytes(), fin: false, expected, trailing: None };
        let out = check_server(&case, Http1Server::new);
        assert!(out.starts_with(b"HTTP/1.1 400 "), "{body}");
    }
}

#[test]
fn heads_over_64_kib_are_too_large() {
    let filler = "x".repeat(64 * 1024);
    let line = format!("GET /{filler}");
    refused("a request line", &line, 414, ErrorClass::HeaderTooLarge);
    let field = format!("GET / HTTP/1.1\r\nHost: h\r\nA: {filler}");
    refused("a field", &field, 431, ErrorClass::HeaderTooLarge);
}

#[test]
fn a_refusal_never_stands_for_another_answer() {
    let mut codec = Http1Server::new();
    let waiting = b"GET / HTTP/1.1\r\nHost: h\r\n\r\nGET\r\n\r\n";
    let seen = run_server(&mut codec, waiting, &[]);
    assert_eq!(seen.seen.last(), Some(&Seen::Error(ErrorClass::Protocol)));
    assert!(seen.out.is_empty(), "the first request waits for its own answer");

    let mut codec = Http1Server::new();
    let head = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    run_server(&mut codec, head, &[]);
    codec.respond(200, "", b"", true, &mut Vec::new());
    let seen = run_server(&mut codec, b"x", &[]);
    assert_eq!(seen.seen, [Seen::Error(ErrorClass::Protocol)]);
    assert!(seen.out.is_empty(), "the request was answered before its body went wrong");
}

/// What was sent for one request, answered in one way.
fn answered(request: &str, answer: impl Fn(&mut Http1Server, &mut Vec<u8>)) -> String {
    let mut codec = Http1Server::new();
    let transcript = run_server(&mut codec, request.as_bytes(), &[]);
    let mut out = transcript.out;
    answer(&mut codec, &mut out);
    String::from_utf8(out).expect("ASCII")
}

const GET: &str = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
const HEAD: &str = "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n";
const OLD: &str = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";

#[test]
fn whole_responses_are_framed_for_who_asked() {
    let plain = |status, keep_alive| {
        move |codec: &mut Http1Server, out: &mut Vec<u8>| {
            codec.respond(status, "text/plain", b"hello", keep_alive, out);
        }
    };
    let rows = [
        (GET, 200, true, "200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"),
        (
            GET,
            404,
            false,
            "404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\
             Connection: close\r\n\r\nhello",
        ),
        (HEAD, 200, true, "200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n"),
        (
            GET,
            304,
            true,
            "304 Not Modified\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n",
        ),
        (GET, 204, true, "204 No Content\r\nContent-Type: text/plain\r\n\r\n"),
        (
            OLD,
            200,
            true,
            "200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\
             Connection: keep-alive\r\n\r\nhello",
        ),
        (
            OLD,
            299,
            false,
            "299 \r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\
             Connection: close\r\n\r\nhello",
        ),
    ];
    for (request, status, keep_alive, expected) in rows {
        let answer = answered(request, plain(status, keep_alive));
        assert_eq!(answer, format!("HTTP/1.1 {expected}"), "{request:?}");
    }
}

#[test]
fn streamed_responses_are_framed_for_who_asked() {
    let stream = |codec: &mut Http1Server, out: &mut Vec<u8>| {
        let persists = codec.respond_head(200, "", BodyLength::Chunked, true, out);
        assert_eq!(persists, !out.ends_with(b"Connection: close\r\n\r\n"));
        codec.body_chunk(b"hello", out);
        codec.body_chunk(b"", out);
        codec.body_chunk(&[b'x'; 17], out);
        codec.body_end(out);
    };
    let filler = "x".repeat(17);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let expected = format!("{chunked}5\r\nhello\r\n11\r\n{filler}\r\n0\r\n\r\n");
    assert_eq!(answered(GET, stream), expected);
    assert_eq!(answered(HEAD, stream), chunked);
    let closing = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello{filler}");
    assert_eq!(answered(OLD, stream), closing, "HTTP/1.0 knows no chunks");
}

#[test]
fn late_answers_go_to_the_requests_in_order() {
    let requests = format!("{GET}{HEAD}{OLD}{GET}");
    let bodies = answered(&requests, |codec, out| {
        for body in [b"a", b"b", b"c", b"d"] {
            codec.respond(200, "", body, true, out);
        }
    });
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n";
    let expected = format!("{head}\r\na{head}\r\n{head}Connection: keep-alive\r\n\r\nc{head}\r\nd");
    assert_eq!(bodies, expected);
}

#[test]
fn the_body_is_invited() {
    let request = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n";
    let out = answered(request, Http1Server::invite_body);
    assert_eq!(out, "HTTP/1.1 100 Continue\r\n\r\n");
}

/// Checks that the head is refused so, and returns the answer.
fn refused(name: &str, input: &str, status: u16, class: ErrorClass) -> String {
    let expected = vec![Seen::Error(class)];
    let case = Case { name, input: input.as_bytes(), fin: false, expected, trailing: None };
    let out = String::from_utf8(check_server(&case, Http1Server::new)).expect("ASCII");
    assert!(out.starts_with(&format!("HTTP/1.1 {status} ")), "{name}: {out}");
    assert!(out.contains("\r\nConnection: close\r\n"), "{name}: {out}");
    assert!(out.ends_with("\r\n\r\n"), "{name}: {out}");
    out
}
