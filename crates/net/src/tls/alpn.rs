//! Application protocols by their names in TLS (ALPN, RFC 7301).
//!
//! Knows names. Must not know what the protocols say.

use std::fmt;

/// A protocol that both ends of a TLS connection can agree to speak over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Alpn {
    /// HTTP/3, over QUIC alone.
    Http3,
    /// HTTP/2 over TLS.
    Http2,
    /// HTTP/1.1, and WebSocket, which begins with it (RFC 6455).
    Http11,
}

impl Alpn {
    const ALL: [Self; 3] = [Self::Http3, Self::Http2, Self::Http11];

    /// The registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http3 => "h3",
            Self::Http2 => "h2",
            Self::Http11 => "http/1.1",
        }
    }

    pub(crate) fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|protocol| protocol.name().as_bytes() == name)
    }
}

impl fmt::Display for Alpn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The names as rustls takes them, in the same order.
pub(super) fn names(protocols: &[Alpn]) -> Vec<Vec<u8>> {
    protocols.iter().map(|protocol| protocol.name().into()).collect()
}

/// The names for people; empty where there is none.
pub(super) fn listed(protocols: &[Alpn]) -> String {
    let names: Vec<&str> = protocols.iter().map(|protocol| protocol.name()).collect();
    if names.is_empty() { String::new() } else { format!(" (ALPN {})", names.join(", ")) }
}
