//! Every metric's name, in one table. `docs/statistics.md` has one row for each; a test keeps them equal.
//!
//! Knows names, units and meanings; must not know how values are recorded.

/// One recorded distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Name in snapshots.
    pub name: &'static str,
    /// One sentence for people.
    pub meaning: &'static str,
}

/// From the instant a message was due to the last byte of its reply (open loop only).
pub const RESPONSE_TIME: Metric =
    Metric { name: "response_time", meaning: "done - due; open loop only" };
/// From the send to the last byte of the reply.
pub const SERVICE_TIME: Metric = Metric { name: "service_time", meaning: "done - sent" };
/// From the send to the first byte of the reply.
pub const FIRST_BYTE_TIME: Metric = Metric { name: "first_byte_time", meaning: "first byte - sent" };
/// From the instant a message was due to its send (open loop only).
pub const PACING_LAG: Metric = Metric { name: "pacing_lag", meaning: "sent - due; open loop only" };
/// From connect(2) to an established TCP connection.
pub const CONNECT_TIME: Metric = Metric { name: "connect_time", meaning: "TCP established - connect" };
/// From the established TCP connection to the end of the TLS handshake.
pub const TLS_TIME: Metric = Metric { name: "tls_time", meaning: "TLS established - TCP established" };
/// From the end of transport set-up to the accepted WebSocket upgrade.
pub const UPGRADE_TIME: Metric =
    Metric { name: "upgrade_time", meaning: "upgrade accepted - transport established" };
/// Service time of messages that failed; never mixed with the good ones.
pub const FAILED_TIME: Metric = Metric { name: "failed_time", meaning: "failure seen - sent" };

/// All metrics, in the order in which reports show them.
pub const METRICS: [Metric; 8] = [
    RESPONSE_TIME,
    SERVICE_TIME,
    FIRST_BYTE_TIME,
    PACING_LAG,
    CONNECT_TIME,
    TLS_TIME,
    UPGRADE_TIME,
    FAILED_TIME,
];
