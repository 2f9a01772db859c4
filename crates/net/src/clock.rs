//! The two clocks, and the only place that reads them.
//!
//! Knows nanoseconds. Must not know what they are for.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds on the monotonic clock, from an origin that is the same for
/// all processes of one machine since its start.
pub fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Nanoseconds since 1970-01-01 UTC. For labels only: it can jump.
pub fn realtime_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime))
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Of which start of which machine the monotonic clock is, in hexadecimal digits and dashes; empty
/// where the kernel does not tell. Instants of two processes are of one clock where this is the same.
pub fn monotonic_identity() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}
