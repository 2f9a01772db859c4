//! What one client publishes and the others hear, byte by byte, over real sockets.

use crate::common::{
    Client, DATE, End, SWITCHED, UPGRADE, await_all_gone, faulty, masked, plan, post_to, server,
    unmasked,
};
use wiretrial_respond::{Script, Server, ServerPlan, start};

/// What comes first on a stream of events.
const GREETING: &str = "12\r\n: here they come\n\n\r\n";

fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")
}

/// The answer to who publishes.
fn published() -> String {
    let kind = "text/plain; charset=utf-8";
    format!("HTTP/1.1 200 OK\r\n{DATE}Content-Type: {kind}\r\nContent-Length: 2\r\n\r\nOK")
}

/// Takes a head to its end, which has to begin so.
fn expect_head(client: &mut Client, begin: &str) {
    let mut text = String::new();
    while !text.ends_with("\r\n\r\n") {
        text.push(char::from(client.take(1)[0]));
    }
    assert!(text.starts_with(begin), "{text}");
}

/// A client who subscribes over HTTP.
fn subscriber(server: &Server) -> Client {
    let mut client = Client::http(server);
    client.send(get("/subscribe"));
    client.expect(format!("HTTP/1.1 200 OK\r\n{DATE}Content-Type: text/event-stream\r\n"));
    expect_head(&mut client, "");
    client.expect(GREETING);
    client
}

/// The event with this data, of one line, as a chunk.
fn event(data: &str) -> String {
    let event = format!("data: {data}\n\n");
    format!("{:x}\r\n{event}\r\n", event.len())
}

#[test]
fn what_is_published_comes_to_all_who_subscribe_in_its_order() {
    for threads in [1, 2] {
        let plan = ServerPlan { threads, ..plan(Script::default()) };
        let server = start(plan).expect("it starts");
        let mut subscribers = [(); 3].map(|()| subscriber(&server));
        let mut websocket = Client::http(&server);
        websocket.send(UPGRADE.replace("/chat", "/subscribe"));
        websocket.expect(SWITCHED);
        // It stands once its own message came back; the others hear that, too.
        websocket.send(masked(0x81, b"here"));
        websocket.expect(unmasked(0x81, b"here"));
        for subscriber in &mut subscribers {
            subscriber.expect(event("here"));
        }
        let mut publisher = Client::http(&server);
        for text in ["one", "two", ""] {
            publisher.send(post_to("/publish", text));
            publisher.expect(published());
        }
        for subscriber in &mut subscribers {
            for text in ["one", "two", ""] {
                subscriber.expect(event(text));
            }
        }
        for text in ["one", "two", ""] {
            websocket.expect(unmasked(0x81, text.as_bytes()));
        }
        // Bytes that are no text stay what they are where there is a kind for them.
        publisher.send(b"POST /publish HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n\xff");
        publisher.expect(published());
        websocket.expect(unmasked(0x82, b"\xff"));
        // The publisher hears nothing of it.
        publisher.expect_silence();
    }
}

#[test]
fn who_subscribes_late_hears_what_comes_later_and_who_leaves_is_let_go() {
    let server = server(Script::default());
    let mut publisher = Client::http(&server);
    let mut early = subscriber(&server);
    publisher.send(post_to("/publish", "one"));
    publisher.expect(published());
    early.expect(event("one"));
    let mut late = subscriber(&server);
    drop(early);
    publisher.send(post_to("/publish", "two"));
    publisher.expect(published());
    late.expect(event("two"));
    // What is asked behind a stream may never have an answer.
    late.send(get("/message"));
    late.expect_end(End::Fin);
    drop((publisher, late));
    await_all_gone(&server, 3);
}

#[test]
fn only_what_is_asked_for_rightly_is_published() {
    let plan = ServerPlan { max_message: 10, ..plan(Script::default()) };
    let server = start(plan).expect("it starts");
    let mut subscriber = subscriber(&server);
    let mut client = Client::http(&server);
    client.send(get("/publish"));
    expect_head(&mut client, "HTTP/1.1 405 ");
    client.send("HEAD /subscribe HTTP/1.1\r\nHost: a\r\n\r\n");
    expect_head(&mut client, "HTTP/1.1 200 OK\r\n");
    client.send(
        "POST /publish HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
         5\r\nin se\r\n5\r\nveral\r\n0\r\n\r\n",
    );
    client.expect(published());
    subscriber.expect(event("in several"));
    client.send(post_to("/publish", "eleven more"));
    expect_head(&mut client, "HTTP/1.1 413 ");
    client.expect("more than a message may have\n");
    client.expect_end(End::Fin);
    subscriber.expect_silence();
}

#[test]
fn a_poll_is_answered_with_what_came_behind_its_number_or_comes_next() {
    let server = server(Script::default());
    let mut client = Client::http(&server);
    let mut publisher = Client::http(&server);
    let mut publish = |text: &str| {
        publisher.send(post_to("/publish", text));
        publisher.expect(published());
    };
    let told = |body: &str| {
        let length = body.len();
        let kind = "application/json";
        format!(
            "HTTP/1.1 200 OK\r\n{DATE}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    };
    client.send(get("/next"));
    client.expect(told(r#"{"last":0,"events":[]}"#));
    client.send(get("/next?after=0"));
    client.expect_silence();
    publish("one");
    client.expect(told(r#"{"last":1,"events":["one"]}"#));
    publish("two");
    publish("three");
    client.send(get("/next?after=1"));
    client.expect(told(r#"{"last":3,"events":["two","three"]}"#));
    // A number of another server.
    client.send(get("/next?after=9"));
    client.expect(told(r#"{"last":3,"events":[]}"#));
    // Who waits is not answered with what is asked behind it.
    client.send([get("/next?after=3"), get("/message")].concat());
    client.expect_end(End::Fin);
}

#[test]
fn a_server_that_stops_ends_subscriptions_in_order() {
    let server = server(Script::default());
    let mut subscriber = subscriber(&server);
    server.stop().expect("it stops");
    subscriber.expect("0\r\n\r\n");
    subscriber.expect_end(End::Fin);
}

#[test]
fn each_event_is_a_reply_of_its_connection_for_the_script() {
    let server = faulty("wrong@3");
    // The head is the first reply, and the publisher's answer the second.
    let mut subscriber = subscriber(&server);
    let mut publisher = Client::http(&server);
    for told in ["ond", "one"] {
        publisher.send(post_to("/publish", "one"));
        publisher.expect(published());
        subscriber.expect(event(told));
    }
}
