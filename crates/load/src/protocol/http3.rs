//! HTTP/3 as one of the protocols: its requests, from a plan, and its session.
//!
//! Knows what a plan says of them. Must not know QUIC: what is to be done with streams is told to whom it
//! is done by.

use std::sync::Arc;

use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http3::{Action, Http3Client, Http3Limits, Http3Request, Outgoing};
use wiretrial_proto::{ClientSession, Event, Message, ProtocolError, Scratch, Step};

use super::Protocol;
use super::fields::fields;
use super::http2::of_target;
use crate::plan::{PlanError, Target};

/// One connection's session. Bytes that it says lie where those of other protocols do, with the connection;
/// of them it keeps which belong to which stream.
#[derive(Debug)]
pub(crate) struct Http3Session {
    client: Http3Client,
    /// Without its bytes.
    outgoing: Outgoing,
}

impl Http3Session {
    fn new(client: Http3Client) -> Self {
        Self { client, outgoing: Outgoing::new() }
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

    /// Does the server take its leave?
    pub(crate) fn is_left(&self) -> bool {
        self.client.is_left()
    }

    /// So many streams may be opened in all.
    pub(crate) fn allow(&mut self, streams: u64) {
        self.client.allow(streams);
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
        self.saying(out, |client, outgoing| client.receive(stream, input, fin, scratch, outgoing))
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
        self.saying(out, |client, outgoing| client.reset(stream, code, outgoing))
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
    ) -> Result<(), ProtocolError> {
        self.saying(out, |client, outgoing| client.stop_sending(stream, code, outgoing))
    }

    /// Has the client say something whose bytes lie in `out`.
    fn saying<T>(
        &mut self,
        out: &mut Vec<u8>,
        say: impl FnOnce(&mut Http3Client, &mut Outgoing) -> T,
    ) -> T {
        self.outgoing.swap_bytes(out);
        let said = say(&mut self.client, &mut self.outgoing);
        self.outgoing.swap_bytes(out);
        said
    }
}

impl ClientSession for Http3Session {
    fn start(&mut self, out: &mut Vec<u8>) {
        self.saying(out, Http3Client::start);
    }

    fn is_open(&self) -> bool {
        self.client.is_open()
    }

    fn room(&self) -> u32 {
        self.client.room()
    }

    #[inline]
    fn encode(&mut self, message: &Message<'_>, out: &mut Vec<u8>) {
        self.saying(out, |client, outgoing| client.encode(message, outgoing));
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
        self.saying(out, |client, outgoing| client.cancel(number, outgoing))
    }

    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError> {
        self.client.end().map(|()| None)
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        self.saying(out, Http3Client::close);
    }
}

pub(super) fn http3(requests: &Arc<[Http3Request]>, tells_heads: bool) -> Protocol {
    let made = if tells_heads { Http3Client::telling_heads } else { Http3Client::new };
    let client = made(Arc::clone(requests), Http3Limits::default());
    Protocol::Http3(Box::new(Http3Session::new(client)))
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
        let (mut session, mut out) = (Http3Session::new(client), Vec::new());
        session.start(&mut out);
        session.allow(2);
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
