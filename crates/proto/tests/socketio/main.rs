//! The Socket.IO codecs against bytes written by hand, against each other, and against anything.

#[path = "../common/mod.rs"]
mod common;

mod client;
mod properties;
mod server;
mod stage;
