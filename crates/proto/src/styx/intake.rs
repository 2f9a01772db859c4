//! Where a packet begins and ends, in a stream or in WebSocket messages.
//!
//! Knows the framing of both; must not know what a packet says.

use std::ops::Range;

use super::{Encoding, MAX_PACKET, binary, broken, too_big};
use crate::{MessageKind, ProtocolError};

/// Where the next packet of a byte stream lies, and how much of the stream it takes up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Framed {
    pub(super) packet: Range<usize>,
    pub(super) consumed: usize,
}

/// Finds the packet at the front of `input`; none while it is not all there.
#[inline]
pub(super) fn frame(encoding: Encoding, input: &[u8]) -> Result<Option<Framed>, ProtocolError> {
    match encoding {
        Encoding::Binary => {
            let length = binary::length(input)?.filter(|length| *length <= input.len());
            Ok(length.map(|length| Framed { packet: 0..length, consumed: length }))
        }
        Encoding::Json => {
            let searched = &input[..input.len().min(MAX_PACKET + 1)];
            match searched.iter().position(|byte| *byte == b'\n') {
                Some(end) => Ok(Some(Framed { packet: 0..end, consumed: end + 1 })),
                None if input.len() > MAX_PACKET => Err(too_big()),
                None => Ok(None),
            }
        }
    }
}

/// Appends what ends a packet in a byte stream.
#[inline]
pub(super) fn terminate(encoding: Encoding, out: &mut Vec<u8>) {
    if encoding == Encoding::Json {
        out.push(b'\n');
    }
}

/// A WebSocket message that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    bytes: Vec<u8>,
    /// The message under way is complete, and is forgotten with the next piece.
    complete: bool,
}

impl Pieces {
    /// Takes a piece. The WebSocket codec has seen to it that all of them are within the limit.
    pub(super) fn add(&mut self, piece: &[u8]) {
        if std::mem::take(&mut self.complete) {
            self.bytes.clear();
        }
        self.bytes.extend_from_slice(piece);
    }

    /// The message is complete.
    pub(super) fn complete(&mut self) {
        if std::mem::replace(&mut self.complete, true) {
            self.bytes.clear();
        }
    }

    /// Did a piece come of a message that is not complete?
    pub(super) fn is_begun(&self) -> bool {
        !self.complete && !self.bytes.is_empty()
    }

    /// The last message.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Is this the kind of message that carries packets of this encoding?
pub(super) fn check_kind(encoding: Encoding, kind: MessageKind) -> Result<(), ProtocolError> {
    if kind == encoding.kind() {
        return Ok(());
    }
    Err(broken(match encoding {
        Encoding::Binary => "a text message where packets are binary",
        Encoding::Json => "a binary message where packets are JSON",
    }))
}
