//! The upgrade, and the echo of one WebSocket.
//!
//! Knows messages and the library's options; must not know listeners or certificates.

use std::io;

use fastwebsockets::upgrade::{self, UpgradeFut};
use fastwebsockets::{FragmentCollector, OpCode, WebSocketError};
use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::unconstrained;

/// The largest frame that is taken, in bytes.
const LARGEST: usize = 128 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As the library's README has it.
    Default,
    /// As the example has it that its benchmarks measure.
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

    fn spawn(self, upgraded: UpgradeFut) {
        match self {
            Self::Default => tokio::spawn(echo(upgraded)),
            Self::Tuned => tokio::spawn(unconstrained(echo(upgraded))),
        };
    }
}

/// Answers the requests of one connection, until one of them makes it a WebSocket.
pub(crate) async fn answer<S>(stream: S, manner: Manner) -> hyper::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service_fn(|request| upgrade(request, manner)))
        .with_upgrades()
        .await
}

async fn upgrade(
    mut request: Request<Incoming>,
    manner: Manner,
) -> Result<Response<Empty<Bytes>>, WebSocketError> {
    let (response, upgraded) = upgrade::upgrade(&mut request)?;
    manner.spawn(upgraded);
    Ok(response)
}

/// Sends every message back until one side closes or breaks the protocol.
async fn echo(upgraded: UpgradeFut) -> Result<(), WebSocketError> {
    let mut socket = upgraded.await?;
    // A frame of this very length is refused already.
    socket.set_max_message_size(LARGEST + 1);
    let mut socket = FragmentCollector::new(socket);
    loop {
        let frame = socket.read_frame().await?;
        match frame.opcode {
            OpCode::Text | OpCode::Binary => socket.write_frame(frame).await?,
            OpCode::Close => return Ok(()),
            // Pings are answered by the library.
            _ => {}
        }
    }
}
