//! What the HTTP/1.1 client tells of heads, where it is asked to.

use wiretrial_proto::http1::{Http1Client, PayloadLength, RequestHead};
use wiretrial_proto::{ClientSession, Event, Message, Scratch};

/// What is told of replies that come in pieces of so many bytes: heads, then bodies.
fn heads_told(input: &[u8], piece: usize) -> Vec<String> {
    let heads = ["GET", "HEAD", "GET"].map(|method| {
        RequestHead::new(method, "/", "h", &[], false, PayloadLength::None).expect("good")
    });
    let mut codec = Http1Client::telling_heads(heads.into());
    for route in 0..3 {
        codec.encode(&Message { number: 0, route, payload: b"", fill: None }, &mut Vec::new());
    }
    let (mut told, mut carry, mut body) = (Vec::new(), Vec::new(), Vec::new());
    let (mut scratch, mut out) = (Scratch::new(), Vec::new());
    for bytes in input.chunks(piece) {
        carry.extend_from_slice(bytes);
        let mut offset = 0;
        loop {
            assert_eq!(codec.replies(&carry[offset..], &scratch, |_| true), 0, "heads are told");
            let step = codec.receive(&carry[offset..], &mut scratch, &mut out).expect("replies");
            offset += step.consumed;
            match step.event {
                None => break,
                Some(Event::Head(head)) => {
                    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                    let fields: Vec<_> =
                        head.fields().map(|(name, of)| text(name) + "=" + &text(of)).collect();
                    told.push(format!("{} {} {}", head.status, head.length(), fields.join(" ")));
                }
                Some(Event::Chunk { piece, .. }) => body.extend_from_slice(piece),
                Some(Event::Reply(reply)) => {
                    body.extend_from_slice(reply.payload);
                    told.push(String::from_utf8(std::mem::take(&mut body)).expect("text"));
                }
                Some(other) => panic!("{other:?}"),
            }
        }
        carry.drain(..offset);
    }
    told
}

#[test]
fn heads_are_told_before_their_bodies_however_they_are_split() {
    let input = b"HTTP/1.1 100 Continue\r\nEarly: 1\r\n\r\n\
        HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\nA:  c \r\n\r\nhello\
        HTTP/1.1 404 No\r\nContent-Length: 5\r\n\r\n\
        HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
    let expected = [
        "200 52 A=b Content-Length=5 A=c",
        "hello",
        "404 38 Content-Length=5",
        "",
        "200 47 Transfer-Encoding=chunked",
        "hello",
    ];
    for piece in 1..=input.len() {
        assert_eq!(heads_told(input, piece), expected, "pieces of {piece}");
    }
}
