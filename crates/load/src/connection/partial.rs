//! What a connection holds in the midst of a message.
//!
//! Knows what has come and gone of one; must not know what is done with it.

use super::AnyTransport;
use super::ledger::Begun;
use crate::outgoing::Outgoing;
use crate::protocol::Protocol;

/// What there is of a reply that has not come whole, and of a message that has not gone whole.
#[derive(Debug, Default)]
pub(super) struct Partial {
    /// Bytes that the session left behind.
    pub(super) carry: Vec<u8>,
    /// The reply, where replies come in order.
    pub(super) reply: Begun,
    /// The message that is on its way out.
    pub(super) outgoing: Option<Outgoing>,
    /// What is spoken where the server picks HTTP/2, and that is not decided.
    pub(super) if_http2: Option<Box<Protocol>>,
}

impl Partial {
    /// Where what a session says is appended: behind the message that is on its way out, if one is.
    #[inline]
    pub(super) fn way_out<'c>(
        partial: &'c mut Option<Box<Self>>,
        transport: &'c mut AnyTransport,
    ) -> &'c mut Vec<u8> {
        let outgoing = partial.as_mut().and_then(|partial| partial.outgoing.as_mut());
        outgoing.map_or_else(|| transport.out(), Outgoing::behind)
    }

    pub(super) fn has_begun(&self) -> bool {
        self.reply.first_byte.is_some() || !self.carry.is_empty()
    }
}
