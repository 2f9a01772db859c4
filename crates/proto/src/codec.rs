//! What both sides of a conversation share, and the server's side: its trait and its events.
//!
//! Knows the shape of a conversation; must not know any one protocol. The client's side is in
//! [`session`](crate::session).

use crate::error::ProtocolError;
use crate::head::Extensions;
use crate::scratch::Scratch;

/// The server's side of one connection. Requests are events; the caller answers them with the
/// codec's own methods, in order.
pub trait ServerCodec {
    /// As [`ClientSession::receive`](crate::ClientSession::receive); `input` is mutable so that masked payloads are unmasked in place.
    ///
    /// # Errors
    /// The peer broke the protocol; what the protocol says to that was appended to `out`.
    fn receive<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<ServerEvent<'a>>, ProtocolError>;
}

/// What one call of `receive` did.
#[derive(Debug, PartialEq, Eq)]
pub struct Step<E> {
    /// Bytes taken from the front of the input.
    pub consumed: usize,
    /// What happened; none: more bytes are needed.
    pub event: Option<E>,
}

/// Kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// UTF-8 text.
    Text,
    /// Bytes.
    Binary,
    /// An HTTP body.
    Body,
    /// A stretch of a byte stream.
    Stream,
}

/// The peer's own close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Close {
    /// The close code (RFC 6455 section 7.4); 1005 where none was given.
    pub code: u16,
}

/// What a server codec reports.
#[derive(Debug, PartialEq, Eq)]
pub enum ServerEvent<'a> {
    /// The head of an HTTP request. Its body follows as chunks, then `End`.
    Request(ServerRequest<'a>),
    /// The begin of a message, with its kind (WebSocket). Its payload follows as chunks, then `End`.
    Message(MessageKind),
    /// A piece of the payload. Never empty.
    Chunk(&'a mut [u8]),
    /// The request or message is complete.
    End,
    /// The peer closed the conversation in the protocol's own way; the answer is in `out`.
    Close(Close),
}

/// The head of an HTTP request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRequest<'a> {
    /// Method, as sent.
    pub method: &'a str,
    /// Request target, as sent.
    pub target: &'a str,
    /// The connection may carry another request after this one.
    pub keep_alive: bool,
    /// Length of the body where the head tells it; none for a chunked one.
    pub content_length: Option<u64>,
    /// `Sec-WebSocket-Key` of a valid WebSocket upgrade request.
    pub websocket_key: Option<&'a str>,
    /// The extensions that such a request offers.
    pub websocket_extensions: Extensions<'a>,
    /// The client waits for `100 Continue` before it sends the body.
    pub expects_continue: bool,
    /// What must hold for the request to be performed.
    pub condition: Condition,
    /// The last event that the client has of this stream (`Last-Event-ID`, server-sent events).
    pub last_event_id: Option<&'a [u8]>,
}

/// A request's condition (RFC 9110 section 13), as far as it matters for a resource that has
/// neither entity tags nor a date of modification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Condition {
    /// There is none, or it holds for every resource without entity tags that exists.
    #[default]
    None,
    /// The resource must have one of certain entity tags (`If-Match`).
    Tagged,
    /// The resource must not exist (`If-None-Match: *`).
    Missing,
}
