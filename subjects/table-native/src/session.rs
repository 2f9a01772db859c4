//! One player: what it may do, and how far it has come.
//!
//! Knows requests and replies; must not know bytes or sockets.

use std::mem;
use std::sync::Arc;

use crate::hall::Hall;
use crate::outbox::Outbox;
use crate::packet::{Action, GAME, LOBBY_SUBSCRIBE, Reply, Request};

/// Statuses.
const OK: u8 = 0;
const DENIED: u8 = 2;
/// Why a packet is bad.
const UNKNOWN: u8 = 0;
const NOT_NOW: u8 = 1;

#[derive(Debug)]
pub(crate) struct Session {
    hall: Arc<Hall>,
    outbox: Outbox,
    player: Option<i32>,
    table: Option<i32>,
    /// Number of the next action; none before the first one.
    next: Option<u32>,
    looks: bool,
}

impl Session {
    pub(crate) fn new(hall: Arc<Hall>, outbox: Outbox) -> Self {
        Self { hall, outbox, player: None, table: None, next: None, looks: false }
    }

    /// Does what the player asks for. What it is told stands in its queue then, behind all that
    /// was there before.
    pub(crate) fn hear(&mut self, request: Request) {
        if let Some(reply) = self.reply(request) {
            self.outbox.put(self.outbox.encoding.write(&reply));
        }
    }

    fn reply(&mut self, request: Request) -> Option<Reply> {
        Some(match request {
            Request::Ping(number) => Reply::Ping(number),
            Request::LogIn(name) => self.log_in(name),
            Request::Join { table, seat } => self.join(table, seat),
            Request::Leave(table) => self.leave(table),
            Request::Act { table, action } if self.may(table, &action) => {
                self.next = Some(action.number.wrapping_add(1));
                self.hall.respond(action);
                return None;
            }
            Request::Act { .. } => Reply::Bad { class: GAME, error: NOT_NOW },
            Request::Look if self.player.is_some() => {
                if !mem::replace(&mut self.looks, true) {
                    self.hall.look(self.outbox.clone());
                }
                return None;
            }
            Request::Look => Reply::Bad { class: LOBBY_SUBSCRIBE, error: NOT_NOW },
            Request::Unknown(class) => Reply::Bad { class, error: UNKNOWN },
        })
    }

    fn log_in(&mut self, name: String) -> Reply {
        let status = if self.player.is_some() { DENIED } else { OK };
        let player = *self.player.get_or_insert_with(|| self.hall.number_player(&name));
        Reply::LoggedIn { name, player, status }
    }

    fn join(&mut self, table: i32, seat: i8) -> Reply {
        let granted = self.player.is_some() && self.table.is_none();
        if granted {
            self.table = Some(table);
            self.hall.sit(table, self.outbox.clone());
        }
        Reply::Joined { table, seat, status: if granted { OK } else { DENIED } }
    }

    fn leave(&mut self, table: i32) -> Reply {
        let granted = self.table == Some(table);
        if granted {
            self.table = None;
            self.hall.stand_up(table, &self.outbox);
        }
        Reply::Left { table, status: if granted { OK } else { DENIED } }
    }

    fn may(&self, table: i32, action: &Action) -> bool {
        self.table == Some(table)
            && action.table == table
            && self.player == Some(action.player)
            && self.next.is_none_or(|next| next == action.number)
    }
}

/// However the connection ends, its player is gone.
impl Drop for Session {
    fn drop(&mut self) {
        if let Some(table) = self.table {
            self.hall.stand_up(table, &self.outbox);
        }
        if self.looks {
            self.hall.look_away(&self.outbox);
        }
    }
}
