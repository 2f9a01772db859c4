//! Versions of HTTP, by the names that a plan gives them.
//!
//! Knows names; must not know what a version is spoken over.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// HTTP parts of a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpDocument {
    /// What is spoken (http, https): 2 by ALPN, without TLS from the first byte. Its streams are `load.depth`.
    pub version: HttpVersionDocument,
    /// Request method; null: `GET` without a payload, `POST` with one.
    pub method: Option<String>,
    /// Further header fields, in order.
    pub headers: Vec<(String, String)>,
    /// Each reply is a stream of events (`text/event-stream`), which is held; a message is an event.
    pub sse: bool,
}

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
