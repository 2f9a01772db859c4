//! Who sits at which table or listens to all, and the way of a copy to each of them.
//!
//! Knows players, tables, listeners and where their connections are; must not know how a copy is
//! written, nor sockets.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wiretrial_net::{Key, Waker};
use wiretrial_proto::styx::{Listed, LoadResponse, Lobby, MOST_LISTED};

use crate::broadcast::Said;
use crate::lobby::Lookers;

/// The first number of a player whose name has none.
const FIRST_UNNUMBERED: i32 = 1 << 30;

/// The tables of a server, over all its threads.
#[derive(Debug)]
pub(crate) struct Tables {
    seats: Mutex<BTreeMap<i32, Vec<Seat>>>,
    listeners: Mutex<Vec<Seat>>,
    /// By thread.
    mailboxes: Vec<Mailbox>,
    next_player: AtomicI32,
}

/// What is to be said to one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Post {
    pub(crate) to: Key,
    pub(crate) word: Word,
}

/// What is said to a connection without its asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    /// Its table has responded to somebody.
    Copy(LoadResponse),
    /// How the lobby is.
    Lobby(Arc<Lobby>),
    /// Somebody said this to all who listen.
    Said(Arc<Said>),
}

/// A thread's own part: what it has to pass on.
#[derive(Debug, Default)]
pub(crate) struct Errands {
    /// To connections of this thread.
    posts: Vec<Post>,
    /// Responses that wait, by the instant at which they are due.
    delayed: BinaryHeap<Reverse<Delayed>>,
    lookers: Lookers,
    /// Breaks ties: who came first goes first.
    order: u64,
}

/// The tables, as one connection of one thread sees them.
#[derive(Debug)]
pub(crate) struct Desk<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) errands: &'a mut Errands,
    pub(crate) thread: usize,
    pub(crate) key: Key,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seat {
    thread: usize,
    key: Key,
}

/// What other threads have for one.
#[derive(Debug, Default)]
struct Mailbox {
    posts: Mutex<Vec<Post>>,
    waker: Mutex<Option<Waker>>,
    /// There is something, as far as is known without the lock.
    full: AtomicBool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Delayed {
    due: u64,
    order: u64,
    response: LoadResponse,
}

impl Tables {
    pub(crate) fn new(threads: u32) -> Self {
        Self {
            seats: Mutex::default(),
            listeners: Mutex::default(),
            mailboxes: (0..threads).map(|_| Mailbox::default()).collect(),
            next_player: AtomicI32::new(FIRST_UNNUMBERED),
        }
    }

    /// A player's number: the digits at the end of its name, or a new one.
    pub(crate) fn number_player(&self, name: &str) -> i32 {
        let digits = name.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        name[digits..].parse().unwrap_or_else(|_| self.next_player.fetch_add(1, Relaxed))
    }

    /// Lets others wake this thread.
    pub(crate) fn register(&self, thread: usize, waker: Waker) {
        *locked(&self.mailboxes[thread].waker) = Some(waker);
    }

    /// Takes what other threads have for this one.
    pub(crate) fn collect(&self, thread: usize, errands: &mut Errands) {
        let mailbox = &self.mailboxes[thread];
        if mailbox.full.swap(false, Relaxed) {
            errands.posts.append(&mut locked(&mailbox.posts));
        }
    }

    /// How the lobby is now.
    fn lobby(&self, seq: u32) -> Lobby {
        let seats = locked(&self.seats);
        let seated = |here: &Vec<Seat>| here.len() as u32;
        Lobby {
            seq,
            tables: seats.len() as u32,
            players: seats.values().map(seated).sum(),
            listed: seats
                .iter()
                .take(MOST_LISTED)
                .map(|(table, here)| Listed { table: *table, seated: seated(here) })
                .collect(),
        }
    }

    /// Copies a response to everybody at its table, on behalf of a thread.
    fn copy(&self, response: LoadResponse, thread: usize, errands: &mut Errands) {
        let seats = locked(&self.seats);
        for seat in seats.get(&response.table).into_iter().flatten() {
            self.post(*seat, Word::Copy(response), thread, errands);
        }
    }

    /// Tells everybody who listens what somebody said, on behalf of a thread.
    fn say(&self, said: &Arc<Said>, thread: usize, errands: &mut Errands) {
        for seat in &*locked(&self.listeners) {
            self.post(*seat, Word::Said(Arc::clone(said)), thread, errands);
        }
    }

    fn post(&self, seat: Seat, word: Word, thread: usize, errands: &mut Errands) {
        let post = Post { to: seat.key, word };
        if seat.thread == thread {
            errands.posts.push(post);
        } else {
            self.mailboxes[seat.thread].put(post);
        }
    }
}

impl Errands {
    /// When a response that waits, or a snapshot of the lobby, is due.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let delayed = self.delayed.peek().map(|Reverse(delayed)| delayed.due);
        [delayed, self.lookers.next_due()].into_iter().flatten().min()
    }

    /// Copies what has waited long enough, and tells the lobby where that is due.
    pub(crate) fn release(&mut self, now: u64, thread: usize, tables: &Tables) {
        while self.delayed.peek().is_some_and(|Reverse(delayed)| delayed.due <= now) {
            let Some(Reverse(delayed)) = self.delayed.pop() else { return };
            tables.copy(delayed.response, thread, self);
        }
        if let Some(number) = self.lookers.take_turn(now) {
            let lobby = Arc::new(tables.lobby(number));
            let word = || Word::Lobby(Arc::clone(&lobby));
            let posts = self.lookers.keys().iter().map(|key| Post { to: *key, word: word() });
            self.posts.extend(posts);
        }
    }

    /// Is there anything to be said?
    pub(crate) fn has_posts(&self) -> bool {
        !self.posts.is_empty()
    }

    /// What is to be said to connections of this thread.
    pub(crate) fn take_posts(&mut self) -> Vec<Post> {
        mem::take(&mut self.posts)
    }

    /// Gives the memory of posts back that were delivered.
    pub(crate) fn recycle(&mut self, mut posts: Vec<Post>) {
        posts.clear();
        if self.posts.is_empty() {
            self.posts = posts;
        }
    }
}

impl Desk<'_> {
    /// The connection sits down. It must not sit anywhere.
    pub(crate) fn sit(&mut self, table: i32) {
        let seat = self.seat();
        locked(&self.tables.seats).entry(table).or_default().push(seat);
    }

    /// The connection stands up.
    pub(crate) fn stand_up(&mut self, table: i32) {
        let seat = self.seat();
        let mut tables = locked(&self.tables.seats);
        let Some(seats) = tables.get_mut(&table) else { return };
        seats.retain(|other| *other != seat);
        if seats.is_empty() {
            tables.remove(&table);
        }
    }

    /// The connection hears what is said to all. It must not listen yet.
    pub(crate) fn listen(&mut self) {
        locked(&self.tables.listeners).push(self.seat());
    }

    /// The connection listens no more.
    pub(crate) fn turn_away(&mut self) {
        let seat = self.seat();
        locked(&self.tables.listeners).retain(|other| *other != seat);
    }

    /// Everybody who listens hears this, the connection itself too.
    pub(crate) fn say(&mut self, said: &Arc<Said>) {
        self.tables.say(said, self.thread, self.errands);
    }

    /// The connection looks at the lobby from now (nanoseconds) on. It must not look yet.
    pub(crate) fn look(&mut self, now: u64) {
        self.errands.lookers.add(self.key, now);
    }

    /// The connection looks no more.
    pub(crate) fn look_away(&mut self) {
        self.errands.lookers.remove(self.key);
    }

    /// Everybody at its table gets a copy of this, at once or when it is due (nanoseconds).
    pub(crate) fn respond(&mut self, response: LoadResponse, due: Option<u64>) {
        let Some(due) = due else {
            return self.tables.copy(response, self.thread, self.errands);
        };
        self.errands.order += 1;
        let order = self.errands.order;
        self.errands.delayed.push(Reverse(Delayed { due, order, response }));
    }

    fn seat(&self) -> Seat {
        Seat { thread: self.thread, key: self.key }
    }
}

impl Mailbox {
    fn put(&self, post: Post) {
        locked(&self.posts).push(post);
        if self.full.swap(true, Relaxed) {
            return;
        }
        if let Some(waker) = &*locked(&self.waker) {
            waker.wake();
        }
    }
}

/// By due instant, then by order; what is said does not matter.
impl Ord for Delayed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.order).cmp(&(other.due, other.order))
    }
}

impl PartialOrd for Delayed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Nobody panics with a lock in hand; and if so, a list is still a list.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(slot: u32) -> Key {
        Key { slot, generation: 0 }
    }

    fn response(seq: u32) -> LoadResponse {
        LoadResponse { player: 1, table: 5, seq, resend: false }
    }

    fn sit(tables: &Tables, thread: usize, slot: u32, table: i32) {
        let errands = &mut Errands::default();
        Desk { tables, errands, thread, key: key(slot) }.sit(table);
    }

    fn said(errands: &mut Errands) -> Vec<(u32, u32)> {
        let numbers = errands.take_posts().into_iter().map(|post| match post.word {
            Word::Copy(copy) => (post.to.slot, copy.seq),
            Word::Lobby(lobby) => (post.to.slot, lobby.seq),
            Word::Said(_) => unreachable!("nobody said anything"),
        });
        numbers.collect()
    }

    #[test]
    fn everybody_at_the_table_gets_a_copy_and_nobody_else() {
        let (tables, mut errands) = (Tables::new(2), Errands::default());
        for (thread, slot, table) in [(0, 1, 5), (0, 2, 5), (0, 3, 6), (1, 1, 5)] {
            sit(&tables, thread, slot, table);
        }
        let mut desk = Desk { tables: &tables, errands: &mut errands, thread: 0, key: key(1) };
        desk.respond(response(7), None);
        assert_eq!(said(&mut errands), [(1, 7), (2, 7)]);
        let mut elsewhere = Errands::default();
        tables.collect(1, &mut elsewhere);
        assert_eq!(said(&mut elsewhere), [(1, 7)]);
        tables.collect(1, &mut elsewhere);
        assert_eq!(said(&mut elsewhere), []);

        let mut desk = Desk { tables: &tables, errands: &mut errands, thread: 0, key: key(1) };
        desk.stand_up(5);
        desk.respond(response(8), None);
        assert_eq!(said(&mut errands), [(2, 8)]);
    }

    #[test]
    fn what_waits_goes_when_it_is_due_in_the_order_of_that() {
        let (tables, mut errands) = (Tables::new(1), Errands::default());
        sit(&tables, 0, 1, 5);
        let mut desk = Desk { tables: &tables, errands: &mut errands, thread: 0, key: key(1) };
        for (seq, due) in [(0, 30), (1, 10), (2, 10), (3, 20)] {
            desk.respond(response(seq), Some(due));
        }
        assert_eq!(errands.next_due(), Some(10));
        errands.release(9, 0, &tables);
        assert_eq!(said(&mut errands), []);
        errands.release(20, 0, &tables);
        assert_eq!(said(&mut errands), [(1, 1), (1, 2), (1, 3)]);
        assert_eq!(errands.next_due(), Some(30));
    }

    #[test]
    fn who_looks_is_told_how_the_lobby_is_then() {
        let (tables, mut errands) = (Tables::new(2), Errands::default());
        for (thread, slot, table) in [(0, 1, 5), (1, 1, 5), (0, 2, -3)] {
            sit(&tables, thread, slot, table);
        }
        for slot in [7, 8] {
            Desk { tables: &tables, errands: &mut errands, thread: 0, key: key(slot) }.look(10);
        }
        let due = 10 + crate::lobby::INTERVAL;
        assert_eq!(errands.next_due(), Some(due));
        errands.release(due, 0, &tables);
        let listed = [(-3, 1), (5, 2)].map(|(table, seated)| Listed { table, seated }).to_vec();
        let lobby = Arc::new(Lobby { seq: 0, tables: 2, players: 3, listed });
        assert!(lobby.is_consistent());
        let told = [7, 8].map(|slot| Post { to: key(slot), word: Word::Lobby(Arc::clone(&lobby)) });
        assert_eq!(errands.take_posts(), told);

        Desk { tables: &tables, errands: &mut errands, thread: 0, key: key(7) }.look_away();
        for slot in 10..200 {
            sit(&tables, 0, slot, slot.cast_signed());
        }
        errands.release(due + crate::lobby::INTERVAL, 0, &tables);
        let told = errands.take_posts();
        let [Post { to, word: Word::Lobby(lobby) }] = &told[..] else { panic!("{told:?}") };
        assert_eq!((to.slot, lobby.seq, lobby.tables, lobby.listed.len()), (8, 1, 192, 100));
        assert!(lobby.is_consistent());
    }

    #[test]
    fn players_are_numbered_by_their_names() {
        let tables = Tables::new(1);
        let names = ["bot7", "007", "nobody", "x99999999999", "Bot 12"];
        let numbers = names.map(|name| tables.number_player(name));
        assert_eq!(numbers, [7, 7, FIRST_UNNUMBERED, FIRST_UNNUMBERED + 1, 12]);
    }
}
