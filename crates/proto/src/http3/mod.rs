//! HTTP/3 (RFC 9114) and its field compression (RFC 9204): what stands on the streams of QUIC.
//!
//! Knows frames, settings and blocks of fields. Must not know QUIC: who opens a stream, how its bytes
//! come in order and what a lost packet does is the transport's.
//!
//! ```text
//! message, control -> frame, settings -> varint;   request -> qpack, crate::fielded
//! ```

mod control;
mod frame;
mod message;
pub mod qpack;
mod request;
mod settings;
pub mod varint;

pub use control::{ControlReader, Said};
pub use frame::{
    ErrorCode, FrameHead, Kind, StreamKind, write_data_head, write_goaway, write_headers,
};
pub use message::{MessageReader, Part, Taken};
pub use request::Http3Request;
pub use settings::Settings;
