//! The client's side of a WebSocket connection.
//!
//! Knows the order upgrade, messages, close; must not know sockets or how bits lie in a frame.

use std::sync::Arc;

use super::close::{self, Body};
use super::config::WebSocketConfig;
use super::deflate::{Deflate, DeflateConfig};
use super::frame::{self, Header, Opcode, Sender};
use super::handshake::{self, Answer, Expected};
use super::message::Incoming;
use super::random::Random;
use crate::{
    ClientSession, Close, ErrorClass, Event, Message, MessageKind, Pieces, ProtocolError, Reply,
    Scratch, Step, Tag,
};

/// A WebSocket client (RFC 6455), with permessage-deflate (RFC 7692) where it is asked for.
///
/// Requests are whole messages in one frame, each under a fresh mask. Pings are answered and,
/// like pongs, are not reported. Of a reply only its state is kept, never its payload.
#[derive(Debug)]
pub struct WebSocketClient {
    config: Arc<WebSocketConfig>,
    random: Random,
    message: Incoming,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The upgrade was not asked for yet.
    New,
    /// Boxed: a million open connections need not carry what only the first moment needs.
    Upgrading(Box<Expected>),
    /// With the compression that was agreed on: boxed, because most connections are without.
    Open(Option<Box<Deflate>>),
    /// Our close frame went out, the peer's did not come yet.
    Closing(Option<Box<Deflate>>),
    /// Closed by the peer's close frame or by an error. Whatever follows is ignored.
    Closed,
    /// The upgrade was answered with this status.
    Refused(u16),
}

impl State {
    fn deflate(&mut self) -> Option<&mut Deflate> {
        match self {
            Self::Open(deflate) | Self::Closing(deflate) => deflate.as_deref_mut(),
            _ => None,
        }
    }
}

impl WebSocketClient {
    /// A client for one connection.
    ///
    /// The configuration must be [valid](WebSocketConfig::validate). Masks and the handshake's
    /// key come from `seed`: draw it from the operating system, for each connection anew.
    pub fn new(config: Arc<WebSocketConfig>, seed: [u64; 2]) -> Self {
        Self { config, random: Random::new(seed), message: Incoming::NONE, state: State::New }
    }

    /// A client that stands from the start, because what carries it has agreed on all.
    pub(crate) fn opened(
        config: Arc<WebSocketConfig>,
        seed: [u64; 2],
        deflate: Option<DeflateConfig>,
    ) -> Self {
        let state = State::Open(deflate.map(Deflate::of_client));
        Self { config, random: Random::new(seed), message: Incoming::NONE, state }
    }

    /// The HTTP status with which the server refused the upgrade, if it did.
    pub fn upgrade_status(&self) -> Option<u16> {
        match self.state {
            State::Refused(status) => Some(status),
            _ => None,
        }
    }

    /// Appends one whole message of this kind, whichever the configuration names. Requires
    /// [`is_open`](ClientSession::is_open).
    #[inline]
    pub fn message(&mut self, kind: MessageKind, payload: &[u8], out: &mut Vec<u8>) {
        debug_assert!(self.is_open(), "a message needs an open conversation");
        let (opcode, mask) = (Opcode::of(kind), self.random.mask());
        match &mut self.state {
            State::Open(Some(deflate)) => {
                deflate.append_message(opcode, payload, Some(mask), out);
            }
            _ => frame::append_masked(opcode, payload, mask, out),
        }
    }

    /// What was agreed on for the compression of messages; none without, and while none are passed.
    pub fn deflate(&self) -> Option<&DeflateConfig> {
        match &self.state {
            State::Open(Some(deflate)) | State::Closing(Some(deflate)) => Some(&deflate.agreed),
            _ => None,
        }
    }

    fn upgrade<'a>(&mut self, input: &'a [u8]) -> Result<Step<Event<'a>>, ProtocolError> {
        let State::Upgrading(expected) = &mut self.state else { return Ok(waits(0)) };
        match expected.read(input, &self.config) {
            Ok(Answer::Incomplete { consumed }) => Ok(waits(consumed)),
            Ok(Answer::Upgraded { consumed, deflate }) => {
                self.state = State::Open(deflate.map(Deflate::of_client));
                Ok(Step { consumed, event: Some(Event::Open) })
            }
            Ok(Answer::Refused { status }) => {
                self.state = State::Refused(status);
                Err(handshake::refusal(status))
            }
            Err(error) => {
                self.state = State::Closed;
                Err(error)
            }
        }
    }

    #[inline]
    fn frames<'a>(
        &mut self,
        input: &'a [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        let mut offset = 0;
        loop {
            if !self.message.expects_payload() {
                let inside = self.message.is_under_way();
                let deflate = matches!(self.state, State::Open(Some(_)) | State::Closing(Some(_)));
                let header = Header::read(&input[offset..], Sender::Server, inside, deflate)?;
                let Some(header) = header else { return Ok(waits(offset)) };
                let start = offset + header.size;
                if header.opcode.is_control() {
                    // At most 125 bytes: like a header, a control frame waits until it is whole.
                    let end = start + header.length as usize;
                    let Some(payload) = input.get(start..end) else { return Ok(waits(offset)) };
                    offset = end;
                    if let Some(close) = self.control(header.opcode, payload, out)? {
                        return Ok(Step { consumed: offset, event: Some(Event::Close(close)) });
                    }
                    continue;
                }
                offset = start;
                self.message.begin_frame(&header, self.config.max_message)?;
            }
            if self.message.is_compressed() {
                let (taken, given) = self.inflate(&input[offset..], scratch)?;
                offset += taken;
                if self.message.is_complete() {
                    let kind = self.finish_compressed()?;
                    let payload = &scratch.buffer()[..given];
                    let reply = Reply { tag: Tag::Oldest, status: 0, kind, payload, last: false };
                    return Ok(Step { consumed: offset, event: Some(Event::Reply(reply)) });
                }
                if given > 0 {
                    let piece = &scratch.buffer()[..given];
                    let event = Event::Chunk { tag: Tag::Oldest, piece };
                    return Ok(Step { consumed: offset, event: Some(event) });
                }
                if offset == input.len() && !self.message.is_held_back() {
                    return Ok(waits(offset));
                }
                continue;
            }
            let taken = self.message.take(input.len() - offset);
            let payload = &input[offset..offset + taken];
            offset += taken;
            self.message.check(payload)?;
            if self.message.is_complete() {
                let kind = self.message.finish()?;
                let reply = Reply { tag: Tag::Oldest, status: 0, kind, payload, last: false };
                return Ok(Step { consumed: offset, event: Some(Event::Reply(reply)) });
            }
            if taken > 0 {
                let event = Event::Chunk { tag: Tag::Oldest, piece: payload };
                return Ok(Step { consumed: offset, event: Some(event) });
            }
            if self.message.expects_payload() {
                return Ok(waits(offset));
            }
        }
    }

    /// Takes bytes of a compressed message, and says how many and how many came of them. Apart, so
    /// that messages as they are do not pay for it.
    #[cold]
    fn inflate(
        &mut self,
        input: &[u8],
        scratch: &mut Scratch,
    ) -> Result<(usize, usize), ProtocolError> {
        let Some(deflate) = self.state.deflate() else { return Ok((0, 0)) };
        let payload = &input[..self.message.available(input.len())];
        deflate.inflater.step(payload, scratch, &mut self.message, self.config.max_message)
    }

    #[cold]
    fn finish_compressed(&mut self) -> Result<MessageKind, ProtocolError> {
        match self.state.deflate() {
            Some(deflate) => deflate.inflater.finish(&mut self.message),
            None => self.message.finish(),
        }
    }

    fn control(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Close>, ProtocolError> {
        match opcode {
            Opcode::Ping => {
                frame::append_masked(Opcode::Pong, payload, self.random.mask(), out);
                Ok(None)
            }
            Opcode::Close => {
                let code = close::read(payload)?;
                self.say_goodbye(code, out);
                self.state = State::Closed;
                Ok(Some(Close { code }))
            }
            _ => Ok(None),
        }
    }

    /// Appends a close frame, unless one went out already.
    fn say_goodbye(&mut self, code: u16, out: &mut Vec<u8>) {
        if self.is_open() {
            let body = Body::new(code, "");
            frame::append_masked(Opcode::Close, body.as_bytes(), self.random.mask(), out);
        }
    }

    #[cold]
    fn fail(&mut self, error: ProtocolError, out: &mut Vec<u8>) -> ProtocolError {
        self.say_goodbye(close::code_for(error.class), out);
        self.state = State::Closed;
        error
    }
}

impl ClientSession for WebSocketClient {
    fn start(&mut self, out: &mut Vec<u8>) {
        let key = handshake::key(self.random.nonce());
        handshake::append_request(&self.config, &key, out);
        self.state = State::Upgrading(Box::new(Expected::new(&key)));
    }

    #[inline]
    fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    #[inline]
    fn encode(&mut self, message: &Message<'_>, out: &mut Vec<u8>) {
        self.message(self.config.kind, message.payload, out);
    }

    fn begin(&mut self, _route: usize, length: u64, out: &mut Vec<u8>) -> Option<Pieces> {
        let State::Open(None) = self.state else { return None };
        let mask = self.random.mask();
        frame::append_masked_header(Opcode::of(self.config.kind), length, mask, out);
        Some(Pieces { mask: Some(mask) })
    }

    #[inline]
    fn receive<'a>(
        &mut self,
        input: &'a [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        match self.state {
            State::Open(_) | State::Closing(_) => {
                self.frames(input, scratch, out).map_err(|error| self.fail(error, out))
            }
            State::New | State::Upgrading(_) => self.upgrade(input),
            State::Closed | State::Refused(_) => Ok(waits(input.len())),
        }
    }

    #[inline]
    fn replies(
        &mut self,
        input: &[u8],
        _: &Scratch,
        mut take: impl FnMut(&Reply<'_>) -> bool,
    ) -> usize {
        let State::Open(None) = self.state else { return 0 };
        if self.message.is_under_way() || self.message.expects_payload() {
            return 0;
        }
        let mut offset = 0;
        while let Some((kind, payload)) = frame::short_message(&input[offset..]) {
            let reply = Reply { tag: Tag::Oldest, status: 0, kind, payload, last: false };
            if payload.len() as u64 > self.config.max_message || !take(&reply) {
                break;
            }
            offset += frame::SHORT_HEADER + payload.len();
        }
        offset
    }

    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError> {
        let detail = match self.state {
            State::Closed | State::Refused(_) => return Ok(None),
            State::New | State::Upgrading(_) => "the connection ended before the upgrade",
            State::Open(_) | State::Closing(_) if self.message.is_under_way() => {
                "the connection ended inside a message"
            }
            State::Open(_) | State::Closing(_) => "the connection ended without a close frame",
        };
        self.state = State::Closed;
        Err(ProtocolError::new(ErrorClass::Truncated, detail))
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.is_open() {
            self.say_goodbye(close::NORMAL, out);
            let deflate = match &mut self.state {
                State::Open(deflate) => deflate.take(),
                _ => None,
            };
            self.state = State::Closing(deflate);
        }
    }
}

/// The step that needs more bytes.
#[inline]
fn waits<'a>(consumed: usize) -> Step<Event<'a>> {
    Step { consumed, event: None }
}
