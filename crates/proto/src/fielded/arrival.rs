//! What a server is told of requests, whichever way it counts streams.
//!
//! Knows requests as their fields say them; must not know frames, nor routes.

use crate::fields::FieldList;
use crate::grpc;
use crate::websocket::{DeflateAnswer, DeflateConfig};

/// What a server's side reports; `S` names a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival<'a, S> {
    /// The head of a request. Its content follows as chunks, then `End`.
    Request {
        /// Which stream the answer goes to.
        stream: S,
        /// Method, as sent.
        method: &'a str,
        /// Path and query; none: CONNECT to a host.
        target: Option<&'a str>,
        /// Length of the content, where the head tells it.
        content_length: Option<u64>,
        /// It is a call of gRPC, by the type of its content.
        is_call: bool,
        /// The last event that a client has of this stream (`Last-Event-ID`).
        last_event_id: Option<&'a [u8]>,
        /// CONNECT to another protocol on this stream (RFC 8441, RFC 9220); none: a request as any.
        connect: Option<Connect<'a>>,
        /// All of its fields.
        fields: RequestFields<'a>,
        /// There is none: the request is complete, and `End` follows at once.
        is_end: bool,
    },
    /// A piece of a request's content. Never empty.
    Chunk {
        /// Of which stream.
        stream: S,
        /// As it came.
        piece: &'a [u8],
    },
    /// A request is complete.
    End {
        /// On which stream.
        stream: S,
    },
    /// A request is taken back, or was none: an answer would not be read.
    Gone {
        /// On which stream.
        stream: S,
    },
    /// Some content that had waited has gone.
    Room,
    /// The client sends no more requests.
    Leaving,
}

impl<'a, S> Arrival<'a, S> {
    /// The same on a stream that has another name.
    #[inline]
    pub fn renamed<T>(self, name: impl FnOnce(S) -> T) -> Arrival<'a, T> {
        match self {
            Self::Request {
                stream,
                method,
                target,
                content_length,
                is_call,
                last_event_id,
                connect,
                fields,
                is_end,
            } => Arrival::Request {
                stream: name(stream),
                method,
                target,
                content_length,
                is_call,
                last_event_id,
                connect,
                fields,
                is_end,
            },
            Self::Chunk { stream, piece } => Arrival::Chunk { stream: name(stream), piece },
            Self::End { stream } => Arrival::End { stream: name(stream) },
            Self::Gone { stream } => Arrival::Gone { stream: name(stream) },
            Self::Room => Arrival::Room,
            Self::Leaving => Arrival::Leaving,
        }
    }
}

/// What a client says of the protocol that it wants to speak on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connect<'a> {
    fields: &'a FieldList,
}

impl Connect<'_> {
    /// Is it WebSocket?
    pub fn is_websocket(&self) -> bool {
        self.fields.get(b":protocol").is_some_and(|name| name.eq_ignore_ascii_case(b"websocket"))
    }

    /// Is it the version of WebSocket that there is?
    pub fn is_known_version(&self) -> bool {
        self.fields.get(b"sec-websocket-version") == Some(b"13")
    }

    /// As [`Extensions::accept_deflate`](crate::Extensions::accept_deflate).
    pub fn accept_deflate(&self, wishes: &DeflateConfig) -> Option<DeflateAnswer> {
        wishes.accept_among(self.fields)
    }
}

/// The fields of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestFields<'a>(&'a FieldList);

impl<'a> RequestFields<'a> {
    /// Names, in lower case, and values, in order; without those that say what HTTP/1.1 says in its first line.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        self.0.iter().filter(|(name, _)| !name.starts_with(b":"))
    }

    /// The value of the first field with this name, in lower case.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.0.get(name.as_bytes())
    }
}

/// A request whose fields were looked at.
pub(crate) fn request<S>(
    stream: S,
    content_length: Option<u64>,
    is_end: bool,
    fields: &FieldList,
) -> Option<Arrival<'_, S>> {
    let text = |name: &[u8]| str::from_utf8(fields.get(name)?).ok();
    let (method, target) = (text(b":method")?, text(b":path"));
    let is_call = fields.get(b"content-type").is_some_and(grpc::is_grpc);
    let last_event_id = fields.get(b"last-event-id");
    let connects = fields.get(b":protocol").is_some();
    let connect = connects.then_some(Connect { fields });
    Some(Arrival::Request {
        stream,
        method,
        target,
        content_length,
        is_call,
        last_event_id,
        connect,
        fields: RequestFields(fields),
        is_end,
    })
}

/// A status as it stands in a field.
pub(crate) fn digits(status: u16) -> [u8; 3] {
    let mut digits = *b"000";
    let mut rest = status;
    for digit in digits.iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    digits
}
