//! HTTP/3 and its fields, driven.
//!
//! - `qpack-decoder HEX...`: blocks, each by itself.
//! - `qpack-table CAPACITY STREAM:INSTRUCTIONS:BLOCK...`: blocks on these streams, each behind instructions of its
//!   encoder. What is said to that comes last.
//! - `qpack-encoder NAME:VALUE:plain|never...`: one block; names and values in hexadecimal.
//! - `http3-server PIECE...`: each request is answered with its own content, in the order of their ends.
//! - `http3-client GET,POST:HEX,... PIECE...`: these requests, from the start.
//! - `http3-keeping PIECE...`: a request before the pieces and the same behind them, which keeps what is alike.
//!
//! A piece is `STREAM:HEX`, `STREAM:HEX:fin`, or `STREAM:reset:CODE`. What is said comes last, by stream.

use std::collections::BTreeMap;
use std::sync::Arc;

use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http3::qpack::{QpackDecoder, read_fields, write_field, write_prefix};
use wiretrial_proto::http3::{
    Action, Http3Client, Http3Event, Http3Limits, Http3Request, Http3Server, Outgoing,
};
use wiretrial_proto::{FieldList, Message, ProtocolError, Scratch};

use crate::http2::{MOST_FIELDS, fields, json, secrecy};
use crate::{hex, name, unhex};

/// What was reported, as JSON; none: no codec of these, or a line that can't be read.
pub(crate) fn drive(codec: &str, words: &[&str]) -> Option<Vec<String>> {
    match codec {
        "qpack-decoder" => words.iter().map(|word| Some(decode(&unhex(word)?))).collect(),
        "qpack-table" => {
            let (capacity, words) = words.split_first()?;
            decode_by_table(capacity.parse().ok()?, words)
        }
        "qpack-encoder" => encode(words),
        "http3-server" => Some(serve(&pieces(words)?)),
        "http3-client" => {
            let (requests, words) = words.split_first()?;
            ask(requests, &pieces(words)?)
        }
        "http3-keeping" => ask_twice(&pieces(words)?),
        _ => None,
    }
}

/// What happens to a stream.
enum Piece {
    Bytes { stream: u64, bytes: Vec<u8>, fin: bool },
    Reset { stream: u64, code: u64 },
}

fn pieces(words: &[&str]) -> Option<Vec<Piece>> {
    words.iter().map(|word| piece(word)).collect()
}

fn piece(word: &str) -> Option<Piece> {
    let mut parts = word.split(':');
    let stream = parts.next()?.parse().ok()?;
    Some(match (parts.next()?, parts.next()) {
        ("reset", Some(code)) => Piece::Reset { stream, code: code.parse().ok()? },
        (bytes, end) => Piece::Bytes { stream, bytes: unhex(bytes)?, fin: end == Some("fin") },
    })
}

fn serve(pieces: &[Piece]) -> Vec<String> {
    let mut server = Http3Server::new(Http3Limits::default());
    let (mut told, mut out) = (Vec::new(), Outgoing::new());
    let mut came = BTreeMap::new();
    server.start(&mut out);
    for piece in pieces {
        if let Err(error) = hear(&mut server, piece, &mut came, &mut told, &mut out) {
            told.push(format!("{{\"broken\":\"{}\"}}", name(error.class)));
            break;
        }
    }
    told.push(said(&out));
    told
}

fn hear(
    server: &mut Http3Server,
    piece: &Piece,
    came: &mut BTreeMap<u64, Vec<u8>>,
    told: &mut Vec<String>,
    out: &mut Outgoing,
) -> Result<(), ProtocolError> {
    let mut scratch = Scratch::new();
    let (stream, mut input, fin) = match piece {
        Piece::Bytes { stream, bytes, fin } => (*stream, &bytes[..], *fin),
        Piece::Reset { stream, .. } => {
            if server.reset(*stream, out)?.is_some() {
                told.push(format!("{{\"gone\":{stream}}}"));
            }
            return Ok(());
        }
    };
    loop {
        let step = server.receive(stream, input, fin, &mut scratch, out)?;
        input = &input[step.consumed..];
        told.push(match step.event {
            None => return Ok(()),
            Some(Http3Event::Request { stream, method, target, content_length, fields: all, .. }) => {
                let length = content_length.map_or("null".to_owned(), |it| it.to_string());
                format!(
                    "{{\"request\":{stream},\"method\":\"{}\",\"target\":\"{}\",\"length\":{length},\"fields\":{}}}",
                    hex(method.as_bytes()),
                    hex(target.unwrap_or_default().as_bytes()),
                    fields(all.iter()),
                )
            }
            Some(Http3Event::Chunk { stream, piece }) => {
                came.entry(stream).or_default().extend_from_slice(piece);
                continue;
            }
            Some(Http3Event::End { stream }) => {
                let whole = came.remove(&stream).unwrap_or_default();
                let digits = stream.to_string();
                let own = [("content-type", &b"a/b"[..]), ("x-stream", digits.as_bytes())];
                server.respond(stream, 200, &own, whole.is_empty(), out);
                if !whole.is_empty() {
                    server.content(stream, &whole, true, out);
                }
                format!("{{\"end\":{stream},\"content\":\"{}\"}}", hex(&whole))
            }
            Some(Http3Event::Gone { stream }) => format!("{{\"gone\":{stream}}}"),
            Some(Http3Event::Leaving) => "{\"leaving\":true}".to_owned(),
            Some(Http3Event::Room) => continue,
        });
    }
}

fn ask(words: &str, pieces: &[Piece]) -> Option<Vec<String>> {
    let (mut requests, mut payloads) = (Vec::new(), Vec::new());
    for (place, word) in words.split(',').enumerate() {
        let (method, payload) = word.split_once(':').unwrap_or((word, ""));
        let payload = unhex(payload)?;
        let target = format!("/{place}");
        let target = [HeadPart::Text(&target)];
        let length = if payload.is_empty() { PayloadLength::None } else { PayloadLength::Varying };
        let made = Http3Request::with_holes("https", method, &target, "h", &[], false, length);
        requests.push(made.ok()?);
        payloads.push(payload);
    }
    let mut client = Http3Client::telling_heads(Arc::from(requests), Http3Limits::default());
    let (mut told, mut out, mut came) = (Vec::new(), Outgoing::new(), BTreeMap::new());
    client.start(&mut out);
    client.allow(payloads.len() as u64);
    for (route, payload) in payloads.iter().enumerate() {
        let message = Message { number: route as u64, route, payload, fill: None };
        client.encode(&message, &mut out);
    }
    for piece in pieces {
        if let Err(error) = answer(&mut client, piece, &mut came, &mut told, &mut out) {
            told.push(format!("{{\"broken\":\"{}\"}}", name(error.class)));
            break;
        }
    }
    told.push(said(&out));
    Some(told)
}

/// The same request twice, with what a server says in between.
fn ask_twice(pieces: &[Piece]) -> Option<Vec<String>> {
    let text = |text| vec![HeadPart::Text(text)];
    let headers =
        [("accept", text("text/html")), ("x-own", text("one")), ("cookie", text("theme=dark"))];
    let target = text("/a");
    let none = PayloadLength::None;
    let request = Http3Request::keeping("https", "GET", &target, "h:1", &headers, false, none);
    let limits = Http3Limits { table: 4096, ..Http3Limits::default() };
    let mut client = Http3Client::telling_heads(Arc::from([request.ok()?]), limits);
    let (mut told, mut out, mut came) = (Vec::new(), Outgoing::new(), BTreeMap::new());
    client.start(&mut out);
    client.allow(2);
    client.encode(&Message::new(0, b""), &mut out);
    for piece in pieces {
        if let Err(error) = answer(&mut client, piece, &mut came, &mut told, &mut out) {
            told.push(format!("{{\"broken\":\"{}\"}}", name(error.class)));
            return Some(told);
        }
    }
    client.encode(&Message::new(1, b""), &mut out);
    told.push(said(&out));
    Some(told)
}

fn answer(
    client: &mut Http3Client,
    piece: &Piece,
    came: &mut BTreeMap<u64, Vec<u8>>,
    told: &mut Vec<String>,
    out: &mut Outgoing,
) -> Result<(), ProtocolError> {
    let mut scratch = Scratch::new();
    let (stream, mut input, fin) = match piece {
        Piece::Bytes { stream, bytes, fin } => (*stream, &bytes[..], *fin),
        Piece::Reset { stream, code } => {
            let event = client.reset(*stream, *code, out)?;
            told.extend(event.and_then(|event| json(&event, came)));
            return Ok(());
        }
    };
    loop {
        let step = client.receive(stream, input, fin, &mut scratch, out)?;
        input = &input[step.consumed..];
        let Some(event) = step.event else { return Ok(()) };
        told.extend(json(&event, came));
    }
}

/// What was said on each stream, in the order in which they were named, and what else was done.
fn said(out: &Outgoing) -> String {
    let actions = out.actions().map(|action| match action {
        Action::Write { stream, bytes, fin } => {
            format!("{{\"write\":{stream},\"bytes\":\"{}\",\"fin\":{fin}}}", hex(bytes))
        }
        Action::Reset { stream, code } => format!("{{\"reset\":{stream},\"code\":{code}}}"),
        Action::Stop { stream, code } => format!("{{\"stop\":{stream},\"code\":{code}}}"),
        Action::Close { code } => format!("{{\"close\":{code}}}"),
    });
    format!("{{\"out\":[{}]}}", actions.collect::<Vec<_>>().join(","))
}

fn decode(block: &[u8]) -> String {
    let mut list = FieldList::default();
    match read_fields(block, MOST_FIELDS, &mut list) {
        Ok(()) => format!("{{\"fields\":{}}}", fields(list.iter())),
        Err(error) => format!("{{\"failed\":\"{error:?}\"}}"),
    }
}

fn decode_by_table(capacity: usize, words: &[&str]) -> Option<Vec<String>> {
    let mut decoder = QpackDecoder::new(capacity);
    let mut told = Vec::new();
    for word in words {
        let mut parts = word.split(':');
        let stream = parts.next()?.parse().ok()?;
        let (instructions, block) = (unhex(parts.next()?)?, unhex(parts.next()?)?);
        if let Err(error) = decoder.instructions(&instructions) {
            told.push(format!("{{\"failed\":\"{error}\"}}"));
            break;
        }
        let mut list = FieldList::default();
        told.push(match decoder.read(stream, &block, MOST_FIELDS, &mut list) {
            Ok(()) => format!("{{\"fields\":{}}}", fields(list.iter())),
            Err(error) => format!("{{\"failed\":\"{error:?}\"}}"),
        });
    }
    told.push(format!("{{\"said\":\"{}\"}}", hex(decoder.said())));
    Some(told)
}

fn encode(words: &[&str]) -> Option<Vec<String>> {
    let mut block = Vec::new();
    write_prefix(&mut block);
    for word in words {
        let mut parts = word.split(':');
        let (name, value) = (unhex(parts.next()?)?, unhex(parts.next()?)?);
        write_field(&name, &value, secrecy(parts.next()?), &mut block);
    }
    Some(vec![format!("{{\"block\":\"{}\"}}", hex(&block))])
}
