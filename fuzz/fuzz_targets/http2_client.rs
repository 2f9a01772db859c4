//! An HTTP/2 client reads anything: events or a protocol error, never a panic, and the same ones
//! however the bytes were cut, and whether replies are taken without events or not; no message is answered twice; and what it holds and says is bounded by
//! what came.
//!
//! Input: one byte (its lowest bit: heads are told; the rest: how many cuts), the distances between
//! the cuts, the server's bytes behind its settings.
#![no_main]

mod cuts;

use std::collections::BTreeMap;
use std::sync::Arc;

use cuts::cut;
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request};
use wiretrial_proto::{ClientSession, Event, Message, Reply, Scratch, Tag};

/// Messages that wait: on streams 1, 3, 5 and 7, of which the third has content.
const MESSAGES: u64 = 4;
/// Of the third, bytes: more than a window lets through at first.
const CONTENT: usize = 70_000;
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

fuzz_target!(|data: &[u8]| {
    let Some((&control, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(control >> 1)) else { return };
    let tells_heads = control & 1 == 1;
    let whole = run(tells_heads, &[input], false);
    assert_eq!(run(tells_heads, &[input], true), whole);
    let pieces = cut(input, distances);
    assert_eq!(run(tells_heads, &pieces, false), whole);
    assert_eq!(run(tells_heads, &pieces, true), whole);
    // Beside answers: the content that waited, and a reset of each message.
    assert!(whole.1.len() <= CONTENT + 1_000 + 64 * input.len(), "{} bytes said", whole.1.len());
});

/// Events in words, the content of each reply together; and what the client said.
fn run(tells_heads: bool, pieces: &[&[u8]], is_short: bool) -> (Vec<String>, Vec<u8>) {
    let mut client = client(tells_heads);
    let (mut events, mut out) = (Vec::new(), Vec::new());
    let (mut carry, mut scratch) = (Vec::new(), Scratch::new());
    let mut content: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut answered = [false; MESSAGES as usize];
    for piece in pieces {
        carry.extend_from_slice(piece);
        let mut offset = 0;
        loop {
            if is_short {
                offset += client.replies(&carry[offset..], &scratch, |reply| {
                    let Tag::Number(number) = reply.tag else { panic!("nothing is in order") };
                    let is_begun = content.contains_key(&number);
                    if !is_begun {
                        assert!(!std::mem::replace(&mut answered[number as usize], true), "once");
                        events.push(words(number, reply, reply.payload));
                    }
                    !is_begun
                });
            }
            let step = match client.receive(&carry[offset..], &mut scratch, &mut out) {
                Ok(step) => step,
                Err(error) => {
                    events.push(format!("{error:?}"));
                    return (events, out);
                }
            };
            offset += step.consumed;
            let mut once = |tag| {
                let Tag::Number(number) = tag else { panic!("nothing is in order") };
                assert!(!std::mem::replace(&mut answered[number as usize], true), "once");
                number
            };
            events.push(match step.event {
                None => break,
                Some(Event::Chunk { tag: Tag::Number(number), piece }) => {
                    assert!(!piece.is_empty());
                    content.entry(number).or_default().extend_from_slice(piece);
                    continue;
                }
                Some(Event::Reply(reply)) => {
                    let number = once(reply.tag);
                    let mut whole = content.remove(&number).unwrap_or_default();
                    whole.extend_from_slice(reply.payload);
                    words(number, &reply, &whole)
                }
                Some(Event::Failed { tag, error }) => format!("{} {error:?}", once(tag)),
                Some(Event::Unprocessed { tag }) => format!("{} unprocessed", once(tag)),
                Some(Event::Head(head) | Event::Trailers(head)) => {
                    format!(
                        "{:?} {} {:?}",
                        head.tag,
                        head.status,
                        head.fields().collect::<Vec<_>>()
                    )
                }
                Some(other) => format!("{other:?}"),
            });
        }
        carry.drain(..offset);
        // What stays behind is a frame in part, or its head.
        assert!(carry.len() < 9 + 16_384);
    }
    (events, out)
}

/// A reply with all of its content, in words.
fn words(number: u64, reply: &Reply<'_>, whole: &[u8]) -> String {
    format!("{number} {} {whole:?} {}", reply.status, reply.last)
}

fn client(tells_heads: bool) -> Http2Client {
    let text = |text| vec![HeadPart::Text(text)];
    let request = |method: &str, length| {
        Http2Request::with_holes("http", method, &text("/"), "h", &[], false, length)
            .expect("a request")
    };
    let requests = Arc::from([
        request("GET", PayloadLength::None),
        request("HEAD", PayloadLength::None),
        request("POST", PayloadLength::Varying),
    ]);
    let limits =
        Http2Limits { stream_window: 300, connection_window: 65_535, ..Default::default() };
    let mut client = match tells_heads {
        false => Http2Client::new(requests, limits),
        true => Http2Client::telling_heads(requests, limits),
    };
    let (mut out, mut scratch) = (Vec::new(), Scratch::new());
    client.start(&mut out);
    client.receive(&SETTINGS, &mut scratch, &mut out).expect("settings");
    let content = vec![b'x'; CONTENT];
    for number in 0..MESSAGES {
        let (route, payload) = match number {
            1 => (1, &b""[..]),
            2 => (2, &content[..]),
            _ => (0, &b""[..]),
        };
        client.encode(&Message { number, route, payload, fill: None }, &mut out);
    }
    client
}
