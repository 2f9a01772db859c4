//! The seam's schemas, generated from the types themselves.

use schemars::{Schema, schema_for};

use crate::exchange::Told;
use crate::measure::snapshot::Snapshot;
use crate::plan::PlanDocument;

/// JSON Schema of a plan.
pub fn plan() -> Schema {
    schema_for!(PlanDocument)
}

/// JSON Schema of one line of output of a run.
pub fn snapshot() -> Schema {
    schema_for!(Snapshot)
}

/// JSON Schema of one line of output of `ask`.
pub fn exchange() -> Schema {
    schema_for!(Told)
}
