//! The load generator: a plan goes in, snapshots come out.
//!
//! Knows load models, timing and verification. Protocols are `proto`'s, sockets are `net`'s.
#![forbid(unsafe_code)]

mod ask;
pub mod clock;
mod connection;
mod control;
pub mod deliveries;
pub mod emit;
pub mod exchange;
pub mod executor;
mod judging;
mod machine;
pub mod measure;
mod mutation;
mod outgoing;
pub mod pacing;
pub mod plan;
mod preflight;
mod protocol;
mod reach;
mod run;
pub mod schema;
#[cfg(test)]
mod simulation;
pub mod source;
mod users;
mod worker;

pub use ask::{Asking, ask};
pub use control::Control;
pub use preflight::{Refusal, Shortage};
pub use run::{RunError, run};
