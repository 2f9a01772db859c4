//! A request, rendered once as a block of fields.
//!
//! Knows what a request may look like in HTTP/2; must not know when it is sent. What may be said in
//! HTTP/1.1 may be said here, in the same words: it is checked there.

use super::frame::{self, FrameHead, Kind};
use super::hpack::{HpackDecoder, Secrecy, write_field, write_name, write_value, write_value_head};
use super::inbound::OF_CONNECTIONS;
use crate::Fill;
use crate::fields::FieldList;
use crate::grpc::CONTENT_TYPE;
use crate::http1::{BadRequest, HeadPart, PayloadLength, RequestHead};
use crate::websocket::{BadWebSocketConfig, WebSocketConfig};

/// What must not be indexed on the way.
const SECRETS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// So many messages may be refused one after the other and go again; then the next ones have failed.
pub(super) const MOST_REFUSED: u32 = 1_000;

/// A request's fields: checked and encoded when it is made, copied when it is sent.
#[derive(Debug, Clone)]
pub struct Http2Request {
    parts: Box<[Part]>,
    holes: usize,
    length: PayloadLength,
    is_head: bool,
    is_call: bool,
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

impl Http2Request {
    /// Checks and encodes, with holes in the target and in values of headers. `authority` is what
    /// HTTP/1.1 says in its Host field; `close`: no other request follows on the connection.
    ///
    /// # Errors
    /// A part that HTTP does not allow there, or a header that the codec writes itself.
    pub fn with_holes(
        scheme: &str,
        method: &str,
        target: &[HeadPart<'_>],
        authority: &str,
        headers: &[(&str, Vec<HeadPart<'_>>)],
        close: bool,
        payload: PayloadLength,
    ) -> Result<Self, BadRequest> {
        RequestHead::with_holes(method, target, authority, headers, close, payload)?;
        let mut made = Parts::of(scheme, method, target, authority, headers);
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
        Ok(Self {
            parts: made.parts.into_boxed_slice(),
            holes: made.holes,
            length: payload,
            is_head: method == "HEAD",
            is_call: false,
            closes: close,
        })
    }

    /// A call of gRPC: a POST whose content has no length, and a client that takes trailers. Its type may be
    /// said among the headers. The status of its reply is that of the call, or that of HTTP where that says more;
    /// content is as it came, its messages behind their prefixes.
    ///
    /// # Errors
    /// As [`with_holes`](Self::with_holes).
    pub fn call(
        scheme: &str,
        target: &str,
        authority: &str,
        headers: &[(&str, Vec<HeadPart<'_>>)],
        close: bool,
    ) -> Result<Self, BadRequest> {
        let text = |text| vec![HeadPart::Text(text)];
        let mut all: Vec<_> = Vec::with_capacity(headers.len() + 1);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            all.push(("content-type", text(CONTENT_TYPE)));
        }
        all.extend(headers.iter().cloned());
        let target = text(target);
        RequestHead::with_holes("POST", &target, authority, &all, close, PayloadLength::Varying)?;
        let mut made = Parts::of(scheme, "POST", &target, authority, &all);
        made.field("te", &text("trailers"), Secrecy::Plain);
        Ok(Self {
            parts: made.parts.into_boxed_slice(),
            holes: made.holes,
            length: PayloadLength::None,
            is_head: false,
            is_call: true,
            closes: close,
        })
    }

    /// Appends the block of one request with a payload of `length` bytes, which must be what was
    /// promised.
    #[inline]
    pub(super) fn write(&self, length: u64, fill: Option<&Fill<'_>>, out: &mut Vec<u8>) {
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
            write_value(b"cookie", cookies, Secrecy::Never, out);
        }
        if self.length == PayloadLength::Varying {
            write_name(b"content-length", Secrecy::Plain, out);
            let place = out.len();
            write_value_head(0, out);
            crate::http1::decimal(length, out);
            // Twenty digits at most: how many they are is one byte.
            out[place] = (out.len() - place - 1) as u8;
        }
    }

    /// The block of each request, where all are the same.
    #[inline]
    pub(super) fn same(&self, fill: Option<&Fill<'_>>) -> Option<&[u8]> {
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
    pub(super) const fn is_head(&self) -> bool {
        self.is_head
    }

    /// Is it a call of gRPC?
    pub(super) const fn is_call(&self) -> bool {
        self.is_call
    }

    /// Is it the last on its connection?
    pub(super) const fn closes(&self) -> bool {
        self.closes
    }
}

/// What asks for a WebSocket on a stream (RFC 8441 section 5), encoded when it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http2Connect {
    block: Vec<u8>,
}

impl Http2Connect {
    /// Encodes it; `scheme` is that of HTTP, `http` or `https`. The configuration must be
    /// [valid](WebSocketConfig::validate).
    ///
    /// # Errors
    /// A header about the connection, of which HTTP/2 says nothing in fields.
    pub fn websocket(scheme: &str, config: &WebSocketConfig) -> Result<Self, BadWebSocketConfig> {
        let mut made = Parts::default();
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
        Ok(Self { block: parts.flatten().collect() })
    }

    /// Appends it.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.block);
    }
}

/// The fields and the content of a request, of the bytes that a client wrote; none: they are no request of HTTP/2. For
/// people, who want to see what was sent. Content that waits for the server's window is not there.
pub fn sent_request(mut bytes: &[u8]) -> Option<(FieldList, Vec<u8>)> {
    let (mut block, mut content) = (Vec::new(), Vec::new());
    while let Some(head) = FrameHead::read(bytes) {
        let payload = bytes.get(frame::HEAD..)?.get(..head.length)?;
        match head.kind {
            Kind::Headers | Kind::Continuation => block.extend_from_slice(payload),
            Kind::Data => content.extend_from_slice(payload),
            _ => return None,
        }
        bytes = &bytes[frame::HEAD + payload.len()..];
    }
    let mut fields = FieldList::default();
    let read = HpackDecoder::new(0).read(&block, usize::MAX, &mut fields);
    (read.is_ok() && !fields.is_empty()).then_some((fields, content))
}

#[derive(Debug, Default)]
struct Parts {
    parts: Vec<Part>,
    holes: usize,
}

impl Parts {
    /// What every request says.
    fn of(
        scheme: &str,
        method: &str,
        target: &[HeadPart<'_>],
        authority: &str,
        headers: &[(&str, Vec<HeadPart<'_>>)],
    ) -> Self {
        let mut made = Self::default();
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
            write_field(name.as_bytes(), value.as_bytes(), secrecy, self.block());
            return;
        }
        self.holes += holes;
        let mut head = Vec::new();
        write_name(name.as_bytes(), secrecy, &mut head);
        let pieces = value.iter().map(|part| match part {
            HeadPart::Text(text) => Piece::Text(text.as_bytes().to_vec()),
            HeadPart::Hole => Piece::Hole,
        });
        self.parts.push(Part::Value(head, pieces.collect()));
    }

    /// The block at the end, to be added to.
    fn block(&mut self) -> &mut Vec<u8> {
        if !matches!(self.parts.last(), Some(Part::Block(_))) {
            self.parts.push(Part::Block(Vec::new()));
        }
        match self.parts.last_mut() {
            Some(Part::Block(block)) => block,
            _ => unreachable!("it was added"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(request: &Http2Request, length: u64, fill: Option<&Fill<'_>>) -> Vec<String> {
        let mut block = Vec::new();
        request.write(length, fill, &mut block);
        let mut list = FieldList::default();
        HpackDecoder::new(0).read(&block, 65_536, &mut list).unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        list.iter().map(|(name, value)| format!("{}={}", text(name), text(value))).collect()
    }

    #[test]
    fn a_request_is_encoded_once() {
        let text = |text| vec![HeadPart::Text(text)];
        let headers = [("Accept", text(" */* ")), ("Authorization", text("Bearer x"))];
        let request = Http2Request::with_holes(
            "https",
            "POST",
            &text("/a?b"),
            "example.org",
            &headers,
            false,
            PayloadLength::None,
        );
        let request = request.unwrap();
        assert_eq!(
            fields(&request, 0, None),
            [
                ":method=POST",
                ":scheme=https",
                ":authority=example.org",
                ":path=/a?b",
                "accept=*/*",
                "authorization=Bearer x",
                "content-length=0",
            ]
        );
        assert_eq!(request.parts.len(), 1, "one block, that is copied");
    }

    #[test]
    fn a_call_takes_trailers_and_says_no_length() {
        let made = |headers: &[(&str, &str)]| {
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (*name, vec![HeadPart::Text(value)])).collect();
            let call = Http2Request::call("http", "/p.S/M", "a:1", &headers, false);
            call.map(|call| fields(&call, 5, None))
        };
        let begin = [":method=POST", ":scheme=http", ":authority=a:1", ":path=/p.S/M"];
        let typed = ["content-type=application/grpc", "grpc-timeout=1S", "te=trailers"];
        assert_eq!(made(&[("grpc-timeout", "1S")]).unwrap(), [&begin[..], &typed].concat());
        let own = made(&[("Content-Type", "application/grpc+proto")]).unwrap();
        assert_eq!(own[4..], ["content-type=application/grpc+proto", "te=trailers"]);
        assert!(made(&[("te", "gzip")]).is_err());
    }

    #[test]
    fn values_are_laid_into_holes() {
        let target =
            [HeadPart::Text("/items/"), HeadPart::Hole, HeadPart::Text("?of="), HeadPart::Hole];
        let headers = [("X-Trace", vec![HeadPart::Hole])];
        let request = Http2Request::with_holes(
            "http",
            "PUT",
            &target,
            "a:8080",
            &headers,
            true,
            PayloadLength::Varying,
        );
        let request = request.unwrap();
        assert!(request.closes() && !request.is_head());
        let values = "17meabc";
        let fill =
            Fill { values: values.as_bytes(), ends: &[2, 4, 7], cookies: b"session=1; theme=dark" };
        assert_eq!(
            fields(&request, 4096, Some(&fill)),
            [
                ":method=PUT",
                ":scheme=http",
                ":authority=a:8080",
                ":path=/items/17?of=me",
                "x-trace=abc",
                "cookie=session=1; theme=dark",
                "content-length=4096",
            ]
        );
    }

    #[test]
    fn what_http_does_not_allow_is_refused_in_the_same_words() {
        let target = [HeadPart::Text("/a b")];
        let made =
            Http2Request::with_holes("http", "GET", &target, "a", &[], false, PayloadLength::None);
        assert_eq!(made.err(), Some(BadRequest::Target("/a b".to_owned())));
    }
}
