//! A client of WebSockets on the streams of HTTP/2 reads anything: events or a protocol error, never a
//! panic, and the same ones however the bytes were cut; no message is answered twice; and what it holds
//! and says is bounded by what came.
//!
//! Input: one byte (its lowest bit: compression is offered; the rest: how many cuts), the distances
//! between the cuts, the server's bytes behind its settings.
#![no_main]

mod cuts;

use std::collections::BTreeMap;
use std::sync::Arc;

use cuts::cut;
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::http2::{Http2Connect, Http2Limits, Http2WebSockets};
use wiretrial_proto::websocket::{DeflateConfig, WebSocketConfig};
use wiretrial_proto::{ClientSession, ErrorClass, Event, Message, MessageKind, Scratch, Tag};

/// WebSockets that are wanted: on streams 1, 3 and 5.
const STREAMS: u32 = 3;
/// Messages that go out, as streams get free.
const MESSAGES: u64 = 16;
const MAX_MESSAGE: u64 = 70_000;
/// What is said of a message that nobody asked for.
const UNASKED: &str = "a message came that no request asked for";
/// What is said of a frame on a stream that both sides have ended.
const OVER: &str = "something came on a stream that is over";
/// CONNECT with a protocol is taken.
const SETTINGS: [u8; 15] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 1];

fuzz_target!(|data: &[u8]| {
    let Some((&control, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(control >> 1)) else { return };
    let deflate = control & 1 == 1;
    let whole = run(deflate, &[input]);
    let pieces = cut(input, distances);
    let cut = run(deflate, &pieces);
    if cut.0.last().is_some_and(|event| event.contains(OVER)) {
        // A frame in part that ends its stream tells that later: only then is what follows there one too many.
        let before = cut.0.len() - 1;
        assert_eq!(Some(&cut.0[..before]), whole.0.get(..before));
    } else {
        assert_eq!(cut.0, whole.0);
        assert_eq!(parts(&cut.1), parts(&whole.1));
    }
    // A reset is answered with another CONNECT, a ping with a pong.
    assert!(whole.1.len() <= 4_000 + 128 * input.len(), "{} bytes said", whole.1.len());
});

/// Events in words, the content of each reply together; and what the client said.
fn run(deflate: bool, pieces: &[&[u8]]) -> (Vec<String>, Vec<u8>) {
    let mut client = client(deflate);
    let (mut events, mut out) = (Vec::new(), Vec::new());
    let (mut carry, mut scratch) = (Vec::new(), Scratch::new());
    let mut content: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut answered = [false; MESSAGES as usize];
    // Messages that went out, and those that wait for no reply any more.
    let (mut sent, mut over) = (0, 0);
    for piece in pieces {
        carry.extend_from_slice(piece);
        let mut offset = 0;
        loop {
            let step = match client.receive(&carry[offset..], &mut scratch, &mut out) {
                Ok(step) => step,
                Err(error) if error.detail == UNASKED => return unasked(events),
                Err(error) => {
                    events.push(format!("{error:?}"));
                    return (events, out);
                }
            };
            offset += step.consumed;
            let mut once = |tag| {
                let Tag::Number(number) = tag else { panic!("nothing is in order") };
                assert!(number < sent, "it was asked");
                assert!(!std::mem::replace(&mut answered[number as usize], true), "once");
                over += 1;
                number
            };
            events.push(match step.event {
                None => break,
                Some(Event::Chunk { tag: Tag::Number(number), piece }) => {
                    assert!(!piece.is_empty());
                    let so_far = content.entry(number).or_default();
                    so_far.extend_from_slice(piece);
                    assert!(so_far.len() as u64 <= MAX_MESSAGE);
                    continue;
                }
                Some(Event::Reply(reply)) => {
                    let number = once(reply.tag);
                    let mut whole = content.remove(&number).unwrap_or_default();
                    whole.extend_from_slice(reply.payload);
                    if reply.kind == MessageKind::Text {
                        assert!(std::str::from_utf8(&whole).is_ok());
                    }
                    format!("{number} {:?} {whole:?}", reply.kind)
                }
                Some(Event::Failed { tag, error }) => format!("{} {error:?}", once(tag)),
                Some(Event::Parted(error))
                    if matches!(
                        error.class,
                        ErrorClass::Utf8 | ErrorClass::Protocol | ErrorClass::TooBig
                    ) =>
                {
                    return unasked(events);
                }
                Some(other) => format!("{other:?}"),
            });
            while client.is_open() && sent < MESSAGES && sent - over < u64::from(client.room()) {
                client.encode(&Message::new(sent, b"hello"), &mut out);
                sent += 1;
            }
        }
        carry.drain(..offset);
        // What stays behind is a frame in part, or its head.
        assert!(carry.len() < 9 + 16_384);
    }
    (events, out)
}

/// What the client said: content by stream, and all other frames but two kinds. A piece that comes by itself may be
/// worth a frame of its own that widens a window; and a WebSocket that both have closed is let go of by a reset
/// without an error where the frame that also ends the stream has come in part.
fn parts(mut said: &[u8]) -> (BTreeMap<&[u8], Vec<u8>>, Vec<&[u8]>) {
    const DATA: u8 = 0;
    const RESET: u8 = 3;
    const WINDOW_UPDATE: u8 = 8;
    const NO_ERROR: [u8; 4] = [0; 4];
    let (mut content, mut frames) = (BTreeMap::<&[u8], Vec<u8>>::new(), Vec::new());
    while let [high, middle, low, kind, ..] = *said {
        let length = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        let (frame, rest) = said.split_at(9 + length);
        match kind {
            DATA => content.entry(&frame[5..9]).or_default().extend_from_slice(&frame[9..]),
            WINDOW_UPDATE => {}
            RESET if frame[9..] == NO_ERROR => {}
            _ => frames.push(frame),
        }
        said = rest;
    }
    (content, frames)
}

/// A message that nobody asked for may be wrong, too: which of both is told first is a matter of the cuts.
fn unasked(events: Vec<String>) -> (Vec<String>, Vec<u8>) {
    (events, Vec::new())
}

fn client(deflate: bool) -> Http2WebSockets {
    let config = WebSocketConfig {
        host: "h".to_owned(),
        target: "/".to_owned(),
        headers: Vec::new(),
        subprotocols: Vec::new(),
        kind: MessageKind::Text,
        max_message: MAX_MESSAGE,
        deflate: deflate.then(DeflateConfig::default),
        insists_on_deflate: false,
    };
    let request = Http2Connect::websocket("http", &config).expect("a request");
    let limits =
        Http2Limits { stream_window: 300, connection_window: 65_535, ..Default::default() };
    let (config, request) = (Arc::new(config), Arc::new(request));
    let mut client = Http2WebSockets::new(config, request, STREAMS, [1, 2], limits);
    let (mut out, mut scratch) = (Vec::new(), Scratch::new());
    client.start(&mut out);
    client.receive(&SETTINGS, &mut scratch, &mut out).expect("settings");
    client
}
