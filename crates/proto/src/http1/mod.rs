//! HTTP/1.1 (RFC 9110, RFC 9112).
//!
//! Knows messages on one connection: heads, bodies, who answers what, when the connection ends.
//! Must not know what a request means or when it is due.

mod chunked;
mod client;
mod date;
mod framing;
mod inbound;
mod request;
mod respond;
mod server;
mod target;
mod waiting;

pub use client::Http1Client;
pub use date::DateField;
pub use request::{BadRequest, HeadPart, PayloadLength, RequestHead};
pub(crate) use request::{expects_a_body, trimmed};
pub use respond::BodyLength;
pub(crate) use respond::decimal;
pub use server::Http1Server;
