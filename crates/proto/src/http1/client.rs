//! The client's side: requests out, replies in.
//!
//! Knows which request a reply answers and where a reply ends (RFC 9112 section 6.3); must not
//! know what the reply should have been.

use std::ops::Range;
use std::sync::Arc;

use super::chunked::Chunked;
use super::framing::Framing;
use super::request::RequestHead;
use super::waiting::Waiting;
use crate::head::{HeadEnd, MAX_HEAD, ParsedResponse};
use crate::scratch::{KnownHead, Verdict};
use crate::{
    ClientSession, ErrorClass, Event, Message, MessageKind, Pieces, ProtocolError, Reply,
    ReplyHead, Scratch, Step, Tag,
};

/// HTTP/1.1 as a client speaks it, one connection.
#[derive(Debug)]
pub struct Http1Client {
    heads: Arc<[RequestHead]>,
    waiting: Waiting<HeadRequest>,
    state: State,
    /// Status of the reply whose body is being read.
    status: u16,
    /// The reply that is being read is the last.
    last: bool,
    /// A part of the oldest request's answer was read, if only an interim response.
    begun: bool,
    /// The head of each reply is reported.
    tells_heads: bool,
    sending: Sending,
}

/// May requests follow?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sending {
    Open,
    /// No: the peer's or the caller's will.
    Closed,
    /// No: a request asked the server to end the connection, so the reply to it is the last.
    AskedToClose,
}

/// The method HEAD: the reply has no body, whatever its fields say.
#[derive(Debug, Clone, Copy)]
struct HeadRequest;

#[derive(Debug, Clone, Copy)]
enum State {
    Head(HeadEnd),
    /// So many bytes of the body are missing.
    Length(u64),
    Chunked(Chunked),
    UntilEnd,
    /// The last reply was read.
    Done,
}

impl Http1Client {
    /// A codec for a new connection. [`Message::route`] is an index into `heads`.
    pub fn new(heads: Arc<[RequestHead]>) -> Self {
        Self {
            heads,
            waiting: Waiting::new(),
            state: State::Head(HeadEnd::default()),
            status: 0,
            last: false,
            begun: false,
            tells_heads: false,
            sending: Sending::Open,
        }
    }

    /// The same, and it tells of the head of each reply.
    pub fn telling_heads(heads: Arc<[RequestHead]>) -> Self {
        Self { tells_heads: true, ..Self::new(heads) }
    }
}

impl ClientSession for Http1Client {
    fn start(&mut self, _out: &mut Vec<u8>) {}

    fn is_open(&self) -> bool {
        self.sending == Sending::Open
    }

    #[inline]
    fn encode(&mut self, message: &Message<'_>, out: &mut Vec<u8>) {
        debug_assert!(self.is_open(), "no request may follow");
        self.heads[message.route].write(message.payload, message.fill, out);
        self.asked(message.route);
    }

    fn begin(&mut self, route: usize, length: u64, out: &mut Vec<u8>) -> Option<Pieces> {
        debug_assert!(self.is_open(), "no request may follow");
        self.heads[route].begin(length, out);
        self.asked(route);
        Some(Pieces { mask: None })
    }

    #[inline]
    fn receive<'a>(
        &mut self,
        input: &'a [u8],
        scratch: &'a mut Scratch,
        _out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        let offset = match self.state {
            State::Head(_) => {
                let last = self.read_heads(input, &mut scratch.head)?;
                if self.tells_heads && !matches!(self.state, State::Head(_)) {
                    let (consumed, bytes) = (last.end, &input[last]);
                    let head = ReplyHead::of_bytes(Tag::Oldest, self.status, bytes);
                    return Ok(Step { consumed, event: Some(Event::Head(head)) });
                }
                last.end
            }
            _ => 0,
        };
        let (taken, event) = self.read_body(&input[offset..])?;
        Ok(Step { consumed: offset + taken, event })
    }

    /// Those whose head is the one that was read last, which says all about them.
    #[inline]
    fn replies(
        &mut self,
        input: &[u8],
        scratch: &Scratch,
        mut take: impl FnMut(&Reply<'_>) -> bool,
    ) -> usize {
        let mut offset = 0;
        while self.waits_for_a_head() {
            let Some((verdict, head)) = scratch.head.of(&input[offset..]) else { break };
            let whole = usize::try_from(verdict.length).ok();
            let behind = &input[offset + head..];
            let Some(payload) = whole.and_then(|length| behind.get(..length)) else { break };
            let Verdict { status, last, .. } = verdict;
            let kind = MessageKind::Body;
            if last || !take(&Reply { tag: Tag::Oldest, status, kind, payload, last }) {
                break;
            }
            offset += head + payload.len();
            self.waiting.pop();
        }
        offset
    }

    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError> {
        self.stop_sending();
        match self.state {
            State::UntilEnd => Ok(Some(self.reply(&[]))),
            State::Head(_) if !self.begun => {
                self.state = State::Done;
                Ok(None)
            }
            State::Done => Ok(None),
            State::Head(_) | State::Length(_) | State::Chunked(_) => Err(ProtocolError::new(
                ErrorClass::Truncated,
                "the connection ended inside a reply",
            )),
        }
    }

    fn close(&mut self, _out: &mut Vec<u8>) {
        self.stop_sending();
    }
}

impl Http1Client {
    /// Does an ordinary request wait, to which nothing came yet, and may more be answered after it?
    #[inline]
    fn waits_for_a_head(&self) -> bool {
        matches!(self.state, State::Head(end) if !end.has_looked())
            && !self.begun
            && !self.tells_heads
            && self.sending != Sending::AskedToClose
            && !self.waiting.is_empty()
            && self.waiting.oldest().is_none()
    }

    /// A request went out on this route.
    #[inline]
    fn asked(&mut self, route: usize) {
        let head = &self.heads[route];
        self.waiting.push(head.is_head().then_some(HeadRequest));
        if head.closes() {
            self.sending = Sending::AskedToClose;
        }
    }

    /// Reads heads up to and with that of a final response; returns where the last one stands.
    #[inline]
    fn read_heads(
        &mut self,
        input: &[u8],
        known: &mut KnownHead,
    ) -> Result<Range<usize>, ProtocolError> {
        let (mut begin, mut offset) = (0, 0);
        while let State::Head(end) = self.state {
            let rest = &input[offset..];
            if rest.is_empty() {
                break;
            }
            if self.waiting.is_empty() {
                return Err(protocol("a reply came to no request"));
            }
            self.begun = true;
            let Some((state, length)) = self.read_head(rest, end, known)? else {
                break;
            };
            self.state = state;
            (begin, offset) = (offset, offset + length);
        }
        Ok(begin..offset)
    }

    /// What follows the head at the front, and the head's length; none where more bytes are
    /// needed.
    #[inline]
    fn read_head(
        &mut self,
        input: &[u8],
        mut end: HeadEnd,
        known: &mut KnownHead,
    ) -> Result<Option<(State, usize)>, ProtocolError> {
        // What follows a head depends on nothing else but whether the request was HEAD.
        let plain = self.waiting.oldest().is_none();
        if let Some((verdict, length)) = known.of(input).filter(|_| plain && !end.has_looked()) {
            self.status = verdict.status;
            self.last = verdict.last;
            return Ok(Some((State::Length(verdict.length), length)));
        }
        // Nearly every head comes whole, and then one look is enough. What may be wrong with it
        // is told below, so that it does not depend on how the bytes were split.
        if !end.has_looked()
            && let Ok(framed) = self.framed(&input[..input.len().min(MAX_HEAD)])
        {
            if let (true, (State::Length(body), length)) = (plain, framed) {
                let verdict = Verdict { status: self.status, last: self.last, length: body };
                known.learn(&input[..length], verdict);
            }
            return Ok(Some(framed));
        }
        if !ParsedResponse::may_begin(input) {
            return Err(protocol("the reply is not HTTP/1.x"));
        }
        let found = end.find(input)?;
        self.state = State::Head(end);
        found.map(|length| self.framed(&input[..length])).transpose()
    }

    /// What follows this head (RFC 9112 section 6.3), and its length.
    #[inline]
    fn framed(&mut self, head: &[u8]) -> Result<(State, usize), ProtocolError> {
        let mut response = ParsedResponse::parse(head)?;
        let mut framing = Framing::default();
        for field in response.fields.by_ref() {
            framing.note(&field?)?;
        }
        framing.check(response.version)?;
        let length = head.len() - response.fields.behind().len();
        self.status = response.status;
        self.last = !framing.persists(response.version);
        let bodiless = self.waiting.oldest().is_some();
        let state = match (response.status, framing.length) {
            (101, _) => {
                return Err(protocol("the server switched protocols without being asked"));
            }
            (100..200, _) => State::Head(HeadEnd::default()),
            (204 | 304, _) => State::Length(0),
            _ if bodiless => State::Length(0),
            _ if framing.is_chunked() => State::Chunked(Chunked::Size),
            (_, Some(length)) => State::Length(length),
            (_, None) => {
                self.last = true;
                State::UntilEnd
            }
        };
        Ok((state, length))
    }

    /// Takes what is there of the body. A reply without one is complete with its head.
    #[inline]
    fn read_body<'a>(
        &mut self,
        input: &'a [u8],
    ) -> Result<(usize, Option<Event<'a>>), ProtocolError> {
        match &mut self.state {
            State::Length(missing) => {
                let take = usize::try_from(*missing).map_or(input.len(), |n| n.min(input.len()));
                *missing -= take as u64;
                let data = &input[..take];
                let event = if *missing == 0 { Some(self.reply(data)) } else { chunk(data) };
                Ok((take, event))
            }
            State::Chunked(chunked) => {
                let piece = chunked.read(input, true)?;
                let data = &input[piece.data];
                let event = if piece.end { Some(self.reply(data)) } else { chunk(data) };
                Ok((piece.consumed, event))
            }
            State::UntilEnd => Ok((input.len(), chunk(input))),
            State::Done if !input.is_empty() => Err(protocol("bytes behind the last reply")),
            State::Head(_) | State::Done => Ok((0, None)),
        }
    }

    /// The oldest request is answered.
    #[inline]
    fn reply<'a>(&mut self, payload: &'a [u8]) -> Event<'a> {
        self.waiting.pop();
        let last = self.last || (self.sending == Sending::AskedToClose && self.waiting.is_empty());
        if last {
            self.stop_sending();
        }
        self.begun = false;
        self.state = if last { State::Done } else { State::Head(HeadEnd::default()) };
        Event::Reply(Reply {
            tag: Tag::Oldest,
            status: self.status,
            kind: MessageKind::Body,
            payload,
            last,
        })
    }

    fn stop_sending(&mut self) {
        if self.sending == Sending::Open {
            self.sending = Sending::Closed;
        }
    }
}

fn chunk(data: &[u8]) -> Option<Event<'_>> {
    (!data.is_empty()).then_some(Event::Chunk { tag: Tag::Oldest, piece: data })
}

const fn protocol(detail: &'static str) -> ProtocolError {
    ProtocolError::new(ErrorClass::Protocol, detail)
}
