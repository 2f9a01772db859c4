//! HTTP/2 (RFC 9113) and its field compression (RFC 7541).
//!
//! Knows frames, streams, windows and settings of one connection. Must not know what a request means
//! or when it is due, nor TLS: who agreed on the protocol, and how, is the caller's.
//!
//! ```text
//! client, server -> connection -> streams, settings, allowance -> frame, hpack
//! client -> request, call;   client, server -> inbound
//! ```

mod allowance;
mod call;
mod client;
mod connection;
mod frame;
pub mod hpack;
mod inbound;
mod request;
mod server;
mod settings;
mod streams;

pub use allowance::Http2Use;
pub use client::Http2Client;
pub use connection::Http2Limits;
pub use frame::{ErrorCode, PREFACE};
pub use request::{Http2Request, sent_request};
pub use server::{Http2Event, Http2Server};
pub use settings::Settings;
