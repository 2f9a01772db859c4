//! Texts with holes as they cross the seam, part by part.
//!
//! Knows the names of the JSON; must not know where a text stands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PartDocument {
    /// As it stands.
    Text(String),
    /// The value with this name: a column of the flow's feed, or a capture of an earlier step.
    Value(String),
    /// The same, percent-encoded but for letters, digits and `-._~`: for queries, forms and segments of paths.
    Url(String),
    /// The same, as it stands inside a string of JSON.
    Json(String),
    /// Made by the engine.
    Make(MadeDocument),
}

/// What the engine makes for each message; the same wherever it stands in the message and in what is expected of
/// its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MadeDocument {
    /// The message's number, unlike all others of the run.
    Seq,
    /// The user's number, from 0, among all connections.
    User,
    /// The session's number, unlike all others of the run.
    Iteration,
    /// A UUID (version 4), drawn by the seed and the message's number.
    Uuid,
    /// When the message was due: RFC 3339, UTC, with microseconds.
    Time,
}
