//! Messages with the same payload that are asked together.

use std::sync::Arc;

use wiretrial_proto::grpc::framed;
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request};
use wiretrial_proto::{ClientSession as _, Message, Scratch};

use super::frames::*;
use super::play::play;

fn request(method: &str, length: PayloadLength) -> Http2Request {
    let target = [HeadPart::Text("/a")];
    let request = Http2Request::with_holes("http", method, &target, "h", &[], false, length);
    request.expect("a request")
}

/// A client that asks this on each stream of a server with these settings.
fn client(request: &Http2Request, settings: &[u8]) -> Http2Client {
    let requests = Arc::from([request.clone()]);
    let mut client = Http2Client::new(requests, Http2Limits::default());
    let (mut out, mut scratch) = (Vec::new(), Scratch::new());
    client.start(&mut out);
    client.receive(settings, &mut scratch, &mut out).expect("settings");
    client
}

#[test]
fn they_are_those_that_are_asked_one_by_one() {
    for (method, length, bytes) in [
        ("GET", PayloadLength::None, 0),
        ("HEAD", PayloadLength::None, 0),
        ("POST", PayloadLength::Fixed(20), 20),
        ("POST", PayloadLength::Varying, 20),
        // As much as a frame holds, and more; not all of it has room on the connection.
        ("POST", PayloadLength::Fixed(16_384), 16_384),
        ("POST", PayloadLength::Fixed(16_385), 16_385),
    ] {
        asked_together(&request(method, length), &vec![b'x'; bytes], |stream| {
            let content = frame(DATA, END, stream, b"yes");
            [headers(0, stream, &[":status=200"]), content].concat()
        });
    }
}

#[test]
fn calls_of_grpc_are_too() {
    let call = Http2Request::call("http", "/p.S/M", "h", &[], false).expect("a call");
    let message = framed([&b"yes"[..]]).expect("a short one");
    asked_together(&call, &message, |stream| {
        let fields = [":status=200", "content-type=application/grpc"];
        let content = frame(DATA, 0, stream, &message);
        [headers(0, stream, &fields), content, headers(END, stream, &["grpc-status=0"])].concat()
    });
}

/// The first of a connection puts its fields into the server's table, and each one after it refers to them.
#[test]
fn those_whose_fields_stay_with_the_server_are_too() {
    let text = |text| vec![HeadPart::Text(text)];
    let kept = [("Accept", text("text/html, */*;q=0.8")), ("Cookie", text("theme=dark"))];
    for (length, bytes) in [(PayloadLength::None, 0), (PayloadLength::Fixed(20), 20)] {
        let target = text("/a");
        let request = Http2Request::keeping("http", "POST", &target, "h", &kept, false, length);
        asked_together(&request.expect("a request"), &vec![b'x'; bytes], |stream| {
            let content = frame(DATA, END, stream, b"yes");
            [headers(0, stream, &[":status=200"]), content].concat()
        });
    }
}

/// Many at once are the same bytes as one after the other, and so are their replies.
fn asked_together(request: &Http2Request, payload: &[u8], reply: impl Fn(u32) -> Vec<u8>) {
    // What holds by itself, a narrow window, and a table that is to be made smaller first.
    for first in [settings(&[]), settings(&[(4, 5)]), settings(&[(1, 0)])] {
        for count in [0, 1, 2, 3, 17, 100] {
            let what = format!("{count} times {request:?} {}, {first:?}", payload.len());
            let [mut together, mut apart] = [(); 2].map(|()| client(request, &first));
            let (mut said, mut wanted) = (Vec::new(), Vec::new());
            for number in [10, u64::MAX - 1] {
                together.encode_alike(number, count, payload, &mut said);
                for place in 0..count {
                    let message = Message::new(number.wrapping_add(place.into()), payload);
                    apart.encode(&message, &mut wanted);
                }
            }
            assert!(said == wanted, "{what}");
            let streams = (0..2 * count).map(|place| 2 * place + 1).rev();
            let replies: Vec<_> = streams.flat_map(&reply).collect();
            let seen = play(&mut together, &[&replies]);
            assert_eq!(seen, play(&mut apart, &[&replies]), "{what}");
            assert_eq!(seen.events.len(), 2 * count as usize, "{what}");
        }
    }
}
