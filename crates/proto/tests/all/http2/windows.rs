//! For how long content waited for windows, on either side, as the client is told of time.

use wiretrial_proto::http2::{Http2Client, Http2Limits};
use wiretrial_proto::{ClientSession as _, Message, Scratch};

use super::client::{POST, requests};
use super::frames::*;

/// A connection whose server acknowledged settings 100 ns after they went, and allows 5 bytes on a stream.
fn client(limits: Http2Limits) -> Http2Client {
    let mut client = Http2Client::new(requests(), limits);
    client.came_at(1_000);
    client.start(&mut Vec::new());
    feed(&mut client, 1_100, &[settings(&[(4, 5)]), frame(SETTINGS, 1, 0, b"")].concat());
    assert_eq!(client.take_use(), None);
    client
}

/// Has it read these frames, which came then.
fn feed(client: &mut Http2Client, at: u64, mut bytes: &[u8]) {
    let (mut scratch, mut out) = (Scratch::new(), Vec::new());
    client.came_at(at);
    loop {
        let step = client.receive(bytes, &mut scratch, &mut out).unwrap();
        bytes = &bytes[step.consumed..];
        if step.event.is_none() {
            assert!(bytes.is_empty(), "all of it is whole");
            return;
        }
    }
}

fn send(client: &mut Http2Client, number: u64, content: &[u8], at: u64) {
    client.encode(&Message { route: POST, ..Message::new(number, content) }, &mut Vec::new());
    client.came_at(at);
}

#[test]
fn what_we_send_waits_for_its_stream_s_window() {
    let mut client = client(Http2Limits::default());
    send(&mut client, 1, b"abcdefgh", 2_000);
    feed(&mut client, 2_300, &number(WINDOW, 1, 2));
    feed(&mut client, 2_400, &number(WINDOW, 1, 1));
    let used = client.take_use().unwrap();
    assert_eq!((used.sends_held, used.held_by_stream_ns, used.held_by_connection_ns), (1, 400, 0));
    send(&mut client, 2, b"abc", 2_500);
    assert_eq!(client.take_use(), None, "it had room");
}

#[test]
fn what_we_send_waits_for_the_connection_s_window() {
    let mut client = client(Http2Limits::default());
    feed(&mut client, 1_200, &settings(&[(4, 100_000)]));
    send(&mut client, 1, &vec![b'x'; 70_000], 2_000);
    feed(&mut client, 2_500, &number(WINDOW, 0, 10));
    client.came_at(2_700);
    client.settle();
    let used = client.take_use().unwrap();
    assert_eq!((used.sends_held, used.held_by_stream_ns, used.held_by_connection_ns), (1, 0, 700));
    assert_eq!(client.take_use(), None);
}

#[test]
fn what_a_message_waited_before_it_was_given_up_counts() {
    let mut client = client(Http2Limits::default());
    send(&mut client, 1, b"abcdefgh", 2_000);
    client.came_at(2_250);
    assert!(client.cancel(1, &mut Vec::new()));
    assert_eq!(client.take_use().unwrap().held_by_stream_ns, 250);
}

/// 5 of 10 bytes, and it is allowed more. The other 5 come before the server can have heard of that.
#[test]
fn a_server_that_has_used_up_our_window_waits_until_it_sends_more() {
    let mut client = client(Http2Limits { stream_window: 10, ..Http2Limits::default() });
    send(&mut client, 1, b"", 2_900);
    feed(&mut client, 3_000, &headers(0, 1, &[":status=200"]));
    feed(&mut client, 3_000, &frame(DATA, 0, 1, b"abcde"));
    feed(&mut client, 3_010, &frame(DATA, 0, 1, b"fghij"));
    feed(&mut client, 3_110, &frame(DATA, END, 1, b"k"));
    let used = client.take_use().unwrap();
    assert_eq!((used.streams_exhausted, used.stream_exhausted_ns), (1, 100));
    assert_eq!((used.connections_exhausted, used.goaways), (0, 0));
}

#[test]
fn a_slow_server_does_not_wait_for_us() {
    let mut client = client(Http2Limits { stream_window: 10, ..Http2Limits::default() });
    send(&mut client, 1, b"", 2_900);
    feed(&mut client, 3_000, &headers(0, 1, &[":status=200"]));
    for at in [3_000, 3_200, 3_400, 3_600] {
        feed(&mut client, at, &frame(DATA, 0, 1, b"abcde"));
    }
    feed(&mut client, 9_000, &frame(DATA, END, 1, b"k"));
    assert_eq!(client.take_use(), None);
}

#[test]
fn the_window_of_a_connection_is_that_of_all_its_streams() {
    let mut client = client(Http2Limits { connection_window: 65_536, ..Http2Limits::default() });
    for number in [1, 2] {
        send(&mut client, number, b"", 2_900);
    }
    let heads = [headers(0, 1, &[":status=200"]), headers(0, 3, &[":status=200"])];
    feed(&mut client, 3_000, &heads.concat());
    for (at, stream) in [(3_000, 1), (3_000, 3), (3_020, 1), (3_040, 3)] {
        feed(&mut client, at, &frame(DATA, 0, stream, &[b'x'; 16_384]));
    }
    feed(&mut client, 3_150, &frame(DATA, END, 1, b"k"));
    let used = client.take_use().unwrap();
    assert_eq!((used.connections_exhausted, used.connection_exhausted_ns), (1, 110));
    assert_eq!(used.streams_exhausted, 0);
}

#[test]
fn a_goodbye_is_counted() {
    let mut client = client(Http2Limits::default());
    send(&mut client, 1, b"", 2_900);
    feed(&mut client, 3_000, &frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]));
    assert_eq!(client.take_use().unwrap().goaways, 1);
}
