//! The times of one metric: a few as they are, many as a histogram.
//!
//! A histogram takes a quarter of a megabyte, a worker has one per metric and interval, and a
//! machine that holds a million connections has a worker for each 20,000 of them.

use std::borrow::Cow;
use std::iter::repeat_n;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

use crate::clock::Nanos;

/// Highest recorded value: one hour. What takes longer is recorded as one hour.
pub(super) const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits of recorded values.
const DIGITS: u8 = 3;
/// So many values are kept as they are: 2 KiB.
const FEW: usize = 256;

/// Times that were recorded; which of the two ways they are kept can't be told from outside.
#[derive(Debug, Default)]
pub(super) struct Times {
    few: Vec<u64>,
    /// Holds all of them once it is there.
    many: Option<Box<Histogram<u64>>>,
}

impl Times {
    /// Records the same value so many times.
    #[inline]
    pub(super) fn record(&mut self, value: Nanos, times: u32) {
        if let Some(many) = &mut self.many {
            many.saturating_record_n(value.0, times.into());
            return;
        }
        self.few.extend(repeat_n(value.0, times as usize));
        if self.few.len() >= FEW {
            self.count();
        }
    }

    /// All of them as a histogram; none: nothing was recorded.
    pub(super) fn histogram(&self) -> Option<Cow<'_, Histogram<u64>>> {
        match &self.many {
            Some(many) => (!many.is_empty()).then_some(Cow::Borrowed(&**many)),
            None => (!self.few.is_empty()).then(|| Cow::Owned(histogram_of(&self.few))),
        }
    }

    /// Adds what another holds.
    pub(super) fn add(&mut self, other: &Self) {
        for &value in &other.few {
            self.record(Nanos(value), 1);
        }
        let Some(theirs) = other.many.as_deref().filter(|many| !many.is_empty()) else { return };
        // Both have the same range and precision, so adding can't fail.
        let added = self.count().add(theirs);
        debug_assert!(added.is_ok());
    }

    /// Forgets all. A histogram is kept while it is used: the next interval will want it too.
    pub(super) fn clear(&mut self) {
        self.few.clear();
        match &mut self.many {
            Some(many) if !many.is_empty() => many.reset(),
            unused => *unused = None,
        }
    }

    /// The histogram, which is there from now on.
    fn count(&mut self) -> &mut Histogram<u64> {
        let few = std::mem::take(&mut self.few);
        self.many.get_or_insert_with(|| Box::new(histogram_of(&few)))
    }
}

/// As it goes into snapshots.
pub(super) fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    // Writing into a Vec fails only if a count exceeds i64::MAX.
    let written = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    debug_assert!(written.is_ok());
    BASE64_STANDARD.encode(bytes)
}

fn histogram_of(values: &[u64]) -> Histogram<u64> {
    // The bounds are constants that the library accepts; a test makes one.
    #[expect(clippy::expect_used, reason = "constant bounds")]
    let mut made = Histogram::new_with_bounds(1, HIGHEST_NS, DIGITS).expect("constant bounds");
    for &value in values {
        made.saturating_record(value);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(values: impl IntoIterator<Item = u64>) -> Times {
        let mut made = Times::default();
        for value in values {
            made.record(Nanos(value), 1);
        }
        made
    }

    #[test]
    fn few_and_many_are_the_same_histogram() {
        assert_eq!(Times::default().histogram(), None);
        for count in [1, FEW - 1, FEW, FEW + 1, 10 * FEW] {
            let values: Vec<u64> = (1..=count as u64).map(|at| at * 1009).collect();
            let made = times(values.iter().copied());
            assert_eq!(made.many.is_some(), count >= FEW);
            assert_eq!(made.histogram().as_deref(), Some(&histogram_of(&values)), "{count}");
        }
    }

    #[test]
    fn a_value_that_comes_often_is_that_value_so_often() {
        for (before, often) in [(0, 1), (0, FEW - 1), (FEW - 1, 10), (FEW, 10), (3, 3 * FEW)] {
            let mut made = times(0..before as u64);
            made.record(Nanos(4711), often as u32);
            let all: Vec<u64> = (0..before as u64).chain(repeat_n(4711, often)).collect();
            assert_eq!(made.histogram().as_deref(), Some(&histogram_of(&all)), "{before} {often}");
        }
    }

    #[test]
    fn what_is_added_is_as_if_recorded() {
        for (mine, theirs) in [(3, 4), (3, 300), (300, 3), (300, 300), (200, 200), (0, 5), (5, 0)] {
            let mut sum = times(0..mine);
            sum.add(&times(1000..1000 + theirs));
            let all: Vec<u64> = (0..mine).chain(1000..1000 + theirs).collect();
            assert_eq!(sum.histogram().as_deref(), Some(&histogram_of(&all)), "{mine} {theirs}");
        }
    }

    #[test]
    fn a_histogram_is_given_back_once_an_interval_did_without() {
        let mut made = times(0..300);
        made.clear();
        assert!(made.histogram().is_none() && made.many.is_some());
        made.clear();
        assert!(made.many.is_none());
        made.record(Nanos(7), 1);
        assert_eq!(made.histogram().map(|found| found.len()), Some(1));
    }
}
