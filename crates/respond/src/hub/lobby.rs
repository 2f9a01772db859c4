//! Which connections watch the lobby, and when they are sent a snapshot.
//!
//! Knows connections by their keys, and instants that it is given. Must not know tables, how a
//! snapshot is encoded, nor sockets.

use wiretrial_net::Key;

/// Time between two snapshots, nanoseconds.
pub(super) const INTERVAL: u64 = 1_000_000_000;

/// The connections of one thread that watch the lobby. All are sent their snapshots at the same
/// instants.
#[derive(Debug, Default)]
pub(super) struct LobbyWatchers {
    keys: Vec<Key>,
    /// When the next snapshot is due; none: no connection watches.
    due: Option<u64>,
    /// Number of the next snapshot.
    next: u32,
}

impl LobbyWatchers {
    /// Adds a connection, from now (nanoseconds) on. It must not be there.
    pub(super) fn add(&mut self, key: Key, now: u64) {
        self.keys.push(key);
        self.due.get_or_insert(now + INTERVAL);
    }

    pub(super) fn remove(&mut self, key: Key) {
        self.keys.retain(|other| *other != key);
        if self.keys.is_empty() {
            self.due = None;
        }
    }

    /// When the next snapshot is due.
    pub(super) fn next_due(&self) -> Option<u64> {
        self.due
    }

    /// The number of the snapshot that is due by now, if there is one. Missed ones are skipped.
    pub(super) fn take_due(&mut self, now: u64) -> Option<u32> {
        let due = self.due.filter(|due| *due <= now)?;
        self.due = Some(due + ((now - due) / INTERVAL + 1) * INTERVAL);
        let number = self.next;
        self.next = number.wrapping_add(1);
        Some(number)
    }

    pub(super) fn keys(&self) -> &[Key] {
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
    fn snapshots_are_due_at_equal_intervals_while_somebody_watches() {
        let mut watchers = LobbyWatchers::default();
        assert_eq!((watchers.next_due(), watchers.take_due(u64::MAX)), (None, None));
        watchers.add(key(1), 5);
        watchers.add(key(2), 9);
        assert_eq!(watchers.take_due(INTERVAL + 4), None);
        assert_eq!(watchers.take_due(INTERVAL + 6), Some(0));
        assert_eq!(watchers.next_due(), Some(2 * INTERVAL + 5));
        assert_eq!(watchers.take_due(4 * INTERVAL + 5), Some(1), "one for three");
        assert_eq!(watchers.next_due(), Some(5 * INTERVAL + 5));
        watchers.remove(key(1));
        assert_eq!((watchers.keys(), watchers.next_due()), (&[key(2)][..], Some(5 * INTERVAL + 5)));
        watchers.remove(key(2));
        assert_eq!(watchers.next_due(), None);
    }
}
