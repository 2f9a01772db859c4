//! What a connection, a socket and a server count.
//!
//! Knows numbers. Must not know who reads them.

use quinn_proto::ConnectionStats;

/// What a connection did so far, and how its path is now. Nothing here says what pacing held back: the
/// library does not tell it from the congestion window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnectionCounters {
    /// Datagrams sent, and their bytes.
    pub datagrams_sent: u64,
    /// Bytes of them.
    pub bytes_sent: u64,
    /// Batches in which they were sent: datagrams per batch are what GSO saves calls by.
    pub batches_sent: u64,
    /// Datagrams received.
    pub datagrams_received: u64,
    /// Bytes of them.
    pub bytes_received: u64,
    /// Packets sent; a datagram of the handshake holds several.
    pub packets_sent: u64,
    /// Packets that were taken for lost.
    pub packets_lost: u64,
    /// Bytes of them.
    pub bytes_lost: u64,
    /// How often the congestion window was cut.
    pub congestion_events: u64,
    /// Bytes that may be on their way now.
    pub congestion_window: u64,
    /// The algorithm that decides that.
    pub congestion: &'static str,
    /// Smoothed round trip time, in nanoseconds.
    pub rtt_ns: u64,
    /// The least round trip seen, in nanoseconds.
    pub min_rtt_ns: u64,
    /// Bytes of the largest datagram that the path carries, as far as is known.
    pub datagram_bytes: u16,
    /// How often datagrams of that size stopped to come through.
    pub black_holes: u64,
    /// How often the peer's window of a stream was the limit here.
    pub blocked_by_stream_window: u64,
    /// How often the peer's window of the connection was.
    pub blocked_by_connection_window: u64,
    /// How often our window of a stream was the peer's limit, as the peer says.
    pub peer_blocked_by_stream_window: u64,
    /// How often our window of the connection was.
    pub peer_blocked_by_connection_window: u64,
    /// How long at least one stream could not be written to, in nanoseconds: for a window of the peer's or for
    /// our own limit of what is not acknowledged.
    pub write_blocked_ns: u64,
    /// How long no stream could be opened where one was to be, in nanoseconds: the peer's limit of streams.
    pub open_blocked_ns: u64,
    /// Nanoseconds between the first datagram and the handshake's end; 0 before that.
    pub handshake_ns: u64,
}

impl ConnectionCounters {
    pub(super) fn of(stats: &ConnectionStats) -> Self {
        let (path, sent, received) = (&stats.path, &stats.frame_tx, &stats.frame_rx);
        let nanoseconds = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(0);
        Self {
            datagrams_sent: stats.udp_tx.datagrams,
            bytes_sent: stats.udp_tx.bytes,
            batches_sent: stats.udp_tx.ios,
            datagrams_received: stats.udp_rx.datagrams,
            bytes_received: stats.udp_rx.bytes,
            packets_sent: path.sent_packets,
            packets_lost: path.lost_packets,
            bytes_lost: path.lost_bytes,
            congestion_events: path.congestion_events,
            congestion_window: path.cwnd,
            rtt_ns: nanoseconds(path.rtt),
            min_rtt_ns: nanoseconds(path.min_rtt),
            datagram_bytes: path.current_mtu,
            black_holes: path.black_holes_detected,
            blocked_by_stream_window: sent.stream_data_blocked,
            blocked_by_connection_window: sent.data_blocked,
            peer_blocked_by_stream_window: received.stream_data_blocked,
            peer_blocked_by_connection_window: received.data_blocked,
            ..Self::default()
        }
    }
}

/// What went through a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketCounters {
    /// Calls that sent something.
    pub sends: u64,
    /// Datagrams that they took.
    pub datagrams_sent: u64,
    /// Bytes of them.
    pub bytes_sent: u64,
    /// The most datagrams that one call took.
    pub most_sent_at_once: u64,
    /// Calls that found no room.
    pub sends_blocked: u64,
    /// Datagrams that the kernel refused as too large for the path; QUIC takes them for lost.
    pub too_large: u64,
    /// Calls that brought something.
    pub receives: u64,
    /// Datagrams that they brought.
    pub datagrams_received: u64,
    /// Bytes of them.
    pub bytes_received: u64,
    /// The most datagrams that one call brought.
    pub most_received_at_once: u64,
    /// Datagrams that the kernel dropped because the socket's receive buffer was full (`RcvbufErrors` of
    /// this socket). None where it does not tell.
    pub dropped: Option<u64>,
}

/// What a server decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerCounters {
    /// Connections that were taken on; their handshakes may fail still.
    pub accepted: u64,
    /// Clients that were asked to prove their address.
    pub retried: u64,
    /// Clients that were turned away, because there are as many as are allowed.
    pub refused: u64,
    /// First datagrams that made no connection.
    pub failed: u64,
    /// Datagrams that were sent for no connection: negotiation of a version, Retry, refusal, reset.
    pub replies: u64,
}
