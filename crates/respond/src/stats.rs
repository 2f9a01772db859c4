//! The server's counters.
//!
//! Knows counters with one writer each. Must not know when they are counted.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts since the server started, over all threads. Each is exact while the server is idle or
/// stopped, and slightly old while it works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Replies that began: to requests, messages, packets, or reads of a byte stream.
    pub requests: u64,
    /// Connections accepted.
    pub accepted: u64,
    /// Connections open now.
    pub open: u64,
    /// Bytes received from the kernel, including those of TLS itself.
    pub received: u64,
    /// Bytes handed to the kernel, including those of TLS itself except its last alert.
    pub sent: u64,
}

/// The counters of one thread, on cache lines of their own. Only that thread writes them.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    requests: AtomicU64,
    accepted: AtomicU64,
    closed: AtomicU64,
    received: AtomicU64,
    sent: AtomicU64,
}

impl Counters {
    pub(crate) fn add_requests(&self, count: u64) {
        bump(&self.requests, count);
    }

    pub(crate) fn add_accepted(&self) {
        bump(&self.accepted, 1);
    }

    pub(crate) fn add_closed(&self) {
        bump(&self.closed, 1);
    }

    /// Adds the bytes of a turn, from the connection's counts before and after it.
    pub(crate) fn add_bytes(&self, before: (u64, u64), after: (u64, u64)) {
        bump(&self.sent, after.0 - before.0);
        bump(&self.received, after.1 - before.1);
    }

    pub(crate) fn sum<'a>(threads: impl Iterator<Item = &'a Self>) -> Stats {
        threads.fold(Stats::default(), |sum, thread| {
            let closed = thread.closed.load(Relaxed);
            let accepted = thread.accepted.load(Relaxed);
            Stats {
                requests: sum.requests + thread.requests.load(Relaxed),
                accepted: sum.accepted + accepted,
                open: sum.open + accepted.saturating_sub(closed),
                received: sum.received + thread.received.load(Relaxed),
                sent: sum.sent + thread.sent.load(Relaxed),
            }
        })
    }
}

/// With one writer, a load and a store suffice; `fetch_add` would lock the bus.
fn bump(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Relaxed) + by, Relaxed);
}
