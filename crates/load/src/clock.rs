//! Time as the load generator counts it: nanoseconds since the run's own start.
//!
//! Knows instants and differences; must not know what they are used for. Only the worker
//! and the run read the monotonic clock; everything else is handed `now`, so that tests
//! drive it with a clock that they move themselves.

use std::cell::Cell;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

/// An instant (offset from the run's start) or a length of time, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The run's start, or no time at all.
    pub const ZERO: Self = Self(0);
    /// Later than everything.
    pub const MAX: Self = Self(u64::MAX);

    /// Whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// Whole seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// As the standard library's duration.
    pub const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

/// Saturates: an instant near [`Nanos::MAX`] stays "never".
impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Saturates at zero: a difference of instants that came out of order is no time.
impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// Something that tells the time.
pub trait Clock {
    /// Now.
    fn now(&self) -> Nanos;
}

/// The machine's monotonic clock, counted from the run's start. Wall-clock jumps don't touch it.
#[derive(Debug, Clone, Copy)]
pub struct Monotonic {
    origin: u64,
}

impl Monotonic {
    /// A clock that reads zero now.
    pub fn start() -> Self {
        Self { origin: wiretrial_net::clock::monotonic_ns() }
    }

    /// A clock that reads zero at this instant of the machine's own, and before it.
    pub const fn since(origin: u64) -> Self {
        Self { origin }
    }

    /// What the machine's own clock says where this one reads zero, nanoseconds.
    pub const fn origin(&self) -> u64 {
        self.origin
    }

    /// How long it still reads zero.
    pub fn until_start(&self) -> Nanos {
        Nanos(self.origin) - Nanos(wiretrial_net::clock::monotonic_ns())
    }
}

impl Clock for Monotonic {
    fn now(&self) -> Nanos {
        Nanos(wiretrial_net::clock::monotonic_ns().saturating_sub(self.origin))
    }
}

/// A clock that stands until it is moved.
#[derive(Debug, Default)]
pub struct Simulated {
    now: Cell<Nanos>,
}

impl Simulated {
    /// Moves to `instant`, which must not lie in the past.
    pub fn advance_to(&self, instant: Nanos) {
        debug_assert!(instant >= self.now.get(), "simulated time runs forward");
        self.now.set(instant);
    }
}

impl Clock for Simulated {
    fn now(&self) -> Nanos {
        self.now.get()
    }
}
