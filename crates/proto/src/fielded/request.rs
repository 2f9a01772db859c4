//! A request, rendered once as a block of fields.
//!
//! Knows what a request may look like in HTTP/2 and HTTP/3; must not know when it is sent, nor how
//! fields are packed. What may be said in HTTP/1.1 may be said here, in the same words: it is checked
//! there.

use super::inbound::OF_CONNECTIONS;
use crate::Fill;
use crate::grpc::{ACCEPTED, CONTENT_TYPE, accepts_gzip};
use crate::http1::{BadRequest, HeadPart, PayloadLength, RequestHead};
use crate::packed::{Secrecy, write_value_head};
use crate::websocket::{BadWebSocketConfig, WebSocketConfig};

/// What must not be indexed on the way.
const SECRETS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// How fields are packed, so that the bytes are right on every connection at any time. A value that
/// stands as it is has the same form in both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packing<'p> {
    /// What begins a block.
    pub(crate) prefix: &'p [u8],
    /// Appends a whole field.
    pub(crate) field: fn(&[u8], &[u8], Secrecy, &mut Vec<u8>),
    /// Appends what goes before the length of a value.
    pub(crate) name: fn(&[u8], Secrecy, &mut Vec<u8>),
}

/// Appends a whole field: its name, its value, and who may index it.
pub(crate) type PackField<'c> = dyn FnMut(&[u8], &[u8], Secrecy, &mut Vec<u8>) + 'c;

/// Where requests go, and how they are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) packing: Packing<'a>,
    pub(crate) scheme: &'a str,
    /// What HTTP/1.1 says in its Host field.
    pub(crate) authority: &'a str,
}

/// A request's fields: checked and encoded when it is made, copied when it is sent.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a request")]
pub(crate) struct Rendered {
    parts: Box<[Part]>,
    holes: usize,
    length: PayloadLength,
    /// What goes before the length and the value of these two.
    content_length: Box<[u8]>,
    cookie: Box<[u8]>,
    is_head: bool,
    is_call: bool,
    accepts_gzip: bool,
    closes: bool,
}

#[derive(Debug, Clone)]
enum Part {
    /// Whole fields.
    Block(Vec<u8>),
    /// A field whose value has holes: what goes before the value's length, and the value.
    Value(Vec<u8>, Vec<Piece>),
}

#[derive(Debug, Clone)]
enum Piece {
    Text(Vec<u8>),
    Hole,
}

impl Rendered {
    /// As [`Http2Request::with_holes`](crate::http2::Http2Request::with_holes).
    pub(crate) fn with_holes(
        origin: Origin<'_>,
        method: &str,
        target: &[HeadPart<'_>],
        headers: &[(&str, Vec<HeadPart<'_>>)],
        close: bool,
        payload: PayloadLength,
    ) -> Result<Self, BadRequest> {
        let mut field = origin.packing.field;
        Self::packed(origin, method, target, headers, close, payload, &mut field)
    }

    /// The same, whose whole fields are appended so.
    pub(crate) fn packed(
        origin: Origin<'_>,
        method: &str,
        target: &[HeadPart<'_>],
        headers: &[(&str, Vec<HeadPart<'_>>)],
        close: bool,
        payload: PayloadLength,
        field: &mut PackField<'_>,
    ) -> Result<Self, BadRequest> {
        RequestHead::with_holes(method, target, origin.authority, headers, close, payload)?;
        let mut made = Draft::of(origin, field, method, target, headers);
        match payload {
            PayloadLength::Fixed(length) => {
                made.field(
                    "content-length",
                    &[HeadPart::Text(&length.to_string())],
                    Secrecy::Plain,
                );
            }
            PayloadLength::None if crate::http1::expects_a_body(method) => {
                made.field("content-length", &[HeadPart::Text("0")], Secrecy::Plain);
            }
            PayloadLength::None | PayloadLength::Varying => {}
        }
        Ok(made.rendered(payload, method == "HEAD", false, close))
    }

    /// As [`Http2Request::call`](crate::http2::Http2Request::call).
    pub(crate) fn call(
        origin: Origin<'_>,
        target: &str,
        headers: &[(&str, Vec<HeadPart<'_>>)],
        close: bool,
    ) -> Result<Self, BadRequest> {
        let text = |text| vec![HeadPart::Text(text)];
        let mut all: Vec<_> = Vec::with_capacity(headers.len() + 1);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            all.push(("content-type", text(CONTENT_TYPE)));
        }
        all.extend(headers.iter().cloned());
        let is_accepted = |part: &HeadPart<'_>| matches!(part, HeadPart::Text(list) if accepts_gzip(list.as_bytes()));
        let accepts_gzip = headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case(ACCEPTED) && value.iter().any(is_accepted)
        });
        let target = text(target);
        let length = PayloadLength::Varying;
        RequestHead::with_holes("POST", &target, origin.authority, &all, close, length)?;
        let mut field = origin.packing.field;
        let mut made = Draft::of(origin, &mut field, "POST", &target, &all);
        made.field("te", &text("trailers"), Secrecy::Plain);
        Ok(Self { accepts_gzip, ..made.rendered(PayloadLength::None, false, true, close) })
    }

    /// Appends the block of one request with a payload of `length` bytes, which must be what was
    /// promised.
    #[inline]
    pub(crate) fn write(&self, length: u64, fill: Option<&Fill<'_>>, out: &mut Vec<u8>) {
        debug_assert_eq!(
            self.holes,
            fill.map_or(0, |fill| fill.ends.len()),
            "a value for each hole"
        );
        let values = fill.map_or(&[][..], |fill| fill.values);
        let mut ends = fill.map_or(&[][..], |fill| fill.ends).iter().map(|&end| end as usize);
        let mut begin = 0;
        for part in &self.parts {
            match part {
                Part::Block(block) => out.extend_from_slice(block),
                Part::Value(head, pieces) => {
                    let holes = pieces.iter().filter(|piece| matches!(piece, Piece::Hole)).count();
                    let last = holes.checked_sub(1).and_then(|place| ends.clone().nth(place));
                    let last = last.unwrap_or(begin);
                    let texts = pieces.iter().map(|piece| match piece {
                        Piece::Text(text) => text.len(),
                        Piece::Hole => 0,
                    });
                    out.extend_from_slice(head);
                    write_value_head(texts.sum::<usize>() + last - begin, out);
                    for piece in pieces {
                        match (piece, begin) {
                            (Piece::Text(text), _) => out.extend_from_slice(text),
                            (Piece::Hole, from) => {
                                begin = ends.next().unwrap_or(from);
                                out.extend_from_slice(&values[from..begin]);
                            }
                        }
                    }
                }
            }
        }
        if let Some(cookies) = fill.map(|fill| fill.cookies).filter(|cookies| !cookies.is_empty()) {
            out.extend_from_slice(&self.cookie);
            write_value_head(cookies.len(), out);
            out.extend_from_slice(cookies);
        }
        if self.length == PayloadLength::Varying {
            out.extend_from_slice(&self.content_length);
            let place = out.len();
            write_value_head(0, out);
            crate::http1::decimal(length, out);
            // Twenty digits at most: how many they are is one byte.
            out[place] = (out.len() - place - 1) as u8;
        }
    }

    /// The block of each request, where all are the same.
    #[inline]
    pub(crate) fn same(&self, fill: Option<&Fill<'_>>) -> Option<&[u8]> {
        match &*self.parts {
            [Part::Block(block)]
                if self.length != PayloadLength::Varying
                    && fill.is_none_or(|fill| fill.cookies.is_empty()) =>
            {
                Some(block)
            }
            _ => None,
        }
    }

    /// Is the reply without content, whatever its fields say?
    pub(crate) const fn is_head(&self) -> bool {
        self.is_head
    }

    /// Is it a call of gRPC?
    pub(crate) const fn is_call(&self) -> bool {
        self.is_call
    }

    /// Is it a call to which messages may come in gzip?
    pub(crate) const fn accepts_gzip(&self) -> bool {
        self.accepts_gzip
    }

    /// Is it the last on its connection?
    pub(crate) const fn closes(&self) -> bool {
        self.closes
    }
}

/// What asks for a WebSocket on a stream (RFC 8441 section 5, RFC 9220), as a block of fields; `scheme`
/// is that of HTTP, `http` or `https`. The configuration must be [valid](WebSocketConfig::validate).
///
/// # Errors
/// A header about the connection, of which this version of HTTP says nothing in fields.
pub(crate) fn websocket(
    packing: Packing<'_>,
    scheme: &str,
    config: &WebSocketConfig,
) -> Result<Vec<u8>, BadWebSocketConfig> {
    let mut write = packing.field;
    let mut made = Draft::new(packing, &mut write);
    let mut field = |name: &str, value: &str, secrecy| {
        made.field(name, &[HeadPart::Text(value)], secrecy);
    };
    let plain = Secrecy::Plain;
    field(":method", "CONNECT", plain);
    field(":protocol", "websocket", plain);
    field(":scheme", scheme, plain);
    field(":path", &config.target, plain);
    field(":authority", &config.host, plain);
    field("sec-websocket-version", "13", plain);
    if !config.subprotocols.is_empty() {
        field("sec-websocket-protocol", &config.subprotocols.join(", "), plain);
    }
    if let Some(deflate) = &config.deflate {
        field("sec-websocket-extensions", &deflate.offer(), plain);
    }
    for (name, value) in &config.headers {
        let lower = name.to_ascii_lowercase();
        if OF_CONNECTIONS.contains(&lower.as_bytes()) || lower == "te" {
            return Err(BadWebSocketConfig::OwnHeader(name.clone()));
        }
        let is_secret = SECRETS.contains(&lower.as_str());
        let secrecy = if is_secret { Secrecy::Never } else { Secrecy::Plain };
        field(&lower, value.trim_matches([' ', '\t']), secrecy);
    }
    let parts = made.parts.into_iter().map(|part| match part {
        Part::Block(block) | Part::Value(block, _) => block,
    });
    Ok(parts.flatten().collect())
}

struct Draft<'f, 'c> {
    packing: Packing<'f>,
    field: &'f mut PackField<'c>,
    parts: Vec<Part>,
    holes: usize,
}

impl<'f, 'c> Draft<'f, 'c> {
    fn new(packing: Packing<'f>, field: &'f mut PackField<'c>) -> Self {
        Self { packing, field, parts: vec![Part::Block(packing.prefix.to_vec())], holes: 0 }
    }

    /// What every request says.
    fn of(
        origin: Origin<'f>,
        field: &'f mut PackField<'c>,
        method: &str,
        target: &[HeadPart<'_>],
        headers: &[(&str, Vec<HeadPart<'_>>)],
    ) -> Self {
        let Origin { packing, scheme, authority } = origin;
        let mut made = Self::new(packing, field);
        for (name, value) in [(":method", method), (":scheme", scheme), (":authority", authority)] {
            made.field(name, &[HeadPart::Text(value)], Secrecy::Plain);
        }
        made.field(":path", target, Secrecy::Plain);
        for (name, value) in headers {
            let name = name.to_ascii_lowercase();
            let is_secret = SECRETS.contains(&name.as_str());
            let secrecy = if is_secret { Secrecy::Never } else { Secrecy::Plain };
            made.field(&name, &crate::http1::trimmed(value), secrecy);
        }
        made
    }

    fn field(&mut self, name: &str, value: &[HeadPart<'_>], secrecy: Secrecy) {
        let holes = value.iter().filter(|part| matches!(part, HeadPart::Hole)).count();
        if holes == 0 {
            let texts = value.iter().map(|part| match part {
                HeadPart::Text(text) => *text,
                HeadPart::Hole => "",
            });
            let value: String = texts.collect();
            (self.field)(name.as_bytes(), value.as_bytes(), secrecy, block(&mut self.parts));
            return;
        }
        self.holes += holes;
        let mut head = Vec::new();
        (self.packing.name)(name.as_bytes(), secrecy, &mut head);
        let pieces = value.iter().map(|part| match part {
            HeadPart::Text(text) => Piece::Text(text.as_bytes().to_vec()),
            HeadPart::Hole => Piece::Hole,
        });
        self.parts.push(Part::Value(head, pieces.collect()));
    }

    fn rendered(
        self,
        length: PayloadLength,
        is_head: bool,
        is_call: bool,
        closes: bool,
    ) -> Rendered {
        let before = |name: &str, secrecy| {
            let mut before = Vec::new();
            (self.packing.name)(name.as_bytes(), secrecy, &mut before);
            before.into_boxed_slice()
        };
        Rendered {
            content_length: before("content-length", Secrecy::Plain),
            cookie: before("cookie", Secrecy::Never),
            parts: self.parts.into_boxed_slice(),
            holes: self.holes,
            length,
            is_head,
            is_call,
            accepts_gzip: false,
            closes,
        }
    }
}

/// The block at the end, to be added to.
fn block(parts: &mut Vec<Part>) -> &mut Vec<u8> {
    if !matches!(parts.last(), Some(Part::Block(_))) {
        parts.push(Part::Block(Vec::new()));
    }
    match parts.last_mut() {
        Some(Part::Block(block)) => block,
        _ => unreachable!("it was added"),
    }
}
