//! WebSocket (RFC 6455): a client and a server codec, with permessage-deflate (RFC 7692).
//!
//! Knows the upgrade, frames, messages and the close. Must not know sockets, clocks, or where
//! entropy comes from. Of HTTP it borrows the reading of a head from [`http1`](crate::http1).

mod client;
mod close;
mod config;
mod deflate;
mod frame;
mod handshake;
pub(crate) mod mask;
mod message;
mod random;
mod server;
mod utf8;

pub use client::WebSocketClient;
pub use config::{BadWebSocketConfig, WebSocketConfig};
pub use deflate::{BadDeflate, DeflateAnswer, DeflateConfig, Extensions};
pub use handshake::accept_key;
pub use server::WebSocketServer;
