//! When sessions are due in an open loop, and how many of them wait.
//!
//! Knows instants. Must not know sessions.

use crate::clock::Nanos;
use crate::pacing::Pacer;

/// The instants at which sessions are due.
#[derive(Debug)]
pub(super) struct Arrivals {
    pacer: Pacer,
    /// Runs ahead of `pacer` while sessions wait, to count them without storing them.
    lead: Pacer,
    /// Sessions that `lead` is ahead.
    ahead: u64,
}

impl Arrivals {
    pub(super) fn new(pacer: Pacer) -> Self {
        Self { lead: pacer.clone(), pacer, ahead: 0 }
    }

    /// When the next one is due.
    pub(super) fn due(&self) -> Nanos {
        self.pacer.due()
    }

    /// It has begun.
    pub(super) fn advance(&mut self) {
        self.pacer.advance();
        if self.ahead == 0 {
            self.lead.advance();
        } else {
            self.ahead -= 1;
        }
    }

    /// Those that are due at `now` and have not begun.
    pub(super) fn waiting(&mut self, now: Nanos) -> u64 {
        while self.lead.due() <= now {
            self.lead.advance();
            self.ahead += 1;
        }
        self.ahead
    }
}
