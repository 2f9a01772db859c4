//! The protocols that the load generator speaks: one arm each, static dispatch.
//!
//! Knows the sessions that there are; must not know transports or time. Which one a plan asks for is
//! the factory's.

mod broadcast;
mod factory;
mod fields;
mod http2;
mod http3;
mod longest;
#[cfg(test)]
pub(crate) mod multiplexed;
mod told;
mod tunnels;

use wiretrial_proto::http1::Http1Client;
use wiretrial_proto::http2::{Http2Client, Http2Use, Http2WebSockets};
use wiretrial_proto::raw::RawClient;
use wiretrial_proto::socketio::SocketIoClient;
use wiretrial_proto::styx::StyxClient;
use wiretrial_proto::websocket::WebSocketClient;
use wiretrial_proto::{
    ClientSession, ErrorClass, Event, Message, Pieces, ProtocolError, Reply, Scratch, Step,
};

use broadcast::BroadcastClient;
pub(crate) use factory::ProtocolFactory;
pub(crate) use http3::Http3Session;

use crate::clock::Nanos;

/// One connection's session.
#[derive(Debug)]
pub(crate) enum Protocol {
    /// HTTP/1.1.
    Http(Http1Client),
    /// HTTP/2; boxed, because there may be a million of the others.
    Http2(Box<Http2Client>),
    /// HTTP/3; boxed, too.
    Http3(Box<Http3Session>),
    /// WebSocket.
    WebSocket(WebSocketClient),
    /// WebSockets on the streams of a connection of HTTP/2; boxed, too.
    WebSockets(Box<Http2WebSockets>),
    /// A byte stream.
    Stream(RawClient),
    /// A player; boxed, because there may be a million of the others.
    Styx(Box<StyxClient>),
    /// Socket.IO.
    SocketIo(Box<SocketIoClient>),
    /// WebSocket, where each message comes to all connections.
    Broadcast(Box<BroadcastClient>),
    /// What the simulated world speaks in place of the multiplexed protocols to come.
    #[cfg(test)]
    Multiplexed(Box<multiplexed::MultiplexedClient>),
}

impl Protocol {
    /// The compression of messages that was agreed on, as the server would say it, or as it has done it.
    pub(crate) fn deflate(&self) -> Option<String> {
        let agreed = match self {
            Self::WebSocket(session) => session.deflate(),
            Self::WebSockets(session) => session.deflate(),
            Self::Broadcast(session) => session.deflate(),
            Self::Http2(session) => return session.gzip().map(in_gzip),
            Self::Http3(session) => return session.deflate(),
            Self::Http(_) | Self::Stream(_) | Self::Styx(_) | Self::SocketIo(_) => None,
            #[cfg(test)]
            Self::Multiplexed(_) => None,
        };
        agreed.map(ToString::to_string)
    }

    /// Is it HTTP/2 that carries it?
    pub(crate) const fn is_http2(&self) -> bool {
        matches!(self, Self::Http2(_) | Self::WebSockets(_))
    }

    /// Messages may go at once, before the server has said anything, where clients of the protocol do so (HTTP/2). Call it
    /// before the session starts.
    pub(crate) fn hasten(&mut self) {
        if let Self::Http2(session) = self {
            session.hasten();
        }
    }

    /// Where it is a session of streams that are the transport's.
    pub(crate) fn http3(&mut self) -> Option<&mut Http3Session> {
        match self {
            Self::Http3(session) => Some(session),
            _ => None,
        }
    }

    /// Is something to be done with streams?
    pub(crate) fn has_deeds(&self) -> bool {
        matches!(self, Self::Http3(session) if session.has_output())
    }

    /// Streams that the server lets be open at once (HTTP/2).
    pub(crate) fn streams(&self) -> Option<u32> {
        match self {
            Self::Http2(session) => Some(session.room()),
            Self::WebSockets(session) => Some(session.allowed()),
            _ => None,
        }
    }

    /// What the server said of the last call of gRPC that it did not end with OK, as it stands in its field.
    pub(crate) fn said(&self) -> &[u8] {
        match self {
            Self::Http2(session) => session.said(),
            Self::Http3(session) => session.said(),
            _ => &[],
        }
    }

    /// Appends a call whose messages follow: this is the first of them. Gives by what it is known; none: no calls are
    /// made.
    pub(crate) fn encode_first(&mut self, first: &Message<'_>, out: &mut Vec<u8>) -> Option<u32> {
        match self {
            Self::Http2(session) => session.encode_first(first, out),
            Self::Http3(session) => session.encode_first(first, out),
            _ => None,
        }
    }

    /// Appends the next message of a call.
    pub(crate) fn say(&mut self, call: u32, message: &[u8], is_last: bool, out: &mut Vec<u8>) {
        match self {
            Self::Http2(session) => session.say(call, message, is_last, out),
            Self::Http3(session) => session.say(call, message, is_last, out),
            _ => {}
        }
    }

    /// What comes from here on came at this instant, and what was encoded before went out then; only
    /// HTTP/2, and WebSockets on streams, ask for how long something waited.
    #[inline]
    pub(crate) fn came_at(&mut self, now: Nanos) {
        match self {
            Self::Http2(session) => session.came_at(now.0),
            Self::Http3(session) => session.came_at(now.0),
            Self::WebSockets(session) => session.came_at(now.0),
            _ => {}
        }
    }

    /// What came in the way of messages, if something did since this was last asked (HTTP/2).
    #[inline]
    pub(crate) fn take_use(&mut self) -> Option<Http2Use> {
        match self {
            Self::Http2(session) => session.take_use(),
            Self::WebSockets(session) => session.take_use(),
            _ => None,
        }
    }

    /// The same at the end of its connection, when nothing waits any longer.
    pub(crate) fn last_use(&mut self, now: impl FnOnce() -> Nanos) -> Option<Http2Use> {
        if !self.is_http2() {
            return None;
        }
        self.came_at(now());
        match self {
            Self::Http2(session) => session.settle(),
            Self::WebSockets(session) => session.settle(),
            _ => {}
        }
        self.take_use()
    }

    /// The connection has ended, on purpose or, inside TLS, for a reason that nobody vouches for:
    /// as [`ClientSession::end`], but then nobody knows whether a reply that only the end completes
    /// is all there (RFC 9112 section 9.8).
    ///
    /// # Errors
    /// As there, and such a reply.
    pub(crate) fn end_by(
        &mut self,
        on_purpose: bool,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        match self.end()? {
            Some(Event::Reply(_)) if !on_purpose => Err(ProtocolError::new(
                ErrorClass::Truncated,
                "TLS ended without close_notify, in a reply that only its end completes",
            )),
            event => Ok(event),
        }
    }
}

/// In what messages go where calls take replies in gzip.
fn in_gzip(has_come: bool) -> String {
    if has_come { "gzip" } else { "gzip, replies uncompressed" }.to_owned()
}

macro_rules! each {
    ($self:ident, $session:ident => $call:expr) => {
        match $self {
            Protocol::Http($session) => $call,
            Protocol::Http2($session) => $call,
            Protocol::Http3($session) => $call,
            Protocol::WebSocket($session) => $call,
            Protocol::WebSockets($session) => $call,
            Protocol::Stream($session) => $call,
            Protocol::Styx($session) => $call,
            Protocol::SocketIo($session) => $call,
            Protocol::Broadcast($session) => $call,
            #[cfg(test)]
            Protocol::Multiplexed($session) => $call,
        }
    };
}

impl ClientSession for Protocol {
    fn start(&mut self, out: &mut Vec<u8>) {
        each!(self, session => session.start(out));
    }

    fn is_open(&self) -> bool {
        each!(self, session => session.is_open())
    }

    fn room(&self) -> u32 {
        each!(self, session => session.room())
    }

    fn member(&self) -> Option<i32> {
        each!(self, session => session.member())
    }

    #[inline]
    fn encode(&mut self, message: &Message<'_>, out: &mut Vec<u8>) {
        each!(self, session => session.encode(message, out));
    }

    #[inline]
    fn encode_alike(&mut self, first: u64, count: u32, payload: &[u8], out: &mut Vec<u8>) {
        each!(self, session => session.encode_alike(first, count, payload, out));
    }

    fn begin(&mut self, route: usize, length: u64, out: &mut Vec<u8>) -> Option<Pieces> {
        each!(self, session => session.begin(route, length, out))
    }

    fn receive<'a>(
        &mut self,
        input: &'a [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        each!(self, session => session.receive(input, scratch, out))
    }

    #[inline]
    fn replies(
        &mut self,
        input: &[u8],
        scratch: &Scratch,
        take: impl FnMut(&Reply<'_>) -> bool,
    ) -> usize {
        each!(self, session => session.replies(input, scratch, take))
    }

    fn cancel(&mut self, number: u64, out: &mut Vec<u8>) -> bool {
        each!(self, session => session.cancel(number, out))
    }

    fn has_left(&self) -> bool {
        each!(self, session => session.has_left())
    }

    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError> {
        each!(self, session => session.end())
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        each!(self, session => session.close(out));
    }
}
