//! The routes' codec over HTTP/2.
//!
//! Knows how kept replies, which are frames, are changed. Must not know routes, nor when a reply is due.

use std::mem;

use wiretrial_proto::http2::{ErrorCode, Http2Limits, Http2Server};
use wiretrial_proto::{Arrival, ProtocolError, Scratch, Step};

use super::codec::{Codec, Fields, Place, Why};
use super::frames;
use crate::plan::MAX_STREAMS;
use crate::script::FaultKind;
use crate::sink::Sink;

impl Codec for Http2Server {
    fn begin() -> Self {
        Self::new(Http2Limits {
            max_streams: MAX_STREAMS,
            connect_protocol: true,
            ..Http2Limits::default()
        })
    }

    #[inline]
    fn receive<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Arrival<'a, u32>>, ProtocolError> {
        self.receive(input, scratch, out)
    }

    #[inline]
    fn respond(
        &mut self,
        stream: u32,
        status: u16,
        fields: Fields<'_>,
        is_end: bool,
        out: &mut Vec<u8>,
    ) {
        self.respond(stream, status, fields, is_end, out);
    }

    #[inline]
    fn content(&mut self, stream: u32, piece: &[u8], is_end: bool, out: &mut Vec<u8>) {
        self.content(stream, piece, is_end, out);
    }

    fn trailers(&mut self, stream: u32, fields: Fields<'_>, out: &mut Vec<u8>) {
        self.trailers(stream, fields, out);
    }

    fn give_up(&mut self, stream: u32, why: Why, out: &mut Vec<u8>) {
        let code = match why {
            Why::Refused => ErrorCode::RefusedStream,
            Why::TooMuch => ErrorCode::EnhanceYourCalm,
        };
        self.reset(stream, code, out);
    }

    fn leave(&mut self, out: &mut Vec<u8>) {
        self.leave(out);
    }

    #[inline]
    fn held(&self) -> usize {
        self.held()
    }

    fn open_streams(&self) -> usize {
        self.open_streams()
    }

    fn begin_kept(&mut self) -> usize {
        self.held()
    }

    fn take_kept(&mut self, held: usize, out: &mut Vec<u8>) -> Option<Vec<u8>> {
        (self.held() <= held).then(|| mem::take(out))
    }

    fn send_kept(&mut self, on: Place, bytes: &[u8], out: &mut Vec<u8>) {
        frames::moved(bytes, on.stream, out);
    }

    fn send_head(&mut self, on: Place, bytes: &[u8], out: &mut Vec<u8>) -> Vec<u8> {
        frames::taken_apart(bytes, on.stream, out)
    }

    fn send_piece(&mut self, on: Place, content: &[u8], is_end: bool, out: &mut Vec<u8>) {
        frames::data(on.stream, content, is_end && !on.goes_on, out);
    }

    fn break_off(&mut self, stream: u32, out: &mut Vec<u8>) {
        frames::reset(stream, out);
        // A long one is not over for the codec, which says the same again.
        self.reset(stream, ErrorCode::InternalError, &mut Vec::new());
    }

    fn leave_before(&mut self, stream: u32, out: &mut Vec<u8>) {
        frames::goaway(stream.saturating_sub(2), out);
    }

    fn spoil(
        &mut self,
        _on: Place,
        number: u64,
        fault: FaultKind,
        bytes: &[u8],
        sink: &mut Sink<'_>,
    ) -> bool {
        // What is wrong with the bytes of one stream is wrong with those of the connection.
        sink.send_with(number, fault, bytes);
        false
    }

    fn misbehave(&mut self, stream: u32, fault: FaultKind, out: &mut Vec<u8>) -> bool {
        match fault {
            FaultKind::Headers => frames::endless_head(stream, out),
            FaultKind::Bomb => frames::bomb(stream, out),
            FaultKind::Pings => frames::pings(out),
            FaultKind::Settings => frames::settings(out),
            FaultKind::Streams => frames::setting(frames::MAX_CONCURRENT_STREAMS, 1, out),
            FaultKind::Window => frames::setting(frames::INITIAL_WINDOW_SIZE, 0, out),
            _ => {}
        }
        matches!(fault, FaultKind::Headers | FaultKind::Bomb)
    }
}
