//! What the run and its workers tell each other.
//!
//! Knows flags and messages; must not know what anybody does with them.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use wiretrial_net::Waker;

use crate::clock::Nanos;
use crate::measure::{Class, IntervalRecord};

/// Value of the stop flag: go on.
const GO_ON: i32 = 0;
/// Value of the stop flag: stop, and no signal asked for it.
const STOP: i32 = -1;

/// Lets another thread stop a run, and the run start its workers together.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicI32,
    begin: AtomicU64,
    wakers: Mutex<Vec<Waker>>,
}

impl Control {
    /// Ends the run gracefully: sends stop, replies in flight are awaited for the plan's drain time.
    pub fn stop(&self) {
        self.stop_with(STOP);
    }

    /// As [`stop`](Self::stop), on behalf of this signal.
    pub fn stop_by_signal(&self, signal: i32) {
        self.stop_with(signal);
    }

    /// Was the run asked to stop?
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed) != GO_ON
    }

    /// The signal that stopped the run.
    pub fn signal(&self) -> Option<i32> {
        let flag = self.stop.load(Ordering::Relaxed);
        (flag > GO_ON).then_some(flag)
    }

    fn stop_with(&self, flag: i32) {
        // The first reason stays.
        let _ = self.stop.compare_exchange(GO_ON, flag, Ordering::Relaxed, Ordering::Relaxed);
        self.wake_all();
    }

    /// The load begins at this instant, for all workers; later than 0.
    pub fn set_begin(&self, begin: Nanos) {
        self.begin.store(begin.0, Ordering::Release);
        self.wake_all();
    }

    /// When the load begins, once that was said.
    pub fn begin(&self) -> Option<Nanos> {
        let begin = self.begin.load(Ordering::Acquire);
        (begin > 0).then_some(Nanos(begin))
    }

    pub(crate) fn register(&self, waker: Waker) {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner).push(waker);
    }

    pub(crate) fn wake_all(&self) {
        for waker in self.wakers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            waker.wake();
        }
    }
}

/// What a worker tells the run.
#[derive(Debug)]
pub(crate) enum Report {
    /// All its connections stand at this instant; the first one was asked for at the other.
    Connected { since: Nanos, at: Nanos },
    /// One interval is over.
    Interval(IntervalRecord),
    /// It sends no more, since this instant.
    LoadEnded { first_send: Option<Nanos>, at: Nanos },
    /// It is closing its connections, which are many.
    Closing,
    /// It is done; its last, partial interval came before.
    Finished { at: Nanos },
    /// It could not begin or go on.
    Failed { class: Class, message: String },
}
