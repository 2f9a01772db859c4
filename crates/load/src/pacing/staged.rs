//! Rates that change over time: ramps and steps.
//!
//! Arrivals come evenly, or as a Poisson process, in a time that passes as quickly as the rate is high; each
//! is where that time has come so far. Must not know who arrives.

use crate::clock::Nanos;
use crate::plan::Stage;

/// The share of a whole over time, from an instant on; behind the last stage it stays as it is.
#[derive(Debug, Clone)]
pub struct Course {
    begin: Nanos,
    stages: Vec<Stage>,
}

impl Course {
    /// These stages, at least one, from this instant on.
    pub fn new(begin: Nanos, stages: &[Stage]) -> Self {
        Self { begin, stages: stages.to_vec() }
    }

    /// The first instant from `now` on at which the share is at least this.
    pub fn reaches(&self, share: f64, now: Nanos) -> Option<Nanos> {
        let mut begin = self.begin;
        for &Stage { time, from, to } in &self.stages {
            let end = begin + time;
            if now < end {
                let length = time.0 as f64;
                let at = |instant: Nanos| from + (to - from) * (instant - begin).0 as f64 / length;
                let first = now.max(begin);
                if at(first) >= share {
                    return Some(first);
                }
                if to >= share {
                    let after = length * (share - from) / (to - from);
                    return Some((begin + Nanos(after.ceil() as u64)).max(first));
                }
            }
            begin = end;
        }
        let last = self.stages.last().map_or(1.0, |stage| stage.to);
        (last >= share).then_some(now.max(begin))
    }

    /// When so many seconds of the whole have passed; the end of time where they never do.
    fn passed(&self, seconds: f64) -> Nanos {
        let (mut begin, mut left) = (self.begin, seconds);
        for &Stage { time, from, to } in &self.stages {
            let length = time.0 as f64 / 1e9;
            let whole = length * f64::midpoint(from, to);
            if left < whole {
                // from t + (to - from) t^2 / (2 length) = left, in the form that loses no digits.
                let root = (from * from + 2.0 * (to - from) / length * left).max(0.0).sqrt();
                let after = 2.0 * left / (from + root);
                return begin + Nanos((after.clamp(0.0, length) * 1e9).round() as u64);
            }
            left -= whole;
            begin += time;
        }
        match self.stages.last() {
            Some(last) if last.to == 0.0 => Nanos::MAX,
            Some(last) => begin + Nanos((left / last.to * 1e9).round() as u64),
            None => begin + Nanos((left * 1e9).round() as u64),
        }
    }
}

/// Which of so many are there over time, where they come one after the other and the last ones go first.
#[derive(Debug)]
pub struct Attendance {
    course: Course,
    count: u32,
    phase: f64,
}

impl Attendance {
    /// Of so many of one worker, whose number among all workers is this: theirs come between each other's.
    pub fn new(course: Course, count: u32, place: u32, workers: u32) -> Self {
        // Half of one is one.
        let phase = (f64::from(place) + 0.5) / f64::from(workers);
        Self { course, count, phase }
    }

    /// From when on this one is there, if ever again; `now`: it is.
    pub fn of(&self, index: u32, now: Nanos) -> Option<Nanos> {
        self.course.reaches((f64::from(index) + self.phase) / f64::from(self.count), now)
    }
}

/// Instants at a share of a rate that changes over time.
#[derive(Debug, Clone)]
pub struct Staged {
    course: Course,
    /// At a share of 1, per second.
    rate: f64,
    /// Where the next one is, in gaps at an even rate.
    place: f64,
    /// Draws the gaps; none: they are equal.
    random: Option<fastrand::Rng>,
    due: Nanos,
}

impl Staged {
    /// Equal gaps; `phase`: share of a gap before the first one.
    pub fn constant(course: Course, rate: f64, phase: f64) -> Self {
        Self { course, rate, place: phase, random: None, due: Nanos::ZERO }.placed()
    }

    /// Exponential gaps.
    pub fn poisson(course: Course, rate: f64, seed: u64) -> Self {
        let random = Some(fastrand::Rng::with_seed(seed));
        let mut made = Self { course, rate, place: 0.0, random, due: Nanos::ZERO };
        made.advance();
        made
    }

    /// The next instant.
    pub fn due(&self) -> Nanos {
        self.due
    }

    /// Goes on to the instant after it.
    pub fn advance(&mut self) {
        self.place += match &mut self.random {
            None => 1.0,
            Some(random) => -(1.0 - random.f64()).ln(),
        };
        self.due = self.course.passed(self.place / self.rate);
    }

    fn placed(mut self) -> Self {
        self.due = self.course.passed(self.place / self.rate);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Up within 10 s, as it is for 10 s, half of it at once for 10 s, down within 10 s.
    fn course() -> Course {
        let stage =
            |seconds: u64, from: f64, to: f64| Stage { time: Nanos(seconds * SECOND), from, to };
        let stages = [
            stage(10, 0.0, 1.0),
            stage(10, 1.0, 1.0),
            stage(0, 1.0, 0.5),
            stage(10, 0.5, 0.5),
            stage(10, 0.5, 0.0),
        ];
        Course::new(Nanos(SECOND), &stages)
    }

    /// Arrivals in each second from the course's begin on, as far as there are any.
    fn per_second(mut pacer: Staged) -> Vec<u64> {
        let mut counts = vec![0; 40];
        let mut last = Nanos::ZERO;
        while pacer.due() < Nanos::MAX {
            assert!(pacer.due() >= last, "they never go back");
            last = pacer.due();
            counts[((last.0 - SECOND) / SECOND).min(39) as usize] += 1;
            pacer.advance();
        }
        counts
    }

    #[test]
    fn rates_are_those_of_the_course() {
        // In second n of a ramp from 0 to 100 in 10 s: 10 n + 5.
        let share = |second: u64| match second {
            0..10 => second as f64 / 10.0 + 0.05,
            10..20 => 1.0,
            20..30 => 0.5,
            _ => 0.5 - (second - 30) as f64 / 20.0 - 0.025,
        };
        let counts = per_second(Staged::constant(course(), 1000.0, 0.5));
        for (second, count) in counts.iter().enumerate() {
            let wanted = 1000.0 * share(second as u64);
            assert!((*count as f64 - wanted).abs() <= 1.0, "second {second}: {count} of {wanted}");
        }
        let counts = per_second(Staged::poisson(course(), 1000.0, 3));
        for (second, count) in counts.iter().enumerate() {
            let wanted = 1000.0 * share(second as u64);
            let far = 5.0 * wanted.sqrt().max(1.0);
            assert!((*count as f64 - wanted).abs() <= far, "second {second}: {count} of {wanted}");
        }
    }

    #[test]
    fn a_course_reaches_a_share_when_it_is_there() {
        let course = course();
        let at = |share, now: u64| {
            course.reaches(share, Nanos(now * SECOND)).map(|at| at.0 as f64 / 1e9)
        };
        assert_eq!(at(0.0, 0), Some(1.0));
        assert_eq!((at(0.5, 0), at(0.5, 3), at(0.5, 8)), (Some(6.0), Some(6.0), Some(8.0)));
        assert_eq!((at(1.0, 0), at(1.0, 20)), (Some(11.0), Some(20.0)));
        assert_eq!((at(0.6, 21), at(0.5, 30), at(0.5, 32)), (None, Some(30.0), None));
        assert_eq!((at(0.1, 38), at(0.1, 40), at(0.0, 99)), (Some(38.0), None, Some(99.0)));
    }

    #[test]
    fn as_many_are_there_as_a_stage_says() {
        let stages = [
            Stage { time: Nanos(10 * SECOND), from: 0.0, to: 1.0 },
            Stage { time: Nanos(SECOND), from: 1.0, to: 0.0 },
        ];
        for workers in 1..=5 {
            let of = |place| {
                let course = Course::new(Nanos::ZERO, &stages);
                Attendance::new(course, 20 / workers, place, workers)
            };
            let workers: Vec<_> = (0..workers).map(of).collect();
            let all = u64::from(workers[0].count) * workers.len() as u64;
            // A moment after the instant at which there are exactly so many.
            for there in 0..=all {
                let now = Nanos(there * 10 * SECOND / all + 1);
                let came = workers.iter().flat_map(|all| (0..all.count).map(|it| all.of(it, now)));
                assert_eq!(came.filter(|from| *from == Some(now)).count() as u64, there);
            }
            let now = Nanos(11 * SECOND);
            let left = workers.iter().flat_map(|all| (0..all.count).map(|it| all.of(it, now)));
            assert!(left.into_iter().all(|from| from.is_none()), "they do not come again");
        }
    }

    #[test]
    fn behind_the_last_stage_it_stays_as_it_is() {
        let stages = [Stage { time: Nanos(SECOND), from: 0.0, to: 0.5 }];
        let mut pacer = Staged::constant(Course::new(Nanos::ZERO, &stages), 100.0, 0.0);
        let mut last = pacer.due();
        for _ in 0..200 {
            last = pacer.due();
            pacer.advance();
        }
        let gap = pacer.due() - last;
        assert_eq!(gap, Nanos(SECOND / 50), "50 per second");
    }
}
