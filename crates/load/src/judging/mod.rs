//! Checks that are too dear for each reply are made of a sample, beside the load: who draws it, and who judges.
//!
//! Knows replies that came whole and are right as far as each is looked at. Must not know how they came, what is
//! counted, nor on which thread it runs: a simulated run judges in its own steps.

mod judge;
mod sampler;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};

pub(crate) use judge::{Adjournment, Judge};
pub(crate) use sampler::{Judged, Right, Sampler};

use crate::source::traffic::{Coming, Making, Routes, Values};

/// Replies that may wait to be judged.
const MOST_WAITING: usize = 256;
/// The bytes that they may have together.
const MOST_BYTES: usize = 64 << 20;

/// A worker's place before the judge.
#[derive(Debug)]
pub(crate) struct Bench {
    worker: usize,
    cases: SyncSender<Box<Case>>,
    verdicts: Receiver<Verdict>,
    court: Arc<Court>,
}

/// What a judge and all benches know of each other.
#[derive(Debug, Default)]
struct Court {
    /// Of all replies that wait.
    bytes: AtomicUsize,
    /// Somebody has nothing more to do than to wait for verdicts.
    is_awaited: AtomicBool,
    /// Nobody wants a verdict any more.
    is_over: AtomicBool,
}

/// A reply that is to be judged.
#[derive(Debug)]
struct Case {
    worker: usize,
    /// Of the message that it answers.
    number: u64,
    route: usize,
    coming: Box<Coming>,
    values: Values,
    making: Making,
    bytes: usize,
}

/// What came of it.
#[derive(Debug)]
struct Verdict {
    number: u64,
    coming: Box<Coming>,
    fault: Option<String>,
}

/// A judge of the replies of so many workers, and the place of each of them.
pub(crate) fn bench(routes: &Arc<Routes>, workers: usize) -> (Judge, Vec<Bench>) {
    let (cases, waiting) = sync_channel(MOST_WAITING);
    let court = Arc::new(Court::default());
    let (ways_back, verdicts): (Vec<Sender<_>>, Vec<Receiver<_>>) =
        (0..workers).map(|_| channel()).unzip();
    let benches = verdicts.into_iter().enumerate().map(|(worker, verdicts)| Bench {
        worker,
        cases: cases.clone(),
        verdicts,
        court: Arc::clone(&court),
    });
    let benches = benches.collect();
    (Judge::new(Arc::clone(routes), waiting, ways_back, court), benches)
}

impl Bench {
    /// Gives a reply to the judge; what did not fit comes back.
    fn submit(&self, case: Box<Case>) -> Result<(), Box<Case>> {
        let bytes = case.bytes;
        // Workers that do so at once may be over the limit by a reply each.
        if self.court.bytes.load(Ordering::Relaxed) + bytes > MOST_BYTES {
            return Err(case);
        }
        self.court.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.cases.try_send(case).map_err(|error| {
            self.court.bytes.fetch_sub(bytes, Ordering::Relaxed);
            match error {
                TrySendError::Full(case) | TrySendError::Disconnected(case) => case,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::Nanos;
    use crate::measure::Timeline;
    use crate::plan::Plan;

    /// A judge of replies to one route, whose body is to have the digest of `abc`.
    fn court() -> (Judge, Sampler) {
        let digest = json!({"is": "compared", "how": "==",
                            "with": {"json": "900150983cd24fb0d6963f7d28e17f72"}});
        let check = json!({"of": "body", "filters": ["md5"], "test": digest});
        let plan = json!({
            "schema": "wiretrial-plan", "version": 1,
            "target": {"url": "http://127.0.0.1:9"},
            "load": {"connections": 1}, "stop": {"sessions": 1},
            "traffic": {
                "routes": [{"name": "it", "method": "GET", "target": [{"text": "/"}],
                            "expect": {"checks": [check]}}],
                "flows": [{"name": "f", "steps": [{"route": 0}]}],
            },
        });
        let plan = Plan::from_json(&plan.to_string()).expect("a plan");
        let routes = Routes::new(plan.traffic.as_ref().expect("traffic"), &plan);
        let (judge, mut benches) = bench(&Arc::new(routes), 1);
        (judge, Sampler::new(benches.remove(0), 1, 0.0, 1))
    }

    fn submit(sampler: &mut Sampler, number: u64, body: &[u8]) -> bool {
        let instants = [0, 0, 5, 5].map(Nanos);
        let [due, sent, first_byte, done] = instants;
        let timeline = Timeline { due, sent, first_byte, done };
        let (making, values) = (Making::default(), Values::default());
        let right = Right { number, timeline: &timeline, open_loop: false, making, values };
        let mut coming = Box::<Coming>::default();
        coming.keep(body);
        sampler.submit(0, right, coming).is_ok()
    }

    #[test]
    fn what_there_is_no_room_for_comes_back_and_all_else_is_judged() {
        let (judge, mut sampler) = court();
        let taken = (0..300).filter(|number| submit(&mut sampler, *number, b"abc")).count();
        assert_eq!((taken, sampler.waiting()), (MOST_WAITING, MOST_WAITING as u64));
        assert!(sampler.next().is_none(), "nobody has judged");
        while judge.next() {}
        let judged = std::iter::from_fn(|| sampler.next());
        assert!(judged.into_iter().all(|it| it.fault.is_none() && it.coming.is_some()));
        assert_eq!((sampler.waiting(), sampler.waiting_by_route()), (0, &[0][..]));
        assert!(submit(&mut sampler, 300, b"abd"), "there is room again");
        assert!(judge.next());
        let fault = sampler.next().and_then(|judged| judged.fault).expect("it is wrong");
        assert!(fault.starts_with("body md5 was '4911e516e5aa21d327512e0c8b197616'"), "{fault}");
    }

    #[test]
    fn bodies_that_wait_have_so_many_bytes_at_most() {
        let (judge, mut sampler) = court();
        let large = vec![b'x'; MOST_BYTES / 3 + 1];
        let taken: Vec<_> = (0..4).map(|number| submit(&mut sampler, number, &large)).collect();
        assert_eq!(taken, [true, true, false, false]);
        judge.adjournment().adjourn();
        while judge.next() {}
        assert!(sampler.next().is_none(), "it has adjourned");
        assert!(submit(&mut sampler, 4, &large), "nothing waits before the judge");
        let left = std::iter::from_fn(|| sampler.next_unjudged()).count();
        assert_eq!(left, 3);
    }

    #[test]
    fn the_first_right_replies_of_a_route_are_drawn() {
        let (_judge, mut sampler) = court();
        let drawn = (0..100).filter(|number| {
            let is_drawn = sampler.draws(0, *number);
            // Each second one is wrong, and not judged.
            if is_drawn && number % 2 == 0 {
                sampler.note_right(0);
            }
            is_drawn
        });
        assert_eq!(drawn.count(), 59);
    }
}
