//! Who sends what when, from the begin of the load on: a plan's executor, for one worker's part of it.
//!
//! Knows the plan and the worker's share. Must not know what becomes of a message.

use super::Worker;
use crate::clock::Nanos;
use crate::executor::{AfterResponse, Closed, Executor, Hold, Open, Phased, Ramped, RandomBurst};
use crate::machine::Machine;
use crate::pacing::{Attendance, Constant, Course, Pacer, Poisson, Staged};
use crate::plan::{LoopPlan, PacingDocument};

impl<M: Machine> Worker<M> {
    /// The executor of the load that begins at this instant.
    pub(super) fn executor_from(&self, begin: Nanos) -> Executor {
        if let Some(sessions) = self.sessions_from(begin) {
            return sessions;
        }
        let load = &self.plan().load;
        let (connections, budget) = (self.share.connections, self.share.budget);
        match load.loop_ {
            LoopPlan::Closed => self.closed_from(begin),
            // Held streams are asked for once, and tell what they tell.
            LoopPlan::Hold { .. } if self.plan().hears_events() => self.closed_from(begin),
            LoopPlan::Hold { rate, idle } => {
                let rate = rate * self.part();
                // Each of a connection's WebSockets is one that is held.
                let held = connections * load.depth;
                Executor::Hold(Hold::new(held, rate, begin + idle, budget))
            }
            LoopPlan::RandomBurst => {
                Executor::RandomBurst(RandomBurst::new(connections, load.pack, budget, self.seed()))
            }
            LoopPlan::AfterResponse { pause } => {
                let slots = u64::from(connections) * u64::from(load.depth / load.pack);
                let executor = AfterResponse::new(begin, pause, slots, load.pack, budget);
                Executor::AfterResponse(executor)
            }
            LoopPlan::Open { rate, pacing, overflow } => {
                // The rate counts messages, the pacer packs.
                let packs = rate / f64::from(load.pack);
                if pacing == PacingDocument::Phased {
                    let constant = Constant::new(begin, packs * self.part(), self.phase());
                    let executor = Phased::new(constant, connections, load.pack, budget, overflow);
                    return Executor::Phased(executor);
                }
                let pacer = self.pacer(begin, packs, pacing);
                Executor::Open(Open::new(pacer, load.pack, budget, overflow))
            }
        }
    }

    /// Connections that send after their own replies: all of them, or as many as stages say.
    fn closed_from(&self, begin: Nanos) -> Executor {
        let load = &self.plan().load;
        let (connections, budget) = (self.share.connections, self.share.budget);
        let Some(course) = self.course(begin) else {
            let executor = Closed::new(load.pack, budget);
            // Where connections have a share of requests, each pack looks for itself whether
            // it is still within it.
            let together = self.renews().is_none();
            return Executor::Closed(if together { executor.together() } else { executor });
        };
        let (place, workers) = (self.share.place, self.plan().share.workers);
        let attendance = Attendance::new(course, connections, place, workers);
        Executor::Ramped(Box::new(Ramped::new(attendance, connections, load.pack, budget)))
    }

    /// The instants of this worker, where there are so many per second over all workers.
    pub(super) fn pacer(&self, begin: Nanos, rate: f64, pacing: PacingDocument) -> Pacer {
        let rate = rate * self.part();
        match (self.course(begin), pacing) {
            (Some(course), PacingDocument::Poisson) => {
                Pacer::Staged(Box::new(Staged::poisson(course, rate, self.seed())))
            }
            (Some(course), _) => {
                Pacer::Staged(Box::new(Staged::constant(course, rate, self.phase())))
            }
            (None, PacingDocument::Poisson) => {
                Pacer::Poisson(Poisson::new(begin, rate, self.seed()))
            }
            (None, _) => Pacer::Constant(Constant::new(begin, rate, self.phase())),
        }
    }

    /// How the load changes over time; none: it does not.
    pub(super) fn course(&self, begin: Nanos) -> Option<Course> {
        let stages = &self.plan().load.stages;
        (!stages.is_empty()).then(|| Course::new(begin, stages))
    }

    /// Of what this worker draws at random; each has its own.
    fn seed(&self) -> u64 {
        self.plan().load.seed.wrapping_mul(0x9e37_79b9).wrapping_add(self.share.place.into())
    }

    /// Each worker takes its connections' part of a rate.
    fn part(&self) -> f64 {
        f64::from(self.share.connections) / f64::from(self.plan().load.connections)
    }

    /// The workers' instants lie between each other's.
    fn phase(&self) -> f64 {
        f64::from(self.share.place) / f64::from(self.plan().share.workers)
    }
}
