//! The Socket.IO codecs against bytes written by hand, against each other, and against anything.

mod client;
mod properties;
mod server;
mod stage;
