//! Every metric's name, in one table. `docs/statistics.md` has one row for each; a test keeps them equal.
//!
//! Knows names, units and meanings; must not know how values are recorded.

/// One recorded distribution of times, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// From the instant a message was due to the last byte of its reply.
    ResponseTime,
    /// From the send to the last byte of the reply.
    ServiceTime,
    /// From the send to the first byte of the reply.
    FirstByteTime,
    /// From the instant a message was due to its send.
    PacingLag,
    /// From connect(2) to an established TCP connection; over QUIC from its first datagram to the end of its handshake,
    /// of which TLS is a part.
    ConnectTime,
    /// From the established TCP connection to the end of the TLS handshake.
    TlsTime,
    /// `TlsTime`, or over QUIC `ConnectTime`, of the connections that resumed an earlier session.
    ResumedTime,
    /// HTTP/2: from the end of transport set-up to the server's settings.
    SettingsTime,
    /// From the request for a WebSocket, or for a stream of events, to the answer that accepts it.
    UpgradeTime,
    /// From the send to the failure, of messages that failed.
    FailedTime,
    /// From the instant a message was due to the copy of it at one of its receivers.
    DeliveryTime,
    /// From the instant a published event was due to the copy of it at the last of its receivers.
    ReachTime,
    /// From one message of a reply, or event of a stream, to the next one; of the first, from the send of its call, or
    /// the head of its stream.
    MessageTime,
    /// From the instant a session was due to the end of its last step.
    IterationTime,
    /// From the instant a session was due to its begin.
    SessionWait,
    /// From the instant a step was due, and had a user, to that at which it had a connection of the pool.
    BlockedTime,
}

/// Number of metrics.
pub const COUNT: usize = 16;

/// Metric, name in snapshots, meaning; in the order in which reports show them.
pub const TABLE: [(Metric, &str, &str); COUNT] = [
    (Metric::ResponseTime, "response_time", "done - due; open loop, or a pool of connections"),
    (Metric::ServiceTime, "service_time", "done - sent"),
    (Metric::FirstByteTime, "first_byte_time", "first byte - sent"),
    (Metric::PacingLag, "pacing_lag", "sent - due; open loop only"),
    (Metric::ConnectTime, "connect_time", "TCP, or QUIC with TLS, established - connect"),
    (Metric::TlsTime, "tls_time", "TLS established - TCP established"),
    (
        Metric::ResumedTime,
        "resumed_time",
        "tls_time, or connect_time of QUIC, where a session was resumed",
    ),
    (Metric::SettingsTime, "settings_time", "server's settings - transport established; HTTP/2"),
    (Metric::UpgradeTime, "upgrade_time", "WebSocket or stream of events accepted - asked for"),
    (Metric::FailedTime, "failed_time", "failure seen - sent"),
    (Metric::DeliveryTime, "delivery_time", "copy there - due of its message, each receiver"),
    (Metric::ReachTime, "reach_time", "last copy there - due, of each published event"),
    (
        Metric::MessageTime,
        "message_time",
        "message - the one before it, or sent; of streams of gRPC and of events",
    ),
    (Metric::IterationTime, "iteration_time", "last step done - due, of sessions"),
    (Metric::SessionWait, "session_wait", "begun - due, of sessions"),
    (
        Metric::BlockedTime,
        "blocked_time",
        "has a connection - due, of steps that wait for one of a pool",
    ),
];

impl Metric {
    /// Name in snapshots.
    pub const fn name(self) -> &'static str {
        TABLE[self as usize].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stands_at_its_own_number() {
        for (index, (metric, name, _)) in TABLE.iter().enumerate() {
            assert_eq!(*metric as usize, index, "{name}");
        }
    }

    #[test]
    fn the_documentation_has_a_row_for_each_and_no_other() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/statistics.md");
        let text = std::fs::read_to_string(path).expect(path);
        let rows = text
            .lines()
            .skip_while(|line| !line.starts_with("| metric"))
            .take_while(|line| line.starts_with('|'))
            .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let names = TABLE.iter().map(|(_, name, _)| *name);
        assert_eq!(rows.collect::<Vec<_>>(), names.collect::<Vec<_>>());
    }
}
