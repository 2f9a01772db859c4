//! A request of HTTP/3, and what asks for a WebSocket.
//!
//! Knows how QPACK packs what both say; must not know when it is sent.

use super::qpack;
use crate::fielded::{self, Origin, Packing, Rendered};
use crate::http1::{BadRequest, HeadPart, PayloadLength};
use crate::websocket::{BadWebSocketConfig, WebSocketConfig};

/// No dynamic table: a required insert count of 0 and a base of 0 begin each block.
const PACKING: Packing =
    Packing { prefix: &[0, 0], field: qpack::write_field, name: qpack::write_name };

/// A request's fields: checked and encoded when it is made, copied when it is sent.
#[derive(Debug, Clone)]
pub struct Http3Request(pub(super) Rendered);

impl Http3Request {
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
        Rendered::with_holes(origin, method, target, headers, close, payload).map(Self)
    }
}

/// What asks for a WebSocket on a stream (RFC 9220 section 3), encoded when it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http3Connect {
    block: Vec<u8>,
}

impl Http3Connect {
    /// Encodes it; `scheme` is that of HTTP, `https`. The configuration must be
    /// [valid](WebSocketConfig::validate).
    ///
    /// # Errors
    /// A header about the connection, of which HTTP/3 says nothing in fields.
    pub fn websocket(scheme: &str, config: &WebSocketConfig) -> Result<Self, BadWebSocketConfig> {
        Ok(Self { block: fielded::websocket(PACKING, scheme, config)? })
    }

    /// Its block of fields.
    pub(super) fn block(&self) -> &[u8] {
        &self.block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fill;
    use crate::fields::FieldList;

    #[test]
    fn it_says_what_http2_says_in_other_bytes() {
        let target = [HeadPart::Text("/items/"), HeadPart::Hole];
        let headers = [
            ("X-Trace", vec![HeadPart::Text("a-"), HeadPart::Hole]),
            ("Authorization", vec![HeadPart::Text("Bearer x")]),
        ];
        let length = PayloadLength::Varying;
        let made = Http3Request::with_holes("https", "PUT", &target, "a:1", &headers, true, length);
        let request = made.unwrap().0;
        assert!(request.closes() && request.same(None).is_none());
        let fill = Fill { values: b"17abc", ends: &[2, 5], cookies: b"session=1" };
        let (mut block, mut list) = (Vec::new(), FieldList::default());
        request.write(4096, Some(&fill), &mut block);
        qpack::read_fields(&block, 65_536, &mut list).unwrap();
        let wanted = FieldList::of(&[
            (":method", "PUT"),
            (":scheme", "https"),
            (":authority", "a:1"),
            (":path", "/items/17"),
            ("x-trace", "a-abc"),
            ("authorization", "Bearer x"),
            ("cookie", "session=1"),
            ("content-length", "4096"),
        ]);
        assert_eq!(list, wanted);
        // Both secrets are never to be indexed (RFC 9204 section 4.5.4).
        let never = block.windows(2).filter(|it| it[0] == 0x75 || *it == [0x7f, 84 - 15]).count();
        assert_eq!(never, 2);
    }

    #[test]
    fn it_is_one_block_where_all_are_the_same() {
        let target = [HeadPart::Text("/")];
        let made =
            Http3Request::with_holes("https", "GET", &target, "a", &[], false, PayloadLength::None);
        let request = made.unwrap().0;
        assert_eq!(request.same(None), Some(&b"\x00\x00\xd1\xd7\x50\x01a\xc1"[..]));
    }
}
