//! The WebSocket codecs against tables of bytes, against each other and against the RFC.

mod conversation;
mod deflate;
mod handshake;
mod messages;
mod rejections;
mod round_trips;
mod sending;
mod short_way;
mod wire;
