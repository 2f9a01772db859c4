//! How a connection is asked for: over TCP, with TLS or without, or over QUIC.
//!
//! Knows what all connections of a plan share for it. Must not know when one is asked for.

use std::time::Duration;

use wiretrial_net::quic::{QuicClientConfig, QuicClientSettings, TransportSettings, UdpSettings};
use wiretrial_net::{ClientTls, ClientTlsSettings, ConnectSpec, Driver, Key, NetError, Transport};

use super::AnyTransport;
use super::quic::QuicTransport;
use crate::clock::Nanos;
use crate::plan::Congestion;

/// Bytes that the kernel may keep of a connection until they are read, where it allows as many: what is
/// dropped there is a loss to the peer.
const UDP_BUFFER: usize = 1 << 20;
/// So often something goes where streams are held that may be silent: a server gives up what has been idle for some
/// time, and clients are to prevent that while replies are outstanding (RFC 9114 section 5.1).
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How connections are made.
#[derive(Debug, Clone)]
pub(crate) enum Dial {
    /// TCP.
    Plain,
    /// TLS over TCP.
    Tls(ClientTls),
    /// QUIC.
    Quic(Box<Quic>),
}

/// What all connections over QUIC share.
#[derive(Debug, Clone)]
pub(crate) struct Quic {
    config: QuicClientConfig,
    /// Streams of one connection that are asked for at once.
    streams: u32,
}

/// How connections over QUIC behave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Behaviour {
    /// Streams at once on each.
    pub(crate) streams: u32,
    /// Who decides how much may be on its way.
    pub(crate) congestion: Congestion,
    /// Messages go before the handshake's end, where they can.
    pub(crate) early_data: bool,
    /// They stay, though nothing may be said.
    pub(crate) held: bool,
    /// Their numbers follow from it, in a simulated world alone.
    pub(crate) seed: Option<u64>,
}

impl Dial {
    /// QUIC whose connections behave so.
    ///
    /// # Errors
    /// When the authorities can't be read, or the server's name is none.
    pub(crate) fn quic(tls: ClientTlsSettings, behaviour: Behaviour) -> Result<Self, NetError> {
        let Behaviour { streams, congestion, early_data, held, seed } = behaviour;
        let transport = TransportSettings {
            congestion: algorithm(congestion),
            // A server of HTTP/3 opens none of these.
            peer_bidirectional: 0,
            // The server decides for how long it keeps what is not used, as over TCP.
            idle_timeout: None,
            keep_alive: held.then_some(KEEP_ALIVE),
            ..TransportSettings::default()
        };
        let settings = QuicClientSettings {
            tls,
            early_data,
            transport,
            seed,
            ..QuicClientSettings::default()
        };
        Ok(Self::Quic(Box::new(Quic { config: QuicClientConfig::new(&settings)?, streams })))
    }

    /// Is it QUIC?
    pub(crate) const fn is_quic(&self) -> bool {
        matches!(self, Self::Quic(_))
    }

    /// Is there TLS above TCP?
    pub(crate) const fn has_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// Asks for a connection. Over QUIC a flush must follow, which sends the first datagram.
    ///
    /// # Errors
    /// What is known at once: no descriptors, no ports, no route, a source address that is not ours.
    pub(crate) fn ask(
        &self,
        driver: &mut Driver,
        key: Key,
        spec: &ConnectSpec,
        now: Nanos,
    ) -> Result<AnyTransport, NetError> {
        let quic = match self {
            Self::Plain => {
                return Ok(AnyTransport::Tcp(Transport::plain(driver.connect(key, spec)?)));
            }
            Self::Tls(tls) => {
                let socket = driver.connect(key, spec)?;
                return Ok(AnyTransport::Tcp(Transport::tls_client(socket, tls, driver)?));
            }
            Self::Quic(quic) => quic,
        };
        let udp = UdpSettings {
            source: spec.source,
            receive_buffer: Some(UDP_BUFFER),
            ..UdpSettings::default()
        };
        let Quic { config, streams } = &**quic;
        let transport = QuicTransport::ask(config, (spec.peer, &udp), *streams, (driver, key), now);
        Ok(AnyTransport::Quic(Box::new(transport?)))
    }
}

/// The same algorithm, as sockets know it.
pub(crate) const fn algorithm(wanted: Congestion) -> wiretrial_net::Congestion {
    match wanted {
        Congestion::Cubic => wiretrial_net::Congestion::Cubic,
        Congestion::NewReno => wiretrial_net::Congestion::NewReno,
        Congestion::Bbr => wiretrial_net::Congestion::Bbr,
    }
}
