//! A WebSocket in the content of one stream, which comes in pieces.
//!
//! Knows where in a piece a message is; must not know streams, nor how bits lie in a frame.

use std::ops::Range;
use std::sync::Arc;

use crate::websocket::{DeflateConfig, WebSocketClient, WebSocketConfig};
use crate::{ClientSession as _, Close, Event, MessageKind, ProtocolError, Scratch, Step};

/// The client's side of one WebSocket.
#[derive(Debug)]
pub(crate) struct Wire {
    websocket: WebSocketClient,
    /// What a piece ended with: the begin of a frame's header, or of a control frame.
    carry: Vec<u8>,
    /// A message has begun to come.
    is_inside: bool,
}

/// What came of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// All of it was taken in.
    Nothing,
    /// A piece of a message, not the last.
    Piece(At),
    /// The end of a message.
    Message(MessageKind, At),
    Close(Close),
    Wrong(ProtocolError),
}

/// Where a payload stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum At {
    /// In the piece.
    Piece(Range<usize>),
    /// At the front of the scratch, so many bytes.
    Scratch(usize),
}

impl At {
    /// The payload itself; the input begins with the piece.
    #[inline]
    pub(crate) fn of<'a>(self, input: &'a [u8], scratch: &'a mut Scratch) -> &'a [u8] {
        match self {
            Self::Piece(range) => &input[range],
            Self::Scratch(length) => &scratch.buffer()[..length],
        }
    }
}

impl Wire {
    pub(crate) fn new(
        config: Arc<WebSocketConfig>,
        seed: [u64; 2],
        deflate: Option<DeflateConfig>,
    ) -> Self {
        let websocket = WebSocketClient::opened(config, seed, deflate);
        Self { websocket, carry: Vec::new(), is_inside: false }
    }

    pub(crate) fn deflate(&self) -> Option<&DeflateConfig> {
        self.websocket.deflate()
    }

    /// Is a message there in part?
    pub(crate) fn is_inside(&self) -> bool {
        self.is_inside || !self.carry.is_empty()
    }

    #[inline]
    pub(crate) fn message(&mut self, kind: MessageKind, payload: &[u8], out: &mut Vec<u8>) {
        self.websocket.message(kind, payload, out);
    }

    /// Appends a close frame, unless one went out.
    pub(crate) fn close(&mut self, out: &mut Vec<u8>) {
        self.websocket.close(out);
    }

    /// Takes bytes from the front of a piece, up to the next that matters; says how many. What is to be
    /// said to it is appended.
    #[inline]
    pub(crate) fn hear(
        &mut self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> (usize, Said) {
        let mut taken = 0;
        // What began in an earlier piece is short, and goes on byte by byte until it is whole.
        while !self.carry.is_empty() && taken < piece.len() {
            self.carry.push(piece[taken]);
            taken += 1;
            let step = self.websocket.receive(&self.carry, scratch, out);
            let (consumed, said) = outline(&step, &self.carry);
            self.carry.drain(..consumed.min(self.carry.len()));
            if said != Said::Nothing {
                return (taken, self.note(said, 0));
            }
        }
        let rest = &piece[taken..];
        let step = self.websocket.receive(rest, scratch, out);
        let (consumed, said) = outline(&step, rest);
        if said != Said::Nothing {
            return (taken + consumed, self.note(said, taken));
        }
        self.carry.extend_from_slice(&rest[consumed..]);
        (piece.len(), Said::Nothing)
    }

    /// The same where the piece begins so many bytes earlier.
    #[inline]
    fn note(&mut self, said: Said, earlier: usize) -> Said {
        let moved = |at| match at {
            At::Piece(range) => At::Piece(range.start + earlier..range.end + earlier),
            At::Scratch(length) => At::Scratch(length),
        };
        self.is_inside = matches!(said, Said::Piece(_));
        match said {
            Said::Piece(at) => Said::Piece(moved(at)),
            Said::Message(kind, at) => Said::Message(kind, moved(at)),
            other => other,
        }
    }
}

/// What happened, without the bytes, and how many of the input were taken.
#[inline]
fn outline(step: &Result<Step<Event<'_>>, ProtocolError>, input: &[u8]) -> (usize, Said) {
    let at = |payload: &[u8], consumed: usize| {
        // A payload in the input ends what was consumed.
        if payload.is_empty() {
            At::Piece(0..0)
        } else if input.as_ptr_range().contains(&payload.as_ptr()) {
            At::Piece(consumed - payload.len()..consumed)
        } else {
            At::Scratch(payload.len())
        }
    };
    match step {
        Err(error) => (input.len(), Said::Wrong(*error)),
        Ok(Step { consumed, event }) => {
            let consumed = *consumed;
            let said = match event {
                Some(Event::Chunk { piece, .. }) => Said::Piece(at(piece, consumed)),
                Some(Event::Reply(reply)) => Said::Message(reply.kind, at(reply.payload, consumed)),
                Some(Event::Close(close)) => Said::Close(*close),
                // What stands from the start reports nothing else.
                _ => Said::Nothing,
            };
            (consumed, said)
        }
    }
}

/// How the server closed a WebSocket, for people.
pub(crate) const fn closed_with(code: u16) -> &'static str {
    match code {
        1000 => "the server closed the WebSocket with code 1000",
        1001 => "the server closed the WebSocket with code 1001, going away",
        1002 => "the server closed the WebSocket with code 1002, protocol error",
        1005 => "the server closed the WebSocket without a code",
        1007 => "the server closed the WebSocket with code 1007, not UTF-8",
        1009 => "the server closed the WebSocket with code 1009, message too big",
        1011 => "the server closed the WebSocket with code 1011, internal error",
        1012 => "the server closed the WebSocket with code 1012, restart",
        1013 => "the server closed the WebSocket with code 1013, try again later",
        _ => "the server closed the WebSocket with another code than 1000",
    }
}
