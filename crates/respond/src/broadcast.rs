//! A connection that hears what every other one at its door says.
//!
//! Knows messages, each of which it holds until it is whole; must not know who else listens (the hub
//! does).

use std::sync::Arc;

use wiretrial_proto::websocket::{DeflateAnswer, WebSocketServer};
use wiretrial_proto::{MessageKind, Scratch, ServerCodec, ServerEvent};

use crate::hub::{Broadcast, Member};
use crate::protocol::Heard;
use crate::sink::{BACKLOG_LIMIT, Ending, Sink, Twist};
use crate::websocket::agreed;

/// One of those who listen, and may speak.
#[derive(Debug)]
pub(crate) struct Listener {
    codec: WebSocketServer,
    kind: MessageKind,
    /// What came of a message that is not whole.
    message: Vec<u8>,
}

impl Listener {
    pub(crate) fn new(max_message: u64, deflate: Option<&DeflateAnswer>) -> Self {
        Self { codec: agreed(max_message, deflate), kind: MessageKind::Binary, message: Vec::new() }
    }

    pub(crate) fn take(
        &mut self,
        input: &mut [u8],
        unpacked: &mut Scratch,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) -> Heard {
        let mut taken = 0;
        while !sink.is_finished() {
            if sink.backlog() >= BACKLOG_LIMIT {
                sink.settle();
                return Heard { taken, blocked: true };
            }
            let Ok(step) = self.codec.receive(&mut input[taken..], unpacked, sink.out) else {
                sink.finish(Ending::Early);
                break;
            };
            taken += step.consumed;
            match step.event {
                None => {
                    sink.settle();
                    return Heard { taken, blocked: false };
                }
                Some(ServerEvent::Message(kind)) => self.kind = kind,
                Some(ServerEvent::Chunk(piece)) => self.message.extend_from_slice(piece),
                Some(ServerEvent::End) => {
                    let payload = std::mem::take(&mut self.message);
                    member.broadcast(&Arc::new(Broadcast { kind: self.kind, payload }));
                }
                // Only HTTP has requests.
                Some(ServerEvent::Close(_) | ServerEvent::Request(_)) => {
                    sink.finish(Ending::Orderly);
                }
            }
        }
        Heard { taken: input.len(), blocked: false }
    }

    /// Somebody said this.
    pub(crate) fn hear(&mut self, message: &Broadcast, sink: &mut Sink<'_>) {
        let mut twist = sink.begin();
        if twist == Twist::None {
            self.codec.message(message.kind, &message.payload, sink.out);
        } else {
            let mut payload = message.payload.clone();
            twist.apply(&mut payload);
            self.codec.message(message.kind, &payload, sink.out);
        }
        sink.end();
    }

    /// Appends a close frame: the server goes away.
    pub(crate) fn go_away(&mut self, out: &mut Vec<u8>) {
        self.codec.close(1001, "", out);
    }
}
