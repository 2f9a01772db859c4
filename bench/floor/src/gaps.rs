//! What the machine takes from a program that never waits: it reads the clock, and notes how long it
//! was between two readings. Nobody on that CPU can be more punctual than this.

use std::time::{Duration, Instant};

/// Shorter ones are readings of the clock.
const LEAST: Duration = Duration::from_micros(5);

/// For how long, and on which CPU.
pub(crate) fn parse(arguments: &[String]) -> Option<(Duration, usize)> {
    let [word, seconds, cpu] = arguments else { return None };
    let duration = Duration::from_secs(seconds.parse().ok()?);
    (word == "gaps").then_some((duration, cpu.parse().ok()?))
}

/// The gaps, nanoseconds, in their order.
pub(crate) fn seen(duration: Duration) -> Vec<u128> {
    let mut gaps = Vec::new();
    let began = Instant::now();
    let mut last = began;
    while last - began < duration {
        let now = Instant::now();
        if now - last >= LEAST {
            gaps.push((now - last).as_nanos());
        }
        last = now;
    }
    gaps
}
