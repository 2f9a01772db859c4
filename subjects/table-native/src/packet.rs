//! What players say and are told.
//!
//! Knows packets and which encoding is whose; must not know bytes, connections or tables.

use bytes::Bytes;

use crate::{binary, json};

/// No packet is longer, as it travels.
pub(crate) const LARGEST: usize = 64 * 1024;

pub(crate) const BAD: u8 = 3;
pub(crate) const PING: u8 = 7;
pub(crate) const LOGIN_REQUEST: u8 = 10;
pub(crate) const LOGIN_RESPONSE: u8 = 11;
pub(crate) const JOIN_REQUEST: u8 = 30;
pub(crate) const JOIN_RESPONSE: u8 = 31;
pub(crate) const LEAVE_REQUEST: u8 = 36;
pub(crate) const LEAVE_RESPONSE: u8 = 37;
pub(crate) const GAME: u8 = 100;
pub(crate) const LOBBY_SUBSCRIBE: u8 = 200;
pub(crate) const LOBBY_SNAPSHOT: u8 = 201;

/// Bytes that are no packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoPacket;

/// How packets are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Binary,
    Json,
}

/// What a player says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Ping(i32),
    LogIn(String),
    Join {
        table: i32,
        seat: i8,
    },
    Leave(i32),
    Act {
        table: i32,
        action: Action,
    },
    Look,
    /// A class that nobody answers, or another packet of the game.
    Unknown(u8),
}

/// An action, and with it the table's response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) player: i32,
    pub(crate) table: i32,
    pub(crate) number: u32,
    /// Milliseconds.
    pub(crate) delay: u32,
    pub(crate) resend: bool,
}

/// What a player is told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Bad {
        class: u8,
        error: u8,
    },
    Ping(i32),
    LoggedIn {
        name: String,
        player: i32,
        status: u8,
    },
    Joined {
        table: i32,
        seat: i8,
        status: u8,
    },
    Left {
        table: i32,
        status: u8,
    },
    /// Somebody at the table has acted.
    Copy(Action),
    Lobby(Lobby),
}

/// How the tables are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lobby {
    pub(crate) number: u32,
    pub(crate) tables: u32,
    pub(crate) players: u32,
    /// Tables and how many sit there.
    pub(crate) listed: Vec<(i32, u32)>,
}

impl Encoding {
    /// A binary packet begins with its length, of which the first byte is 0.
    pub(crate) fn of_first(byte: u8) -> Self {
        if byte == b'{' { Self::Json } else { Self::Binary }
    }

    /// The packet that these bytes are.
    pub(crate) fn read(self, bytes: &[u8]) -> Result<Request, NoPacket> {
        match self {
            Self::Binary => binary::read(bytes),
            Self::Json => json::read(bytes),
        }
    }

    /// The packet as it travels, without the end of a line.
    pub(crate) fn write(self, reply: &Reply) -> Bytes {
        match self {
            Self::Binary => binary::write(reply),
            Self::Json => json::write(reply),
        }
        .into()
    }
}
