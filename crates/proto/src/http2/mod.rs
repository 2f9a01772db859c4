//! HTTP/2 (RFC 9113) and its field compression (RFC 7541).
//!
//! Knows frames, streams, windows and settings of one connection. Must not know what a request means
//! or when it is due, nor TLS: who agreed on the protocol, and how, is the caller's.
//!
//! ```text
//! client, server -> connection -> settings, allowance -> frame, hpack;   connection -> crate::streams
//! client, websockets -> request, reset;   client -> said -> connection
//! client, request, said, websockets, server -> crate::fielded;   request -> settings, hpack
//! ```

mod allowance;
mod client;
mod connection;
mod frame;
pub mod hpack;
mod request;
mod reset;
mod said;
mod server;
mod settings;
mod websockets;

pub use crate::fielded::{Connect, RequestFields};
pub use allowance::Http2Use;
pub use client::Http2Client;
pub use connection::Http2Limits;
pub use frame::{ErrorCode, PREFACE};
pub use request::{Http2Connect, Http2Request, sent_request};
pub use server::{Http2Event, Http2Server};
pub use settings::Settings;
pub use websockets::Http2WebSockets;
