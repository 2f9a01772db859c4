//! A client driver around tungstenite: one blocking WebSocket, one message in flight.
//!
//! Knows tungstenite and rustls; must not know how it is measured.

mod bounded;

use std::process::ExitCode;
use std::sync::Arc;

use bounded::{Bounded, Clock};
use bytes::Bytes;
use driver::{Client, Failure, Options};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Connector, HandshakeError, Message, WebSocket};

fn main() -> ExitCode {
    let version = driver::locked_version(include_str!("../Cargo.lock"), "tungstenite");
    let library = format!("tungstenite {version}");
    driver::drive("tungstenite-client", &library, &["ws", "wss"], SocketClient::open)
}

struct SocketClient {
    socket: WebSocket<MaybeTlsStream<Bounded>>,
    clock: Clock,
}

impl SocketClient {
    fn open(options: &Options) -> Result<Self, Failure> {
        let request = options.url.as_str().into_client_request()?;
        let clock = Clock::new(options.timeout);
        let stream = Bounded::connect(request.uri(), clock.clone())?;
        let connector = connector(&options.authority)?;
        // Messages of any size are read, where the library's default ends at 64 MiB.
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let (socket, _) =
            tungstenite::client_tls_with_config(request, stream, Some(config), Some(connector))
                .map_err(|error| match error {
                    HandshakeError::Failure(error) => error.into(),
                    HandshakeError::Interrupted(_) => Failure::from("the upgrade did not end"),
                })?;
        Ok(Self { socket, clock })
    }
}

impl Client for SocketClient {
    type Reply = Bytes;

    fn exchange(&mut self, message: &Bytes) -> Result<Bytes, Failure> {
        self.clock.restart();
        self.socket.send(Message::Binary(message.clone()))?;
        match self.socket.read()? {
            Message::Binary(reply) => Ok(reply),
            other => Err(format!("wrong reply: {other:?} instead of a binary message").into()),
        }
    }

    /// The closing handshake, up to the server's end of the connection.
    fn close(mut self) {
        self.clock.restart();
        if self.socket.close(None).is_ok() {
            while self.socket.read().is_ok() {}
        }
    }

    fn opened(&self) -> u64 {
        1
    }
}

/// TLS that trusts this authority only, without sessions from before; or none without authority.
fn connector(authority: &[u8]) -> Result<Connector, Failure> {
    if authority.is_empty() {
        return Ok(Connector::Plain);
    }
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authority) {
        roots.add(certificate?)?;
    }
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    Ok(Connector::Rustls(Arc::new(config)))
}
