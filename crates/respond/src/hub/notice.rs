//! What the server tells a connection without being asked.
//!
//! Knows contents; must not know how they are encoded or delivered.

use std::sync::Arc;

use wiretrial_proto::MessageKind;
use wiretrial_proto::styx::{LoadResponse, Lobby};

/// What one connection is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The table of the connection has responded to one of its players.
    Response(LoadResponse),
    /// A snapshot of the lobby.
    Lobby(Arc<Lobby>),
    /// A message to everybody in the broadcast.
    Broadcast(Arc<Broadcast>),
    /// A stream of the connection has something to say.
    Due {
        /// Which one, where a connection has several.
        stream: u32,
        /// By when it is due, nanoseconds.
        now: u64,
    },
}

/// A message to everybody in the broadcast.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Broadcast {
    pub(crate) kind: MessageKind,
    pub(crate) payload: Vec<u8>,
}
