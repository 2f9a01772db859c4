//! The server's side: requests in, responses out.
//!
//! Knows what an origin server must check (RFC 9110, RFC 9112) and which framing its answer may
//! have; must not know what is asked for.

use std::sync::Arc;

use super::chunked::{Chunked, Piece};
use super::date::DateField;
use super::inbound::{Inbound, InboundBody, Refusal};
use super::respond::{self, BodyFraming, BodyLength, Persistence};
use super::waiting::Waiting;
use crate::head::{HeadEnd, HeadError, MAX_HEAD, Version};
use crate::{ProtocolError, Scratch, ServerCodec, ServerEvent, Step};

/// HTTP/1.1 as a server speaks it, one connection.
///
/// Each [`ServerEvent::Request`] is followed by the chunks of its body and
/// [`ServerEvent::End`], so `receive` is to be called until it reports nothing, if need be with
/// no input. Requests may be answered at any time, in their order. Once a request asked for a
/// WebSocket and was granted it, the connection is no longer this codec's.
#[derive(Debug)]
pub struct Http1Server {
    waiting: Waiting<Unusual>,
    reading: Reading,
    writing: Writing,
    /// The request that is being read is the last.
    last: bool,
    date: Option<Arc<DateField>>,
}

/// Requests whose answers are framed in another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unusual {
    /// HEAD: the answer has no body, whatever its fields say.
    is_head: bool,
    /// HTTP/1.0: no chunks; the connection persists only where that is said.
    is_http10: bool,
}

#[derive(Debug, Clone, Copy)]
enum Reading {
    Head(HeadEnd),
    /// So many bytes of the body are missing.
    Length(u64),
    Chunked(Chunked),
    /// The end of the body was read, but not yet reported.
    End,
    /// No further request is read: the last one was, or one was refused.
    Done,
}

#[derive(Debug, Clone, Copy)]
enum Writing {
    /// Between responses.
    Nothing,
    /// The bytes as they are.
    Plain,
    Chunked,
    /// The body is left out: the request was HEAD, or the status has none.
    LeftOut,
}

impl Default for Http1Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Http1Server {
    /// A codec for a new connection.
    pub fn new() -> Self {
        Self {
            waiting: Waiting::new(),
            reading: Reading::Head(HeadEnd::default()),
            writing: Writing::Nothing,
            last: false,
            date: None,
        }
    }

    /// A codec whose answers carry this date, as those of an origin server with a clock must
    /// (RFC 9110 section 6.6.1).
    pub fn with_date(date: Arc<DateField>) -> Self {
        Self { date: Some(date), ..Self::new() }
    }

    /// Appends a whole response to the oldest request: head and body. Without `keep_alive` it
    /// says `Connection: close`, and closing after it is the caller's to do. An empty
    /// `content_type` is left out, and so is the body where the request was HEAD or the status
    /// has none.
    pub fn respond(
        &mut self,
        status: u16,
        content_type: &str,
        body: &[u8],
        keep_alive: bool,
        out: &mut Vec<u8>,
    ) {
        self.respond_head(
            status,
            content_type,
            BodyLength::Known(body.len() as u64),
            keep_alive,
            out,
        );
        self.body_chunk(body, out);
        self.body_end(out);
    }

    /// Appends the head of a response to the oldest request; its body follows with
    /// [`body_chunk`](Self::body_chunk) and [`body_end`](Self::body_end). Tells whether the
    /// connection persists: not where the body can only end with it.
    pub fn respond_head(
        &mut self,
        status: u16,
        content_type: &str,
        length: BodyLength,
        keep_alive: bool,
        out: &mut Vec<u8>,
    ) -> bool {
        let unusual = self.waiting.oldest();
        let is_head = unusual.is_some_and(|request| request.is_head);
        let is_http10 = unusual.is_some_and(|request| request.is_http10);
        let framing = match length {
            _ if status == 204 => BodyFraming::Nothing,
            BodyLength::Known(length) => BodyFraming::Length(length),
            BodyLength::Chunked if is_http10 => BodyFraming::UntilEnd,
            BodyLength::Chunked => BodyFraming::Chunked,
        };
        let persistence = match keep_alive && framing != BodyFraming::UntilEnd {
            false => Persistence::Close,
            true if is_http10 => Persistence::KeepAlive,
            true => Persistence::Default,
        };
        respond::head(status, content_type, framing, persistence, self.date.as_deref(), out);
        self.writing = match framing {
            _ if is_head || matches!(status, 204 | 304) => Writing::LeftOut,
            BodyFraming::Chunked => Writing::Chunked,
            BodyFraming::Length(_) | BodyFraming::UntilEnd | BodyFraming::Nothing => Writing::Plain,
        };
        persistence != Persistence::Close
    }

    /// Appends a piece of the response's body, framed as its head said. All pieces together
    /// must be as long as that.
    pub fn body_chunk(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        match self.writing {
            Writing::Plain => out.extend_from_slice(bytes),
            Writing::Chunked => respond::chunk(bytes, out),
            Writing::Nothing | Writing::LeftOut => {}
        }
    }

    /// The response is complete.
    pub fn body_end(&mut self, out: &mut Vec<u8>) {
        if matches!(self.writing, Writing::Chunked) {
            out.extend_from_slice(b"0\r\n\r\n");
        }
        self.writing = Writing::Nothing;
        self.waiting.pop();
    }

    /// Appends `100 Continue`, for a request whose client waits for it
    /// ([`ServerRequest::expects_continue`](crate::ServerRequest::expects_continue)). To be
    /// called before that request is answered, and when those before it were.
    pub fn invite_body(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
    }
}

impl ServerCodec for Http1Server {
    fn receive<'a>(
        &mut self,
        input: &'a mut [u8],
        _: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<ServerEvent<'a>>, ProtocolError> {
        let step = match &mut self.reading {
            Reading::Head(_) => self.read_head(input),
            Reading::Length(missing) => {
                let take = usize::try_from(*missing).map_or(input.len(), |n| n.min(input.len()));
                *missing -= take as u64;
                if *missing == 0 {
                    self.reading = Reading::End;
                }
                return Ok(Step { consumed: take, event: chunk(&mut input[..take]) });
            }
            Reading::Chunked(chunked) => match chunked.read(input, false) {
                Ok(Piece { consumed, data, end: true }) if data.is_empty() => {
                    return Ok(self.finish(consumed));
                }
                Ok(Piece { consumed, data, end }) => {
                    if end {
                        self.reading = Reading::End;
                    }
                    return Ok(Step { consumed, event: chunk(&mut input[data]) });
                }
                Err(error) => Err(error.into()),
            },
            Reading::End => return Ok(self.finish(0)),
            Reading::Done => return Ok(Step { consumed: input.len(), event: None }),
        };
        step.map_err(|refusal| self.refuse(&refusal, out))
    }
}

impl Http1Server {
    fn read_head<'a>(&mut self, input: &'a [u8]) -> Result<Step<ServerEvent<'a>>, Refusal> {
        let Reading::Head(end) = &mut self.reading else {
            return Ok(Step { consumed: 0, event: None });
        };
        // An empty line before a request is a careless client's (RFC 9112 section 2.2).
        let skipped = if input.starts_with(b"\r\n") { 2 } else { 0 };
        let rest = &input[skipped..];
        let length = match end.find(rest) {
            Ok(Some(length)) => length,
            Ok(None) => return Ok(Step { consumed: 0, event: None }),
            Err(HeadError::TooLarge) if !rest[..MAX_HEAD].contains(&b'\n') => {
                return Err(Refusal::line_too_long());
            }
            Err(error) => return Err(error.into()),
        };
        let Inbound { request, body, version } = Inbound::read(&rest[..length])?;
        let unusual =
            Unusual { is_head: request.method == "HEAD", is_http10: version == Version::Http10 };
        self.waiting.push((unusual.is_head || unusual.is_http10).then_some(unusual));
        self.last = !request.keep_alive;
        self.reading = match body {
            InboundBody::Length(0) => Reading::End,
            InboundBody::Length(length) => Reading::Length(length),
            InboundBody::Chunked => Reading::Chunked(Chunked::Size),
        };
        Ok(Step { consumed: skipped + length, event: Some(ServerEvent::Request(request)) })
    }

    fn finish(&mut self, consumed: usize) -> Step<ServerEvent<'static>> {
        self.reading = if self.last { Reading::Done } else { Reading::Head(HeadEnd::default()) };
        Step { consumed, event: Some(ServerEvent::End) }
    }

    fn refuse(&mut self, refusal: &Refusal, out: &mut Vec<u8>) -> ProtocolError {
        // An answer that would stand where that to an earlier request must, or behind one that
        // was given already, would be taken for something else.
        let answerable = match self.reading {
            Reading::Head(_) => self.waiting.is_empty(),
            _ => self.waiting.count() == 1 && matches!(self.writing, Writing::Nothing),
        };
        if answerable {
            respond::refusal(refusal.status, refusal.fields, self.date.as_deref(), out);
        }
        self.reading = Reading::Done;
        refusal.error
    }
}

fn chunk(data: &mut [u8]) -> Option<ServerEvent<'_>> {
    (!data.is_empty()).then_some(ServerEvent::Chunk(data))
}
