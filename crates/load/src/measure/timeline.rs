//! The instants in one message's life.

use crate::clock::Nanos;

/// The instants in one message's life: due <= sent <= first byte <= done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeline {
    /// When it should have been sent.
    pub due: Nanos,
    /// When its first byte was handed to the kernel, or, where it needed a connection of its
    /// own, when that connection was asked for.
    pub sent: Nanos,
    /// When the first byte of its reply was there.
    pub first_byte: Nanos,
    /// When the last byte of its reply was there.
    pub done: Nanos,
}

impl Timeline {
    /// Nothing happens before what it follows from: due, sent, first byte, done.
    pub fn is_ordered(&self) -> bool {
        self.due <= self.sent && self.sent <= self.first_byte && self.first_byte <= self.done
    }

    /// done - due.
    pub fn response_time(&self) -> Nanos {
        self.done - self.due
    }

    /// done - sent.
    pub fn service_time(&self) -> Nanos {
        self.done - self.sent
    }

    /// sent - due.
    pub fn pacing_lag(&self) -> Nanos {
        self.sent - self.due
    }

    /// first byte - sent.
    pub fn first_byte_time(&self) -> Nanos {
        self.first_byte - self.sent
    }
}
