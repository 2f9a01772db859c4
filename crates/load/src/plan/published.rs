//! What is published during a load, by the names that a plan gives.
//!
//! Knows names and defaults; must not know who can hear it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data of an event where nothing is said, bytes.
const USUAL_BYTES: u64 = 64;
/// From the begin of the load to the first event where nothing is said: one second.
const USUAL_SETTLE: u64 = 1_000_000_000;

/// Events that are published during the load, over one connection that is none of the load's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishDocument {
    /// `http` or `https` URL to which each event is posted; status 200 says that it is published.
    pub url: String,
    /// Events per second.
    pub rate: f64,
    /// Data of each event, bytes: its number, the instant at which it was due, and a pattern.
    #[serde(default = "usual_bytes")]
    pub bytes: u64,
    /// From the begin of the load to the first event, nanoseconds: in this time all streams have to be accepted.
    #[serde(default = "usual_settle")]
    pub settle_ns: u64,
    /// Receivers ask for what is published, again and again (long polling), each behind the number of what it had
    /// last: GET of the target with `after=N` in its query is answered with `{"last": N, "events": ["…"]}`. False: they
    /// hold streams of events or WebSockets.
    #[serde(default)]
    pub long_poll: bool,
    /// Header fields of each of these requests. Where `url` is of the target's origin (scheme, host and port; `ws` counts
    /// as `http`), the target's own go beside them, but for those of the same name; else they go alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
}

fn usual_bytes() -> u64 {
    USUAL_BYTES
}

fn usual_settle() -> u64 {
    USUAL_SETTLE
}
