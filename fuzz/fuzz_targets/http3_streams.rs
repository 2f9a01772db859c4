//! Streams of HTTP/3 read anything: the same parts or the same error however the bytes were cut, never
//! a panic; what they wait for is bounded; and fields that were read, with a table that the peer has filled or
//! without one, come back when they are written.
//!
//! Input: one byte (its lowest bit: at a client; the next two: which stream; the rest: how many cuts),
//! the distances between the cuts, the peer's bytes behind the stream's first number; of fields: how many bytes of
//! instructions come first, those, and a block.
#![no_main]

mod cuts;

use cuts::cut;
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::FieldList;
use wiretrial_proto::http2::hpack::Secrecy;
use wiretrial_proto::http3::qpack::{
    QpackDecoder, QpackPut, read_fields, write_field, write_prefix,
};
use wiretrial_proto::http3::{ControlReader, MessageReader, Part};

/// The longest block of fields that is waited for.
const MOST: u64 = 1_000;
/// What a table holds.
const TABLE: usize = 300;
/// The longest frame on a control stream that is waited for, and a head.
const MOST_WAITED: usize = 16_384 + 16;

fuzz_target!(|data: &[u8]| {
    let Some((&control, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(control >> 3)) else { return };
    let is_client = control & 1 == 1;
    let read = match control >> 1 & 3 {
        0 => message,
        1 => control_stream,
        2 => instructions,
        _ => return fields(input),
    };
    assert_eq!(read(&cut(input, distances), is_client), read(&[input], is_client));
});

/// What a message's stream brings in words, content together, and what its end is.
fn message(pieces: &[&[u8]], is_client: bool) -> Vec<String> {
    let mut reader = MessageReader::new(MOST, is_client);
    let (mut told, mut content, mut carry) = (Vec::new(), Vec::new(), Vec::new());
    for piece in pieces {
        carry.extend_from_slice(piece);
        let mut offset = 0;
        loop {
            let taken = match reader.read(&carry[offset..]) {
                Ok(taken) => taken,
                Err(error) => {
                    told.push(format!("{content:?} {error:?}"));
                    return told;
                }
            };
            offset += taken.consumed;
            match taken.part {
                None => break,
                Some(Part::Content(piece)) => {
                    assert!(!piece.is_empty());
                    content.extend_from_slice(piece);
                }
                Some(Part::Fields(block)) => {
                    assert!(block.len() as u64 <= MOST);
                    told.push(format!("{content:?} fields {block:?}"));
                    content.clear();
                    // A block that says nothing is an answer that is not the last.
                    if !block.is_empty() {
                        reader.has_head();
                    }
                }
            }
        }
        carry.drain(..offset);
        assert!(carry.len() <= MOST as usize + 16);
    }
    told.push(format!("{content:?} {:?}", reader.end(carry.len())));
    told
}

fn control_stream(pieces: &[&[u8]], is_client: bool) -> Vec<String> {
    let mut reader = ControlReader::new(is_client);
    let (mut told, mut carry) = (Vec::new(), Vec::new());
    for piece in pieces {
        carry.extend_from_slice(piece);
        let mut offset = 0;
        loop {
            match reader.read(&carry[offset..]) {
                Ok((consumed, said)) => {
                    offset += consumed;
                    match said {
                        None => break,
                        Some(said) => told.push(format!("{said:?}")),
                    }
                }
                Err(error) => {
                    told.push(format!("{error:?}"));
                    return told;
                }
            }
        }
        carry.drain(..offset);
        assert!(carry.len() <= MOST_WAITED);
    }
    told
}

fn instructions(pieces: &[&[u8]], is_encoder: bool) -> Vec<String> {
    let (mut decoder, mut put) = (QpackDecoder::new(TABLE), QpackPut::default());
    put.put(3);
    let (mut read, mut carry) = (0, Vec::new());
    for piece in pieces {
        carry.extend_from_slice(piece);
        let told = if is_encoder { decoder.instructions(&carry) } else { put.instructions(&carry) };
        match told {
            Ok(consumed) => {
                read += consumed;
                carry.drain(..consumed);
            }
            Err(error) => return vec![error.to_owned()],
        }
        // Two strings in the longest code, or a number.
        assert!(carry.len() < if is_encoder { 8 * TABLE + 16 } else { 8 });
    }
    vec![format!("{read} {} {}", decoder.inserted(), put.is_known())]
}

fn fields(input: &[u8]) {
    let Some((&length, rest)) = input.split_first() else { return };
    let Some((instructions, block)) = rest.split_at_checked(usize::from(length)) else { return };
    let mut decoder = QpackDecoder::new(TABLE);
    if decoder.instructions(instructions).is_err() {
        return;
    }
    let mut list = FieldList::default();
    let is_read = decoder.read(0, block, MOST as usize, &mut list).is_ok();
    assert!(list.bytes() <= MOST as usize);
    if !is_read {
        return;
    }
    let mut out = Vec::new();
    write_prefix(&mut out);
    for (name, value) in list.iter() {
        write_field(name, value, Secrecy::Plain, &mut out);
    }
    let mut again = FieldList::default();
    assert_eq!(read_fields(&out, MOST as usize, &mut again), Ok(()));
    assert_eq!(again, list);
}
