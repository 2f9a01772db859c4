//! What a connection of QUIC may use, how it paces itself and whom it trusts: settings made once.
//!
//! Knows limits, keys and their defaults. Must not know sockets, nor any one connection.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use quinn_proto::crypto::rustls as quic_tls;
use quinn_proto::{
    ClientConfig, ConnectionId, EndpointConfig, MtuDiscoveryConfig, ServerConfig, TransportConfig,
    VarInt,
};
use ring::hmac;

use crate::congestion::Congestion;
use crate::quic::datagram::MOST_BYTES;
use crate::quic::ids::{Ids, Share};
use crate::random::Random;
use crate::tls::{Alpn, client_for_quic, server_for_quic};
use crate::{ClientTlsSettings, NetError};

/// How a connection behaves on either side. Windows are in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransportSettings {
    /// Which algorithm decides how much may be on its way.
    pub congestion: Congestion,
    /// What the peer may send on a stream before it is read here.
    pub stream_window: u32,
    /// What the peer may send on all streams together before it is read here.
    pub connection_window: u32,
    /// What is kept here of what was written and is not acknowledged, for all streams together.
    pub send_window: u64,
    /// Streams that the peer may have open at once, both sides sending.
    pub peer_bidirectional: u32,
    /// Streams that the peer may have open at once, the peer alone sending.
    pub peer_unidirectional: u32,
    /// Without a datagram for so long the connection is over. None: for as long as the peer agrees to.
    pub idle_timeout: Option<Duration>,
    /// A datagram at least this often, so that an idle connection stays.
    pub keep_alive: Option<Duration>,
    /// Bytes of the first datagrams, at least 1,200; all paths of QUIC must carry that.
    pub datagram_bytes: u16,
    /// The largest datagram that the path is probed for; with `datagram_bytes` or less there are no probes.
    pub most_datagram_bytes: u16,
    /// Datagrams that are made, and handed to the kernel, at a time (GSO). 1: each by itself.
    pub batch: usize,
}

impl Default for TransportSettings {
    /// Windows so large that they are not the limit where nobody asked for one.
    fn default() -> Self {
        Self {
            congestion: Congestion::Cubic,
            stream_window: 16 << 20,
            connection_window: 64 << 20,
            send_window: 64 << 20,
            peer_bidirectional: 256,
            peer_unidirectional: 16,
            idle_timeout: Some(Duration::from_secs(30)),
            keep_alive: None,
            datagram_bytes: 1200,
            most_datagram_bytes: 1452,
            batch: 32,
        }
    }
}

impl TransportSettings {
    fn config(&self) -> Result<Arc<TransportConfig>, NetError> {
        let mut config = TransportConfig::default();
        let idle = match self.idle_timeout {
            None => None,
            Some(timeout) => {
                Some(timeout.try_into().map_err(|_| unfit("an idle timeout", timeout))?)
            }
        };
        let probes = (self.most_datagram_bytes > self.datagram_bytes).then(|| {
            let mut probes = MtuDiscoveryConfig::default();
            probes.upper_bound(self.most_datagram_bytes);
            probes
        });
        config
            .stream_receive_window(self.stream_window.into())
            .receive_window(self.connection_window.into())
            .send_window(self.send_window)
            .max_concurrent_bidi_streams(self.peer_bidirectional.into())
            .max_concurrent_uni_streams(self.peer_unidirectional.into())
            .max_idle_timeout(idle)
            .keep_alive_interval(self.keep_alive)
            .initial_mtu(self.datagram_bytes)
            .mtu_discovery_config(probes)
            // QUIC's datagrams (RFC 9221) are not used here.
            .datagram_receive_buffer_size(None);
        match self.congestion {
            Congestion::Cubic => {
                config.congestion_controller_factory(Arc::new(CubicConfig::default()))
            }
            Congestion::NewReno => {
                config.congestion_controller_factory(Arc::new(NewRenoConfig::default()))
            }
            Congestion::Bbr => config.congestion_controller_factory(Arc::new(BbrConfig::default())),
        };
        Ok(Arc::new(config))
    }

    /// The largest datagram that is taken.
    fn accepted_bytes(&self) -> u16 {
        // What a peer sends on Ethernet, at least.
        self.most_datagram_bytes.max(self.datagram_bytes).clamp(1472, 65_527)
    }
}

/// How a client trusts its server and behaves towards it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuicClientSettings {
    /// As over TCP. QUIC needs an application protocol to agree on.
    pub tls: ClientTlsSettings,
    /// Sends before the handshake's end where an earlier session is resumed (0-RTT).
    pub early_data: bool,
    /// How the connection behaves.
    pub transport: TransportSettings,
    /// The version to begin with. None: 1 (RFC 9000).
    pub version: Option<u32>,
    /// Numbers of a connection follow from this seed, for a simulated world: never on a network.
    pub seed: Option<u64>,
}

/// Settings made ready. Clones share the sessions kept for resumption.
#[derive(Debug, Clone)]
pub struct QuicClientConfig {
    pub(super) endpoint: Arc<EndpointConfig>,
    pub(super) client: ClientConfig,
    pub(super) name: Arc<str>,
    pub(super) common: Common,
}

/// What both sides keep of their settings.
#[derive(Debug, Clone)]
pub(super) struct Common {
    pub(super) alpn: Arc<[Alpn]>,
    pub(super) congestion: Congestion,
    pub(super) batch: usize,
}

impl QuicClientConfig {
    /// Reads the authorities and checks the name.
    ///
    /// # Errors
    /// When the file is missing or holds no certificate, the name is none, or a limit cannot be told.
    pub fn new(settings: &QuicClientSettings) -> Result<Self, NetError> {
        let tls = client_for_quic(&settings.tls, settings.early_data)?;
        let crypto = quic_tls::QuicClientConfig::try_from(tls).map_err(|error| unusable(&error))?;
        let mut client = ClientConfig::new(Arc::new(crypto));
        client.transport_config(settings.transport.config()?);
        let mut endpoint = endpoint(&settings.transport, None, settings.seed)?;
        if let Some(version) = settings.version {
            client.version(version);
            endpoint.supported_versions(vec![version]);
        }
        if let Some(seed) = settings.seed {
            let id = ConnectionId::new(&Random::new(!seed).any().to_be_bytes());
            client.initial_dst_cid_provider(Arc::new(move || id));
        }
        let name = settings.tls.server_name.trim_start_matches('[').trim_end_matches(']');
        Ok(Self {
            endpoint: Arc::new(endpoint),
            client,
            name: name.into(),
            common: common(&settings.tls.alpn, &settings.transport),
        })
    }
}

/// A secret from which a server knows its connections again after it was started anew.
#[derive(Clone, PartialEq, Eq)]
pub struct ResetKey(pub [u8; 32]);

impl std::fmt::Debug for ResetKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ResetKey(…)")
    }
}

/// How a server names itself and behaves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuicServerSettings {
    /// PEM file with the certificate chain.
    pub cert: PathBuf,
    /// PEM file with its key.
    pub key: PathBuf,
    /// Application protocols, best first.
    pub alpn: Vec<Alpn>,
    /// Takes what a client that comes again sends before the handshake's end (0-RTT).
    pub early_data: bool,
    /// How connections behave.
    pub transport: TransportSettings,
    /// Has each client prove its address first, which takes it a round trip (Retry).
    pub retry: bool,
    /// Answers datagrams of unknown connections by a stateless reset, with tokens from this key. None:
    /// does not answer.
    pub reset: Option<ResetKey>,
    /// Connections at once; more are refused. None: any number.
    pub most_connections: Option<usize>,
    /// Numbers of connections follow from this seed, for a simulated world: never on a network.
    pub seed: Option<u64>,
}

/// Settings made ready. Clones share sessions and keys.
#[derive(Debug, Clone)]
pub struct QuicServerConfig {
    pub(super) endpoint: Arc<EndpointConfig>,
    pub(super) server: Arc<ServerConfig>,
    pub(super) common: Common,
    pub(super) retry: bool,
    pub(super) most_connections: usize,
    resets: bool,
}

impl QuicServerConfig {
    /// Reads the chain and the key.
    ///
    /// # Errors
    /// When a file is missing or holds something else, the key does not belong to the certificate, or
    /// a limit cannot be told.
    pub fn new(settings: &QuicServerSettings) -> Result<Self, NetError> {
        let QuicServerSettings { cert, key, alpn, .. } = settings;
        let tls = server_for_quic(cert, key, alpn, settings.early_data)?;
        let crypto = quic_tls::QuicServerConfig::try_from(tls).map_err(|error| unusable(&error))?;
        let mut server = ServerConfig::with_crypto(Arc::new(crypto));
        server.transport_config(settings.transport.config()?);
        let endpoint = endpoint(&settings.transport, settings.reset.as_ref(), settings.seed)?;
        Ok(Self {
            endpoint: Arc::new(endpoint),
            server: Arc::new(server),
            common: common(alpn, &settings.transport),
            retry: settings.retry,
            most_connections: settings.most_connections.unwrap_or(usize::MAX),
            resets: settings.reset.is_some(),
        })
    }

    /// The same for one of several sockets, whose connections are told by their numbers.
    pub(super) fn shared(&self, share: Share) -> Self {
        let (mut endpoint, resets) = ((*self.endpoint).clone(), self.resets);
        let ids = move || Ids { seeded: None, resets, share: Some(share) };
        endpoint.cid_generator(move || Box::new(ids()));
        Self { endpoint: Arc::new(endpoint), ..self.clone() }
    }
}

fn common(alpn: &[Alpn], transport: &TransportSettings) -> Common {
    // A batch is at most what the kernel takes as one, with the headers of IPv4 and UDP.
    let most = (MOST_BYTES - 28) / usize::from(transport.accepted_bytes());
    Common {
        alpn: alpn.into(),
        congestion: transport.congestion,
        batch: transport.batch.clamp(1, most.clamp(1, 64)),
    }
}

fn endpoint(
    transport: &TransportSettings,
    reset: Option<&ResetKey>,
    seed: Option<u64>,
) -> Result<EndpointConfig, NetError> {
    let mut config = EndpointConfig::default();
    // The drafts before it are nobody's any more.
    config.supported_versions(vec![1]);
    let bytes = transport.accepted_bytes();
    config.max_udp_payload_size(bytes).map_err(|_| unfit("a datagram's size", bytes))?;
    if let Some(ResetKey(key)) = reset {
        config.reset_key(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, key)));
    }
    let resets = reset.is_some();
    config.cid_generator(move || {
        Box::new(Ids { seeded: seed.map(Random::new), resets, share: None })
    });
    if let Some(seed) = seed {
        let mut random = Random::new(seed ^ 0x5eed);
        let mut bytes = [0; 32];
        for part in bytes.chunks_exact_mut(8) {
            part.copy_from_slice(&random.any().to_le_bytes());
        }
        config.rng_seed(Some(bytes));
    }
    Ok(config)
}

fn unusable(error: &quic_tls::NoInitialCipherSuite) -> NetError {
    NetError::Tls(format!("TLS cannot be set up for QUIC: {error}").into())
}

fn unfit(what: &str, value: impl std::fmt::Debug) -> NetError {
    NetError::Tls(format!("QUIC has no number for {what} of {value:?}").into())
}

/// A number as QUIC writes it; what is larger than any becomes the largest.
pub(super) fn number(value: u64) -> VarInt {
    VarInt::from_u64(value).unwrap_or(VarInt::MAX)
}
