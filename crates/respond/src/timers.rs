//! When each connection needs its next turn.
//!
//! Knows instants and keys. Must not know the reasons.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wiretrial_net::Key;

/// Alarms in the order of their instants, nanoseconds of the monotonic clock. They are not
/// cancelled: the receiver checks whether an alarm still matters.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(u64, u32, u32)>>,
}

impl Timers {
    pub(crate) fn push(&mut self, due: u64, key: Key) {
        self.heap.push(Reverse((due, key.slot, key.generation)));
    }

    pub(crate) fn next_due(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((due, ..))| *due)
    }

    /// The next alarm that is due by now.
    pub(crate) fn pop_due(&mut self, now: u64) -> Option<Key> {
        let next = self.heap.peek_mut()?;
        if next.0.0 > now {
            return None;
        }
        let Reverse((_, slot, generation)) = std::collections::binary_heap::PeekMut::pop(next);
        Some(Key { slot, generation })
    }
}
