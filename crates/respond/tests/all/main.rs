//! The server over real sockets, in one binary: each binary more is compiled with what all of them share,
//! and linked. What reads the memory of its process has one of its own.

#[path = "../common/mod.rs"]
mod common;

mod calls;
mod conformance;
mod events;
mod http;
mod http2;
mod http2_faults;
mod http2_websockets;
mod http3;
mod published;
mod raw;
mod scripted_faults;
mod socketio;
mod styx;
mod timing;
mod tls;
mod websocket;
