//! The reference server: HTTP/1.1, HTTP/2, WebSocket and raw echo, each plain and over TLS; HTTP/3; a
//! table server (Styx) and a Socket.IO service.
//!
//! Knows right answers, and how to answer wrongly or late on purpose (the script). Must not know the
//! load generator: the two meet only on the wire.
//!
//! `server` starts threads, each with a `worker`, which gives a `connection` its turns. A connection
//! passes input to its `protocol`, which has one `conversation` at a time. That appends answers to a
//! `sink`, and reaches other connections through the `hub`. Connections of HTTP/3 are those of `quic`,
//! which passes what comes on their streams to a `conversation`. Modules import each other in this
//! direction only.
#![forbid(unsafe_code)]

mod connection;
mod content;
mod conversation;
mod events;
mod hub;
mod plan;
mod protocol;
mod quic;
mod route;
mod script;
mod server;
mod service;
mod shared;
mod sink;
mod slab;
mod stage;
mod stats;
mod timers;
mod verdict;
mod worker;

pub use content::{MESSAGE, pattern_at};
pub use plan::{RespondError, ServerPlan};
pub use script::{Delay, Fault, FaultKind, RareDelay, Script, ScriptError, Stall, duration_of};
pub use server::{Addresses, Server, start};
pub use service::{Ended, Exchange, Metadata, Said, Service, Step};
pub use stats::Stats;
pub use wiretrial_net::{Congestion, PollerKind};
pub use wiretrial_proto::websocket::DeflateConfig;
