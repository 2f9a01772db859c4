//! What to serve, where, and with how much of the machine.
//!
//! Knows settings and which are invalid. Must not know how they are carried out.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use wiretrial_net::quic::{QuicServerConfig, QuicServerSettings, TransportSettings};
use wiretrial_net::{Alpn, Congestion, NetError, PollerKind, ServerTls};
use wiretrial_proto::websocket::{BadDeflate, DeflateConfig};

use crate::script::Script;
use crate::service::Service;

/// Streams that a client may have open on a connection.
pub(crate) const MAX_STREAMS: u32 = 1024;
/// What a connection of QUIC keeps of its answers until the client has them, bytes.
const SEND_WINDOW: u64 = 4 << 20;
/// Without a datagram for so long a connection of QUIC is over.
const IDLE: Duration = Duration::from_secs(600);

/// One server.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a server")]
pub struct ServerPlan {
    /// Addresses for HTTP and WebSocket. Port 0 lets the kernel choose. Who begins with HTTP/2 is
    /// answered in it.
    pub http: Vec<SocketAddr>,
    /// The same over TLS.
    pub https: Vec<SocketAddr>,
    /// Offers HTTP/2 to TLS clients (ALPN), before HTTP/1.1.
    pub http2: bool,
    /// Answers HTTP/3, too: on the UDP port of each number that `https` has.
    pub http3: bool,
    /// Takes requests of HTTP/3 before the handshake's end of clients that come again (0-RTT).
    pub early_data: bool,
    /// Addresses for the raw echo.
    pub tcp: Vec<SocketAddr>,
    /// The same over TLS.
    pub tls: Vec<SocketAddr>,
    /// Addresses for the table server (Styx, binary or JSON, as the client begins).
    pub styx: Vec<SocketAddr>,
    /// PEM file of the certificate chain; needed for `https` and `tls`.
    pub cert: Option<PathBuf>,
    /// PEM file of its private key.
    pub key: Option<PathBuf>,
    /// Threads, each with its own listeners, at least 1.
    pub threads: u32,
    /// CPUs that the threads are pinned to, in turn; empty: not pinned.
    pub cpus: Vec<u32>,
    /// How the threads learn which sockets are ready.
    pub poller: PollerKind,
    /// Who decides how much of the answers may be on its way, over TCP and QUIC; none: over TCP the
    /// kernel's default, over QUIC Cubic.
    pub congestion: Option<Congestion>,
    /// Gives each thread a descriptor table of its own, so that the limit of connections holds for
    /// each thread.
    pub own_descriptors: bool,
    /// Delays, stalls and faults.
    pub script: Script,
    /// Longest WebSocket message, in bytes, after decompression.
    pub max_message: u64,
    /// Compression of WebSocket messages (permessage-deflate) for clients that offer what this
    /// needs; none: no compression.
    pub deflate: Option<DeflateConfig>,
    /// A service of gRPC beside the server's own.
    pub service: Option<Arc<dyn Service>>,
}

impl Default for ServerPlan {
    fn default() -> Self {
        Self {
            http: Vec::new(),
            https: Vec::new(),
            http2: false,
            http3: false,
            early_data: false,
            tcp: Vec::new(),
            tls: Vec::new(),
            styx: Vec::new(),
            cert: None,
            key: None,
            threads: 1,
            cpus: Vec::new(),
            poller: PollerKind::Auto,
            congestion: None,
            own_descriptors: false,
            script: Script::default(),
            max_message: 1 << 30,
            deflate: None,
            service: None,
        }
    }
}

/// Why a server cannot start. Each message is one line with its remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RespondError {
    /// No address at all.
    #[error("nothing to serve: give at least one address for http, https, tcp, tls or styx")]
    NoAddress,
    /// No thread.
    #[error("a server needs at least 1 thread")]
    NoThreads,
    /// Invalid settings of the compression.
    #[error("deflate: {0}")]
    Deflate(#[from] BadDeflate),
    /// TLS without a certificate.
    #[error("https and tls need a certificate and its key: give both PEM files")]
    NoCertificate,
    /// An address cannot be listened on.
    #[error("{0}; give another address, or port 0 for a free one")]
    Listen(NetError),
    /// The kernel or the certificate refuses.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(String),
    /// A thread ended before it was told to.
    #[error("a server thread ended unexpectedly")]
    ThreadDied,
}

/// The protocol of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndpointKind {
    Http,
    Https,
    Tcp,
    Tls,
    Styx,
}

/// One address to listen on.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) kind: EndpointKind,
    pub(crate) address: SocketAddr,
    /// Where the kind is over TLS.
    pub(crate) tls: Option<ServerTls>,
    /// Where HTTP/3 is answered beside it.
    pub(crate) quic: Option<QuicServerConfig>,
    /// Of the connections of TCP.
    pub(crate) congestion: Option<Congestion>,
}

impl ServerPlan {
    /// The addresses, in the order http, https, tcp, tls, styx.
    pub(crate) fn endpoints(&self) -> Result<Vec<Endpoint>, RespondError> {
        if self.threads == 0 {
            return Err(RespondError::NoThreads);
        }
        self.deflate.as_ref().map_or(Ok(()), DeflateConfig::validate)?;
        self.congestion.map_or(Ok(()), Congestion::check_for_tcp)?;
        let offered = [Alpn::Http2, Alpn::Http11];
        let https = self.tls_for(&self.https, &offered[usize::from(!self.http2)..])?;
        let tls = self.tls_for(&self.tls, &[])?;
        let quic = self.quic()?;
        let kinds = [
            (EndpointKind::Http, &self.http, None),
            (EndpointKind::Https, &self.https, https),
            (EndpointKind::Tcp, &self.tcp, None),
            (EndpointKind::Tls, &self.tls, tls),
            (EndpointKind::Styx, &self.styx, None),
        ];
        let mut endpoints = Vec::new();
        for (kind, addresses, tls) in kinds {
            for &address in addresses {
                let quic = quic.clone().filter(|_| kind == EndpointKind::Https);
                let (tls, congestion) = (tls.clone(), self.congestion);
                endpoints.push(Endpoint { kind, address, tls, quic, congestion });
            }
        }
        if endpoints.is_empty() { Err(RespondError::NoAddress) } else { Ok(endpoints) }
    }

    /// For HTTP/3, where it is answered anywhere.
    fn quic(&self) -> Result<Option<QuicServerConfig>, RespondError> {
        let (Some(cert), Some(key)) = (self.cert.clone(), self.key.clone()) else {
            return Ok(None);
        };
        if !self.http3 || self.https.is_empty() {
            return Ok(None);
        }
        let settings = QuicServerSettings {
            cert,
            key,
            alpn: vec![Alpn::Http3],
            early_data: self.early_data,
            transport: TransportSettings {
                congestion: self.congestion.unwrap_or_default(),
                send_window: SEND_WINDOW,
                peer_bidirectional: MAX_STREAMS,
                idle_timeout: Some(IDLE),
                ..TransportSettings::default()
            },
            ..QuicServerSettings::default()
        };
        Ok(Some(QuicServerConfig::new(&settings)?))
    }

    fn tls_for(
        &self,
        addresses: &[SocketAddr],
        alpn: &[Alpn],
    ) -> Result<Option<ServerTls>, RespondError> {
        if addresses.is_empty() {
            return Ok(None);
        }
        let (Some(cert), Some(key)) = (&self.cert, &self.key) else {
            return Err(RespondError::NoCertificate);
        };
        Ok(Some(ServerTls::new(cert, key, alpn)?))
    }
}
