//! One worker's sample: which replies are judged, and what is known of those that are not judged yet.
//!
//! Knows numbers and outcomes. Must not know what a check is.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use super::{Bench, Case};
use crate::measure::Timeline;
use crate::source::traffic::{Coming, Making, Values};

/// So many replies of each route are judged, whatever is drawn.
const FIRST: u32 = 30;

/// The replies of one worker of which some are judged beside it.
#[derive(Debug)]
pub(crate) struct Sampler {
    bench: Bench,
    seed: u64,
    /// A reply is drawn where what its number makes is under this.
    below: u64,
    /// By route: right replies that were to be judged so far, up to the first ones that always are.
    firsts: Vec<u32>,
    /// By number: replies without a verdict.
    waiting: BTreeMap<u64, Waiting>,
    /// By route: how many of these.
    waiting_by_route: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    route: usize,
    timeline: Timeline,
    open_loop: bool,
}

/// A reply that has its verdict.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) route: usize,
    pub(crate) timeline: Timeline,
    pub(crate) open_loop: bool,
    /// Where it was, to be used again; none: nobody judged it in time.
    pub(crate) coming: Option<Box<Coming>>,
    /// What is wrong with it.
    pub(crate) fault: Option<String>,
}

/// A right reply, and what its checks need to know.
#[derive(Debug)]
pub(crate) struct Right<'r> {
    pub(crate) number: u64,
    pub(crate) timeline: &'r Timeline,
    pub(crate) open_loop: bool,
    pub(crate) making: Making,
    /// As they were when it came.
    pub(crate) values: Values,
}

impl Sampler {
    pub(crate) fn new(bench: Bench, seed: u64, share: f64, routes: usize) -> Self {
        // All of the numbers where the share is 1: a float of 2^64 comes to be the greatest there is.
        let below = (share * 2f64.powi(64)) as u64;
        let (firsts, waiting_by_route) = (vec![0; routes], vec![0; routes]);
        Self { bench, seed, below, firsts, waiting: BTreeMap::new(), waiting_by_route }
    }

    /// Is this reply of a route to be judged, if it is right?
    #[inline]
    pub(crate) fn draws(&self, route: usize, number: u64) -> bool {
        let is_drawn = drawn(self.seed, number) < self.below || self.below == u64::MAX;
        is_drawn || self.firsts[route] < FIRST
    }

    /// One that was to be judged is right.
    pub(crate) fn note_right(&mut self, route: usize) {
        self.firsts[route] = FIRST.min(self.firsts[route] + 1);
    }

    /// Gives a reply to the judge, which is kept whole; if there is no room for it, it comes back.
    pub(crate) fn submit(
        &mut self,
        route: usize,
        right: Right<'_>,
        coming: Box<Coming>,
    ) -> Result<(), Box<Coming>> {
        let Right { number, timeline, open_loop, making, values } = right;
        let bytes = coming.held();
        let worker = self.bench.worker;
        let case = Case { worker, number, route, coming, values, making, bytes };
        self.bench.submit(Box::new(case)).map_err(|case| case.coming)?;
        self.waiting.insert(number, Waiting { route, timeline: *timeline, open_loop });
        self.waiting_by_route[route] += 1;
        Ok(())
    }

    /// Replies without a verdict.
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// The same, by route.
    pub(crate) fn waiting_by_route(&self) -> &[u64] {
        &self.waiting_by_route
    }

    /// Nothing but verdicts is waited for.
    pub(crate) fn awaits(&self) {
        self.bench.court.is_awaited.store(true, Ordering::Release);
    }

    /// The next reply whose verdict is there.
    pub(crate) fn next(&mut self) -> Option<Judged> {
        if self.waiting.is_empty() {
            return None;
        }
        let super::Verdict { number, coming, fault } = self.bench.verdicts.try_recv().ok()?;
        let waiting = self.waiting.remove(&number)?;
        Some(self.judged(waiting, Some(coming), fault))
    }

    /// One that nobody has judged, and nobody will.
    pub(crate) fn next_unjudged(&mut self) -> Option<Judged> {
        let (_, waiting) = self.waiting.pop_first()?;
        Some(self.judged(waiting, None, None))
    }

    fn judged(
        &mut self,
        waiting: Waiting,
        coming: Option<Box<Coming>>,
        fault: Option<String>,
    ) -> Judged {
        let Waiting { route, timeline, open_loop } = waiting;
        self.waiting_by_route[route] -= 1;
        Judged { route, timeline, open_loop, coming, fault }
    }
}

/// A number made of a message's, evenly among all there are: the finisher of `SplitMix64`.
fn drawn(seed: u64, number: u64) -> u64 {
    let mixed = seed ^ number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_the_share_and_the_seed_s() {
        let of = |seed: u64, share: f64| {
            let below = (share * 2f64.powi(64)) as u64;
            (0..100_000).filter(move |number| drawn(seed, *number) < below).collect::<Vec<u64>>()
        };
        let hundredth = of(1, 0.01);
        assert!((900..1_100).contains(&hundredth.len()), "{}", hundredth.len());
        assert_ne!(hundredth, of(2, 0.01));
        assert_eq!((of(1, 0.0).len(), of(1, 1.0).len()), (0, 100_000));
    }
}
