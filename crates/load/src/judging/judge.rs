//! The judge: one reply after the other.
//!
//! Knows what right replies are. Must not know which ones are drawn.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};

use super::{Case, Court, Verdict};
use crate::source::traffic::{Known, Routes};

/// Judges what benches give it.
#[derive(Debug)]
pub(crate) struct Judge {
    routes: Arc<Routes>,
    cases: Receiver<Box<Case>>,
    /// By worker.
    ways_back: Vec<Sender<Verdict>>,
    court: Arc<Court>,
}

/// Ends a judge's work: what waits is not judged any more.
#[derive(Debug)]
pub(crate) struct Adjournment(Arc<Court>);

impl Adjournment {
    pub(crate) fn adjourn(&self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

impl Judge {
    pub(super) fn new(
        routes: Arc<Routes>,
        cases: Receiver<Box<Case>>,
        ways_back: Vec<Sender<Verdict>>,
        court: Arc<Court>,
    ) -> Self {
        Self { routes, cases, ways_back, court }
    }

    /// What ends it before all is judged.
    pub(crate) fn adjournment(&self) -> Adjournment {
        Adjournment(Arc::clone(&self.court))
    }

    /// Judges until no bench is left; `wake` tells workers that wait for nothing else.
    pub(crate) fn run(self, wake: impl Fn()) {
        while let Ok(case) = self.cases.recv() {
            self.decide(*case);
            if self.court.is_awaited.load(Ordering::Acquire) {
                wake();
            }
        }
    }

    /// Judges the one that has waited longest; false: none waits.
    #[cfg(test)]
    pub(crate) fn next(&self) -> bool {
        let case = self.cases.try_recv();
        case.map(|case| self.decide(*case)).is_ok()
    }

    fn decide(&self, case: Case) {
        let Case { worker, number, route, coming, values, making, bytes } = case;
        self.court.bytes.fetch_sub(bytes, Ordering::Relaxed);
        if self.court.is_over.load(Ordering::Relaxed) {
            return;
        }
        let known = Known { values: &values, making };
        let deep = self.routes.get(route).deep.as_deref();
        let fault = deep.and_then(|deep| deep.fault(&coming, known));
        // A worker that is done wants none.
        let _ = self.ways_back[worker].send(Verdict { number, coming, fault });
    }
}
