//! Frames in: which is next, and is it allowed here?
//!
//! Knows how frames follow each other, content and fields; must not know what a field means.

use super::control::wrong_size;
use super::{Broken, Connection, Happened, Side, broken};
use crate::fields::FieldList;
use crate::http2::frame::{self, ACK, END_HEADERS, END_STREAM, ErrorCode, FrameHead, HEAD, Kind};
use crate::http2::hpack::HpackError;
use crate::{ErrorClass, Step};

/// The longest block of fields, as it comes, bytes.
const MAX_BLOCK: usize = crate::head::MAX_HEAD;
/// Frames of one block: more would be a flood of empty ones.
const MOST_PIECES: u32 = 64;
/// Frames of content without content that may follow each other.
const MOST_EMPTY: u32 = 1_000;

/// Where in a frame the connection is.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// The peer's settings came, which must be first.
    pub(super) is_settled: bool,
    /// It has acknowledged ours.
    pub(super) is_acknowledged: bool,
    data: Option<Data>,
    block: Option<Block>,
    /// Frames of content without content, since the last one with.
    pub(super) empty: u32,
    /// Requests that the client took back, beside as many as were answered.
    pub(super) taken_back: u32,
    /// Answers that were appended since output was last seen to shrink, and its length then.
    pub(super) owed: (u32, usize),
}

/// A DATA frame whose payload is coming.
#[derive(Debug, Clone, Copy)]
struct Data {
    stream: u32,
    /// Content that is missing, bytes, and padding behind it.
    content: usize,
    padding: usize,
    is_end: bool,
}

/// A block of fields whose end is to come.
#[derive(Debug)]
struct Block {
    stream: u32,
    is_end: bool,
    bytes: Vec<u8>,
    pieces: u32,
}

impl Reading {
    /// Is a frame or a block there in part?
    pub(super) const fn is_inside(&self) -> bool {
        self.data.is_some() || self.block.is_some()
    }
}

impl<M: Default> Connection<M> {
    /// Takes frames from the front of the input up to the next that the caller must know of. What
    /// it does not consume must come again, with more behind it; content is always consumed.
    pub(in crate::http2) fn read<'a>(
        &mut self,
        input: &'a [u8],
        fields: &mut FieldList,
        out: &mut Vec<u8>,
    ) -> Result<Step<Happened<'a>>, Broken> {
        let mut offset = 0;
        loop {
            let rest = &input[offset..];
            if let Some(data) = self.reading.data {
                let (taken, event) = self.read_data(data, rest, out);
                offset += taken;
                if event.is_some() || self.reading.data.is_some() {
                    return Ok(Step { consumed: offset, event });
                }
                continue;
            }
            let Some(head) = FrameHead::read(rest) else {
                return Ok(Step { consumed: offset, event: None });
            };
            self.check(head)?;
            let event = if head.kind == Kind::Data {
                // The length of the padding belongs to the head.
                let is_padded = head.has(frame::PADDED) && head.length > 0;
                let padding = if is_padded { rest.get(HEAD) } else { Some(&0) };
                let Some(&padding) = padding else {
                    return Ok(Step { consumed: offset, event: None });
                };
                offset += HEAD + usize::from(is_padded);
                self.begin_data(head, padding)?
            } else {
                let Some(payload) = rest[HEAD..].get(..head.length) else {
                    return Ok(Step { consumed: offset, event: None });
                };
                offset += HEAD + head.length;
                match head.kind {
                    Kind::Headers => self.begin_fields(head, payload, fields, out)?,
                    Kind::Continuation => self.go_on(head, payload, fields, out)?,
                    _ => self.control(head, payload, out)?,
                }
            };
            if event.is_some() {
                return Ok(Step { consumed: offset, event });
            }
        }
    }

    /// What holds for all frames.
    #[inline]
    fn check(&self, head: FrameHead) -> Result<(), Broken> {
        let is_settings = head.kind == Kind::Settings && !head.has(ACK);
        // Wherever they stand (sections 6.5 and 6.7).
        let is_sized = match head.kind {
            Kind::Settings if head.has(ACK) => head.length == 0,
            Kind::Ping => head.length == 8,
            _ => true,
        };
        if !is_sized {
            return Err(wrong_size());
        }
        if !self.reading.is_settled && !is_settings {
            return Err(broken(ErrorCode::ProtocolError, "the peer does not begin as HTTP/2 does"));
        }
        if head.length > self.limits.max_frame as usize {
            return Err(broken(
                ErrorCode::FrameSizeError,
                "a frame is longer than what was allowed",
            ));
        }
        match &self.reading.block {
            Some(block) if head.kind != Kind::Continuation || head.stream != block.stream => {
                return Err(broken(ErrorCode::ProtocolError, "a frame inside a block of fields"));
            }
            None if head.kind == Kind::Continuation => {
                return Err(broken(ErrorCode::ProtocolError, "a CONTINUATION of nothing"));
            }
            _ => {}
        }
        let of_stream = match head.kind {
            Kind::Settings | Kind::Ping | Kind::GoAway => false,
            Kind::WindowUpdate | Kind::Other => return Ok(()),
            _ => true,
        };
        if of_stream != (head.stream != 0) {
            return Err(broken(ErrorCode::ProtocolError, "a frame on a stream where it can't be"));
        }
        Ok(())
    }

    /// A DATA frame begins; its whole length counts against both windows (section 6.9).
    fn begin_data(
        &mut self,
        head: FrameHead,
        padding: u8,
    ) -> Result<Option<Happened<'static>>, Broken> {
        let (id, padding) = (head.stream, usize::from(padding));
        let is_padded = usize::from(head.has(frame::PADDED));
        let Some(content) = head.length.checked_sub(padding + is_padded) else {
            return Err(broken(ErrorCode::ProtocolError, "padding that is longer than its frame"));
        };
        let length = head.length as u32;
        let Ok(waited) = self.allowance.take(length, &self.instants) else {
            return Err(broken(ErrorCode::FlowControlError, "more than the connection's window"));
        };
        self.used.waited_for_connection(waited);
        let is_end = head.has(END_STREAM);
        self.reading.empty = if content == 0 && !is_end { self.reading.empty + 1 } else { 0 };
        if self.reading.empty > MOST_EMPTY {
            return Err(broken(ErrorCode::EnhanceYourCalm, "a flood of empty frames"));
        }
        self.reading.data = Some(Data { stream: id, content, padding, is_end });
        let wrong = |code, detail| Ok(Some(Happened::Wrong { id, code, detail }));
        let Some(stream) = self.streams.get_mut(id) else {
            return self.check_gone(id).map(|()| None);
        };
        if stream.has_ended {
            return wrong(ErrorCode::StreamClosed, "content behind the end");
        }
        if !stream.heard.has_head {
            return wrong(ErrorCode::ProtocolError, "content before the head");
        }
        if let Ok(waited) = stream.allowance.take(length, &self.instants) {
            self.used.waited_for_stream(waited);
        } else {
            // Until a client has our settings, it may send what is allowed without them.
            let is_early = self.side == Side::Server && !self.reading.is_acknowledged;
            let wider = frame::WINDOW.saturating_sub(self.limits.stream_window);
            if !is_early || stream.allowance.overdraw(length, wider).is_err() {
                return wrong(ErrorCode::FlowControlError, "more than the stream's window");
            }
        }
        match stream.heard.takes(content as u64, is_end) {
            Ok(()) => Ok(None),
            Err(detail) => wrong(ErrorCode::ProtocolError, detail),
        }
    }

    /// Takes what is there of a DATA frame.
    #[inline]
    fn read_data<'a>(
        &mut self,
        mut data: Data,
        input: &'a [u8],
        out: &mut Vec<u8>,
    ) -> (usize, Option<Happened<'a>>) {
        let (piece, behind) = input.split_at(data.content.min(input.len()));
        data.content -= piece.len();
        let padding = if data.content == 0 { data.padding.min(behind.len()) } else { 0 };
        data.padding -= padding;
        let is_over = data.content == 0 && data.padding == 0;
        self.reading.data = (!is_over).then_some(data);
        let Data { stream: id, .. } = data;
        let is_end = is_over && data.is_end;
        if is_over {
            self.widen(id, is_end, out);
        }
        if is_end {
            self.end(id);
        }
        let is_told = (is_end || !piece.is_empty()) && self.streams.has(id);
        let event = is_told.then_some(Happened::Content { id, piece, padding, is_end });
        (piece.len() + padding, event)
    }

    /// The peer sends nothing more on this stream.
    fn end(&mut self, id: u32) {
        match self.streams.get_mut(id) {
            Some(stream) => stream.has_ended = true,
            None => self.gone.retain(|&gone| gone != id),
        }
    }

    /// Allows more where half of a window is used. What came is taken at once, so that the windows
    /// are what may be on its way, and no more.
    #[inline]
    fn widen(&mut self, id: u32, is_end: bool, out: &mut Vec<u8>) {
        let whole = self.limits.connection_window.max(frame::WINDOW);
        let left = self.allowance.left();
        if left <= whole / 2 {
            frame::write_window_update(0, whole - left, out);
            self.allowance.widen(whole, &self.instants);
        }
        let whole = self.limits.stream_window;
        let Some(stream) = self.streams.get_mut(id).filter(|_| !is_end) else { return };
        let left = stream.allowance.left();
        if left <= whole / 2 && left < whole {
            frame::write_window_update(id, stream.allowance.missing(whole), out);
            stream.allowance.widen(whole, &self.instants);
        }
    }

    /// HEADERS: all of a block, or its begin.
    fn begin_fields(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        fields: &mut FieldList,
        out: &mut Vec<u8>,
    ) -> Result<Option<Happened<'static>>, Broken> {
        let Some(block) = frame::unpadded(head, payload) else {
            return Err(broken(ErrorCode::ProtocolError, "padding longer than its frame"));
        };
        if head.has(frame::PRIORITY) {
            let priority = &payload[usize::from(head.has(frame::PADDED))..];
            Self::check_dependency(head.stream, priority)?;
        }
        let is_end = head.has(END_STREAM);
        if head.has(END_HEADERS) {
            return self.fields(head.stream, is_end, block, fields, out);
        }
        let (stream, bytes) = (head.stream, block.to_vec());
        self.reading.block = Some(Block { stream, is_end, bytes, pieces: 1 });
        Ok(None)
    }

    /// CONTINUATION: more of a block.
    fn go_on(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        fields: &mut FieldList,
        out: &mut Vec<u8>,
    ) -> Result<Option<Happened<'static>>, Broken> {
        let Some(mut block) = self.reading.block.take() else { return Ok(None) };
        block.bytes.extend_from_slice(payload);
        block.pieces += 1;
        if block.bytes.len() > MAX_BLOCK || block.pieces > MOST_PIECES {
            let (code, class) = (ErrorCode::EnhanceYourCalm, ErrorClass::HeaderTooLarge);
            return Err(Broken { code, class, detail: "a block of fields without end" });
        }
        if !head.has(END_HEADERS) {
            self.reading.block = Some(block);
            return Ok(None);
        }
        self.fields(block.stream, block.is_end, &block.bytes, fields, out)
    }

    /// A block is whole. It is read whosever it is, because it may change the table.
    fn fields(
        &mut self,
        id: u32,
        is_end: bool,
        block: &[u8],
        fields: &mut FieldList,
        out: &mut Vec<u8>,
    ) -> Result<Option<Happened<'static>>, Broken> {
        if let Some(happened) = self.again(id, is_end, block) {
            return Ok(Some(happened));
        }
        fields.clear();
        let before = self.decoder.version();
        let most = self.limits.max_header_list as usize;
        self.decoder.read(block, most, fields).map_err(|error| match error {
            HpackError::TooLarge => Broken {
                code: ErrorCode::EnhanceYourCalm,
                class: ErrorClass::HeaderTooLarge,
                detail: "a list of fields is over the limit",
            },
            _ => broken(ErrorCode::CompressionError, "a block of fields can't be read"),
        })?;
        if self.side == Side::Server && id >= self.next && !id.is_multiple_of(2) {
            if id > self.last_taken {
                self.pass_over(id);
                self.next = id + 2;
                return Ok(None);
            }
            if self.streams.len() >= self.limits.max_streams as usize {
                self.pass_over(id);
                self.next = id + 2;
                self.owe(out)?;
                self.forget(id, ErrorCode::RefusedStream, out);
                return Ok(None);
            }
            self.pass_over(id);
            self.insert(id, M::default());
        }
        let Some(stream) = self.streams.get_mut(id) else {
            if self.passed_over.iter().any(|numbers| numbers.contains(&id)) {
                // It is closed because a later one was opened (section 5.1.1).
                return Err(broken(
                    ErrorCode::ProtocolError,
                    "a stream is opened behind a later one",
                ));
            }
            self.check_gone(id)?;
            if is_end {
                self.end(id);
            }
            return Ok(None);
        };
        if stream.has_ended {
            let (code, detail) = (ErrorCode::StreamClosed, "fields behind the end");
            return Ok(Some(Happened::Wrong { id, code, detail }));
        }
        if is_end {
            stream.has_ended = true;
        }
        if let Some(repeats) = &mut self.repeats {
            let tables = [before, self.decoder.version()];
            repeats[usize::from(stream.heard.has_head)].was_read(
                block,
                is_end,
                tables,
                self.decoder.footing(),
            );
        }
        Ok(Some(Happened::Fields { id, is_end }))
    }

    /// A block that says what the caller knows already: it need not be read.
    #[inline]
    fn again(&mut self, id: u32, is_end: bool, block: &[u8]) -> Option<Happened<'static>> {
        let repeats = self.repeats.as_ref()?;
        let stream = self.streams.get_mut(id).filter(|stream| !stream.has_ended)?;
        let last = &repeats[usize::from(stream.heard.has_head)];
        if !last.is_again(block, is_end, self.decoder.version()) {
            return None;
        }
        stream.has_ended = is_end;
        Some(Happened::Again { id, is_end })
    }

    /// Something came on a stream that is not open: it may have been on its way when we gave it up.
    fn check_gone(&self, id: u32) -> Result<(), Broken> {
        self.check_idle(id)?;
        if id > self.last_taken || self.gone.contains(&id) {
            return Ok(());
        }
        Err(broken(ErrorCode::StreamClosed, "something came on a stream that is over"))
    }

    /// A stream that was never opened is nothing to speak on.
    pub(super) fn check_idle(&self, id: u32) -> Result<(), Broken> {
        if id.is_multiple_of(2) || id >= self.next {
            return Err(broken(ErrorCode::ProtocolError, "a frame on a stream that is not open"));
        }
        Ok(())
    }
}
