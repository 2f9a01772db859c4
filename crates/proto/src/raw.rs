//! A byte stream without frames.
//!
//! Knows only lengths: the reply to a request is as many bytes as the request had. Must not know
//! what the bytes are.

use std::collections::VecDeque;

use crate::{
    ClientSession, ErrorClass, Event, Message, MessageKind, Pieces, ProtocolError, Reply, Scratch,
    Step, Tag,
};

/// The client's side of an echo, one connection.
///
/// An empty request is answered at the next call of `receive`, by an empty reply.
#[derive(Debug, Default)]
pub struct RawClient {
    /// Lengths of the replies that are missing, the oldest first: what is in flight is mostly of
    /// one length, and then it is this one run.
    oldest: Run,
    later: VecDeque<Run>,
    /// Bytes of the current reply that were reported.
    reported: u64,
    closed: bool,
}

/// So many replies of one length.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    length: u64,
    count: u64,
}

impl RawClient {
    /// A codec for a new connection.
    pub fn new() -> Self {
        Self::default()
    }

    fn push(&mut self, length: u64) {
        let newest = self.later.back_mut().unwrap_or(&mut self.oldest);
        if newest.count == 0 {
            *newest = Run { length, count: 1 };
        } else if newest.length == length {
            newest.count += 1;
        } else {
            self.later.push_back(Run { length, count: 1 });
        }
    }

    fn pop(&mut self) {
        self.reported = 0;
        self.oldest.count -= 1;
        if self.oldest.count == 0 {
            self.oldest = self.later.pop_front().unwrap_or_default();
        }
    }
}

impl ClientSession for RawClient {
    fn start(&mut self, _out: &mut Vec<u8>) {}

    fn is_open(&self) -> bool {
        !self.closed
    }

    #[inline]
    fn encode(&mut self, message: &Message<'_>, out: &mut Vec<u8>) {
        debug_assert!(!self.closed, "no message may follow");
        out.extend_from_slice(message.payload);
        self.push(message.payload.len() as u64);
    }

    fn begin(&mut self, _route: usize, length: u64, _out: &mut Vec<u8>) -> Option<Pieces> {
        self.push(length);
        Some(Pieces { mask: None })
    }

    #[inline]
    fn receive<'a>(
        &mut self,
        input: &'a [u8],
        _: &'a mut Scratch,
        _out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        if self.oldest.count == 0 {
            return match input {
                [] => Ok(Step { consumed: 0, event: None }),
                _ => Err(ProtocolError::new(ErrorClass::Protocol, "bytes came to no request")),
            };
        }
        let missing = self.oldest.length - self.reported;
        let take = usize::try_from(missing).map_or(input.len(), |n| n.min(input.len()));
        let payload = &input[..take];
        if take as u64 == missing {
            self.pop();
            let kind = MessageKind::Stream;
            let reply = Reply { tag: Tag::Oldest, status: 0, kind, payload, last: false };
            return Ok(Step { consumed: take, event: Some(Event::Reply(reply)) });
        }
        self.reported += take as u64;
        let event = (take > 0).then_some(Event::Chunk { tag: Tag::Oldest, piece: payload });
        Ok(Step { consumed: take, event })
    }

    #[inline]
    fn replies(
        &mut self,
        input: &[u8],
        _: &Scratch,
        mut take: impl FnMut(&Reply<'_>) -> bool,
    ) -> usize {
        let mut offset = 0;
        while self.oldest.count > 0 && self.reported == 0 {
            let whole = usize::try_from(self.oldest.length).ok();
            let Some(payload) = whole.and_then(|length| input[offset..].get(..length)) else {
                break;
            };
            let kind = MessageKind::Stream;
            if !take(&Reply { tag: Tag::Oldest, status: 0, kind, payload, last: false }) {
                break;
            }
            offset += payload.len();
            self.pop();
        }
        offset
    }

    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError> {
        self.closed = true;
        if self.reported > 0 {
            return Err(ProtocolError::new(
                ErrorClass::Truncated,
                "the connection ended inside a reply",
            ));
        }
        Ok(None)
    }

    fn close(&mut self, _out: &mut Vec<u8>) {
        self.closed = true;
    }
}
