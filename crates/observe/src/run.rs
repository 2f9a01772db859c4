//! An observation from its first line to its last: a sample per interval, and one at each mark.
//!
//! Knows when a sample is taken; must not know what is in it.

use std::io::Write;

use crate::ObserveError;
use crate::clock;
use crate::files::Places;
use crate::observation::{End, Observation, Sample, Why};
use crate::orders::{Order, Orders};
use crate::sampler::Sampler;
use crate::target::Target;

/// The most targets of one observation.
const MOST_TARGETS: usize = 64;
/// The shortest time between two samples: one takes a millisecond or so.
const SHORTEST_INTERVAL_NS: u64 = 10_000_000;

/// What is observed, and how often.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Beside the host.
    pub targets: Vec<Target>,
    /// Time between two samples.
    pub interval_ns: u64,
    /// When it ends by itself.
    pub duration_ns: Option<u64>,
    /// Where the kernel's file systems are mounted.
    pub places: Places,
}

impl Settings {
    fn check(&self) -> Result<(), ObserveError> {
        let usage = |said: String| Err(ObserveError::Usage(said));
        if self.targets.len() > MOST_TARGETS {
            return usage(format!("{} targets are more than {MOST_TARGETS}", self.targets.len()));
        }
        if self.interval_ns < SHORTEST_INTERVAL_NS {
            return usage("the interval is shorter than 10ms".to_owned());
        }
        for (index, target) in self.targets.iter().enumerate() {
            if self.targets[..index].iter().any(|other| other.name == target.name) {
                return usage(format!(
                    "two targets have the name '{0}'; write NAME=… for one",
                    target.name
                ));
            }
        }
        Ok(())
    }
}

/// Observes until the time is up, the input ends or a signal comes. Each line is written as soon as it
/// is whole, the last one before an order that makes no sense is told as an error.
pub fn observe(
    settings: &Settings,
    orders: &mut Orders<'_>,
    out: &mut impl Write,
) -> Result<End, ObserveError> {
    settings.check()?;
    let mut sampler = Sampler::new(settings.places.clone(), &settings.targets)?;
    let start = sampler.start(settings.interval_ns, settings.duration_ns);
    let began = start.at.monotonic_ns;
    let end = settings.duration_ns.map_or(u64::MAX, |duration| began.saturating_add(duration));
    write(out, &Observation::Start(Box::new(start)))?;
    take(&mut sampler, Why::First, None, None, out)?;
    let mut due = began.saturating_add(settings.interval_ns);
    let (end, wrong) = loop {
        match orders.wait(due.min(end)).map_err(ObserveError::Wait)? {
            Order::Due if due >= end => break (End::Time, None),
            Order::Due => {
                take(&mut sampler, Why::Interval, None, None, out)?;
                due = next(due, settings.interval_ns, clock::monotonic_ns());
            }
            Order::Mark(name) => take(&mut sampler, Why::Mark, Some(name), None, out)?,
            Order::Stop => break (End::Input, None),
            Order::Signal => break (End::Signal, None),
            Order::Wrong(why) => break (End::Order, Some(why)),
        }
    };
    take(&mut sampler, Why::Last, None, Some(end), out)?;
    wrong.map_or(Ok(end), |why| Err(ObserveError::Order(why)))
}

/// The next instant of the grid that lies ahead: what was missed is not made up for.
fn next(due: u64, interval: u64, now: u64) -> u64 {
    let missed = now.saturating_sub(due) / interval;
    due.saturating_add(interval.saturating_mul(missed + 1))
}

fn take(
    sampler: &mut Sampler,
    why: Why,
    mark: Option<String>,
    end: Option<End>,
    out: &mut impl Write,
) -> Result<(), ObserveError> {
    let mut reading = sampler.read();
    let memory_reading_ns = (why == Why::Mark).then(|| {
        sampler.read_costly(&mut reading.targets);
        clock::monotonic_ns().saturating_sub(reading.after.monotonic_ns)
    });
    let sample = Sample {
        why,
        mark,
        end,
        before: reading.before,
        after: reading.after,
        reading_ns: reading.after.monotonic_ns.saturating_sub(reading.before.monotonic_ns),
        memory_reading_ns,
        own_cpu_ns: clock::own_cpu_ns(),
        host: reading.host,
        targets: reading.targets,
    };
    write(out, &Observation::Sample(Box::new(sample)))
}

fn write(out: &mut impl Write, line: &Observation) -> Result<(), ObserveError> {
    let mut bytes = serde_json::to_vec(line).map_err(|error| ObserveError::Output(error.into()))?;
    bytes.push(b'\n');
    out.write_all(&bytes).and_then(|()| out.flush()).map_err(ObserveError::Output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stay_on_their_grid() {
        for (due, now, expected) in
            [(100, 100, 110), (100, 109, 110), (100, 110, 120), (100, 155, 160), (100, 90, 110)]
        {
            assert_eq!(next(due, 10, now), expected, "due {due}, now {now}");
        }
        assert_eq!(next(u64::MAX, 10, 0), u64::MAX);
    }
}
