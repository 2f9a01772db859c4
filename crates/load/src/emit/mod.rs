//! Where snapshots go.
//!
//! Knows forms of output; must not know how a run works.

mod http2;
mod http3;
mod ndjson;
mod routes;
mod text;
pub(crate) mod words;

pub use ndjson::Ndjson;
pub use text::Text;

use std::io;

use crate::measure::snapshot::Snapshot;

/// Takes the snapshots of one run, in order.
pub trait Emit {
    /// Takes the next one.
    ///
    /// # Errors
    /// It could not be written.
    fn emit(&mut self, snapshot: &Snapshot) -> io::Result<()>;
}
