//! What all connections of one target share.
//!
//! Knows what a valid upgrade request is made of; must not know how the answer is judged.

use super::deflate::{BadDeflate, DeflateConfig};
use crate::MessageKind;

/// Fields that the handshake writes itself, or that would give it a body.
const OWN_FIELDS: [&str; 9] = [
    "host",
    "upgrade",
    "connection",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-protocol",
    "sec-websocket-extensions",
    "content-length",
    "transfer-encoding",
];

/// The upgrade request and the limits of a WebSocket client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebSocketConfig {
    /// Value of the `Host` field.
    pub host: String,
    /// Path and query.
    pub target: String,
    /// Further fields of the upgrade request, in order.
    pub headers: Vec<(String, String)>,
    /// Subprotocols offered, the preferred one first; the server may choose one or none.
    pub subprotocols: Vec<String>,
    /// Kind of the messages sent: text or binary.
    pub kind: MessageKind,
    /// Longest message accepted, bytes; of a compressed one what comes out of it.
    pub max_message: u64,
    /// Compression to ask for. A server may decline.
    pub deflate: Option<DeflateConfig>,
    /// Refuse a server that declines: whoever measures compression must not measure something
    /// else unawares.
    pub insists_on_deflate: bool,
}

/// A configuration that cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadWebSocketConfig {
    /// The host is empty or has characters that a field value must not have.
    #[error("the host {0:?} cannot stand in a Host field")]
    Host(String),
    /// The target is no path.
    #[error("the target {0:?} must begin with / and have neither blanks nor controls nor #")]
    Target(String),
    /// A field's name is no token.
    #[error("the header name {0:?} is no token")]
    HeaderName(String),
    /// A field's value would break the head.
    #[error("the value of header {0:?} has control characters")]
    HeaderValue(String),
    /// A field that the handshake writes itself.
    #[error("the header {0:?} belongs to the handshake and cannot be set")]
    OwnHeader(String),
    /// A subprotocol is no token, or is there twice.
    #[error("the subprotocol {0:?} is no token or is given twice")]
    Subprotocol(String),
    /// Compression that nobody can agree to.
    #[error("deflate: {0}")]
    Deflate(#[from] BadDeflate),
    /// Messages are text or binary.
    #[error("a WebSocket message is text or binary")]
    Kind,
}

impl WebSocketConfig {
    /// Checks that the upgrade request can be written from this.
    ///
    /// # Errors
    /// The first part that cannot be sent.
    pub fn validate(&self) -> Result<(), BadWebSocketConfig> {
        if self.host.is_empty() || !self.host.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(BadWebSocketConfig::Host(self.host.clone()));
        }
        let in_target = |byte: u8| byte.is_ascii_graphic() && byte != b'#';
        if !self.target.starts_with('/') || !self.target.bytes().all(in_target) {
            return Err(BadWebSocketConfig::Target(self.target.clone()));
        }
        for (name, value) in &self.headers {
            check_header(name, value)?;
        }
        for (index, name) in self.subprotocols.iter().enumerate() {
            if !is_token(name) || self.subprotocols[..index].contains(name) {
                return Err(BadWebSocketConfig::Subprotocol(name.clone()));
            }
        }
        self.deflate.as_ref().map_or(Ok(()), DeflateConfig::validate)?;
        match self.kind {
            MessageKind::Text | MessageKind::Binary => Ok(()),
            MessageKind::Body | MessageKind::Stream => Err(BadWebSocketConfig::Kind),
        }
    }
}

fn check_header(name: &str, value: &str) -> Result<(), BadWebSocketConfig> {
    if !is_token(name) {
        return Err(BadWebSocketConfig::HeaderName(name.to_owned()));
    }
    if OWN_FIELDS.iter().any(|own| own.eq_ignore_ascii_case(name)) {
        return Err(BadWebSocketConfig::OwnHeader(name.to_owned()));
    }
    if value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
        return Err(BadWebSocketConfig::HeaderValue(name.to_owned()));
    }
    Ok(())
}

/// A token of RFC 9110 section 5.6.2.
fn is_token(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
