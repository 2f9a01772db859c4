//! The lobby: which tables there are, as everybody who looks is told from time to time.
//!
//! Knows what a snapshot says and when it contradicts itself; must not know how it is written, nor
//! who looks.

use std::cmp::Ordering;

/// Tables that a snapshot lists at most: a page of them.
pub const MOST_LISTED: usize = 100;

/// One snapshot of the lobby.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lobby {
    /// Its number: one more than that of the last one on the same connection; wraps around.
    pub seq: u32,
    /// Tables at which somebody sits.
    pub tables: u32,
    /// Who sits there, all together.
    pub players: u32,
    /// The first [`MOST_LISTED`] of the tables, by their numbers.
    pub listed: Vec<Listed>,
}

/// One table in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// Its number.
    pub table: i32,
    /// How many sit there, one at least.
    pub seated: u32,
}

impl Lobby {
    /// Does its list fit its sums, and is it in order?
    pub fn is_consistent(&self) -> bool {
        let ascending = self.listed.windows(2).all(|pair| pair[0].table < pair[1].table);
        let seated: u64 = self.listed.iter().map(|one| u64::from(one.seated)).sum();
        let beyond = u64::from(self.tables).checked_sub(self.listed.len() as u64);
        let sums = match (seated.cmp(&self.players.into()), beyond) {
            (_, None) | (Ordering::Greater, _) => false,
            (Ordering::Equal, Some(beyond)) => beyond == 0,
            // Somebody sits at each of the tables that are not listed.
            (Ordering::Less, Some(beyond)) => {
                let more = u64::from(self.players) - seated;
                self.listed.len() == MOST_LISTED && beyond > 0 && more >= beyond
            }
        };
        let page = self.listed.len() <= MOST_LISTED;
        page && ascending && sums && self.listed.iter().all(|one| one.seated > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lobby(tables: u32, players: u32, listed: &[(i32, u32)]) -> Lobby {
        let listed = listed.iter().map(|&(table, seated)| Listed { table, seated }).collect();
        Lobby { seq: 0, tables, players, listed }
    }

    #[test]
    fn table_of_snapshots_and_contradictions() {
        let page: Vec<(i32, u32)> = (1..=100).map(|table| (table, 2)).collect();
        let rows = [
            (lobby(0, 0, &[]), true),
            (lobby(2, 3, &[(-4, 1), (7, 2)]), true),
            (lobby(100, 200, &page), true),
            (lobby(102, 203, &page), true),
            (lobby(1, 0, &[]), false),
            (lobby(2, 3, &[(7, 2), (-4, 1)]), false),
            (lobby(2, 2, &[(7, 1), (7, 1)]), false),
            (lobby(2, 2, &[(7, 2), (8, 0)]), false),
            (lobby(2, 4, &[(7, 1), (8, 2)]), false),
            (lobby(2, 2, &[(7, 1), (8, 2)]), false),
            (lobby(3, 4, &[(7, 1), (8, 2)]), false),
            (lobby(1, 3, &[(7, 1), (8, 2)]), false),
            (lobby(102, 200, &page), false),
            (lobby(102, 201, &page), false),
            (lobby(100, 203, &page), false),
        ];
        for (lobby, right) in rows {
            assert_eq!(lobby.is_consistent(), right, "{} {}", lobby.tables, lobby.players);
        }
    }
}
