//! RFC 9110 and RFC 9112, as they bind an origin server, over real sockets.
//!
//! `docs/conformance-http.md` names the test of each requirement. What the codec alone decides
//! is in `crates/proto/tests/all/conformance`.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::common::{
    Client, DATE, End, GET_MESSAGE, SWITCHED, UPGRADE, message_answer, post, posted, server,
};
use wiretrial_net::clock::realtime_ns;
use wiretrial_respond::{Script, Server};

fn request(line: &str, fields: &str) -> String {
    format!("{line} HTTP/1.1\r\nHost: a\r\n{fields}\r\n")
}

/// The head of the next answer, which must have a body of the length that it tells.
fn head(client: &mut Client) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.extend(client.take(1));
    }
    String::from_utf8(head).unwrap()
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let prefix = format!("{name}: ");
    head.lines().find_map(|line| line.strip_prefix(&prefix))
}

/// One request, its answer's head, and then whether the connection still serves.
fn answered(server: &Server, request: &str) -> String {
    let mut client = Client::http(server);
    client.send(request);
    let head = head(&mut client);
    if !request.starts_with("HEAD") && !head.contains(" 204 ") && !head.contains(" 304 ") {
        let length = field(&head, "Content-Length").map_or(0, |text| text.parse().unwrap());
        client.take(length);
    }
    client.send(GET_MESSAGE);
    client.expect(message_answer());
    head
}

fn status(head: &str) -> u16 {
    head.split(' ').nth(1).unwrap().parse().unwrap()
}

/// RFC 9110 section 6.6.1, section 5.6.7 for the format.
#[test]
fn every_answer_carries_the_time() {
    let server = server(Script::default());
    for line in ["GET /message", "GET /status/204", "GET /status/304", "GET /none", "PUT /message"]
    {
        let mut client = Client::http(&server);
        let before = realtime_ns() / 1_000_000_000;
        client.send(request(line, "Connection: close\r\n"));
        let (answer, _) = read_raw(&mut client);
        let after = realtime_ns() / 1_000_000_000;
        let date = field(&answer, "Date").expect("a date");
        let allowed: Vec<String> = (before..=after).map(imf_fixdate).collect();
        assert!(allowed.iter().any(|allowed| allowed == date), "{line}: {date}, not {allowed:?}");
        assert_eq!(answer.matches("\r\nDate: ").count(), 1, "{answer}");
    }
    for wrong in ["nonsense\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nA : b\r\n\r\n"] {
        let mut client = Client::http(&server);
        client.send(wrong);
        let (answer, _) = client.rest();
        assert!(String::from_utf8(answer).unwrap().contains(DATE), "{wrong}");
    }
}

/// Everything until the end, with the dates that were sent.
fn read_raw(client: &mut Client) -> (String, usize) {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let count = client.0.read_to_end(&mut bytes).unwrap();
    (String::from_utf8(bytes).unwrap(), count)
}

/// The system's own idea of the date, apart from the code under test.
fn imf_fixdate(seconds: u64) -> String {
    let output = std::process::Command::new("date")
        .args(["-u", "-d", &format!("@{seconds}"), "+%a, %d %b %Y %H:%M:%S GMT"])
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// RFC 9110 sections 9.1 and 9.3.2.
#[test]
fn get_and_head_are_served_alike() {
    let server = server(Script::default());
    for route in ["/", "/message", "/bytes/10", "/chunked/10", "/status/404", "/none"] {
        let mut client = Client::http(&server);
        client.send(request(&format!("GET {route}"), "Connection: close\r\n"));
        let (whole, _) = client.rest();
        let mut client = Client::http(&server);
        client.send(request(&format!("HEAD {route}"), "Connection: close\r\n"));
        let (head, end) = client.rest();
        let length = whole.windows(4).position(|it| it == b"\r\n\r\n").unwrap() + 4;
        assert_eq!(head, whole[..length], "{route}");
        assert_eq!(end, End::Fin);
    }
}

/// RFC 9110 sections 10.2.1 and 15.5.6.
#[test]
fn a_method_of_other_routes_is_told_the_allowed_ones() {
    let server = server(Script::default());
    for (line, allow) in [
        ("PUT /message", "GET, HEAD, OPTIONS"),
        ("DELETE /", "GET, HEAD, OPTIONS"),
        ("TRACE /bytes/1", "GET, HEAD, OPTIONS"),
        ("CONNECT a:443", "GET, HEAD, OPTIONS"),
        ("GET /echo", "POST, OPTIONS"),
        ("HEAD /echo", "POST, OPTIONS"),
        ("GET /status/405", "GET, HEAD, OPTIONS"),
    ] {
        let head = answered(&server, &request(line, ""));
        assert_eq!((status(&head), field(&head, "Allow")), (405, Some(allow)), "{line}: {head}");
    }
}

/// RFC 9110 section 9.1: methods are case-sensitive, and one that nobody knows is a 501.
#[test]
fn an_unknown_method_is_not_implemented() {
    let server = server(Script::default());
    for line in ["get /message", "BREW /", "M-SEARCH /none", "Post /echo"] {
        assert_eq!(status(&answered(&server, &request(line, ""))), 501, "{line}");
    }
}

/// RFC 9110 section 9.3.7.
#[test]
fn options_names_what_is_allowed() {
    let server = server(Script::default());
    for (target, allow) in [
        ("*", "GET, HEAD, POST, OPTIONS"),
        ("/message", "GET, HEAD, OPTIONS"),
        ("/echo", "POST, OPTIONS"),
    ] {
        let head = answered(&server, &request(&format!("OPTIONS {target}"), ""));
        assert_eq!((status(&head), field(&head, "Allow")), (200, Some(allow)), "{target}");
    }
    assert_eq!(status(&answered(&server, &request("OPTIONS /none", ""))), 404);
}

/// RFC 9112 section 3.2.2, RFC 9110 section 7.4.
#[test]
fn the_absolute_form_is_served_where_its_scheme_is() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    for target in ["http://a/message", "HTTP://elsewhere:1/message?b", "http://[::1]/message"] {
        client.send(format!("GET {target} HTTP/1.1\r\nHost: another\r\n\r\n"));
        client.expect(message_answer());
    }
    for target in ["https://a/message", "ftp://a/message"] {
        let head = answered(&server, &request(&format!("GET {target}"), ""));
        assert_eq!(status(&head), 421, "{target}");
    }
}

/// RFC 9110 sections 11.6.1, 15.3.6, 15.3.7.1, 15.5.2, 15.5.22 and 7.8.
#[test]
fn a_status_says_what_it_must() {
    let server = server(Script::default());
    for (code, name, value) in [
        (205, "Content-Length", "0"),
        (206, "Content-Range", "bytes 0-10/11"),
        (401, "WWW-Authenticate", "Basic realm=\"status\""),
        (407, "Proxy-Authenticate", "Basic realm=\"status\""),
        (426, "Upgrade", "websocket"),
        (426, "Connection", "Upgrade"),
    ] {
        let head = answered(&server, &request(&format!("GET /status/{code}"), ""));
        assert_eq!((status(&head), field(&head, name)), (code, Some(value)), "{head}");
    }
}

/// RFC 9110 sections 13.1.1, 13.1.2, 13.1.3, 13.1.4 and 13.2.1.
#[test]
fn conditions_are_judged_for_a_resource_without_validators() {
    let server = server(Script::default());
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    let rows = [
        ("GET /message", "If-Match: *", 200),
        ("GET /message", "If-Match: \"x\"", 412),
        ("HEAD /message", "If-Match: \"x\", \"y\"", 412),
        ("GET /message", "If-None-Match: *", 304),
        ("HEAD /bytes/5", "If-None-Match: *", 304),
        ("GET /message", "If-None-Match: \"x\"", 200),
        ("GET /message", "If-Match: \"x\"\r\nIf-None-Match: *", 412),
        // A resource without a date of modification, whatever the date.
        ("GET /message", &format!("If-Modified-Since: {date}"), 200),
        ("GET /message", &format!("If-Unmodified-Since: {date}"), 200),
        // What would not have succeeded, or selects nothing.
        ("GET /none", "If-Match: \"x\"", 404),
        ("GET /status/500", "If-None-Match: *", 500),
        ("PUT /message", "If-Match: \"x\"", 405),
        ("OPTIONS /message", "If-None-Match: *", 200),
    ];
    for (line, fields, expected) in rows {
        let head = answered(&server, &request(line, &format!("{fields}\r\n")));
        assert_eq!(status(&head), expected, "{line} {fields}");
    }
    let mut client = Client::http(&server);
    client.send(request("POST /echo", "If-None-Match: *\r\nContent-Length: 2\r\n") + "ok");
    assert_eq!(status(&head(&mut client)), 412);
}

/// RFC 9110 sections 14.2 and 13.1.5: ranges are not supported, so they are passed over.
#[test]
fn ranges_are_passed_over() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    for fields in
        ["Range: bytes=0-1\r\n", "If-Range: \"x\"\r\n", "Range: x=1\r\nIf-Range: \"x\"\r\n"]
    {
        client.send(request("GET /message", fields));
        client.expect(message_answer());
    }
}

/// RFC 9110 section 10.1.1.
#[test]
fn an_expectation_is_answered_before_the_content_comes() {
    let server = server(Script::default());
    let expect = "Expect: 100-continue\r\nContent-Length: 5\r\n";
    let mut client = Client::http(&server);
    client.send(request("POST /echo", expect));
    client.expect("HTTP/1.1 100 Continue\r\n\r\n");
    client.send("hello");
    client.expect(posted("hello"));
    // Where the head alone decides, the final answer comes in its place.
    for (line, fields, code) in [
        ("POST /none", "", 404),
        ("PUT /message", "", 405),
        ("POST /echo", "If-Match: \"x\"\r\n", 412),
        ("BREW /echo", "", 501),
    ] {
        let mut client = Client::http(&server);
        client.send(request(line, &format!("{fields}{expect}")));
        let (answer, end) = client.rest();
        let answer = String::from_utf8(answer).unwrap();
        assert_eq!((status(&answer), end), (code, End::Fin), "{line}");
        assert_eq!(field(&answer, "Connection"), Some("close"), "{line}");
    }
    let mut client = Client::http(&server);
    client.send(request("POST /echo", "Expect: more\r\nContent-Length: 5\r\n"));
    let (answer, end) = client.rest();
    assert!(answer.starts_with(b"HTTP/1.1 417 "));
    assert_eq!(end, End::Fin);
}

/// RFC 9110 sections 10.1.1 and 15.2.
#[test]
fn an_old_client_gets_no_interim_answer() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send("POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    client.send("ok");
    let (answer, end) = client.rest();
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n") && answer.ends_with(b"\r\n\r\nok"));
    assert_eq!(end, End::Fin);
}

/// RFC 9112 section 9.3: the body is read, so the connection can go on.
#[test]
fn content_that_nobody_wants_is_read() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    let body = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
    for line in ["POST /message", "GET /none", "BREW /", "OPTIONS *"] {
        client.send(request(line, &format!("Content-Length: {}\r\n", body.len())) + body);
        let head = head(&mut client);
        client.take(field(&head, "Content-Length").unwrap().parse().unwrap());
    }
    client.send(GET_MESSAGE);
    client.expect(message_answer());
}

/// RFC 9112 section 9.6.
#[test]
fn nothing_behind_close_is_processed() {
    let server = server(Script::default());
    for last in [
        "GET /message HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET /message HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE\r\n\r\n",
        "GET /message HTTP/1.0\r\n\r\n",
        "GET /message HTTP/1.1\r\n\r\n",
    ] {
        let mut client = Client::http(&server);
        client.send(last.to_owned() + &post("never"));
        let (answer, end) = client.rest();
        let answer = String::from_utf8(answer).unwrap();
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{last}: {answer}");
        assert_eq!(field(&answer, "Connection"), Some("close"), "{last}");
        assert_eq!(end, End::Fin, "{last}");
    }
}

/// RFC 9112 section 9.3.
#[test]
fn an_old_client_stays_where_it_says_so() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    for _ in 0..2 {
        client.send("GET /message HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        let head = head(&mut client);
        assert_eq!(field(&head, "Connection"), Some("keep-alive"));
        client.take(64);
    }
}

/// RFC 9112 section 9.3.2.
#[test]
fn pipelined_answers_come_in_the_order_of_their_requests() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    let long = request("GET /bytes/300000", "");
    client.send([&long, GET_MESSAGE, &post("x"), &long, &post("y")].concat());
    for expected in ["300000", "64", "1", "300000", "1"] {
        let head = head(&mut client);
        let length = field(&head, "Content-Length").unwrap();
        assert_eq!(length, expected);
        client.take(length.parse().unwrap());
    }
}

/// RFC 9110 sections 7.8 and 15.2.2.
#[test]
fn an_upgrade_is_granted_behind_the_answers_before_it() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send(GET_MESSAGE.to_owned() + UPGRADE);
    client.expect(message_answer());
    client.expect(SWITCHED);
    let mut client = Client::http(&server);
    client.send(UPGRADE.replace("HTTP/1.1", "HTTP/1.0"));
    assert!(client.rest().0.starts_with(b"HTTP/1.1 404 "));
    let mut client = Client::http(&server);
    client.send(UPGRADE.replace("Version: 13", "Version: 12"));
    let answer = String::from_utf8(client.rest().0).unwrap();
    assert_eq!((status(&answer), field(&answer, "Upgrade")), (426, Some("websocket")));
    assert!(answer.contains("\r\nConnection: Upgrade\r\n"), "{answer}");
}

/// RFC 9112 section 3, RFC 9110 section 5.4.
#[test]
fn what_is_too_long_is_refused() {
    let server = server(Script::default());
    let long = "x".repeat(70_000);
    for (head, code) in
        [(format!("GET /{long}"), 414), (format!("GET / HTTP/1.1\r\nHost: a\r\nA: {long}"), 431)]
    {
        let mut client = Client::http(&server);
        client.send(head);
        let (answer, end) = client.rest();
        assert_eq!((status(&String::from_utf8(answer).unwrap()), end), (code, End::Fin));
    }
}
