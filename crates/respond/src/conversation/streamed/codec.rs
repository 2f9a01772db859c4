//! What a conversation needs of a protocol with streams: right answers, and those that the script wants.
//!
//! Knows streams by numbers that grow, and answers by their parts. Must not know routes, nor frames.
//!
//! What is written is appended to `out`, where a protocol goes over one stream of bytes; one that has
//! streams of its own below it keeps it until its transport takes it.

use std::fmt::Debug;

use wiretrial_proto::{Arrival, ProtocolError, Scratch, Step};

use crate::script::FaultKind;
use crate::sink::Sink;

/// Fields, their names in lower case.
pub(super) type Fields<'a> = &'a [(&'a str, &'a [u8])];

/// Why a stream is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Nothing was done with the request: it may go again.
    Refused,
    /// The client makes no room for what it asks for.
    TooMuch,
}

/// The server's side of a protocol with streams.
pub(crate) trait Codec: Debug {
    /// One for a new connection.
    fn begin() -> Self;

    /// Takes bytes from the front of `input` up to the next event.
    fn receive<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Arrival<'a, u32>>, ProtocolError>;

    /// The head of an answer; `is_end`: it has no content.
    fn respond(
        &mut self,
        stream: u32,
        status: u16,
        fields: Fields<'_>,
        is_end: bool,
        out: &mut Vec<u8>,
    );

    /// Content of an answer.
    fn content(&mut self, stream: u32, piece: &[u8], is_end: bool, out: &mut Vec<u8>);

    /// Fields behind the content of an answer, which they end.
    fn trailers(&mut self, stream: u32, fields: Fields<'_>, out: &mut Vec<u8>);

    /// Ends a stream without an answer, or in the middle of one.
    fn give_up(&mut self, stream: u32, why: Why, out: &mut Vec<u8>);

    /// Says that no more requests are taken.
    fn leave(&mut self, out: &mut Vec<u8>);

    /// Bytes of answers that wait until the client allows more.
    fn held(&self) -> usize;

    /// Requests that came and are not answered.
    fn open_streams(&self) -> usize;

    /// What is appended from here on is one whole reply, which is [taken](Self::take_kept) then. Gives what
    /// is held before it.
    fn begin_kept(&mut self) -> usize;

    /// The bytes of the reply that began where so much was held; none: windows hold a part of it back, and it
    /// goes as any other.
    fn take_kept(&mut self, held: usize, out: &mut Vec<u8>) -> Option<Vec<u8>>;

    /// Sends a kept reply on a stream, whichever it was made for.
    fn send_kept(&mut self, on: Place, bytes: &[u8], out: &mut Vec<u8>);

    /// Sends the head of a kept reply, and gives its content.
    fn send_head(&mut self, on: Place, bytes: &[u8], out: &mut Vec<u8>) -> Vec<u8>;

    /// Sends content behind that head.
    fn send_piece(&mut self, on: Place, content: &[u8], is_end: bool, out: &mut Vec<u8>);

    /// Resets a stream behind what was sent on it of a kept reply.
    fn break_off(&mut self, stream: u32, out: &mut Vec<u8>);

    /// Leaves, having looked at no request from this stream on.
    fn leave_before(&mut self, stream: u32, out: &mut Vec<u8>);

    /// Sends a kept reply with a fault of its bytes: garbage, cut off, or twice. True: its stream is over, and
    /// the others go on.
    fn spoil(
        &mut self,
        on: Place,
        number: u64,
        fault: FaultKind,
        bytes: &[u8],
        sink: &mut Sink<'_>,
    ) -> bool;

    /// Sends what no right server does. True: in place of the reply, else before it. What a protocol does not
    /// have is left out.
    fn misbehave(&mut self, stream: u32, fault: FaultKind, out: &mut Vec<u8>) -> bool;
}

/// Where a kept reply goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) stream: u32,
    /// Something follows it there.
    pub(crate) goes_on: bool,
}
