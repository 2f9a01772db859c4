//! The client of quiche. Knows that library; must not know what is timed.

use std::collections::HashMap;

use bytes::BytesMut;

use crate::client::Client;
use crate::peer::{client_address, server_address};
use crate::{DATAGRAM, Failure};

/// Bytes that a stream or a connection may hold.
const WINDOW: u64 = 16 << 20;

pub(crate) struct Quiche {
    connection: quiche::Connection,
    next: u64,
    /// Bytes of the reply so far, by stream.
    open: HashMap<u64, usize>,
    buffer: Vec<u8>,
}

impl Quiche {
    pub(crate) fn new() -> Result<Self, Failure> {
        let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION)?;
        config.set_application_protos(&[b"h3"])?;
        // The certificate is checked once per connection, and only requests are timed.
        config.verify_peer(false);
        config.set_max_send_udp_payload_size(DATAGRAM.into());
        config.set_max_recv_udp_payload_size(DATAGRAM.into());
        config.set_initial_max_data(WINDOW);
        config.set_initial_max_stream_data_bidi_local(WINDOW);
        config.enable_pacing(false);
        let id = quiche::ConnectionId::from_ref(&[7; quiche::MAX_CONN_ID_LEN]);
        let connection = quiche::connect(
            Some("localhost"),
            &id,
            client_address(),
            server_address(),
            &mut config,
        )?;
        Ok(Self { connection, next: 0, open: HashMap::new(), buffer: vec![0; 65_536] })
    }
}

impl Client for Quiche {
    fn is_connected(&self) -> bool {
        self.connection.is_established()
    }

    fn ask(&mut self, request: &[u8]) -> Result<(), Failure> {
        if self.connection.stream_send(self.next, request, true)? != request.len() {
            return Err("a request did not fit the window".into());
        }
        self.open.insert(self.next, 0);
        // Streams of a client in both directions (RFC 9000, section 2.1).
        self.next += 4;
        Ok(())
    }

    fn sent(&mut self) -> Result<Vec<BytesMut>, Failure> {
        if self.connection.timeout().is_some_and(|left| left.is_zero()) {
            self.connection.on_timeout();
        }
        let mut out = Vec::new();
        loop {
            match self.connection.send(&mut self.buffer) {
                Ok((count, _)) => out.push(BytesMut::from(&self.buffer[..count])),
                Err(quiche::Error::Done) => return Ok(out),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn take(&mut self, datagrams: Vec<BytesMut>) -> Result<(), Failure> {
        let came = quiche::RecvInfo { from: server_address(), to: client_address() };
        for mut datagram in datagrams {
            self.connection.recv(&mut datagram, came)?;
        }
        Ok(())
    }

    fn replies(&mut self, length: usize) -> Result<usize, Failure> {
        let mut ended = 0;
        while let Some(id) = self.connection.stream_readable_next() {
            let Some(count) = self.open.get_mut(&id) else { continue };
            let has_ended = loop {
                match self.connection.stream_recv(id, &mut self.buffer) {
                    Ok((read, is_last)) => {
                        *count += read;
                        if is_last {
                            break true;
                        }
                    }
                    Err(quiche::Error::Done) => break false,
                    Err(error) => return Err(error.into()),
                }
            };
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
