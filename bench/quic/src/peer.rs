//! The server that both clients ask. Knows quinn-proto; must not know who asks.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    ServerConfig, StreamEvent, StreamId, Transmit, TransportConfig,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::{DATAGRAM, Failure, REPLY};

/// Most datagrams that one call may write.
const BATCH: usize = 16;

pub(crate) fn client_address() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 4000))
}

pub(crate) fn server_address() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 4433))
}

/// The same on both sides: datagrams of one size, no probes for larger ones.
pub(crate) fn transport() -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.initial_mtu(DATAGRAM).mtu_discovery_config(None);
    Arc::new(transport)
}

/// The datagrams of what was written by one call.
pub(crate) fn split(written: &mut Vec<u8>, transmit: &Transmit, out: &mut Vec<BytesMut>) {
    let size = transmit.segment_size.unwrap_or(transmit.size).max(1);
    out.extend(written[..transmit.size].chunks(size).map(BytesMut::from));
    written.clear();
}

pub(crate) struct Peer {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    authority: CertificateDer<'static>,
    open: Vec<StreamId>,
    out: Vec<BytesMut>,
    written: Vec<u8>,
}

impl Peer {
    pub(crate) fn new() -> Result<Self, Failure> {
        let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
        let authority = CertificateDer::from(own.cert);
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(vec![authority.clone()], key)?;
        tls.alpn_protocols = vec![b"h3".to_vec()];
        let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
        config.transport_config(transport());
        let endpoint =
            Endpoint::new(Arc::new(EndpointConfig::default()), Some(Arc::new(config)), false, None);
        Ok(Self {
            endpoint,
            connection: None,
            authority,
            open: Vec::new(),
            out: Vec::new(),
            written: Vec::new(),
        })
    }

    pub(crate) fn authority(&self) -> CertificateDer<'static> {
        self.authority.clone()
    }

    pub(crate) fn take(&mut self, datagrams: Vec<BytesMut>) {
        let now = Instant::now();
        for datagram in datagrams {
            let (from, written) = (client_address(), &mut self.written);
            match self.endpoint.handle(now, from, None, None, datagram, written) {
                Some(DatagramEvent::NewConnection(incoming)) => {
                    self.connection = self.endpoint.accept(incoming, now, written, None).ok();
                }
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    if let Some((_, connection)) = &mut self.connection {
                        connection.handle_event(event);
                    }
                }
                Some(DatagramEvent::Response(transmit)) => split(written, &transmit, &mut self.out),
                None => {}
            }
        }
        self.answer();
    }

    pub(crate) fn sent(&mut self) -> Vec<BytesMut> {
        let now = Instant::now();
        if let Some((handle, connection)) = &mut self.connection {
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            if connection.poll_timeout().is_some_and(|due| due <= now) {
                connection.handle_timeout(now);
            }
            while let Some(transmit) = connection.poll_transmit(now, BATCH, &mut self.written) {
                split(&mut self.written, &transmit, &mut self.out);
            }
        }
        std::mem::take(&mut self.out)
    }

    /// Answers each request that has ended.
    fn answer(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll() {
            if let Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) = event {
                while let Some(id) = connection.streams().accept(Dir::Bi) {
                    self.open.push(id);
                }
            }
        }
        self.open.retain(|&id| {
            let mut receiving = connection.recv_stream(id);
            let Ok(mut chunks) = receiving.read(true) else { return false };
            let has_ended = loop {
                match chunks.next(usize::MAX) {
                    Ok(Some(_)) => {}
                    Ok(None) => break true,
                    Err(_) => break false,
                }
            };
            let _ = chunks.finalize();
            if has_ended {
                let mut sending = connection.send_stream(id);
                // A reply is far below the window, so that it is taken whole.
                let _ = sending.write(&REPLY).and_then(|_| Ok(sending.finish()));
            }
            !has_ended
        });
    }
}
