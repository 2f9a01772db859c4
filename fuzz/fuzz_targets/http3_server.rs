//! An HTTP/3 server reads anything on any stream: events or a protocol error, never a panic, and the
//! same ones however the bytes were cut; no more requests than it takes; and what it answers is whole
//! frames, with fields that can be read.
//!
//! Input: one byte (how many cuts), the distances between the cuts, and pieces as `http3_client` has
//! them.
#![no_main]

mod cuts;
mod pieces;

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use pieces::{Kind, Piece, cut_each, pieces};
use wiretrial_proto::http3::qpack::read_fields;
use wiretrial_proto::http3::{
    Action, Http3Event, Http3Limits, Http3Server, MessageReader, Outgoing, Part,
};
use wiretrial_proto::{FieldList, ProtocolError, Scratch};

const MOST_STREAMS: usize = 3;

fuzz_target!(|data: &[u8]| {
    let Some((&count, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(count)) else { return };
    let all = pieces(input);
    let whole = run(&all);
    assert_eq!(run(&cut_each(&all, distances)), whole);
});

#[derive(Default)]
struct Heard {
    events: Vec<String>,
    content: BTreeMap<u64, Vec<u8>>,
}

/// Events in words, the content of each request together; and what the server does.
fn run(pieces: &[Piece<'_>]) -> (Vec<String>, Vec<String>) {
    let limits = Http3Limits {
        max_field_section: 1_000,
        max_streams: MOST_STREAMS,
        connect_protocol: true,
        ..Http3Limits::default()
    };
    let (mut server, mut out) = (Http3Server::new(limits), Outgoing::new());
    let (mut heard, mut said) = (Heard::default(), Vec::new());
    for piece in pieces {
        let result = hear(&mut server, piece, &mut heard, &mut out);
        assert!(server.open_streams() <= MOST_STREAMS, "no more than it takes");
        for action in out.actions() {
            if let Action::Write { bytes, fin, .. } = action {
                assert!(fin);
                look_at(bytes);
            }
            said.push(format!("{action:?}"));
        }
        out.clear();
        if let Err(error) = result {
            heard.events.push(format!("{error:?}"));
            assert!(said.last().is_some_and(|last| last.starts_with("Close")));
            break;
        }
    }
    (heard.events, said)
}

fn hear(
    server: &mut Http3Server,
    piece: &Piece<'_>,
    heard: &mut Heard,
    out: &mut Outgoing,
) -> Result<(), ProtocolError> {
    let (stream, mut scratch) = (piece.stream, Scratch::new());
    let told = match piece.kind {
        Kind::Reset => server.reset(stream, out)?,
        Kind::Stop => server.stop_sending(stream, piece.code(), out)?,
        Kind::Bytes { fin } => {
            let mut input = piece.bytes;
            loop {
                let step = server.receive(stream, input, fin, &mut scratch, out)?;
                input = &input[step.consumed..];
                let Some(event) = step.event else { break };
                let words = match event {
                    Http3Event::Chunk { stream, piece } => {
                        assert!(!piece.is_empty());
                        heard.content.entry(stream).or_default().extend_from_slice(piece);
                        continue;
                    }
                    Http3Event::End { stream } => {
                        let whole = heard.content.remove(&stream).unwrap_or_default();
                        let fields = [("content-type", &b"text/plain"[..])];
                        server.respond(stream, 200, &fields, false, out);
                        server.content(stream, &whole, true, out);
                        format!("{stream} {whole:?}")
                    }
                    // Whether its end is known already depends on the cuts.
                    Http3Event::Request {
                        stream, method, target, content_length, fields, ..
                    } => {
                        let fields: Vec<_> = fields.iter().collect();
                        format!("{stream} {method} {target:?} {content_length:?} {fields:?}")
                    }
                    other => format!("{other:?}"),
                };
                heard.events.push(words);
            }
            assert!(input.is_empty(), "all of it is taken");
            None
        }
    };
    heard.events.extend(told.map(|event| format!("{event:?}")));
    Ok(())
}

/// What it said on a stream is a whole message.
fn look_at(said: &[u8]) {
    let mut reader = MessageReader::new(1 << 20, true);
    let mut offset = 0;
    loop {
        let taken = reader.read(&said[offset..]).expect("its own frames");
        offset += taken.consumed;
        match taken.part {
            None => break,
            Some(Part::Content(_)) => {}
            Some(Part::Fields(block)) => {
                let mut list = FieldList::default();
                read_fields(block, 65_536, &mut list).expect("its own fields");
                assert_eq!(list.get(b":status"), Some(&b"200"[..]));
                reader.has_head();
            }
        }
    }
    assert_eq!(reader.end(said.len() - offset), Ok(()));
}
