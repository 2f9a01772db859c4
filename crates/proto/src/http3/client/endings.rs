//! How messages end before their replies are whole, and how the connection does.
//!
//! Knows what either side does to a stream; must not know what comes on it.

use super::{Http3Client, State};
use crate::fielded::MOST_REFUSED;
use crate::http3::broken::{Broken, words};
use crate::http3::frame::ErrorCode;
use crate::http3::numbers::{self, key};
use crate::http3::outgoing::Outgoing;
use crate::http3::wrong::Wrong;
use crate::{ErrorClass, Event, ProtocolError, Step, Tag};

impl Http3Client {
    /// The server sends nothing more on a stream, and what it sent is lost in part (`RESET_STREAM`).
    ///
    /// # Errors
    /// The connection needs this stream, and `out` closes it.
    pub fn reset(
        &mut self,
        stream: u64,
        code: u64,
        out: &mut Outgoing,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        if self.state == State::Closed {
            return Ok(None);
        }
        if stream & 3 == 3 {
            let kept = self.unidirectional.reset(stream);
            return kept.map(|()| None).map_err(|why| self.broken(why, out));
        }
        let taken = self.streams.remove(key(stream), |it| (it.number, it.has_content));
        let Some((number, has_content)) = taken else { return Ok(None) };
        self.tables.cancel(stream, out);
        if has_content {
            out.reset(stream, ErrorCode::RequestCancelled as u64);
        }
        self.notice_end();
        let (tag, code) = (Tag::Number(number), ErrorCode::of(code));
        self.refused += u32::from(code == ErrorCode::RequestRejected);
        Ok(Some(match code {
            // Nothing was done with it (section 4.1.1).
            ErrorCode::RequestRejected if self.refused <= MOST_REFUSED => {
                Event::Unprocessed { tag }
            }
            code => {
                Event::Failed { tag, error: ProtocolError::new(ErrorClass::Reset, words(code)) }
            }
        }))
    }

    /// The server does not want what we send on a stream (`STOP_SENDING`). Its reply may still come.
    ///
    /// # Errors
    /// The connection needs this stream, and `out` closes it.
    pub fn stop_sending(
        &mut self,
        stream: u64,
        code: u64,
        out: &mut Outgoing,
    ) -> Result<(), ProtocolError> {
        if self.state == State::Closed {
            return Ok(());
        }
        if numbers::is_one_way(stream) {
            return Err(self.broken(ErrorCode::ClosedCriticalStream.into(), out));
        }
        if let Some(exchange) = self.streams.get_mut(key(stream)) {
            (exchange.has_content, exchange.goes_on) = (false, false);
        }
        out.reset(stream, code);
        Ok(())
    }

    /// Gives up the reply to the message with this number: nothing of it is reported any more. False:
    /// it is not awaited.
    pub fn cancel(&mut self, number: u64, out: &mut Outgoing) -> bool {
        let found = self.streams.iter().find(|exchange| exchange.number == number);
        let Some(key) = found.map(|exchange| exchange.key) else { return false };
        self.streams.remove(key, |_| ());
        let stream = numbers::stream(key);
        out.reset(stream, ErrorCode::RequestCancelled as u64);
        out.stop(stream, ErrorCode::RequestCancelled);
        self.tables.cancel(stream, out);
        self.notice_end();
        true
    }
}

impl Http3Client {
    /// A message has failed for what the server did on its stream, or the connection has.
    #[cold]
    pub(super) fn wrong(
        &mut self,
        stream: u64,
        wrong: Wrong,
        consumed: usize,
        out: &mut Outgoing,
    ) -> Result<Step<Event<'static>>, ProtocolError> {
        if let Wrong::Broken(code) = wrong {
            return Err(self.broken(code.into(), out));
        }
        let taken = self.streams.remove(key(stream), |it| (it.number, it.has_content));
        self.tables.cancel(stream, out);
        let event = taken.map(|(number, has_content)| {
            let (code, error) = wrong.of_message();
            out.stop(stream, code);
            if has_content {
                out.reset(stream, code as u64);
            }
            self.failed(Tag::Number(number), error)
        });
        Ok(Step { consumed, event })
    }

    #[cold]
    pub(super) fn broken(&mut self, why: Broken, out: &mut Outgoing) -> ProtocolError {
        self.state = State::Closed;
        why.tell(out)
    }
}
