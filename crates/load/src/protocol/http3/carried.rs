//! What a connection of HTTP/3 carries: requests, calls among them, or WebSockets.
//!
//! Knows both sessions. Must not know where bytes lie, nor QUIC.

use wiretrial_proto::http3::{Http3Client, Http3WebSockets, Outgoing};
use wiretrial_proto::{Event, Message, ProtocolError, Scratch, Step};

use crate::protocol::in_gzip;

/// The session of one connection.
#[derive(Debug)]
pub(super) enum Carried {
    Requests(Http3Client),
    WebSockets(Http3WebSockets),
}

macro_rules! either {
    ($self:ident, $session:ident => $call:expr) => {
        match $self {
            Carried::Requests($session) => $call,
            Carried::WebSockets($session) => $call,
        }
    };
}

impl Carried {
    /// The compression of messages that was agreed on, or that calls ask for.
    pub(super) fn deflate(&self) -> Option<String> {
        match self {
            Self::Requests(client) => client.gzip().map(in_gzip),
            Self::WebSockets(sockets) => sockets.deflate().map(ToString::to_string),
        }
    }

    /// What calls are made with.
    pub(super) fn client(&self) -> Option<&Http3Client> {
        match self {
            Self::Requests(client) => Some(client),
            Self::WebSockets(_) => None,
        }
    }

    /// The same, to make some.
    pub(super) fn client_mut(&mut self) -> Option<&mut Http3Client> {
        match self {
            Self::Requests(client) => Some(client),
            Self::WebSockets(_) => None,
        }
    }

    /// As [`Http3WebSockets::came_at`]; requests don't ask for it.
    #[inline]
    pub(super) fn came_at(&mut self, now: u64) {
        if let Self::WebSockets(sockets) = self {
            sockets.came_at(now);
        }
    }

    /// As [`Http3WebSockets::take_upgrades`].
    pub(super) fn take_upgrades(&mut self) -> Vec<u64> {
        match self {
            Self::Requests(_) => Vec::new(),
            Self::WebSockets(sockets) => sockets.take_upgrades(),
        }
    }

    pub(super) fn start(&mut self, out: &mut Outgoing) {
        either!(self, session => session.start(out));
    }

    pub(super) fn is_open(&self) -> bool {
        either!(self, session => session.is_open())
    }

    pub(super) fn is_left(&self) -> bool {
        either!(self, session => session.is_left())
    }

    pub(super) fn has_left(&self) -> bool {
        either!(self, session => session.has_left())
    }

    pub(super) fn room(&self) -> u32 {
        either!(self, session => session.room())
    }

    /// WebSockets that were missing are asked for.
    pub(super) fn allow(&mut self, streams: u64, out: &mut Outgoing) {
        match self {
            Self::Requests(client) => client.allow(streams),
            Self::WebSockets(sockets) => sockets.allow(streams, out),
        }
    }

    #[inline]
    pub(super) fn encode(&mut self, message: &Message<'_>, out: &mut Outgoing) {
        either!(self, session => session.encode(message, out));
    }

    #[inline]
    pub(super) fn receive<'a>(
        &mut self,
        (stream, fin): (u64, bool),
        input: &'a [u8],
        scratch: &'a mut Scratch,
        out: &mut Outgoing,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        either!(self, session => session.receive(stream, input, fin, scratch, out))
    }

    pub(super) fn reset(
        &mut self,
        stream: u64,
        code: u64,
        out: &mut Outgoing,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        either!(self, session => session.reset(stream, code, out))
    }

    /// A WebSocket is over with that.
    pub(super) fn stop_sending(
        &mut self,
        stream: u64,
        code: u64,
        out: &mut Outgoing,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        match self {
            Self::Requests(client) => client.stop_sending(stream, code, out).map(|()| None),
            Self::WebSockets(sockets) => sockets.stop_sending(stream, code, out),
        }
    }

    pub(super) fn cancel(&mut self, number: u64, out: &mut Outgoing) -> bool {
        either!(self, session => session.cancel(number, out))
    }

    pub(super) fn end(&mut self) -> Result<(), ProtocolError> {
        either!(self, session => session.end())
    }

    pub(super) fn close(&mut self, out: &mut Outgoing) {
        either!(self, session => session.close(out));
    }
}
