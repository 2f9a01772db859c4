//! What each message carries, and whether what came back is right.
//!
//! Knows payloads by sequence number: the same number always gives the same bytes, so
//! nothing is remembered per message. Must not know protocols, connections or time.

mod excerpt;
mod headers;
mod json;
mod long;
mod names;
mod packed;
mod payload;
mod rules;
mod seen;
mod shape;
mod streams;
mod talks;
mod template;
mod told;
pub mod traffic;
mod verify;
mod wire;

pub use excerpt::excerpt;
pub(crate) use long::LONG;
pub use payload::Payloads;
pub(crate) use streams::{Form, Publication, Refused, Stream, Streams};
pub(crate) use talks::message_at;
pub(crate) use template::number_in;
pub use verify::{Mismatch, Progress, Verifier};
