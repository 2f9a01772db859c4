//! WebSockets on the streams of one connection (RFC 8441), the client's side.
//!
//! Knows which stream carries a message; must not know what a reply should have been, nor how bits lie
//! in a frame of either protocol.
//!
//! A stream is opened by CONNECT with a protocol, once the server has said that it takes that, and
//! carries one message at a time, so that its reply is that message's. One that ends is opened again.

mod endings;

use std::mem;
use std::sync::Arc;

use super::allowance::Http2Use;
use super::connection::{Broken, Connection, Happened, Http2Limits, Side};
use super::frame::{self, ErrorCode, PREFACE};
use super::request::Http2Connect;
use crate::fielded::inbound;
use crate::fielded::pool::Pool;
use crate::fielded::wire::{Said, Wire, closed_with};
use crate::websocket::{DeflateConfig, WebSocketConfig, judge_connected, refusal};
use crate::{
    ClientSession, Close, ErrorClass, Event, Message, ProtocolError, Reply, Scratch, Step, Tag,
};

const NOT_ENABLED: &str = "the server does not take WebSocket over HTTP/2 (it sends no SETTINGS_ENABLE_CONNECT_PROTOCOL): load it with --http 1.1";

/// The client's side of one connection, and of the WebSockets on it.
#[derive(Debug)]
pub struct Http2WebSockets {
    connection: Connection<Socket>,
    config: Arc<WebSocketConfig>,
    request: Arc<Http2Connect>,
    /// So many streams are to be open, if the server lets us.
    wanted: u32,
    state: State,
    /// The server has taken its leave: no more are asked for.
    is_left: bool,
    /// What masks are drawn from.
    seed: [u64; 2],
    pool: Pool<u32>,
    /// The piece of a stream's content that is being taken in.
    piece: Option<Piece>,
    /// When the server's settings came.
    settled: Option<u64>,
    /// For how long those were asked for that were accepted since it was last looked.
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
    /// None: it is not accepted.
    wire: Option<Box<Wire>>,
    /// The message whose reply is awaited on it.
    number: Option<u64>,
    /// When it was asked for.
    asked: u64,
}

/// A piece of content that is being taken in.
#[derive(Debug, Clone, Copy)]
struct Piece {
    stream: u32,
    /// What is left of it, bytes, and padding behind it.
    length: usize,
    padding: usize,
    /// Nothing comes behind it on its stream.
    is_end: bool,
}

impl Http2WebSockets {
    /// A session for a new connection with so many WebSockets. The configuration must be
    /// [valid](WebSocketConfig::validate), and be what `request` was made of. Masks come from `seed`: draw
    /// it from the operating system, for each connection anew.
    pub fn new(
        config: Arc<WebSocketConfig>,
        request: Arc<Http2Connect>,
        streams: u32,
        seed: [u64; 2],
        limits: Http2Limits,
    ) -> Self {
        Self {
            connection: Connection::new(Side::Client, limits),
            config,
            request,
            wanted: streams.max(1),
            state: State::Opening,
            is_left: false,
            seed,
            pool: Pool::default(),
            piece: None,
            settled: None,
            upgrades: Vec::new(),
            block: Vec::new(),
        }
    }

    /// As [`Http2Client::came_at`](super::Http2Client::came_at).
    #[inline]
    pub fn came_at(&mut self, now: u64) {
        self.connection.came_at(now);
    }

    /// As [`Http2Client::take_use`](super::Http2Client::take_use).
    #[inline]
    pub fn take_use(&mut self) -> Option<Http2Use> {
        self.connection.take_use()
    }

    /// As [`Http2Client::settle`](super::Http2Client::settle).
    pub fn settle(&mut self) {
        self.connection.settle();
    }

    /// When the server's settings came, an instant as [`came_at`](Self::came_at) has it; none before.
    pub fn settled_at(&self) -> Option<u64> {
        self.settled
    }

    /// For how long each WebSocket was asked for that was accepted since this was last called, nanoseconds.
    pub fn take_upgrades(&mut self) -> Vec<u64> {
        mem::take(&mut self.upgrades)
    }

    /// What was agreed on for the compression of messages, on one of the streams; none without.
    pub fn deflate(&self) -> Option<&DeflateConfig> {
        self.connection.messages().find_map(|socket| socket.wire.as_ref()?.deflate())
    }

    /// Streams that the server lets be open at once.
    pub fn allowed(&self) -> u32 {
        self.connection.peer.max_concurrent_streams
    }
}

impl ClientSession for Http2WebSockets {
    fn start(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(PREFACE);
        self.connection.start(out);
    }

    fn is_open(&self) -> bool {
        self.state == State::Open
    }

    fn room(&self) -> u32 {
        if self.state == State::Leaving { 0 } else { self.pool.accepted() }
    }

    #[inline]
    fn encode(&mut self, message: &Message<'_>, out: &mut Vec<u8>) {
        let Some(id) = self.pool.next() else { return };
        let Some(stream) = self.connection.stream(id) else { return };
        let Socket { wire: Some(wire), number, .. } = &mut stream.heard.message else { return };
        *number = Some(message.number);
        self.block.clear();
        wire.message(self.config.kind, message.payload, &mut self.block);
        self.connection.send(id, &self.block, false, out);
    }

    fn receive<'a>(
        &mut self,
        input: &'a [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        let mut consumed = 0;
        loop {
            if self.state == State::Closed {
                return Ok(Step { consumed: input.len(), event: None });
            }
            if let Some(mut piece) = self.piece.take() {
                let bytes = &input[consumed..consumed + piece.length];
                let said = self.hear(piece.stream, bytes, scratch, out);
                let (taken, said) = said.unwrap_or((bytes.len(), Said::Nothing));
                let begin = consumed;
                consumed += taken;
                piece.length -= taken;
                let Piece { stream, padding, is_end, .. } = piece;
                match said {
                    Said::Nothing => consumed += padding,
                    _ => self.piece = Some(piece),
                }
                let event = match said {
                    Said::Nothing if is_end => self.ended(stream, out)?,
                    Said::Nothing => None,
                    Said::Piece(at) => {
                        let tag = Tag::Number(self.asked(stream)?);
                        let piece = at.of(&input[begin..], scratch);
                        return Ok(Step { consumed, event: Some(Event::Chunk { tag, piece }) });
                    }
                    Said::Message(kind, at) => {
                        let tag = Tag::Number(self.replied(stream)?);
                        let payload = at.of(&input[begin..], scratch);
                        let reply = Reply { tag, status: 0, kind, payload, last: false };
                        return Ok(Step { consumed, event: Some(Event::Reply(reply)) });
                    }
                    Said::Close(Close { code }) => {
                        let error = ProtocolError::new(ErrorClass::Closed, closed_with(code));
                        self.fail(stream, ErrorCode::NoError, error, out)?
                    }
                    Said::Wrong(error) => self.fail(stream, ErrorCode::Cancel, error, out)?,
                };
                if event.is_some() {
                    return Ok(Step { consumed, event });
                }
                continue;
            }
            if let Some(event) = self.left(out) {
                return Ok(Step { consumed, event: Some(event) });
            }
            let read = self.connection.read(&input[consumed..], &mut scratch.fields, out);
            let step = read.map_err(|why| self.broken(why, out))?;
            consumed += step.consumed;
            let event = match step.event {
                None => return Ok(Step { consumed, event: None }),
                Some(Happened::Content { id, piece, padding, is_end }) => {
                    let length = piece.len();
                    // It is taken in from where it stands.
                    consumed -= length + padding;
                    self.piece = Some(Piece { stream: id, length, padding, is_end });
                    None
                }
                Some(Happened::Fields { id, is_end }) => self.fields(id, is_end, scratch, out)?,
                Some(Happened::Wrong { id, code, detail }) => {
                    let error = ProtocolError::new(ErrorClass::Protocol, detail);
                    self.fail(id, code, error, out)?
                }
                Some(Happened::Reset { id, code }) => self.reset(id, code, out)?,
                Some(Happened::Settled) if !self.connection.peer.enable_connect => {
                    self.close(out);
                    return Err(ProtocolError::new(ErrorClass::Upgrade, NOT_ENABLED));
                }
                Some(Happened::Settled | Happened::Room) => {
                    self.settled.get_or_insert(self.connection.now());
                    self.open(out);
                    None
                }
                Some(Happened::Again { .. }) => None, // Nobody asked to be told so.
                Some(Happened::Leaving) => {
                    if self.state == State::Open && !self.is_left {
                        self.state = State::Leaving;
                    }
                    self.is_left = true;
                    None
                }
            };
            if event.is_some() {
                return Ok(Step { consumed, event });
            }
        }
    }

    fn cancel(&mut self, number: u64, out: &mut Vec<u8>) -> bool {
        let found = self.connection.find(|socket| socket.number == Some(number));
        let Some(id) = found.filter(|_| self.connection.may_give_up()) else { return false };
        self.connection.give_up(id, ErrorCode::Cancel, out);
        self.lost(id, out);
        true
    }

    fn has_left(&self) -> bool {
        let is_leaving = self.state == State::Leaving;
        let may_leave = is_leaving || (self.is_left && self.state != State::Closed);
        may_leave && self.connection.is_done_but_for(|it| is_leaving && it.number.is_none())
    }

    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError> {
        let detail = match mem::replace(&mut self.state, State::Closed) {
            State::Closed => return Ok(None),
            State::Opening => "the connection ended before the upgrade",
            State::Open | State::Leaving => "the connection ended without a close frame",
        };
        Err(ProtocolError::new(ErrorClass::Truncated, detail))
    }

    /// Every WebSocket is closed in its own way, and the connection behind them.
    fn close(&mut self, out: &mut Vec<u8>) {
        if self.state == State::Closed {
            return;
        }
        let all: Vec<u32> = self.connection.each().collect();
        for id in all {
            self.block.clear();
            let wire = self.connection.stream(id).and_then(|it| it.heard.message.wire.as_mut());
            if let Some(wire) = wire {
                wire.close(&mut self.block);
                self.connection.send(id, &self.block, true, out);
            }
        }
        frame::write_goaway(0, ErrorCode::NoError, out);
        self.state = State::Closed;
    }
}

impl Http2WebSockets {
    /// Asks for as many WebSockets as are missing, as far as the server lets us.
    fn open(&mut self, out: &mut Vec<u8>) {
        if self.is_left || !matches!(self.state, State::Opening | State::Open) {
            return;
        }
        let most = self.wanted.min(self.connection.peer.max_concurrent_streams) as usize;
        let frame_size = self.connection.peer.max_frame as usize;
        while self.connection.open_streams() < most {
            self.block.clear();
            self.connection.begin_block(&mut self.block);
            self.request.write(&mut self.block);
            let socket = Socket { asked: self.connection.now(), ..Socket::default() };
            let Some(id) = self.connection.open(socket) else { return };
            frame::write_block(id, 0, &self.block, frame_size, out);
            // As with requests, half of the numbers are enough for one connection.
            if id > frame::WIDEST / 2 {
                self.state = State::Leaving;
                return;
            }
        }
    }

    /// Takes in what came on a stream. None: it is none any more.
    fn hear(
        &mut self,
        id: u32,
        bytes: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Option<(usize, Said)> {
        let wire = self.connection.stream(id)?.heard.message.wire.as_mut()?;
        self.block.clear();
        let (taken, said) = wire.hear(bytes, scratch, &mut self.block);
        if !self.block.is_empty() {
            // With its close frame a WebSocket is over from our side.
            let is_end = matches!(said, Said::Close(_) | Said::Wrong(_));
            self.connection.send(id, &self.block, is_end, out);
        }
        Some((taken, said))
    }

    /// The message that something of a reply belongs to.
    fn asked(&mut self, id: u32) -> Result<u64, ProtocolError> {
        let number = self.connection.stream(id).and_then(|stream| stream.heard.message.number);
        number.ok_or(ProtocolError::new(
            ErrorClass::Protocol,
            "a message came that no request asked for",
        ))
    }

    /// Its reply is whole: the stream is free.
    fn replied(&mut self, id: u32) -> Result<u64, ProtocolError> {
        let number = self.asked(id)?;
        if let Some(stream) = self.connection.stream(id) {
            stream.heard.message.number = None;
        }
        self.pool.replied(id);
        if self.is_left {
            self.state = State::Leaving;
        }
        Ok(number)
    }

    /// Fields came: whether a WebSocket is accepted, or what ends one.
    fn fields(
        &mut self,
        id: u32,
        is_end: bool,
        scratch: &Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        let Some(stream) = self.connection.stream(id) else { return Ok(None) };
        let wrong = if stream.heard.has_head {
            match inbound::trailers(&scratch.fields) {
                Ok(()) if is_end => return self.ended(id, out),
                Ok(()) => "fields inside a WebSocket",
                Err(malformed) => malformed.0,
            }
        } else {
            match inbound::response(&scratch.fields).map(|response| response.status) {
                Ok(200..300) => "",
                Ok(101) => "HTTP/2 has no 101",
                Ok(100..200) if !is_end => return Ok(None),
                Ok(status) => return Err(self.given_up(refusal(status), out)),
                Err(malformed) => malformed.0,
            }
        };
        if !wrong.is_empty() {
            let error = ProtocolError::new(ErrorClass::Protocol, wrong);
            return self.fail(id, ErrorCode::ProtocolError, error, out);
        }
        let judged = judge_connected(&scratch.fields, &self.config);
        let deflate = judged.map_err(|error| self.given_up(error, out))?;
        self.seed[0] = self.seed[0].wrapping_add(1);
        let wire = Wire::new(Arc::clone(&self.config), self.seed, deflate);
        let now = self.connection.now();
        let Some(stream) = self.connection.stream(id) else { return Ok(None) };
        stream.heard.has_head = true;
        stream.heard.message.wire = Some(Box::new(wire));
        self.upgrades.push(now - stream.heard.message.asked);
        self.pool.accept(id);
        if is_end {
            return self.ended(id, out);
        }
        if self.state != State::Opening {
            return Ok(Some(Event::Room));
        }
        if (self.pool.accepted() as usize) < self.connection.open_streams() {
            return Ok(None);
        }
        self.state = State::Open;
        Ok(Some(Event::Open))
    }

    /// What is to be told where the server has left: that those stand which it goes on with, or that nothing is awaited
    /// any more.
    fn left(&mut self, out: &mut Vec<u8>) -> Option<Event<'static>> {
        if self.has_left() {
            self.close(out);
            return Some(Event::Leaving);
        }
        // Answers that it still gives are awaited, as those to requests are; what stands then carries a message each.
        let stand = self.is_left
            && self.state == State::Opening
            && self.connection.is_done_but_for(|socket| socket.wire.is_some());
        if stand {
            self.state = State::Open;
        }
        stand.then_some(Event::Open)
    }

    /// The connection is of no use.
    #[cold]
    fn given_up(&mut self, error: ProtocolError, out: &mut Vec<u8>) -> ProtocolError {
        self.close(out);
        error
    }

    #[cold]
    fn broken(&mut self, why: Broken, out: &mut Vec<u8>) -> ProtocolError {
        frame::write_goaway(0, why.code, out);
        self.state = State::Closed;
        ProtocolError::new(why.class, why.detail)
    }
}
