//! What the generator itself may use, as it crosses the seam.
//!
//! Knows the names and defaults of the JSON; must not know what a machine has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the generator itself may use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GeneratorDocument {
    /// Worker threads.
    pub threads: u32,
    /// CPUs to pin the workers to, in turn; empty: not pinned.
    pub cpus: Vec<u32>,
    /// How readiness is learned.
    pub poller: PollerDocument,
    /// Poll without sleeping while a message is due soon.
    pub spin: bool,
}

impl Default for GeneratorDocument {
    fn default() -> Self {
        Self { threads: 1, cpus: Vec::new(), poller: PollerDocument::Auto, spin: false }
    }
}

/// How readiness is learned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PollerDocument {
    /// `uring`; `epoll` where there is none, and the `start` line says why.
    #[default]
    Auto,
    /// `io_uring(7)`; a machine without it is refused.
    Uring,
    /// epoll(7).
    Epoll,
}
