//! What an origin server must refuse, and with which status.

use wiretrial_proto::ErrorClass;
use wiretrial_proto::http1::Http1Server;

use crate::common::{Case, Seen, check_server, run_server};

/// The head is refused with this status, however it is split, and nothing behind it is read.
fn refused(input: &str, status: u16) -> String {
    let class = match status {
        414 | 431 => ErrorClass::HeaderTooLarge,
        426 => ErrorClass::Upgrade,
        _ => ErrorClass::Protocol,
    };
    let expected = vec![Seen::Error(class)];
    let name = &input[..input.len().min(200)];
    let case = Case { name, input: input.as_bytes(), fin: false, expected, trailing: None };
    let out = String::from_utf8(check_server(&case, Http1Server::new)).unwrap();
    assert!(out.starts_with(&format!("HTTP/1.1 {status} ")), "{name}: {out}");
    assert!(out.contains("\r\nConnection: close\r\n"), "{name}: {out}");
    assert_closed_after(input);
    out
}

/// RFC 9112 section 9.6: after a refusal, which says close, no request is processed.
fn assert_closed_after(input: &str) {
    let mut codec = Http1Server::new();
    run_server(&mut codec, input.as_bytes(), &[]);
    let next = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    assert_eq!(run_server(&mut codec, next, &[]).seen, [], "{input}");
}

/// RFC 9112 section 5.1.
#[test]
fn white_space_before_a_colon_is_refused() {
    for field in ["A : b", "A\t: b", "Host : h", "Content-Length : 0"] {
        refused(&format!("GET / HTTP/1.1\r\nHost: h\r\n{field}\r\n\r\n"), 400);
    }
}

/// RFC 9112 section 3.2.
#[test]
fn a_request_has_one_valid_host() {
    refused("GET / HTTP/1.1\r\n\r\n", 400);
    refused("GET http://h/ HTTP/1.1\r\n\r\n", 400);
    for version in ["1.0", "1.1"] {
        refused(&format!("GET / HTTP/{version}\r\nHost: h\r\nHost: h\r\n\r\n"), 400);
        refused(&format!("GET / HTTP/{version}\r\nHost: h\r\nHost:\r\n\r\n"), 400);
        for host in
            ["a b", "a/b", "u@h", "h:x", "h:1:2", "a, b", "[::1", "[]", "[h]", "a%zz", "h\u{e9}"]
        {
            if host != "a, b" {
                refused(&format!("GET / HTTP/{version}\r\nHost: {host}\r\n\r\n"), 400);
            }
        }
    }
}

/// RFC 9112 section 2.2.
#[test]
fn stray_line_ends_and_white_space_are_refused_in_requests() {
    for head in [
        "GET / HTTP/1.1\r\n Host: h\r\n\r\n",
        "GET / HTTP/1.1\r\n\tA: b\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n",
        "GET /\r HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\rHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\r\n\r\n",
    ] {
        refused(head, 400);
    }
}

/// RFC 9112 section 5.2.
#[test]
fn a_folded_line_is_refused_in_requests() {
    for field in ["A: b\r\n c", "A: b\r\n\tc", "Host:\r\n h", "A:\r\n \r\n b"] {
        refused(&format!("GET / HTTP/1.1\r\nHost: h\r\n{field}\r\n\r\n"), 400);
    }
}

/// RFC 9110 section 5.5.
#[test]
fn line_ends_and_nul_in_a_value_are_refused_in_requests() {
    for byte in ['\r', '\n', '\0'] {
        refused(&format!("GET / HTTP/1.1\r\nHost: h\r\nA: b{byte}c\r\n\r\n"), 400);
    }
}

/// RFC 9112 section 3.
#[test]
fn a_target_too_long_is_refused_with_414() {
    refused(&format!("GET /{}", "a".repeat(64 * 1024)), 414);
}

/// RFC 9110 section 5.4.
#[test]
fn fields_too_large_are_refused_with_431() {
    let head = "GET / HTTP/1.1\r\nHost: h\r\n";
    refused(&format!("{head}A: {}", "a".repeat(64 * 1024)), 431);
    refused(&format!("{head}{}", "A: b\r\n".repeat(11_000)), 431);
}

/// RFC 9112 sections 6.1 and 6.3.
#[test]
fn chunked_must_be_the_last_coding_of_a_request() {
    let with = |value| format!("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: {value}\r\n\r\n");
    for value in ["gzip", "chunked, gzip", "chunked, identity", "identity", "chunked;q=1", "", ","]
    {
        refused(&with(value), 400);
    }
    refused(&with("gzip\r\nTransfer-Encoding: x"), 400);
    refused(&with("chunked\r\nTransfer-Encoding: gzip"), 400);
    refused(&with("chunked, chunked"), 400);
    // Well framed, but nobody here can decode it (section 6.1).
    refused(&with("gzip, chunked"), 501);
    refused(&with("gzip\r\nTransfer-Encoding: chunked"), 501);
}

/// RFC 9112 section 6.3.
#[test]
fn an_invalid_length_is_refused() {
    for value in ["", "x", "-1", "+1", "0x1", "1.0", "1 2", "1,2", "1,", "18446744073709551616"] {
        refused(&format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {value}\r\n\r\n"), 400);
    }
    refused("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400);
}

/// RFC 9112 section 6.1.
#[test]
fn a_coding_in_http_1_0_is_refused() {
    for length in ["", "Content-Length: 5\r\n"] {
        refused(&format!("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n{length}\r\n"), 400);
    }
}

/// RFC 9110 sections 4.2.1, 7.1 and 9.3.6; RFC 9112 section 3.2.
#[test]
fn a_target_in_no_form_of_its_method_is_refused() {
    for (method, target) in [
        ("GET", "a"),
        ("GET", "*"),
        ("GET", "http:///a"),
        ("GET", "https://?a"),
        ("GET", "http://u@h/"),
        ("GET", "/a#b"),
        ("GET", "h:80"),
        ("CONNECT", "h"),
        ("CONNECT", "h:"),
        ("CONNECT", "h:0"),
        ("CONNECT", "h:65536"),
        ("CONNECT", "h:http"),
        ("CONNECT", "/"),
    ] {
        refused(&format!("{method} {target} HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
    }
}

/// RFC 9112 section 2.3, RFC 9110 section 15.6.6.
#[test]
fn another_major_version_is_refused_with_505() {
    for version in ["HTTP/0.9", "HTTP/2.0", "HTTP/3.1", "HTTP/9.9"] {
        refused(&format!("GET / {version}\r\nHost: h\r\n\r\n"), 505);
    }
    for version in ["HTTP/1", "HTTP/1.", "HTTP/1.10", "HTTP/11.1", "http/1.1", "HTTP1.1", "X/1.1"] {
        refused(&format!("GET / {version}\r\nHost: h\r\n\r\n"), 400);
    }
}

/// RFC 9110 section 10.1.1.
#[test]
fn another_expectation_is_refused_with_417() {
    for value in ["x", "100-continue, x", "200-ok"] {
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n";
        refused(&format!("{head}Expect: {value}\r\n\r\n"), 417);
    }
}

/// RFC 9110 sections 7.8 and 15.5.22.
#[test]
fn a_426_names_the_upgrade_in_both_fields() {
    let answer = refused(
        "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 8\r\n\r\n",
        426,
    );
    assert!(answer.contains("\r\nUpgrade: websocket\r\n"), "{answer}");
    assert!(answer.contains("\r\nConnection: Upgrade\r\n"), "{answer}");
}
