//! A request of HTTP/2, and what asks for a WebSocket.
//!
//! Knows how HPACK packs what both say; must not know when it is sent.

use super::frame::{self, FrameHead, Kind};
use super::hpack::{self, HpackDecoder};
use crate::fielded::{self, Origin, Packing, Rendered};
use crate::fields::FieldList;
use crate::http1::{BadRequest, HeadPart, PayloadLength};
use crate::websocket::{BadWebSocketConfig, WebSocketConfig};

const PACKING: Packing =
    Packing { prefix: &[], field: hpack::write_field, name: hpack::write_name };

/// A request's fields: checked and encoded when it is made, copied when it is sent.
#[derive(Debug, Clone)]
pub struct Http2Request(pub(super) Rendered);

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
        Rendered::with_holes(origin, method, target, headers, close, payload).map(Self)
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
        let origin = Origin { packing: PACKING, scheme, authority };
        Rendered::call(origin, target, headers, close).map(Self)
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
mod tests {
    use super::*;
    use crate::Fill;

    fn fields(request: &Http2Request, length: u64, fill: Option<&Fill<'_>>) -> Vec<String> {
        let mut block = Vec::new();
        request.0.write(length, fill, &mut block);
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
        assert!(request.0.same(None).is_some(), "one block, that is copied");
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
        assert!(request.0.closes() && !request.0.is_head());
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
