//! The echo over WebSocket.
//!
//! Knows messages and holds none: each goes out as it comes in. Must not know sockets.

use std::convert::Infallible;
use std::mem;
use std::ops::ControlFlow;

use wiretrial_proto::websocket::{DeflateAnswer, WebSocketServer};
use wiretrial_proto::{MessageKind, ProtocolError, Scratch, ServerCodec as _, ServerEvent, Step};

use super::Conversation;
use crate::hub::Member;
use crate::sink::{Ending, Reply, Sink};

#[derive(Debug)]
pub(crate) struct WebSocketEcho {
    codec: WebSocketServer,
    /// The echo of the current message; none: there is no message.
    reply: Option<Reply>,
    framing: Framing,
}

/// How the echo goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// As one frame, whose header was appended.
    Frame,
    /// As fragments, because the length is not known.
    Fragments { kind: MessageKind, first: bool },
}

impl WebSocketEcho {
    pub(crate) fn new(max_message: u64, deflate: Option<&DeflateAnswer>) -> Self {
        Self { codec: agreed(max_message, deflate), reply: None, framing: Framing::Frame }
    }
}

impl Conversation for WebSocketEcho {
    type Event<'a> = ServerEvent<'a>;
    type Upgrade = Infallible;

    #[inline]
    fn receive<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<ServerEvent<'a>>, ProtocolError> {
        self.codec.receive(input, scratch, out)
    }

    #[inline]
    fn on_event(
        &mut self,
        event: &mut ServerEvent<'_>,
        sink: &mut Sink<'_>,
        _member: &mut Member<'_>,
    ) -> ControlFlow<Infallible> {
        match event {
            &mut ServerEvent::Message(kind) => {
                self.reply = Some(sink.begin());
                self.framing = match self.codec.message_length() {
                    Some(length) => {
                        self.codec.message_head(kind, length, sink.out);
                        Framing::Frame
                    }
                    None => Framing::Fragments { kind, first: true },
                };
            }
            ServerEvent::Chunk(payload) => {
                if let Some(reply) = &mut self.reply {
                    reply.alter(payload);
                }
                match &mut self.framing {
                    Framing::Frame => sink.out.extend_from_slice(payload),
                    Framing::Fragments { kind, first } => {
                        let first = mem::take(first);
                        self.codec.fragment(*kind, payload, first, false, sink.out);
                    }
                }
                sink.settle();
            }
            ServerEvent::End => {
                if let Framing::Fragments { kind, first } = self.framing {
                    self.codec.fragment(kind, b"", first, true, sink.out);
                }
                if let Some(reply) = self.reply.take() {
                    sink.end(reply);
                }
            }
            // Only HTTP has requests.
            ServerEvent::Close(_) | ServerEvent::Request(_) => sink.finish(Ending::Orderly),
        }
        ControlFlow::Continue(())
    }

    /// Removes the echo of an incomplete frame in favour of the close frame at `start`. Where part
    /// of that echo went out, the close frame is removed: the client would read it as content.
    fn on_error(&mut self, start: usize, sink: &mut Sink<'_>) {
        if self.reply.is_none() || self.framing != Framing::Frame {
            return;
        }
        match sink.reply_start() {
            Some(echo) => drop(sink.out.drain(echo..start)),
            None => sink.out.truncate(start),
        }
    }

    fn go_away(&mut self, out: &mut Vec<u8>) {
        if self.reply.is_none() {
            self.codec.close(1001, "", out);
        }
    }
}

/// The codec of an upgraded connection. It compresses where both sides agreed on that.
pub(super) fn agreed(max_message: u64, deflate: Option<&DeflateAnswer>) -> WebSocketServer {
    match deflate {
        None => WebSocketServer::new(max_message),
        Some(deflate) => WebSocketServer::with_deflate(max_message, deflate),
    }
}
