//! Messages of gRPC are found however frames cut them: the client's verdict on a reply is that of all of its
//! content looked at once, and what is right is the same when it is written again. The same where messages may be in gzip:
//! then they are told as they were, and none comes to be longer than it may.
//!
//! Input: one byte (how many cuts), the distances between the cuts, the content of a reply.
#![no_main]

mod cuts;

use std::sync::Arc;

use cuts::cut;
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::grpc::{
    Deframer, Gunzip, Gzip, decoded, encoded, framed, from_timeout, timeout,
};
use wiretrial_proto::http1::HeadPart;
use wiretrial_proto::http2::hpack::{Secrecy, write_field};
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request};
use wiretrial_proto::{ClientSession, Event, Message, Scratch};

const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
const DATA: u8 = 0;
const HEADERS: u8 = 1;
/// A whole block of fields, and with it the end of the stream.
const WHOLE: u8 = 4;
const END: u8 = 1;
/// The longest that a message in gzip may come to be.
const MOST: usize = 10_000;

fuzz_target!(|data: &[u8]| {
    let Some((&count, rest)) = data.split_first() else { return };
    let Some((distances, content)) = rest.split_at_checked(usize::from(count)) else { return };
    let mut pieces = cut(content, distances);
    let behind = pieces.pop().unwrap_or_default();
    pieces.extend(behind.chunks(16_384));
    let whole = messages(&[content]);
    assert_eq!(messages(&pieces), whole, "however it is cut");
    if let Some(messages) = &whole {
        let again = framed(messages.iter().map(Vec::as_slice)).expect("short ones");
        assert_eq!(again, content);
    }
    assert_eq!(reply(&pieces, false), whole.map(|_| content.to_vec()));
    let inflated = inflated(content, MOST);
    assert_eq!(reply(&pieces, true), inflated);
    if let Some(plain) = &inflated {
        again(plain);
    }
    texts(content);
});

/// The messages in this content; none: it is none, or ends inside of one.
fn messages(pieces: &[&[u8]]) -> Option<Vec<Vec<u8>>> {
    let (mut frames, mut counting) = (Deframer::default(), Deframer::default());
    let mut all: Vec<Vec<u8>> = Vec::new();
    let mut ended = 0;
    for piece in pieces {
        let mut input = *piece;
        let counted = counting.pass(piece);
        loop {
            match frames.next(&mut input) {
                Err(fault) => {
                    assert_eq!(counted, Err(fault));
                    return None;
                }
                Ok(None) => break,
                Ok(Some(part)) => {
                    if part.begins.is_some() {
                        all.push(Vec::new());
                    }
                    all.last_mut().expect("one has begun").extend_from_slice(part.piece);
                    ended += u32::from(part.ends);
                }
            }
        }
        assert!(input.is_empty());
        ended -= counted.expect("the same");
        assert_eq!(ended, 0);
    }
    frames.is_between().then_some(all)
}

/// What this content is with messages that are not in gzip; none: it is none, or ends inside of one.
fn inflated(content: &[u8], most: usize) -> Option<Vec<u8>> {
    let (mut frames, mut held, mut out) = (Deframer::default(), Vec::new(), Vec::new());
    let place = (&mut frames, &mut held);
    Gunzip::default().unpack(place, content, most, &mut out).ok()?;
    frames.is_between().then_some(out)
}

/// What is compressed comes back.
fn again(plain: &[u8]) {
    let mut packed = Vec::new();
    Gzip::default().messages(plain, &mut packed);
    assert_eq!(inflated(&packed, plain.len()).as_deref(), Some(plain));
}

/// The content of the reply, where the client takes it for one.
fn reply(pieces: &[&[u8]], is_gzip: bool) -> Option<Vec<u8>> {
    let accepted = [("grpc-accept-encoding", vec![HeadPart::Text("gzip")])];
    let headers = &accepted[..usize::from(is_gzip)];
    let call = Http2Request::call("http", "/p.S/M", "h", headers, false).expect("a call");
    let limits = Http2Limits { max_inflated: MOST as u32, ..Http2Limits::default() };
    let mut client = Http2Client::new(Arc::from([call]), limits);
    let (mut out, mut scratch) = (Vec::new(), Scratch::new());
    client.start(&mut out);
    client.receive(&SETTINGS, &mut scratch, &mut out).expect("settings");
    client.encode(&Message::new(0, &[0; 5]), &mut out);
    let block = |fields: &[(&[u8], &[u8])]| {
        let mut block = Vec::new();
        fields
            .iter()
            .for_each(|(name, value)| write_field(name, value, Secrecy::Plain, &mut block));
        block
    };
    let encoding: &[u8] = if is_gzip { b"gzip" } else { b"identity" };
    let head = block(&[
        (b":status", b"200"),
        (b"content-type", b"application/grpc"),
        (b"grpc-encoding", encoding),
    ]);
    let mut input = frame(HEADERS, WHOLE, &head);
    pieces.iter().for_each(|piece| input.extend(frame(DATA, 0, piece)));
    input.extend(frame(HEADERS, WHOLE | END, &block(&[(b"grpc-status", b"0")])));
    let (mut offset, mut content) = (0, Vec::new());
    loop {
        let step = client.receive(&input[offset..], &mut scratch, &mut out).expect("frames");
        offset += step.consumed;
        match step.event {
            Some(Event::Chunk { piece, .. }) => content.extend_from_slice(piece),
            Some(Event::Reply(reply)) => {
                assert_eq!((reply.status, reply.payload), (0, &b""[..]));
                return Some(content);
            }
            Some(Event::Failed { .. }) => return None,
            Some(other) => panic!("{other:?}"),
            None => panic!("the reply came whole"),
        }
    }
}

fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags, 0, 0, 0, 1]);
    bytes.extend(payload);
    bytes
}

/// Fields are read, whatever stands in them.
fn texts(content: &[u8]) {
    let text = decoded(content);
    assert_eq!(decoded(encoded(&text).as_bytes()), text);
    if let Some(nanoseconds) = from_timeout(content) {
        let again = from_timeout(timeout(nanoseconds).as_bytes()).unwrap_or(u64::MAX);
        assert!(again >= nanoseconds);
    }
}
