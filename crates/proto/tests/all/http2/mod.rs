//! HTTP/2: conversations of frames, each whole, byte by byte and cut in two at every place.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod alike;
mod calls;
mod client;
mod connects;
mod early;
mod frames;
mod keeping;
mod packed;
mod play;
mod repeats;
mod round_trip;
mod server;
mod websockets;
mod windows;
