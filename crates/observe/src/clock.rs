//! The clocks, and the only place that reads them. All in nanoseconds.

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::observation::Instants;

/// The monotonic clock, whose origin is the same for all processes of a machine since its start.
pub(crate) fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Since the machine's start, suspended time included: what start times of processes are counted in.
pub(crate) fn boottime_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Boottime))
}

/// The monotonic clock and the wall clock, one right after the other.
pub(crate) fn instants() -> Instants {
    Instants {
        monotonic_ns: monotonic_ns(),
        real_ns: nanoseconds(clock_gettime(ClockId::Realtime)),
    }
}

/// CPU time of this process, all its threads together.
pub(crate) fn own_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ProcessCPUTime))
}

fn nanoseconds(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    seconds.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}
