//! A deterministic world under the real worker: what it does when its peers do anything at all.
//!
//! Knows how a seed becomes a plan, peers and a network, and what must hold of every run. Must not
//! change what it watches: the worker, its connections, codecs, executors and recorders are those
//! of a normal build; only the clock, the sockets and the peers are simulated.
//!
//! Beside those worlds that a seed makes stand some that are written out (`scripted`): what must come of them is
//! known to the nanosecond. Those over QUIC (`quic`) have datagrams in place of streams of bytes, and servers of HTTP/3.
//!
//! To repeat a seed: `WIRETRIAL_SEED=7 cargo test -p wiretrial-load --lib one_seed -- --nocapture`.

mod acks;
mod answers;
mod around;
mod checks;
mod company;
mod conversation;
mod draw;
mod draw_talk;
mod draw_traffic;
mod events;
mod facts;
mod fault;
mod frames;
mod leading;
mod peer;
mod peers;
mod quic;
mod scenario;
mod scripted;
mod secure;
mod sessions;
mod spoken;
mod streams;
mod strikes;
mod talk;
mod tests;
mod world;
