//! The server's side of a Styx connection.
//!
//! Knows packets in and packets out; must not know tables, nor who sits where.

use super::intake::{self, Pieces};
use super::packet::Packet;
use super::{Encoding, MAX_PACKET};
use crate::websocket::WebSocketServer;
use crate::{MessageKind, ProtocolError, Scratch, ServerCodec as _, ServerEvent, Step};

/// A server of packets, on a byte stream or, after the upgrade, over WebSocket.
#[derive(Debug)]
pub struct StyxServer {
    encoding: Encoding,
    /// The encoding is known.
    decided: bool,
    /// Boxed, because a stream has none.
    websocket: Option<Box<WebSocketServer>>,
    kind: MessageKind,
    pieces: Pieces,
    room: Vec<u8>,
    draft: Vec<u8>,
    closed: bool,
}

/// What a client said.
#[derive(Debug, PartialEq, Eq)]
pub enum StyxEvent<'a> {
    /// A packet.
    Packet(Packet<'a>),
    /// It closed the WebSocket in its own way; the answer is in `out`.
    Close,
}

/// What the carrier brought.
enum Found {
    Nothing,
    /// Where it stands in the input.
    Packet(usize, usize),
    Assembled,
    Closed,
}

impl StyxServer {
    /// For a connection that speaks it from the start.
    pub fn stream(encoding: Encoding) -> Self {
        Self {
            encoding,
            decided: true,
            websocket: None,
            kind: encoding.kind(),
            pieces: Pieces::default(),
            room: Vec::new(),
            draft: Vec::new(),
            closed: false,
        }
    }

    /// For a connection that was upgraded.
    pub fn websocket(encoding: Encoding) -> Self {
        let codec = WebSocketServer::new(MAX_PACKET as u64);
        Self { websocket: Some(Box::new(codec)), ..Self::stream(encoding) }
    }

    /// The same, in the encoding that the client's first message tells by its kind.
    pub fn websocket_of_any_kind() -> Self {
        Self { decided: false, ..Self::websocket(Encoding::Binary) }
    }

    /// Takes bytes from the front of `input`, as [`ServerCodec`](crate::ServerCodec) does.
    ///
    /// # Errors
    /// The client broke the protocol: [`refuse`](Self::refuse) it, and close the connection.
    pub fn receive<'s>(
        &'s mut self,
        input: &'s mut [u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<StyxEvent<'s>>, ProtocolError> {
        if self.closed {
            return Ok(Step { consumed: input.len(), event: None });
        }
        let (consumed, found) = self.find(input, scratch, out)?;
        let bytes = match found {
            Found::Nothing => return Ok(Step { consumed, event: None }),
            Found::Closed => {
                self.closed = true;
                return Ok(Step { consumed, event: Some(StyxEvent::Close) });
            }
            Found::Packet(start, end) => &input[start..end],
            Found::Assembled => self.pieces.bytes(),
        };
        let packet = self.encoding.read(bytes, &mut self.room)?;
        Ok(Step { consumed, event: Some(StyxEvent::Packet(packet)) })
    }

    /// Appends a packet.
    #[inline]
    pub fn send(&mut self, packet: &Packet<'_>, out: &mut Vec<u8>) {
        match &mut self.websocket {
            None => {
                self.encoding.append(packet, out);
                intake::terminate(self.encoding, out);
            }
            Some(codec) => {
                self.draft.clear();
                self.encoding.append(packet, &mut self.draft);
                codec.message(self.encoding.kind(), &self.draft, out);
            }
        }
    }

    /// Appends a goodbye: over WebSocket a close frame.
    pub fn close(&mut self, code: u16, out: &mut Vec<u8>) {
        self.closed = true;
        if let Some(codec) = &mut self.websocket {
            codec.close(code, "", out);
        }
    }

    /// Appends what is said to who broke the protocol: a bad packet on a stream, over WebSocket a
    /// close frame, where there was none.
    pub fn refuse(&mut self, out: &mut Vec<u8>) {
        if self.websocket.is_none() {
            self.send(&Packet::Bad { class: 0, error: 0 }, out);
        }
        self.close(1002, out);
    }

    fn find(
        &mut self,
        input: &mut [u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Found), ProtocolError> {
        let Some(codec) = &mut self.websocket else {
            return Ok(match intake::frame(self.encoding, input)? {
                None => (0, Found::Nothing),
                Some(framed) => {
                    (framed.consumed, Found::Packet(framed.packet.start, framed.packet.end))
                }
            });
        };
        let mut offset = 0;
        loop {
            let step = codec.receive(&mut input[offset..], scratch, out)?;
            offset += step.consumed;
            match step.event {
                None => return Ok((offset, Found::Nothing)),
                Some(ServerEvent::Message(kind)) => {
                    self.kind = kind;
                    if !std::mem::replace(&mut self.decided, true) {
                        self.encoding = match kind {
                            MessageKind::Text => Encoding::Json,
                            _ => Encoding::Binary,
                        };
                    }
                }
                Some(ServerEvent::Chunk(piece)) => self.pieces.add(piece),
                Some(ServerEvent::End) => {
                    self.pieces.complete();
                    intake::check_kind(self.encoding, self.kind)?;
                    return Ok((offset, Found::Assembled));
                }
                Some(ServerEvent::Close(_) | ServerEvent::Request(_)) => {
                    return Ok((offset, Found::Closed));
                }
            }
        }
    }
}
