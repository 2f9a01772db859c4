//! One connection of a client, without a socket.
//!
//! Knows one endpoint with one connection. Must not know sockets or clocks.

use std::net::SocketAddr;
use std::sync::Arc;

use quinn_proto::{ConnectError, ConnectionHandle, DatagramEvent, Endpoint};

use crate::NetError;
use crate::clock::instant;
use crate::quic::connection::{Connection, Event};
use crate::quic::datagram::{Arena, Arrival, Transmit};
use crate::quic::settings::QuicClientConfig;
use crate::tls::certificate_was_shown;

/// A client's side of one connection: datagrams in, datagrams, events and a deadline out.
#[derive(Debug)]
pub struct ClientCore {
    endpoint: Box<Endpoint>,
    handle: ConnectionHandle,
    connection: Connection,
    /// The server has shown its certificate.
    was_shown: bool,
}

impl ClientCore {
    /// Starts to connect; the first datagrams wait to be transmitted.
    ///
    /// # Errors
    /// When the address is none to send to, or the settings do not do for QUIC.
    pub fn connect(
        config: &QuicClientConfig,
        peer: SocketAddr,
        now: u64,
    ) -> Result<Self, NetError> {
        let mut endpoint = Endpoint::new(Arc::clone(&config.endpoint), None, true, None);
        let (handle, connection) = endpoint
            .connect(instant(now), config.client.clone(), peer, &config.name)
            .map_err(|error| refused(&error))?;
        Ok(Self {
            endpoint: Box::new(endpoint),
            handle,
            connection: Connection::new(connection, &config.common, now),
            was_shown: false,
        })
    }

    /// The connection, to open, write and read streams.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Whether an earlier session was resumed. None before the handshake's end.
    pub fn resumed(&self) -> Option<bool> {
        (!self.connection.is_handshaking()).then_some(!self.was_shown)
    }

    /// Datagrams that came together.
    pub fn receive(&mut self, arrival: &Arrival, bytes: &[u8], now: u64, arena: &mut Arena) {
        let is_handshaking = self.connection.is_handshaking();
        if is_handshaking {
            // Of another connection, if any.
            certificate_was_shown();
        }
        for datagram in bytes.chunks(arrival.stride.max(1)) {
            let owned = arena.own(datagram);
            let heard = self.endpoint.handle(
                instant(now),
                arrival.from,
                arrival.to,
                arrival.mark(),
                owned,
                &mut arena.reply,
            );
            // A client has nothing to say to strangers.
            arena.reply.clear();
            if let Some(DatagramEvent::ConnectionEvent(_, event)) = heard {
                self.connection.take(event);
            }
        }
        if is_handshaking {
            self.was_shown |= certificate_was_shown();
        }
    }

    /// What happened next, or None when that was all.
    pub fn event(&mut self, now: u64) -> Option<Event> {
        self.connection.event(now)
    }

    /// Writes the next datagrams in place of what is in `out`. None: nothing now.
    pub fn transmit(&mut self, now: u64, out: &mut Vec<u8>) -> Option<Transmit> {
        self.connection.exchange(self.handle, &mut self.endpoint);
        self.connection.transmit(now, out)
    }

    /// When [`ClientCore::on_deadline`] is to be called. None: not before something else happens.
    pub fn deadline(&mut self) -> Option<u64> {
        self.connection.deadline()
    }

    /// Does what is due. Too early is harmless.
    pub fn on_deadline(&mut self, now: u64) {
        self.connection.on_deadline(now);
    }
}

fn refused(error: &ConnectError) -> NetError {
    NetError::Tls(format!("cannot connect by QUIC: {error}").into())
}
