//! WebSockets on streams of one connection: which carry no message, and how many may end for nothing.
//!
//! Knows the streams by their numbers; must not know how they are asked for, nor how they end.

use std::collections::VecDeque;

use super::MOST_REFUSED;
use super::wire::Wire;
use crate::{ErrorClass, Event, ProtocolError, Tag};

/// So many WebSockets may end one after the other without a reply in between.
const MOST_PARTED: u32 = 1_000;

/// The streams that were accepted, and what became of others.
#[derive(Debug)]
pub(crate) struct Pool<S> {
    accepted: u32,
    /// Those of them that carry no message, the one that has had none for longest first.
    idle: VecDeque<S>,
    /// Streams that the server refused to look at since it last accepted one.
    refused: u32,
    /// WebSockets that have ended since the last reply.
    parted: u32,
}

impl<S> Default for Pool<S> {
    fn default() -> Self {
        Self { accepted: 0, idle: VecDeque::new(), refused: 0, parted: 0 }
    }
}

impl<S: Copy + PartialEq> Pool<S> {
    /// Streams that were accepted and are not over.
    pub(crate) fn accepted(&self) -> u32 {
        self.accepted
    }

    pub(crate) fn accept(&mut self, stream: S) {
        self.accepted += 1;
        self.refused = 0;
        self.idle.push_back(stream);
    }

    /// Where the next message goes; none: each stream carries one.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<S> {
        let next = self.idle.pop_front();
        debug_assert!(next.is_some(), "there is no room");
        next
    }

    /// The message on this stream has its reply.
    #[inline]
    pub(crate) fn replied(&mut self, stream: S) {
        self.parted = 0;
        self.idle.push_back(stream);
    }

    /// An accepted stream is gone.
    pub(crate) fn lose(&mut self, stream: S) {
        self.accepted -= 1;
        self.idle.retain(|&idle| idle != stream);
    }

    /// The server refused to look at a stream. May another be asked for?
    pub(crate) fn refuse(&mut self) -> bool {
        self.refused += 1;
        self.refused <= MOST_REFUSED
    }

    /// A WebSocket has ended. May another take its place?
    pub(crate) fn part(&mut self) -> bool {
        self.parted += 1;
        self.parted <= MOST_PARTED
    }
}

/// What is told of a WebSocket that has ended, with the message whose reply was awaited on it.
pub(crate) fn parted(number: Option<u64>, error: ProtocolError) -> Event<'static> {
    match number {
        Some(number) => Event::Failed { tag: Tag::Number(number), error },
        None => Event::Parted(error),
    }
}

/// The server has ended a stream, and not said why.
pub(crate) fn cut_short(wire: Option<&Wire>) -> ProtocolError {
    let detail = if wire.is_some_and(Wire::is_inside) {
        "the stream ended inside a message"
    } else {
        "the stream ended without a close frame"
    };
    ProtocolError::new(ErrorClass::Truncated, detail)
}
