//! What a user agent must make of responses.

use wiretrial_proto::http1::{Http1Client, PayloadLength, RequestHead};
use wiretrial_proto::{ClientSession, ErrorClass, Message, MessageKind};

use crate::common::{Case, Seen, check_client, run_client};

/// A codec that sent these requests; `!` asks the server to close.
fn sent(methods: &[&str]) -> Http1Client {
    let head = |method: &&str| {
        let (method, close) = method.strip_suffix('!').map_or((*method, false), |it| (it, true));
        RequestHead::new(method, "/", "h", &[], close, PayloadLength::None).unwrap()
    };
    let mut codec = Http1Client::new(methods.iter().map(head).collect());
    for route in 0..methods.len() {
        codec.encode(&Message { number: 0, route, payload: b"", fill: None }, &mut Vec::new());
    }
    codec
}

fn reply(status: u16, payload: &str) -> Seen {
    let payload = payload.as_bytes().to_vec();
    Seen::Reply { status, kind: MessageKind::Body, payload, last: false }
}

fn last(status: u16, payload: &str) -> Seen {
    let payload = payload.as_bytes().to_vec();
    Seen::Reply { status, kind: MessageKind::Body, payload, last: true }
}

/// Checks what is reported, however the bytes are split.
fn reads(methods: &[&str], input: impl AsRef<[u8]>, expected: &[Seen]) {
    let input = input.as_ref();
    let name = String::from_utf8_lossy(input);
    let case = Case { name: &name, input, fin: false, expected: expected.to_vec(), trailing: None };
    check_client(&case, || sent(methods));
}

fn refused(input: impl AsRef<[u8]>) {
    reads(&["GET"], input, &[Seen::Error(ErrorClass::Protocol)]);
}

/// RFC 9112 section 2.2.
#[test]
fn responses_are_octets_not_characters() {
    let head = b"HTTP/1.1 200 \xff\xfe\r\nX: \xc3\x28\x80\r\nContent-Length: 2\r\n\r\n\xf0\x9f";
    let payload = b"\xf0\x9f".to_vec();
    let seen = Seen::Reply { status: 200, kind: MessageKind::Body, payload, last: false };
    reads(&["GET"], head, &[seen]);
}

/// RFC 9112 section 2.2: nothing else may come before the fields or break a line.
#[test]
fn stray_line_ends_and_white_space_are_refused() {
    for head in [
        "HTTP/1.1 200 O\rK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA\r: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\n A: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\tA: b\r\nB: c\r\n\r\n",
    ] {
        refused(head);
    }
}

/// RFC 9112 section 5.2.
#[test]
fn folded_lines_read_as_white_space() {
    let head = "HTTP/1.1 200 OK\r\n";
    let cases = [
        (format!("{head}A: b\r\n c\r\nContent-Length: 2\r\n\r\nok"), reply(200, "ok")),
        (format!("{head}Content-Length:\r\n 2\r\n\r\nok"), reply(200, "ok")),
        (format!("{head}Content-Length: \t\r\n \t\r\n\t2 \r\n \r\n\r\nok"), reply(200, "ok")),
        (
            format!("{head}Connection: keep-alive,\r\n\tclose\r\nContent-Length: 0\r\n\r\n"),
            last(200, ""),
        ),
        (
            format!(
                "{head}Transfer-Encoding:\r\n chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n c\r\n\r\n"
            ),
            reply(200, "ok"),
        ),
    ];
    for (input, expected) in cases {
        reads(&["GET"], input, &[expected]);
    }
}

/// RFC 9112 section 5.2: a fold is white space, which stands in no number and no token.
#[test]
fn a_fold_joins_nothing() {
    refused("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\n");
    refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chun\r\n ked\r\n\r\n");
    refused("HTTP/1.1 200 OK\r\nA: b\r\n \0\r\n\r\n");
}

/// RFC 9110 section 5.5.
#[test]
fn white_space_around_a_value_is_no_part_of_it() {
    for value in ["2", " 2", "\t 2", "2 \t", "  2  "] {
        reads(
            &["GET"],
            format!("HTTP/1.1 200 OK\r\nContent-Length:{value}\r\n\r\nok"),
            &[reply(200, "ok")],
        );
    }
}

/// RFC 9110 section 5.5.
#[test]
fn line_ends_and_nul_in_a_value_are_refused() {
    for byte in ['\r', '\n', '\0'] {
        refused(format!("HTTP/1.1 200 OK\r\nA: b{byte}c\r\n\r\n"));
        refused(format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b{byte}c\r\n\r\n"
        ));
    }
}

/// RFC 9110 section 5.6.1.2.
#[test]
fn empty_members_of_a_list_are_passed_over() {
    reads(
        &["GET"],
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        &[reply(200, "")],
    );
    reads(
        &["GET"],
        "HTTP/1.1 200 OK\r\nConnection: ,, ,\t, close ,\r\nTransfer-Encoding: ,chunked,,\r\n\r\n\
         0\r\n\r\n",
        &[last(200, "")],
    );
}

/// RFC 9112 section 6.3, RFC 9110 section 6.4.1.
#[test]
fn what_has_no_body_has_none_whatever_its_fields_say() {
    let next = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!";
    for framing in ["", "Content-Length: 7\r\n", "Transfer-Encoding: chunked\r\n"] {
        for status in [204, 304] {
            let input = format!("HTTP/1.1 {status} X\r\n{framing}\r\n{next}");
            reads(&["GET", "GET"], input, &[reply(status, ""), reply(200, "!")]);
        }
        for status in [200, 404, 500] {
            let input = format!("HTTP/1.1 {status} X\r\n{framing}\r\n{next}");
            reads(&["HEAD", "GET"], input, &[reply(status, ""), reply(200, "!")]);
        }
        for status in [100, 102, 103, 199] {
            let input = format!("HTTP/1.1 {status} X\r\n{framing}\r\n{next}");
            reads(&["GET"], input, &[reply(200, "!")]);
        }
    }
}

/// RFC 9112 section 6.3.
#[test]
fn an_invalid_length_discards_the_response() {
    for value in
        ["", "x", "-1", "+1", "0x1", "1.0", "1 2", "1;2", "\"1\"", "1,2", "1,", ",1", "1_0"]
    {
        refused(format!("HTTP/1.1 200 OK\r\nContent-Length: {value}\r\n\r\n1"));
    }
    for (first, second) in [("1", "2"), ("1", "x"), ("x", "1"), ("1", "")] {
        let lengths = format!("Content-Length: {first}\r\nContent-Length: {second}\r\n");
        refused(format!("HTTP/1.1 200 OK\r\n{lengths}\r\n1"));
    }
}

/// RFC 9112 section 6.3: the exception that the rule before names.
#[test]
fn one_length_said_many_times_is_one_length() {
    for lengths in ["Content-Length: 1, 1,1", "Content-Length: 1\r\nContent-Length: 01"] {
        let input = format!("HTTP/1.1 200 OK\r\n{lengths}\r\n\r\n1");
        reads(&["GET"], input, &[reply(200, "1")]);
    }
}

/// RFC 9110 section 8.6, RFC 9112 section 7.1.
#[test]
fn numbers_too_large_to_hold_are_no_small_ones() {
    let part = Seen::Part(b"abc".to_vec());
    let most = "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nabc";
    reads(&["GET"], most, std::slice::from_ref(&part));
    for number in ["18446744073709551616", "18446744073709551619", "100000000000000000000000"] {
        refused(format!("HTTP/1.1 200 OK\r\nContent-Length: {number}\r\n\r\nabc"));
    }
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    reads(&["GET"], format!("{head}ffffffffffffffff\r\nabc"), &[part]);
    for number in ["10000000000000000", "10000000000000003", "fffffffffffffffff"] {
        refused(format!("{head}{number}\r\nabc"));
    }
}

/// RFC 9112 sections 6.3 and 8.
#[test]
fn an_end_too_early_makes_a_response_incomplete() {
    let head = "HTTP/1.1 200 OK\r\n";
    for input in [
        format!("{head}Content-Length: 2\r\n\r\no"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n2\r\no"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n0\r\n"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n"),
        head.to_owned(),
    ] {
        let expected = vec![Seen::Error(ErrorClass::Truncated)];
        let case =
            Case { name: &input, input: input.as_bytes(), fin: true, expected, trailing: None };
        check_client(&case, || sent(&["GET"]));
    }
}

/// RFC 9112 section 8: a body that ends with the connection is complete when its head was.
#[test]
fn an_end_completes_what_it_frames() {
    let input = b"HTTP/1.1 200 OK\r\n\r\nok";
    let expected = vec![last(200, "ok")];
    let case = Case { name: "until the end", input, fin: true, expected, trailing: None };
    check_client(&case, || sent(&["GET"]));
}

/// RFC 9112 sections 6.3 and 9.2.
#[test]
fn bytes_that_nobody_asked_for_are_no_response() {
    let one = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let error = Seen::Error(ErrorClass::Protocol);
    reads(&[], one, std::slice::from_ref(&error));
    reads(&["GET"], format!("{one}{one}"), &[reply(200, ""), error.clone()]);
    reads(&["HEAD"], format!("{one}x"), &[reply(200, ""), error]);
}

/// RFC 9112 sections 6.1 and 7.1.
#[test]
fn chunks_are_read() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for body in [
        "A\r\n0123456789\r\n0\r\n\r\n",
        "a\r\n0123456789\r\n0\r\n\r\n",
        "000a\r\n0123456789\r\n000\r\n\r\n",
        "1\r\n0\r\n9\r\n123456789\r\n0\r\n\r\n",
    ] {
        reads(&["GET"], format!("{head}{body}"), &[reply(200, "0123456789")]);
    }
}

/// RFC 9112 section 7.1.1; RFC 9110 section 5.6.3 for the white space in them.
#[test]
fn extensions_of_chunks_are_passed_over() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for extension in [";a", ";a=b", ";a=\"b;c\"", " \t; a = \"\\\"\"\t;b", ";;", ";a=\u{e9}"] {
        let body = format!("2{extension}\r\nok\r\n0{extension}\r\n\r\n");
        reads(&["GET"], format!("{head}{body}"), &[reply(200, "ok")]);
    }
}

/// RFC 9112 section 7.1.2, RFC 9110 section 6.5.1.
#[test]
fn trailers_say_nothing_about_framing_or_the_connection() {
    let trailers = "Connection: close\r\nContent-Length: 9\r\nTransfer-Encoding: gzip\r\n";
    let input = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{trailers}\r\n\
         HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    );
    reads(&["GET", "GET"], input, &[reply(200, ""), reply(200, "")]);
}

/// RFC 9112 section 6.1.
#[test]
fn a_coding_in_http_1_0_is_faulty_framing() {
    refused("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    refused("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n");
}

/// RFC 9112 section 9.2, RFC 9110 section 6.
#[test]
fn each_response_goes_to_the_oldest_request() {
    let input = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\
        HTTP/1.1 103 Early Hints\r\n\r\n\
        HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nb\
        HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\n\
        HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nd";
    let expected = [reply(200, ""), reply(201, "b"), reply(404, ""), reply(200, "d")];
    reads(&["HEAD", "GET", "HEAD", "GET"], input, &expected);
}

/// RFC 9110 section 15.2.
#[test]
fn any_number_of_interim_responses_may_come() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let input = format!("{}HTTP/1.1 204 No Content\r\n\r\n", interim.repeat(20));
    reads(&["GET"], input, &[reply(204, "")]);
}

/// RFC 9110 section 15.
#[test]
fn an_unknown_status_is_read_like_its_class() {
    for status in [199, 299, 399, 499, 599] {
        let input = format!(
            "HTTP/1.1 {status} ?\r\n{}\r\n",
            if status < 200 { "" } else { "Content-Length: 0\r\n" }
        );
        let expected: &[Seen] = if status < 200 { &[] } else { &[reply(status, "")] };
        reads(&["GET"], input, expected);
    }
}

/// RFC 9110 section 2.5, RFC 9112 section 2.3.
#[test]
fn a_later_minor_version_reads_as_1_1() {
    let input = "HTTP/1.9 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    reads(&["GET"], input, &[reply(200, "")]);
}

/// RFC 9112 section 9.6.
#[test]
fn after_close_no_request_follows() {
    let close = b"HTTP/1.1 200 OK\r\nConnection: foo, CLOSE\r\nContent-Length: 0\r\n\r\n";
    let mut codec = sent(&["GET", "GET"]);
    assert_eq!(run_client(&mut codec, close, &[], false).seen, [last(200, "")]);
    assert!(!codec.is_open(), "the response said close");
    let behind = run_client(&mut codec, b"HTTP/1.1 200 OK\r\n\r\n", &[], false).seen;
    assert_eq!(behind, [Seen::Error(ErrorClass::Protocol)], "and nothing behind it is read");
    let mut codec = sent(&["GET!"]);
    assert!(!codec.is_open(), "the request said close");
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(run_client(&mut codec, answer, &[], false).seen, [last(200, "")]);
}
