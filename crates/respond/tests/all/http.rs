//! HTTP/1.1, byte by byte, over real sockets.

use crate::common::{
    Client, DATE, End, GET_MESSAGE, await_all_gone, bytes_head, message_answer, pattern, post,
    post_to, posted, server,
};
use wiretrial_respond::Script;

const CLOSE: &str = "Connection: close\r\n";

fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")
}

fn text_answer(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{DATE}Content-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn each_route_answers_and_the_connection_stays() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send(GET_MESSAGE);
    client.expect(message_answer());

    client.send(get("/"));
    client.expect(format!(
        "HTTP/1.1 200 OK\r\n{DATE}Content-Type: text/html; charset=utf-8\r\nContent-Length: "
    ));
    let mut length = String::new();
    while !length.ends_with('\r') {
        length.push(char::from(client.take(1)[0]));
    }
    client.expect("\n\r\n");
    let page = client.take(length.trim().parse().unwrap());
    assert!(page.starts_with(b"<!doctype html>") && page.ends_with(b"</ul>\n"));

    client.send(get("/bytes/1000"));
    client.expect(bytes_head(1000));
    client.expect(pattern(1000));
    client.send(get("/bytes/0"));
    client.expect(bytes_head(0));

    client.send(get("/status/503"));
    client.expect(text_answer("503 Service Unavailable", "status 503\n"));
    client.send(get("/status/204"));
    client.expect(format!("HTTP/1.1 204 No Content\r\n{DATE}"));
    let rest = client.take("Content-Type: text/plain; charset=utf-8\r\n\r\n".len());
    assert!(rest.ends_with(b"\r\n\r\n"));

    client.send(get("/nowhere"));
    client.expect(text_answer("404 Not Found", "no such route\n"));
    client.send(post("hello"));
    client.expect(posted("hello"));
    client.send(post(""));
    client.expect(posted(""));
    assert_eq!(server.stats().accepted, 1);
}

#[test]
fn the_routes_of_a_service_answer_what_they_are_asked() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send(post_to("/test", "hello"));
    client.expect(text_answer("200 OK", "received: hello"));
    client.send(post_to("/test", ""));
    client.expect(text_answer("200 OK", "received: "));
    client.send(get("/test/status"));
    client.expect(text_answer("200 OK", "OK"));
    client.send(get("/test/labels/a%2Db"));
    client.expect(text_answer("200 OK", "a-b"));
    client.send(get("/messages/%22"));
    client.expect(format!(
        "HTTP/1.1 200 OK\r\n{DATE}Content-Type: application/json\r\nContent-Length: 11\r\n\r\n\
         {{\"id\":\"\\\"\"}}"
    ));
    for target in ["/test/labels/", "/test/labels", "/messages/", "/messages/1/2"] {
        client.send(get(target));
        client.expect(text_answer("404 Not Found", "no such route\n"));
    }
    assert_eq!(server.stats().accepted, 1);
}

#[test]
fn chunked_answers_hold_the_same_pattern() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send(get("/chunked/10"));
    let head = &format!(
        "HTTP/1.1 200 OK\r\n{DATE}Content-Type: application/octet-stream\r\n\
         Transfer-Encoding: chunked\r\n\r\n"
    );
    client.expect(head);
    client.expect("a\r\nABCDEFGHIJ\r\n0\r\n\r\n");
    client.send(get("/chunked/0"));
    client.expect(head);
    client.expect("0\r\n\r\n");

    client.send(get("/chunked/3000000"));
    client.expect(head);
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        while !size.ends_with("\r\n") {
            size.push(char::from(client.take(1)[0]));
        }
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        body.extend(client.take(size));
        client.expect("\r\n");
        if size == 0 {
            break;
        }
    }
    assert!(body == pattern(3_000_000));
}

#[test]
fn head_gives_the_head_alone() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send("HEAD /message HTTP/1.1\r\nHost: a\r\n\r\n");
    let answer = message_answer();
    client.expect(&answer[..answer.len() - 64]);
    client.send("HEAD /bytes/5000000 HTTP/1.1\r\nHost: a\r\n\r\n");
    client.expect(bytes_head(5_000_000));
    client.send("HEAD /chunked/5 HTTP/1.1\r\nHost: a\r\n\r\n");
    client.expect(format!(
        "HTTP/1.1 200 OK\r\n{DATE}Content-Type: application/octet-stream\r\n\
         Transfer-Encoding: chunked\r\n\r\n"
    ));
    client.send(GET_MESSAGE);
    client.expect(message_answer());
}

#[test]
fn a_wrong_method_is_told_the_right_ones() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    let refused = |allow: &str| {
        let line = "HTTP/1.1 405 Method Not Allowed";
        format!("{line}\r\n{DATE}Content-Length: 0\r\nAllow: {allow}, OPTIONS\r\n\r\n")
    };
    for target in ["/echo", "/test"] {
        client.send(get(target));
        client.expect(refused("POST"));
    }
    for target in ["/message", "/test/status", "/test/labels/x", "/messages/7"] {
        client.send(post_to(target, "hello"));
        client.expect(refused("GET, HEAD"));
    }
    client.send(GET_MESSAGE);
    client.expect(message_answer());
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    let bodies: Vec<String> = (0..500).map(|n| format!("body {n}")).collect();
    client.send(bodies.iter().map(|body| post(body)).collect::<String>());
    for body in &bodies {
        client.expect(posted(body));
    }
    assert_eq!(server.stats().requests, 500);
}

#[test]
fn requests_behind_a_long_answer_wait_for_it() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send(get("/bytes/20000000") + GET_MESSAGE + &post("last"));
    client.expect(bytes_head(20_000_000));
    client.expect(pattern(20_000_000));
    client.expect(message_answer());
    client.expect(posted("last"));
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    for byte in post("hello").bytes() {
        client.send([byte]);
    }
    client.expect(posted("hello"));
}

#[test]
fn a_chunked_body_comes_back_chunked() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send(
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
         5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: t\r\n\r\n",
    );
    client.expect(format!(
        "HTTP/1.1 200 OK\r\n{DATE}Content-Type: application/octet-stream\r\n\
         Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
    ));
    client.send(
        "POST /test HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    );
    client.expect(format!(
        "HTTP/1.1 200 OK\r\n{DATE}Content-Type: text/plain; charset=utf-8\r\n\
         Transfer-Encoding: chunked\r\n\r\na\r\nreceived: \r\n5\r\nhello\r\n0\r\n\r\n"
    ));
}

#[test]
fn a_client_that_waits_for_permission_gets_it() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send(
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
    );
    client.expect("HTTP/1.1 100 Continue\r\n\r\n");
    client.send("hello");
    client.expect(posted("hello"));
    client.send(
        "POST /test HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
    );
    client.expect("HTTP/1.1 100 Continue\r\n\r\n");
    client.send("hello");
    client.expect(text_answer("200 OK", "received: hello"));
    // Where its body is not wanted it gets the answer, and the end.
    client.send(
        "POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
    );
    let (answer, end) = client.rest();
    assert!(answer.starts_with(b"HTTP/1.1 404 Not Found\r\n"));
    assert_eq!(end, End::Fin);
}

#[test]
fn close_is_kept_and_said() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send("GET /message HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let (answer, end) = client.rest();
    assert_eq!(end, End::Fin);
    let answer = String::from_utf8(answer).unwrap();
    assert_eq!(answer.replace(CLOSE, "").as_bytes(), message_answer());
    assert!(answer.contains(CLOSE));
}

#[test]
fn an_old_client_gets_the_end_as_the_end() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send("GET /message HTTP/1.0\r\n\r\n");
    let (answer, end) = client.rest();
    assert_eq!(end, End::Fin);
    assert!(answer.ends_with(wiretrial_respond::MESSAGE));
    let mut client = Client::http(&server);
    client.send("GET /chunked/100000 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    let (answer, end) = client.rest();
    assert_eq!(end, End::Fin);
    assert!(answer.ends_with(&pattern(100_000)));
    assert!(!String::from_utf8(answer).unwrap().contains("chunked"));
}

#[test]
fn close_after_ends_each_connection_at_its_nth_answer() {
    let script = Script { close_after: std::num::NonZeroU32::new(3), ..Script::default() };
    let server = server(script);
    for _ in 0..2 {
        let mut client = Client::http(&server);
        client.send(GET_MESSAGE.repeat(5));
        client.expect(message_answer());
        client.expect(message_answer());
        let (answer, end) = client.rest();
        assert_eq!(end, End::Fin);
        let answer = String::from_utf8(answer).unwrap();
        assert_eq!(answer.replace(CLOSE, "").as_bytes(), message_answer());
    }
}

#[test]
fn who_is_still_sending_when_the_server_closes_is_not_reset() {
    let script = Script { close_after: std::num::NonZeroU32::new(1), ..Script::default() };
    let server = server(script);
    let mut client = Client::http(&server);
    client.send(GET_MESSAGE);
    assert_eq!(client.rest().1, End::Fin);
    // An RST, which the first of these would call for, makes the others fail.
    for _ in 0..3 {
        client.send(GET_MESSAGE);
        std::thread::park_timeout(std::time::Duration::from_millis(50));
    }
    // And it is not listened to for ever.
    await_all_gone(&server, 1);
}

#[test]
fn what_is_no_request_is_refused_and_the_connection_ends() {
    let server = server(Script::default());
    let table = [
        ("nonsense\r\n\r\n", "HTTP/1.1 400 "),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", "HTTP/1.1 505 "),
        ("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "),
        ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: br\r\n\r\n", "HTTP/1.1 400 "),
        (
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: br, chunked\r\n\r\n",
            "HTTP/1.1 501 ",
        ),
    ];
    for (request, answer) in table {
        let mut client = Client::http(&server);
        client.send(request);
        let (got, end) = client.rest();
        assert!(got.starts_with(answer.as_bytes()), "{request:?}: {got:?}");
        assert_eq!(end, End::Fin, "{request:?}");
    }
}

#[test]
fn a_broken_body_ends_the_echo_without_an_end() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send("5\r\nhello\r\nx\r\n");
    let (got, end) = client.rest();
    assert!(got.ends_with(b"5\r\nhello\r\n"), "{got:?}");
    assert_eq!(end, End::Fin);
}

#[test]
fn a_client_that_finished_sending_gets_its_answers() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send(get("/bytes/10000000") + GET_MESSAGE);
    client.0.shutdown(std::net::Shutdown::Write).unwrap();
    client.expect(bytes_head(10_000_000));
    client.expect(pattern(10_000_000));
    client.expect(message_answer());
    client.expect_end(End::Fin);
}
