//! How HTTP is spoken, by the names that a plan gives: versions, the windows of HTTP/2, and congestion control.
//!
//! Knows names and bounds; must not know what a version is spoken over.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wiretrial_proto::http2::Http2Limits;

use super::profile::HeaderProfile;

/// HTTP parts of a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpDocument {
    /// What is spoken (http, https): 2 by ALPN, without TLS from the first byte; 3 over QUIC, https, wss and grpcs alone.
    /// Streams of both are `load.depth`.
    pub version: HttpVersionDocument,
    /// Windows of HTTP/2; null: the usual ones, wide enough for nearly all.
    pub windows: Option<WindowsDocument>,
    /// Which algorithm decides how much of what is sent may be on its way, over TCP of any protocol and over QUIC; null:
    /// the kernel's default, and cubic over QUIC.
    pub congestion: Option<Congestion>,
    /// Requests on a new connection of HTTP/3 go before the handshake's end, where an earlier session is resumed and the
    /// server takes them (0-RTT).
    pub early_data: bool,
    /// Request method; null: `GET` without a payload, `POST` with one.
    pub method: Option<String>,
    /// Further header fields, in order.
    pub headers: Vec<(String, String)>,
    /// Ten more, like those of a browser (http, https); null: none. A further field of the same name takes the place of
    /// one of them.
    pub header_profile: Option<HeaderProfile>,
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
    /// HTTP/3.
    #[serde(rename = "3")]
    Three,
    /// Over TLS whichever of both the server picks (ALPN), HTTP/2 offered first; without TLS HTTP/1.1.
    #[serde(rename = "auto")]
    Auto,
}

/// Algorithms that decide how much may be on its way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Congestion {
    /// RFC 9438.
    #[default]
    Cubic,
    /// RFC 9002, appendix B; of TCP the kernel's `reno`.
    NewReno,
    /// BBR, version 1.
    Bbr,
}

/// What the server may send over HTTP/2 before it is allowed more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WindowsDocument {
    /// On a stream, bytes; null: 4 MiB.
    pub stream: Option<u32>,
    /// On all streams of a connection together, bytes; null: 64 MiB.
    pub connection: Option<u32>,
    /// Those that are given are what the load is about: that they hold the server back is part of the result. Where
    /// false, a load that is held back by a window says nothing of the server.
    pub are_factor: bool,
}

/// The widest window that there is (RFC 9113 section 6.9.1), bytes.
const WIDEST: u32 = (1 << 31) - 1;
/// What a connection's window begins with, and never falls below by a setting.
const LEAST_OF_CONNECTION: u32 = 65_535;

/// What the server may send over HTTP/2 before it is allowed more, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// On a stream.
    pub stream: u32,
    /// On all streams of a connection together.
    pub connection: u32,
}

impl Default for Windows {
    fn default() -> Self {
        let usual = Http2Limits::default();
        Self { stream: usual.stream_window, connection: usual.connection_window }
    }
}

impl Windows {
    /// Windows that a connection can have.
    ///
    /// # Errors
    /// One that it can't have, and the remedy.
    pub(super) fn new(document: &WindowsDocument) -> Result<Self, String> {
        let usual = Self::default();
        let stream = document.stream.unwrap_or(usual.stream);
        if !(1..=WIDEST).contains(&stream) {
            return Err(format!("http.windows.stream: {stream} is outside 1 to {WIDEST} bytes"));
        }
        let connection = document.connection.unwrap_or(usual.connection);
        if !(LEAST_OF_CONNECTION..=WIDEST).contains(&connection) {
            return Err(format!(
                "http.windows.connection: {connection} is outside {LEAST_OF_CONNECTION} (what a connection begins with) to {WIDEST} bytes"
            ));
        }
        Ok(Self { stream, connection })
    }
}
