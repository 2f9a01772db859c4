//! Replies whose dear checks are made beside the load, or at once where nobody is in a hurry.
//!
//! Knows outcomes. Must not know what the checks are, nor how a sample is drawn.

use super::Users;
use crate::judging::{Judged, Right, Sampler};
use crate::measure::{Class, Recorder};
use crate::mutation::{self, Mutation};
use crate::source::traffic::{Coming, Fault, Known, Making, Values};

impl Users {
    /// The values that the reply to a message is to be judged with; none: it is not drawn.
    #[inline]
    pub(super) fn draw(&self, index: u32, number: u64) -> Option<Values> {
        let user = &self.all[index as usize];
        self.common.routes.get(user.route).deep.as_ref()?;
        let is_drawn = |sampler: &Sampler| sampler.draws(user.route, number);
        let draws = self.sampler.as_deref().is_none_or(is_drawn);
        draws.then(|| user.values.clone())
    }

    /// Judges a reply at once, where nobody does so beside the load. It is kept whole.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn judge_at_once(
        &self,
        index: u32,
        coming: &Coming,
        (values, making): (&Values, Making),
        recorder: &mut Recorder,
    ) -> Result<(), Fault> {
        let route = self.all[index as usize].route;
        let Some(deep) = &self.common.routes.get(route).deep else { return Ok(()) };
        let fault = deep.fault(coming, Known { values, making });
        recorder.route(route).checked(fault.is_none());
        fault.map_or(Ok(()), |fault| Err(Fault::Mismatch(fault)))
    }

    /// Gives a right reply to the judge. False: there is no room for it, and it is right as it is.
    pub(super) fn submit(
        &mut self,
        index: u32,
        coming: Box<Coming>,
        right: Right<'_>,
        recorder: &mut Recorder,
    ) -> bool {
        let route = self.all[index as usize].route;
        let Some(sampler) = &mut self.sampler else { return false };
        sampler.note_right(route);
        let bytes = coming.bytes();
        if let Err(coming) = sampler.submit(route, right, coming) {
            self.spare.push(coming);
            recorder.route(route).left_out();
            return false;
        }
        recorder.route(route).received(bytes);
        self.all[index as usize].outcome = Some(Ok(()));
        true
    }

    /// Replies that are neither right nor wrong yet.
    pub(crate) fn unjudged(&self) -> u64 {
        self.sampler.as_ref().map_or(0, |sampler| sampler.waiting())
    }

    /// Nothing but verdicts is waited for.
    pub(crate) fn await_verdicts(&self) {
        if let Some(sampler) = &self.sampler {
            sampler.awaits();
        }
    }

    /// Takes in what the judge has found.
    #[inline]
    pub(crate) fn hear_verdicts(&mut self, recorder: &mut Recorder) {
        while let Some(judged) = self.sampler.as_mut().and_then(|sampler| sampler.next()) {
            self.judged(judged, recorder);
        }
    }

    /// Nobody waits for verdicts any more: what has none is right, as far as each reply is looked at.
    pub(crate) fn end_judging(&mut self, recorder: &mut Recorder) {
        self.hear_verdicts(recorder);
        while let Some(left) = self.sampler.as_mut().and_then(|sampler| sampler.next_unjudged()) {
            self.judged(left, recorder);
        }
    }

    fn judged(&mut self, judged: Judged, recorder: &mut Recorder) {
        let Judged { route, timeline, open_loop, coming, fault } = judged;
        let fault = fault.filter(|_| !mutation::is(Mutation::WrongUnheard));
        match coming {
            Some(coming) => {
                recorder.route(route).checked(fault.is_none());
                // Bodies may be large: no more are kept than come at once.
                if self.spare.len() < self.all.len() {
                    self.spare.push(coming);
                }
            }
            None => recorder.route(route).left_out(),
        }
        let told = fault.map_or(Ok(()), |fault| Err((Class::Mismatch, fault)));
        self.count(route, told, (&timeline, open_loop), recorder);
    }
}
