//! Both sides of QUIC on sockets: a client's connection on a socket of its own, and a server.
//!
//! Knows when to read and what could not be sent yet. Must not know which poller tells readiness.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use crate::quic::client::ClientCore;
use crate::quic::connection::{Connection, Event};
use crate::quic::counters::{ServerCounters, SocketCounters};
use crate::quic::datagram::{Scratch, Transmit};
use crate::quic::ids::Share;
use crate::quic::server::{Handle, ServerCore};
use crate::quic::settings::{QuicClientConfig, QuicServerConfig};
use crate::quic::socket::{UdpSettings, UdpSocket};
use crate::{Driver, Flush, Key, NetError};

/// Reads before others have their turn.
const ROUNDS: usize = 16;

/// A client's connection and its socket.
#[derive(Debug)]
pub struct QuicClient {
    core: ClientCore,
    line: Line,
}

/// A server's connections and their socket.
#[derive(Debug)]
pub struct QuicServer {
    core: ServerCore,
    line: Line,
}

/// A socket, and what it did not take.
#[derive(Debug)]
struct Line {
    socket: UdpSocket,
    stuck: Option<(Transmit, Box<[u8]>)>,
}

impl QuicClient {
    /// Opens a socket and starts to connect; the first flush sends.
    ///
    /// # Errors
    /// What is known at once, as no route to the peer.
    pub fn connect(
        config: &QuicClientConfig,
        peer: SocketAddr,
        udp: &UdpSettings,
        now: u64,
    ) -> Result<Self, NetError> {
        let socket = UdpSocket::connect(peer, udp)?;
        let core = ClientCore::connect(config, peer, now)?;
        Ok(Self { core, line: Line { socket, stuck: None } })
    }

    /// The same, and a driver tells under this key when there is something to [receive](QuicClient::receive).
    ///
    /// # Errors
    /// As there.
    pub fn watched(
        driver: &mut Driver,
        key: Key,
        config: &QuicClientConfig,
        (peer, udp): (SocketAddr, &UdpSettings),
        now: u64,
    ) -> Result<Self, NetError> {
        let socket = UdpSocket::watched(driver, key, peer, udp)?;
        let core = ClientCore::connect(config, peer, now)?;
        Ok(Self { core, line: Line { socket, stuck: None } })
    }

    /// The connection, to open, write and read streams.
    pub fn connection(&mut self) -> &mut Connection {
        self.core.connection()
    }

    /// Whether an earlier session was resumed. None before the handshake's end.
    pub fn resumed(&self) -> Option<bool> {
        self.core.resumed()
    }

    /// Takes in what came. True: there may be more, and nothing tells it again.
    ///
    /// # Errors
    /// When the peer's machine says that nobody listens, or the kernel refuses. The connection may
    /// survive that: it ends by itself if the peer stays away.
    pub fn receive(&mut self, now: u64, scratch: &mut Scratch) -> Result<bool, NetError> {
        let core = &mut self.core;
        let Scratch { arena, incoming, .. } = scratch;
        for _ in 0..ROUNDS {
            let Some(arrival) = self.line.socket.receive(incoming)? else { return Ok(false) };
            core.receive(&arrival, &incoming[..arrival.length], now, arena);
        }
        Ok(true)
    }

    /// What happened next, or None when that was all.
    pub fn event(&mut self, now: u64) -> Option<Event> {
        self.core.event(now)
    }

    /// Sends what there is to be sent. Where it is not done, the socket tells when it is writable.
    ///
    /// # Errors
    /// As [`QuicClient::receive`].
    pub fn flush(&mut self, now: u64, scratch: &mut Scratch) -> Result<Flush, NetError> {
        self.line.flush(scratch, |out| self.core.transmit(now, out))
    }

    /// When [`QuicClient::on_deadline`] is to be called. None: not before something else happens.
    pub fn deadline(&mut self) -> Option<u64> {
        self.core.deadline()
    }

    /// Does what is due; a flush must follow. Too early is harmless.
    pub fn on_deadline(&mut self, now: u64) {
        self.core.on_deadline(now);
    }

    /// Goes on from another port, as a client whose network has changed does.
    ///
    /// # Errors
    /// As [`UdpSocket::connect`]; the connection stays on its socket then.
    pub fn rebind(&mut self, peer: SocketAddr, udp: &UdpSettings) -> Result<(), NetError> {
        self.line = Line { socket: UdpSocket::connect(peer, udp)?, stuck: None };
        self.core.connection().address_changed();
        Ok(())
    }

    /// Bytes sent and received through the socket so far.
    pub fn bytes(&self) -> (u64, u64) {
        self.line.socket.bytes()
    }

    /// What went through the socket so far.
    pub fn socket_counters(&self) -> SocketCounters {
        self.line.socket.counters()
    }
}

impl QuicServer {
    /// Opens a socket for all clients.
    ///
    /// # Errors
    /// When the address is in use, not ours, or not allowed.
    pub fn bind(
        config: &QuicServerConfig,
        address: SocketAddr,
        reuse_port: bool,
        udp: &UdpSettings,
    ) -> Result<Self, NetError> {
        let socket = UdpSocket::bind(address, reuse_port, udp)?;
        Ok(Self { core: ServerCore::new(config), line: Line { socket, stuck: None } })
    }

    /// Opens one of several sockets at an address. A connection stays with its socket wherever its client
    /// moves, as far as the kernel lets datagrams be dealt out by what is in them.
    ///
    /// # Errors
    /// As [`QuicServer::bind`].
    pub fn bind_share(
        config: &QuicServerConfig,
        address: SocketAddr,
        share: Share,
        udp: &UdpSettings,
    ) -> Result<Self, NetError> {
        let server = Self::bind(&config.shared(share), address, true, udp)?;
        server.line.socket.deal_by_connection(share.of);
        Ok(server)
    }

    /// The address at which it is.
    ///
    /// # Errors
    /// When the kernel has none for it.
    pub fn local_addr(&self) -> Result<SocketAddr, NetError> {
        self.line.socket.local_addr()
    }

    /// A connection, to open, write and read streams. None when it is over and forgotten.
    pub fn connection(&mut self, handle: Handle) -> Option<&mut Connection> {
        self.core.connection(handle)
    }

    /// Connections that are not over and forgotten.
    pub fn connections(&self) -> usize {
        self.core.connections()
    }

    /// Takes no new connection from here on: who comes is refused.
    pub fn refuse_new(&mut self) {
        self.core.refuse_new();
    }

    /// Takes in what came. True: there may be more, and nothing tells it again.
    ///
    /// # Errors
    /// When the kernel refuses to read.
    pub fn receive(&mut self, now: u64, scratch: &mut Scratch) -> Result<bool, NetError> {
        let core = &mut self.core;
        let Scratch { arena, incoming, .. } = scratch;
        for _ in 0..ROUNDS {
            match self.line.socket.receive(incoming) {
                Ok(Some(arrival)) => {
                    core.receive(&arrival, &incoming[..arrival.length], now, arena);
                }
                Ok(None) => return Ok(false),
                // A client that went away, as its machine says: one of many.
                Err(NetError::Refused | NetError::Unreachable) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// What happened next on any connection, or None when that was all.
    pub fn event(&mut self, now: u64) -> Option<(Handle, Event)> {
        self.core.event(now)
    }

    /// Sends what there is to be sent. Where it is not done, the socket tells when it is writable.
    ///
    /// # Errors
    /// When the kernel refuses to send at all.
    pub fn flush(&mut self, now: u64, scratch: &mut Scratch) -> Result<Flush, NetError> {
        loop {
            match self.line.flush(scratch, |out| self.core.transmit(now, out)) {
                Ok(flush) => return Ok(flush),
                // What one client cannot be sent is lost; the others get theirs.
                Err(NetError::Refused | NetError::Unreachable) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// When [`QuicServer::on_deadline`] is to be called. None: not before something else happens.
    pub fn deadline(&mut self) -> Option<u64> {
        self.core.deadline()
    }

    /// Does what is due; a flush must follow. Too early is harmless.
    pub fn on_deadline(&mut self, now: u64) {
        self.core.on_deadline(now);
    }

    /// What was decided so far.
    pub fn counters(&self) -> ServerCounters {
        self.core.counters()
    }

    /// Bytes sent and received through the socket so far.
    pub fn bytes(&self) -> (u64, u64) {
        self.line.socket.bytes()
    }

    /// What went through the socket so far.
    pub fn socket_counters(&self) -> SocketCounters {
        self.line.socket.counters()
    }
}

impl AsFd for QuicClient {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.line.socket.as_fd()
    }
}

impl AsFd for QuicServer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.line.socket.as_fd()
    }
}

impl Line {
    /// Sends what is stuck, then what `next` makes, until there is no more or no room.
    fn flush(
        &mut self,
        scratch: &mut Scratch,
        mut next: impl FnMut(&mut Vec<u8>) -> Option<Transmit>,
    ) -> Result<Flush, NetError> {
        let mut sent = 0;
        if let Some((transmit, bytes)) = self.stuck.take() {
            let taken = self.socket.send(&transmit, &bytes)?;
            sent += taken;
            if taken < bytes.len() {
                self.stuck = Some((transmit, bytes[taken..].into()));
                return Ok(Flush { bytes: sent, done: false });
            }
        }
        while let Some(transmit) = next(&mut scratch.outgoing) {
            let bytes = &scratch.outgoing[..transmit.length];
            let taken = self.socket.send(&transmit, bytes)?;
            sent += taken;
            if taken < bytes.len() {
                self.stuck = Some((transmit, bytes[taken..].into()));
                return Ok(Flush { bytes: sent, done: false });
            }
        }
        Ok(Flush { bytes: sent, done: true })
    }
}
