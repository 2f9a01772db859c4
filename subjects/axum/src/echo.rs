//! The route to the echo, and the echo of one WebSocket.
//!
//! Knows messages and axum's options; must not know listeners or certificates.

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::any;

/// The largest message that is taken, in bytes.
const LARGEST: usize = 128 << 20;
/// What tungstenite's documentation gives for many connections, in bytes.
const SMALL_BUFFER: usize = 4 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As axum's example has it.
    Default,
    /// With the options that its documentation gives for production.
    Tuned,
}

impl Manner {
    fn configure(self, upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
        let upgrade = upgrade.max_message_size(LARGEST).max_frame_size(LARGEST);
        match self {
            Self::Default => upgrade,
            Self::Tuned => upgrade.read_buffer_size(SMALL_BUFFER),
        }
    }
}

pub(crate) fn routes(manner: Manner) -> Router {
    Router::new().route("/", any(upgrade)).with_state(manner)
}

async fn upgrade(State(manner): State<Manner>, upgrade: WebSocketUpgrade) -> Response {
    manner.configure(upgrade).on_upgrade(echo)
}

/// Sends every message back until one side closes or breaks the protocol.
async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        // Pings and closes are answered by the library.
        if !matches!(message, Message::Text(_) | Message::Binary(_)) {
            continue;
        }
        if socket.send(message).await.is_err() {
            return;
        }
    }
}
