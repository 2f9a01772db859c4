//! The head of a request, rendered once.
//!
//! Knows what a request may look like; must not know when it is sent.

use super::target::{is_host, may_be_sent};
use crate::Fill;
use crate::head::scan;

/// A request's head: checked and rendered when it is made, copied when it is sent.
#[derive(Debug, Clone)]
pub struct RequestHead {
    bytes: Box<[u8]>,
    /// Where values are laid in, in order.
    holes: Box<[u32]>,
    /// Where fields end that are the caller's.
    fields_end: u32,
    length: PayloadLength,
    is_head: bool,
    closes: bool,
}

/// A part of a text with holes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadPart<'a> {
    /// As it stands.
    Text(&'a str),
    /// Another value for each message.
    Hole,
}

/// What a request says about the length of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayloadLength {
    /// There is no body. `Content-Length: 0` is said where the method leads one to expect one.
    None,
    /// Each request has a body of so many bytes.
    Fixed(u64),
    /// Each request has a body of its own length.
    Varying,
}

/// A request that HTTP does not allow, or that this codec does not speak.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// Not a token.
    #[error("method {0:?} is not a word of HTTP: use letters, as in GET or POST")]
    Method(String),
    /// The reply to CONNECT is a tunnel, not a message.
    #[error("method CONNECT opens a tunnel and cannot be measured: use another method")]
    Connect,
    /// No path, or with a character that must be percent-encoded, or a fragment.
    #[error(
        "request target {0:?} must begin with `/` (or be an absolute URL without a user, or `*` \
         for OPTIONS) and hold only what may stand in one: percent-encode the rest"
    )]
    Target(String),
    /// Not `name`, `name:port` or an address.
    #[error("host {0:?} is not a host name or address with an optional port")]
    Host(String),
    /// The name is not a token.
    #[error("header name {0:?} is not a token: letters, digits and `-`")]
    HeaderName(String),
    /// A line end, a NUL or another control character.
    #[error("the value of header {0} holds a control character or a line end: take it out")]
    HeaderValue(String),
    /// A field that this codec writes itself, or that would ask for what it does not do.
    #[error("header {0} is the generator's own business: leave it out")]
    Reserved(String),
    /// TRACE has no content (RFC 9110 section 9.3.8).
    #[error("a TRACE request has no body: send none, or use another method")]
    TraceBody,
    /// OPTIONS says what its content is (RFC 9110 section 9.3.7).
    #[error("an OPTIONS request with a body must have a Content-Type: add that header")]
    OptionsBody,
}

/// What the codec writes itself, because its own reading depends on it, and what is about the
/// connection, so that Connection would have to name it (RFC 9110 section 7.6.1). Expect is
/// among them because content is never held back.
const RESERVED: [&str; 9] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "upgrade",
    "te",
    "expect",
    "keep-alive",
    "http2-settings",
];

/// Methods whose requests say `Content-Length: 0` when they have no body (RFC 9110 section 8.6).
const BODY_EXPECTED: [&str; 3] = ["POST", "PUT", "PATCH"];

impl RequestHead {
    /// Checks and renders. `host` is the value of the Host field; `close` asks the server to
    /// end the connection after its reply.
    ///
    /// # Errors
    /// A part that HTTP does not allow there, or a header that the codec writes itself.
    pub fn new(
        method: &str,
        target: &str,
        host: &str,
        headers: &[(String, String)],
        close: bool,
        payload: PayloadLength,
    ) -> Result<Self, BadRequest> {
        let whole = |text| vec![HeadPart::Text(text)];
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| (name.as_str(), whole(value.as_str()))).collect();
        Self::with_holes(method, &whole(target), host, &headers, close, payload)
    }

    /// The same, with holes in the target and in values of headers.
    ///
    /// # Errors
    /// As there, whatever is laid into the holes.
    pub fn with_holes(
        method: &str,
        target: &[HeadPart<'_>],
        host: &str,
        headers: &[(&str, Vec<HeadPart<'_>>)],
        close: bool,
        payload: PayloadLength,
    ) -> Result<Self, BadRequest> {
        check_method(method)?;
        let example = example(target, "/");
        if !may_be_sent(method, &example) {
            return Err(BadRequest::Target(example));
        }
        if host.is_empty() || !is_host(host.as_bytes()) {
            return Err(BadRequest::Host(host.to_owned()));
        }
        check_content(method, headers, payload)?;
        let mut holes = Vec::new();
        let mut text = format!("{method} ");
        lay(target, &mut text, &mut holes);
        text.extend([" HTTP/1.1\r\nHost: ", host, "\r\n"]);
        for (name, value) in headers {
            check_header(name, &self::example(value, ""))?;
            text.extend([name, ": "]);
            lay(&trimmed(value), &mut text, &mut holes);
            text.push_str("\r\n");
        }
        let fields_end = text.len() as u32;
        if close {
            text.push_str("Connection: close\r\n");
        }
        match payload {
            PayloadLength::None if expects_a_body(method) => {
                text.push_str("Content-Length: 0\r\n\r\n");
            }
            PayloadLength::None => text.push_str("\r\n"),
            PayloadLength::Fixed(length) => {
                text.extend(["Content-Length: ", &length.to_string(), "\r\n\r\n"]);
            }
            PayloadLength::Varying => text.push_str("Content-Length: "),
        }
        Ok(Self {
            bytes: text.into_bytes().into_boxed_slice(),
            holes: holes.into_boxed_slice(),
            fields_end,
            length: payload,
            is_head: method == "HEAD",
            closes: close,
        })
    }

    /// Appends one request. The payload's length must be the one that was promised.
    #[inline]
    pub(super) fn write(&self, payload: &[u8], fill: Option<&Fill<'_>>, out: &mut Vec<u8>) {
        // The longest number and two line ends beside head and payload.
        out.reserve(self.bytes.len() + payload.len() + 24);
        match fill {
            None => self.begin(payload.len() as u64, out),
            Some(fill) => self.begin_filled(payload.len() as u64, fill, out),
        }
        if !payload.is_empty() {
            out.extend_from_slice(payload);
        }
    }

    /// Appends what goes before a payload of `length` bytes, which must be the promised length.
    #[inline]
    pub(super) fn begin(&self, length: u64, out: &mut Vec<u8>) {
        debug_assert!(self.holes.is_empty(), "its holes are not filled");
        out.extend_from_slice(&self.bytes);
        self.say_length(length, out);
    }

    /// The same, with these values in its holes.
    fn begin_filled(&self, length: u64, fill: &Fill<'_>, out: &mut Vec<u8>) {
        debug_assert_eq!(self.holes.len(), fill.ends.len(), "a value for each hole");
        let (mut from, mut value_from) = (0, 0);
        for (&hole, &end) in self.holes.iter().zip(fill.ends) {
            let (hole, end) = (hole as usize, end as usize);
            out.extend_from_slice(&self.bytes[from..hole]);
            out.extend_from_slice(&fill.values[value_from..end]);
            (from, value_from) = (hole, end);
        }
        let fields_end = self.fields_end as usize;
        out.extend_from_slice(&self.bytes[from..fields_end]);
        if !fill.cookies.is_empty() {
            out.extend_from_slice(b"Cookie: ");
            out.extend_from_slice(fill.cookies);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(&self.bytes[fields_end..]);
        self.say_length(length, out);
    }

    #[inline]
    fn say_length(&self, length: u64, out: &mut Vec<u8>) {
        debug_assert!(
            match self.length {
                PayloadLength::None => length == 0,
                PayloadLength::Fixed(promised) => length == promised,
                PayloadLength::Varying => true,
            },
            "the payload is not as long as its head says"
        );
        if self.length == PayloadLength::Varying {
            super::respond::decimal(length, out);
            out.extend_from_slice(b"\r\n\r\n");
        }
    }

    /// Is the reply without a body, whatever its fields say?
    pub(super) const fn is_head(&self) -> bool {
        self.is_head
    }

    /// Does it end the connection?
    pub(super) const fn closes(&self) -> bool {
        self.closes
    }
}

/// Does a request with this method say that it has no body, where it has none?
pub(crate) fn expects_a_body(method: &str) -> bool {
    BODY_EXPECTED.contains(&method)
}

/// A text with something in each hole, as it may be sent; a hole at its begin holds such a one.
fn example(parts: &[HeadPart<'_>], begin: &str) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            HeadPart::Text(part) => text.push_str(part),
            HeadPart::Hole => text.push_str(if text.is_empty() { begin } else { "x" }),
        }
    }
    text
}

/// Appends a text, and notes where its holes are.
fn lay(parts: &[HeadPart<'_>], text: &mut String, holes: &mut Vec<u32>) {
    for part in parts {
        match part {
            HeadPart::Text(part) => text.push_str(part),
            HeadPart::Hole => holes.push(text.len() as u32),
        }
    }
}

/// A value without the white space around it.
pub(crate) fn trimmed<'a>(parts: &[HeadPart<'a>]) -> Vec<HeadPart<'a>> {
    const BLANK: [char; 2] = [' ', '\t'];
    let mut parts = parts.to_vec();
    if let Some(HeadPart::Text(first)) = parts.first_mut() {
        *first = first.trim_start_matches(BLANK);
    }
    if let Some(HeadPart::Text(last)) = parts.last_mut() {
        *last = last.trim_end_matches(BLANK);
    }
    parts
}

fn check_method(method: &str) -> Result<(), BadRequest> {
    if method.is_empty() || !method.bytes().all(scan::is_token) {
        return Err(BadRequest::Method(method.to_owned()));
    }
    if method == "CONNECT" {
        return Err(BadRequest::Connect);
    }
    Ok(())
}

/// Some methods have rules for their content.
fn check_content(
    method: &str,
    headers: &[(&str, Vec<HeadPart<'_>>)],
    payload: PayloadLength,
) -> Result<(), BadRequest> {
    if payload == PayloadLength::None {
        return Ok(());
    }
    let typed = || headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    match method {
        "TRACE" => Err(BadRequest::TraceBody),
        "OPTIONS" if !typed() => Err(BadRequest::OptionsBody),
        _ => Ok(()),
    }
}

fn check_header(name: &str, value: &str) -> Result<(), BadRequest> {
    if name.is_empty() || !name.bytes().all(scan::is_token) {
        return Err(BadRequest::HeaderName(name.to_owned()));
    }
    if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
        return Err(BadRequest::Reserved(name.to_owned()));
    }
    if value.chars().any(|character| character.is_ascii_control() && character != '\t') {
        return Err(BadRequest::HeaderValue(name.to_owned()));
    }
    Ok(())
}
