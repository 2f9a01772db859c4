//! The opening handshake (RFC 6455 sections 1.3 and 4): both heads written, the answer judged.
//!
//! Knows the fields that upgrade HTTP to WebSocket; must not know frames. What a head is made
//! of is `http1`'s business.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha1::{Digest as _, Sha1};

use super::config::WebSocketConfig;
use super::deflate::{DeflateAnswer, DeflateConfig, is_list_of_extensions, named_deflate};
use crate::fields::FieldList;
use crate::head::{Field, HeadEnd, HeadError, ParsedResponse};
use crate::{ErrorClass, ProtocolError};

/// What a server appends to the key before it hashes it.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// What proves that a server read this `Sec-WebSocket-Key`: base64(sha1(key + GUID)).
pub fn accept_key(key: &str) -> [u8; 28] {
    let digest = Sha1::new().chain_update(key).chain_update(GUID).finalize();
    base64(&digest)
}

/// The key for a nonce.
pub(super) fn key(nonce: [u8; 16]) -> [u8; 24] {
    base64(&nonce)
}

/// Appends the upgrade request.
pub(super) fn append_request(config: &WebSocketConfig, key: &[u8; 24], out: &mut Vec<u8>) {
    append(out, &[b"GET ", config.target.as_bytes(), b" HTTP/1.1\r\n"]);
    append(out, &[b"Host: ", config.host.as_bytes(), b"\r\n"]);
    append(out, &[b"Upgrade: websocket\r\nConnection: Upgrade\r\n"]);
    append(out, &[b"Sec-WebSocket-Key: ", key, b"\r\nSec-WebSocket-Version: 13\r\n"]);
    if !config.subprotocols.is_empty() {
        let offered = config.subprotocols.join(", ");
        append(out, &[b"Sec-WebSocket-Protocol: ", offered.as_bytes(), b"\r\n"]);
    }
    if let Some(deflate) = &config.deflate {
        append(out, &[b"Sec-WebSocket-Extensions: ", deflate.offer().as_bytes(), b"\r\n"]);
    }
    for (name, value) in &config.headers {
        append(out, &[name.as_bytes(), b": ", value.as_bytes(), b"\r\n"]);
    }
    append(out, &[b"\r\n"]);
}

/// Appends the answer that accepts an upgrade.
pub(super) fn append_answer(
    key: &str,
    subprotocol: Option<&str>,
    deflate: Option<&DeflateAnswer>,
    out: &mut Vec<u8>,
) {
    append(out, &[b"HTTP/1.1 101 Switching Protocols\r\n"]);
    append(out, &[b"Upgrade: websocket\r\nConnection: Upgrade\r\n"]);
    append(out, &[b"Sec-WebSocket-Accept: ", &accept_key(key), b"\r\n"]);
    if let Some(subprotocol) = subprotocol {
        append(out, &[b"Sec-WebSocket-Protocol: ", subprotocol.as_bytes(), b"\r\n"]);
    }
    if let Some(deflate) = deflate {
        append(out, &[b"Sec-WebSocket-Extensions: ", deflate.to_string().as_bytes(), b"\r\n"]);
    }
    append(out, &[b"\r\n"]);
}

/// The answer that a client waits for.
#[derive(Debug)]
pub(super) struct Expected {
    accept: [u8; 28],
    end: HeadEnd,
}

/// How far the answer is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// More bytes are needed behind those consumed (interim answers).
    Incomplete { consumed: usize },
    /// Frames begin behind these bytes, compressed as was agreed where it was.
    Upgraded { consumed: usize, deflate: Option<DeflateConfig> },
    /// Another status than 101.
    Refused { status: u16 },
}

impl Expected {
    /// The answer to a request with this key.
    pub(super) fn new(key: &[u8; 24]) -> Self {
        let key = str::from_utf8(key).expect("base64 is ASCII");
        Self { accept: accept_key(key), end: HeadEnd::default() }
    }

    /// Reads the answer from the front of `input`, over any interim answers (100, 103).
    pub(super) fn read(
        &mut self,
        input: &[u8],
        offered: &WebSocketConfig,
    ) -> Result<Answer, ProtocolError> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            if !ParsedResponse::may_begin(rest) {
                return Err(HeadError::Malformed("the answer to the upgrade is not HTTP/1").into());
            }
            let Some(length) = self.end.find(rest)? else {
                return Ok(Answer::Incomplete { consumed });
            };
            consumed += length;
            let head = ParsedResponse::parse(&rest[..length])?;
            match head.status {
                101 => {}
                100..=199 => continue,
                status => return Ok(Answer::Refused { status }),
            }
            let deflate = Fields::read(head.fields)?.judge(&self.accept, offered)?;
            return Ok(Answer::Upgraded { consumed, deflate });
        }
    }
}

/// Judges the fields of an answer that accepts a WebSocket on a stream of HTTP/2, where no key proves
/// anything (RFC 8441 section 5). Gives the compression that was agreed on.
pub(crate) fn judge_connected(
    fields: &FieldList,
    offered: &WebSocketConfig,
) -> Result<Option<DeflateConfig>, ProtocolError> {
    let fields = fields.iter().map(|(name, value)| Ok(Field { name, value }));
    Fields::read(fields)?.judge_choices(offered)
}

/// The fields of an answer that count.
#[derive(Default)]
struct Fields<'a> {
    upgrade: Option<&'a [u8]>,
    accept: Option<&'a [u8]>,
    subprotocol: Option<&'a [u8]>,
    /// Does `Connection` name `Upgrade`?
    connection: bool,
    /// The extension that is turned on, with its parameters.
    extension: Option<&'a [u8]>,
    /// There is more than one.
    more_extensions: bool,
}

impl<'a> Fields<'a> {
    fn read(
        head: impl Iterator<Item = Result<Field<'a>, HeadError>>,
    ) -> Result<Self, ProtocolError> {
        let mut fields = Self::default();
        for field in head {
            let field = field?;
            if field.is("Upgrade") {
                once(&mut fields.upgrade, &field)?;
            } else if field.is("Sec-WebSocket-Accept") {
                once(&mut fields.accept, &field)?;
            } else if field.is("Sec-WebSocket-Protocol") {
                once(&mut fields.subprotocol, &field)?;
            } else if field.is("Connection") {
                fields.connection |= field.has_member("Upgrade");
            } else if is_list_of_extensions(&field) {
                for member in field.members() {
                    fields.more_extensions |= fields.extension.replace(member).is_some();
                }
            }
        }
        Ok(fields)
    }

    /// The client's checks, in the order of section 4.1.
    fn judge(
        &self,
        accept: &[u8; 28],
        offered: &WebSocketConfig,
    ) -> Result<Option<DeflateConfig>, ProtocolError> {
        let switched = self.upgrade.is_some_and(|to| to.eq_ignore_ascii_case(b"websocket"));
        if !switched {
            return Err(upgrade("the server's 101 answer has no Upgrade: websocket"));
        }
        if !self.connection {
            return Err(upgrade("the server's 101 answer has no Connection: Upgrade"));
        }
        if self.accept.is_none_or(|sent| sent != accept) {
            return Err(upgrade("the server's Sec-WebSocket-Accept does not fit the key"));
        }
        self.judge_choices(offered)
    }

    /// What the server chose of that which was offered.
    fn judge_choices(
        &self,
        offered: &WebSocketConfig,
    ) -> Result<Option<DeflateConfig>, ProtocolError> {
        let deflate = self.judge_extension(offered.deflate)?;
        if deflate.is_none() && offered.insists_on_deflate {
            return Err(upgrade("the server did not turn on permessage-deflate"));
        }
        let was_offered =
            |name: &[u8]| offered.subprotocols.iter().any(|offer| offer.as_bytes() == name);
        if self.subprotocol.is_some_and(|name| !was_offered(name)) {
            return Err(upgrade("the server chose a subprotocol that was not offered"));
        }
        Ok(deflate)
    }

    fn judge_extension(
        &self,
        offered: Option<DeflateConfig>,
    ) -> Result<Option<DeflateConfig>, ProtocolError> {
        let Some(extension) = self.extension else { return Ok(None) };
        let Some((offered, parameters)) =
            offered.zip(named_deflate(extension)).filter(|_| !self.more_extensions)
        else {
            return Err(upgrade("the server turned on an extension that was not offered"));
        };
        offered.judge(parameters).map(Some).map_err(upgrade)
    }
}

fn once<'a>(slot: &mut Option<&'a [u8]>, field: &Field<'a>) -> Result<(), ProtocolError> {
    if slot.replace(field.value).is_some() {
        return Err(upgrade("the server's answer has a handshake field twice"));
    }
    Ok(())
}

/// What a status other than 101 means to people.
pub(crate) fn refusal(status: u16) -> ProtocolError {
    upgrade(match status {
        200 => "the upgrade was answered with 200: the target speaks HTTP, not WebSocket",
        301 | 302 | 303 | 307 | 308 => "the upgrade was answered with a redirect, not followed",
        400 => "the upgrade was refused with 400 Bad Request",
        401 => "the upgrade was refused with 401 Unauthorized",
        403 => "the upgrade was refused with 403 Forbidden",
        404 => "the upgrade was refused with 404 Not Found",
        405 => "the upgrade was refused with 405 Method Not Allowed",
        426 => "the upgrade was refused with 426 Upgrade Required",
        429 => "the upgrade was refused with 429 Too Many Requests",
        500 => "the upgrade was refused with 500 Internal Server Error",
        502 => "the upgrade was refused with 502 Bad Gateway",
        503 => "the upgrade was refused with 503 Service Unavailable",
        504 => "the upgrade was refused with 504 Gateway Timeout",
        _ => "the upgrade was answered with another status than 101",
    })
}

fn upgrade(detail: &'static str) -> ProtocolError {
    ProtocolError::new(ErrorClass::Upgrade, detail)
}

fn append(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
}

/// `LENGTH` must be what the encoding of `bytes` takes.
fn base64<const LENGTH: usize>(bytes: &[u8]) -> [u8; LENGTH] {
    let mut text = [0; LENGTH];
    let written = STANDARD.encode_slice(bytes, &mut text);
    debug_assert_eq!(written, Ok(LENGTH));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 6455 section 1.3.
    #[test]
    fn the_accept_of_the_rfc() {
        assert_eq!(&accept_key("dGhlIHNhbXBsZSBub25jZQ=="), b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}
