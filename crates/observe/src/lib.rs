//! Raw counters of a host, so that a server on it can be observed where no laboratory runs.
//!
//! Knows /proc, /sys and control groups, and prints what they say, one JSON object a line. Must not
//! know load, servers or studies: no counter is judged here, and none becomes a rate. A counter that
//! can't be read is null, and never 0.
//!
//! ```text
//! run -> sampler -> machine, processes (-> census), groups -> files, parse -> observation
//! run -> orders, clock, error;   sampler -> target
//! ```
#![forbid(unsafe_code)]

mod census;
mod clock;
mod error;
mod files;
mod groups;
mod machine;
pub mod observation;
mod orders;
pub mod parse;
mod processes;
mod run;
mod sampler;
mod target;

pub use error::ObserveError;
pub use files::Places;
pub use orders::Orders;
pub use run::{Settings, observe};
pub use target::{Target, What};

/// JSON Schema of one line of an observation.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(observation::Observation)
}
