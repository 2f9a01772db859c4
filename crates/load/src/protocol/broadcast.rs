//! A WebSocket on which everybody hears what everybody says.
//!
//! Knows that each message begins with its number, in which whose it is stands before how many its
//! origin had sent. Must not know what else a message says, nor who is owed a copy.

use wiretrial_proto::websocket::{DeflateConfig, WebSocketClient};
use wiretrial_proto::{
    ClientSession, Delivery, ErrorClass, Event, Message, MessageKind, ProtocolError, Reply,
    Scratch, Step, Tag,
};

use crate::source::number_in;

/// What all who hear each other share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hall {
    /// Bytes of the longest message.
    pub(crate) longest: usize,
    /// Messages that the server sends to each one by itself before all others.
    pub(crate) greetings: u8,
}

/// One of those who hear each other: reports each message as a copy of its origin's.
#[derive(Debug)]
pub(crate) struct BroadcastClient {
    websocket: WebSocketClient,
    kind: MessageKind,
    /// Its own number, with which its messages begin.
    member: u32,
    hall: Hall,
    /// It has sent something.
    spoke: bool,
    /// What came of a message that does not stand in the input as a whole.
    begun: Vec<u8>,
}

/// Where the message is that came whole.
enum Whole {
    /// The last so many bytes that were taken.
    InInput(usize),
    Collected,
}

impl BroadcastClient {
    pub(crate) fn new(
        websocket: WebSocketClient,
        kind: MessageKind,
        member: u32,
        hall: Hall,
    ) -> Self {
        Self { websocket, kind, member, hall, spoke: false, begun: Vec::new() }
    }

    /// The compression of messages that was agreed on.
    pub(crate) fn deflate(&self) -> Option<&DeflateConfig> {
        self.websocket.deflate()
    }

    fn collect(&mut self, piece: &[u8]) -> Result<(), ProtocolError> {
        self.begun.extend_from_slice(piece);
        if self.begun.len() > self.hall.longest {
            return Err(foreign("a message came that is longer than any that was sent"));
        }
        Ok(())
    }

    /// Whose message this is, and which.
    fn copy<'a>(&self, kind: MessageKind, payload: &'a [u8]) -> Result<Event<'a>, ProtocolError> {
        let Some(number) = number_in(payload) else {
            if self.spoke {
                return Err(foreign("a message came that does not begin with the number of any"));
            }
            // Whether it is a greeting, whoever asks for nothing has to say.
            let reply = Reply { tag: Tag::Oldest, status: 0, kind, payload, last: false };
            return Ok(Event::Reply(reply));
        };
        let origin = (number >> 32) as u32;
        Ok(Event::Delivery(Delivery {
            origin: origin.cast_signed(),
            number,
            own: origin == self.member,
            intact: kind == self.kind,
            payload: Some(payload),
        }))
    }
}

impl ClientSession for BroadcastClient {
    fn start(&mut self, out: &mut Vec<u8>) {
        self.websocket.start(out);
    }

    fn is_open(&self) -> bool {
        self.websocket.is_open()
    }

    fn member(&self) -> Option<i32> {
        Some(self.member.cast_signed())
    }

    /// Its payload must begin with its number.
    #[inline]
    fn encode(&mut self, message: &Message<'_>, out: &mut Vec<u8>) {
        debug_assert_eq!(number_in(message.payload), Some(message.number), "others look for it");
        self.websocket.encode(message, out);
        self.spoke = true;
    }

    fn receive<'a>(
        &mut self,
        input: &'a [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        if self.hall.greetings > 0 {
            let step = self.websocket.receive(input, scratch, out)?;
            self.hall.greetings -= u8::from(matches!(step.event, Some(Event::Reply(_))));
            return Ok(step);
        }
        let mut offset = 0;
        let (kind, whole) = loop {
            let is_as_sent = self.websocket.deflate().is_none();
            let step = self.websocket.receive(&input[offset..], scratch, out)?;
            offset += step.consumed;
            match step.event {
                Some(Event::Chunk { piece, .. }) => self.collect(piece)?,
                Some(Event::Reply(reply)) if self.begun.is_empty() && is_as_sent => {
                    break (reply.kind, Whole::InInput(reply.payload.len()));
                }
                Some(Event::Reply(reply)) => {
                    self.collect(reply.payload)?;
                    break (reply.kind, Whole::Collected);
                }
                Some(Event::Open) => {
                    return Ok(Step { consumed: offset, event: Some(Event::Open) });
                }
                Some(Event::Close(close)) => {
                    return Ok(Step { consumed: offset, event: Some(Event::Close(close)) });
                }
                // A WebSocket alone has none of the others.
                _ => return Ok(Step { consumed: offset, event: None }),
            }
        };
        let payload = match whole {
            Whole::InInput(length) => &input[offset - length..offset],
            Whole::Collected => scratch.lend(&mut self.begun),
        };
        Ok(Step { consumed: offset, event: Some(self.copy(kind, payload)?) })
    }

    /// A copy that comes after all is a delivery like any other.
    fn cancel(&mut self, _number: u64, _out: &mut Vec<u8>) -> bool {
        true
    }

    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError> {
        self.websocket.end()
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        self.websocket.close(out);
    }
}

#[cold]
const fn foreign(detail: &'static str) -> ProtocolError {
    ProtocolError::new(ErrorClass::Mismatch, detail)
}
