//! What each protocol makes of a connection's input, and the loop that all of them share.
//!
//! Knows events, room for answers, and how a conversation ends or becomes another one. Must not
//! know any single protocol, nor sockets.

pub(crate) mod broadcast;
mod due;
mod encodings;
mod grpc;
pub(crate) mod http;
mod published;
pub(crate) mod raw;
pub(crate) mod socketio;
pub(crate) mod streamed;
pub(crate) mod styx;
pub(crate) mod websocket;

use std::ops::ControlFlow;

use wiretrial_proto::{ProtocolError, Scratch, Step};

use crate::hub::{Member, Memberships, Notice};
use crate::sink::{BACKLOG_LIMIT, Ending, Sink};

/// A pattern or a stream of events is generated until this many bytes wait to go out.
pub(crate) const STREAM_AHEAD: usize = 256 * 1024;
/// How long a stream of events waits for a client that has as much as that still to read, nanoseconds.
pub(crate) const STREAM_PATIENCE: u64 = 1_000_000;

/// One side of a conversation in one protocol. [`converse`] drives it.
pub(crate) trait Conversation {
    /// What the client did, as far as the answers depend on it.
    type Event<'a>;
    /// The conversation that may follow this one on the same connection; `Infallible`: none.
    type Upgrade;

    /// Continues a reply that does not come from the input. False: there is no room for the rest
    /// of it. Called before each [`receive`](Self::receive), so that no other reply begins first.
    fn continue_reply(&mut self, _sink: &mut Sink<'_>) -> bool {
        true
    }

    /// Takes bytes from the front of `input` up to the next event. What the protocol itself answers
    /// is appended to `out`.
    ///
    /// # Errors
    /// The client broke the protocol: [`on_error`](Self::on_error) is called, and the conversation
    /// ends.
    fn receive<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Self::Event<'a>>, ProtocolError>;

    /// Answers an event, which stays where [`receive`](Self::receive) put it: the head of a request is
    /// too long to be moved. Breaks where the rest of the input belongs to another conversation.
    fn on_event(
        &mut self,
        event: &mut Self::Event<'_>,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) -> ControlFlow<Self::Upgrade>;

    /// Says what is said to a client that broke the protocol. What the failed
    /// [`receive`](Self::receive) appended to the sink begins at `start`.
    fn on_error(&mut self, _start: usize, _sink: &mut Sink<'_>) {}

    /// Passes on what the server tells the connection without being asked.
    fn on_notice(&mut self, _notice: &Notice, _sink: &mut Sink<'_>, _member: &mut Member<'_>) {}

    /// When the conversation has something to do by itself; none: never.
    fn next_due(&self) -> Option<u64> {
        None
    }

    /// Does it.
    fn on_due(&mut self, _now: u64, _sink: &mut Sink<'_>) {}

    /// Appends what is said to the client when the server stops.
    fn go_away(&mut self, _out: &mut Vec<u8>) {}

    /// What the connection has joined.
    fn memberships(&self) -> Memberships {
        Memberships::default()
    }
}

/// What one call of [`converse`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Progress<U> {
    /// Bytes taken from the front of the input.
    pub(crate) taken: usize,
    pub(crate) outcome: Outcome<U>,
}

/// Why a conversation takes no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome<U> {
    /// It needs more input, or it has ended: the sink says which.
    Waits,
    /// There is no room for its answers: to be called again, with or without input, when there is.
    Blocked,
    /// What follows belongs to another conversation.
    Upgraded(U),
}

/// Takes the input that can be taken and appends the answers to the sink. A function for each
/// protocol: in one function for all of them, each loop would be slower.
#[inline(never)]
pub(crate) fn converse<C: Conversation>(
    conversation: &mut C,
    input: &mut [u8],
    scratch: &mut Scratch,
    sink: &mut Sink<'_>,
    member: &mut Member<'_>,
) -> Progress<C::Upgrade> {
    let mut taken = 0;
    while !sink.is_finished() {
        if sink.backlog() >= BACKLOG_LIMIT || !conversation.continue_reply(sink) {
            sink.settle();
            return Progress { taken, outcome: Outcome::Blocked };
        }
        let start = sink.out.len();
        let mut received = conversation.receive(&mut input[taken..], scratch, sink.out);
        let Ok(step) = &mut received else {
            fail(conversation, start, sink);
            break;
        };
        taken += step.consumed;
        let Some(event) = &mut step.event else {
            sink.settle();
            return Progress { taken, outcome: Outcome::Waits };
        };
        if let ControlFlow::Break(upgrade) = conversation.on_event(event, sink, member) {
            sink.settle();
            return Progress { taken, outcome: Outcome::Upgraded(upgrade) };
        }
    }
    // What follows the end is ignored.
    Progress { taken: input.len(), outcome: Outcome::Waits }
}

/// The client broke the protocol. Apart, so that what is allowed does not pay for it.
#[cold]
fn fail<C: Conversation>(conversation: &mut C, start: usize, sink: &mut Sink<'_>) {
    conversation.on_error(start, sink);
    sink.finish(Ending::Early);
}
