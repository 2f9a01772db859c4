//! Exponential gaps: a Poisson process, as independent users make one.

use fastrand::Rng;

use crate::clock::Nanos;

/// Instants of a Poisson process of a given rate; the same seed gives the same instants.
#[derive(Debug, Clone)]
pub struct Poisson {
    due: f64,
    mean_gap_ns: f64,
    rng: Rng,
}

impl Poisson {
    /// `rate`: instants per second on the average, above 0.
    pub fn new(start: Nanos, rate: f64, seed: u64) -> Self {
        let mut pacer =
            Self { due: start.0 as f64, mean_gap_ns: 1e9 / rate, rng: Rng::with_seed(seed) };
        pacer.advance();
        pacer
    }

    /// The next instant.
    pub fn due(&self) -> Nanos {
        Nanos(self.due as u64)
    }

    /// Goes on to the instant after it: inverse transform of the exponential
    /// distribution, -ln(1 - u) / rate with u uniform in [0, 1).
    pub fn advance(&mut self) {
        self.due -= (1.0 - self.rng.f64()).ln() * self.mean_gap_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_variance_are_those_of_the_exponential_distribution() {
        let mut pacer = Poisson::new(Nanos::ZERO, 1000.0, 7);
        let mut gaps = Vec::new();
        let mut last = pacer.due().0;
        for _ in 0..200_000 {
            pacer.advance();
            gaps.push((pacer.due().0 - last) as f64);
            last = pacer.due().0;
        }
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n;
        assert!((mean / 1e6 - 1.0).abs() < 0.01, "mean gap {mean} ns");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "coefficient of variation");
    }

    #[test]
    fn same_seed_same_instants() {
        let series = |seed| {
            let mut pacer = Poisson::new(Nanos::ZERO, 50.0, seed);
            (0..100)
                .map(|_| {
                    pacer.advance();
                    pacer.due()
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(series(1), series(1));
        assert_ne!(series(1), series(2));
    }
}
