//! The echo over WebSocket.
//!
//! Knows messages; holds none: what came goes out again. Must not know sockets.

use wiretrial_proto::websocket::{DeflateAnswer, WebSocketServer};
use wiretrial_proto::{MessageKind, Scratch, ServerCodec, ServerEvent};

use crate::protocol::Heard;
use crate::sink::{BACKLOG_LIMIT, Ending, Sink, Twist};

#[derive(Debug)]
pub(crate) struct WebSocketEcho {
    codec: WebSocketServer,
    message: Message,
    twist: Twist,
}

/// How the message that is being echoed goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Message {
    /// There is none.
    None,
    /// As one frame; its header is out.
    Whole,
    /// As fragments, because its length is not known.
    Fragments { kind: MessageKind, first: bool },
}

impl WebSocketEcho {
    pub(crate) fn new(max_message: u64, deflate: Option<&DeflateAnswer>) -> Self {
        Self { codec: agreed(max_message, deflate), message: Message::None, twist: Twist::None }
    }

    /// Takes all of the input that can be taken. What was compressed well and goes out less so may
    /// need more room than there is: the rest must wait then.
    pub(crate) fn take(
        &mut self,
        input: &mut [u8],
        unpacked: &mut Scratch,
        sink: &mut Sink<'_>,
    ) -> Heard {
        let mut taken = 0;
        // Where the echo begins that is under way, as long as none of it went out.
        let mut begun = None;
        while !sink.is_finished() {
            if sink.backlog() >= BACKLOG_LIMIT {
                sink.settle();
                return Heard { taken, blocked: true };
            }
            let before = sink.out.len();
            let Ok(step) = self.codec.receive(&mut input[taken..], unpacked, sink.out) else {
                if self.message == Message::Whole {
                    interrupt(begun, before, sink.out);
                }
                sink.finish(Ending::Early);
                break;
            };
            taken += step.consumed;
            match step.event {
                None => {
                    sink.settle();
                    return Heard { taken, blocked: false };
                }
                Some(ServerEvent::Message(kind)) => {
                    self.twist = sink.begin();
                    begun = sink.may_be_taken_back().then_some(sink.out.len());
                    self.message = match self.codec.message_length() {
                        Some(length) => {
                            self.codec.message_head(kind, length, sink.out);
                            Message::Whole
                        }
                        None => Message::Fragments { kind, first: true },
                    };
                }
                Some(ServerEvent::Chunk(payload)) => {
                    self.twist.apply(payload);
                    match &mut self.message {
                        Message::Fragments { kind, first } => {
                            let begins = std::mem::take(first);
                            self.codec.fragment(*kind, payload, begins, false, sink.out);
                        }
                        _ => sink.out.extend_from_slice(payload),
                    }
                    sink.settle();
                }
                Some(ServerEvent::End) => {
                    if let Message::Fragments { kind, first } = self.message {
                        self.codec.fragment(kind, b"", first, true, sink.out);
                    }
                    self.message = Message::None;
                    sink.end();
                }
                // Only HTTP has requests.
                Some(ServerEvent::Close(_) | ServerEvent::Request(_)) => {
                    sink.finish(Ending::Orderly);
                }
            }
        }
        Heard { taken: input.len(), blocked: false }
    }

    /// Appends a close frame: the server goes away.
    pub(crate) fn go_away(&mut self, out: &mut Vec<u8>) {
        if self.message == Message::None {
            self.codec.close(1001, "", out);
        }
    }
}

/// The codec of a connection that asked for an upgrade, compressing where both sides agreed on it.
pub(crate) fn agreed(max_message: u64, deflate: Option<&DeflateAnswer>) -> WebSocketServer {
    match deflate {
        None => WebSocketServer::new(max_message),
        Some(deflate) => WebSocketServer::with_deflate(max_message, deflate),
    }
}

/// Leaves the echo of a frame, which begins at `begun` where none of it went out, for the close
/// frame at `close`. In the middle of a frame the client would read that as content.
fn interrupt(begun: Option<usize>, close: usize, out: &mut Vec<u8>) {
    match begun {
        Some(begun) => drop(out.drain(begun..close)),
        None => out.truncate(close),
    }
}
