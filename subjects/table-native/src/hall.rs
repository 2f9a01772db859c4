//! Who sits at which table, and who looks at the lobby.
//!
//! Knows connections by the queues that tell them something; must not know what they said.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::outbox::{Outbox, Written};
use crate::packet::{Action, Lobby, Reply};

/// Locks for all tables.
const SHARDS: usize = 64;
/// Tables that a snapshot of the lobby lists.
const MOST_LISTED: usize = 100;
const BETWEEN_SNAPSHOTS: Duration = Duration::from_secs(1);
/// The first number of a player whose name has none.
const FIRST_UNNUMBERED: i32 = 1 << 30;

type Tables = HashMap<i32, Vec<Outbox>>;

#[derive(Debug)]
pub(crate) struct Hall {
    shards: Vec<Mutex<Tables>>,
    lookers: Mutex<Vec<Outbox>>,
    next_player: AtomicI32,
}

impl Hall {
    pub(crate) fn new() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            lookers: Mutex::default(),
            next_player: AtomicI32::new(FIRST_UNNUMBERED),
        }
    }

    /// A player's number: the digits at the end of its name, or a new one.
    pub(crate) fn number_player(&self, name: &str) -> i32 {
        let digits = name.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        name[digits..].parse().unwrap_or_else(|_| self.next_player.fetch_add(1, Relaxed))
    }

    pub(crate) fn sit(&self, table: i32, player: Outbox) {
        self.shard(table).entry(table).or_default().push(player);
    }

    pub(crate) fn stand_up(&self, table: i32, player: &Outbox) {
        let mut tables = self.shard(table);
        let Some(seats) = tables.get_mut(&table) else { return };
        seats.retain(|other| other.id != player.id);
        if seats.is_empty() {
            tables.remove(&table);
        }
    }

    /// Tells everybody at the table, at once or after the delay that the action asks for.
    pub(crate) fn respond(self: &Arc<Self>, action: Action) {
        if action.delay == 0 {
            return self.copy(action);
        }
        let hall = Arc::clone(self);
        tokio::spawn(async move {
            sleep(Duration::from_millis(action.delay.into())).await;
            hall.copy(action);
        });
    }

    pub(crate) fn look(&self, player: Outbox) {
        locked(&self.lookers).push(player);
    }

    pub(crate) fn look_away(&self, player: &Outbox) {
        locked(&self.lookers).retain(|other| other.id != player.id);
    }

    fn copy(&self, action: Action) {
        let reply = Reply::Copy(action);
        let mut written = Written::of(&reply);
        // The lock is held until all are told, so that nobody hears two actions in another order.
        let tables = self.shard(action.table);
        for player in tables.get(&action.table).into_iter().flatten() {
            player.put(written.in_(player.encoding));
        }
    }

    /// How the tables are now.
    fn lobby(&self, number: u32) -> Lobby {
        let mut listed = Vec::new();
        for shard in &self.shards {
            let tables = locked(shard);
            listed.extend(tables.iter().map(|(table, seats)| (*table, seats.len() as u32)));
        }
        listed.sort_unstable();
        let tables = listed.len() as u32;
        let players = listed.iter().map(|(_, seated)| seated).sum();
        listed.truncate(MOST_LISTED);
        Lobby { number, tables, players, listed }
    }

    fn shard(&self, table: i32) -> MutexGuard<'_, Tables> {
        locked(&self.shards[table.rem_euclid(SHARDS as i32) as usize])
    }
}

/// Tells the lobby to everybody who looks, again and again.
pub(crate) async fn tell_lobby(hall: Arc<Hall>) {
    let mut clock = interval(BETWEEN_SNAPSHOTS);
    clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut number = 0_u32;
    loop {
        clock.tick().await;
        let lookers = locked(&hall.lookers).clone();
        if lookers.is_empty() {
            continue;
        }
        let reply = Reply::Lobby(hall.lobby(number));
        let mut written = Written::of(&reply);
        for player in lookers {
            player.put(written.in_(player.encoding));
        }
        number = number.wrapping_add(1);
    }
}

/// Nobody panics with a lock in hand; and if so, a list is still a list.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
