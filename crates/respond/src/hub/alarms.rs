//! When streams of events have something to say.
//!
//! Knows instants and whose they are. Must not know what is said. Nothing is cancelled: who is gone is
//! not found, and who has nothing to say says nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wiretrial_net::Key;

use super::mailbox::Envelope;
use super::notice::Notice;

/// Alarms of one thread's connections, the earliest first.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    /// When, nanoseconds; slot and generation of the connection; its stream.
    heap: BinaryHeap<Reverse<(u64, u32, u32, u32)>>,
}

impl Alarms {
    /// A stream of a connection has something to say at this instant.
    pub(super) fn set(&mut self, due: u64, Key { slot, generation }: Key, stream: u32) {
        self.heap.push(Reverse((due, slot, generation, stream)));
    }

    pub(super) fn next_due(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((due, ..))| *due)
    }

    /// Those that are due by now.
    pub(super) fn take_due(&mut self, now: u64, queue: &mut Vec<Envelope>) {
        while self.next_due().is_some_and(|due| due <= now) {
            let Some(Reverse((_, slot, generation, stream))) = self.heap.pop() else { return };
            let to = Key { slot, generation };
            queue.push(Envelope { to, notice: Notice::Due { stream, now } });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_told_in_its_order() {
        let (mut alarms, mut queue) = (Alarms::default(), Vec::new());
        let key = |slot| Key { slot, generation: 7 };
        for (due, slot, stream) in [(30, 1, 0), (10, 2, 5), (20, 1, 3)] {
            alarms.set(due, key(slot), stream);
        }
        assert_eq!(alarms.next_due(), Some(10));
        alarms.take_due(20, &mut queue);
        let told =
            |slot, stream| Envelope { to: key(slot), notice: Notice::Due { stream, now: 20 } };
        assert_eq!(queue, [told(2, 5), told(1, 3)]);
        assert_eq!(alarms.next_due(), Some(30));
    }
}
