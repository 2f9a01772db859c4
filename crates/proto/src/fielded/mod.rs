//! A message as a list of fields and its content: what HTTP/2 and HTTP/3 say alike.
//!
//! Knows which fields make a message, how a request is rendered once and copied, and what of it is worth keeping
//! with the peer, and where a call of gRPC has its status and its messages. Must not know frames, nor how fields are
//! compressed: who packs them says how.
//!
//! ```text
//! request -> inbound;   pool -> wire;   request, call, unpacking -> crate::grpc
//! ```

pub(crate) mod arrival;
pub(crate) mod call;
pub(crate) mod inbound;
pub(crate) mod keeping;
pub(crate) mod pool;
mod request;
pub(crate) mod unpacking;
pub(crate) mod wire;

pub use arrival::{Arrival, Connect, RequestFields};
pub(crate) use request::{Origin, Packing, Rendered, websocket};

/// So many messages may be refused one after the other and go again; then the next ones have failed.
pub(crate) const MOST_REFUSED: u32 = 1_000;
