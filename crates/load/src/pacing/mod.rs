//! When messages are due: pure sequences of instants.
//!
//! Knows rates and gaps. Must not know connections, replies or whether anybody
//! managed to send: that independence is what makes an open loop open.

mod constant;
mod poisson;
mod staged;

pub use constant::Constant;
pub use poisson::Poisson;
pub use staged::{Attendance, Course, Staged};

use crate::clock::Nanos;

/// An endless sequence of due instants that never go back.
#[derive(Debug, Clone)]
pub enum Pacer {
    /// Equal gaps.
    Constant(Constant),
    /// Exponential gaps.
    Poisson(Poisson),
    /// Either, at a rate that changes over time.
    Staged(Box<Staged>),
}

impl Pacer {
    /// The next instant, which [`advance`](Self::advance) takes.
    pub fn due(&self) -> Nanos {
        match self {
            Self::Constant(pacer) => pacer.due(),
            Self::Poisson(pacer) => pacer.due(),
            Self::Staged(pacer) => pacer.due(),
        }
    }

    /// Goes on to the instant after it.
    pub fn advance(&mut self) {
        match self {
            Self::Constant(pacer) => pacer.advance(),
            Self::Poisson(pacer) => pacer.advance(),
            Self::Staged(pacer) => pacer.advance(),
        }
    }
}
