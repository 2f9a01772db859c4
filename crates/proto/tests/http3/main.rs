//! HTTP/3: streams of frames, each whole, byte by byte and cut in two at every place.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod calls;
mod client;
mod frames;
mod play;
mod round_trip;
mod server;
mod tables;
mod websockets;
