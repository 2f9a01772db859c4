//! A link between two network namespaces, carried in user space over TUN devices.
//!
//! Knows packets as lengths with a time, devices, and the kernel's clock. Must not know what the
//! packets say, but for the ports that a [`Nat`] changes, nor who measures over the link.
//!
//! The core is pure: a [`Path`] decides what becomes of each packet of one direction and when, and
//! a [`Line`] holds packets until then. Both live under any clock, and are tested under a simulated
//! one. The shell ([`Device`], [`carry`]) reads, waits and writes.

mod carry;
mod clock;
mod counters;
mod device;
mod error;
mod line;
mod nat;
mod path;
mod quantity;
mod random;
mod shape;
#[allow(unsafe_code, reason = "calls that rustix has no safe face for")]
mod sys;

pub use carry::{Account, Direction, Ends, Orders, Settings, carry};
pub use counters::{Carried, Counters, LATE_NS};
pub use device::{Device, Namespace};
pub use error::LinkError;
pub use line::Line;
pub use nat::Nat;
pub use path::{Fate, Path};
pub use shape::{Blackhole, Distribution, Jitter, Loss, Queue, Rate, Reorder, Shape, ShapeError};
