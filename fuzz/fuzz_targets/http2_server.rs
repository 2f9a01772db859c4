//! An HTTP/2 server reads anything: events or a protocol error, never a panic, and the same ones
//! however the bytes were cut; what it answers, a client that looks at every frame can read.
//!
//! Input: one byte (how many cuts), the distances between the cuts, the client's bytes behind its
//! preface and its settings.
#![no_main]

mod cuts;

use std::collections::BTreeMap;

use cuts::cut;
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::FieldList;
use wiretrial_proto::Scratch;
use wiretrial_proto::http2::hpack::HpackDecoder;
use wiretrial_proto::http2::{Http2Event, Http2Limits, Http2Server, PREFACE};

const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

fuzz_target!(|data: &[u8]| {
    let Some((&count, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(count)) else { return };
    let whole = run(&[input]);
    let pieces = cut(input, distances);
    assert_eq!(run(&pieces), whole);
    look_at(&whole.1);
});

/// Events in words, the content of each request together; and what the server said.
fn run(pieces: &[&[u8]]) -> (Vec<String>, Vec<u8>) {
    let limits = Http2Limits {
        stream_window: 300,
        connection_window: 65_535,
        max_streams: 3,
        ..Http2Limits::default()
    };
    let mut server = Http2Server::new(limits);
    let (mut events, mut out) = (Vec::new(), Vec::new());
    let (mut carry, mut scratch) = ([&PREFACE[..], &SETTINGS].concat(), Scratch::new());
    let mut content: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for piece in pieces {
        carry.extend_from_slice(piece);
        let mut offset = 0;
        loop {
            let step = match server.receive(&carry[offset..], &mut scratch, &mut out) {
                Ok(step) => step,
                Err(error) => {
                    events.push(format!("{error:?}"));
                    return (events, out);
                }
            };
            offset += step.consumed;
            events.push(match step.event {
                None => break,
                Some(Http2Event::Chunk { stream, piece }) => {
                    content.entry(stream).or_default().extend_from_slice(piece);
                    continue;
                }
                Some(Http2Event::End { stream }) => {
                    let whole = content.remove(&stream).unwrap_or_default();
                    let fields = [("content-type", &b"text/plain"[..])];
                    server.respond(stream, 200, &fields, false, &mut out);
                    server.content(stream, &whole, true, &mut out);
                    format!("{stream} {whole:?}")
                }
                Some(other) => format!("{other:?}"),
            });
            assert!(server.open_streams() <= 3, "no more than it allows");
        }
        carry.drain(..offset);
        assert!(carry.len() < 9 + 16_384);
    }
    (events, out)
}

/// What it said is whole frames, and its fields can be read.
fn look_at(mut said: &[u8]) {
    let mut decoder = HpackDecoder::new(4096);
    while let Some((head, rest)) = said.split_first_chunk::<9>() {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let (payload, behind) = rest.split_at(length);
        if head[3] == 1 {
            let mut list = FieldList::default();
            decoder.read(payload, 65_536, &mut list).expect("its own fields");
            assert_eq!(list.get(b":status"), Some(&b"200"[..]));
        }
        said = behind;
    }
    assert!(said.is_empty(), "a frame in part");
}
