//! Which connections are at which table and in the broadcast.
//!
//! Knows connections by thread and key. Must not know what they are told.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use wiretrial_net::Key;
use wiretrial_proto::styx::{Listed, Lobby, MOST_LISTED};

use super::mailbox::locked;

/// The number of the first player whose name contains none.
const FIRST_UNNUMBERED: i32 = 1 << 30;

/// A connection among all threads of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConnectionId {
    pub(super) thread: usize,
    pub(super) key: Key,
}

/// Tables and broadcast of a server, over all its threads.
#[derive(Debug)]
pub(super) struct Directory {
    tables: Mutex<BTreeMap<i32, Vec<ConnectionId>>>,
    broadcast: Mutex<Vec<ConnectionId>>,
    next_player: AtomicI32,
}

impl Directory {
    pub(super) fn new() -> Self {
        Self {
            tables: Mutex::default(),
            broadcast: Mutex::default(),
            next_player: AtomicI32::new(FIRST_UNNUMBERED),
        }
    }

    /// A player's number: the digits at the end of its name, or a new one.
    pub(super) fn number_player(&self, name: &str) -> i32 {
        let digits = name.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        name[digits..].parse().unwrap_or_else(|_| self.next_player.fetch_add(1, Relaxed))
    }

    /// Adds a connection to a table. It must not be at any.
    pub(super) fn join_table(&self, table: i32, connection: ConnectionId) {
        locked(&self.tables).entry(table).or_default().push(connection);
    }

    pub(super) fn leave_table(&self, table: i32, connection: ConnectionId) {
        let mut tables = locked(&self.tables);
        let Some(players) = tables.get_mut(&table) else { return };
        players.retain(|other| *other != connection);
        if players.is_empty() {
            tables.remove(&table);
        }
    }

    /// Adds a connection to the broadcast. It must not be in it.
    pub(super) fn join_broadcast(&self, connection: ConnectionId) {
        locked(&self.broadcast).push(connection);
    }

    pub(super) fn leave_broadcast(&self, connection: ConnectionId) {
        locked(&self.broadcast).retain(|other| *other != connection);
    }

    /// Calls `tell` for each connection at a table.
    pub(super) fn each_at_table(&self, table: i32, tell: impl FnMut(ConnectionId)) {
        locked(&self.tables).get(&table).into_iter().flatten().copied().for_each(tell);
    }

    /// Calls `tell` for each connection in the broadcast.
    pub(super) fn each_in_broadcast(&self, tell: impl FnMut(ConnectionId)) {
        locked(&self.broadcast).iter().copied().for_each(tell);
    }

    /// A snapshot of the lobby, with this number.
    pub(super) fn lobby(&self, seq: u32) -> Lobby {
        let tables = locked(&self.tables);
        let seated = |players: &Vec<ConnectionId>| players.len() as u32;
        Lobby {
            seq,
            tables: tables.len() as u32,
            players: tables.values().map(seated).sum(),
            listed: tables
                .iter()
                .take(MOST_LISTED)
                .map(|(table, players)| Listed { table: *table, seated: seated(players) })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_are_numbered_by_their_names() {
        let directory = Directory::new();
        let names = ["bot7", "007", "nobody", "x99999999999", "Bot 12"];
        let numbers = names.map(|name| directory.number_player(name));
        assert_eq!(numbers, [7, 7, FIRST_UNNUMBERED, FIRST_UNNUMBERED + 1, 12]);
    }
}
