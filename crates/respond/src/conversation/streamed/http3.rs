//! The routes' codec over HTTP/3, which goes over many streams of bytes.
//!
//! Knows which stream the input is of, and what waits for the transport. Must not know QUIC, nor routes.
//!
//! What is to be done on the connection is left in an [`Outgoing`], not in the `out` of a [`Codec`]. A
//! stream of a request has the number of QUIC, which has room here: so many requests has no connection.

use std::mem;

use wiretrial_proto::http3::{
    ErrorCode, FrameHead, Http3Limits, Http3Server, Kind, Outgoing, write_data_head, write_goaway,
};
use wiretrial_proto::{Arrival, ProtocolError, Scratch, Step};

use super::StreamedConversation;
use super::codec::{Codec, Fields, Place, Why};
use crate::plan::MAX_STREAMS;
use crate::script::FaultKind;
use crate::sink::Sink;
use crate::stage::garbage;

/// The server's stream of control.
const CONTROL: u64 = 3;
/// What the client's encoder may keep with us, bytes: as over HTTP/2.
const TABLE: usize = 4096;

/// Over HTTP/3.
pub(crate) type Http3Conversation = StreamedConversation<Http3Codec>;

/// HTTP/3 as a server speaks it, and what its transport is to do.
#[derive(Debug)]
pub(crate) struct Http3Codec {
    server: Http3Server,
    out: Outgoing,
    /// What was to be done before a reply that is kept.
    before: Outgoing,
    /// Where the input comes from, and whether nothing comes behind it.
    from: (u64, bool),
    /// Bytes that the transport has not sent.
    unsent: usize,
}

impl StreamedConversation<Http3Codec> {
    pub(crate) fn codec(&mut self) -> &mut Http3Codec {
        &mut self.codec
    }
}

impl Http3Codec {
    /// What is to be done on the connection. Who does it clears it.
    pub(crate) fn out(&mut self) -> &mut Outgoing {
        &mut self.out
    }

    /// The input is of this stream from here on; `fin`: nothing comes behind it.
    pub(crate) fn turn_to(&mut self, stream: u64, fin: bool) {
        self.from = (stream, fin);
    }

    /// So many bytes wait in the transport for the client's windows.
    pub(crate) fn set_unsent(&mut self, unsent: usize) {
        self.unsent = unsent;
    }

    /// The client has given up what it sends on a stream.
    ///
    /// # Errors
    /// As [`Http3Server::reset`].
    pub(crate) fn reset(
        &mut self,
        stream: u64,
    ) -> Result<Option<Arrival<'static, u32>>, ProtocolError> {
        Ok(self.server.reset(stream, &mut self.out)?.map(numbered))
    }

    /// The client does not want what we send on a stream.
    ///
    /// # Errors
    /// As [`Http3Server::stop_sending`].
    pub(crate) fn stop_sending(
        &mut self,
        stream: u64,
        code: u64,
    ) -> Result<Option<Arrival<'static, u32>>, ProtocolError> {
        Ok(self.server.stop_sending(stream, code, &mut self.out)?.map(numbered))
    }
}

impl Codec for Http3Codec {
    fn begin() -> Self {
        let limits = Http3Limits {
            max_streams: MAX_STREAMS as usize,
            connect_protocol: true,
            table: TABLE,
            ..Http3Limits::default()
        };
        let (mut server, mut out) = (Http3Server::new(limits), Outgoing::new());
        server.start(&mut out);
        Self { server, out, before: Outgoing::new(), from: (CONTROL, false), unsent: 0 }
    }

    #[inline]
    fn receive<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        _out: &mut Vec<u8>,
    ) -> Result<Step<Arrival<'a, u32>>, ProtocolError> {
        let (stream, fin) = self.from;
        let Step { consumed, event } =
            self.server.receive(stream, input, fin, scratch, &mut self.out)?;
        Ok(Step { consumed, event: event.map(numbered) })
    }

    #[inline]
    fn respond(
        &mut self,
        stream: u32,
        status: u16,
        fields: Fields<'_>,
        is_end: bool,
        _out: &mut Vec<u8>,
    ) {
        self.server.respond(stream.into(), status, fields, is_end, &mut self.out);
    }

    #[inline]
    fn content(&mut self, stream: u32, piece: &[u8], is_end: bool, _out: &mut Vec<u8>) {
        self.server.content(stream.into(), piece, is_end, &mut self.out);
    }

    fn trailers(&mut self, stream: u32, fields: Fields<'_>, _out: &mut Vec<u8>) {
        self.server.trailers(stream.into(), fields, &mut self.out);
    }

    fn give_up(&mut self, stream: u32, why: Why, _out: &mut Vec<u8>) {
        let code = match why {
            Why::Refused => ErrorCode::RequestRejected,
            Why::TooMuch => ErrorCode::ExcessiveLoad,
        };
        self.server.give_up(stream.into(), code, &mut self.out);
    }

    fn leave(&mut self, _out: &mut Vec<u8>) {
        self.server.leave(&mut self.out);
    }

    #[inline]
    fn held(&self) -> usize {
        self.unsent + self.out.bytes().len()
    }

    fn open_streams(&self) -> usize {
        self.server.open_streams()
    }

    fn begin_kept(&mut self) -> usize {
        mem::swap(&mut self.out, &mut self.before);
        0
    }

    /// The transport has no part of it yet, so that all of it is here.
    fn take_kept(&mut self, _held: usize, _out: &mut Vec<u8>) -> Option<Vec<u8>> {
        let bytes = self.out.bytes().to_vec();
        self.out.clear();
        mem::swap(&mut self.out, &mut self.before);
        Some(bytes)
    }

    fn send_kept(&mut self, on: Place, bytes: &[u8], _out: &mut Vec<u8>) {
        self.write(on, bytes, true);
    }

    fn send_head(&mut self, on: Place, bytes: &[u8], _out: &mut Vec<u8>) -> Vec<u8> {
        let (mut rest, mut head, mut content) = (bytes, Vec::new(), Vec::new());
        while let Some(FrameHead { kind, length, size }) = FrameHead::read(rest) {
            let (frame, behind) = rest.split_at(rest.len().min(size + length as usize));
            match kind {
                Kind::Data => content.extend_from_slice(&frame[size..]),
                _ if content.is_empty() => head.extend_from_slice(frame),
                // What is behind the content is left out.
                _ => {}
            }
            rest = behind;
        }
        self.write(on, &head, false);
        content
    }

    fn send_piece(&mut self, on: Place, content: &[u8], is_end: bool, _out: &mut Vec<u8>) {
        let mut frame = Vec::with_capacity(content.len() + 9);
        if !content.is_empty() {
            write_data_head(content.len() as u64, &mut frame);
            frame.extend_from_slice(content);
        }
        self.write(on, &frame, is_end);
    }

    fn break_off(&mut self, stream: u32, _out: &mut Vec<u8>) {
        self.out.reset(stream.into(), ErrorCode::InternalError as u64);
        // Where something would follow, it is over for the codec, too.
        self.server.give_up(stream.into(), ErrorCode::InternalError, &mut self.out);
    }

    fn leave_before(&mut self, stream: u32, _out: &mut Vec<u8>) {
        self.out.write(CONTROL, false, |bytes| write_goaway(stream.into(), bytes));
    }

    /// What is wrong is wrong with one stream, but for a reset, which is the connection's.
    fn spoil(
        &mut self,
        on: Place,
        number: u64,
        fault: FaultKind,
        bytes: &[u8],
        sink: &mut Sink<'_>,
    ) -> bool {
        if fault == FaultKind::Repeat {
            self.write(on, &[bytes, bytes].concat(), true);
            return false;
        }
        let half = &bytes[..bytes.len() / 2];
        if fault == FaultKind::Reset {
            self.write(on, half, false);
            sink.send_with(number, FaultKind::Reset, &[]);
            return false;
        }
        // A long one is not over for the codec, and one that goes on is not, either.
        self.server.give_up(on.stream.into(), ErrorCode::NoError, &mut Outgoing::new());
        let garbage = garbage(number);
        let sent = if fault == FaultKind::Garbage { &garbage[..] } else { half };
        self.write(Place { goes_on: false, ..on }, sent, true);
        true
    }

    /// They are frames of HTTP/2 all.
    fn misbehave(&mut self, _stream: u32, _fault: FaultKind, _out: &mut Vec<u8>) -> bool {
        false
    }
}

impl Http3Codec {
    fn write(&mut self, on: Place, bytes: &[u8], is_end: bool) {
        let fin = is_end && !on.goes_on;
        self.out.write(on.stream.into(), fin, |out| out.extend_from_slice(bytes));
    }
}

/// An event of a stream, by the number that the routes know. Those that a codec takes fit (their keys do).
fn numbered(event: Arrival<'_, u64>) -> Arrival<'_, u32> {
    event.renamed(|stream| u32::try_from(stream).unwrap_or(u32::MAX))
}
