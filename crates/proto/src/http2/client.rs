//! The client's side: requests out, replies in, many at a time.
//!
//! Knows which stream carries which message; must not know what a reply should have been.

mod calls;

use std::sync::Arc;

use super::allowance::Http2Use;
use super::connection::{Broken, Connection, Happened, Http2Limits, Side};
use super::frame::{self, ErrorCode, PREFACE};
use super::request::{Http2Request, Table};
use super::reset::words;
use super::said::{Asked, Came, Said};
use crate::fielded::MOST_REFUSED;
use crate::fielded::call::{self, Look};
use crate::fielded::unpacking::Packed;
use crate::grpc::MESSAGE;
use crate::{
    ClientSession, ErrorClass, Event, Message, MessageKind, ProtocolError, Reply, ReplyHead,
    Scratch, Step, Tag,
};

/// Streams that may be open before the peer has said how many. No limit holds until then (RFC 9113 section 6.5.2); this
/// many are what browsers open.
const FIRST_STREAMS: u32 = 100;

/// HTTP/2 as a client speaks it, one connection.
#[derive(Debug)]
pub struct Http2Client {
    connection: Connection<Asked>,
    requests: Arc<[Http2Request]>,
    /// Some of them are calls of gRPC, whose replies have messages.
    has_calls: bool,
    /// Requests follow at once.
    hastens: bool,
    state: State,
    /// The head of each reply is reported, and the fields behind its content.
    tells_heads: bool,
    /// What was said of the last status of a call that was not OK, as it came.
    said: Vec<u8>,
    /// What fields say that come again: those of a head, and those behind content.
    heard: [Said; 2],
    /// The stream whose reply was over with what was told last.
    over: Option<u32>,
    /// Messages that the peer refused since it last replied to one.
    refused: u32,
    /// What the peer's table has of the fields of requests.
    table: Table,
    /// Where requests are encoded.
    block: Vec<u8>,
    /// Compressed messages that have not come whole.
    packed: Packed,
}

/// May requests follow?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not yet: the peer's settings have not come.
    Opening,
    /// They have not come either, and requests go by what holds without them.
    Early,
    Open,
    /// No: either side takes its leave. Replies still come.
    Leaving,
    /// No, and nothing that comes means anything.
    Closed,
}

impl Http2Client {
    /// A codec for a new connection. [`Message::route`] is an index into `requests`.
    pub fn new(requests: Arc<[Http2Request]>, limits: Http2Limits) -> Self {
        let mut client = Self::telling_heads(requests, limits);
        client.tells_heads = false;
        client.connection.tell_again();
        client
    }

    /// The same, and it tells of the head of each reply, and of the fields behind its content.
    pub fn telling_heads(requests: Arc<[Http2Request]>, limits: Http2Limits) -> Self {
        Self {
            connection: Connection::new(Side::Client, limits),
            has_calls: requests.iter().any(|request| request.whole.is_call()),
            hastens: false,
            requests,
            state: State::Opening,
            tells_heads: true,
            said: Vec::new(),
            heard: [Said::Behind { status: Ok(None) }; 2],
            over: None,
            refused: 0,
            table: Table::Empty,
            block: Vec::new(),
            packed: Packed::default(),
        }
    }

    /// Requests may follow right behind what the session begins with, before the peer's settings have come (RFC 9113
    /// section 3.4): up to 100 of them, with the windows and the table that hold until then. Without effect where there
    /// are calls of gRPC, whose clients wait for the settings. Call it before the session starts.
    pub fn hasten(&mut self) {
        self.hastens = !self.has_calls;
    }

    /// What comes from here on came at this instant, nanoseconds; what was encoded before went out
    /// then. Who never tells an instant is told that nothing took any time.
    #[inline]
    pub fn came_at(&mut self, now: u64) {
        self.connection.came_at(now);
    }

    /// What came in the way of messages since this was last asked; none: nothing. Times count when
    /// they are over.
    #[inline]
    pub fn take_use(&mut self) -> Option<Http2Use> {
        self.connection.take_use()
    }

    /// The connection is over: what still waits has waited until now.
    pub fn settle(&mut self) {
        self.connection.settle();
    }
}

impl ClientSession for Http2Client {
    fn start(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(PREFACE);
        self.connection.start(out);
        if self.hastens {
            self.state = State::Early;
        }
    }

    #[inline]
    fn is_open(&self) -> bool {
        matches!(self.state, State::Early | State::Open)
    }

    fn room(&self) -> u32 {
        match self.state {
            // Who takes its leave looks at nothing more: what is to be asked waits for the next connection.
            State::Leaving => 0,
            State::Early => FIRST_STREAMS,
            _ => self.connection.peer.max_concurrent_streams,
        }
    }

    #[inline]
    fn encode(&mut self, message: &Message<'_>, out: &mut Vec<u8>) {
        self.ask(message, true, out);
    }

    #[inline]
    fn encode_alike(&mut self, first: u64, count: u32, payload: &[u8], out: &mut Vec<u8>) {
        let Some(others) = count.checked_sub(1) else { return };
        let (begin, before) = (out.len(), self.table);
        self.encode(&Message::new(first, payload), out);
        let second = first.wrapping_add(1);
        // A block of its own may say what is said once, and so does the one that fills the peer's table.
        if self.block.is_empty() && self.table == before && self.is_open() {
            let request = &self.requests[0].whole;
            let asked = |place: u32| Asked::of(second.wrapping_add(place.into()), request);
            if self.connection.ask_again((others, asked), payload.len(), begin, out) {
                return;
            }
        }
        for place in 0..u64::from(others) {
            self.encode(&Message::new(second.wrapping_add(place), payload), out);
        }
    }

    fn receive<'a>(
        &mut self,
        input: &'a [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        if self.state == State::Closed {
            return Ok(Step { consumed: input.len(), event: None });
        }
        if let Some(id) = self.over.take() {
            return Ok(Step { consumed: 0, event: self.replied(id, &[], out) });
        }
        if self.has_left() {
            // What was awaited last came to nothing, and did not say that it was the last.
            self.state = State::Closed;
            return Ok(Step { consumed: 0, event: Some(Event::Leaving) });
        }
        let mut consumed = 0;
        loop {
            let read = self.connection.read(&input[consumed..], &mut scratch.fields, out);
            let step = read.map_err(|why| self.broken(why, out))?;
            consumed += step.consumed;
            let event = match step.event {
                None => return Ok(Step { consumed, event: None }),
                Some(Happened::Fields { id, is_end }) => {
                    match self.fields(id, is_end, scratch, out) {
                        Ok(came @ (Came::Head | Came::Trailers)) if self.tells_heads => {
                            self.over = is_end.then_some(id);
                            let event = Some(self.told(id, came, scratch));
                            return Ok(Step { consumed, event });
                        }
                        Ok(_) if is_end => self.replied(id, &[], out),
                        Ok(_) => None,
                        Err(failed) => failed,
                    }
                }
                Some(Happened::Again { id, is_end }) => match self.again(id, is_end, out) {
                    Ok(()) if is_end => self.replied(id, &[], out),
                    Ok(()) => None,
                    Err(failed) => failed,
                },
                Some(Happened::Content { id, piece, is_end, .. }) => {
                    match self.look_at(id, piece) {
                        Err(detail) => self.fail(id, ErrorCode::ProtocolError, detail, out),
                        Ok(Look::Unpack) => match self.unpack(id, piece, scratch) {
                            Err(bad) => self.fail_of(id, bad, out),
                            Ok(()) if !scratch.unpacked.is_empty() => {
                                self.over = is_end.then_some(id);
                                let (tag, piece) = (self.tag(id), &scratch.unpacked[..]);
                                let event = tag.map(|tag| Event::Chunk { tag, piece });
                                return Ok(Step { consumed, event });
                            }
                            Ok(()) if is_end => self.replied(id, &[], out),
                            Ok(()) => None,
                        },
                        Ok(Look::Await) if is_end && !piece.is_empty() => {
                            // A failure has no payload, and these may be whole messages.
                            self.over = Some(id);
                            self.tag(id).map(|tag| Event::Chunk { tag, piece })
                        }
                        Ok(_) if is_end => self.replied(id, piece, out),
                        Ok(_) => self.tag(id).map(|tag| Event::Chunk { tag, piece }),
                    }
                }
                Some(Happened::Wrong { id, code, detail }) => self.fail(id, code, detail, out),
                Some(Happened::Reset { id, code }) => self.reset(id, code),
                Some(Happened::Room) => Some(Event::Room),
                Some(Happened::Settled) => {
                    // After a request that is the connection's last, no other may follow.
                    if self.state != State::Leaving {
                        self.state = State::Open;
                    }
                    Some(Event::Open)
                }
                Some(Happened::Leaving) => self.leaving(),
            };
            if event.is_some() {
                return Ok(Step { consumed, event });
            }
        }
    }

    /// Those with the head of the one before, and their content in one piece.
    #[inline]
    fn replies(
        &mut self,
        input: &[u8],
        _scratch: &Scratch,
        mut take: impl FnMut(&Reply<'_>) -> bool,
    ) -> usize {
        let Self { heard: [head, behind], refused, .. } = self;
        if self.state != State::Open || self.tells_heads {
            return 0;
        }
        self.connection.plain(
            input,
            |heard| head.hear(heard, false).is_ok(),
            |asked, payload, has_fields| {
                let Asked { number, status, is_call, frames, .. } = *asked;
                let status = match behind {
                    _ if is_call != has_fields => return false,
                    _ if !is_call => status,
                    Said::Behind { status: Ok(Some(0)) } if status == call::MISSING => 0,
                    _ => return false,
                };
                if is_call && !call::is_whole(frames, payload) {
                    return false;
                }
                let (tag, kind) = (Tag::Number(number), MessageKind::Body);
                let is_taken = take(&Reply { tag, status, kind, payload, last: false });
                *refused = if is_taken { 0 } else { *refused };
                is_taken
            },
        )
    }

    fn cancel(&mut self, number: u64, out: &mut Vec<u8>) -> bool {
        let found = self.connection.find(|asked| asked.number == number);
        let Some(id) = found.filter(|_| self.connection.may_give_up()) else { return false };
        self.connection.give_up(id, ErrorCode::Cancel, out);
        true
    }

    fn has_left(&self) -> bool {
        self.state == State::Leaving && self.connection.is_done()
    }

    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError> {
        let before = std::mem::replace(&mut self.state, State::Closed);
        let detail = match before {
            State::Closed => return Ok(None),
            _ if !self.connection.is_settled() => {
                "the server ended the connection before it spoke HTTP/2"
            }
            _ if self.connection.is_idle() => return Ok(None),
            _ => "the connection ended inside a reply",
        };
        Err(ProtocolError::new(ErrorClass::Truncated, detail))
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.state != State::Closed {
            frame::write_goaway(0, ErrorCode::NoError, out);
            self.state = State::Closed;
        }
    }
}

impl Http2Client {
    /// Appends a request, of whose content this is all, or the beginning. Gives its stream.
    #[inline]
    fn ask(&mut self, message: &Message<'_>, is_all: bool, out: &mut Vec<u8>) -> Option<u32> {
        debug_assert!(self.is_open(), "no request may follow");
        let Message { number, route, payload, fill } = *message;
        let made = &self.requests[route];
        self.block.clear();
        self.connection.begin_block(&mut self.block);
        if !self.block.is_empty() {
            // The peer has less room than what holds by itself, and is told that none of it is used.
            self.table = Table::Unused;
        }
        let request = made.rendered(self.table);
        let same = request.same(fill).filter(|_| self.block.is_empty());
        if same.is_none() {
            request.write(payload.len() as u64, fill, &mut self.block);
        }
        let asked = Asked::of(number, request);
        let block = same.unwrap_or(&self.block);
        let id = if is_all {
            self.connection.ask(asked, block, payload, out)?
        } else {
            self.connection.begin(asked, block, payload, out)?
        };
        if made.keeps() && self.table == Table::Empty {
            self.table = Table::Filled;
        }
        // Half of the numbers there are is enough for one connection, and never runs out in the
        // middle of what was begun.
        if request.closes() || id > frame::WIDEST / 2 {
            self.state = State::Leaving;
        }
        Some(id)
    }

    /// Fields came: the head of a reply, an interim one, or what is behind its content.
    fn fields(
        &mut self,
        id: u32,
        is_end: bool,
        scratch: &Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Came, Option<Event<'static>>> {
        let fields = &scratch.fields;
        let stream = self.connection.stream(id).ok_or(None)?;
        let behind = stream.heard.has_head;
        let said = if behind {
            Said::read_behind(fields, is_end)
        } else {
            Said::read_head(fields, is_end)
        };
        let checked = said.and_then(|said| Ok((said, said.hear(&mut stream.heard, is_end)?)));
        let is_failure = is_end && stream.heard.message.has_failed();
        if is_failure {
            self.said.clear();
            let text = fields.get(MESSAGE.as_bytes());
            self.said.extend_from_slice(text.unwrap_or_default());
        }
        let (said, came) =
            checked.map_err(|detail| self.fail(id, ErrorCode::ProtocolError, detail, out))?;
        if !is_failure && came != Came::Interim {
            self.heard[usize::from(behind)] = said;
            self.connection.keep_fields(behind);
        }
        Ok(came)
    }

    /// The same fields came as on an earlier stream.
    #[inline]
    fn again(
        &mut self,
        id: u32,
        is_end: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Option<Event<'static>>> {
        let stream = self.connection.stream(id).ok_or(None)?;
        let said = self.heard[usize::from(stream.heard.has_head)];
        match said.hear(&mut stream.heard, is_end) {
            Ok(_) => {
                // A reply of HTTP with the same fields was no failure: its message was not kept.
                if is_end && stream.heard.message.has_failed() {
                    self.said.clear();
                }
                Ok(())
            }
            Err(detail) => Err(self.fail(id, ErrorCode::ProtocolError, detail, out)),
        }
    }

    /// The fields that just came on this stream, for those who are told of them.
    fn told<'a>(&mut self, id: u32, came: Came, scratch: &'a Scratch) -> Event<'a> {
        let asked = self.connection.stream(id).map(|stream| stream.heard.message);
        let Asked { number, status, .. } = asked.unwrap_or_default();
        let status = if status == call::MISSING { 200 } else { status };
        let fields = ReplyHead::of_list(Tag::Number(number), status, &scratch.fields);
        match came {
            Came::Trailers => Event::Trailers(fields),
            Came::Interim | Came::Head => Event::Head(fields),
        }
    }

    fn tag(&mut self, id: u32) -> Option<Tag> {
        self.connection.stream(id).map(|stream| Tag::Number(stream.heard.message.number))
    }

    /// The reply on this stream is complete.
    #[inline]
    fn replied<'a>(&mut self, id: u32, payload: &'a [u8], out: &mut Vec<u8>) -> Option<Event<'a>> {
        let Asked { number, status, .. } = self.connection.finish(id, out)?;
        let tag = Tag::Number(number);
        self.refused = 0;
        if status == call::MISSING {
            let detail = "a reply without the status of its call: no grpc-status in its trailers";
            let error = ProtocolError::new(ErrorClass::NoStatus, detail);
            return Some(Event::Failed { tag, error });
        }
        let last = self.has_left();
        if last {
            self.state = State::Closed;
        }
        let kind = MessageKind::Body;
        Some(Event::Reply(Reply { tag, status, kind, payload, last }))
    }

    /// A message has failed for what the peer did on its stream.
    #[cold]
    fn fail(
        &mut self,
        id: u32,
        code: ErrorCode,
        detail: &'static str,
        out: &mut Vec<u8>,
    ) -> Option<Event<'static>> {
        let asked = self.connection.give_up(id, code, out)?;
        let error = ProtocolError::new(ErrorClass::Protocol, detail);
        Some(Event::Failed { tag: Tag::Number(asked.number), error })
    }

    /// The peer has given a message up.
    #[cold]
    fn reset(&mut self, id: u32, code: ErrorCode) -> Option<Event<'static>> {
        let asked = self.connection.drop_stream(id)?;
        let tag = Tag::Number(asked.number);
        self.refused += u32::from(code == ErrorCode::RefusedStream);
        Some(match code {
            // Nothing was done with it (RFC 9113 section 8.7).
            ErrorCode::RefusedStream if self.refused <= MOST_REFUSED => Event::Unprocessed { tag },
            code => {
                Event::Failed { tag, error: ProtocolError::new(ErrorClass::Reset, words(code)) }
            }
        })
    }

    /// The peer answers what it has begun, and nothing else.
    #[cold]
    fn leaving(&mut self) -> Option<Event<'static>> {
        self.state = State::Leaving;
        if !self.has_left() {
            return None;
        }
        self.state = State::Closed;
        Some(Event::Leaving)
    }

    #[cold]
    fn broken(&mut self, why: Broken, out: &mut Vec<u8>) -> ProtocolError {
        // The peer is told why, as far as it still reads.
        frame::write_goaway(0, why.code, out);
        self.state = State::Closed;
        ProtocolError::new(why.class, why.detail)
    }
}
