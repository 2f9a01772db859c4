//! How a WebSocket on a stream ends, and what becomes of its message.
//!
//! Knows what each end means to the message in flight; must not know how a stream is asked for.

use super::{Http2WebSockets, Socket};
use crate::fielded::pool;
use crate::http2::frame::ErrorCode;
use crate::http2::reset::words;
use crate::{ErrorClass, Event, ProtocolError};

impl Http2WebSockets {
    /// The server has ended a stream, and not said why.
    pub(super) fn ended(
        &mut self,
        id: u32,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        let Some(stream) = self.connection.stream(id) else { return Ok(None) };
        let wire = stream.heard.message.wire.as_deref();
        let error = pool::cut_short(wire);
        self.fail(id, ErrorCode::Cancel, error, out)
    }

    /// The server has ended a stream at once.
    #[cold]
    pub(super) fn reset(
        &mut self,
        id: u32,
        code: ErrorCode,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        let Some(Socket { wire, number, .. }) = self.connection.drop_stream(id) else {
            return Ok(None);
        };
        let error = ProtocolError::new(ErrorClass::Reset, words(code));
        if wire.is_none() {
            let may_go_on = self.pool.refuse();
            if code != ErrorCode::RefusedStream || !may_go_on {
                return Err(self.given_up(error, out));
            }
        }
        self.over(id, wire.is_some(), number, error, out)
    }

    /// A WebSocket has failed. What follows on its stream is passed over.
    #[cold]
    pub(super) fn fail(
        &mut self,
        id: u32,
        code: ErrorCode,
        error: ProtocolError,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        let given_up = match code {
            // Both have said goodbye: what we said of it goes out before.
            ErrorCode::NoError => self.connection.finish(id, out),
            code => self.connection.give_up(id, code, out),
        };
        let Some(Socket { wire, number, .. }) = given_up else { return Ok(None) };
        if wire.is_none() {
            return Err(self.given_up(error, out));
        }
        self.over(id, true, number, error, out)
    }

    /// A stream is over: its message has failed, and another is opened in its place.
    fn over(
        &mut self,
        id: u32,
        was_accepted: bool,
        number: Option<u64>,
        error: ProtocolError,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        if !was_accepted {
            self.open(out);
            return Ok(None);
        }
        if !self.pool.part() {
            return Err(self.given_up(error, out));
        }
        self.lost(id, out);
        Ok(Some(pool::parted(number, error)))
    }

    /// An accepted stream is gone.
    pub(super) fn lost(&mut self, id: u32, out: &mut Vec<u8>) {
        self.pool.lose(id);
        self.open(out);
    }
}
