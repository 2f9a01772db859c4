//! Equal gaps. Each instant is computed from its number, so that rounding never adds up.

use crate::clock::Nanos;

/// Instants `start + (n + phase) / rate`, n = 0, 1, 2, …
#[derive(Debug, Clone)]
pub struct Constant {
    start: Nanos,
    gap_ns: f64,
    phase: f64,
    n: u64,
}

impl Constant {
    /// `rate`: instants per second, above 0. `phase`: share of a gap (0 to 1) before the first one.
    pub fn new(start: Nanos, rate: f64, phase: f64) -> Self {
        Self { start, gap_ns: 1e9 / rate, phase, n: 0 }
    }

    /// The next instant.
    pub fn due(&self) -> Nanos {
        self.at(self.n)
    }

    /// The instant with this number, from 0.
    pub fn at(&self, n: u64) -> Nanos {
        let offset = (n as f64 + self.phase) * self.gap_ns;
        self.start + Nanos(offset.round() as u64)
    }

    /// Goes on to the instant after it.
    pub fn advance(&mut self) {
        self.n += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instants(mut pacer: Constant, count: usize) -> Vec<u64> {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(pacer.due().0);
            pacer.advance();
        }
        all
    }

    #[test]
    fn table_of_rates() {
        let cases: [(f64, f64, &[u64]); 4] = [
            (1.0, 0.0, &[0, 1_000_000_000, 2_000_000_000]),
            (1000.0, 0.5, &[500_000, 1_500_000, 2_500_000]),
            (3.0, 0.0, &[0, 333_333_333, 666_666_667, 1_000_000_000]),
            (1e9, 0.0, &[0, 1, 2, 3]),
        ];
        for (rate, phase, expected) in cases {
            assert_eq!(instants(Constant::new(Nanos::ZERO, rate, phase), expected.len()), expected);
        }
    }

    #[test]
    fn rounding_does_not_add_up() {
        let mut pacer = Constant::new(Nanos::from_secs(5), 7.0, 0.0);
        for _ in 0..7_000_000 {
            pacer.advance();
        }
        assert_eq!(pacer.due(), Nanos::from_secs(1_000_005));
    }
}
