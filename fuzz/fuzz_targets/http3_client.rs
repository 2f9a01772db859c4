//! An HTTP/3 client reads anything on any stream: events or a protocol error, never a panic, and the
//! same ones however the bytes were cut; no message is answered twice; all bytes are taken; and what it
//! says is bounded by what came.
//!
//! Input: one byte (its lowest bit: heads are told; the rest: how many cuts), the distances between the
//! cuts, and pieces: each a byte (the lowest 5 bits: the stream; the next: it ends; the next two: it is
//! reset, it is stopped), a byte with a length, and so many bytes.
#![no_main]

mod cuts;
mod pieces;

use std::collections::BTreeMap;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use pieces::{Kind, Piece, cut_each, pieces};
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http3::{Action, Http3Client, Http3Limits, Http3Request, Outgoing};
use wiretrial_proto::{Event, Message, ProtocolError, Scratch, Tag};

/// Messages that wait: on streams 0, 4, 8 and 12, of which the third has content.
const MESSAGES: u64 = 4;
/// The last is a call of gRPC. What is said of one that fails may be said for its length or for its messages.
const CALL: u64 = 3;

fuzz_target!(|data: &[u8]| {
    let Some((&control, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(control >> 1)) else { return };
    let tells_heads = control & 1 == 1;
    let all = pieces(input);
    let whole = run(tells_heads, &all);
    assert_eq!(run(tells_heads, &cut_each(&all, distances)), whole);
    // A reset and a stop of each message, and of each stream that nobody knows.
    assert!(whole.1.len() <= 8 * MESSAGES as usize + 2 * all.len() + 1, "{:?}", whole.1);
});

/// Events in words, the content of each reply together; and what the client does.
fn run(tells_heads: bool, pieces: &[Piece<'_>]) -> (Vec<String>, Vec<String>) {
    let (mut client, mut out, mut said) = (client(tells_heads), Outgoing::new(), Vec::new());
    let mut heard = Heard::default();
    for piece in pieces {
        let result = hear(&mut client, piece, &mut heard, &mut out);
        said.extend(out.actions().map(|action| {
            assert!(!matches!(action, Action::Write { .. }), "a client answers nothing");
            format!("{action:?}")
        }));
        out.clear();
        if let Err(error) = result {
            heard.events.push(format!("{error:?}"));
            assert!(said.last().is_some_and(|last| last.starts_with("Close")));
            break;
        }
    }
    (heard.events, said)
}

#[derive(Default)]
struct Heard {
    events: Vec<String>,
    content: BTreeMap<u64, Vec<u8>>,
    answered: [bool; MESSAGES as usize],
}

fn hear(
    client: &mut Http3Client,
    piece: &Piece<'_>,
    heard: &mut Heard,
    out: &mut Outgoing,
) -> Result<(), ProtocolError> {
    let (stream, mut scratch) = (piece.stream, Scratch::new());
    match piece.kind {
        Kind::Reset => {
            let event = client.reset(stream, piece.code(), out)?;
            event.iter().for_each(|event| heard.tell(event));
        }
        Kind::Stop => client.stop_sending(stream, piece.code(), out)?,
        Kind::Bytes { fin } => {
            let mut input = piece.bytes;
            loop {
                let step = client.receive(stream, input, fin, &mut scratch, out)?;
                input = &input[step.consumed..];
                let Some(event) = step.event else { break };
                heard.tell(&event);
            }
            assert!(input.is_empty(), "all of it is taken");
        }
    }
    Ok(())
}

impl Heard {
    fn tell(&mut self, event: &Event<'_>) {
        let number = |tag: &Tag| match *tag {
            Tag::Number(number) => number,
            Tag::Oldest => panic!("nothing is in order"),
        };
        let mut once = |tag| {
            let number = number(tag);
            assert!(!std::mem::replace(&mut self.answered[number as usize], true), "once");
            number
        };
        let words = match event {
            Event::Chunk { tag, piece } => {
                assert!(!piece.is_empty());
                let content = self.content.entry(number(tag)).or_default();
                return content.extend_from_slice(piece);
            }
            Event::Reply(reply) => {
                let number = once(&reply.tag);
                let mut whole = self.content.remove(&number).unwrap_or_default();
                whole.extend_from_slice(reply.payload);
                format!("{number} {} {whole:?} {}", reply.status, reply.last)
            }
            Event::Failed { tag, error } => match once(tag) {
                CALL => format!("{CALL} {:?}", error.class),
                number => format!("{number} {error:?}"),
            },
            Event::Unprocessed { tag } => format!("{} unprocessed", once(tag)),
            Event::Head(head) | Event::Trailers(head) => {
                let fields: Vec<_> = head.fields().collect();
                format!("{:?} {} {fields:?}", head.tag, head.status)
            }
            other => format!("{other:?}"),
        };
        self.events.push(words);
    }
}

fn client(tells_heads: bool) -> Http3Client {
    let request = |method: &str, length| {
        let target = [HeadPart::Text("/")];
        Http3Request::with_holes("https", method, &target, "h", &[], false, length)
            .expect("a request")
    };
    let requests = Arc::from([
        request("GET", PayloadLength::None),
        request("HEAD", PayloadLength::None),
        request("POST", PayloadLength::Varying),
        Http3Request::call("https", "/a.B/C", "h", &[], false).expect("a call"),
    ]);
    let limits = Http3Limits { max_field_section: 1_000, ..Http3Limits::default() };
    let mut client = match tells_heads {
        false => Http3Client::new(requests, limits),
        true => Http3Client::telling_heads(requests, limits),
    };
    let mut out = Outgoing::new();
    client.start(&mut out);
    client.allow(MESSAGES);
    for number in 0..MESSAGES {
        let (route, payload) = match number {
            1 => (1, &b""[..]),
            2 => (2, &b"content"[..]),
            CALL => (3, &b"\0\0\0\0\0"[..]),
            _ => (0, &b""[..]),
        };
        client.encode(&Message { number, route, payload, fill: None }, &mut out);
    }
    client
}
