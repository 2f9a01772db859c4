//! How a WebSocket on a stream is asked for, and what accepts it.
//!
//! Knows the head of a reply; must not know what follows it.

use std::mem;
use std::sync::Arc;

use super::{Http3WebSockets, Socket, State};
use crate::fielded::wire::Wire;
use crate::http3::frame;
use crate::http3::incoming::Incoming;
use crate::http3::numbers::key;
use crate::http3::outgoing::Outgoing;
use crate::http3::replied::Heard;
use crate::http3::wrong::Wrong;
use crate::websocket::{judge_connected, refusal};
use crate::{Event, ProtocolError, Scratch};

impl Http3WebSockets {
    /// What comes from here on came at this instant, nanoseconds. Who never tells one is told that no upgrade took any
    /// time.
    #[inline]
    pub fn came_at(&mut self, now: u64) {
        self.now = now;
    }

    /// For how long each WebSocket was asked for that was accepted since this was last called, nanoseconds.
    pub fn take_upgrades(&mut self) -> Vec<u64> {
        mem::take(&mut self.upgrades)
    }

    /// Asks for as many WebSockets as are missing, as far as the server lets us.
    pub(super) fn open(&mut self, out: &mut Outgoing) {
        let may_open = self.is_enabled && !self.is_left();
        if !may_open || !matches!(self.state, State::Opening | State::Open) {
            return;
        }
        while self.sockets.len() < self.wanted as usize && self.opened < self.allowed {
            let stream = 4 * self.opened;
            if key(stream) == 0 {
                self.state = State::Leaving;
                return;
            }
            self.opened += 1;
            out.write(stream, false, |bytes| frame::write_headers(self.request.block(), bytes));
            let incoming = Incoming::new(self.limits.max_field_section, true);
            let (key, asked) = (key(stream), self.now);
            self.sockets.insert(Socket { key, asked, incoming, ..Socket::default() });
        }
    }

    /// Fields came: whether a WebSocket is accepted, or what ends one.
    pub(super) fn fields(
        &mut self,
        stream: u64,
        heard: Heard,
        scratch: &Scratch,
        out: &mut Outgoing,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        let Heard::Head(response) = heard else {
            return self.wrong(stream, Wrong::Malformed("fields inside a WebSocket"), out);
        };
        match response.is_final(false) {
            Ok(false) => return Ok(None),
            Ok(true) if (200..300).contains(&response.status) => {}
            Ok(true) => return Err(self.given_up(refusal(response.status), out)),
            Err(detail) => return self.wrong(stream, Wrong::Malformed(detail), out),
        }
        let judged = judge_connected(&scratch.fields, &self.config);
        let deflate = judged.map_err(|error| self.given_up(error, out))?;
        self.seed[0] = self.seed[0].wrapping_add(1);
        let wire = Wire::new(Arc::clone(&self.config), self.seed, deflate);
        let Some(socket) = self.sockets.get_mut(key(stream)) else { return Ok(None) };
        socket.incoming.has_head();
        socket.wire = Some(Box::new(wire));
        self.upgrades.push(self.now.saturating_sub(socket.asked));
        self.pool.accept(stream);
        if self.state != State::Opening {
            return Ok(Some(Event::Room));
        }
        if (self.pool.accepted() as usize) < self.sockets.len() {
            return Ok(None);
        }
        self.state = State::Open;
        Ok(Some(Event::Open))
    }
}
