//! The game that loads a table: a player's request, and the table's response to everybody.
//!
//! Knows the two packets that travel inside [`Packet::Game`](super::Packet::Game); must not know
//! how that one is written.

use super::binary;
use super::broken;
use super::fields::append_i32;
use crate::ProtocolError;

/// Class of a [`LoadRequest`] among the packets of the game.
const REQUEST: u8 = 1;
/// Class of a [`LoadResponse`].
const RESPONSE: u8 = 2;

/// A player's action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadRequest {
    /// Whose.
    pub player: i32,
    /// Where.
    pub table: i32,
    /// How many came before it, by this player; wraps around.
    pub seq: u32,
    /// How long the table shall wait before it responds, milliseconds.
    pub delay: i32,
    /// It was sent before.
    pub resend: bool,
}

/// The table's response, of which each player there gets a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadResponse {
    /// Whose action it was.
    pub player: i32,
    /// Where.
    pub table: i32,
    /// The action's number.
    pub seq: u32,
    /// As in the request.
    pub resend: bool,
}

impl LoadRequest {
    /// Appends it as a packet of the game.
    #[inline]
    pub fn append(&self, out: &mut Vec<u8>) {
        binary::append_packet(REQUEST, out, |out| {
            append_i32(self.player, out);
            append_i32(self.table, out);
            out.extend_from_slice(&self.seq.to_be_bytes());
            append_i32(self.delay, out);
            out.push(self.resend.into());
        });
    }

    /// Reads a packet of the game; none: it is of another class.
    ///
    /// # Errors
    /// It is no packet.
    pub fn read(data: &[u8]) -> Result<Option<Self>, ProtocolError> {
        let (class, mut fields) = binary::open(data)?;
        if class != REQUEST {
            return Ok(None);
        }
        let request = Self {
            player: fields.i32()?,
            table: fields.i32()?,
            seq: fields.i32()?.cast_unsigned(),
            delay: fields.i32()?,
            resend: fields.bool()?,
        };
        fields.end()?;
        if request.delay < 0 {
            return Err(broken("a delay below 0"));
        }
        Ok(Some(request))
    }
}

impl LoadResponse {
    /// Appends it as a packet of the game.
    #[inline]
    pub fn append(&self, out: &mut Vec<u8>) {
        binary::append_packet(RESPONSE, out, |out| {
            append_i32(self.player, out);
            append_i32(self.table, out);
            out.extend_from_slice(&self.seq.to_be_bytes());
            out.push(self.resend.into());
        });
    }

    /// Reads a packet of the game; none: it is of another class.
    ///
    /// # Errors
    /// It is no packet.
    #[inline]
    pub fn read(data: &[u8]) -> Result<Option<Self>, ProtocolError> {
        let (class, mut fields) = binary::open(data)?;
        if class != RESPONSE {
            return Ok(None);
        }
        let response = Self {
            player: fields.i32()?,
            table: fields.i32()?,
            seq: fields.i32()?.cast_unsigned(),
            resend: fields.bool()?,
        };
        fields.end()?;
        Ok(Some(response))
    }
}
