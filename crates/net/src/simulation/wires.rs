//! What lies between the sockets of drivers and their peers, and what happens there when.
//!
//! Knows events in the order of their instants. Must not know readiness, which is the poller's.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rustix::io::Errno;

use crate::random::Random;
use crate::{Key, NetError};

/// How a connect ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The peer accepts it.
    Accepted,
    /// Nobody listens.
    Refused,
    /// The kernel gives up.
    TimedOut,
    /// There is no route.
    Unreachable,
}

/// How a driver closed a socket, as its peer sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// FIN.
    Finished,
    /// RST: it was aborted, or bytes lay unread in it.
    Reset,
}

/// Datagrams that travel together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parcel {
    /// The bytes of all of them.
    pub bytes: Vec<u8>,
    /// Bytes of each; the last may be shorter.
    pub stride: usize,
    /// The two bits of ECN (RFC 3168).
    pub ecn: u8,
}

/// The other ends of all sockets. Each call comes at the instant [`Wires::now`], in order of time.
pub trait Peers: Send {
    /// May this socket be opened at all? The machine itself may refuse.
    ///
    /// # Errors
    /// What the driver's `connect` fails with.
    fn admit(&mut self, wires: &mut Wires, key: Key) -> Result<(), NetError>;
    /// A socket of this driver wants to connect. [`Wires::settle`] says how that ends, now or later.
    fn connecting(&mut self, wires: &mut Wires, socket: u32, driver: u32, key: Key);
    /// More bytes have come from this socket: see [`Wires::take`].
    fn received(&mut self, wires: &mut Wires, socket: u32);
    /// The driver closed the socket. Bytes that it had sent before can still be taken.
    fn closed(&mut self, wires: &mut Wires, socket: u32, how: Closed);
    /// Datagrams have left this socket. What becomes of them on their way is said here, too.
    fn parcel(&mut self, _wires: &mut Wires, _socket: u32, _parcel: Parcel) {}
    /// The instant that [`Wires::call`] asked for.
    fn called(&mut self, wires: &mut Wires, socket: u32, token: u64);
}

/// All sockets, and what is on its way to them and to their peers.
#[derive(Debug)]
pub struct Wires {
    /// The instant of the event that is being handled, nanoseconds.
    now: u64,
    /// Time as the drivers' threads see it; never before `now`.
    pub(super) clock: u64,
    events: BinaryHeap<Reverse<Event>>,
    /// Events that were made, to keep those of one instant in their order.
    made: u64,
    pub(super) sockets: Vec<Wire>,
    /// Those that no driver has closed.
    pub(super) open: Vec<u32>,
    pub(super) random: Random,
    /// Longest way from a socket to its peer, nanoseconds.
    pub(super) latency: u64,
}

/// One socket, as the kernel would know it.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of one moment")]
pub(super) struct Wire {
    pub(super) key: Key,
    pub(super) driver: u32,
    pub(super) stage: Stage,
    /// Came from the peer, and not read.
    pub(super) inbox: VecDeque<u8>,
    /// The same, of a socket of datagrams.
    pub(super) parcels: VecDeque<Parcel>,
    /// The peer has finished sending.
    pub(super) finished: bool,
    /// The peer has reset the connection.
    pub(super) reset: bool,
    /// The reset was told, as the kernel tells it once.
    pub(super) reset_told: bool,
    /// With the kernel, and not taken by the peer.
    pub(super) outbox: VecDeque<u8>,
    /// The peer was not yet told of all that lies in the outbox.
    pub(super) outbox_untold: bool,
    pub(super) ring: RingSide,
    /// Readability is wanted.
    pub(super) reading: bool,
    /// A rest waits for room in the outbox.
    pub(super) unsent: bool,
}

/// How far a socket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Connecting,
    /// The result is there, and was not asked for.
    Settled(Outcome),
    Connected,
    Closed,
}

/// What io_uring knows of a socket beside that.
#[derive(Debug, Default)]
pub(super) struct RingSide {
    /// Received and not read.
    pub(super) visible: VecDeque<u8>,
    /// FIN was received.
    pub(super) ended: bool,
    /// What went wrong first.
    pub(super) failed: Option<Errno>,
    /// Leaves with the next submission.
    pub(super) staged: Vec<u8>,
    /// Was staged, and not taken.
    pub(super) kept: Vec<u8>,
    /// `kept` has grown since the last flush.
    pub(super) unsent: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Event {
    instant: u64,
    /// Orders those of one instant.
    number: u64,
    socket: u32,
    what: What,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    Connecting,
    Settled(Outcome),
    /// To the peer.
    Sent,
    /// The same, from a socket of datagrams.
    Left(Parcel),
    Closed(Closed),
    Called(u64),
    /// To the socket.
    Bytes(Vec<u8>),
    Came(Parcel),
    Finished,
    Reset {
        purges: bool,
    },
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.instant, self.number).cmp(&(other.instant, other.number))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Wire {
    pub(super) fn new(key: Key, driver: u32) -> Self {
        Self {
            key,
            driver,
            stage: Stage::Connecting,
            inbox: VecDeque::new(),
            parcels: VecDeque::new(),
            finished: false,
            reset: false,
            reset_told: false,
            outbox: VecDeque::new(),
            outbox_untold: false,
            ring: RingSide::default(),
            reading: true,
            unsent: false,
        }
    }
}

impl Wires {
    pub(super) fn new(seed: u64, latency: u64) -> Self {
        Self {
            now: 0,
            clock: 0,
            events: BinaryHeap::new(),
            made: 0,
            sockets: Vec::new(),
            open: Vec::new(),
            random: Random::new(seed),
            latency,
        }
    }

    /// The present instant, nanoseconds since the world began.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// How the connect of this socket ends, so many nanoseconds from now.
    pub fn settle(&mut self, socket: u32, after: u64, outcome: Outcome) {
        self.plan(after, socket, What::Settled(outcome));
    }

    /// Bytes for this socket, so many nanoseconds from now. What a peer sends comes in the order
    /// of these instants.
    pub fn deliver(&mut self, socket: u32, after: u64, bytes: Vec<u8>) {
        self.plan(after, socket, What::Bytes(bytes));
    }

    /// Datagrams for this socket, so many nanoseconds from now.
    pub fn hand(&mut self, socket: u32, after: u64, parcel: Parcel) {
        self.plan(after, socket, What::Came(parcel));
    }

    /// The peer's FIN.
    pub fn finish(&mut self, socket: u32, after: u64) {
        self.plan(after, socket, What::Finished);
    }

    /// The peer's RST. Bytes that were received and not read are lost where it purges them.
    pub fn reset(&mut self, socket: u32, after: u64, purges: bool) {
        self.plan(after, socket, What::Reset { purges });
    }

    /// Has [`Peers::called`] called with this token.
    pub fn call(&mut self, socket: u32, after: u64, token: u64) {
        self.plan(after, socket, What::Called(token));
    }

    /// Takes at most so many bytes that came from this socket. What is not taken fills its send
    /// buffer.
    pub fn take(&mut self, socket: u32, most: usize) -> Vec<u8> {
        let outbox = &mut self.sockets[socket as usize].outbox;
        let mut taken = vec![0; most.min(outbox.len())];
        take(outbox, &mut taken);
        taken
    }

    /// Bytes that came from this socket and were not taken.
    pub fn untaken(&self, socket: u32) -> usize {
        self.sockets[socket as usize].outbox.len()
    }

    /// Bytes that came to this socket and that its driver has not read.
    pub fn unread(&self, socket: u32) -> usize {
        let wire = &self.sockets[socket as usize];
        wire.inbox.len() + wire.ring.visible.len()
    }

    /// The driver has closed it.
    pub fn is_closed(&self, socket: u32) -> bool {
        self.sockets[socket as usize].stage == Stage::Closed
    }

    /// Sockets that no driver has closed, with their numbers.
    pub(super) fn open(&self) -> impl Iterator<Item = (u32, &Wire)> {
        self.open.iter().map(|&socket| (socket, &self.sockets[socket as usize]))
    }

    pub(super) fn plan(&mut self, after: u64, socket: u32, what: What) {
        let number = self.made;
        self.made += 1;
        let instant = self.now.saturating_add(after);
        self.events.push(Reverse(Event { instant, number, socket, what }));
    }

    /// The same, from a thread's present on.
    pub(super) fn plan_from_clock(&mut self, after: u64, socket: u32, what: What) {
        self.plan((self.clock - self.now).saturating_add(after), socket, what);
    }

    /// More bytes lie in the outbox: the peer hears of it.
    pub(super) fn sent(&mut self, socket: u32) {
        if !std::mem::replace(&mut self.sockets[socket as usize].outbox_untold, true) {
            let latency = self.random.up_to(self.latency);
            self.plan_from_clock(latency, socket, What::Sent);
        }
    }

    /// When the next event comes.
    pub(super) fn next_event(&self) -> Option<u64> {
        self.events.peek().map(|Reverse(event)| event.instant)
    }

    /// Lets all happen up to the clock's instant.
    pub(super) fn catch_up(&mut self, peers: &mut dyn Peers) {
        while self.next_event().is_some_and(|instant| instant <= self.clock) {
            let Some(Reverse(event)) = self.events.pop() else { break };
            self.now = event.instant;
            self.happen(event, peers);
        }
        self.now = self.clock;
    }

    fn happen(&mut self, event: Event, peers: &mut dyn Peers) {
        let socket = event.socket;
        let wire = &mut self.sockets[socket as usize];
        let is_dead = wire.stage == Stage::Closed || wire.reset;
        match event.what {
            What::Connecting => {
                let (driver, key) = (wire.driver, wire.key);
                peers.connecting(self, socket, driver, key);
            }
            What::Settled(outcome) if wire.stage == Stage::Connecting => {
                wire.stage = Stage::Settled(outcome);
            }
            What::Settled(_) => {}
            What::Sent => {
                wire.outbox_untold = false;
                peers.received(self, socket);
            }
            What::Left(parcel) => peers.parcel(self, socket, parcel),
            What::Closed(how) => peers.closed(self, socket, how),
            What::Called(token) => peers.called(self, socket, token),
            What::Bytes(_) | What::Came(_) | What::Finished | What::Reset { .. } if is_dead => {}
            What::Bytes(_) if wire.finished => {}
            What::Bytes(bytes) => wire.inbox.extend(bytes),
            What::Came(parcel) => wire.parcels.push_back(parcel),
            What::Finished => wire.finished = true,
            What::Reset { purges } => {
                wire.reset = true;
                wire.outbox.clear();
                if purges {
                    wire.inbox.clear();
                }
            }
        }
    }
}

/// Moves as many bytes as fit from the front of `from`, which has them.
pub(super) fn take(from: &mut VecDeque<u8>, to: &mut [u8]) {
    let (front, back) = from.as_slices();
    let first = front.len().min(to.len());
    to[..first].copy_from_slice(&front[..first]);
    let second = to.len() - first;
    to[first..].copy_from_slice(&back[..second]);
    drop(from.drain(..to.len()));
}
