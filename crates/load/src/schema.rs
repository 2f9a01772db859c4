//! The seam's two schemas, generated from the types themselves.

use schemars::{Schema, schema_for};

use crate::measure::snapshot::Snapshot;
use crate::plan::PlanDocument;

/// JSON Schema of a plan.
pub fn plan() -> Schema {
    schema_for!(PlanDocument)
}

/// JSON Schema of one line of output.
pub fn snapshot() -> Schema {
    schema_for!(Snapshot)
}
