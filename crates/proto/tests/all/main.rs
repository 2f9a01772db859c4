//! The codecs' tests in one binary: each binary more is compiled with what all of them share, and linked.

#[path = "../common/mod.rs"]
mod common;

mod conformance;
mod http1_client;
mod http1_heads;
mod http1_request;
mod http1_round_trip;
mod http1_server;
mod http2;
mod raw;
mod socketio;
mod sse;
mod styx;
mod websocket;
