//! What is published: events that say which one it is and when it was due.
//!
//! Knows the monotonic clock's reading at offset 0 of the run. Must not know who hears them.

use std::sync::Arc;

use wiretrial_proto::sse::NumberedEvent;

use crate::clock::Nanos;
use crate::reach::Reach;

/// Events of one size, written in place.
#[derive(Debug, Clone)]
pub(super) struct Told {
    size: usize,
    /// What the clock said at offset 0 of the run, nanoseconds.
    origin: u64,
    /// When the next one was due, on that clock.
    due_ns: u64,
    /// Where it is said which of them were not confirmed; none: nobody asks.
    reach: Option<Arc<Reach>>,
    text: Vec<u8>,
}

impl Told {
    /// Events of so many bytes, stamped from offset 0 on.
    pub(super) fn new(size: usize) -> Self {
        Self { size, origin: 0, due_ns: 0, reach: None, text: Vec::with_capacity(size) }
    }

    /// They are stamped on a clock that said so at offset 0.
    pub(super) fn begin_at(&mut self, origin: u64) {
        self.origin = origin;
    }

    /// It is said here which of them were not confirmed.
    pub(super) fn confirm_to(&mut self, reach: Arc<Reach>) {
        self.reach = Some(reach);
    }

    /// Nobody knows whether the event with this number was taken.
    pub(super) fn not_confirmed(&self, number: u64) {
        if let Some(reach) = &self.reach {
            reach.not_confirmed(number);
        }
    }

    /// What is written from now on was due at this instant.
    pub(super) fn are_due(&mut self, due: Nanos) {
        self.due_ns = self.origin.saturating_add(due.0);
    }

    pub(super) fn len(&self) -> usize {
        self.size
    }

    /// The event with this number.
    pub(super) fn write(&mut self, number: u64) -> &[u8] {
        self.text.clear();
        NumberedEvent { number, due_ns: self.due_ns }.write(self.size, &mut self.text);
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_says_its_number_and_when_it_was_due() {
        let mut told = Told::new(64);
        told.begin_at(1_000);
        for (number, due) in [(0, 5), (7, 90)] {
            told.are_due(Nanos(due));
            let event = NumberedEvent::read(told.write(number));
            assert_eq!(event, Some(NumberedEvent { number, due_ns: 1_000 + due }));
            assert_eq!(told.write(number).len(), told.len());
        }
    }
}
