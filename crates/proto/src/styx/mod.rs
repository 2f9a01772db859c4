//! Styx: packets of a table game, binary or JSON, over a byte stream or over WebSocket.
//!
//! Knows packets, their two encodings and the way to a seat (log in, join a table). Must not know
//! sockets, clocks, or which copy of a message is owed to whom.
//!
//! A binary packet is its own length (four bytes, big-endian, themselves included), its class (one
//! byte) and its fields: integers big-endian, a string as two bytes of length and UTF-8, a list or
//! array as four bytes of count and its elements, a truth value as one byte. A JSON packet is an
//! object with `classId` and the fields by name, arrays of bytes in base64; on a byte stream it is a
//! line. Over WebSocket a packet is one message: binary, or text for JSON. What a game sends is a
//! packet inside a packet ([`Packet::Game`]), and that one is binary in either encoding. The classes
//! from 200 on are an addition: they tell the lobby ([`Lobby`]).

mod binary;
mod client;
mod fields;
mod game;
mod intake;
mod json;
mod lobby;
mod packet;
mod server;

pub use client::{StyxClient, StyxConfig};
pub use game::{LoadRequest, LoadResponse};
pub use lobby::{Listed, Lobby, MOST_LISTED};
pub use packet::{Attribute, OK, Packet, class};
pub use server::{StyxEvent, StyxServer};

use crate::{ErrorClass, MessageKind, ProtocolError};

/// Longest packet that is accepted, bytes as they travel.
pub const MAX_PACKET: usize = 64 * 1024;

/// How packets are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Length, class, fields.
    Binary,
    /// One object; on a byte stream one line.
    Json,
}

impl Encoding {
    /// Kind of the WebSocket messages that carry such packets.
    pub fn kind(self) -> MessageKind {
        match self {
            Self::Binary => MessageKind::Binary,
            Self::Json => MessageKind::Text,
        }
    }

    /// Reads one packet, of which `bytes` is all. `room` takes what does not stand there as it is.
    ///
    /// # Errors
    /// It is none.
    pub fn read<'a>(
        self,
        bytes: &'a [u8],
        room: &'a mut Vec<u8>,
    ) -> Result<Packet<'a>, ProtocolError> {
        match self {
            Self::Binary => binary::read(bytes),
            Self::Json => json::read(bytes, room),
        }
    }

    /// Appends one packet, without the end of a line.
    ///
    /// A string is at most 65,535 bytes long; of a longer one what fits is written.
    pub fn append(self, packet: &Packet<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Binary => binary::append(packet, out),
            Self::Json => json::append(packet, out),
        }
    }
}

/// An error for bytes that are no packet.
#[cold]
const fn broken(detail: &'static str) -> ProtocolError {
    ProtocolError::new(ErrorClass::Protocol, detail)
}

#[cold]
const fn too_big() -> ProtocolError {
    ProtocolError::new(ErrorClass::TooBig, "a packet over 64 KiB")
}

#[cold]
const fn not_utf8() -> ProtocolError {
    ProtocolError::new(ErrorClass::Utf8, "a packet with text that is not UTF-8")
}
