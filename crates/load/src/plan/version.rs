//! Versions of HTTP, by the names that a plan gives them.
//!
//! Knows names; must not know what a version is spoken over.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Versions of HTTP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HttpVersionDocument {
    /// HTTP/1.1.
    #[default]
    #[serde(rename = "1.1")]
    One,
    /// HTTP/2.
    #[serde(rename = "2")]
    Two,
}
