//! Sans-IO protocol codecs: bytes in, events out.
//!
//! Knows wire formats. Must not know sockets, clocks, threads or what a load
//! generator is: the same codecs drive the engine, its reference server, the
//! fuzz targets and the case tables.
#![forbid(unsafe_code)]

pub mod codec;
mod error;
mod fielded;
mod fields;
pub mod grpc;
mod head;
pub mod http1;
pub mod http2;
pub mod http3;
mod mask;
mod packed;
pub mod raw;
mod scratch;
pub mod session;
pub mod socketio;
pub mod sse;
mod streams;
pub mod styx;
pub mod websocket;

pub use codec::{Close, Condition, MessageKind, ServerCodec, ServerEvent, ServerRequest, Step};
pub use error::{ErrorClass, ProtocolError};
pub use fielded::Arrival;
pub use fields::FieldList;
pub use head::Extensions;
pub use scratch::Scratch;
pub use session::{
    Bulletin, ClientSession, Delivery, Event, Fill, Message, Pieces, Reply, ReplyHead, Tag,
};
