//! HTTP/3 (RFC 9114) and its field compression (RFC 9204): what stands on the streams of QUIC.
//!
//! Knows frames, settings, blocks of fields, and the two sides of a conversation. Must not know QUIC:
//! who opens a stream, how its bytes come in order and what a lost packet does is the transport's.
//! Streams have QUIC's numbers; a session is told what came on each, and says what is to be done.
//!
//! ```text
//! client, server -> numbers, settings, unidirectional, incoming, outgoing;   client -> replied, request
//! websockets -> client, request, replied
//! unidirectional, replied, server -> tables -> request, wrong, broken;   unidirectional -> control
//! incoming, request -> message;   incoming -> wrong;   message, control -> frame, settings -> varint
//! tables, request -> qpack;   client, wrong, request -> crate::fielded
//! ```

mod broken;
mod client;
mod control;
mod frame;
mod incoming;
mod message;
mod numbers;
mod outgoing;
pub mod qpack;
mod replied;
mod request;
mod server;
mod settings;
mod tables;
mod unidirectional;
pub mod varint;
mod websockets;
mod wrong;

pub use crate::fielded::{Connect, RequestFields};
pub use client::Http3Client;
pub use control::{ControlReader, Said};
pub use frame::{
    ErrorCode, FrameHead, Kind, StreamKind, write_data_head, write_goaway, write_headers,
};
pub use message::{MessageReader, Part, Taken};
pub use outgoing::{Action, Outgoing};
pub use request::{Http3Connect, Http3Request, sent_request};
pub use server::{Http3Event, Http3Server};
pub use settings::{Http3Limits, Settings};
pub use websockets::Http3WebSockets;
