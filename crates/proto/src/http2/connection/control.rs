//! Frames that steer: settings, pings, windows, and how streams and connections end.
//!
//! Knows what each changes; must not know content.

use super::{Broken, Connection, Happened, Side, broken};
use crate::http2::frame::{self, ACK, ErrorCode, FrameHead, Kind};
use crate::http2::settings::{self, Settings};

/// Answers to control frames that may wait for a peer that does not read them.
const MOST_OWED: u32 = 10_000;

type Told = Result<Option<Happened<'static>>, Broken>;

impl<M: Default> Connection<M> {
    /// Takes in a frame that is neither content nor fields.
    pub(super) fn control(&mut self, head: FrameHead, payload: &[u8], out: &mut Vec<u8>) -> Told {
        match head.kind {
            Kind::Settings => self.settings(head, payload, out),
            Kind::Ping => {
                if !head.has(ACK) {
                    self.owe(out)?;
                    frame::write(Kind::Ping, ACK, 0, payload, out);
                }
                Ok(None)
            }
            Kind::GoAway => self.goaway(payload),
            Kind::WindowUpdate => self.window_update(head.stream, payload, out),
            Kind::ResetStream => self.reset(head.stream, payload),
            Kind::PushPromise => Err(broken(ErrorCode::ProtocolError, "a push that was forbidden")),
            Kind::Priority => self.priority(head.stream, payload),
            // Nobody knows it: it means nothing (section 5.5).
            _ => Ok(None),
        }
    }

    fn settings(&mut self, head: FrameHead, payload: &[u8], out: &mut Vec<u8>) -> Told {
        if head.has(ACK) {
            if !self.reading.is_acknowledged {
                self.reading.is_acknowledged = true;
                self.instants.round_trip = self.instants.now - self.instants.asked;
                self.decoder.allow(self.limits.header_table_size as usize);
            }
            return Ok(None);
        }
        if !payload.len().is_multiple_of(6) {
            return Err(wrong_size());
        }
        self.owe(out)?;
        let before = self.peer;
        let out_of_bounds = |code| broken(code, "a setting is out of bounds");
        self.peer.apply(payload).map_err(out_of_bounds)?;
        if self.side == Side::Client && self.peer.enable_push && !before.enable_push {
            // Only a client may say so (section 6.5.2).
            return Err(out_of_bounds(ErrorCode::ProtocolError));
        }
        let is_smaller = self.peer.header_table_size < Settings::default().header_table_size;
        self.table_due |= is_smaller && !self.table_told;
        let wider = i64::from(self.peer.initial_window) - i64::from(before.initial_window);
        self.streams.send_window = self.peer.initial_window;
        for stream in self.streams.touched.iter_mut() {
            stream.send_window += wider;
            if stream.send_window > frame::WIDEST.into() {
                return Err(out_of_bounds(ErrorCode::FlowControlError));
            }
        }
        settings::write_ack(out);
        let has_gone = self.send_held(out);
        if !std::mem::replace(&mut self.reading.is_settled, true) {
            return Ok(Some(Happened::Settled));
        }
        let has_room = match self.side {
            Side::Client => before.max_concurrent_streams != self.peer.max_concurrent_streams,
            Side::Server => has_gone,
        };
        Ok(has_room.then_some(Happened::Room))
    }

    /// The peer takes its leave: it goes on with what it has begun, and nothing else (section 6.8).
    fn goaway(&mut self, payload: &[u8]) -> Told {
        let Some(last) = payload.first_chunk().filter(|_| payload.len() >= 8) else {
            return Err(wrong_size());
        };
        let last = u32::from_be_bytes(*last) & frame::WIDEST;
        if last > self.last_processed {
            return Err(broken(ErrorCode::ProtocolError, "a GOAWAY takes back what it refused"));
        }
        if self.side == Side::Client {
            self.last_processed = last;
        }
        self.used.goaways += 1;
        Ok(Some(Happened::Leaving))
    }

    fn window_update(&mut self, id: u32, payload: &[u8], out: &mut Vec<u8>) -> Told {
        let more = u32::from_be_bytes(payload.try_into().map_err(|_| wrong_size())?);
        let more = more & frame::WIDEST;
        if id == 0 {
            if more == 0 {
                return Err(broken(ErrorCode::ProtocolError, "a window is widened by nothing"));
            }
            let wider = self.send_window.checked_add(more).filter(|&it| it <= frame::WIDEST);
            self.send_window = wider
                .ok_or(broken(ErrorCode::FlowControlError, "a window is wider than there are"))?;
        } else {
            let Some(stream) = self.streams.get_mut(id) else {
                self.check_idle(id)?;
                let detail = "the window of a stream that is over is widened by nothing";
                let wrong = broken(ErrorCode::ProtocolError, detail);
                return if more == 0 { Err(wrong) } else { Ok(None) };
            };
            stream.send_window += i64::from(more);
            let wrong = |code, detail| Ok(Some(Happened::Wrong { id, code, detail }));
            if more == 0 {
                return wrong(ErrorCode::ProtocolError, "a stream's window is widened by nothing");
            }
            if stream.send_window > frame::WIDEST.into() {
                let detail = "a stream's window is wider than there are";
                return wrong(ErrorCode::FlowControlError, detail);
            }
        }
        let has_room = self.send_held(out) && self.side == Side::Server;
        Ok(has_room.then_some(Happened::Room))
    }

    fn reset(&mut self, id: u32, payload: &[u8]) -> Told {
        let code = u32::from_be_bytes(payload.try_into().map_err(|_| wrong_size())?);
        self.gone.retain(|&gone| gone != id);
        if !self.streams.has(id) {
            return self.check_idle(id).map(|()| None);
        }
        if self.side == Side::Server {
            // A stream that is opened and reset costs its client nothing, and us an answer.
            self.reading.taken_back += 1;
            if self.reading.taken_back > MOST_OWED {
                return Err(broken(ErrorCode::EnhanceYourCalm, "a flood of requests taken back"));
            }
        }
        Ok(Some(Happened::Reset { id, code: ErrorCode::of(code) }))
    }

    /// Nobody heeds priorities any more (section 5.3.2), but they must be written as they were.
    fn priority(&self, id: u32, payload: &[u8]) -> Told {
        if payload.len() != 5 {
            let (code, detail) = (ErrorCode::FrameSizeError, "a PRIORITY of another length");
            let is_open = self.streams.has(id);
            return if is_open {
                Ok(Some(Happened::Wrong { id, code, detail }))
            } else {
                Err(wrong_size())
            };
        }
        Self::check_dependency(id, payload).map(|()| None)
    }

    /// A stream can't depend on itself (RFC 7540 section 5.3.1, which those that still say so know).
    pub(super) fn check_dependency(id: u32, priority: &[u8]) -> Result<(), Broken> {
        match priority.first_chunk() {
            Some(on) if u32::from_be_bytes(*on) & frame::WIDEST == id => {
                Err(broken(ErrorCode::ProtocolError, "a stream depends on itself"))
            }
            _ => Ok(()),
        }
    }

    /// An answer to a control frame is about to be appended. A peer that asks and does not read has
    /// us keep answers for it, which has an end.
    pub(super) fn owe(&mut self, out: &[u8]) -> Result<(), Broken> {
        let (owed, length) = self.reading.owed;
        let owed = if out.len() < length { 1 } else { owed + 1 };
        // Behind this there will be more, unless some of it has gone.
        self.reading.owed = (owed, out.len() + 1);
        if owed > MOST_OWED {
            return Err(broken(ErrorCode::EnhanceYourCalm, "a flood of frames to be answered"));
        }
        Ok(())
    }
}

pub(super) const fn wrong_size() -> Broken {
    broken(ErrorCode::FrameSizeError, "a frame of a length that it can't have")
}
