//! The hub, as one connection uses it.
//!
//! Knows what a connection may join and send. Must not know how notices are delivered.

use std::sync::Arc;

use wiretrial_net::Key;
use wiretrial_proto::styx::LoadResponse;

use super::dispatcher::{Dispatcher, Hub};
use super::notice::Broadcast;

/// One connection of one thread.
#[derive(Debug)]
pub(crate) struct Member<'a> {
    pub(crate) hub: &'a Hub,
    pub(crate) dispatcher: &'a mut Dispatcher,
    pub(crate) key: Key,
}

/// What a connection has joined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Memberships {
    /// The table that its player is at.
    pub(crate) table: Option<i32>,
    /// It is in the broadcast.
    pub(crate) broadcast: bool,
    /// It watches the lobby.
    pub(crate) lobby: bool,
}

impl Member<'_> {
    /// A player's number: the digits at the end of its name, or a new one.
    pub(crate) fn number_player(&self, name: &str) -> i32 {
        self.hub.directory.number_player(name)
    }

    /// Must not be at any table.
    pub(crate) fn join_table(&mut self, table: i32) {
        self.hub.directory.join_table(table, self.dispatcher.id_of(self.key));
    }

    pub(crate) fn leave_table(&mut self, table: i32) {
        self.hub.directory.leave_table(table, self.dispatcher.id_of(self.key));
    }

    /// Sends a response to everybody at its table, at once or when it is due (nanoseconds).
    pub(crate) fn respond(&mut self, response: LoadResponse, due: Option<u64>) {
        match due {
            None => self.dispatcher.respond(response, self.hub),
            Some(due) => self.dispatcher.respond_at(due, response),
        }
    }

    /// Must not be in the broadcast.
    pub(crate) fn join_broadcast(&mut self) {
        self.hub.directory.join_broadcast(self.dispatcher.id_of(self.key));
    }

    /// Sends a message to everybody in the broadcast, this connection included.
    pub(crate) fn broadcast(&mut self, message: &Arc<Broadcast>) {
        self.dispatcher.broadcast(message, self.hub);
    }

    /// Publishes a message: as [`broadcast`](Self::broadcast), and those who ask later are told.
    pub(crate) fn publish(&mut self, message: &Arc<Broadcast>) {
        self.hub.history.add(message);
        self.broadcast(message);
    }

    /// Number of the last message that was published, and those behind this number, as far as they are kept.
    pub(crate) fn published_since(&self, after: u64) -> (u64, Vec<Arc<Broadcast>>) {
        self.hub.history.since(after)
    }

    /// This stream of the connection has something to say at this instant, nanoseconds.
    pub(crate) fn tell_at(&mut self, due: u64, stream: u32) {
        self.dispatcher.alarms().set(due, self.key, stream);
    }

    /// From now (nanoseconds) on. Must not watch it yet.
    pub(crate) fn watch_lobby(&mut self, now: u64) {
        self.dispatcher.watchers().add(self.key, now);
    }

    /// The connection ends.
    pub(crate) fn leave_all(&mut self, memberships: Memberships) {
        let Memberships { table, broadcast, lobby } = memberships;
        if let Some(table) = table {
            self.leave_table(table);
        }
        if broadcast {
            self.hub.directory.leave_broadcast(self.dispatcher.id_of(self.key));
        }
        if lobby {
            self.dispatcher.watchers().remove(self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use wiretrial_proto::MessageKind;
    use wiretrial_proto::styx::{Listed, Lobby};

    use super::super::lobby::INTERVAL;
    use super::super::mailbox::Envelope;
    use super::super::notice::Notice;
    use super::*;

    fn key(slot: u32) -> Key {
        Key { slot, generation: 0 }
    }

    fn response(seq: u32) -> LoadResponse {
        LoadResponse { player: 1, table: 5, seq, resend: false }
    }

    /// Players at tables: thread, slot, table.
    fn seat(hub: &Hub, players: &[(usize, u32, i32)]) {
        for &(thread, slot, table) in players {
            let dispatcher = &mut Dispatcher::new(thread);
            Member { hub, dispatcher, key: key(slot) }.join_table(table);
        }
    }

    /// The slot that each notice is for, and its number.
    fn delivered(dispatcher: &mut Dispatcher) -> Vec<(u32, u32)> {
        let number = |envelope: Envelope| match envelope.notice {
            Notice::Response(response) => (envelope.to.slot, response.seq),
            Notice::Lobby(lobby) => (envelope.to.slot, lobby.seq),
            Notice::Broadcast(message) => (envelope.to.slot, u32::from(message.payload[0])),
            Notice::Due { stream, .. } => (envelope.to.slot, stream),
        };
        dispatcher.take_queue().into_iter().map(number).collect()
    }

    #[test]
    fn everybody_at_the_table_gets_the_response_and_nobody_else() {
        let (hub, mut here, mut there) = (Hub::new(2), Dispatcher::new(0), Dispatcher::new(1));
        seat(&hub, &[(0, 1, 5), (0, 2, 5), (0, 3, 6), (1, 1, 5)]);
        let mut member = Member { hub: &hub, dispatcher: &mut here, key: key(1) };
        member.respond(response(7), None);
        assert_eq!(delivered(&mut here), [(1, 7), (2, 7)]);
        there.collect(&hub);
        assert_eq!(delivered(&mut there), [(1, 7)]);
        there.collect(&hub);
        assert_eq!(delivered(&mut there), []);

        let mut member = Member { hub: &hub, dispatcher: &mut here, key: key(1) };
        member.leave_table(5);
        member.respond(response(8), None);
        assert_eq!(delivered(&mut here), [(2, 8)]);
    }

    #[test]
    fn delayed_responses_go_when_they_are_due_in_their_order() {
        let (hub, mut dispatcher) = (Hub::new(1), Dispatcher::new(0));
        seat(&hub, &[(0, 1, 5)]);
        let mut member = Member { hub: &hub, dispatcher: &mut dispatcher, key: key(1) };
        for (seq, due) in [(0, 30), (1, 10), (2, 10), (3, 20)] {
            member.respond(response(seq), Some(due));
        }
        assert_eq!(dispatcher.next_due(), Some(10));
        dispatcher.release(9, &hub);
        assert_eq!(delivered(&mut dispatcher), []);
        dispatcher.release(20, &hub);
        assert_eq!(delivered(&mut dispatcher), [(1, 1), (1, 2), (1, 3)]);
        assert_eq!(dispatcher.next_due(), Some(30));
    }

    #[test]
    fn a_message_reaches_all_in_the_broadcast_until_they_leave() {
        let (hub, mut here, mut there) = (Hub::new(2), Dispatcher::new(0), Dispatcher::new(1));
        let message =
            |number| Arc::new(Broadcast { kind: MessageKind::Text, payload: vec![number] });
        Member { hub: &hub, dispatcher: &mut there, key: key(4) }.join_broadcast();
        let mut member = Member { hub: &hub, dispatcher: &mut here, key: key(1) };
        member.join_broadcast();
        member.broadcast(&message(1));
        member.leave_all(Memberships { broadcast: true, ..Memberships::default() });
        member.broadcast(&message(2));
        assert_eq!(delivered(&mut here), [(1, 1)]);
        there.collect(&hub);
        assert_eq!(delivered(&mut there), [(4, 1), (4, 2)]);
    }

    #[test]
    fn those_who_watch_the_lobby_are_sent_its_state() {
        let (hub, mut dispatcher) = (Hub::new(2), Dispatcher::new(0));
        seat(&hub, &[(0, 1, 5), (1, 1, 5), (0, 2, -3)]);
        for slot in [7, 8] {
            let dispatcher = &mut dispatcher;
            Member { hub: &hub, dispatcher, key: key(slot) }.watch_lobby(10);
        }
        let due = 10 + INTERVAL;
        assert_eq!(dispatcher.next_due(), Some(due));
        dispatcher.release(due, &hub);
        let listed = [(-3, 1), (5, 2)].map(|(table, seated)| Listed { table, seated }).to_vec();
        let lobby = Arc::new(Lobby { seq: 0, tables: 2, players: 3, listed });
        assert!(lobby.is_consistent());
        let notice = || Notice::Lobby(Arc::clone(&lobby));
        let told = [7, 8].map(|slot| Envelope { to: key(slot), notice: notice() });
        assert_eq!(dispatcher.take_queue(), told);

        let mut member = Member { hub: &hub, dispatcher: &mut dispatcher, key: key(7) };
        member.leave_all(Memberships { lobby: true, ..Memberships::default() });
        for slot in 10..200 {
            seat(&hub, &[(0, slot, slot.cast_signed())]);
        }
        dispatcher.release(due + INTERVAL, &hub);
        let told = dispatcher.take_queue();
        let [Envelope { to, notice: Notice::Lobby(lobby) }] = &told[..] else { panic!("{told:?}") };
        assert_eq!((to.slot, lobby.seq, lobby.tables, lobby.listed.len()), (8, 1, 192, 100));
        assert!(lobby.is_consistent());
    }
}
