//! Conversations over Socket.IO: what is said in JSON with a type, as events and acknowledgements.
//!
//! Knows the server codec. Must not know what is said.

use serde_json::{Value, json};
use wiretrial_proto::socketio::SocketIoServer;

/// What an event carries.
pub(super) fn heard(arguments: &[u8]) -> Vec<u8> {
    let event: Value = serde_json::from_slice(arguments).unwrap_or_default();
    event[1].to_string().into_bytes()
}

/// Says this: an answer as the acknowledgement of this number, and all else as an event.
pub(super) fn say(codec: &mut SocketIoServer, number: u64, body: &[u8], out: &mut Vec<u8>) {
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    match said["type"].as_str() {
        Some(kind) if !kind.ends_with("ack") => {
            codec.emit(json!([kind, said]).to_string().as_bytes(), out);
        }
        // Also what is no JSON.
        _ => codec.acknowledge(number, &[b"[", body, b"]"].concat(), out),
    }
}
