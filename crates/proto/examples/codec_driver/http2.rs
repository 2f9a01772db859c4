//! HTTP/2 and its field compression, driven by lines.
//!
//! - `hpack-decoder SIZE bHEX|sSIZE...`: blocks, and settings of the table's size between them.
//! - `hpack-encoder NAME:VALUE:plain|never... sSIZE...`: one block; names and values in hexadecimal.
//! - `http2-server HEX...`: each request is answered with its own content.
//! - `http2-keeping SIZE NAME:PIECE+... =VALUE,...`: requests of one connection whose fields stay with a server of a
//!   table of that size; a piece of a value is text in hexadecimal, or `*` for what each request lays in there.
//! - `http2-client GET,POST:HEX,... HEX...`: these requests, once the server has said its settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::hpack::{HpackDecoder, Secrecy, write_field, write_table_size};
use wiretrial_proto::http2::{Http2Client, Http2Event, Http2Limits, Http2Request, Http2Server};
use wiretrial_proto::{
    ClientSession as _, Event, FieldList, Fill, Message, ReplyHead, Scratch, Tag,
};

use crate::{hex, name, unhex};

/// Of a list of fields, bytes.
pub(crate) const MOST_FIELDS: usize = 65_536;

/// What was reported, as JSON; none: no codec of these, or a line that can't be read.
pub(crate) fn drive(codec: &str, words: &[&str]) -> Option<Vec<String>> {
    match codec {
        "hpack-decoder" => decode(words),
        "hpack-encoder" => encode(words),
        "http2-keeping" => keep(words),
        "http2-server" => Some(serve(&pieces(words)?)),
        "http2-client" => {
            let (requests, words) = words.split_first()?;
            ask(requests, &pieces(words)?)
        }
        _ => None,
    }
}

fn pieces(words: &[&str]) -> Option<Vec<Vec<u8>>> {
    words.iter().map(|word| unhex(word)).collect()
}

fn decode(words: &[&str]) -> Option<Vec<String>> {
    let (size, words) = words.split_first()?;
    let mut decoder = HpackDecoder::new(size.parse().ok()?);
    let mut told = Vec::new();
    for word in words {
        if let Some(size) = word.strip_prefix('s') {
            decoder.allow(size.parse().ok()?);
            continue;
        }
        let block = unhex(word.strip_prefix('b')?)?;
        let mut list = FieldList::default();
        match decoder.read(&block, MOST_FIELDS, &mut list) {
            Ok(()) => told.push(format!("{{\"fields\":{}}}", fields(list.iter()))),
            Err(error) => {
                told.push(format!("{{\"failed\":\"{error:?}\"}}"));
                break;
            }
        }
    }
    Some(told)
}

fn encode(words: &[&str]) -> Option<Vec<String>> {
    let mut block = Vec::new();
    for word in words {
        if let Some(size) = word.strip_prefix('s') {
            write_table_size(size.parse().ok()?, &mut block);
            continue;
        }
        let mut parts = word.split(':');
        let (name, value) = (unhex(parts.next()?)?, unhex(parts.next()?)?);
        write_field(&name, &value, secrecy(parts.next()?), &mut block);
    }
    Some(vec![format!("{{\"block\":\"{}\"}}", hex(&block))])
}

fn keep(words: &[&str]) -> Option<Vec<String>> {
    let (size, words) = words.split_first()?;
    let (fields, requests): (Vec<&str>, Vec<&str>) =
        words.iter().copied().partition(|word| !word.starts_with('='));
    let fields: Vec<_> = fields.into_iter().map(field).collect::<Option<_>>()?;
    let headers: Vec<_> = fields.iter().map(parts).collect();
    let target = [HeadPart::Text("/message")];
    let length = PayloadLength::None;
    let request =
        Http2Request::keeping("http", "GET", &target, "h", &headers, false, length).ok()?;
    let mut client = Http2Client::new(Arc::from([request]), Http2Limits::default());
    let (mut out, mut scratch) = (Vec::new(), Scratch::new());
    client.start(&mut out);
    // The server's settings: how much its table holds.
    let mut settings = vec![0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 1];
    settings.extend(size.parse::<u32>().ok()?.to_be_bytes());
    client.receive(&settings, &mut scratch, &mut out).ok()?;
    out.clear();
    for (number, values) in (0..).zip(requests) {
        let (mut laid, mut ends) = (Vec::new(), Vec::new());
        for value in values[1..].split(',').filter(|value| !value.is_empty()) {
            laid.extend(unhex(value)?);
            ends.push(laid.len() as u32);
        }
        let fill = Some(&Fill { values: &laid, ends: &ends, cookies: b"" });
        client.encode(&Message { fill, ..Message::new(number, b"") }, &mut out);
    }
    Some(vec![format!("{{\"out\":\"{}\"}}", hex(&out))])
}

/// A field's name, and the pieces of its value; none: a hole.
type Pieces = (String, Vec<Option<String>>);

/// The same, as a request has them.
fn parts((name, pieces): &Pieces) -> (&str, Vec<HeadPart<'_>>) {
    let texts = pieces.iter().map(Option::as_deref);
    (name, texts.map(|text| text.map_or(HeadPart::Hole, HeadPart::Text)).collect())
}

fn field(word: &str) -> Option<Pieces> {
    let text = |word| String::from_utf8(unhex(word)?).ok();
    let (name, value) = word.split_once(':')?;
    let piece = |word| if word == "*" { Some(None) } else { text(word).map(Some) };
    Some((text(name)?, value.split('+').map(piece).collect::<Option<_>>()?))
}

/// What stands behind a field's value.
pub(crate) fn secrecy(word: &str) -> Secrecy {
    if word == "never" { Secrecy::Never } else { Secrecy::Plain }
}

fn serve(pieces: &[Vec<u8>]) -> Vec<String> {
    let mut server = Http2Server::new(Http2Limits { max_streams: 100, ..Http2Limits::default() });
    let (mut told, mut out, mut scratch) = (Vec::new(), Vec::new(), Scratch::new());
    let (mut carry, mut came) = (Vec::new(), BTreeMap::<u32, Vec<u8>>::new());
    'pieces: for piece in pieces {
        carry.extend_from_slice(piece);
        let mut at = 0;
        loop {
            let step = match server.receive(&carry[at..], &mut scratch, &mut out) {
                Ok(step) => step,
                Err(error) => {
                    told.push(format!("{{\"failed\":\"{}\"}}", name(error.class)));
                    break 'pieces;
                }
            };
            at += step.consumed;
            told.push(match step.event {
                None => break,
                Some(Http2Event::Request { stream, method, target, content_length, .. }) => {
                    let length = content_length.map_or("null".to_owned(), |it| it.to_string());
                    let target = target.unwrap_or_default();
                    format!(
                        "{{\"request\":{stream},\"method\":\"{}\",\"target\":\"{}\",\"length\":{length}}}",
                        hex(method.as_bytes()),
                        hex(target.as_bytes())
                    )
                }
                Some(Http2Event::Chunk { stream, piece }) => {
                    came.entry(stream).or_default().extend_from_slice(piece);
                    continue;
                }
                Some(Http2Event::End { stream }) => {
                    let whole = came.remove(&stream).unwrap_or_default();
                    let digits = stream.to_string();
                    let fields = [("content-type", &b"a/b"[..]), ("x-stream", digits.as_bytes())];
                    server.respond(stream, 200, &fields, whole.is_empty(), &mut out);
                    if !whole.is_empty() {
                        server.content(stream, &whole, true, &mut out);
                    }
                    format!("{{\"end\":{stream},\"content\":\"{}\"}}", hex(&whole))
                }
                Some(Http2Event::Gone { stream }) => format!("{{\"gone\":{stream}}}"),
                Some(Http2Event::Leaving) => "{\"leaving\":true}".to_owned(),
                Some(Http2Event::Room) => continue,
            });
        }
        carry.drain(..at);
    }
    told.push(format!("{{\"out\":\"{}\"}}", hex(&out)));
    told
}

/// A request for each word, and what it carries.
fn requests(words: &str) -> Option<(Vec<Http2Request>, Vec<Vec<u8>>)> {
    let mut made = Vec::new();
    let mut payloads = Vec::new();
    for (place, word) in words.split(',').enumerate() {
        let (method, payload) = word.split_once(':').unwrap_or((word, ""));
        let payload = unhex(payload)?;
        let target = format!("/{place}");
        let target = [HeadPart::Text(&target)];
        let length = if payload.is_empty() { PayloadLength::None } else { PayloadLength::Varying };
        let request =
            Http2Request::with_holes("http", method, &target, "h", &[], false, length).ok()?;
        made.push(request);
        payloads.push(payload);
    }
    Some((made, payloads))
}

fn ask(words: &str, pieces: &[Vec<u8>]) -> Option<Vec<String>> {
    let (requests, payloads) = requests(words)?;
    let mut client = Http2Client::telling_heads(Arc::from(requests), Http2Limits::default());
    let (mut told, mut out, mut scratch) = (Vec::new(), Vec::new(), Scratch::new());
    let (mut carry, mut came) = (Vec::new(), BTreeMap::<u64, Vec<u8>>::new());
    client.start(&mut out);
    'pieces: for piece in pieces {
        carry.extend_from_slice(piece);
        let mut at = 0;
        loop {
            let step = match client.receive(&carry[at..], &mut scratch, &mut out) {
                Ok(step) => step,
                Err(error) => {
                    told.push(format!("{{\"broken\":\"{}\"}}", name(error.class)));
                    break 'pieces;
                }
            };
            at += step.consumed;
            let Some(event) = step.event else { break };
            match event {
                Event::Open => {
                    for (route, payload) in payloads.iter().enumerate() {
                        let message = Message { number: route as u64, route, payload, fill: None };
                        client.encode(&message, &mut out);
                    }
                }
                other => told.extend(json(&other, &mut came)),
            }
        }
        carry.drain(..at);
    }
    told.push(format!("{{\"out\":\"{}\"}}", hex(&out)));
    Some(told)
}

/// What an event says; content is kept until its end.
pub(crate) fn json(event: &Event<'_>, came: &mut BTreeMap<u64, Vec<u8>>) -> Option<String> {
    Some(match event {
        Event::Chunk { tag, piece } => {
            came.entry(number(*tag)?).or_default().extend_from_slice(piece);
            return None;
        }
        Event::Head(head) => fields_of("head", head)?,
        Event::Trailers(fields) => fields_of("trailers", fields)?,
        Event::Reply(reply) => {
            let number = number(reply.tag)?;
            let mut whole = came.remove(&number).unwrap_or_default();
            whole.extend_from_slice(reply.payload);
            let (status, content) = (reply.status, hex(&whole));
            format!("{{\"reply\":{number},\"status\":{status},\"content\":\"{content}\"}}")
        }
        Event::Failed { tag, error } => {
            let number = number(*tag)?;
            format!("{{\"failed\":{number},\"class\":\"{}\"}}", name(error.class))
        }
        Event::Unprocessed { tag } => format!("{{\"unprocessed\":{}}}", number(*tag)?),
        Event::Room => "{\"room\":true}".to_owned(),
        Event::Leaving => "{\"leaving\":true}".to_owned(),
        _ => return None,
    })
}

pub(crate) fn fields_of(place: &str, head: &ReplyHead<'_>) -> Option<String> {
    let (number, status) = (number(head.tag)?, head.status);
    Some(format!(
        "{{\"{place}\":{number},\"status\":{status},\"fields\":{}}}",
        fields(head.fields())
    ))
}

const fn number(tag: Tag) -> Option<u64> {
    match tag {
        Tag::Number(number) => Some(number),
        Tag::Oldest => None,
    }
}

pub(crate) fn fields<'a>(list: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> String {
    let pairs = list.map(|(name, value)| format!("[\"{}\",\"{}\"]", hex(name), hex(value)));
    format!("[{}]", pairs.collect::<Vec<_>>().join(","))
}
