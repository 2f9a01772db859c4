//! HTTP in snapshots: which version is spoken and who said so, and what came in the way of messages over HTTP/2.
//!
//! Knows the names of the JSON. Must not know how a connection counts.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wiretrial_proto::http2::Http2Use;

use crate::plan::{Target, Windows};

/// Which HTTP is spoken, as the first connection found it. All others speak it, too: one whose server picks another
/// has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spoken {
    /// The version.
    pub version: Version,
    /// From where it is known.
    pub by: By,
    /// Streams that the server lets be open at once on a connection; null: HTTP/1.1, any number, or HTTP/3, over which
    /// it allows more and more.
    pub streams: Option<u32>,
    /// What the server may send on a stream before it is allowed more, bytes, over HTTP/2; null: another version.
    pub window: Option<u32>,
    /// The same on all streams of a connection together.
    pub connection_window: Option<u32>,
}

/// Versions of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Version {
    /// HTTP/1.1.
    #[serde(rename = "1.1")]
    One,
    /// HTTP/2.
    #[serde(rename = "2")]
    Two,
    /// HTTP/3.
    #[serde(rename = "3")]
    Three,
}

/// From where it is known which HTTP is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The server picked it (ALPN).
    Alpn,
    /// The server picked nothing, which is HTTP/1.1.
    NoAlpn,
    /// The plan says it, and there is no TLS: it is spoken from the first byte.
    PriorKnowledge,
}

impl Spoken {
    /// As the first connection found it, whose server `picked` something (ALPN) or nothing. None where the plan says
    /// HTTP/1.1, and where there was no choice.
    pub(crate) fn of(target: &Target, picked: bool, streams: Option<u32>) -> Option<Self> {
        let Target { http2, http3, agrees, .. } = *target;
        let Windows { stream, connection } = target.windows;
        (http2 || http3 || agrees).then_some(Self {
            version: match (http3, http2) {
                (true, _) => Version::Three,
                (false, true) => Version::Two,
                (false, false) => Version::One,
            },
            by: match picked {
                true => By::Alpn,
                false if target.url.secure => By::NoAlpn,
                false => By::PriorKnowledge,
            },
            streams: streams.filter(|&streams| streams < u32::MAX),
            window: http2.then_some(stream),
            connection_window: http2.then_some(connection),
        })
    }
}

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = match self.version {
            Version::One => "HTTP/1.1",
            Version::Two => "HTTP/2",
            Version::Three => "HTTP/3",
        };
        f.write_str(version)?;
        f.write_str(match self.by {
            By::Alpn => ", agreed on by ALPN",
            By::NoAlpn => ", as the server agrees on nothing by ALPN",
            By::PriorKnowledge => ", without TLS",
        })
    }
}

/// What came in the way of messages over HTTP/2. Times are nanoseconds, and count when they are over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Http2Figures {
    /// Servers that took their leave of a connection (GOAWAY).
    pub goaways: u64,
    /// Messages that the server refused (`REFUSED_STREAM`); each went again, unless it was the last of very many.
    pub refused: u64,
    /// Messages whose content had to wait until the server allowed more.
    pub sends_held: u64,
    /// For how long it waited for its stream's window, over all messages.
    pub held_by_stream_ns: u64,
    /// For how long it waited for the connection's window alone, over all messages.
    pub held_by_connection_ns: u64,
    /// How often a reply had used up what we allow on a stream, and its server had to wait.
    pub streams_exhausted: u64,
    /// For how long, over all replies.
    pub stream_exhausted_ns: u64,
    /// How often all replies of a connection had used up what we allow on it.
    pub connections_exhausted: u64,
    /// For how long, over all connections.
    pub connection_exhausted_ns: u64,
}

impl Http2Figures {
    /// Adds what one connection has counted.
    pub(crate) fn count(&mut self, used: &Http2Use) {
        self.add(&Self {
            goaways: used.goaways,
            refused: 0,
            sends_held: used.sends_held,
            held_by_stream_ns: used.held_by_stream_ns,
            held_by_connection_ns: used.held_by_connection_ns,
            streams_exhausted: used.streams_exhausted,
            stream_exhausted_ns: used.stream_exhausted_ns,
            connections_exhausted: used.connections_exhausted,
            connection_exhausted_ns: used.connection_exhausted_ns,
        });
    }

    /// Adds what was counted elsewhere.
    pub(crate) fn add(&mut self, other: &Self) {
        self.goaways += other.goaways;
        self.refused += other.refused;
        self.sends_held += other.sends_held;
        self.held_by_stream_ns += other.held_by_stream_ns;
        self.held_by_connection_ns += other.held_by_connection_ns;
        self.streams_exhausted += other.streams_exhausted;
        self.stream_exhausted_ns += other.stream_exhausted_ns;
        self.connections_exhausted += other.connections_exhausted;
        self.connection_exhausted_ns += other.connection_exhausted_ns;
    }
}
