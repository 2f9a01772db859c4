//! The clocks of the shell, and the only place that reads them.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds on the monotonic clock.
pub(crate) fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Nanoseconds that the calling thread has been on a CPU.
pub(crate) fn thread_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
