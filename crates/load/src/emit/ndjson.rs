//! One JSON object per line, flushed, for machines.

use std::io::{self, Write};

use super::Emit;
use crate::measure::snapshot::Snapshot;

/// Writes newline-delimited JSON.
#[derive(Debug)]
pub struct Ndjson<W>(pub W);

impl<W: Write> Emit for Ndjson<W> {
    fn emit(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, snapshot)?;
        self.0.write_all(b"\n")?;
        self.0.flush()
    }
}
