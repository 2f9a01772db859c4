//! The server's side: requests in, answers out, in any order.
//!
//! Knows which stream a request came on; must not know routes, nor when an answer is due.

use super::connection::{Broken, Connection, Happened, Http2Limits, Side};
use super::frame::{self, ErrorCode, PREFACE};
use super::hpack::{Secrecy, write_field};
use crate::fielded::{Arrival, arrival, inbound};
use crate::{ErrorClass, ProtocolError, Scratch, Step};

/// HTTP/2 as a server speaks it, one connection.
#[derive(Debug)]
pub struct Http2Server {
    connection: Connection<()>,
    /// CONNECT with a protocol is taken.
    connects: bool,
    state: State,
    /// The stream whose request was over with what was told last.
    ended: Option<u32>,
    /// Where heads of answers are encoded.
    block: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The client's first bytes have not come.
    Opening,
    /// Nor have they here, and no request will be taken.
    Unwelcome,
    Open,
    /// The last requests were taken in.
    Leaving,
    Closed,
}

/// What a server's side reports; streams by their numbers.
pub type Http2Event<'a> = Arrival<'a, u32>;

impl Http2Server {
    /// A codec for a new connection.
    pub fn new(limits: Http2Limits) -> Self {
        Self {
            connection: Connection::new(Side::Server, limits),
            connects: limits.connect_protocol,
            state: State::Opening,
            ended: None,
            block: Vec::new(),
        }
    }

    /// Takes bytes from the front of `input` and reports at most one event. As
    /// [`ClientSession::receive`](crate::ClientSession::receive).
    ///
    /// # Errors
    /// The client broke the protocol; what HTTP/2 says to that was appended to `out`.
    pub fn receive<'a>(
        &mut self,
        input: &'a [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Http2Event<'a>>, ProtocolError> {
        if self.state == State::Closed {
            return Ok(Step { consumed: input.len(), event: None });
        }
        if let Some(stream) = self.ended.take() {
            return Ok(Step { consumed: 0, event: Some(Http2Event::End { stream }) });
        }
        let mut consumed = 0;
        if matches!(self.state, State::Opening | State::Unwelcome) {
            let Some(length) = self.opened(input, out)? else {
                return Ok(Step { consumed, event: None });
            };
            consumed = length;
        }
        loop {
            let read = self.connection.read(&input[consumed..], &mut scratch.fields, out);
            let step = read.map_err(|why| self.broken(why, out))?;
            consumed += step.consumed;
            let event = match step.event {
                None => return Ok(Step { consumed, event: None }),
                Some(Happened::Fields { id, is_end }) => match self.fields(id, is_end, scratch) {
                    Ok(Came::Request(length)) => {
                        self.ended = is_end.then_some(id);
                        let event = arrival::request(id, length, is_end, &scratch.fields);
                        return Ok(Step { consumed, event });
                    }
                    Ok(Came::Trailers) => {
                        self.over(id, is_end, out);
                        Some(Http2Event::End { stream: id })
                    }
                    Err(()) => self.gone(id, Some(ErrorCode::ProtocolError), out),
                },
                Some(Happened::Content { id, piece, is_end, .. }) => {
                    self.over(id, is_end, out);
                    if piece.is_empty() {
                        Some(Http2Event::End { stream: id })
                    } else {
                        self.ended = is_end.then_some(id);
                        Some(Http2Event::Chunk { stream: id, piece })
                    }
                }
                Some(Happened::Wrong { id, code, .. }) => self.gone(id, Some(code), out),
                Some(Happened::Reset { id, .. }) => self.gone(id, None, out),
                Some(Happened::Leaving) => Some(Http2Event::Leaving),
                Some(Happened::Settled | Happened::Room) => Some(Http2Event::Room),
                // Nobody asked to be told so.
                Some(Happened::Again { .. }) => None,
            };
            if event.is_some() {
                return Ok(Step { consumed, event });
            }
        }
    }

    /// Appends the head of an answer; `is_end`: it has no content. Names of fields are in lower case.
    /// False: the client does not want it any more.
    pub fn respond(
        &mut self,
        stream: u32,
        status: u16,
        fields: &[(&str, &[u8])],
        is_end: bool,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(open) = self.connection.stream(stream) else { return false };
        // What is refused is answered as any request.
        open.is_tunnel &= (200..300).contains(&status);
        self.block.clear();
        self.connection.begin_block(&mut self.block);
        write_field(b":status", &arrival::digits(status), Secrecy::Plain, &mut self.block);
        for (name, value) in fields {
            write_field(name.as_bytes(), value, Secrecy::Plain, &mut self.block);
        }
        let flags = if is_end { frame::END_STREAM } else { 0 };
        let most = self.connection.peer.max_frame as usize;
        frame::write_block(stream, flags, &self.block, most, out);
        self.connection.note_end(stream, is_end, out);
        true
    }

    /// Appends content of an answer whose head was appended; what has no room yet is kept. False: the
    /// client does not want it any more.
    pub fn content(&mut self, stream: u32, piece: &[u8], is_end: bool, out: &mut Vec<u8>) -> bool {
        let is_wanted = self.connection.stream(stream).is_some();
        if is_wanted {
            self.connection.send(stream, piece, is_end, out);
        }
        is_wanted
    }

    /// Appends fields behind the content of an answer, which they end, once all of it has gone. Names are in lower
    /// case. False: the client does not want it any more.
    pub fn trailers(&mut self, stream: u32, fields: &[(&str, &[u8])], out: &mut Vec<u8>) -> bool {
        if self.connection.stream(stream).is_none() {
            return false;
        }
        self.block.clear();
        for (name, value) in fields {
            write_field(name.as_bytes(), value, Secrecy::Plain, &mut self.block);
        }
        self.connection.send_trailers(stream, &self.block, out);
        true
    }

    /// Ends a stream without an answer, or in the middle of one.
    pub fn reset(&mut self, stream: u32, code: ErrorCode, out: &mut Vec<u8>) {
        self.connection.give_up(stream, code, out);
    }

    /// Appends that no more requests are taken; those that came are answered.
    pub fn leave(&mut self, out: &mut Vec<u8>) {
        match self.state {
            // Its settings go first, once it has begun.
            State::Opening => self.state = State::Unwelcome,
            State::Open => {
                self.state = State::Leaving;
                self.connection.leave(ErrorCode::NoError, out);
            }
            State::Unwelcome | State::Leaving | State::Closed => {}
        }
    }

    /// Bytes of answers that wait for the client to allow more.
    pub fn held(&self) -> usize {
        self.connection.held_bytes()
    }

    /// Requests that came and are not answered.
    pub fn open_streams(&self) -> usize {
        self.connection.open_streams()
    }

    /// The client's first bytes, and ours: how long they are. None: more are needed.
    fn opened(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Option<usize>, ProtocolError> {
        let there = input.len().min(PREFACE.len());
        if input[..there] != PREFACE[..there] {
            self.state = State::Closed;
            let detail = "the client does not begin as HTTP/2 does";
            return Err(ProtocolError::new(ErrorClass::Protocol, detail));
        }
        if there < PREFACE.len() {
            return Ok(None);
        }
        let is_unwelcome = std::mem::replace(&mut self.state, State::Open) == State::Unwelcome;
        self.connection.start(out);
        if is_unwelcome {
            self.leave(out);
        }
        Ok(Some(there))
    }

    /// Looks at fields that came.
    fn fields(&mut self, id: u32, is_end: bool, scratch: &Scratch) -> Result<Came, ()> {
        let stream = self.connection.stream(id).ok_or(())?;
        if stream.heard.has_head {
            inbound::trailers(&scratch.fields).map_err(|_| ())?;
            // Fields in the middle are neither head nor trailers.
            return stream
                .heard
                .takes(0, true)
                .map(|()| Came::Trailers)
                .ok()
                .filter(|_| is_end)
                .ok_or(());
        }
        let request = inbound::request(&scratch.fields, self.connects).map_err(|_| ())?;
        let content_length = request.content_length;
        stream.is_tunnel = request.protocol.is_some();
        stream.heard.has_head = true;
        stream.heard.missing = content_length;
        if is_end {
            stream.heard.takes(0, true).map_err(|_| ())?;
        }
        Ok(Came::Request(content_length))
    }

    /// The client has ended a stream: it is over where we had ended it before.
    fn over(&mut self, id: u32, is_end: bool, out: &mut Vec<u8>) {
        if is_end && self.connection.is_over(id) {
            self.connection.finish(id, out);
        }
    }

    /// There is nobody to be answered on this stream; with a code, for what the client did there.
    #[cold]
    fn gone(
        &mut self,
        id: u32,
        code: Option<ErrorCode>,
        out: &mut Vec<u8>,
    ) -> Option<Http2Event<'static>> {
        match code {
            Some(code) => self.connection.give_up(id, code, out)?,
            None => self.connection.drop_stream(id)?,
        }
        Some(Http2Event::Gone { stream: id })
    }

    #[cold]
    fn broken(&mut self, why: Broken, out: &mut Vec<u8>) -> ProtocolError {
        self.connection.leave(why.code, out);
        self.state = State::Closed;
        ProtocolError::new(why.class, why.detail)
    }
}

/// What fields were.
enum Came {
    /// The head of a request, with the length of its content where it tells it.
    Request(Option<u64>),
    Trailers,
}
