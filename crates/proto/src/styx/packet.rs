//! What a packet says.
//!
//! Knows classes and fields; must not know how they are written.

use std::borrow::Cow;

use super::lobby::Lobby;

/// Status of a response that grants what was asked for.
pub const OK: u8 = 0;

/// The classes that are told apart.
pub mod class {
    /// [`Packet::Bad`](super::Packet::Bad).
    pub const BAD: u8 = 3;
    /// [`Packet::Ping`](super::Packet::Ping).
    pub const PING: u8 = 7;
    /// [`Packet::LoginRequest`](super::Packet::LoginRequest).
    pub const LOGIN_REQUEST: u8 = 10;
    /// [`Packet::LoginResponse`](super::Packet::LoginResponse).
    pub const LOGIN_RESPONSE: u8 = 11;
    /// [`Packet::JoinRequest`](super::Packet::JoinRequest).
    pub const JOIN_REQUEST: u8 = 30;
    /// [`Packet::JoinResponse`](super::Packet::JoinResponse).
    pub const JOIN_RESPONSE: u8 = 31;
    /// [`Packet::LeaveRequest`](super::Packet::LeaveRequest).
    pub const LEAVE_REQUEST: u8 = 36;
    /// [`Packet::LeaveResponse`](super::Packet::LeaveResponse).
    pub const LEAVE_RESPONSE: u8 = 37;
    /// [`Packet::Game`](super::Packet::Game).
    pub const GAME: u8 = 100;
    /// [`Packet::LobbySubscribe`](super::Packet::LobbySubscribe).
    pub const LOBBY_SUBSCRIBE: u8 = 200;
    /// [`Packet::LobbySnapshot`](super::Packet::LobbySnapshot).
    pub const LOBBY_SNAPSHOT: u8 = 201;
}

/// One packet. Strings and bytes are borrowed wherever they stand in the input as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet<'a> {
    /// A packet was not understood.
    Bad {
        /// Its class.
        class: u8,
        /// Why.
        error: u8,
    },
    /// Is anybody there? Answered with the same.
    Ping {
        /// The asker's own number.
        id: i32,
    },
    /// A player comes.
    LoginRequest {
        /// Name.
        user: Cow<'a, str>,
        /// Password.
        password: Cow<'a, str>,
        /// Whose player it is.
        operator: i32,
        /// What else proves it.
        credentials: Cow<'a, [u8]>,
    },
    /// The player may come in, or not.
    LoginResponse {
        /// Name that the others see.
        name: Cow<'a, str>,
        /// The player's number.
        player: i32,
        /// [`OK`], or not.
        status: u8,
        /// Why.
        code: i32,
        /// The same for people.
        message: Cow<'a, str>,
        /// What proves it from now on.
        credentials: Cow<'a, [u8]>,
    },
    /// A player wants to sit. Parameters are not kept, and none are written.
    JoinRequest {
        /// Where.
        table: i32,
        /// On which seat; -1: on any.
        seat: i8,
    },
    /// The player sits, or not.
    JoinResponse {
        /// Where.
        table: i32,
        /// On which seat.
        seat: i8,
        /// [`OK`], or not.
        status: u8,
        /// Why.
        code: i32,
    },
    /// A player wants to stand up.
    LeaveRequest {
        /// Where.
        table: i32,
    },
    /// The player has left, or not.
    LeaveResponse {
        /// Where.
        table: i32,
        /// [`OK`], or not.
        status: u8,
        /// Why.
        code: i32,
    },
    /// What the game itself has to say, to a table or from it.
    Game {
        /// Which table.
        table: i32,
        /// Whose action it is.
        player: i32,
        /// A binary packet of the game.
        data: &'a [u8],
        /// Notes for the server.
        attributes: Vec<Attribute<'a>>,
    },
    /// A player looks at the lobby from now on. It is answered by the next snapshot.
    LobbySubscribe,
    /// What all who look at the lobby are told.
    LobbySnapshot(Lobby),
    /// One of a class that is not told apart: skipped.
    Other(u8),
}

/// A note for the server. Its class is 8, which is not written where it stands in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Value.
    pub value: Cow<'a, str>,
}

impl Packet<'_> {
    /// The class that stands on the wire.
    pub fn class(&self) -> u8 {
        match self {
            Self::Bad { .. } => class::BAD,
            Self::Ping { .. } => class::PING,
            Self::LoginRequest { .. } => class::LOGIN_REQUEST,
            Self::LoginResponse { .. } => class::LOGIN_RESPONSE,
            Self::JoinRequest { .. } => class::JOIN_REQUEST,
            Self::JoinResponse { .. } => class::JOIN_RESPONSE,
            Self::LeaveRequest { .. } => class::LEAVE_REQUEST,
            Self::LeaveResponse { .. } => class::LEAVE_RESPONSE,
            Self::Game { .. } => class::GAME,
            Self::LobbySubscribe => class::LOBBY_SUBSCRIBE,
            Self::LobbySnapshot(_) => class::LOBBY_SNAPSHOT,
            Self::Other(class) => *class,
        }
    }
}
