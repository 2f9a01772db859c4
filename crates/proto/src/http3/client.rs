//! The client's side: requests out, replies in, many at a time.
//!
//! Knows which stream carries which message; must not know what a reply should have been, nor who
//! carries the streams: what is to be done is left in [`Outgoing`].

mod calls;
mod endings;
mod exchange;

use std::sync::Arc;

use calls::Called;
use exchange::Exchange;

use super::broken::Broken;
use super::control::Said;
use super::frame::{self, ErrorCode};
use super::incoming::{Came, Incoming};
use super::numbers::{MOST_REQUESTS, key};
use super::outgoing::Outgoing;
use super::replied::{Heads, Heard};
use super::request::Http3Request;
use super::settings::{Http3Limits, Settings};
use super::tables::Tables;
use super::unidirectional::Unidirectional;
use crate::fielded::call::Look;
use crate::fielded::unpacking::Packed;
use crate::streams::Streams;
use crate::{
    ErrorClass, Event, Message, MessageKind, ProtocolError, Reply, ReplyHead, Scratch, Step, Tag,
};

/// Our stream of control: the first that a client opens in one direction.
pub(super) const CONTROL: u64 = 2;

/// HTTP/3 as a client speaks it, one connection.
///
/// What came on a stream goes to [`receive`](Self::receive), what became of one to
/// [`reset`](Self::reset) and [`stop_sending`](Self::stop_sending); what is to be done is left in an
/// [`Outgoing`], which the caller does and clears.
#[derive(Debug)]
pub struct Http3Client {
    requests: Arc<[Http3Request]>,
    limits: Http3Limits,
    state: State,
    unidirectional: Unidirectional,
    tables: Tables,
    /// What the server has declared; none: nothing yet.
    peer: Option<Settings>,
    streams: Streams<Exchange>,
    /// Requests that were sent.
    sent: u32,
    /// Requests that the server lets be sent in all.
    allowed: u64,
    /// No stream from this one on was processed, as the server said.
    first_unprocessed: u64,
    /// The head of each reply is reported, and the fields behind its content.
    tells_heads: bool,
    heads: Heads,
    /// What was said of the last status of a call that was not OK, as it came.
    said: Vec<u8>,
    /// Compressed messages that have not come whole.
    packed: Packed,
    /// Messages that the server refused since it last replied to one.
    refused: u32,
    /// Where requests are encoded.
    block: Vec<u8>,
}

/// May requests follow?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// No: either side takes its leave. Replies still come.
    Leaving,
    /// No, and none comes any more, which is to be told behind a message that has failed.
    Left,
    /// No, and nothing that comes means anything.
    Closed,
}

impl Http3Client {
    /// A session for a new connection. [`Message::route`] is an index into `requests`.
    pub fn new(requests: Arc<[Http3Request]>, limits: Http3Limits) -> Self {
        Self { tells_heads: false, ..Self::telling_heads(requests, limits) }
    }

    /// The same, and it tells of the head of each reply, and of the fields behind its content.
    pub fn telling_heads(requests: Arc<[Http3Request]>, limits: Http3Limits) -> Self {
        Self {
            requests,
            limits,
            state: State::Open,
            unidirectional: Unidirectional::new(true),
            tables: Tables::new(CONTROL, limits.table),
            peer: None,
            streams: Streams::default(),
            sent: 0,
            allowed: 0,
            first_unprocessed: u64::MAX,
            tells_heads: true,
            heads: Heads::default(),
            said: Vec::new(),
            packed: Packed::default(),
            refused: 0,
            block: Vec::new(),
        }
    }

    /// What opens the conversation.
    pub fn start(&mut self, out: &mut Outgoing) {
        Settings::of(self.limits).open(CONTROL, out);
        self.tables.open(out);
    }

    /// May messages be sent? True from the start: nobody has to wait for settings (RFC 9114 section
    /// 7.2.4.2). There must be [room](Self::room), too.
    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Does the server take its leave of the connection (GOAWAY)?
    pub fn is_left(&self) -> bool {
        self.first_unprocessed != u64::MAX
    }

    /// As [`ClientSession::has_left`](crate::ClientSession::has_left); nothing tells it of a stream that was
    /// [reset](Self::reset), either.
    pub fn has_left(&self) -> bool {
        self.state == State::Left || self.is_over()
    }

    /// What the server has declared; none: nothing yet.
    pub fn settings(&self) -> Option<Settings> {
        self.peer
    }

    /// So many streams of requests may be opened in all, or are already: what the server allows
    /// (`MAX_STREAMS`), as far as the transport knows. They never become fewer.
    pub fn allow(&mut self, streams: u64) {
        self.allowed = self.allowed.max(streams);
    }

    /// How many messages may be in flight at once: those that are, and those for which there are
    /// streams.
    pub fn room(&self) -> u32 {
        if self.state != State::Open {
            return 0;
        }
        let more = self.allowed.saturating_sub(u64::from(self.sent));
        u32::try_from(self.streams.len() as u64 + more).unwrap_or(u32::MAX)
    }

    /// Sends one message, on a stream of its own. Requires [`is_open`](Self::is_open) and
    /// [room](Self::room).
    #[inline]
    pub fn encode(&mut self, message: &Message<'_>, out: &mut Outgoing) {
        self.ask(message, true, out);
    }

    /// Sends a request, of whose content this is all, or the beginning. Gives the key of its stream.
    #[inline]
    fn ask(&mut self, message: &Message<'_>, is_all: bool, out: &mut Outgoing) -> u32 {
        debug_assert!(self.is_open(), "no request may follow");
        let Message { number, route, payload, fill } = *message;
        let request = &self.requests[route];
        let is_put = self.tables.are_put() && request.puts().is_some();
        let request = request.rendered(is_put);
        if is_put {
            self.tables.refer();
        }
        let same = request.same(fill);
        self.block.clear();
        if same.is_none() {
            request.write(payload.len() as u64, fill, &mut self.block);
        }
        let block = same.unwrap_or(&self.block);
        let stream = 4 * u64::from(self.sent);
        out.write(stream, is_all, |bytes| {
            frame::write_headers(block, bytes);
            if !payload.is_empty() {
                frame::write_data_head(payload.len() as u64, bytes);
                bytes.extend_from_slice(payload);
            }
        });
        self.streams.insert(Exchange {
            key: key(stream),
            number,
            is_head: request.is_head(),
            has_content: !payload.is_empty(),
            goes_on: !is_all,
            call: Called::of(request),
            incoming: Incoming::new(self.limits.max_field_section, true),
            ..Exchange::default()
        });
        self.sent += 1;
        if request.closes() || self.sent == MOST_REQUESTS {
            self.state = State::Leaving;
        }
        key(stream)
    }

    /// Takes bytes from the front of what came on a stream, and reports at most one event; to be
    /// called with the rest, and with none at last, until it reports nothing: then all of them were
    /// taken. `fin`: nothing comes behind them. What is taken need not be kept.
    ///
    /// # Errors
    /// The server broke the rules, and `out` closes the connection.
    pub fn receive<'a>(
        &mut self,
        stream: u64,
        input: &'a [u8],
        fin: bool,
        scratch: &'a mut Scratch,
        out: &mut Outgoing,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        let whole = input.len();
        if let State::Left | State::Closed = self.state {
            let before = std::mem::replace(&mut self.state, State::Closed);
            let event = (before == State::Left).then_some(Event::Leaving);
            return Ok(Step { consumed: whole, event });
        }
        match stream & 3 {
            0 => {
                let step = self.on_reply(stream, input, fin, scratch, out)?;
                self.tables.tell(out);
                Ok(step)
            }
            // We never let a server open one (section 6.1).
            1 => Err(self.broken(ErrorCode::StreamCreationError.into(), out)),
            3 => {
                let event = self.on_unidirectional(stream, input, fin, out);
                let event = event.map_err(|why| self.broken(why, out))?;
                Ok(Step { consumed: whole, event })
            }
            _ => Ok(Step { consumed: whole, event: None }),
        }
    }

    /// The server has refused what was sent before the handshake was over (0-RTT): all streams are
    /// gone, and the conversation begins again. Gives the numbers of the messages that were on them, in
    /// their order, which have not been processed.
    pub fn refused_early(&mut self, out: &mut Outgoing) -> Vec<u64> {
        let mut lost: Vec<_> = self.streams.iter().map(|it| (it.key, it.number)).collect();
        lost.sort_unstable();
        self.streams = Streams::default();
        self.unidirectional = Unidirectional::new(true);
        self.tables = Tables::new(CONTROL, self.limits.table);
        (self.peer, self.sent, self.allowed) = (None, 0, 0);
        if self.state == State::Leaving {
            self.state = State::Open;
        }
        out.clear();
        self.start(out);
        lost.into_iter().map(|(_, number)| number).collect()
    }

    /// The connection has ended in order, or without a word.
    ///
    /// # Errors
    /// [`ErrorClass::Truncated`] where a reply is awaited.
    pub fn end(&mut self) -> Result<(), ProtocolError> {
        let before = std::mem::replace(&mut self.state, State::Closed);
        if before == State::Closed || self.streams.is_empty() {
            return Ok(());
        }
        Err(ProtocolError::new(ErrorClass::Truncated, "the connection ended inside a reply"))
    }

    /// An orderly goodbye.
    pub fn close(&mut self, out: &mut Outgoing) {
        if self.state != State::Closed {
            out.close(ErrorCode::NoError);
            self.state = State::Closed;
        }
    }
}

impl Http3Client {
    fn on_reply<'a>(
        &mut self,
        stream: u64,
        input: &'a [u8],
        fin: bool,
        scratch: &'a mut Scratch,
        out: &mut Outgoing,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        let most = self.limits.max_field_section;
        let mut consumed = 0;
        // Who is not there was given up, and what comes of it was on its way.
        while let Some(exchange) = self.streams.get_mut(key(stream)) {
            // What the head of a reply to a call says beside its status is read each time.
            let is_known = !self.tells_heads && exchange.call.is_none();
            let known = is_known.then_some(&mut self.heads);
            let (behind, fields) = (exchange.status != 0, &mut scratch.fields);
            let tables = &mut self.tables;
            let read =
                |block: &[u8]| Heard::read(tables, stream, block, behind, most, known, fields);
            let (taken, came) = match exchange.incoming.take(&input[consumed..], read) {
                Ok(taken) => taken,
                Err(wrong) => return self.wrong(stream, wrong, input.len(), out),
            };
            consumed += taken;
            let is_end = fin && consumed == input.len() && exchange.incoming.is_between();
            match came {
                Some(Came::Fields(heard)) => match exchange.hear(heard, &scratch.fields) {
                    Ok(is_told) if is_told && self.tells_heads => {
                        let (tag, status) = (Tag::Number(exchange.number), exchange.status);
                        let told = ReplyHead::of_list(tag, status, &scratch.fields);
                        let event = if behind { Event::Trailers(told) } else { Event::Head(told) };
                        return Ok(Step { consumed, event: Some(event) });
                    }
                    Ok(_) => {}
                    Err(wrong) => return self.wrong(stream, wrong, input.len(), out),
                },
                Some(Came::Content(piece)) => {
                    let (tag, look) = (Tag::Number(exchange.number), exchange.take(piece, is_end));
                    let event = match look {
                        Err(wrong) => return self.wrong(stream, wrong, input.len(), out),
                        Ok(Look::Unpack) => match self.unpack(key(stream), piece, scratch) {
                            Err(bad) => return self.wrong(stream, bad.into(), input.len(), out),
                            Ok(()) if scratch.unpacked.is_empty() => continue,
                            Ok(()) => Some(Event::Chunk { tag, piece: &scratch.unpacked }),
                        },
                        Ok(Look::Tell) if is_end => self.replied(stream, piece, out),
                        // The status of a call is still to come.
                        Ok(_) => Some(Event::Chunk { tag, piece }),
                    };
                    return Ok(Step { consumed, event });
                }
                None if !fin => break,
                None => match exchange.end() {
                    Ok(()) => return Ok(Step { consumed, event: self.replied(stream, &[], out) }),
                    Err(wrong) => return self.wrong(stream, wrong, consumed, out),
                },
            }
        }
        Ok(Step { consumed: input.len(), event: None })
    }

    fn on_unidirectional(
        &mut self,
        stream: u64,
        input: &[u8],
        fin: bool,
        out: &mut Outgoing,
    ) -> Result<Option<Event<'static>>, Broken> {
        let mut input = input;
        while let Some(said) =
            self.unidirectional.receive(stream, input, fin, &mut self.tables, out)?
        {
            input = &[];
            match said {
                Said::Settings(settings) => {
                    self.peer = Some(settings);
                    if let Some(puts) = self.requests.iter().find_map(Http3Request::puts) {
                        self.tables.put(puts, settings, out);
                    }
                }
                Said::Leaving(first) => {
                    self.first_unprocessed = first;
                    self.state = State::Leaving;
                    if self.is_over() {
                        self.state = State::Closed;
                        return Ok(Some(Event::Leaving));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Has either side taken its leave, and is every stream over that the server goes on with?
    fn is_over(&self) -> bool {
        let first = key(self.first_unprocessed);
        let is_passed_over = |exchange: &Exchange| first != 0 && exchange.key >= first;
        self.state == State::Leaving && self.streams.iter().all(is_passed_over)
    }

    /// A message has failed for what came on its stream.
    fn failed(&mut self, tag: Tag, error: ProtocolError) -> Event<'static> {
        self.notice_end();
        Event::Failed { tag, error }
    }

    /// A message is over without a reply that could say that it is the last.
    fn notice_end(&mut self) {
        if self.is_over() {
            self.state = State::Left;
        }
    }

    /// The reply on this stream is complete.
    #[inline]
    fn replied<'a>(
        &mut self,
        stream: u64,
        payload: &'a [u8],
        out: &mut Outgoing,
    ) -> Option<Event<'a>> {
        let taken = self.streams.remove(key(stream), |it| {
            (Tag::Number(it.number), it.status, it.goes_on, it.call.take())
        });
        let (tag, status, goes_on, call) = taken?;
        if goes_on {
            // Who was answered before the end of what it says leaves the rest out.
            out.reset(stream, ErrorCode::NoError as u64);
        }
        self.refused = 0;
        let status = call.map_or(Some(status), |call| self.status_of(call));
        let Some(status) = status else {
            let detail = "a reply without the status of its call: no grpc-status in its trailers";
            let error = ProtocolError::new(ErrorClass::NoStatus, detail);
            return Some(self.failed(tag, error));
        };
        let last = self.is_over();
        if last {
            self.state = State::Closed;
        }
        Some(Event::Reply(Reply { tag, status, kind: MessageKind::Body, payload, last }))
    }
}
