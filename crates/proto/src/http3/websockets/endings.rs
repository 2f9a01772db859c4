//! How a WebSocket on a stream ends, and what becomes of its message.
//!
//! Knows what each end means to the message in flight; must not know how a stream is asked for.

use super::{Http3WebSockets, Socket, State};
use crate::fielded::pool;
use crate::http3::broken::words;
use crate::http3::frame::ErrorCode;
use crate::http3::numbers::key;
use crate::http3::outgoing::Outgoing;
use crate::http3::wrong::Wrong;
use crate::{ErrorClass, Event, ProtocolError};

impl Http3WebSockets {
    /// The server has given a stream up.
    #[cold]
    pub(super) fn given_back(
        &mut self,
        stream: u64,
        code: ErrorCode,
        out: &mut Outgoing,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        let taken = self.sockets.remove(key(stream), |it| (it.wire.is_some(), it.number));
        let Some((was_accepted, number)) = taken else { return Ok(None) };
        self.tables.cancel(stream, out);
        out.reset(stream, ErrorCode::RequestCancelled as u64);
        let error = ProtocolError::new(ErrorClass::Reset, words(code));
        if !was_accepted {
            let may_go_on = self.pool.refuse();
            if code != ErrorCode::RequestRejected || !may_go_on {
                return Err(self.given_up(error, out));
            }
        }
        self.over(stream, was_accepted, number, error, out)
    }

    /// The server has ended a stream, and not said why.
    pub(super) fn ended(
        &mut self,
        stream: u64,
        out: &mut Outgoing,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        let wire = self.sockets.get(key(stream)).and_then(|socket| socket.wire.as_deref());
        let error = pool::cut_short(wire);
        self.fail(stream, ErrorCode::RequestCancelled, error, out)
    }

    pub(super) fn wrong(
        &mut self,
        stream: u64,
        wrong: Wrong,
        out: &mut Outgoing,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        if let Wrong::Broken(code) = wrong {
            return Err(self.broken(code.into(), out));
        }
        let (code, error) = wrong.of_message();
        self.fail(stream, code, error, out)
    }

    /// A WebSocket has failed. What follows on its stream is passed over.
    #[cold]
    pub(super) fn fail(
        &mut self,
        stream: u64,
        code: ErrorCode,
        error: ProtocolError,
        out: &mut Outgoing,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        let taken = self.sockets.remove(key(stream), |it| (it.wire.is_some(), it.number));
        let Some((was_accepted, number)) = taken else { return Ok(None) };
        // Where both have said goodbye, what we said of it goes out before.
        if code != ErrorCode::NoError {
            out.reset(stream, code as u64);
        }
        out.stop(stream, code);
        self.tables.cancel(stream, out);
        if !was_accepted {
            return Err(self.given_up(error, out));
        }
        self.over(stream, true, number, error, out)
    }

    /// A stream is over: its message has failed, and another is opened in its place.
    fn over(
        &mut self,
        stream: u64,
        was_accepted: bool,
        number: Option<u64>,
        error: ProtocolError,
        out: &mut Outgoing,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        if !was_accepted {
            self.open(out);
            // Nothing that comes later would tell it.
            return Ok(self.left(out));
        }
        if !self.pool.part() {
            return Err(self.given_up(error, out));
        }
        self.lost(stream, out);
        Ok(Some(pool::parted(number, error)))
    }

    /// What is to be told where the server has left: that those stand which it goes on with, or that nothing is awaited
    /// any more.
    pub(super) fn left(&mut self, out: &mut Outgoing) -> Option<Event<'static>> {
        if self.has_left() {
            self.close(out);
            return Some(Event::Leaving);
        }
        // Answers that it still gives are awaited, as those to requests are; what stands then carries a message each.
        let stand = self.is_left()
            && self.state == State::Opening
            && self.is_done_but_for(|socket| socket.wire.is_some());
        if stand {
            self.state = State::Open;
        }
        stand.then_some(Event::Open)
    }

    /// Is every stream over that the server goes on with, beside such?
    pub(super) fn is_done_but_for(&self, is_idle: impl Fn(&Socket) -> bool) -> bool {
        let first = key(self.first_unprocessed);
        let is_passed_over = |socket: &Socket| first != 0 && socket.key >= first;
        self.sockets.iter().all(|socket| is_passed_over(socket) || is_idle(socket))
    }

    /// An accepted stream is gone.
    pub(super) fn lost(&mut self, stream: u64, out: &mut Outgoing) {
        self.pool.lose(stream);
        self.open(out);
    }
}
