//! The way of a notice from one thread to another.
//!
//! Knows threads and how to wake them; must not know why a connection is told something.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use wiretrial_net::{Key, Waker};

use super::notice::Notice;

/// A notice and the connection of the receiving thread that it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) to: Key,
    pub(crate) notice: Notice,
}

/// What threads have for each other: a mailbox for each thread.
#[derive(Debug)]
pub(super) struct Mailboxes(Vec<Mailbox>);

/// What other threads have for one.
#[derive(Debug, Default)]
struct Mailbox {
    envelopes: Mutex<Vec<Envelope>>,
    waker: Mutex<Option<Waker>>,
    /// There are envelopes, as far as is known without the lock.
    full: AtomicBool,
}

impl Mailboxes {
    pub(super) fn new(threads: u32) -> Self {
        Self((0..threads).map(|_| Mailbox::default()).collect())
    }

    /// Lets other threads wake this one.
    pub(super) fn register(&self, thread: usize, waker: Waker) {
        *locked(&self.0[thread].waker) = Some(waker);
    }

    /// Moves what other threads have for this one behind what it has already.
    pub(super) fn collect(&self, thread: usize, queue: &mut Vec<Envelope>) {
        let mailbox = &self.0[thread];
        if mailbox.full.swap(false, Relaxed) {
            queue.append(&mut locked(&mailbox.envelopes));
        }
    }

    /// Leaves an envelope for another thread, and wakes it for the first one.
    pub(super) fn put(&self, thread: usize, envelope: Envelope) {
        let mailbox = &self.0[thread];
        locked(&mailbox.envelopes).push(envelope);
        if mailbox.full.swap(true, Relaxed) {
            return;
        }
        if let Some(waker) = &*locked(&mailbox.waker) {
            waker.wake();
        }
    }
}

/// No thread panics while it holds a lock. Should one do so, a list is still a list.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
