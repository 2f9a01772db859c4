//! What all threads of one server share.
//!
//! Knows settings, the hub, and the state of the script: the number of the next reply, when the
//! first request came, whether the server is stopping. Must not know connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use wiretrial_net::clock::{monotonic_identity, monotonic_ns};
use wiretrial_proto::sse::CLOCK_FIELD;
use wiretrial_proto::websocket::DeflateConfig;

use crate::hub::Hub;
use crate::script::Script;
use crate::service::Service;
use crate::stats::Counters;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) script: Script,
    pub(crate) max_message: u64,
    pub(crate) deflate: Option<DeflateConfig>,
    pub(crate) service: Option<Arc<dyn Service>>,
    /// By thread.
    pub(crate) counters: Vec<Counters>,
    pub(crate) hub: Hub,
    /// When the server began, nanoseconds of the monotonic clock.
    pub(crate) epoch: u64,
    /// Fields of a stream of events, each with its end.
    pub(crate) event_fields: String,
    replies: AtomicU64,
    sessions: AtomicU64,
    first_request: AtomicU64,
    stopping: AtomicBool,
}

impl Shared {
    pub(crate) fn new(
        script: Script,
        max_message: u64,
        deflate: Option<DeflateConfig>,
        service: Option<Arc<dyn Service>>,
        threads: u32,
    ) -> Self {
        Self {
            script,
            max_message,
            deflate,
            service,
            counters: (0..threads).map(|_| Counters::default()).collect(),
            hub: Hub::new(threads),
            epoch: monotonic_ns(),
            event_fields: format!(
                "Cache-Control: no-store\r\n{CLOCK_FIELD}: {}\r\n",
                monotonic_identity()
            ),
            replies: AtomicU64::new(0),
            sessions: AtomicU64::new(0),
            first_request: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
        }
    }

    /// Does this name a method of a service that was put up?
    pub(crate) fn serves(&self, path: &str) -> bool {
        self.service.as_ref().is_some_and(|service| service.has(path))
    }

    /// The next reply's number, from 1, over all threads.
    pub(crate) fn number_reply(&self) -> u64 {
        self.replies.fetch_add(1, Relaxed) + 1
    }

    /// The next session's number, from 1, over all threads.
    pub(crate) fn number_session(&self) -> u64 {
        self.sessions.fetch_add(1, Relaxed) + 1
    }

    /// A request came now. The times of stalls count from the first one.
    pub(crate) fn note_request(&self, now: u64) {
        if self.first_request.load(Relaxed) == 0 {
            // Another thread may have stored its request first; that one counts.
            let _ = self.first_request.compare_exchange(0, now, Relaxed, Relaxed);
        }
    }

    /// When the current freeze ends; none: there is none.
    pub(crate) fn frozen_until(&self, now: u64) -> Option<u64> {
        let stall = self.script.stall?;
        let first = self.first_request.load(Relaxed);
        if first == 0 {
            return None;
        }
        stall.frozen_until(now.saturating_sub(first)).map(|end| first + end)
    }

    pub(crate) fn stop(&self) {
        self.stopping.store(true, Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Relaxed)
    }
}
