//! The intervals of a worker: when one is over, whether it was disturbed, and the recorders that come
//! and go with them.
//!
//! Knows instants. Must not know what is recorded, nor who takes it.

use crate::clock::Nanos;
use crate::measure::{Class, Recorder};

/// A worker that comes to the end of an interval, or back from a wait, later than this was kept
/// from running.
pub(super) const LATE: Nanos = Nanos::from_millis(20);
/// Intervals that may wait for the run to take them. Each holds its histograms.
const MOST_UNTAKEN: u32 = 256;
/// How long more than these may wait.
const LONGEST_BEHIND: Nanos = Nanos::from_secs(5);

/// The intervals of one worker.
#[derive(Debug)]
pub(super) struct Intervals {
    length: Nanos,
    /// Index of the current one.
    index: u64,
    /// When the last wait ended that was far too long; none: its intervals are closed.
    paused_until: Option<Nanos>,
    /// Recorders that were made because none had come back.
    made: u32,
    /// Recorders that came back.
    #[expect(clippy::vec_box, reason = "they come and go boxed")]
    spare: Vec<Box<Recorder>>,
    /// Since when too many intervals have waited for the run.
    behind_since: Option<Nanos>,
    busy: Busy,
}

/// How busy the loop had been when an interval ended.
#[derive(Debug, Clone, Copy)]
struct Busy {
    at: Nanos,
    busy_ns: u64,
}

/// An interval that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Over {
    pub(super) index: u64,
    pub(super) end: Nanos,
    pub(super) disturbed: bool,
}

impl Intervals {
    pub(super) fn new(length: Nanos, now: Nanos) -> Self {
        Self {
            length,
            index: now.0 / length.0,
            paused_until: None,
            made: 0,
            spare: Vec::new(),
            behind_since: None,
            busy: Busy { at: now, busy_ns: 0 },
        }
    }

    /// When the current one ends.
    pub(super) fn end(&self) -> Nanos {
        Nanos((self.index + 1) * self.length.0)
    }

    /// Remembers that a wait ended so late that the machine, or whoever else runs on it, has kept
    /// this worker from running. The intervals up to then are disturbed.
    pub(super) fn look_for_pause(&mut self, expected: Nanos, back: Nanos) {
        if back - expected > LATE {
            self.paused_until = Some(back);
        }
    }

    /// The current one, if it is over.
    pub(super) fn take_over(&mut self, now: Nanos) -> Option<Over> {
        let end = self.end();
        if now < end {
            return None;
        }
        let disturbed = now - end > LATE || self.paused_until.is_some();
        self.paused_until = self.paused_until.filter(|until| *until >= end);
        self.index += 1;
        Some(Over { index: self.index - 1, end, disturbed })
    }

    /// The current one, which ends with the run.
    pub(super) fn take_last(&mut self, now: Nanos) -> Over {
        self.index += 1;
        Over { index: self.index - 1, end: now, disturbed: self.paused_until.is_some() }
    }

    /// A recorder for the next one: one of these that came back, or a new one.
    pub(super) fn fresh(&mut self, mut back: impl Iterator<Item = Box<Recorder>>) -> Box<Recorder> {
        let spare = self.spare.pop().or_else(|| back.next());
        self.made += u32::from(spare.is_none());
        spare.unwrap_or_default()
    }

    /// Takes what has come back.
    ///
    /// # Errors
    /// Too few have for too long: nobody takes the intervals, and they can't be kept for ever.
    pub(super) fn take_back(
        &mut self,
        now: Nanos,
        back: impl Iterator<Item = Box<Recorder>>,
    ) -> Result<(), (Class, String)> {
        self.spare.extend(back);
        if self.made - (self.spare.len() as u32) <= MOST_UNTAKEN {
            self.behind_since = None;
            return Ok(());
        }
        // After a pause there are many at once, and they are taken soon.
        if now - *self.behind_since.get_or_insert(now) < LONGEST_BEHIND {
            return Ok(());
        }
        let text = format!("the output is {MOST_UNTAKEN} intervals behind: read it faster");
        Err((Class::Client, text))
    }

    /// Time since the last call in which the loop had nothing to do, when it has been busy for so long
    /// in all: it neither ran, but for looking in vain, nor waited for a CPU. What the kernel does in a
    /// wait is work.
    pub(super) fn idle(&mut self, now: Nanos, busy_ns: u64) -> Nanos {
        let now = Busy { at: now, busy_ns };
        let before = std::mem::replace(&mut self.busy, now);
        (now.at - before.at) - Nanos(now.busy_ns.saturating_sub(before.busy_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Nanos = Nanos::from_millis;

    #[test]
    fn an_interval_ends_once_and_says_whether_it_was_disturbed() {
        let mut intervals = Intervals::new(MS(100), MS(150));
        assert_eq!((intervals.take_over(MS(199)), intervals.end()), (None, MS(200)));
        let over = |index, end, disturbed| Some(Over { index, end: MS(end), disturbed });
        assert_eq!(intervals.take_over(MS(201)), over(1, 200, false));
        assert_eq!(intervals.take_over(MS(201)), None);
        intervals.look_for_pause(MS(210), MS(450));
        assert_eq!(intervals.take_over(MS(450)), over(2, 300, true));
        assert_eq!(intervals.take_over(MS(450)), over(3, 400, true));
        assert_eq!(intervals.take_over(MS(500)), over(4, 500, true), "the pause ended in it");
        assert_eq!(intervals.take_over(MS(600)), over(5, 600, false));
        assert_eq!(Some(intervals.take_last(MS(640))), over(6, 640, false));
    }

    #[test]
    fn who_takes_no_interval_is_told_after_a_while() {
        let mut intervals = Intervals::new(MS(100), Nanos::ZERO);
        let mut out: Vec<_> =
            (0..=MOST_UNTAKEN).map(|_| intervals.fresh(std::iter::empty())).collect();
        assert!(intervals.take_back(MS(0), std::iter::empty()).is_ok());
        assert!(intervals.take_back(MS(5000), std::iter::empty()).is_err());
        assert!(intervals.take_back(MS(5001), out.drain(..1)).is_ok());
    }

    #[test]
    fn idle_is_what_is_left_of_the_time() {
        let mut intervals = Intervals::new(MS(100), MS(0));
        assert_eq!(intervals.idle(MS(100), 30_000_000), MS(70));
        assert_eq!(intervals.idle(MS(200), 140_000_000), MS(0), "clocks differ a little");
    }
}
