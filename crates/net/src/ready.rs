//! Readiness as values: whose it is, what it is, and how to end the wait for it.
//!
//! Knows keys. Must not know pollers, nor what is read or written.

use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Names a socket in readiness. The slot is the caller's own index; the
/// generation tells the present user of a slot from an earlier one, whose
/// readiness may still be in the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// The caller's index, at most [`Key::LAST_SLOT`].
    pub slot: u32,
    /// Changed by the caller whenever the slot gets a new socket.
    pub generation: u32,
}

impl Key {
    /// The greatest slot; the driver uses the ones above for itself.
    pub const LAST_SLOT: u32 = 0x7fff_fff0;
}

/// What has become possible on a socket. A closed or failed connection is
/// readable, so that `fill` tells how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "four independent facts of one moment")]
pub struct Ready {
    /// Whose readiness.
    pub key: Key,
    /// A pending connect has finished, well or badly: call
    /// [`Driver::connect_result`](crate::Driver::connect_result). Nothing else is set then.
    pub connected: bool,
    /// `fill` (or `accept`) has something.
    pub readable: bool,
    /// `flush` can go on.
    pub writable: bool,
    /// Both directions are dead. Told even while reads are paused.
    pub hangup: bool,
}

/// Ends another thread's [`Driver::wait`](crate::Driver::wait).
#[derive(Debug, Clone)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// Makes the present or the next `wait` return.
    pub fn wake(&self) {
        // It fails only when the counter is full: then it is awake already.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }

    pub(crate) fn new(event: Arc<OwnedFd>) -> Self {
        Self(event)
    }
}
