//! The Styx codecs against bytes written by hand, against each other, and against anything at all.

mod client;
mod limits;
mod properties;
mod server;
mod stage;
mod vectors;
