//! The two clocks, and the only place that reads them.
//!
//! Knows nanoseconds. Must not know what they are for.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

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

/// Nanoseconds as a library takes them that has its own kind of instant. Any two are as far from each
/// other as the numbers are; the kernel's own instants are others.
pub(crate) fn instant(nanoseconds: u64) -> Instant {
    origin() + Duration::from_nanos(nanoseconds)
}

/// The number of an instant that [`instant`] made, or that a library made of one.
pub(crate) fn since_origin(instant: Instant) -> u64 {
    let since = instant.saturating_duration_since(origin());
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn origin() -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    #[expect(clippy::disallowed_methods, reason = "there is no other way to an instant")]
    *ORIGIN.get_or_init(Instant::now)
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
