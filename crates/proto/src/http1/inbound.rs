//! A request's head, as an origin server must check it.
//!
//! Knows the MUSTs of RFC 9110, RFC 9112 and RFC 6455 section 4.2.1, and the status that refuses
//! each; must not know where the head came from.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::framing::Framing;
use super::target::{is_host, is_target};
use crate::head::Extensions;
use crate::head::{Field, HeadError, ParsedRequest, Version};
use crate::{Condition, ErrorClass, ProtocolError, ServerRequest};

/// A request that may be served.
#[derive(Debug)]
pub(super) struct Inbound<'a> {
    pub(super) request: ServerRequest<'a>,
    pub(super) body: InboundBody,
    pub(super) version: Version,
}

/// How the body behind a request's head is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InboundBody {
    /// So many bytes; 0 where the head tells of none.
    Length(u64),
    Chunked,
}

/// Why a request is not served, and with what that is answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// Field lines that the status demands, each with its end.
    pub(super) fields: &'static str,
    pub(super) error: ProtocolError,
}

impl<'a> Inbound<'a> {
    /// Reads a head of which the end was found.
    pub(super) fn read(head: &'a [u8]) -> Result<Self, Refusal> {
        let ParsedRequest { method, target, version, fields } = ParsedRequest::parse(head)?;
        if !is_target(method, target) {
            return Err(malformed("request target has no form that its method allows"));
        }
        let mut framing = Framing::default();
        let mut noted = Noted::default();
        for field in fields.clone() {
            let field = field?;
            if !framing.note(&field)? {
                noted.note(&field)?;
            }
        }
        framing.check(version)?;
        if noted.host.is_none() && version == Version::Http11 {
            return Err(malformed("HTTP/1.1 request without Host"));
        }
        let body = match framing.length {
            _ if framing.is_chunked() => InboundBody::Chunked,
            length => InboundBody::Length(length.unwrap_or(0)),
        };
        let bodiless = body == InboundBody::Length(0);
        let upgrades = framing.connection.upgrade && noted.upgrade && method == "GET" && bodiless;
        let websocket_key = match version {
            Version::Http11 if upgrades => Some(noted.websocket_key()?),
            _ => None,
        };
        let request = ServerRequest {
            method,
            target,
            keep_alive: framing.persists(version),
            content_length: match body {
                InboundBody::Length(length) => Some(length),
                InboundBody::Chunked => None,
            },
            websocket_key,
            websocket_extensions: Extensions::new(fields),
            expects_continue: noted.expects && version == Version::Http11 && !bodiless,
            condition: noted.condition,
            last_event_id: noted.last_event_id,
        };
        Ok(Self { request, body, version })
    }
}

impl From<HeadError> for Refusal {
    fn from(error: HeadError) -> Self {
        let status = match error {
            HeadError::TooLarge => 431,
            HeadError::Malformed(_) => 400,
            HeadError::Version => 505,
            HeadError::Coding => 501,
        };
        Self { status, fields: "", error: error.into() }
    }
}

impl Refusal {
    /// The request line alone is over the limit.
    pub(super) const fn line_too_long() -> Self {
        let error = ProtocolError::new(ErrorClass::HeaderTooLarge, "request line over 64 KiB");
        Self { status: 414, fields: "", error }
    }
}

/// The fields that only a server asks about.
#[derive(Default)]
struct Noted<'a> {
    host: Option<&'a [u8]>,
    expects: bool,
    condition: Condition,
    /// Upgrade names WebSocket.
    upgrade: bool,
    version: Option<&'a [u8]>,
    key: Option<&'a [u8]>,
    last_event_id: Option<&'a [u8]>,
    /// A WebSocket field came more than once.
    repeated: bool,
}

impl<'a> Noted<'a> {
    fn note(&mut self, field: &Field<'a>) -> Result<(), Refusal> {
        match field.name.len() {
            4 if field.is("host") => {
                if self.host.replace(field.value).is_some() {
                    return Err(malformed("more than one Host"));
                }
                if !is_host(field.value) {
                    return Err(malformed("Host is not a host name"));
                }
            }
            6 if field.is("expect") => self.expect(field)?,
            8 if field.is("if-match") && field.value != b"*" => {
                self.condition = Condition::Tagged;
            }
            // If-Match is asked first (RFC 9110 section 13.2.2).
            13 if field.is("if-none-match")
                && field.value == b"*"
                && self.condition == Condition::None =>
            {
                self.condition = Condition::Missing;
            }
            13 if field.is("last-event-id") => self.last_event_id = Some(field.value),
            7 if field.is("upgrade") => self.upgrade |= field.has_member("websocket"),
            17 if field.is("sec-websocket-key") => {
                self.repeated |= self.key.replace(field.value).is_some();
            }
            21 if field.is("sec-websocket-version") => {
                self.repeated |= self.version.replace(field.value).is_some();
            }
            _ => {}
        }
        Ok(())
    }

    fn expect(&mut self, field: &Field<'_>) -> Result<(), Refusal> {
        for member in field.members() {
            if !member.eq_ignore_ascii_case(b"100-continue") {
                let detail = "Expect asks for something else than 100-continue";
                let error = ProtocolError::new(ErrorClass::Protocol, detail);
                return Err(Refusal { status: 417, fields: "", error });
            }
            self.expects = true;
        }
        Ok(())
    }

    fn websocket_key(&self) -> Result<&'a str, Refusal> {
        if self.repeated {
            return Err(malformed("a WebSocket field came more than once"));
        }
        if self.version != Some(b"13") {
            let detail = "WebSocket version is not 13";
            return Err(Refusal {
                status: 426,
                fields: "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n",
                error: ProtocolError::new(ErrorClass::Upgrade, detail),
            });
        }
        let key = self.key.filter(|key| is_websocket_key(key));
        let key = key.and_then(|key| str::from_utf8(key).ok());
        key.ok_or(malformed("Sec-WebSocket-Key is not 16 bytes in base64"))
    }
}

fn is_websocket_key(value: &[u8]) -> bool {
    // Decoding 24 characters takes room for 18 bytes, whatever the padding.
    let mut nonce = [0; 18];
    value.len() == 24 && STANDARD.decode_slice(value, &mut nonce) == Ok(16)
}

const fn malformed(detail: &'static str) -> Refusal {
    Refusal { status: 400, fields: "", error: ProtocolError::new(ErrorClass::Protocol, detail) }
}
