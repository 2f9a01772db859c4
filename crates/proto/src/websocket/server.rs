//! The server's side of a WebSocket connection.
//!
//! Knows messages and the close after the upgrade; must not know HTTP or sockets.

use super::close::{self, Body};
use super::deflate::{Deflate, DeflateAnswer};
use super::frame::{self, CONTROL_LIMIT, Header, Opcode, Sender};
use super::handshake;
use super::message::Incoming;
use crate::mask;
use crate::{Close, MessageKind, ProtocolError, Scratch, ServerCodec, ServerEvent, Step};

/// A WebSocket server (RFC 6455) for what follows the upgrade, with permessage-deflate (RFC 7692)
/// where it was agreed on.
///
/// Payloads are unmasked in place, wherever their pieces begin. Pings are answered and, like
/// pongs, are not reported.
#[derive(Debug)]
pub struct WebSocketServer {
    max_message: u64,
    message: Incoming,
    /// The current frame's mask, turned to the next byte.
    mask: [u8; 4],
    close_sent: bool,
    /// After the client's close or an error; whatever follows is ignored.
    closed: bool,
    /// Boxed, because most connections are without.
    deflate: Option<Box<Deflate>>,
}

impl WebSocketServer {
    /// A server for one connection that accepts messages up to this many bytes.
    pub fn new(max_message: u64) -> Self {
        Self {
            max_message,
            message: Incoming::NONE,
            mask: [0; 4],
            close_sent: false,
            closed: false,
            deflate: None,
        }
    }

    /// A server for one connection on which messages are compressed as was agreed.
    pub fn with_deflate(max_message: u64, answer: &DeflateAnswer) -> Self {
        Self { deflate: Some(Deflate::of_server(answer.agreed)), ..Self::new(max_message) }
    }

    /// Appends the 101 answer to an upgrade request with this `Sec-WebSocket-Key`; the
    /// subprotocol must be one that the client offered.
    pub fn accept(key: &str, subprotocol: Option<&str>, out: &mut Vec<u8>) {
        handshake::append_answer(key, subprotocol, None, out);
    }

    /// As [`accept`](Self::accept), with compression; the conversation goes on with
    /// [`with_deflate`](Self::with_deflate).
    pub fn accept_deflate(
        key: &str,
        subprotocol: Option<&str>,
        answer: &DeflateAnswer,
        out: &mut Vec<u8>,
    ) {
        handshake::append_answer(key, subprotocol, Some(answer), out);
    }

    /// Appends one whole message.
    #[inline]
    pub fn message(&mut self, kind: MessageKind, payload: &[u8], out: &mut Vec<u8>) {
        match &mut self.deflate {
            None => frame::append_plain(Opcode::of(kind), true, payload, out),
            Some(deflate) => deflate.append_message(Opcode::of(kind), payload, None, out),
        }
    }

    /// Appends one frame of a message that goes out in several. With compression there may be
    /// none before the last one.
    pub fn fragment(
        &mut self,
        kind: MessageKind,
        payload: &[u8],
        first: bool,
        last: bool,
        out: &mut Vec<u8>,
    ) {
        if let Some(deflate) = &mut self.deflate {
            return deflate.append_fragment(Opcode::of(kind), payload, last, out);
        }
        let opcode = if first { Opcode::of(kind) } else { Opcode::Continuation };
        frame::append_plain(opcode, last, payload, out);
    }

    /// Appends the header of a whole message of this length; the caller appends the payload, which
    /// goes out as it is, with compression too.
    #[inline]
    pub fn message_head(&mut self, kind: MessageKind, length: u64, out: &mut Vec<u8>) {
        frame::append_plain_header(Opcode::of(kind), true, length, out);
    }

    /// Appends a ping; of the payload what a control frame can carry, 125 bytes.
    pub fn ping(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        let payload = &payload[..payload.len().min(CONTROL_LIMIT)];
        frame::append_plain(Opcode::Ping, true, payload, out);
    }

    /// Appends a close frame, once; of the reason what fits into 123 bytes. No body for code 1005.
    pub fn close(&mut self, code: u16, reason: &str, out: &mut Vec<u8>) {
        if self.close_sent {
            return;
        }
        self.close_sent = true;
        frame::append_plain(Opcode::Close, true, Body::new(code, reason).as_bytes(), out);
    }

    /// Length of the message that began, where its first frame is the last one: an echo can
    /// write one header and pass the payload on as it comes. Unknown with compression, where
    /// what comes is not as long as what goes.
    pub fn message_length(&self) -> Option<u64> {
        if self.deflate.is_some() { None } else { self.message.known_length() }
    }

    #[inline]
    fn frames<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<ServerEvent<'a>>, ProtocolError> {
        let mut offset = 0;
        loop {
            if self.message.is_complete() {
                if self.message.is_compressed() {
                    self.finish_compressed()?;
                } else {
                    self.message.finish()?;
                }
                return Ok(Step { consumed: offset, event: Some(ServerEvent::End) });
            }
            if self.message.expects_payload() {
                if self.message.is_compressed() {
                    let (taken, given) = self.inflate(&mut input[offset..], scratch)?;
                    offset += taken;
                    if given > 0 {
                        let event = ServerEvent::Chunk(&mut scratch.buffer()[..given]);
                        return Ok(Step { consumed: offset, event: Some(event) });
                    }
                    if offset == input.len() && self.message.expects_payload() {
                        return Ok(waits(offset));
                    }
                    continue;
                }
                let taken = self.message.take(input.len() - offset);
                if taken == 0 {
                    return Ok(waits(offset));
                }
                let payload = &mut input[offset..offset + taken];
                mask::apply(self.mask, payload);
                self.mask = mask::advance(self.mask, taken);
                self.message.check(payload)?;
                return Ok(Step {
                    consumed: offset + taken,
                    event: Some(ServerEvent::Chunk(payload)),
                });
            }
            let inside = self.message.is_under_way();
            let deflate = self.deflate.is_some();
            let header = Header::read(&input[offset..], Sender::Client, inside, deflate)?;
            let Some(header) = header else { return Ok(waits(offset)) };
            let start = offset + header.size;
            if header.opcode.is_control() {
                // At most 125 bytes: like a header, a control frame waits until it is whole.
                let end = start + header.length as usize;
                let Some(payload) = input.get_mut(start..end) else { return Ok(waits(offset)) };
                mask::apply(header.mask, payload);
                offset = end;
                if let Some(close) = self.control(header.opcode, payload, out)? {
                    return Ok(Step { consumed: offset, event: Some(ServerEvent::Close(close)) });
                }
                continue;
            }
            offset = start;
            self.mask = header.mask;
            self.message.begin_frame(&header, self.max_message)?;
            if !inside {
                let event = ServerEvent::Message(self.message.kind());
                return Ok(Step { consumed: offset, event: Some(event) });
            }
        }
    }

    /// Takes bytes of a compressed message, and says how many and how many came of them. Apart, so
    /// that messages as they are do not pay for it.
    #[cold]
    fn inflate(
        &mut self,
        input: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<(usize, usize), ProtocolError> {
        let Some(deflate) = &mut self.deflate else { return Ok((0, 0)) };
        // No more than a step takes at most: what it leaves is masked again, because it is given
        // again.
        let available = self.message.available(input.len()).min(Scratch::SIZE);
        let payload = &mut input[..available];
        mask::apply(self.mask, payload);
        let (taken, given) =
            deflate.inflater.step(payload, scratch, &mut self.message, self.max_message)?;
        self.mask = mask::advance(self.mask, taken);
        mask::apply(self.mask, &mut payload[taken..]);
        Ok((taken, given))
    }

    #[cold]
    fn finish_compressed(&mut self) -> Result<(), ProtocolError> {
        let Some(deflate) = &mut self.deflate else { return Ok(()) };
        deflate.inflater.finish(&mut self.message).map(drop)
    }

    fn control(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Close>, ProtocolError> {
        match opcode {
            Opcode::Ping => {
                frame::append_plain(Opcode::Pong, true, payload, out);
                Ok(None)
            }
            Opcode::Close => {
                let code = close::read(payload)?;
                self.close(code, "", out);
                self.closed = true;
                Ok(Some(Close { code }))
            }
            _ => Ok(None),
        }
    }

    #[cold]
    fn fail(&mut self, error: ProtocolError, out: &mut Vec<u8>) -> ProtocolError {
        self.close(close::code_for(error.class), "", out);
        self.closed = true;
        error
    }
}

impl ServerCodec for WebSocketServer {
    /// `End` comes from a call of its own, which may have nothing to consume.
    #[inline]
    fn receive<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<ServerEvent<'a>>, ProtocolError> {
        if self.closed {
            return Ok(waits(input.len()));
        }
        self.frames(input, scratch, out).map_err(|error| self.fail(error, out))
    }
}

/// The step that needs more bytes.
#[inline]
fn waits<'a>(consumed: usize) -> Step<ServerEvent<'a>> {
    Step { consumed, event: None }
}
