//! The delivery of notices: at once or later, on the same thread or another.
//!
//! Knows for which connections a notice is and when it is due. Must not know what a connection does
//! with it.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::mem;
use std::sync::Arc;

use wiretrial_net::{Key, Waker};
use wiretrial_proto::styx::LoadResponse;

use super::alarms::Alarms;
use super::directory::{ConnectionId, Directory};
use super::history::History;
use super::lobby::LobbyWatchers;
use super::mailbox::{Envelope, Mailboxes};
use super::notice::{Broadcast, Notice};

/// What all threads of a server share.
#[derive(Debug)]
pub(crate) struct Hub {
    pub(super) directory: Directory,
    pub(super) history: History,
    mailboxes: Mailboxes,
}

/// What one thread has to deliver.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    thread: usize,
    /// For connections of this thread.
    queue: Vec<Envelope>,
    /// Responses that are not due yet.
    delayed: BinaryHeap<Reverse<Delayed>>,
    alarms: Alarms,
    watchers: LobbyWatchers,
    /// Number of the last delayed response: those due at the same instant go in this order.
    order: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Delayed {
    due: u64,
    order: u64,
    response: LoadResponse,
}

impl Hub {
    pub(crate) fn new(threads: u32) -> Self {
        let (directory, history) = (Directory::new(), History::default());
        Self { directory, history, mailboxes: Mailboxes::new(threads) }
    }

    /// Lets other threads wake this one when they have a notice for it.
    pub(crate) fn register(&self, thread: usize, waker: Waker) {
        self.mailboxes.register(thread, waker);
    }
}

impl Dispatcher {
    /// Of this thread of the server.
    pub(crate) fn new(thread: usize) -> Self {
        Self {
            thread,
            queue: Vec::new(),
            delayed: BinaryHeap::new(),
            alarms: Alarms::default(),
            watchers: LobbyWatchers::default(),
            order: 0,
        }
    }

    /// When a delayed response, a snapshot of the lobby or a stream's event is due.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let delayed = self.delayed.peek().map(|Reverse(delayed)| delayed.due);
        [delayed, self.watchers.next_due(), self.alarms.next_due()].into_iter().flatten().min()
    }

    /// Queues what is due by now: delayed responses, then streams, then the lobby.
    pub(crate) fn release(&mut self, now: u64, hub: &Hub) {
        while self.delayed.peek().is_some_and(|Reverse(delayed)| delayed.due <= now) {
            let Some(Reverse(delayed)) = self.delayed.pop() else { return };
            self.respond(delayed.response, hub);
        }
        self.alarms.take_due(now, &mut self.queue);
        if let Some(number) = self.watchers.take_due(now) {
            let lobby = Arc::new(hub.directory.lobby(number));
            let notice = || Notice::Lobby(Arc::clone(&lobby));
            let envelope = |key: &Key| Envelope { to: *key, notice: notice() };
            self.queue.extend(self.watchers.keys().iter().map(envelope));
        }
    }

    /// Queues what other threads have for this one.
    pub(crate) fn collect(&mut self, hub: &Hub) {
        hub.mailboxes.collect(self.thread, &mut self.queue);
    }

    /// Is anything queued?
    pub(crate) fn is_pending(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Takes what is queued for connections of this thread.
    pub(crate) fn take_queue(&mut self) -> Vec<Envelope> {
        mem::take(&mut self.queue)
    }

    /// Takes the memory of a queue back whose envelopes were delivered.
    pub(crate) fn recycle(&mut self, mut delivered: Vec<Envelope>) {
        delivered.clear();
        if self.queue.is_empty() {
            self.queue = delivered;
        }
    }

    /// Sends a response to everybody at its table.
    pub(super) fn respond(&mut self, response: LoadResponse, hub: &Hub) {
        hub.directory.each_at_table(response.table, |connection| {
            self.post(connection, Notice::Response(response), hub);
        });
    }

    /// Sends a response to everybody at its table once it is due (nanoseconds).
    pub(super) fn respond_at(&mut self, due: u64, response: LoadResponse) {
        self.order += 1;
        self.delayed.push(Reverse(Delayed { due, order: self.order, response }));
    }

    /// Sends a message to everybody in the broadcast.
    pub(super) fn broadcast(&mut self, message: &Arc<Broadcast>, hub: &Hub) {
        hub.directory.each_in_broadcast(|connection| {
            self.post(connection, Notice::Broadcast(Arc::clone(message)), hub);
        });
    }

    pub(super) fn alarms(&mut self) -> &mut Alarms {
        &mut self.alarms
    }

    pub(super) fn watchers(&mut self) -> &mut LobbyWatchers {
        &mut self.watchers
    }

    pub(super) fn id_of(&self, key: Key) -> ConnectionId {
        ConnectionId { thread: self.thread, key }
    }

    fn post(&mut self, to: ConnectionId, notice: Notice, hub: &Hub) {
        let envelope = Envelope { to: to.key, notice };
        if to.thread == self.thread {
            self.queue.push(envelope);
        } else {
            hub.mailboxes.put(to.thread, envelope);
        }
    }
}

/// By due instant, then by order; the response does not matter.
impl Ord for Delayed {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.due, self.order).cmp(&(other.due, other.order))
    }
}

impl PartialOrd for Delayed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
