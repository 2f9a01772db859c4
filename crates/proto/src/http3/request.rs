//! A request of HTTP/3, and what asks for a WebSocket.
//!
//! Knows how QPACK packs what both say; must not know when it is sent.

use super::message::{MessageReader, Part};
use super::qpack;
use crate::fielded::keeping::{Keeping, Way};
use crate::fielded::{self, Origin, Packing, Rendered};
use crate::fields::FieldList;
use crate::http1::{BadRequest, HeadPart, PayloadLength};
use crate::websocket::{BadWebSocketConfig, WebSocketConfig};

/// No dynamic table: a required insert count of 0 and a base of 0 begin each block.
const PACKING: Packing<'static> =
    Packing { prefix: &[0, 0], field: qpack::write_field, name: qpack::write_name };
/// What is put into a server's table at most, bytes, as over HTTP/2.
const ROOM: usize = 4096;

/// A request's fields: checked and encoded when it is made, copied when it is sent.
#[derive(Debug, Clone)]
pub struct Http3Request {
    /// Right on every connection at any time.
    whole: Rendered,
    /// The same where the peer has what is alike in all of them; none: it is not to.
    kept: Option<Box<Kept>>,
}

/// A request where what is alike in all of them is in the peer's table.
#[derive(Debug, Clone)]
struct Kept {
    puts: Puts,
    again: Rendered,
}

/// What is put into the peer's table.
#[derive(Debug, Clone)]
pub(super) struct Puts {
    /// As our encoder says it on its stream.
    pub(super) instructions: Vec<u8>,
    /// Entries.
    pub(super) count: usize,
    /// What they take of the table, bytes.
    pub(super) capacity: usize,
}

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
        let whole = Rendered::with_holes(origin, method, target, headers, close, payload)?;
        Ok(Self { whole, kept: None })
    }

    /// The same, and what is alike in all of them stays with the peer, as browsers have it, where it offers a table
    /// with room for that: it is put there once the peer has said so, and each request refers to it as soon as the
    /// peer is known to have it. A client has one such request at most.
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
        let made = |packing: Packing<'_>, keeping: &mut Keeping, puts: &mut Vec<u8>| {
            let origin = Origin { packing, scheme, authority };
            let mut field = |name: &[u8], value: &[u8], secrecy, out: &mut Vec<u8>| match keeping
                .way(name, value, secrecy)
            {
                Way::Whole => qpack::write_field(name, value, secrecy, out),
                Way::Put => qpack::write_kept(name, value, puts),
                Way::Index(newer) => qpack::write_index(newer, out),
            };
            Rendered::packed(origin, method, target, headers, close, payload, &mut field)
        };
        let origin = Origin { packing: PACKING, scheme, authority };
        let whole = Rendered::with_holes(origin, method, target, headers, close, payload)?;
        let mut keeping = Keeping::first(ROOM, qpack::is_static);
        let (mut entries, mut footing) = (Vec::new(), Vec::new());
        // Only for what it puts into the table.
        made(PACKING, &mut keeping, &mut entries)?;
        let (count, capacity) = (keeping.count(), keeping.taken());
        qpack::write_footing(count, &mut footing);
        let packing = Packing { prefix: &footing, ..PACKING };
        let again = made(packing, &mut keeping.again(), &mut Vec::new())?;
        let mut instructions = Vec::new();
        qpack::write_capacity(capacity, &mut instructions);
        instructions.append(&mut entries);
        let puts = Puts { instructions, count, capacity };
        Ok(Self { whole, kept: Some(Box::new(Kept { puts, again })) })
    }

    /// A call of gRPC, as [`Http2Request::call`](crate::http2::Http2Request::call) has it.
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

    /// What is sent where the peer has what was put into its table, or has not.
    #[inline]
    pub(super) fn rendered(&self, is_put: bool) -> &Rendered {
        match &self.kept {
            Some(kept) if is_put => &kept.again,
            _ => &self.whole,
        }
    }

    /// What of it is put into the peer's table; none: nothing.
    #[inline]
    pub(super) fn puts(&self) -> Option<&Puts> {
        self.kept.as_ref().map(|kept| &kept.puts)
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

/// The fields and the content of a request, of all bytes that stand on its stream. None: it is none.
pub fn sent_request(mut bytes: &[u8]) -> Option<(FieldList, Vec<u8>)> {
    let mut reader = MessageReader::new(u64::MAX, false);
    let (mut fields, mut content) = (FieldList::default(), Vec::new());
    loop {
        let taken = reader.read(bytes).ok()?;
        bytes = &bytes[taken.consumed..];
        match taken.part {
            Some(Part::Fields(block)) => {
                qpack::read_fields(block, usize::MAX, &mut fields).ok()?;
                reader.has_head();
            }
            Some(Part::Content(piece)) => content.extend_from_slice(piece),
            None => return (!fields.is_empty()).then_some((fields, content)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fill;
    use crate::http3::frame;

    #[test]
    fn it_says_what_http2_says_in_other_bytes() {
        let target = [HeadPart::Text("/items/"), HeadPart::Hole];
        let headers = [
            ("X-Trace", vec![HeadPart::Text("a-"), HeadPart::Hole]),
            ("Authorization", vec![HeadPart::Text("Bearer x")]),
        ];
        let length = PayloadLength::Varying;
        let made = Http3Request::with_holes("https", "PUT", &target, "a:1", &headers, true, length);
        let request = made.unwrap().whole;
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
    }

    #[test]
    fn what_was_sent_is_read_again() {
        let (target, headers) = ([HeadPart::Text("/x")], [("a", vec![HeadPart::Text("b")])]);
        let length = PayloadLength::Fixed(3);
        let made = Http3Request::with_holes("https", "PUT", &target, "h", &headers, false, length);
        let mut sent = Vec::new();
        frame::write_headers(made.unwrap().whole.same(None).unwrap(), &mut sent);
        frame::write_data_head(3, &mut sent);
        sent.extend_from_slice(b"abc");
        let (fields, content) = sent_request(&sent).unwrap();
        let named = |name: &[u8]| fields.get(name);
        assert_eq!(named(b":method"), Some(&b"PUT"[..]));
        assert_eq!((named(b":path"), named(b"a")), (Some(&b"/x"[..]), Some(&b"b"[..])));
        assert_eq!(content, b"abc");
        for other in [&b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"[..], b"", b"\x01\x03\x00"] {
            assert_eq!(sent_request(other), None, "{other:?}");
        }
    }

    #[test]
    fn it_is_one_block_where_all_are_the_same() {
        let target = [HeadPart::Text("/")];
        let made =
            Http3Request::with_holes("https", "GET", &target, "a", &[], false, PayloadLength::None);
        let request = made.unwrap().whole;
        assert_eq!(request.same(None), Some(&b"\x00\x00\xd1\xd7\x50\x01a\xc1"[..]));
    }

    #[test]
    fn what_is_alike_is_put_into_the_table_and_referred_to() {
        let target = [HeadPart::Text("/items/"), HeadPart::Hole];
        let headers = [
            ("X-Own", vec![HeadPart::Text("one")]),
            ("X-Request", vec![HeadPart::Hole]),
            ("Authorization", vec![HeadPart::Text("Bearer x")]),
        ];
        let none = PayloadLength::None;
        let made = Http3Request::keeping("https", "GET", &target, "a:1", &headers, false, none);
        let request = made.unwrap();
        let puts = request.puts().unwrap();
        assert_eq!((puts.count, puts.capacity), (2, 10 + 3 + 5 + 3 + 2 * 32));
        let mut decoder = qpack::QpackDecoder::new(ROOM);
        let taken = decoder.instructions(&puts.instructions);
        assert_eq!(taken, Ok(puts.instructions.len()));
        let fill = Fill { values: b"17abc", ends: &[2, 5], cookies: b"" };
        let mut lists = [false, true].map(|is_put| {
            let (mut block, mut list) = (Vec::new(), FieldList::default());
            request.rendered(is_put).write(0, Some(&fill), &mut block);
            decoder.read(0, &block, 65_536, &mut list).unwrap();
            (list, block.len())
        });
        lists.sort_by_key(|(_, length)| *length);
        let [(again, short), (whole, long)] = lists;
        assert_eq!(again, whole);
        assert_eq!(again.get(b"x-request"), Some(&b"abc"[..]));
        // The two fields are 5 and 8 bytes, their strings in the Huffman code where that is shorter.
        assert_eq!(long - short, 5 + 8 - 2);
    }
}
