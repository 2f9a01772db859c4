//! The client's side of a conversation: its trait, the messages that go in, the events that come out.
//!
//! Knows the shape of a conversation; must not know any one protocol.
//!
//! One rule holds for all of them: whoever encodes a message passes its number in, and every event
//! about that message says whose it is. Protocols that answer in order need not know numbers: what
//! they report belongs to the oldest message that waits ([`Tag::Oldest`]).

use crate::codec::{Close, MessageKind, Step};
use crate::error::ProtocolError;
use crate::fields::FieldList;
use crate::head::ParsedResponse;
use crate::mask;
use crate::scratch::Scratch;

/// The client's side of one connection.
///
/// Bytes that came go to [`receive`](Self::receive) until it asks for more;
/// bytes that must go out are appended to `out`, and the caller sends them.
pub trait ClientSession {
    /// Appends what opens the conversation (a WebSocket upgrade). Nothing for protocols without one.
    fn start(&mut self, out: &mut Vec<u8>);

    /// May messages be sent? True from the start where there is no handshake, false again after a
    /// close in either direction.
    fn is_open(&self) -> bool;

    /// How many messages the peer lets be in flight at once; [`Event::Room`] tells of a change.
    /// No limit where the protocol has none.
    fn room(&self) -> u32 {
        u32::MAX
    }

    /// By which number the peer tells others of this one's messages, once it
    /// [is open](Self::is_open); none where nobody else hears of them.
    fn member(&self) -> Option<i32> {
        None
    }

    /// Appends one message. Requires [`is_open`](Self::is_open).
    fn encode(&mut self, message: &Message<'_>, out: &mut Vec<u8>);

    /// The same of so many messages with the same payload on the first route, with this number and those
    /// after it.
    #[inline]
    fn encode_alike(&mut self, first: u64, count: u32, payload: &[u8], out: &mut Vec<u8>) {
        for place in 0..u64::from(count) {
            self.encode(&Message::new(first.wrapping_add(place), payload), out);
        }
    }

    /// Appends what goes before a payload of `length` bytes on this route, which the caller appends
    /// in pieces, all of them before anything else. Requires [`is_open`](Self::is_open). None, and
    /// nothing is appended, where a payload is needed whole: compressed, or inside an envelope.
    fn begin(&mut self, route: usize, length: u64, out: &mut Vec<u8>) -> Option<Pieces> {
        let _ = (route, length, out);
        None
    }

    /// Takes bytes from the front of `input` and reports at most one event.
    ///
    /// Without an event the session needs more bytes: whatever it did not consume must be
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

    /// Takes replies from the front of `input` for as long as they are whole, plain and wanted, and
    /// says how many bytes they had. It is the short way for what nearly all replies are: without an
    /// event for each. [`receive`](Self::receive) would report the same replies of the same bytes,
    /// and goes on behind them; any reply may be left to it. One that `take` does not want is
    /// neither consumed nor answered.
    fn replies(
        &mut self,
        input: &[u8],
        scratch: &Scratch,
        take: impl FnMut(&Reply<'_>) -> bool,
    ) -> usize {
        let _ = (input, scratch, take);
        0
    }

    /// Gives up the reply to the message with this number: what comes of it from now on is not
    /// reported. What tells the peer so is appended to `out`.
    ///
    /// False, and nothing has changed, where the protocol answers in order, or too many replies are
    /// awaited that nobody wants: then only the connection can be given up.
    fn cancel(&mut self, number: u64, out: &mut Vec<u8>) -> bool {
        let _ = (number, out);
        false
    }

    /// Has the peer taken its leave, and is no reply awaited any more that it still gives? Then the connection is to
    /// be left. [`Event::Leaving`] tells that with what came; nothing tells it where the last such reply was
    /// [given up](Self::cancel).
    fn has_left(&self) -> bool {
        false
    }

    /// The peer sent its FIN. A body that ends with the connection is completed by it.
    ///
    /// # Errors
    /// [`ErrorClass::Truncated`](crate::ErrorClass::Truncated) where a reply was begun, or, for
    /// protocols with a closing handshake, where the conversation was not closed.
    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError>;

    /// Appends an orderly goodbye (a WebSocket close frame, 1000); nothing where there is none.
    fn close(&mut self, out: &mut Vec<u8>);
}

/// One message to encode.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// By which its reply is told from others, where the protocol does not answer in order.
    pub number: u64,
    /// Index of the message's head among those that the session was made with (0 where there is one).
    pub route: usize,
    /// Body or message.
    pub payload: &'a [u8],
    /// What is laid into the holes of the message's head; none where it has no holes.
    pub fill: Option<&'a Fill<'a>>,
}

impl<'a> Message<'a> {
    /// A message on the first route.
    pub const fn new(number: u64, payload: &'a [u8]) -> Self {
        Self { number, route: 0, payload, fill: None }
    }
}

/// What makes a head one message's own. Whoever fills it sees to it that each value may stand where
/// its hole is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fill<'a> {
    /// The values of all holes, one after the other.
    pub values: &'a [u8],
    /// Where the value of each hole ends in these: as many as the head has holes.
    pub ends: &'a [u32],
    /// Cookies, as they stand in a field; empty: none.
    pub cookies: &'a [u8],
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

/// Which message an event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// The oldest that waits: the protocol answers in order.
    Oldest,
    /// The one with this number.
    Number(u64),
}

/// What a client's session reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The handshake is done; messages may follow. Where they could before, [`room`](ClientSession::room) may have
    /// changed.
    Open,
    /// [`room`](ClientSession::room) has changed.
    Room,
    /// The head of a reply, before anything else of it; only where the session tells of heads.
    Head(ReplyHead<'a>),
    /// Fields behind the content of a reply, which follows at once; only where the session tells of
    /// heads.
    Trailers(ReplyHead<'a>),
    /// A piece of a reply's payload, not the last.
    Chunk {
        /// Which message the reply answers.
        tag: Tag,
        /// Never empty.
        piece: &'a [u8],
    },
    /// A reply is complete.
    Reply(Reply<'a>),
    /// A message has failed; the conversation goes on.
    Failed {
        /// Which one.
        tag: Tag,
        /// Why.
        error: ProtocolError,
    },
    /// One of the conversations that the connection carries has ended between two messages; another is
    /// opened in its place.
    Parted(ProtocolError),
    /// One receiver's copy of a message that somebody sent: one send may have many.
    Delivery(Delivery<'a>),
    /// What the server tells everybody who looks, from time to time: it answers no message.
    Bulletin(Bulletin),
    /// The peer has not processed this message, and says so: it may go again.
    Unprocessed {
        /// Which one.
        tag: Tag,
    },
    /// The peer answers nothing more on this connection. It has processed none of the messages whose
    /// replies are awaited: they may go again on another.
    Leaving,
    /// The peer closed the conversation in the protocol's own way.
    Close(Close),
}

/// The head of a reply that follows, or the fields behind its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyHead<'a> {
    /// Which message it answers.
    pub tag: Tag,
    /// HTTP status of the reply.
    pub status: u16,
    pub(crate) fields: HeadFields<'a>,
}

/// Where the fields of a head stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadFields<'a> {
    /// In the bytes as they came.
    Bytes(&'a [u8]),
    /// In a list, decoded; names are in lower case.
    List(&'a FieldList),
}

impl<'a> ReplyHead<'a> {
    pub(crate) const fn of_bytes(tag: Tag, status: u16, bytes: &'a [u8]) -> Self {
        Self { tag, status, fields: HeadFields::Bytes(bytes) }
    }

    pub(crate) const fn of_list(tag: Tag, status: u16, list: &'a FieldList) -> Self {
        Self { tag, status, fields: HeadFields::List(list) }
    }

    /// Its length, bytes: as it came, or of all names and values where they were compressed.
    pub fn length(&self) -> usize {
        match self.fields {
            HeadFields::Bytes(bytes) => bytes.len(),
            HeadFields::List(list) => list.bytes(),
        }
    }

    /// Names and values of its fields, in order; case does not count in names.
    pub fn fields(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let (bytes, list) = match self.fields {
            HeadFields::Bytes(bytes) => (Some(bytes), None),
            HeadFields::List(list) => (None, Some(list)),
        };
        let parsed = bytes.and_then(|bytes| ParsedResponse::parse(bytes).ok());
        let fields = parsed.map(|parsed| parsed.fields).unwrap_or_default();
        let fields = fields.map_while(Result::ok).map(|field| (field.name, field.value));
        // What begins with a colon says what HTTP/1.1 says in its first line.
        let listed = list.into_iter().flat_map(FieldList::iter);
        fields.chain(listed.filter(|(name, _)| !name.starts_with(b":")))
    }
}

/// A complete reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'a> {
    /// Which message it answers.
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
pub struct Delivery<'a> {
    /// Who sent the message: its [member](ClientSession::member).
    pub origin: i32,
    /// Number of the message, by which its origin knows it; those of one origin follow each other.
    pub number: u64,
    /// The receiver is the origin: the copy answers its own message.
    pub own: bool,
    /// What it says beside these is what it must, as far as the session knows.
    pub intact: bool,
    /// All that it carries, which must be the message's payload; none: the session has looked.
    pub payload: Option<&'a [u8]>,
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
