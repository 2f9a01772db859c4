//! The echo of one WebSocket.
//!
//! Knows messages and the library's options; must not know listeners or certificates.

use std::io;

use futures_util::{StreamExt, TryStreamExt, future};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_tungstenite::accept_async_with_config;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

/// The largest message that is taken, in bytes.
const LARGEST: usize = 128 << 20;
/// What the library's documentation gives for many connections, in bytes.
const SMALL_BUFFER: usize = 4 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As the library's example has it.
    Default,
    /// With the options that its documentation gives for production.
    Tuned,
}

impl Manner {
    /// Sets the options of a connection's socket.
    pub(crate) fn prepare(self, stream: &TcpStream) -> io::Result<()> {
        match self {
            Self::Default => Ok(()),
            Self::Tuned => stream.set_nodelay(true),
        }
    }

    fn config(self) -> WebSocketConfig {
        let config = WebSocketConfig::default()
            .max_message_size(Some(LARGEST))
            .max_frame_size(Some(LARGEST));
        match self {
            Self::Default => config,
            Self::Tuned => config.read_buffer_size(SMALL_BUFFER),
        }
    }
}

/// Sends every message back until one side closes or breaks the protocol.
pub(crate) async fn echo<S>(stream: S, manner: Manner) -> Result<(), Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let socket = accept_async_with_config(stream, Some(manner.config())).await?;
    let (sender, receiver) = socket.split();
    // Pings and closes are answered by the library.
    receiver
        .try_filter(|message| future::ready(message.is_text() || message.is_binary()))
        .forward(sender)
        .await
}
