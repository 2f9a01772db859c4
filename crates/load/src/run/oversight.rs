//! What the run makes of its workers' reports: it starts their load, merges, and emits.
//!
//! Knows reports one by one; must not know how they come, so that a simulated run hears them too.

use crate::clock::Nanos;
use crate::control::{Control, Report};
use crate::emit::Emit;
use crate::machine::Machine;
use crate::measure::Recorder;
use crate::measure::snapshot::{Connected, Published, Snapshot, Summary};
use crate::plan::Plan;

use super::merge::Merge;
use super::{RunError, secrets};

/// Hears the workers of one run.
pub(crate) struct Oversight<'r, M, E> {
    plan: &'r Plan,
    control: &'r Control,
    clock: M,
    emit: &'r mut E,
    merge: Merge<M>,
    /// Workers whose connections stand.
    connected: u32,
    /// What was published beside the load, and how many copies came right of events that were not confirmed.
    published: Option<(Published, u64)>,
}

impl<'r, M: Machine, E: Emit> Oversight<'r, M, E> {
    pub(crate) fn new(plan: &'r Plan, control: &'r Control, clock: M, emit: &'r mut E) -> Self {
        let merge = Merge::new(plan, clock.clone());
        Self { plan, control, clock, emit, merge, connected: 0, published: None }
    }

    /// All workers are done, and all that they told was emitted.
    pub(crate) fn is_over(&self) -> bool {
        self.merge.is_finished()
    }

    /// Takes in what a worker reports; its recorder, if one came, can be used again.
    ///
    /// # Errors
    /// The worker has failed, or the output can't be written.
    pub(crate) fn hear(
        &mut self,
        worker: u32,
        report: Report,
    ) -> Result<Option<Box<Recorder>>, RunError> {
        // Whoever says it says it before anything of the load is reported.
        if let Some(begin) = self.control.begin() {
            self.merge.set_begin(begin);
        }
        let mut used = None;
        match report {
            Report::Connected { since, at } => {
                self.connected += 1;
                self.merge.connected(since, at);
                self.stands()?;
            }
            Report::Interval(record) => used = Some(self.merge.interval(worker, record)),
            Report::LoadEnded { first_send, at } => self.merge.load_ended(first_send, at),
            Report::Closing => {}
            Report::Finished { at } => self.merge.finished(worker, at),
            Report::Failed { class, message } => return Err(RunError::Worker { class, message }),
        }
        while let Some(interval) = self.merge.next_interval() {
            self.emit.emit(&Snapshot::Interval(interval))?;
        }
        Ok(used)
    }

    /// This was published while the streams of the load told it, and so many copies came right of events that were not
    /// confirmed.
    pub(crate) fn hear_of(&mut self, published: Published, unconfirmed_came: u64) {
        self.published = Some((published, unconfirmed_came));
    }

    /// Emits the summary.
    ///
    /// # Errors
    /// It can't be written.
    pub(crate) fn conclude(self) -> Result<Summary, RunError> {
        let Self { plan, control, emit, merge, published, .. } = self;
        let mut summary = merge.summary(control.is_stopping(), control.signal());
        summary.published = published.map(|(published, came)| balanced(published, &summary, came));
        let mut known = vec![secrets(plan)];
        known.extend(plan.of_publisher().map(|own| secrets(&own)));
        let routes = summary.traffic.iter_mut().flat_map(|all| &mut all.routes);
        let excerpts = routes.flat_map(|route| route.examples.values_mut());
        let published = summary.published.iter_mut().flat_map(|it| it.examples.values_mut());
        for excerpt in excerpts.chain(summary.examples.values_mut()).chain(published) {
            for secrets in &known {
                *excerpt = secrets.hidden_in(excerpt);
            }
        }
        emit.emit(&Snapshot::Summary(summary.clone()))?;
        Ok(summary)
    }

    /// The connections of one more worker stand.
    fn stands(&mut self) -> Result<(), RunError> {
        if self.connected < self.plan.generator.threads {
            return Ok(());
        }
        if self.plan.share.awaits_begin {
            let at_ns = self.clock.now().0;
            self.emit.emit(&Snapshot::Connected(Connected { at_ns }))?;
        } else {
            let begin = next_boundary(self.clock.now(), self.plan.phases.interval);
            self.control.set_begin(begin);
        }
        Ok(())
    }
}

/// The same, with the copies that did not come right: of the events that were confirmed, and of the others, of which so
/// many came.
fn balanced(published: Published, summary: &Summary, unconfirmed_came: u64) -> Published {
    let (receivers, counters) = (published.receivers, &published.counters);
    let unconfirmed = counters.sent.saturating_sub(counters.ok) * receivers;
    let confirmed_came = summary.counters.ok.saturating_sub(unconfirmed_came);
    Published {
        undelivered: (counters.ok * receivers).saturating_sub(confirmed_came),
        unconfirmed: unconfirmed.saturating_sub(unconfirmed_came),
        ..published
    }
}

/// The load begins where an interval does, so that intervals belong to one phase.
fn next_boundary(now: Nanos, interval: Nanos) -> Nanos {
    Nanos((now + Nanos::from_millis(1)).0.next_multiple_of(interval.0))
}
