//! QUIC (RFC 9000) as a transport: streams of bytes over datagrams, encrypted by the same TLS settings.
//!
//! Knows datagrams, streams, timers and counters. Must not know what the bytes of a stream mean, nor
//! who else waits in the same poller.
//!
//! Two layers. [`ClientCore`] and [`ServerCore`] are without IO: datagrams go in with the instant at which
//! they came, and datagrams, events and the next deadline come out. quinn-proto does the protocol there.
//! [`QuicClient`] and [`QuicServer`] put a [`UdpSocket`] below: one connected socket per connection of
//! a client, one for all connections of a server. Their descriptors are the caller's to poll.
//!
//! A turn is the same for all four: `receive` what came, `on_deadline` when it has passed, take `event`s
//! until there is none, read and write streams, then `transmit` (or `flush`) and sleep until `deadline`.
//! Instants are nanoseconds of one clock, whichever it is; they must not go backwards. Streams have
//! QUIC's own numbers (section 2.1): bit 0 tells who opened it, bit 1 whether both sides send.
//!
//! What is to be sent is given to a stream by `Connection::send`, which opens it if need be and keeps what
//! finds no window; or by `write`, which takes only what goes.
//!
//! What a thread's connections share in memory is a [`Scratch`]. In steady state nothing is allocated per
//! datagram here; quinn-proto allocates a copy of what is written to a stream until it is acknowledged,
//! the state of a stream, and now and then a node of its tables.

mod client;
mod connection;
mod counters;
mod datagram;
mod ends;
mod fault;
mod ids;
mod server;
mod settings;
mod socket;

pub use client::ClientCore;
pub use connection::{Connection, Direction, Early, Event, Gone, Read};
pub use counters::{ConnectionCounters, ServerCounters, SocketCounters};
pub use datagram::{Arena, Arrival, Scratch, Transmit};
pub use ends::{QuicClient, QuicServer};
pub use fault::Fault;
pub use ids::Share;
pub use server::{Handle, ServerCore};
pub use settings::{
    QuicClientConfig, QuicClientSettings, QuicServerConfig, QuicServerSettings, ResetKey,
    TransportSettings,
};
pub use socket::{UdpSettings, UdpSocket};
