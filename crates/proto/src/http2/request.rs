//! A request of HTTP/2, and what asks for a WebSocket.
//!
//! Knows how HPACK packs what both say; must not know when it is sent.

use super::frame::{self, FrameHead, Kind};
use super::hpack::{self, HpackDecoder};
use super::settings::Settings;
use crate::fielded::keeping::{Keeping, Way};
use crate::fielded::{self, Origin, Packing, Rendered};
use crate::fields::FieldList;
use crate::http1::{BadRequest, HeadPart, PayloadLength};
use crate::websocket::{BadWebSocketConfig, WebSocketConfig};

const PACKING: Packing<'static> =
    Packing { prefix: &[], field: hpack::write_field, name: hpack::write_name };

/// What the table of a connection's peer has of a request's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    /// Nothing yet: the next request puts its fields there.
    Empty,
    /// What a request before has put there.
    Filled,
    /// Nothing, for good: the peer allows less than what holds by itself.
    Unused,
}

/// A request's fields: checked and encoded when it is made, copied when it is sent.
#[derive(Debug, Clone)]
pub struct Http2Request {
    /// Right on every connection at any time.
    pub(super) whole: Rendered,
    /// The same where the peer keeps what is alike in all of them; none: it is not to.
    kept: Option<Box<Kept>>,
}

/// A request where what is alike in all of them is in the peer's table.
#[derive(Debug, Clone)]
struct Kept {
    /// The one that puts it there.
    first: Rendered,
    /// Each one after it.
    again: Rendered,
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
        let origin = Origin { packing: PACKING, scheme, authority };
        let whole = Rendered::with_holes(origin, method, target, headers, close, payload)?;
        Ok(Self { whole, kept: None })
    }

    /// The same, and what is alike in all of them stays with the peer, as browsers have it: the first request of a
    /// connection puts it into the peer's table, and each one after it refers to that. A client has one such request
    /// at most.
    ///
    /// # Errors
    /// As there.
    pub fn keeping(
        scheme: &str,
        method: &str,
        target: &[HeadPart<'_>],
        authority: &str,
        headers: &[(&str, Vec<HeadPart<'_>>)],
        close: bool,
        payload: PayloadLength,
    ) -> Result<Self, BadRequest> {
        let origin = Origin { packing: PACKING, scheme, authority };
        let made = |keeping: &mut Keeping| {
            let mut field = |name: &[u8], value: &[u8], secrecy, out: &mut Vec<u8>| match keeping
                .way(name, value, secrecy)
            {
                Way::Whole => hpack::write_field(name, value, secrecy, out),
                Way::Put => hpack::write_kept(name, value, out),
                Way::Index(newer) => hpack::write_index(newer, out),
            };
            Rendered::packed(origin, method, target, headers, close, payload, &mut field)
        };
        let whole = Rendered::with_holes(origin, method, target, headers, close, payload)?;
        // What each peer's table holds unless it says less.
        let room = Settings::default().header_table_size as usize;
        let mut keeping = Keeping::first(room, hpack::is_static);
        let first = made(&mut keeping)?;
        let again = made(&mut keeping.again())?;
        Ok(Self { whole, kept: Some(Box::new(Kept { first, again })) })
    }

    /// A call of gRPC: a POST whose content has no length, and a client that takes trailers. Its type may be
    /// said among the headers. The status of its reply is that of the call, or that of HTTP where that says more;
    /// content is as it came, its messages behind their prefixes. Where the headers accept gzip, messages that came in it
    /// are told as they were before.
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
        let origin = Origin { packing: PACKING, scheme, authority };
        let whole = Rendered::call(origin, target, headers, close)?;
        Ok(Self { whole, kept: None })
    }

    /// What is sent where the peer's table is so.
    #[inline]
    pub(super) fn rendered(&self, table: Table) -> &Rendered {
        match (&self.kept, table) {
            (None, _) | (_, Table::Unused) => &self.whole,
            (Some(kept), Table::Empty) => &kept.first,
            (Some(kept), Table::Filled) => &kept.again,
        }
    }

    /// Is something of it put into the peer's table?
    pub(super) const fn keeps(&self) -> bool {
        self.kept.is_some()
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
        Ok(Self { block: fielded::websocket(PACKING, scheme, config)? })
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

#[cfg(test)]
mod tests;
