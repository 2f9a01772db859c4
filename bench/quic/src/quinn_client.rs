//! The client of quinn-proto. Knows that library; must not know what is timed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig,
    Event, ReadError, StreamEvent, StreamId,
};
use rustls::pki_types::CertificateDer;

use crate::Failure;
use crate::client::Client;
use crate::peer::{server_address, split, transport};

const BATCH: usize = 16;

pub(crate) struct Quinn {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    connection: Connection,
    /// Bytes of the reply so far, by stream.
    open: HashMap<StreamId, usize>,
    /// Streams that have something to read.
    readable: Vec<StreamId>,
    is_connected: bool,
    written: Vec<u8>,
}

impl Quinn {
    pub(crate) fn new(authority: CertificateDer<'static>) -> Result<Self, Failure> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(authority)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"h3".to_vec()];
        let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
        config.transport_config(transport());
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, false, None);
        let (handle, connection) =
            endpoint.connect(Instant::now(), config, server_address(), "localhost")?;
        Ok(Self {
            endpoint,
            handle,
            connection,
            open: HashMap::new(),
            readable: Vec::new(),
            is_connected: false,
            written: Vec::new(),
        })
    }

    fn events(&mut self) {
        while let Some(event) = self.connection.poll() {
            match event {
                Event::Connected => self.is_connected = true,
                Event::Stream(StreamEvent::Readable { id }) => self.readable.push(id),
                _ => {}
            }
        }
    }
}

impl Client for Quinn {
    fn is_connected(&self) -> bool {
        self.is_connected
    }

    fn ask(&mut self, request: &[u8]) -> Result<(), Failure> {
        let id = self.connection.streams().open(Dir::Bi).ok_or("no stream may be opened")?;
        let mut stream = self.connection.send_stream(id);
        if stream.write(request)? != request.len() {
            return Err("a request did not fit the window".into());
        }
        stream.finish()?;
        self.open.insert(id, 0);
        Ok(())
    }

    fn sent(&mut self) -> Result<Vec<BytesMut>, Failure> {
        let now = Instant::now();
        let mut out = Vec::new();
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(event);
            }
        }
        if self.connection.poll_timeout().is_some_and(|due| due <= now) {
            self.connection.handle_timeout(now);
        }
        while let Some(it) = self.connection.poll_transmit(now, BATCH, &mut self.written) {
            split(&mut self.written, &it, &mut out);
        }
        Ok(out)
    }

    fn take(&mut self, datagrams: Vec<BytesMut>) -> Result<(), Failure> {
        let now = Instant::now();
        for datagram in datagrams {
            let (from, written) = (server_address(), &mut self.written);
            if let Some(DatagramEvent::ConnectionEvent(_, event)) =
                self.endpoint.handle(now, from, None, None, datagram, written)
            {
                self.connection.handle_event(event);
            }
            self.written.clear();
        }
        self.events();
        Ok(())
    }

    fn replies(&mut self, length: usize) -> Result<usize, Failure> {
        let mut ended = 0;
        for id in std::mem::take(&mut self.readable) {
            let Some(count) = self.open.get_mut(&id) else { continue };
            let mut stream = self.connection.recv_stream(id);
            let mut chunks = stream.read(true)?;
            let has_ended = loop {
                match chunks.next(usize::MAX) {
                    Ok(Some(chunk)) => *count += chunk.bytes.len(),
                    Ok(None) => break true,
                    Err(ReadError::Blocked) => break false,
                    Err(error) => return Err(error.into()),
                }
            };
            let _ = chunks.finalize();
            if has_ended {
                if self.open.remove(&id) != Some(length) {
                    return Err("a reply of another length came".into());
                }
                ended += 1;
            }
        }
        Ok(ended)
    }
}
