//! What every codec is: two traits, the events they report, the errors they end with.
//!
//! Knows the shape of a conversation; must not know any one protocol.

use crate::http1::KnownHead;
use crate::websocket::{Extensions, mask};

/// The client's side of one connection.
///
/// Bytes that came go to [`receive`](Self::receive) until it asks for more;
/// bytes that must go out are appended to `out`, and the caller sends them.
pub trait ClientCodec {
    /// Appends what opens the conversation (a WebSocket upgrade). Nothing for protocols without one.
    fn start(&mut self, out: &mut Vec<u8>);

    /// May requests be encoded now? True from the start where there is no handshake,
    /// false again after a close in either direction.
    fn is_open(&self) -> bool;

    /// Appends one request. Requires [`is_open`](Self::is_open).
    fn encode(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Tag;

    /// Appends what goes before a payload of `length` bytes on this route, which the caller appends
    /// in pieces, all of them before anything else. Requires [`is_open`](Self::is_open). None, and
    /// nothing is appended, where a payload is needed whole: compressed, or inside an envelope.
    fn begin(&mut self, route: usize, length: u64, out: &mut Vec<u8>) -> Option<Pieces> {
        let _ = (route, length, out);
        None
    }

    /// Takes bytes from the front of `input` and reports at most one event.
    ///
    /// Without an event the codec needs more bytes: whatever it did not consume must be
    /// presented again, with more bytes behind it. Payload bytes are always consumed, so
    /// that what stays behind is a head or a frame header, never a payload. Answers to
    /// control frames are appended to `out`. A piece that is not in the input as it is, because
    /// what came was compressed, is laid into `scratch`.
    ///
    /// # Errors
    /// The peer broke the protocol; the connection must be closed after what `out` holds was sent.
    fn receive<'a>(
        &mut self,
        input: &'a [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError>;

    /// The peer sent its FIN. A body that ends with the connection is completed by it.
    ///
    /// # Errors
    /// [`ErrorClass::Truncated`] where a reply was begun, or, for protocols with a
    /// closing handshake, where the conversation was not closed.
    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError>;

    /// Appends an orderly goodbye (a WebSocket close frame, 1000); nothing where there is none.
    fn close(&mut self, out: &mut Vec<u8>);
}

/// The server's side of one connection. Requests are events; the caller answers them with the
/// codec's own methods, in order.
pub trait ServerCodec {
    /// As [`ClientCodec::receive`]; `input` is mutable so that masked payloads are unmasked in place.
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

/// What codecs share, so that one serves all connections of a thread: room for payload that does
/// not stand in the input as it is, in which nothing stays between two calls, and what was last
/// read where the same bytes mean the same again. Takes memory once it is needed.
#[derive(Debug, Default)]
pub struct Scratch {
    room: Box<[u8]>,
    /// The last head of an HTTP reply.
    pub(crate) head: KnownHead,
}

impl Scratch {
    /// How much payload is laid into it at once, bytes: nothing longer is ever held of a payload
    /// that was compressed, however long it comes to be.
    pub(crate) const SIZE: usize = 16 * 1024;

    /// Room that takes no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// All of it.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.room.is_empty() {
            self.room = vec![0; Self::SIZE].into_boxed_slice();
        }
        &mut self.room
    }
}

/// What one call of `receive` did.
#[derive(Debug, PartialEq, Eq)]
pub struct Step<E> {
    /// Bytes taken from the front of the input.
    pub consumed: usize,
    /// What happened; none: more bytes are needed.
    pub event: Option<E>,
}

/// A payload that goes out in pieces.
#[derive(Debug, Clone)]
pub struct Pieces {
    /// As it stands for the next byte; none: they go as they are.
    pub(crate) mask: Option<[u8; 4]>,
}

impl Pieces {
    /// Appends the next piece.
    pub fn append(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        match &mut self.mask {
            Some(mask) => {
                mask::append(*mask, piece, out);
                *mask = mask::advance(*mask, piece.len());
            }
            None => out.extend_from_slice(piece),
        }
    }
}

/// One request to encode.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Index of the request's head among those that the codec was made with (0 where there is one).
    pub route: usize,
    /// Body or message.
    pub payload: &'a [u8],
}

/// Which request a reply belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// The oldest that waits: the protocol answers in order.
    Next,
    /// The one with this number: the protocol carries identifiers.
    Id(u64),
}

/// What a client codec reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The handshake is done; requests may follow.
    Open,
    /// A piece of the current reply's payload, not the last. Never empty.
    Chunk(&'a [u8]),
    /// The current reply is complete.
    Reply(Reply<'a>),
    /// One receiver's copy of a message that somebody sent: one send may have many.
    Delivery(Delivery),
    /// What the server tells everybody who looks, from time to time: it answers no message.
    Bulletin(Bulletin),
    /// The peer closed the conversation in the protocol's own way.
    Close(Close),
}

/// A complete reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'a> {
    /// Which request it answers.
    pub tag: Tag,
    /// HTTP status; 0 where the protocol has none.
    pub status: u16,
    /// Kind of the message.
    pub kind: MessageKind,
    /// The last piece of the payload; all of it when no [`Event::Chunk`] came before. May be empty.
    pub payload: &'a [u8],
    /// The peer will answer nothing more on this connection.
    pub last: bool,
}

/// One receiver's copy of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// Who sent the message, by the number that the server gave.
    pub origin: i32,
    /// The message's number among those of its origin.
    pub seq: u32,
    /// The receiver is the origin: the copy answers its own message.
    pub own: bool,
    /// What it says beside these is what it must.
    pub intact: bool,
}

/// One of a numbered series that the server tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bulletin {
    /// How many are left out between the last one and this.
    pub missed: u32,
    /// It came before, or a later one did.
    pub late: bool,
    /// It does not contradict itself.
    pub intact: bool,
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

/// The peer broke the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct ProtocolError {
    /// How it is counted.
    pub class: ErrorClass,
    /// What was wrong, for people.
    pub detail: &'static str,
}

impl ProtocolError {
    /// An error of this class.
    pub const fn new(class: ErrorClass, detail: &'static str) -> Self {
        Self { class, detail }
    }
}

/// How a protocol error is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// The connection ended inside a reply.
    Truncated,
    /// A head over the limit.
    HeaderTooLarge,
    /// A message over the limit.
    TooBig,
    /// Text that is not UTF-8.
    Utf8,
    /// The upgrade was answered with something else than 101, or with a wrong accept; or a login, a
    /// seat, a namespace was refused.
    Upgrade,
    /// Anything else that the protocol forbids.
    Protocol,
}
