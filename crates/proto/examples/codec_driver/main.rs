//! Drives the codecs from another language: a line in, a line out.
//!
//! In: what to drive, the pieces of the peer's bytes in hexadecimal, `fin` where the peer
//! closes: `http1-client GET,HEAD 4854.. 0d0a.. fin`. Out: what was reported, as a JSON list.
//! Used by `tests/differential`, which compares the codecs with well-kept ones in Python.

#[path = "../../tests/common/mod.rs"]
mod common;
mod http2;
mod http3;

use std::io::{self, BufRead as _, Write as _};

use common::{Seen, Transcript, run_client, run_server};
use wiretrial_proto::http1::{Http1Client, Http1Server, PayloadLength, RequestHead};
use wiretrial_proto::websocket::WebSocketServer;
use wiretrial_proto::{ClientSession, ErrorClass, Message, MessageKind};

/// The longest message that the WebSocket server takes, bytes.
const MAX_MESSAGE: u64 = 1 << 20;

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let report = drive(&line?).unwrap_or_else(|| {
            String::from("{\"error\":\"a line is CODEC [METHODS] HEX... [fin]\"}")
        });
        writeln!(out, "{report}")?;
        out.flush()?;
    }
    Ok(())
}

fn drive(line: &str) -> Option<String> {
    let mut words = line.split(' ').filter(|word| !word.is_empty()).peekable();
    let codec = words.next()?;
    if codec.starts_with("http2-") || codec.starts_with("hpack-") {
        let words: Vec<_> = words.collect();
        return http2::drive(codec, &words).map(|events| format!("[{}]", events.join(",")));
    }
    if codec.starts_with("http3-") || codec.starts_with("qpack-") {
        let words: Vec<_> = words.collect();
        return http3::drive(codec, &words).map(|events| format!("[{}]", events.join(",")));
    }
    let methods = if codec == "http1-client" { words.next()? } else { "" };
    let mut input = Vec::new();
    let mut cuts = Vec::new();
    let mut fin = false;
    for word in words {
        if word == "fin" {
            fin = true;
            continue;
        }
        cuts.extend((!input.is_empty()).then_some(input.len()));
        input.extend(unhex(word)?);
    }
    let Transcript { seen, .. } = match codec {
        "http1-client" => run_client(&mut http1_client(methods)?, &input, &cuts, fin),
        "http1-server" => run_server(&mut Http1Server::new(), &input, &cuts),
        "websocket-server" => run_server(&mut WebSocketServer::new(MAX_MESSAGE), &input, &cuts),
        _ => return None,
    };
    let events: Vec<String> = seen.iter().map(json).collect();
    Some(format!("[{}]", events.join(",")))
}

/// A codec that sent these requests.
fn http1_client(methods: &str) -> Option<Http1Client> {
    let head = |method| RequestHead::new(method, "/", "h", &[], false, PayloadLength::None).ok();
    let heads: Vec<RequestHead> = methods.split(',').map(head).collect::<Option<_>>()?;
    let count = heads.len();
    let mut codec = Http1Client::new(heads.into());
    for route in 0..count {
        codec.encode(&Message { number: 0, route, payload: b"", fill: None }, &mut Vec::new());
    }
    Some(codec)
}

/// Bytes stand in hexadecimal, so nothing here needs an escape.
fn json(seen: &Seen) -> String {
    match seen {
        Seen::Open => String::from("{\"open\":true}"),
        Seen::Room => String::from("{\"room\":true}"),
        Seen::Unprocessed => String::from("{\"unprocessed\":true}"),
        Seen::Leaving => String::from("{\"leaving\":true}"),
        Seen::Failed(class) => format!("{{\"failed\":\"{class:?}\"}}"),
        Seen::Reply { status, payload, last, .. } => {
            format!("{{\"reply\":{status},\"body\":\"{}\",\"last\":{last}}}", hex(payload))
        }
        Seen::Delivery(delivery) => format!("{{\"delivery\":{}}}", delivery.number),
        Seen::Bulletin(bulletin) => format!("{{\"bulletin\":{}}}", bulletin.intact),
        Seen::Request(request) => format!(
            "{{\"method\":\"{}\",\"target\":\"{}\",\"keep_alive\":{}}}",
            hex(request.method.as_bytes()),
            hex(request.target.as_bytes()),
            request.keep_alive
        ),
        Seen::Message(kind) => {
            let text = *kind == MessageKind::Text;
            format!("{{\"message\":\"{}\"}}", if text { "text" } else { "binary" })
        }
        Seen::End(payload) => format!("{{\"end\":\"{}\"}}", hex(payload)),
        Seen::Close(code) => format!("{{\"close\":{code}}}"),
        Seen::Part(payload) => format!("{{\"part\":\"{}\"}}", hex(payload)),
        Seen::Error(class) => format!("{{\"failed\":\"{}\"}}", name(*class)),
    }
}

const fn name(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Truncated => "truncated",
        ErrorClass::HeaderTooLarge => "header_too_large",
        ErrorClass::TooBig => "too_big",
        ErrorClass::Utf8 => "utf8",
        ErrorClass::Reset => "reset",
        ErrorClass::Closed => "closed",
        ErrorClass::Upgrade => "upgrade",
        ErrorClass::Mismatch => "mismatch",
        ErrorClass::NoStatus => "no_status",
        ErrorClass::Protocol => "protocol",
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}
