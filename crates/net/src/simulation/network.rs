//! The face of the simulated network: one handle for the test's world, its drivers and its clock.
//!
//! Knows how time passes. Must not know what is sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::wires::{Peers, Wires};

/// How the machine and its network behave.
#[derive(Debug, Clone)]
pub struct Nature {
    /// All that is drawn at random follows from it.
    pub seed: u64,
    /// As io_uring does; otherwise as epoll does.
    pub receives_in_wait: bool,
    /// Size of the receive buffer of each driver, bytes.
    pub buffer_bytes: usize,
    /// The most that one receive brings where bytes are received in the wait.
    pub piece_bytes: usize,
    /// What the kernel keeps for a peer that does not take it, bytes.
    pub send_buffer: usize,
    /// A look at the clock takes at most so long, nanoseconds.
    pub clock_step: u64,
    /// A wait returns at most so late, nanoseconds.
    pub lateness: u64,
    /// One wait in so many is much too long, as if the machine had stood still; 0: none.
    pub pauses_once_in: u64,
    /// One write in so many is cut short; 0: none.
    pub short_writes_once_in: u64,
    /// One submission in so many comes in the middle of a turn, and brings bytes; 0: none.
    pub submits_once_in: u64,
    /// Longest way from a socket to its peer, nanoseconds.
    pub latency: u64,
}

/// A handle to a simulated network. Clones are the same network.
#[derive(Clone)]
pub struct Network(Arc<Mutex<Inner>>);

pub(super) struct Inner {
    pub(super) nature: Nature,
    pub(super) wires: Wires,
    peers: Box<dyn Peers>,
    drivers: u32,
    /// Time that passed while a thread worked, nanoseconds.
    worked: u64,
    /// No wait lasts longer than until then.
    pub(super) latest: u64,
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("wires", &self.lock().wires).finish_non_exhaustive()
    }
}

impl Network {
    /// A network that begins at instant 0.
    pub fn new(nature: Nature, peers: Box<dyn Peers>) -> Self {
        let wires = Wires::new(nature.seed, nature.latency);
        let inner = Inner { nature, wires, peers, drivers: 0, worked: 0, latest: u64::MAX };
        Self(Arc::new(Mutex::new(inner)))
    }

    /// The present instant, nanoseconds: each look at the clock takes a little time.
    pub fn read_clock(&self) -> u64 {
        let inner = &mut *self.lock();
        let step = inner.wires.random.up_to(inner.nature.clock_step);
        inner.worked += step;
        inner.wires.clock += step;
        inner.wires.clock
    }

    /// The present instant, without taking time.
    #[expect(clippy::misnamed_getters, reason = "it tells what the clock shows")]
    pub fn now(&self) -> u64 {
        self.lock().wires.clock
    }

    /// Time that passed while a thread worked, nanoseconds.
    pub fn worked(&self) -> u64 {
        self.lock().worked
    }

    /// Lets time pass up to the first readiness of one of the drivers, or this instant. All of them
    /// are about to wait: what they have to send leaves.
    pub fn pass_until_ready(&self, until: u64) {
        let inner = &mut *self.lock();
        for driver in 0..inner.drivers {
            inner.submit(driver);
        }
        loop {
            inner.catch_up();
            if inner.wires.open().any(|(_, wire)| inner.tells(wire)) {
                return;
            }
            match inner.wires.next_event() {
                Some(instant) if instant <= until => {
                    inner.wires.clock = instant.max(inner.wires.clock);
                }
                _ => {
                    inner.wires.clock = until.max(inner.wires.clock);
                    return inner.catch_up();
                }
            }
        }
    }

    /// Has this driver something to tell?
    pub fn is_ready(&self, driver: u32) -> bool {
        self.lock().is_ready(driver)
    }

    /// No wait lasts longer than until this instant, whatever its timeout.
    pub fn wait_until_at_most(&self, latest: u64) {
        self.lock().latest = latest;
    }

    /// Sockets that no driver has closed.
    pub fn open_sockets(&self) -> usize {
        self.lock().wires.open.len()
    }

    pub(super) fn add_driver(&self) -> u32 {
        let inner = &mut *self.lock();
        inner.drivers += 1;
        inner.drivers - 1
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn buffer_bytes(&self) -> usize {
        self.lock().nature.buffer_bytes
    }
}

impl Inner {
    pub(super) fn catch_up(&mut self) {
        self.wires.catch_up(&mut *self.peers);
    }

    pub(super) fn admit(&mut self, key: crate::Key) -> Result<(), crate::NetError> {
        self.peers.admit(&mut self.wires, key)
    }
}
