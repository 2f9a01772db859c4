//! Where the messages of a worker are: given out, waiting for room, in flight, given up.
//!
//! Knows counts. Must not know connections.

use crate::clock::Nanos;

/// The messages of one worker.
#[derive(Debug)]
pub(super) struct Tally {
    /// Number of the next message, where the worker numbers them.
    pub(super) next: u64,
    /// Sent, and neither answered nor failed.
    in_flight: u64,
    /// Given out by the executor, to connections that had no room for them yet.
    queued: u64,
    /// Due when the load ended, and not sent.
    gave_up: u64,
    first_send: Option<Nanos>,
}

impl Tally {
    /// None yet; the first one has this number.
    pub(super) fn new(first: u64) -> Self {
        Self { next: first, in_flight: 0, queued: 0, gave_up: 0, first_send: None }
    }

    /// Messages are on their way, or a connection is that was asked for on their behalf.
    #[inline]
    pub(super) fn begin(&mut self, messages: u32) {
        self.in_flight += u64::from(messages);
    }

    /// The first byte of messages was handed over at this instant.
    #[inline]
    pub(super) fn sent_at(&mut self, instant: Nanos) {
        self.first_send.get_or_insert(instant);
    }

    /// Messages are answered, or have failed.
    #[inline]
    pub(super) fn end(&mut self, messages: u64) {
        self.in_flight -= messages;
    }

    /// Messages wait until their connection has room for them.
    pub(super) fn wait(&mut self, messages: u32) {
        self.queued += u64::from(messages);
    }

    /// Messages that waited have their turn.
    pub(super) fn wait_no_more(&mut self, messages: u32) {
        self.queued -= u64::from(messages);
    }

    /// The load is over, and so many messages that were due were not sent.
    pub(super) fn give_up(&mut self, messages: u64) {
        self.gave_up = messages;
    }

    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    pub(super) fn queued(&self) -> u64 {
        self.queued
    }

    pub(super) fn gave_up(&self) -> u64 {
        self.gave_up
    }

    pub(super) fn first_send(&self) -> Option<Nanos> {
        self.first_send
    }
}
