//! WebSockets on the streams of one connection (RFC 9220), the client's side.
//!
//! Knows which stream carries a message; must not know what a reply should have been, nor how bits lie
//! in a frame of either protocol.
//!
//! A stream is opened by CONNECT with a protocol, once the server has said that it takes that, and
//! carries one message at a time, so that its reply is that message's. One that ends is opened again.

mod accepting;
mod endings;

use std::mem;
use std::sync::Arc;

use super::broken::Broken;
use super::client::CONTROL;
use super::control::Said;
use super::frame::{self, ErrorCode};
use super::incoming::{Came, Incoming};
use super::numbers::{self, key};
use super::outgoing::Outgoing;
use super::replied::Heard;
use super::request::Http3Connect;
use super::settings::{Http3Limits, Settings};
use super::tables::Tables;
use super::unidirectional::Unidirectional;
use super::wrong::Wrong;
use crate::fielded::pool::Pool;
use crate::fielded::wire::{Said as Told, Wire, closed_with};
use crate::streams::{Identified, Streams};
use crate::websocket::{DeflateConfig, WebSocketConfig};
use crate::{Close, ErrorClass, Event, Message, ProtocolError, Reply, Scratch, Step, Tag};

const NOT_ENABLED: &str = "the server does not take WebSocket over HTTP/3 (it sends no SETTINGS_ENABLE_CONNECT_PROTOCOL): load it with --http 1.1";

/// The client's side of one connection, and of the WebSockets on it. As
/// [`Http3Client`](super::Http3Client) it is told what came on each stream, and leaves what is to be
/// done in an [`Outgoing`].
#[derive(Debug)]
pub struct Http3WebSockets {
    config: Arc<WebSocketConfig>,
    request: Arc<Http3Connect>,
    limits: Http3Limits,
    /// So many streams are to be open, if the server lets us.
    wanted: u32,
    state: State,
    unidirectional: Unidirectional,
    tables: Tables,
    /// The server has said that it takes them.
    is_enabled: bool,
    sockets: Streams<Socket>,
    /// Streams that were opened.
    opened: u64,
    /// Streams that the server lets be opened in all.
    allowed: u64,
    /// No stream from this one on was processed, as the server said.
    first_unprocessed: u64,
    /// What masks are drawn from.
    seed: [u64; 2],
    pool: Pool<u64>,
    /// So much of the content that comes is still to be taken in.
    piece: usize,
    /// The present, nanoseconds, and for how long WebSockets were asked for that were accepted.
    now: u64,
    upgrades: Vec<u64>,
    /// Where frames are made.
    block: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The server's settings have not come, or not every stream was accepted.
    Opening,
    /// All stand. Where the server had taken its leave by then, this ends with the first reply.
    Open,
    /// No message follows; those that are in flight still have their replies.
    Leaving,
    Closed,
}

/// A stream, as far as this side is concerned.
#[derive(Debug, Default)]
struct Socket {
    /// See [`key`]; 0: none is here.
    key: u32,
    /// None: it is not accepted.
    wire: Option<Box<Wire>>,
    /// The message whose reply is awaited on it.
    number: Option<u64>,
    /// When it was asked for.
    asked: u64,
    incoming: Incoming,
}

impl Identified for Socket {
    #[inline]
    fn id(&self) -> u32 {
        self.key
    }

    fn vacate(&mut self) {
        *self = Self::default();
    }
}

impl Http3WebSockets {
    /// A session for a new connection with so many WebSockets. The configuration must be
    /// [valid](WebSocketConfig::validate), and be what `request` was made of. Masks come from `seed`: draw
    /// it from the operating system, for each connection anew.
    pub fn new(
        config: Arc<WebSocketConfig>,
        request: Arc<Http3Connect>,
        streams: u32,
        seed: [u64; 2],
        limits: Http3Limits,
    ) -> Self {
        Self {
            config,
            request,
            limits,
            wanted: streams.max(1),
            state: State::Opening,
            unidirectional: Unidirectional::new(true),
            tables: Tables::new(CONTROL, limits.table),
            is_enabled: false,
            sockets: Streams::default(),
            opened: 0,
            allowed: 0,
            first_unprocessed: u64::MAX,
            seed,
            pool: Pool::default(),
            piece: 0,
            now: 0,
            upgrades: Vec::new(),
            block: Vec::new(),
        }
    }

    /// What opens the conversation.
    pub fn start(&mut self, out: &mut Outgoing) {
        Settings::of(self.limits).open(CONTROL, out);
        self.tables.open(out);
    }

    /// May messages be sent? There must be [room](Self::room), too.
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
        let is_leaving = self.state == State::Leaving;
        let may_leave = is_leaving || (self.is_left() && self.state != State::Closed);
        may_leave && self.is_done_but_for(|socket| is_leaving && socket.number.is_none())
    }

    /// How many messages may be in flight at once.
    pub fn room(&self) -> u32 {
        if self.state == State::Leaving { 0 } else { self.pool.accepted() }
    }

    /// As [`Http3Client::allow`](super::Http3Client::allow); WebSockets that were missing are asked for.
    pub fn allow(&mut self, streams: u64, out: &mut Outgoing) {
        self.allowed = self.allowed.max(streams);
        self.open(out);
    }

    /// What was agreed on for the compression of messages, on one of the streams; none without.
    pub fn deflate(&self) -> Option<&DeflateConfig> {
        self.sockets.iter().find_map(|socket| socket.wire.as_ref()?.deflate())
    }

    /// Sends one message. Requires [`is_open`](Self::is_open) and [room](Self::room).
    #[inline]
    pub fn encode(&mut self, message: &Message<'_>, out: &mut Outgoing) {
        let Some(stream) = self.pool.next() else { return };
        let Some(socket) = self.sockets.get_mut(key(stream)) else { return };
        let Socket { wire: Some(wire), number, .. } = socket else { return };
        *number = Some(message.number);
        self.block.clear();
        wire.message(self.config.kind, message.payload, &mut self.block);
        say(stream, &self.block, false, out);
    }

    /// As [`Http3Client::receive`](super::Http3Client::receive).
    ///
    /// # Errors
    /// The server broke the rules, or takes no WebSockets, and `out` closes the connection.
    pub fn receive<'a>(
        &mut self,
        stream: u64,
        input: &'a [u8],
        fin: bool,
        scratch: &'a mut Scratch,
        out: &mut Outgoing,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        let whole = input.len();
        if self.state == State::Closed {
            return Ok(Step { consumed: whole, event: None });
        }
        match stream & 3 {
            0 => {
                let step = self.on_stream(stream, input, fin, scratch, out)?;
                self.tables.tell(out);
                Ok(step)
            }
            1 => Err(self.broken(ErrorCode::StreamCreationError.into(), out)),
            3 => {
                let event = self.on_unidirectional(stream, input, fin, out)?;
                Ok(Step { consumed: whole, event })
            }
            _ => Ok(Step { consumed: whole, event: None }),
        }
    }

    /// As [`Http3Client::reset`](super::Http3Client::reset).
    ///
    /// # Errors
    /// The connection needs this stream, or the server takes no WebSockets, and `out` closes it.
    pub fn reset(
        &mut self,
        stream: u64,
        code: u64,
        out: &mut Outgoing,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        if self.state == State::Closed {
            return Ok(None);
        }
        if stream & 3 == 3 {
            let kept = self.unidirectional.reset(stream);
            return kept.map(|()| None).map_err(|why| self.broken(why, out));
        }
        self.given_back(stream, ErrorCode::of(code), out)
    }

    /// As [`Http3Client::stop_sending`](super::Http3Client::stop_sending); the WebSocket is over.
    ///
    /// # Errors
    /// As [`reset`](Self::reset).
    pub fn stop_sending(
        &mut self,
        stream: u64,
        code: u64,
        out: &mut Outgoing,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        if self.state == State::Closed {
            return Ok(None);
        }
        if numbers::is_one_way(stream) {
            return Err(self.broken(ErrorCode::ClosedCriticalStream.into(), out));
        }
        if self.sockets.get(key(stream)).is_some() {
            out.stop(stream, ErrorCode::RequestCancelled);
        }
        self.reset(stream, code, out)
    }

    /// As [`Http3Client::cancel`](super::Http3Client::cancel); the WebSocket is opened anew.
    pub fn cancel(&mut self, number: u64, out: &mut Outgoing) -> bool {
        let found = self.sockets.iter().find(|socket| socket.number == Some(number));
        let Some(key) = found.map(|socket| socket.key) else { return false };
        self.sockets.remove(key, |_| ());
        let stream = numbers::stream(key);
        out.reset(stream, ErrorCode::RequestCancelled as u64);
        out.stop(stream, ErrorCode::RequestCancelled);
        self.tables.cancel(stream, out);
        self.lost(stream, out);
        true
    }

    /// As [`Http3Client::end`](super::Http3Client::end).
    ///
    /// # Errors
    /// [`ErrorClass::Truncated`]: a WebSocket is closed before its connection.
    pub fn end(&mut self) -> Result<(), ProtocolError> {
        let detail = match mem::replace(&mut self.state, State::Closed) {
            State::Closed => return Ok(()),
            State::Opening => "the connection ended before the upgrade",
            State::Open | State::Leaving => "the connection ended without a close frame",
        };
        Err(ProtocolError::new(ErrorClass::Truncated, detail))
    }

    /// Every WebSocket is closed in its own way. The connection may be, once what was said has gone.
    pub fn close(&mut self, out: &mut Outgoing) {
        if self.state == State::Closed {
            return;
        }
        let mut all: Vec<_> = self.sockets.iter().map(|socket| socket.key).collect();
        all.sort_unstable();
        for key in all {
            self.block.clear();
            let socket = self.sockets.get_mut(key);
            if let Some(wire) = socket.and_then(|socket| socket.wire.as_mut()) {
                wire.close(&mut self.block);
                say(numbers::stream(key), &self.block, true, out);
            }
        }
        self.state = State::Closed;
    }
}

impl Http3WebSockets {
    fn on_unidirectional(
        &mut self,
        stream: u64,
        input: &[u8],
        fin: bool,
        out: &mut Outgoing,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        let mut input = input;
        loop {
            let said = self.unidirectional.receive(stream, input, fin, &mut self.tables, out);
            match said.map_err(|why| self.broken(why, out))? {
                None => return Ok(None),
                Some(Said::Settings(settings)) if !settings.enable_connect => {
                    let error = ProtocolError::new(ErrorClass::Upgrade, NOT_ENABLED);
                    return Err(self.given_up(error, out));
                }
                Some(Said::Settings(_)) => {
                    self.is_enabled = true;
                    self.open(out);
                }
                Some(Said::Leaving(first)) => {
                    if self.state == State::Open && !self.is_left() {
                        self.state = State::Leaving;
                    }
                    self.first_unprocessed = first;
                    if let Some(event) = self.left(out) {
                        return Ok(Some(event));
                    }
                }
            }
            input = &[];
        }
    }

    fn on_stream<'a>(
        &mut self,
        stream: u64,
        input: &'a [u8],
        fin: bool,
        scratch: &'a mut Scratch,
        out: &mut Outgoing,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        let most = self.limits.max_field_section;
        let mut consumed = 0;
        loop {
            if let Some(event) = self.left(out) {
                return Ok(Step { consumed, event: Some(event) });
            }
            let Some(socket) = self.sockets.get_mut(key(stream)) else {
                self.piece = 0;
                return Ok(Step { consumed: input.len(), event: None });
            };
            let event = if self.piece > 0 {
                let begin = consumed;
                let (taken, told) =
                    self.hear(stream, &input[begin..begin + self.piece], scratch, out);
                consumed += taken;
                self.piece -= taken;
                match told {
                    Told::Nothing => None,
                    Told::Piece(at) => {
                        let tag = Tag::Number(self.asked(stream, out)?);
                        let piece = at.of(&input[begin..], scratch);
                        return Ok(Step { consumed, event: Some(Event::Chunk { tag, piece }) });
                    }
                    Told::Message(kind, at) => {
                        let tag = Tag::Number(self.replied(stream, out)?);
                        let payload = at.of(&input[begin..], scratch);
                        let reply = Reply { tag, status: 0, kind, payload, last: false };
                        return Ok(Step { consumed, event: Some(Event::Reply(reply)) });
                    }
                    Told::Close(Close { code }) => {
                        let error = ProtocolError::new(ErrorClass::Closed, closed_with(code));
                        self.fail(stream, ErrorCode::NoError, error, out)?
                    }
                    Told::Wrong(error) => {
                        self.fail(stream, ErrorCode::RequestCancelled, error, out)?
                    }
                }
            } else {
                let (behind, fields) = (socket.wire.is_some(), &mut scratch.fields);
                let tables = &mut self.tables;
                let read =
                    |block: &[u8]| Heard::read(tables, stream, block, behind, most, None, fields);
                match socket.incoming.take(&input[consumed..], read) {
                    Ok((taken, Some(Came::Content(piece)))) => {
                        // It is taken in from where it stands.
                        self.piece = piece.len();
                        consumed += taken - piece.len();
                        None
                    }
                    Ok((taken, Some(Came::Fields(heard)))) => {
                        consumed += taken;
                        self.fields(stream, heard, scratch, out)?
                    }
                    Ok((_, None)) if fin => {
                        let ended = socket.incoming.end();
                        consumed = input.len();
                        match ended {
                            Err(Wrong::Broken(code)) => return Err(self.broken(code.into(), out)),
                            _ => self.ended(stream, out)?,
                        }
                    }
                    Ok((_, None)) => return Ok(Step { consumed: input.len(), event: None }),
                    Err(wrong) => self.wrong(stream, wrong, out)?,
                }
            };
            if event.is_some() {
                return Ok(Step { consumed, event });
            }
        }
    }

    /// Takes in content that came on a stream.
    fn hear(
        &mut self,
        stream: u64,
        bytes: &[u8],
        scratch: &mut Scratch,
        out: &mut Outgoing,
    ) -> (usize, Told) {
        let socket = self.sockets.get_mut(key(stream));
        let Some(wire) = socket.and_then(|socket| socket.wire.as_mut()) else {
            return (bytes.len(), Told::Nothing);
        };
        self.block.clear();
        let (taken, told) = wire.hear(bytes, scratch, &mut self.block);
        if !self.block.is_empty() {
            // With its close frame a WebSocket is over from our side.
            let is_end = matches!(told, Told::Close(_) | Told::Wrong(_));
            say(stream, &self.block, is_end, out);
        }
        (taken, told)
    }

    /// The message that something of a reply belongs to.
    fn asked(&mut self, stream: u64, out: &mut Outgoing) -> Result<u64, ProtocolError> {
        let number = self.sockets.get(key(stream)).and_then(|socket| socket.number);
        number.ok_or_else(|| {
            let detail = "a message came that no request asked for";
            self.given_up(ProtocolError::new(ErrorClass::Protocol, detail), out)
        })
    }

    /// Its reply is whole: the stream is free.
    fn replied(&mut self, stream: u64, out: &mut Outgoing) -> Result<u64, ProtocolError> {
        let number = self.asked(stream, out)?;
        if let Some(socket) = self.sockets.get_mut(key(stream)) {
            socket.number = None;
        }
        self.pool.replied(stream);
        if self.is_left() {
            self.state = State::Leaving;
        }
        Ok(number)
    }

    /// The connection is of no use.
    #[cold]
    fn given_up(&mut self, error: ProtocolError, out: &mut Outgoing) -> ProtocolError {
        self.close(out);
        out.close(ErrorCode::NoError);
        error
    }

    #[cold]
    fn broken(&mut self, why: Broken, out: &mut Outgoing) -> ProtocolError {
        self.state = State::Closed;
        why.tell(out)
    }
}

/// Content of a stream.
fn say(stream: u64, bytes: &[u8], is_end: bool, out: &mut Outgoing) {
    out.write(stream, is_end, |to| {
        if !bytes.is_empty() {
            frame::write_data_head(bytes.len() as u64, to);
            to.extend_from_slice(bytes);
        }
    });
}
