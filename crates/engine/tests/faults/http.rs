//! Rows about HTTP/1.1.

use serde_json::{Value, json};

use crate::scene::{Case, check_all};
use crate::scripted::Seen;
use crate::scripted::Step::{self, Cut, Finish, Flood, Read, Reply, ReplyAs, Send, Serve};
use crate::speech::http;

const SCHEMES: [&str; 2] = ["http", "https"];

fn send(text: &str) -> Step {
    Send(text.as_bytes().to_vec())
}

/// Four requests in one send.
fn pipelined(plan: &mut Value) {
    plan["load"]["depth"] = json!(4);
    plan["load"]["pack"] = json!(4);
}

#[test]
fn heads_without_end_are_refused() {
    let begin = || send("HTTP/1.1 200 OK\r\nX-Filler: ");
    let most = 4 << 20;
    check_all(
        &SCHEMES,
        &[
            Case::new(
                "endless header lines",
                [Read, begin(), Flood(b"filler\r\nX-Filler: ".to_vec(), most)],
            )
            .fails("header_too_large"),
            Case::new("an endless header line", [Read, begin(), Flood(vec![b'x'; 1000], most)])
                .fails("header_too_large"),
            Case::new(
                "endless trailers",
                [
                    Read,
                    send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"),
                    Flood(b"X-Filler: filler\r\n".to_vec(), most),
                ],
            )
            .fails("header_too_large"),
        ],
    );
}

#[test]
fn lengths_that_contradict_each_other_are_refused() {
    let conflict = |name, fields: &str| {
        let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n0123456789abcdefghij");
        Case::new(name, [Read, send(&head)]).fails("protocol")
    };
    check_all(
        &SCHEMES,
        &[
            conflict("two Content-Length", "Content-Length: 20\r\nContent-Length: 21"),
            conflict("a list of Content-Length", "Content-Length: 20, 21"),
            conflict(
                "Content-Length with chunked",
                "Content-Length: 20\r\nTransfer-Encoding: chunked",
            ),
            conflict("a negative Content-Length", "Content-Length: -1"),
            conflict("a Content-Length over 2^64", "Content-Length: 18446744073709551616"),
        ],
    );
}

#[test]
fn chunks_are_checked_and_trailers_read() {
    let chunks = |name, body: &str| {
        let head = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
        Case::new(name, [Read, send(&head)]).fails("protocol")
    };
    let with_trailers: fn(&[u8]) -> Vec<u8> = |payload| {
        let mut bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14;a=b\r\n".to_vec();
        bytes.extend_from_slice(payload);
        bytes.extend_from_slice(b"\r\n0\r\nDigest: x\r\nX-More: y\r\n\r\n");
        bytes
    };
    check_all(
        &SCHEMES,
        &[
            chunks("a chunk size that is no number", "size\r\nabc\r\n"),
            chunks("a chunk size over 2^64", "10000000000000000\r\nabc"),
            chunks("an empty chunk size", "\r\nabc"),
            chunks("a chunk longer than its size", "1\r\nabc\r\n0\r\n\r\n"),
            Case::new("trailers", [Read, ReplyAs(with_trailers), Serve]),
        ],
    );
}

#[test]
fn interim_replies_are_passed_over_and_switching_is_refused() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n";
    check_all(
        &SCHEMES,
        &[
            Case::new("100 and 103", [Read, send(interim), Reply, Serve]),
            Case::new("101 unasked", [Read, send(switching)]).fails("protocol"),
        ],
    );
}

#[test]
fn replies_without_a_body_end_with_their_head() {
    let bodiless = |name, head| Case::new(name, [Read, send(head), Serve]).counts("status");
    check_all(
        &SCHEMES,
        &[
            bodiless("204", "HTTP/1.1 204 No Content\r\n\r\n").says("status", "204"),
            bodiless("304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 20\r\n\r\n"),
            Case::new("HEAD", [Read, send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n"), Serve])
                .with(|plan| {
                    plan["target"]["http"] = json!({"method": "HEAD"});
                    plan["target"]["message"] = json!({});
                    plan["target"]["expect"] = json!({});
                    let url = plan["target"]["url"].as_str().expect("a URL");
                    plan["target"]["url"] = json!(url.replace("/echo", "/message"));
                }),
        ],
    );
}

#[test]
fn a_redirect_is_counted_and_not_followed() {
    let away = http("302 Found", &["Location: /elsewhere"], b"elsewhere");
    let stays: fn(&Seen) = |seen| assert!(seen.requests > 1, "the connection goes on: {seen:?}");
    check_all(
        &SCHEMES,
        &[Case::new("302", [Read, Send(away), Serve])
            .counts("status")
            .says("status", "status 302, a redirect, which is not followed")
            .sees(stays)],
    );
}

#[test]
fn a_body_may_end_with_its_connection() {
    let unframed: fn(&[u8]) -> Vec<u8> = |payload| [b"HTTP/1.1 200 OK\r\n\r\n", payload].concat();
    let ends = Case::new("a body up to FIN", [Read, ReplyAs(unframed), Finish]).closes("server");
    check_all(&SCHEMES, &[ends]);
    // Without close_notify, nobody knows whether it was all (RFC 9112 section 9.8).
    let cut = Case::new("a body up to a FIN without close_notify", [Read, ReplyAs(unframed), Cut]);
    check_all(&["http"], &[cut.clone().closes("server")]);
    check_all(&["https"], &[cut.fails("truncated")]);
}

#[test]
fn too_few_replies_are_asked_for_again_or_fail_and_too_many_fail_the_connection() {
    let closing: fn(&[u8]) -> Vec<u8> = |payload| http("200 OK", &["Connection: close"], payload);
    let twice: fn(&[u8]) -> Vec<u8> = |payload| http("200 OK", &[], payload).repeat(2);
    let mut few = Case::new("two of four", [Read, Read, Read, Read, Reply, Reply, Finish])
        .fails("truncated")
        .with(pipelined);
    few.errors = vec![("truncated", 2)];
    check_all(
        &SCHEMES,
        &[
            few,
            Case::new("two of four, announced", [Read, Read, Read, Read, Reply, ReplyAs(closing)])
                .closes("server")
                .with(pipelined),
            Case::new("two for one", [Read, ReplyAs(twice)])
                .closes("protocol")
                .says("protocol", "a reply came to no request"),
        ],
    );
}
