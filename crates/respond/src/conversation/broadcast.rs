//! A client of the broadcast: each message goes to every client there.
//!
//! Knows messages and holds each until it is complete. Must not know the other clients (the hub
//! does).

use std::convert::Infallible;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

use wiretrial_proto::websocket::{DeflateAnswer, WebSocketServer};
use wiretrial_proto::{MessageKind, ProtocolError, Scratch, ServerCodec as _, ServerEvent, Step};

use super::Conversation;
use super::websocket::agreed;
use crate::hub::{Broadcast, Member, Memberships, Notice};
use crate::sink::{Ending, Sink};

#[derive(Debug)]
pub(crate) struct BroadcastConversation {
    codec: WebSocketServer,
    kind: MessageKind,
    /// What came of a message that is not complete.
    message: Vec<u8>,
}

impl BroadcastConversation {
    /// Joins the broadcast.
    pub(crate) fn new(
        max_message: u64,
        deflate: Option<&DeflateAnswer>,
        member: &mut Member<'_>,
    ) -> Self {
        member.join_broadcast();
        let codec = agreed(max_message, deflate);
        Self { codec, kind: MessageKind::Binary, message: Vec::new() }
    }
}

impl Conversation for BroadcastConversation {
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
        member: &mut Member<'_>,
    ) -> ControlFlow<Infallible> {
        match event {
            ServerEvent::Message(kind) => self.kind = *kind,
            ServerEvent::Chunk(piece) => self.message.extend_from_slice(piece),
            ServerEvent::End => {
                let payload = mem::take(&mut self.message);
                member.broadcast(&Arc::new(Broadcast { kind: self.kind, payload }));
            }
            // Only HTTP has requests.
            ServerEvent::Close(_) | ServerEvent::Request(_) => sink.finish(Ending::Orderly),
        }
        ControlFlow::Continue(())
    }

    fn on_notice(&mut self, notice: &Notice, sink: &mut Sink<'_>, _member: &mut Member<'_>) {
        let Notice::Broadcast(message) = notice else { return };
        let mut reply = sink.begin();
        if reply.alters() {
            let mut payload = message.payload.clone();
            reply.alter(&mut payload);
            self.codec.message(message.kind, &payload, sink.out);
        } else {
            self.codec.message(message.kind, &message.payload, sink.out);
        }
        sink.end(reply);
    }

    fn go_away(&mut self, out: &mut Vec<u8>) {
        self.codec.close(1001, "", out);
    }

    fn memberships(&self) -> Memberships {
        Memberships { broadcast: true, ..Memberships::default() }
    }
}
