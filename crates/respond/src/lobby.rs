//! Who looks at the lobby, and whose turn it is to be told.
//!
//! Knows connections by their keys and instants that are handed to it; must not know tables, how a
//! snapshot is written, nor sockets.

use wiretrial_net::Key;

/// How long it is from one snapshot to the next, nanoseconds.
pub(crate) const INTERVAL: u64 = 1_000_000_000;

/// The connections of one thread that look. All of them are told at the same instants.
#[derive(Debug, Default)]
pub(crate) struct Lookers {
    keys: Vec<Key>,
    /// None: nobody looks.
    due: Option<u64>,
    /// Number of the next snapshot.
    next: u32,
}

impl Lookers {
    /// A connection looks from now on. It must not look yet.
    pub(crate) fn add(&mut self, key: Key, now: u64) {
        self.keys.push(key);
        self.due.get_or_insert(now + INTERVAL);
    }

    /// A connection looks no more.
    pub(crate) fn remove(&mut self, key: Key) {
        self.keys.retain(|other| *other != key);
        if self.keys.is_empty() {
            self.due = None;
        }
    }

    /// When a snapshot is due.
    pub(crate) fn next_due(&self) -> Option<u64> {
        self.due
    }

    /// The number of the snapshot that is due, if one is. What was slept over is not made up.
    pub(crate) fn take_turn(&mut self, now: u64) -> Option<u32> {
        let due = self.due.filter(|due| *due <= now)?;
        self.due = Some(due + ((now - due) / INTERVAL + 1) * INTERVAL);
        let number = self.next;
        self.next = number.wrapping_add(1);
        Some(number)
    }

    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(slot: u32) -> Key {
        Key { slot, generation: 0 }
    }

    #[test]
    fn turns_come_at_equal_intervals_while_somebody_looks() {
        let mut lookers = Lookers::default();
        assert_eq!((lookers.next_due(), lookers.take_turn(u64::MAX)), (None, None));
        lookers.add(key(1), 5);
        lookers.add(key(2), 9);
        assert_eq!(lookers.take_turn(INTERVAL + 4), None);
        assert_eq!(lookers.take_turn(INTERVAL + 6), Some(0));
        assert_eq!(lookers.next_due(), Some(2 * INTERVAL + 5));
        assert_eq!(lookers.take_turn(4 * INTERVAL + 5), Some(1), "one for three");
        assert_eq!(lookers.next_due(), Some(5 * INTERVAL + 5));
        lookers.remove(key(1));
        assert_eq!((lookers.keys(), lookers.next_due()), (&[key(2)][..], Some(5 * INTERVAL + 5)));
        lookers.remove(key(2));
        assert_eq!(lookers.next_due(), None);
    }
}
