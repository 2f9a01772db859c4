//! Streams of events, byte by byte, over real sockets.

use crate::common::{Client, DATE, await_all_gone, server};
use wiretrial_proto::sse::NumberedEvent;
use wiretrial_respond::Script;

fn get(target: &str, fields: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a\r\n{fields}\r\n")
}

/// Up to and with these bytes.
fn take_to(client: &mut Client, end: &str) -> String {
    let mut text = String::new();
    while !text.ends_with(end) {
        text.push(char::from(client.take(1)[0]));
    }
    text
}

/// The next chunk; empty: the last.
fn chunk(client: &mut Client) -> String {
    let size = take_to(client, "\r\n");
    let size = usize::from_str_radix(size.trim(), 16).expect("a size");
    let content = String::from_utf8(client.take(size)).expect("text");
    client.expect("\r\n");
    content
}

/// The number of the event in the next chunk, whose id is the same.
fn number(client: &mut Client) -> u64 {
    let text = chunk(client);
    let (id, data) = text.split_once('\n').expect("two lines");
    let data = data.strip_prefix("data: ").expect("data").trim_end();
    let event = NumberedEvent::read(data.as_bytes()).expect(data);
    assert_eq!(id, format!("id: {}", event.number));
    assert!(text.ends_with("\n\n"));
    event.number
}

#[test]
fn a_stream_tells_numbered_events_and_ends_as_it_was_asked() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send(get("/events?rate=1000&end=3&retry=250", ""));
    client.expect(format!("HTTP/1.1 200 OK\r\n{DATE}Content-Type: text/event-stream\r\n"));
    let fields = take_to(&mut client, "\r\n\r\n");
    assert!(fields.contains("Cache-Control: no-store\r\nwiretrial-clock: "), "{fields}");
    assert_eq!(chunk(&mut client), "retry: 250\n\n");
    assert_eq!([(); 3].map(|()| number(&mut client)), [1, 2, 3]);
    assert_eq!(chunk(&mut client), "");
    // The connection goes on.
    client.send(get("/events?rate=1000&end=2", "Last-Event-ID: 7\r\n"));
    take_to(&mut client, "\r\n\r\n");
    assert!(chunk(&mut client).starts_with(": "), "a comment");
    assert_eq!([(); 2].map(|()| number(&mut client)), [8, 9]);
    assert_eq!(chunk(&mut client), "");
}

#[test]
fn those_who_share_a_stream_are_told_the_same() {
    let server = server(Script::default());
    let mut clients = [(); 3].map(|()| Client::http(&server));
    for client in &mut clients {
        client.send(get("/events?rate=100&shared=1", ""));
        take_to(client, "\r\n\r\n");
        chunk(client);
    }
    let mut told = clients.each_mut().map(|client| (number(client), chunk(client)));
    // They began one after the other: the first may have been told more.
    let last = told.iter().map(|(first, _)| *first).max().expect("three");
    for (client, (first, second)) in clients.iter_mut().zip(&mut told) {
        while *first < last {
            *first += 1;
            *second = chunk(client);
        }
    }
    let [(_, first), (_, second), (_, third)] = told;
    assert!(first == second && second == third, "{first:?} {second:?} {third:?}");
}

#[test]
fn only_the_head_is_told_to_who_asks_for_it_and_what_is_wrong_to_who_asks_wrongly() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send("HEAD /events HTTP/1.1\r\nHost: a\r\n\r\n");
    let head = take_to(&mut client, "\r\n\r\n");
    assert!(head.contains("text/event-stream") && head.contains("chunked"), "{head}");
    client.send(get("/events?rate=fast", ""));
    let head = take_to(&mut client, "\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{head}");
    assert!(take_to(&mut client, "\n").starts_with("events: rate="));
    client.send("POST /events HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    assert!(take_to(&mut client, "\r\n\r\n").starts_with("HTTP/1.1 405 "));
}

#[test]
fn who_leaves_a_stream_is_let_go_and_so_is_who_asks_behind_it() {
    let server = server(Script::default());
    for behind in ["", "GET /message HTTP/1.1\r\nHost: a\r\n\r\n"] {
        let mut client = Client::http(&server);
        client.send(get("/events?rate=0", ""));
        take_to(&mut client, "\r\n\r\n");
        client.send(behind);
    }
    await_all_gone(&server, 2);
}

#[test]
fn a_server_that_stops_ends_its_streams() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    client.send(get("/events?rate=0", ""));
    take_to(&mut client, "\r\n\r\n");
    chunk(&mut client);
    server.stop().expect("it stops");
    assert_eq!(chunk(&mut client), "");
}
