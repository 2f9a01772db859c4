//! Calls whose messages go one by one: who makes them, and which message is due.
//!
//! Knows instants and connections. Must not know what a message says.

use wiretrial_net::Key;

use super::Worker;
use crate::clock::Nanos;
use crate::connection::State;
use crate::machine::Machine;

impl<M: Machine> Worker<M> {
    /// What is asked from here on is asked now, on this connection.
    #[inline]
    pub(super) fn ask_on(&mut self, index: u32, now: Nanos) {
        if let Some(talks) = self.payloads.talks() {
            talks.ask_on((index, self.connections[index as usize].generation), now);
        }
    }

    /// Encodes the messages of calls that are due.
    pub(super) fn say_due(&mut self, now: Nanos) {
        while let Some(turn) = self.payloads.talks().and_then(|talks| talks.take_due(now)) {
            let (slot, generation) = turn.on;
            if !self.is_current(Key { slot, generation }) {
                continue;
            }
            let connection = &mut self.connections[slot as usize];
            if connection.state != State::Ready {
                continue;
            }
            let will_be_flushed = connection.has_output();
            let (payloads, buffers) = (&mut self.payloads, &mut self.buffers);
            let recorder = &mut self.recorder;
            let goes_on = connection.say(turn.number, turn.due, payloads, buffers, recorder);
            let Some(goes_on) = goes_on else { continue };
            if let Some(talks) = payloads.talks().filter(|_| goes_on) {
                talks.goes_on(turn);
            }
            if !will_be_flushed {
                self.turns.has_encoded(slot);
            }
        }
    }

    /// When the next message of a call is due.
    pub(super) fn next_said(&mut self) -> Nanos {
        self.payloads.talks().map_or(Nanos::MAX, |talks| talks.next_due())
    }
}
