//! One message over its frames: what is still to come, how long it grows, whether it is text.
//!
//! Knows the order of data frames (RFC 6455 section 5.4); must not know bytes on the wire,
//! masks or control frames. Holds no payload.

use super::frame::{Header, Opcode};
use super::utf8::Utf8;
use crate::{ErrorClass, MessageKind, ProtocolError};

/// The message that is being received, if one is.
#[derive(Debug)]
pub(super) struct Incoming {
    /// Bytes of the current frame still to come.
    remaining: u64,
    /// Bytes of all frames so far, as their headers announced them; of a compressed message what
    /// came out of it so far.
    length: u64,
    kind: MessageKind,
    /// Between two characters whenever no message is under way.
    text: Utf8,
    under_way: bool,
    /// The current frame is the last one of the message under way.
    last: bool,
    /// The current frame is the first one.
    first: bool,
    coding: Coding,
}

/// How a message's bytes are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Plain,
    Compressed,
    /// As before, and there may be more of what was taken than was given out.
    HeldBack,
}

impl Incoming {
    /// No message under way.
    pub(super) const NONE: Self = Self {
        remaining: 0,
        length: 0,
        kind: MessageKind::Binary,
        text: Utf8::START,
        under_way: false,
        last: false,
        first: false,
        coding: Coding::Plain,
    };

    /// Takes the header of the next data frame, which fits the state: that is checked by
    /// [`Header::read`] with [`is_under_way`](Self::is_under_way).
    #[inline]
    pub(super) fn begin_frame(&mut self, header: &Header, limit: u64) -> Result<(), ProtocolError> {
        self.first = header.opcode != Opcode::Continuation;
        if self.first {
            self.kind = match header.opcode {
                Opcode::Text => MessageKind::Text,
                _ => MessageKind::Binary,
            };
            self.under_way = true;
            self.length = 0;
            self.coding = if header.compressed { Coding::Compressed } else { Coding::Plain };
        }
        self.last = header.last;
        self.remaining = header.length;
        if self.is_compressed() {
            return Ok(());
        }
        // Saturating, because the limit may be all that fits.
        self.length = self.length.saturating_add(header.length);
        if self.length > limit {
            return Err(too_big());
        }
        Ok(())
    }

    /// How many of `available` bytes belong to the current frame.
    #[inline]
    pub(super) fn available(&self, available: usize) -> usize {
        usize::try_from(self.remaining).map_or(available, |all| all.min(available))
    }

    /// As before, and counts them as taken.
    #[inline]
    pub(super) fn take(&mut self, available: usize) -> usize {
        let taken = self.available(available);
        self.remaining -= taken as u64;
        taken
    }

    /// Checks the bytes that [`take`](Self::take) counted, without their mask. A text that ends
    /// inside a character is refused with its last piece, so that nobody passes that one on.
    #[inline]
    pub(super) fn check(&mut self, piece: &[u8]) -> Result<(), ProtocolError> {
        if self.kind != MessageKind::Text {
            return Ok(());
        }
        self.text.push(piece).map_err(|_| not_utf8())?;
        if self.is_complete() && !self.text.is_whole() { Err(not_utf8()) } else { Ok(()) }
    }

    /// Counts and checks what came out of a compressed message. What is over the limit is over
    /// it whatever it is, what is before it must be text first.
    pub(super) fn grow(&mut self, piece: &[u8], limit: u64) -> Result<(), ProtocolError> {
        let room = usize::try_from(self.room(limit)).unwrap_or(usize::MAX);
        if self.kind == MessageKind::Text {
            self.text.push(&piece[..piece.len().min(room)]).map_err(|_| not_utf8())?;
        }
        self.length += piece.len() as u64;
        if piece.len() > room { Err(too_big()) } else { Ok(()) }
    }

    /// Ends the message, of which all is there.
    #[inline]
    pub(super) fn finish(&mut self) -> Result<MessageKind, ProtocolError> {
        self.under_way = false;
        self.last = false;
        self.coding = Coding::Plain;
        if !self.text.is_whole() {
            return Err(not_utf8());
        }
        Ok(self.kind)
    }

    /// Is a message begun and not finished?
    #[inline]
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way
    }

    /// Is payload of the current frame still to come, from the peer or out of what it sent?
    #[inline]
    pub(super) fn expects_payload(&self) -> bool {
        self.remaining > 0 || self.is_held_back()
    }

    /// Is a compressed message under way?
    #[inline]
    pub(super) fn is_compressed(&self) -> bool {
        self.coding != Coding::Plain
    }

    /// May there be more of a compressed message than was given out of the bytes taken?
    #[inline]
    pub(super) fn is_held_back(&self) -> bool {
        self.coding == Coding::HeldBack
    }

    /// Notes whether there may be more of a compressed message.
    pub(super) fn hold_back(&mut self, more: bool) {
        self.coding = if more { Coding::HeldBack } else { Coding::Compressed };
    }

    /// Bytes that the message under way may still grow by.
    pub(super) fn room(&self, limit: u64) -> u64 {
        limit.saturating_sub(self.length)
    }

    /// Is all of the message there, so that it can be finished?
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.last && !self.expects_payload()
    }

    /// Kind of the message under way.
    pub(super) fn kind(&self) -> MessageKind {
        self.kind
    }

    /// Length of the message under way where its first frame is the last one and tells it.
    pub(super) fn known_length(&self) -> Option<u64> {
        (self.first && self.last && !self.is_compressed()).then_some(self.length)
    }
}

#[cold]
fn too_big() -> ProtocolError {
    ProtocolError::new(ErrorClass::TooBig, "a message longer than the limit")
}

#[cold]
fn not_utf8() -> ProtocolError {
    ProtocolError::new(ErrorClass::Utf8, "a text message that is not UTF-8")
}
