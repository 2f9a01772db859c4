//! What one direction did with its packets, and how late it was itself.

use serde::Serialize;

/// A packet handed on more than this after its instant counts as late.
pub const LATE_NS: u64 = 200_000;

/// The packets of one direction so far. What came in went out, was dropped, was lost, or is on its
/// way: offered + duplicated = carried + refused + unmapped + lost + blackholed + `queue_full` +
/// `too_big` + on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Came in.
    pub offered: u64,
    /// Bytes of those.
    pub offered_bytes: u64,
    /// Lost on the wire, as asked.
    pub lost: u64,
    /// Lost while nothing passed, as asked.
    pub blackholed: u64,
    /// Dropped because the queue before the rate was full.
    pub queue_full: u64,
    /// Dropped because they were larger than the MTU.
    pub too_big: u64,
    /// Copies made, as asked.
    pub duplicated: u64,
    /// Held back so that others overtake, as asked.
    pub held_back: u64,
}

/// What the shell did with packets whose instant had come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Carried {
    /// Handed to the other side.
    pub carried: u64,
    /// Bytes of those.
    pub carried_bytes: u64,
    /// Not taken by the other side: its interface is down, or has no room.
    pub refused: u64,
    /// For a port that the router had taken away, or never given: [`crate::Nat`].
    pub unmapped: u64,
    /// Handed on more than [`LATE_NS`] after their instant.
    pub late: u64,
    /// How long after their instants all were handed on, together.
    pub lateness_ns: u64,
    /// The most of these.
    pub worst_lateness_ns: u64,
}

impl Carried {
    /// A packet of `bytes` that was due at `due_ns` was handed on at `now_ns`.
    pub(crate) fn record(&mut self, due_ns: u64, now_ns: u64, bytes: usize) {
        let lateness_ns = now_ns.saturating_sub(due_ns);
        self.carried += 1;
        self.carried_bytes += bytes as u64;
        self.late += u64::from(lateness_ns > LATE_NS);
        self.lateness_ns += lateness_ns;
        self.worst_lateness_ns = self.worst_lateness_ns.max(lateness_ns);
    }
}
