//! WebSocket (RFC 6455): a client and a server codec, with permessage-deflate (RFC 7692).
//!
//! Knows the upgrade, frames, messages and the close. Must not know sockets, clocks, or where
//! entropy comes from. The reading of
//! heads it shares with HTTP.

mod client;
mod close;
mod config;
mod deflate;
mod frame;
mod handshake;
mod message;
mod random;
mod server;
mod utf8;

pub use client::WebSocketClient;
pub use config::{BadWebSocketConfig, WebSocketConfig};
pub use deflate::{BadDeflate, DeflateAnswer, DeflateConfig};
pub use handshake::accept_key;
pub use server::WebSocketServer;

pub(crate) use handshake::{judge_connected, refusal};
