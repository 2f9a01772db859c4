//! Requests that two readers could take for different ones (RFC 9112 sections 11.1 and 11.2).
//!
//! Each must end at the first thing that is wrong: what follows is never a request of its own.

use wiretrial_proto::http1::{Http1Client, Http1Server, PayloadLength, RequestHead};
use wiretrial_proto::{ClientSession, ErrorClass, Message, MessageKind};

use crate::common::{Seen, run_client, run_server, splittings};

/// What a body may carry in the hope of being read as a request.
const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n";

/// Fields of one request, and what its body begins with, each a known way to be misread.
const VECTORS: &[(&str, &str)] = &[
    ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
    ("Content-Length: 0\r\nContent-Length: 5\r\n", ""),
    ("Content-Length: 0, 5\r\n", ""),
    ("Content-Length: 0\r\nContent-Length:\t+0\r\n", ""),
    ("Content-Length: 0x0\r\n", ""),
    ("Content-Length: 0\x0b\r\n", ""),
    ("Content-Length : 5\r\n", ""),
    ("Content-Length\t: 5\r\n", ""),
    ("Content-Length: 5\r\n 0\r\n", ""),
    ("X: y\r\n Content-Length: 5\r\n", ""),
    ("X: y\rContent-Length: 5\r\n", ""),
    ("X: y\nContent-Length: 5\r\n", ""),
    ("X: y\r\n\rContent-Length: 5\r\n", ""),
    ("\0Content-Length: 5\r\n", ""),
    ("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: identity, chunked\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: chunked;x=y\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding\r\n: chunked\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "0x0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "+0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "0 \r\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "0\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "0;\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "0;a\rb\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "1\r\na0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "1\r\naX\r\n0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "1\r\na\n0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "10000000000000000\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "0\r\nA\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "0\r\n A: b\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "0\r\nA: b\r\n c\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", "0\r\nA: b\n\r\n\r\n"),
];

#[test]
fn nothing_is_smuggled_past_the_server() {
    for (fields, body) in VECTORS {
        let input = format!("POST / HTTP/1.1\r\nHost: h\r\n{fields}\r\n{body}{HIDDEN}");
        for cuts in splittings(input.len()) {
            let seen = run_server(&mut Http1Server::new(), input.as_bytes(), &cuts).seen;
            let requests = seen.iter().filter(|seen| matches!(seen, Seen::Request(_))).count();
            assert!(requests <= 1, "{input:?}: {seen:?}");
            assert_eq!(seen.last(), Some(&Seen::Error(ErrorClass::Protocol)), "{input:?}");
        }
    }
}

#[test]
fn nothing_is_smuggled_past_the_client() {
    let hidden = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhidden";
    // A fold in a trailer is nothing wrong in a response (section 5.2).
    let vectors = VECTORS.iter().filter(|(_, body)| !body.contains("A: b\r\n c\r\n"));
    for (fields, body) in vectors {
        let input = format!("HTTP/1.1 200 OK\r\n{fields}\r\n{body}{hidden}");
        let head = RequestHead::new("GET", "/", "h", &[], false, PayloadLength::None).unwrap();
        let mut codec = Http1Client::new([head].into());
        codec.encode(&Message::new(0, b""), &mut Vec::new());
        codec.encode(&Message::new(0, b""), &mut Vec::new());
        let seen = run_client(&mut codec, input.as_bytes(), &[], true).seen;
        let taken = Seen::Reply {
            status: 200,
            kind: MessageKind::Body,
            payload: b"hidden".to_vec(),
            last: false,
        };
        assert!(!seen.contains(&taken), "{input:?}: {seen:?}");
    }
}
