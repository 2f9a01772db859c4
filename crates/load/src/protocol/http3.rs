//! HTTP/3 as one of the protocols: its requests, from a plan, and its session.
//!
//! Knows what a plan says of them. Must not know QUIC: what is to be done with streams is told to whom it
//! is done by.

mod carried;

use std::sync::Arc;

use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http3::{
    Action, Http3Client, Http3Limits, Http3Request, Http3WebSockets, Outgoing,
};
use wiretrial_proto::{ClientSession, Event, Message, ProtocolError, Scratch, Step};

use super::Protocol;
use super::fields::fields;
use super::http2::of_target;
use super::longest::max_inflated;
use crate::plan::{PlanError, Target};

use carried::Carried;

/// One connection's session. Bytes that it says lie where those of other protocols do, with the connection;
/// of them it keeps which belong to which stream.
#[derive(Debug)]
pub(crate) struct Http3Session {
    carried: Carried,
    /// Without its bytes.
    outgoing: Outgoing,
}

impl Http3Session {
    fn new(carried: Carried) -> Self {
        Self { carried, outgoing: Outgoing::new() }
    }

    /// Gives out what there is to do since this was last asked, in order; `out` has the bytes, and is empty
    /// afterwards.
    pub(crate) fn perform(&mut self, out: &mut Vec<u8>, deed: impl FnMut(Action<'_>)) {
        self.outgoing.swap_bytes(out);
        self.outgoing.actions().for_each(deed);
        self.outgoing.clear();
        self.outgoing.swap_bytes(out);
    }

    /// Is there something to do?
    pub(crate) fn has_output(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// The compression of messages that was agreed on, as the server would say it, or as it has done it.
    pub(crate) fn deflate(&self) -> Option<String> {
        self.carried.deflate()
    }

    /// As [`Http3Client::said`].
    pub(crate) fn said(&self) -> &[u8] {
        self.carried.client().map_or(&[][..], Http3Client::said)
    }

    /// As [`Http3Client::encode_first`]; none: no calls are made.
    pub(crate) fn encode_first(&mut self, first: &Message<'_>, out: &mut Vec<u8>) -> Option<u32> {
        self.saying(out, |carried, outgoing| {
            Some(carried.client_mut()?.encode_first(first, outgoing))
        })
    }

    /// As [`Http3Client::say`].
    pub(crate) fn say(&mut self, call: u32, message: &[u8], is_last: bool, out: &mut Vec<u8>) {
        self.saying(out, |carried, outgoing| {
            if let Some(client) = carried.client_mut() {
                client.say(call, message, is_last, outgoing);
            }
        });
    }

    /// What comes from here on came at this instant.
    #[inline]
    pub(crate) fn came_at(&mut self, now: u64) {
        self.carried.came_at(now);
    }

    /// For how long each WebSocket was asked for that was accepted since this was last called, nanoseconds.
    pub(crate) fn take_upgrades(&mut self) -> Vec<u64> {
        self.carried.take_upgrades()
    }

    /// Does the server take its leave?
    pub(crate) fn is_left(&self) -> bool {
        self.carried.is_left()
    }

    /// So many streams may be opened in all.
    pub(crate) fn allow(&mut self, streams: u64, out: &mut Vec<u8>) {
        self.saying(out, |carried, outgoing| carried.allow(streams, outgoing));
    }

    /// As [`ClientSession::receive`], of bytes that came on a stream; with `fin` nothing comes behind them.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn receive_on<'a>(
        &mut self,
        (stream, fin): (u64, bool),
        input: &'a [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        self.saying(out, |carried, outgoing| {
            carried.receive((stream, fin), input, scratch, outgoing)
        })
    }

    /// The server sends nothing more on a stream, and what it sent is lost in part.
    ///
    /// # Errors
    /// The connection needs this stream.
    pub(crate) fn reset(
        &mut self,
        stream: u64,
        code: u64,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        self.saying(out, |carried, outgoing| carried.reset(stream, code, outgoing))
    }

    /// The server does not want what is sent on a stream.
    ///
    /// # Errors
    /// The connection needs this stream.
    pub(crate) fn stop_sending(
        &mut self,
        stream: u64,
        code: u64,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        self.saying(out, |carried, outgoing| carried.stop_sending(stream, code, outgoing))
    }

    /// The server has refused what was sent before the handshake's end: the conversation begins again.
    /// Gives the messages that were in flight, which go again.
    pub(crate) fn refused_early(&mut self, out: &mut Vec<u8>) -> Vec<u64> {
        self.saying(out, |carried, outgoing| {
            carried.client_mut().map_or_else(Vec::new, |client| client.refused_early(outgoing))
        })
    }

    /// Has the session say something whose bytes lie in `out`.
    fn saying<T>(
        &mut self,
        out: &mut Vec<u8>,
        say: impl FnOnce(&mut Carried, &mut Outgoing) -> T,
    ) -> T {
        self.outgoing.swap_bytes(out);
        let said = say(&mut self.carried, &mut self.outgoing);
        self.outgoing.swap_bytes(out);
        said
    }
}

impl ClientSession for Http3Session {
    fn start(&mut self, out: &mut Vec<u8>) {
        self.saying(out, Carried::start);
    }

    fn is_open(&self) -> bool {
        self.carried.is_open()
    }

    fn room(&self) -> u32 {
        self.carried.room()
    }

    #[inline]
    fn encode(&mut self, message: &Message<'_>, out: &mut Vec<u8>) {
        self.saying(out, |carried, outgoing| carried.encode(message, outgoing));
    }

    /// Nothing comes but on [a stream](Http3Session::receive_on).
    fn receive<'a>(
        &mut self,
        input: &'a [u8],
        _scratch: &'a mut Scratch,
        _out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        Ok(Step { consumed: input.len(), event: None })
    }

    fn cancel(&mut self, number: u64, out: &mut Vec<u8>) -> bool {
        self.saying(out, |carried, outgoing| carried.cancel(number, outgoing))
    }

    fn has_left(&self) -> bool {
        self.carried.has_left()
    }

    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError> {
        self.carried.end().map(|()| None)
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        self.saying(out, Carried::close);
    }
}

pub(super) fn http3(
    requests: &Arc<[Http3Request]>,
    limits: Http3Limits,
    tells_heads: bool,
) -> Protocol {
    let made = if tells_heads { Http3Client::telling_heads } else { Http3Client::new };
    let client = made(Arc::clone(requests), limits);
    Protocol::Http3(Box::new(Http3Session::new(Carried::Requests(client))))
}

pub(super) fn http3_websockets(session: Http3WebSockets) -> Protocol {
    Protocol::Http3(Box::new(Http3Session::new(Carried::WebSockets(session))))
}

/// What the server may send.
pub(super) fn http3_limits(target: &Target) -> Http3Limits {
    let mut limits = Http3Limits::default();
    if target.grpc.is_some_and(|calls| calls.gzip) {
        limits.max_inflated = u32::try_from(max_inflated(target)).unwrap_or(u32::MAX);
    }
    limits
}

pub(super) fn http3_request(
    target: &Target,
    close: bool,
    length: PayloadLength,
) -> Result<Http3Request, PlanError> {
    let url = &target.url;
    let path = [HeadPart::Text(url.path.as_str())];
    let (scheme, authority) = (url.http_scheme(), &url.authority);
    let headers = fields(target);
    // As browsers do, whose fields they are.
    let made =
        if target.profile.is_some() { Http3Request::keeping } else { Http3Request::with_holes };
    let request = made(scheme, &target.method, &path, authority, &headers, close, length);
    request.map_err(|error| of_target(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_lie_with_the_connection_and_go_to_their_streams() {
        let path = [HeadPart::Text("/")];
        let request = Http3Request::with_holes(
            "https",
            "POST",
            &path,
            "a",
            &[],
            false,
            PayloadLength::Varying,
        );
        let requests: Arc<[Http3Request]> = Arc::from([request.expect("a request")]);
        let client = Http3Client::new(requests, Http3Limits::default());
        let (mut session, mut out) = (Http3Session::new(Carried::Requests(client)), Vec::new());
        session.start(&mut out);
        session.allow(2, &mut out);
        assert_eq!((session.is_open(), session.room()), (true, 2));
        let opening = out.len();
        session.encode(&Message::new(7, b"first"), &mut out);
        session.encode(&Message::new(8, b"second"), &mut out);
        assert!(out[opening..].ends_with(b"second") && session.has_output());
        assert!(session.cancel(7, &mut out) && !session.cancel(9, &mut out));
        let mut deeds = Vec::new();
        session.perform(&mut out, |action| {
            deeds.push(match action {
                Action::Write { stream, bytes, fin } => {
                    let end = bytes.len().saturating_sub(6);
                    format!("{stream} {} {fin}", bytes[end..].escape_ascii())
                }
                other => format!("{other:?}"),
            });
        });
        assert!(out.is_empty() && !session.has_output());
        assert_eq!(deeds.len(), 5, "{deeds:?}");
        assert!(deeds[0].starts_with("2 ") && deeds[0].ends_with(" false"), "{deeds:?}");
        assert!(deeds[1].starts_with("0 ") && deeds[1].ends_with("first true"), "{deeds:?}");
        assert_eq!(deeds[2], "4 second true");
        assert_eq!(deeds[3], "Reset { stream: 0, code: 268 }");
        assert_eq!(deeds[4], "Stop { stream: 0, code: 268 }");
    }
}
