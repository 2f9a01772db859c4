//! How long a user thinks: a pure function of the seed, the session and the step.
//!
//! Knows distributions. Must not know who thinks.

use super::drawn;
use crate::clock::Nanos;
use crate::plan::traffic::Think;

/// The longest, nanoseconds: a week. Distributions have no end.
const LONGEST: f64 = 7.0 * 86_400e9;

/// How long the user of this session thinks before this step.
pub(super) fn draw(think: &Think, seed: u64, session: u64, step: u64) -> Nanos {
    let mut rng = drawn(seed, [session, step]);
    let ns = match *think {
        Think::None => return Nanos::ZERO,
        Think::Constant(time) => return time,
        Think::Uniform(low, high) => return Nanos(rng.u64(low.0..=high.0)),
        Think::Exponential(mean) => mean.0 as f64 * -(1.0 - rng.f64()).ln(),
        Think::Lognormal(median, sigma) => {
            // Box and Muller's.
            let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
            let normal = radius * (std::f64::consts::TAU * rng.f64()).cos();
            median.0 as f64 * (sigma * normal).exp()
        }
    };
    Nanos(ns.min(LONGEST) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    /// Mean and median of many, milliseconds.
    fn seen(think: Think) -> (f64, f64) {
        let mut all: Vec<f64> = (0..40_000)
            .map(|session| draw(&think, 3, session, session % 7).0 as f64 / MS)
            .collect();
        all.sort_by(f64::total_cmp);
        (all.iter().sum::<f64>() / all.len() as f64, all[all.len() / 2])
    }

    #[test]
    fn means_and_medians_are_those_of_the_distributions() {
        let ms = |time: u64| Nanos::from_millis(time);
        let near = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < 0.03;
        assert_eq!(seen(Think::None), (0.0, 0.0));
        assert_eq!(seen(Think::Constant(ms(7))), (7.0, 7.0));
        let (mean, median) = seen(Think::Uniform(ms(10), ms(30)));
        assert!(near(mean, 20.0) && near(median, 20.0), "{mean} {median}");
        let (mean, median) = seen(Think::Exponential(ms(50)));
        assert!(near(mean, 50.0) && near(median, 50.0 * 2_f64.ln()), "{mean} {median}");
        let (mean, median) = seen(Think::Lognormal(ms(20), 0.6));
        assert!(near(mean, 20.0 * 0.18_f64.exp()) && near(median, 20.0), "{mean} {median}");
        let same = |seed| draw(&Think::Exponential(ms(50)), seed, 9, 1);
        assert_eq!(same(1), same(1));
        assert_ne!(same(1), same(2));
        assert!(draw(&Think::Lognormal(Nanos(u64::MAX / 2), 10.0), 1, 1, 1).0 as f64 <= LONGEST);
    }
}
