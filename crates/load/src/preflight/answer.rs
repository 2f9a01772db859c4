//! What the exchange before the load brought: what is right from now on.
//!
//! Knows the first reply; must not know how it was asked for.

use std::net::SocketAddr;

use wiretrial_net::Alpn;

use crate::measure::snapshot::Learned;
use crate::plan::ContentRule;
use crate::source::{Verifier, excerpt};

/// What the preflight's exchange brought.
pub(super) struct Answer {
    pub(super) address: SocketAddr,
    pub(super) content: Vec<u8>,
    /// The content is what was sent.
    pub(super) echoes: bool,
    pub(super) length: u64,
    pub(super) tls: Option<String>,
    /// The congestion control of TCP, as the kernel tells it.
    pub(super) congestion: Option<String>,
    pub(super) deflate: Option<String>,
    /// What the server picked (ALPN).
    pub(super) agreed: Option<Alpn>,
    pub(super) is_http2: bool,
    /// Streams that it lets be open at once (HTTP/2).
    pub(super) streams: Option<u32>,
    pub(super) poller: &'static str,
    pub(super) poller_shortfall: Option<String>,
}

impl Answer {
    /// What is right from now on, and what is shown of the first reply.
    pub(super) fn verifier(&self, rule: &ContentRule) -> (Verifier, Option<Learned>) {
        let verifier = match rule {
            ContentRule::Learned => Verifier::learned(&self.content, self.echoes),
            rule => Verifier::new(rule),
        };
        let varies = !verifier.is_exact();
        let first = Learned {
            bytes: self.length,
            excerpt: excerpt(&self.content),
            echo: self.echoes,
            varies,
        };
        let is_shown = varies || *rule == ContentRule::Learned;
        (verifier, is_shown.then_some(first))
    }
}
