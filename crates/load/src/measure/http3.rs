//! HTTP/3 in snapshots: what came in the way of messages, and how QUIC carried them.
//!
//! Knows the names of the JSON. Must not know how a connection counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What came in the way of messages over HTTP/3, and what QUIC did to carry them. All but `refused` is counted when a
/// connection ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Http3Figures {
    /// Servers that took their leave of a connection (GOAWAY).
    pub goaways: u64,
    /// Messages that the server refused (`H3_REQUEST_REJECTED`); each went again, unless it was the last of very many.
    pub refused: u64,
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Calls to the kernel that sent them, several at once where it can (GSO).
    pub sends: u64,
    /// Datagrams received.
    pub datagrams_received: u64,
    /// Calls to the kernel that brought them, several at once where it can (GRO).
    pub receives: u64,
    /// Datagrams that this machine dropped, because nobody had read those before them; where the kernel tells.
    pub datagrams_dropped: u64,
    /// Packets sent; the first datagrams of a connection hold several.
    pub packets_sent: u64,
    /// Packets that were taken for lost, and what was in them sent again.
    pub packets_lost: u64,
    /// How often a congestion window was cut.
    pub congestion_events: u64,
    /// How often datagrams of the largest size stopped to come through.
    pub black_holes: u64,
    /// Connections that have stood and ended: what is added up below is of their ends.
    pub ended: u64,
    /// Their congestion windows, bytes.
    pub congestion_windows: u64,
    /// Their smoothed round trip times, nanoseconds.
    pub round_trips_ns: u64,
    /// The largest datagrams that their paths carry, as far as is known, bytes.
    pub largest_datagrams: u64,
    /// For how long messages were given to QUIC and had to wait for a window of the server's, nanoseconds, over all
    /// connections.
    pub sends_held_ns: u64,
    /// Connections on which messages were sent before the handshake's end (0-RTT), and the server took them.
    pub early_accepted: u64,
    /// The same, and the server refused them, so that they went again.
    pub early_refused: u64,
}

impl Http3Figures {
    /// Adds what was counted elsewhere.
    pub(crate) fn add(&mut self, other: &Self) {
        self.goaways += other.goaways;
        self.refused += other.refused;
        self.datagrams_sent += other.datagrams_sent;
        self.sends += other.sends;
        self.datagrams_received += other.datagrams_received;
        self.receives += other.receives;
        self.datagrams_dropped += other.datagrams_dropped;
        self.packets_sent += other.packets_sent;
        self.packets_lost += other.packets_lost;
        self.congestion_events += other.congestion_events;
        self.black_holes += other.black_holes;
        self.ended += other.ended;
        self.congestion_windows += other.congestion_windows;
        self.round_trips_ns += other.round_trips_ns;
        self.largest_datagrams += other.largest_datagrams;
        self.sends_held_ns += other.sends_held_ns;
        self.early_accepted += other.early_accepted;
        self.early_refused += other.early_refused;
    }
}
