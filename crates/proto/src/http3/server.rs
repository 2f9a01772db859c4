//! The server's side: requests in, answers out, in any order.
//!
//! Knows which stream a request came on; must not know routes, nor when an answer is due, nor who
//! carries the streams: what is to be done is left in [`Outgoing`].

use super::broken::Broken;
use super::control::Said;
use super::frame::{self, ErrorCode};
use super::incoming::{Came, Incoming};
use super::numbers::{self, key};
use super::outgoing::Outgoing;
use super::qpack::{self, Secrecy};
use super::settings::{Http3Limits, Settings};
use super::tables::Tables;
use super::unidirectional::{Seen, Unidirectional};
use super::wrong::Wrong;
use crate::fielded::{Arrival, arrival, inbound};
use crate::fields::FieldList;
use crate::streams::{Identified, Streams};
use crate::{ProtocolError, Scratch, Step};

/// Our stream of control: the first that a server opens in one direction.
const CONTROL: u64 = 3;
/// Requests that a client may take back, beside as many as were answered.
const MOST_TAKEN_BACK: u32 = 10_000;

/// What a server's side reports; streams by QUIC's numbers.
pub type Http3Event<'a> = Arrival<'a, u64>;

/// HTTP/3 as a server speaks it, one connection.
///
/// What came on a stream goes to [`receive`](Self::receive), what became of one to
/// [`reset`](Self::reset) and [`stop_sending`](Self::stop_sending); what is to be done is left in an
/// [`Outgoing`], which the caller does and clears.
#[derive(Debug)]
pub struct Http3Server {
    limits: Http3Limits,
    state: State,
    unidirectional: Unidirectional,
    tables: Tables,
    streams: Streams<Request>,
    /// Which of the client's requests have begun.
    seen: Seen,
    /// Requests from this stream on are not taken, as we said.
    first_refused: u64,
    /// Requests that the client took back, beside as many as were answered.
    taken_back: u32,
    /// Where heads of answers are encoded.
    block: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The last requests were taken in.
    Leaving,
    Closed,
}

/// A request that is not answered whole, on its stream.
#[expect(clippy::struct_excessive_bools, reason = "each direction has its own begin and end")]
#[derive(Debug, Default)]
struct Request {
    /// See [`key`]; 0: none is here.
    key: u32,
    has_head: bool,
    /// The client sends nothing more on it.
    has_ended: bool,
    /// Nor do we.
    we_end: bool,
    /// Both directions end by themselves: another protocol is spoken on it.
    is_tunnel: bool,
    /// What is missing of its content, where its head told its length.
    missing: Option<u64>,
    incoming: Incoming,
}

impl Identified for Request {
    #[inline]
    fn id(&self) -> u32 {
        self.key
    }

    fn vacate(&mut self) {
        *self = Self::default();
    }
}

impl Http3Server {
    /// A session for a new connection.
    pub fn new(limits: Http3Limits) -> Self {
        Self {
            limits,
            state: State::Open,
            unidirectional: Unidirectional::new(false),
            tables: Tables::new(CONTROL, limits.table),
            streams: Streams::default(),
            seen: Seen::default(),
            first_refused: u64::MAX,
            taken_back: 0,
            block: Vec::new(),
        }
    }

    /// What opens the conversation.
    pub fn start(&mut self, out: &mut Outgoing) {
        Settings::of(self.limits).open(CONTROL, out);
        self.tables.open(out);
    }

    /// Takes bytes from the front of what came on a stream, and reports at most one event. As
    /// [`Http3Client::receive`](super::Http3Client::receive).
    ///
    /// # Errors
    /// The client broke the rules, and `out` closes the connection.
    pub fn receive<'a>(
        &mut self,
        stream: u64,
        input: &'a [u8],
        fin: bool,
        scratch: &'a mut Scratch,
        out: &mut Outgoing,
    ) -> Result<Step<Http3Event<'a>>, ProtocolError> {
        let whole = input.len();
        if self.state == State::Closed {
            return Ok(Step { consumed: whole, event: None });
        }
        match stream & 3 {
            0 => {
                let step = self.on_request(stream, input, fin, scratch, out)?;
                self.tables.tell(out);
                Ok(step)
            }
            2 => {
                let event = self.on_unidirectional(stream, input, fin, out);
                let event = event.map_err(|why| self.broken(why, out))?;
                Ok(Step { consumed: whole, event })
            }
            _ => Ok(Step { consumed: whole, event: None }),
        }
    }

    /// The client sends nothing more on a stream, and what it sent is lost in part (`RESET_STREAM`).
    ///
    /// # Errors
    /// The connection needs this stream, and `out` closes it.
    pub fn reset(
        &mut self,
        stream: u64,
        out: &mut Outgoing,
    ) -> Result<Option<Http3Event<'static>>, ProtocolError> {
        if self.state == State::Closed {
            return Ok(None);
        }
        let kept = match stream & 3 {
            0 => self.seen.begins(stream).map(drop),
            2 => self.unidirectional.reset(stream),
            _ => Ok(()),
        };
        kept.map_err(|why| self.broken(why, out))?;
        let code = ErrorCode::RequestIncomplete as u64;
        self.take_back(stream, code, out).map_err(|why| self.broken(why, out))
    }

    /// The client does not want what we send on a stream (`STOP_SENDING`).
    ///
    /// # Errors
    /// The connection needs this stream, and `out` closes it.
    pub fn stop_sending(
        &mut self,
        stream: u64,
        code: u64,
        out: &mut Outgoing,
    ) -> Result<Option<Http3Event<'static>>, ProtocolError> {
        if self.state == State::Closed {
            return Ok(None);
        }
        if numbers::is_one_way(stream) {
            return Err(self.broken(ErrorCode::ClosedCriticalStream.into(), out));
        }
        self.take_back(stream, code, out).map_err(|why| self.broken(why, out))
    }

    /// Writes the head of an answer; `is_end`: it has no content. Names of fields are in lower case.
    /// False: the client does not want it any more.
    pub fn respond(
        &mut self,
        stream: u64,
        status: u16,
        fields: &[(&str, &[u8])],
        is_end: bool,
        out: &mut Outgoing,
    ) -> bool {
        let Some(request) = self.answered(stream) else { return false };
        // What is refused is answered as any request.
        request.is_tunnel &= (200..300).contains(&status);
        self.block.clear();
        qpack::write_prefix(&mut self.block);
        let block = &mut self.block;
        qpack::write_field(b":status", &arrival::digits(status), Secrecy::Plain, block);
        for (name, value) in fields {
            qpack::write_field(name.as_bytes(), value, Secrecy::Plain, block);
        }
        out.write(stream, is_end, |bytes| frame::write_headers(&self.block, bytes));
        self.note_end(stream, is_end, out);
        true
    }

    /// Writes content of an answer whose head was written. False: the client does not want it any more.
    pub fn content(&mut self, stream: u64, piece: &[u8], is_end: bool, out: &mut Outgoing) -> bool {
        if self.answered(stream).is_none() {
            return false;
        }
        out.write(stream, is_end, |bytes| {
            if !piece.is_empty() {
                frame::write_data_head(piece.len() as u64, bytes);
                bytes.extend_from_slice(piece);
            }
        });
        self.note_end(stream, is_end, out);
        true
    }

    /// Writes fields behind the content of an answer, which they end. Names are in lower case. False:
    /// the client does not want it any more.
    pub fn trailers(&mut self, stream: u64, fields: &[(&str, &[u8])], out: &mut Outgoing) -> bool {
        if self.answered(stream).is_none() {
            return false;
        }
        self.block.clear();
        qpack::write_prefix(&mut self.block);
        for (name, value) in fields {
            qpack::write_field(name.as_bytes(), value, Secrecy::Plain, &mut self.block);
        }
        out.write(stream, true, |bytes| frame::write_headers(&self.block, bytes));
        self.note_end(stream, true, out);
        true
    }

    /// Ends a stream without an answer, or in the middle of one.
    pub fn give_up(&mut self, stream: u64, code: ErrorCode, out: &mut Outgoing) {
        self.drop_request(stream, code as u64, out);
    }

    /// Says that no more requests are taken; those that came are answered.
    pub fn leave(&mut self, out: &mut Outgoing) {
        if self.state == State::Open {
            self.state = State::Leaving;
            self.first_refused = 4 * self.seen.next();
            out.write(CONTROL, false, |bytes| frame::write_goaway(self.first_refused, bytes));
        }
    }

    /// An orderly goodbye.
    pub fn close(&mut self, out: &mut Outgoing) {
        if self.state != State::Closed {
            out.close(ErrorCode::NoError);
            self.state = State::Closed;
        }
    }

    /// Requests that came and are not answered.
    pub fn open_streams(&self) -> usize {
        self.streams.len()
    }
}

impl Http3Server {
    fn on_request<'a>(
        &mut self,
        stream: u64,
        input: &'a [u8],
        fin: bool,
        scratch: &'a mut Scratch,
        out: &mut Outgoing,
    ) -> Result<Step<Http3Event<'a>>, ProtocolError> {
        let (most, connects) = (self.limits.max_field_section, self.limits.connect_protocol);
        let whole = input.len();
        let is_new = self.seen.begins(stream).map_err(|why| self.broken(why, out))?;
        if is_new && !self.begin(stream, out) {
            return Ok(Step { consumed: whole, event: None });
        }
        let mut consumed = 0;
        // Who is not there was given up, and what comes of it was on its way.
        while let Some(request) = self.streams.get_mut(key(stream)).filter(|it| !it.has_ended) {
            let (has_head, fields) = (request.has_head, &mut scratch.fields);
            let tables = &mut self.tables;
            let read = |block: &[u8]| read(tables, stream, block, has_head, most, connects, fields);
            let (taken, came) = match request.incoming.take(&input[consumed..], read) {
                Ok(taken) => taken,
                Err(wrong) => return self.wrong(stream, wrong, whole, out),
            };
            consumed += taken;
            let wrong = match came {
                None if !fin => break,
                None => match request.end() {
                    Ok(()) => {
                        let is_over = request.we_end;
                        if is_over {
                            self.finish(stream, out);
                        }
                        return Ok(Step { consumed, event: Some(Http3Event::End { stream }) });
                    }
                    Err(wrong) => wrong,
                },
                Some(Came::Content(piece)) => {
                    match inbound::takes(&mut request.missing, piece.len() as u64, false) {
                        Ok(()) => {
                            let event = Some(Http3Event::Chunk { stream, piece });
                            return Ok(Step { consumed, event });
                        }
                        Err(detail) => Wrong::Malformed(detail),
                    }
                }
                Some(Came::Fields(Heard::Behind)) => {
                    match inbound::takes(&mut request.missing, 0, true) {
                        Ok(()) => continue,
                        Err(detail) => Wrong::Malformed(detail),
                    }
                }
                Some(Came::Fields(Heard::Head { content_length, is_tunnel })) => {
                    request.has_head = true;
                    request.incoming.has_head();
                    (request.missing, request.is_tunnel) = (content_length, is_tunnel);
                    let is_end = fin && consumed == whole && content_length.unwrap_or(0) == 0;
                    let event = arrival::request(stream, content_length, is_end, &scratch.fields);
                    return Ok(Step { consumed, event });
                }
            };
            return self.wrong(stream, wrong, whole, out);
        }
        Ok(Step { consumed: whole, event: None })
    }

    fn on_unidirectional(
        &mut self,
        stream: u64,
        input: &[u8],
        fin: bool,
        out: &mut Outgoing,
    ) -> Result<Option<Http3Event<'static>>, Broken> {
        let mut input = input;
        while let Some(said) =
            self.unidirectional.receive(stream, input, fin, &mut self.tables, out)?
        {
            input = &[];
            match said {
                // Nothing that we send depends on what a client declares.
                Said::Settings(_) => {}
                Said::Leaving(_) => return Ok(Some(Http3Event::Leaving)),
            }
        }
        Ok(None)
    }

    /// A request begins. False: it is not taken, and the client is told so (section 4.1.1).
    fn begin(&mut self, stream: u64, out: &mut Outgoing) -> bool {
        let is_taken = stream < self.first_refused
            && self.streams.len() < self.limits.max_streams
            && key(stream) != 0;
        if is_taken {
            let incoming = Incoming::new(self.limits.max_field_section, false);
            self.streams.insert(Request { key: key(stream), incoming, ..Request::default() });
        } else {
            out.reset(stream, ErrorCode::RequestRejected as u64);
            out.stop(stream, ErrorCode::RequestRejected);
            self.tables.cancel(stream, out);
        }
        is_taken
    }

    /// A request whose answer is not complete.
    fn answered(&mut self, stream: u64) -> Option<&mut Request> {
        self.streams.get_mut(key(stream)).filter(|request| !request.we_end)
    }

    /// All of ours on a stream was written, which is the end of it, but for one on which another
    /// protocol is spoken: there the client has its say, too.
    fn note_end(&mut self, stream: u64, is_end: bool, out: &mut Outgoing) {
        if !is_end {
            return;
        }
        match self.streams.get_mut(key(stream)) {
            Some(request) if request.is_tunnel && !request.has_ended => request.we_end = true,
            _ => self.finish(stream, out),
        }
    }

    /// A stream is over. Who answers without taking all of a request asks so for the rest to be left
    /// out (section 4.1).
    fn finish(&mut self, stream: u64, out: &mut Outgoing) {
        let has_ended = self.streams.remove(key(stream), |request| request.has_ended);
        self.taken_back = self.taken_back.saturating_sub(1);
        if has_ended == Some(false) {
            out.stop(stream, ErrorCode::NoError);
        }
    }

    /// There is nobody to be answered on this stream, for what the client did there, or on the connection.
    #[cold]
    fn wrong(
        &mut self,
        stream: u64,
        wrong: Wrong,
        consumed: usize,
        out: &mut Outgoing,
    ) -> Result<Step<Http3Event<'static>>, ProtocolError> {
        let code = match wrong {
            Wrong::Broken(code) => return Err(self.broken(code.into(), out)),
            Wrong::Incomplete => ErrorCode::RequestIncomplete,
            wrong => wrong.of_message().0,
        };
        let is_dropped = self.drop_request(stream, code as u64, out);
        Ok(Step { consumed, event: is_dropped.then_some(Http3Event::Gone { stream }) })
    }

    /// The client does not want an answer any more. A request that is taken back costs it nothing, and
    /// us an answer.
    fn take_back(
        &mut self,
        stream: u64,
        code: u64,
        out: &mut Outgoing,
    ) -> Result<Option<Http3Event<'static>>, Broken> {
        if !self.drop_request(stream, code, out) {
            return Ok(None);
        }
        self.taken_back += 1;
        if self.taken_back > MOST_TAKEN_BACK {
            let detail = "a flood of requests taken back (H3_EXCESSIVE_LOAD)";
            return Err(Broken::new(ErrorCode::ExcessiveLoad, detail));
        }
        Ok(Some(Http3Event::Gone { stream }))
    }

    /// Ends both directions of a stream. False: it is not there.
    fn drop_request(&mut self, stream: u64, code: u64, out: &mut Outgoing) -> bool {
        let taken = self.streams.remove(key(stream), |it| (it.has_ended, it.we_end));
        let Some((has_ended, we_end)) = taken else { return false };
        if !we_end {
            out.reset(stream, code);
        }
        if !has_ended {
            out.stop(stream, ErrorCode::of(code));
            self.tables.cancel(stream, out);
        }
        true
    }

    #[cold]
    fn broken(&mut self, why: Broken, out: &mut Outgoing) -> ProtocolError {
        self.state = State::Closed;
        why.tell(out)
    }
}

impl Request {
    /// Nothing comes behind what came.
    fn end(&mut self) -> Result<(), Wrong> {
        self.incoming.end()?;
        inbound::takes(&mut self.missing, 0, true).map_err(Wrong::Malformed)?;
        self.has_ended = true;
        Ok(())
    }
}

/// What a block of fields was.
enum Heard {
    /// The head of a request.
    Head { content_length: Option<u64>, is_tunnel: bool },
    /// Behind content.
    Behind,
}

/// Reads a block that came on a stream, of a head or `behind` content, into `fields`.
fn read(
    tables: &mut Tables,
    stream: u64,
    block: &[u8],
    behind: bool,
    most: usize,
    connects: bool,
    fields: &mut FieldList,
) -> Result<Heard, Wrong> {
    tables.read(stream, block, most, fields)?;
    if behind {
        inbound::trailers(fields)?;
        return Ok(Heard::Behind);
    }
    let request = inbound::request(fields, connects)?;
    inbound::check_host(fields)?;
    let (content_length, is_tunnel) = (request.content_length, request.protocol.is_some());
    Ok(Heard::Head { content_length, is_tunnel })
}
