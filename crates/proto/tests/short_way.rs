//! Replies that are taken without an event for each: which they are, and where that ends.

use std::sync::Arc;

use wiretrial_proto::http1::{Http1Client, PayloadLength, RequestHead};
use wiretrial_proto::raw::RawClient;
use wiretrial_proto::websocket::{WebSocketClient, WebSocketConfig, WebSocketServer};
use wiretrial_proto::{ClientSession, Event, Message, MessageKind, Scratch};

/// What was taken, and how many bytes of the input that were.
fn taken<C: ClientSession>(
    mut session: C,
    scratch: &Scratch,
    input: &[u8],
    wanted: usize,
) -> (Vec<String>, usize) {
    let mut seen = Vec::new();
    let count = session.replies(input, scratch, |reply| {
        if seen.len() == wanted {
            return false;
        }
        seen.push(String::from_utf8_lossy(reply.payload).into_owned());
        true
    });
    (seen, count)
}

fn web_socket(max_message: u64) -> WebSocketClient {
    let config = WebSocketConfig {
        host: "localhost".to_owned(),
        target: "/".to_owned(),
        headers: Vec::new(),
        subprotocols: Vec::new(),
        kind: MessageKind::Text,
        max_message,
        deflate: None,
        insists_on_deflate: false,
    };
    let mut client = WebSocketClient::new(Arc::new(config), [1, 2]);
    let (mut request, mut answer) = (Vec::new(), Vec::new());
    client.start(&mut request);
    let request = str::from_utf8(&request).expect("a head of text");
    let (_, behind) = request.split_once("Sec-WebSocket-Key: ").expect("a key");
    WebSocketServer::accept(&behind[..24], None, &mut answer);
    client.receive(&answer, &mut Scratch::new(), &mut Vec::new()).expect("a good answer");
    client
}

#[test]
fn of_websocket_short_whole_frames() {
    let rows: [(&str, &[u8], &[&str]); 10] = [
        ("two, and the begin of a third", b"\x81\x02ab\x82\x01c\x81", &["ab", "c"]),
        ("one that is not whole", b"\x81\x02ab\x81\x02a", &["ab"]),
        ("an empty one", b"\x81\x00\x82\x00", &["", ""]),
        ("a ping", b"\x81\x02ab\x89\x00\x81\x02ab", &["ab"]),
        ("a close", b"\x88\x02\x03\xe8\x81\x02ab", &[]),
        ("a fragment", b"\x01\x02ab\x80\x00", &[]),
        ("text that is more than ASCII", b"\x81\x02\xc3\xa4", &[]),
        ("a masked one", b"\x81\x82\0\0\0\0ab", &[]),
        ("a reserved bit", b"\xc1\x02ab", &[]),
        ("a longer header", b"\x82\x7e\x00\x02ab", &[]),
    ];
    for (name, input, expected) in rows {
        let (seen, count) = taken(web_socket(1_000), &Scratch::new(), input, usize::MAX);
        assert_eq!(seen, expected, "{name}");
        assert_eq!(
            count,
            expected.iter().map(|payload| 2 + payload.len()).sum::<usize>(),
            "{name}"
        );
    }
}

#[test]
fn what_is_not_wanted_and_what_is_too_long_is_left() {
    let input = b"\x81\x02ab\x81\x03abc\x81\x02ab";
    assert_eq!(taken(web_socket(2), &Scratch::new(), input, 9), (vec!["ab".to_owned()], 4));
    assert_eq!(taken(web_socket(9), &Scratch::new(), input, 1), (vec!["ab".to_owned()], 4));
    assert_eq!(taken(web_socket(9), &Scratch::new(), input, 0), (vec![], 0));
}

#[test]
fn none_inside_a_message_nor_before_the_conversation_stands() {
    let mut client = web_socket(100);
    client.receive(b"\x01\x02ab", &mut Scratch::new(), &mut Vec::new()).expect("a fragment");
    assert_eq!(taken(client, &Scratch::new(), b"\x81\x02ab", 9).1, 0);
    let mut closed = web_socket(100);
    closed.close(&mut Vec::new());
    assert_eq!(taken(closed, &Scratch::new(), b"\x81\x02ab", 9).1, 0);
}

/// A client that sent these requests, with what it shares with others, who have read this head.
fn http(methods: &[&str], known: &str) -> (Http1Client, Scratch) {
    let head = |method: &&str| {
        let closes = method.ends_with('!');
        let method = method.trim_end_matches('!');
        RequestHead::new(method, "/", "h", &[], closes, PayloadLength::None).expect("a request")
    };
    let client = |methods: &[&str]| {
        let mut client = Http1Client::new(methods.iter().map(head).collect());
        for route in 0..methods.len() {
            client.encode(&Message { number: 0, route, payload: b"" }, &mut Vec::new());
        }
        client
    };
    let mut scratch = Scratch::new();
    let mut other = client(&["GET"]);
    let step = other.receive(known.as_bytes(), &mut scratch, &mut Vec::new()).expect("a head");
    assert!(matches!(step.event, Some(Event::Chunk { .. } | Event::Reply(_))));
    (client(methods), scratch)
}

#[test]
fn of_http_whole_replies_with_the_head_that_was_read_last() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    const OTHER: &str = "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n";
    const LAST: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n";
    type Words = &'static [&'static str];
    let rows: [(&str, &str, Words, String, Words); 8] = [
        ("two", HEAD, &["GET", "GET"], format!("{HEAD}ab{HEAD}cd"), &["ab", "cd"]),
        ("more than were asked for", HEAD, &["GET"], format!("{HEAD}ab{HEAD}cd"), &["ab"]),
        ("another head", HEAD, &["GET", "GET"], format!("{HEAD}ab{OTHER}cd"), &["ab"]),
        ("a body that is not whole", HEAD, &["GET"], format!("{HEAD}a"), &[]),
        ("a head that is not whole", HEAD, &["GET"], HEAD[..20].to_owned(), &[]),
        ("to a request for a head alone", HEAD, &["HEAD", "GET"], format!("{HEAD}{HEAD}ab"), &[]),
        ("the last one", LAST, &["GET", "GET"], format!("{LAST}ab"), &[]),
        ("to a request that asks to close", HEAD, &["GET", "GET!"], format!("{HEAD}ab"), &[]),
    ];
    for (name, known, methods, input, expected) in rows {
        let (client, scratch) = http(methods, &format!("{known}ab"));
        let (seen, count) = taken(client, &scratch, input.as_bytes(), usize::MAX);
        assert_eq!(seen, expected, "{name}");
        assert_eq!(count, expected.len() * (known.len() + 2), "{name}");
    }
}

#[test]
fn none_of_http_inside_a_reply_or_behind_an_interim_one() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    let begun = [format!("{HEAD}a"), "HTTP/1.1 100 Continue\r\n\r\n".to_owned(), HEAD[..9].into()];
    for begun in begun {
        let (mut client, mut scratch) = http(&["GET", "GET"], &format!("{HEAD}ab"));
        client.receive(begun.as_bytes(), &mut scratch, &mut Vec::new()).expect("so far good");
        let input = format!("{HEAD}ab");
        assert_eq!(taken(client, &scratch, input.as_bytes(), 9).1, 0, "{begun}");
    }
}

#[test]
fn of_a_stream_as_many_bytes_as_were_sent() {
    let sent = |payloads: &[&str]| {
        let mut client = RawClient::new();
        for payload in payloads {
            client.encode(&Message::new(0, payload.as_bytes()), &mut Vec::new());
        }
        client
    };
    let rows: [(&[&str], &str, &[&str]); 4] = [
        (&["ab", "c"], "xyz", &["xy", "z"]),
        (&["ab", "", "c"], "xyz", &["xy", "", "z"]),
        (&["ab"], "xyz", &["xy"]),
        (&["ab", "cd"], "xyz", &["xy"]),
    ];
    for (payloads, input, expected) in rows {
        let (seen, count) = taken(sent(payloads), &Scratch::new(), input.as_bytes(), 9);
        assert_eq!(
            (seen, count),
            (expected.iter().map(ToString::to_string).collect(), expected.concat().len())
        );
    }
    let mut begun = sent(&["ab", "cd"]);
    begun.receive(b"x", &mut Scratch::new(), &mut Vec::new()).expect("a piece");
    assert_eq!(taken(begun, &Scratch::new(), b"yzz", 9).1, 0);
}
