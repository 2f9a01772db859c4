//! One TCP socket: what is to be sent on it and what has passed through it.
//!
//! Knows file descriptors and socket options. Must not know how readiness is
//! told, that is the driver's.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendFlags, Shutdown, SocketFlags, SocketType, bind, ipproto, listen,
    socket_with, sockopt,
};

use crate::congestion::{self, Congestion};
use crate::{Key, NetError, sys};

/// A buffer larger than this is given back once it is empty: with many
/// connections, one large message each must not stay allocated.
const KEPT_CAPACITY: usize = 64 * 1024;

/// How many handshakes may wait for `accept`; the kernel caps it at
/// `net.core.somaxconn`.
const BACKLOG: i32 = 65_535;

/// How to open a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectSpec {
    /// Whom to connect to.
    pub peer: SocketAddr,
    /// The local address to come from; None lets the kernel choose.
    pub source: Option<IpAddr>,
    /// Sends small segments at once (`TCP_NODELAY`).
    pub nodelay: bool,
    /// The kernel's receive buffer in bytes (`SO_RCVBUF`); None leaves it to
    /// the kernel's own tuning.
    pub receive_buffer: Option<u32>,
    /// Who decides how much may be on its way (`TCP_CONGESTION`); None leaves
    /// it to the kernel's default.
    pub congestion: Option<Congestion>,
}

/// A non-blocking TCP connection that belongs to one driver.
#[derive(Debug)]
pub struct Socket {
    /// Bytes to send. Append here, then flush: the driver empties it. The
    /// front part may already be with the kernel, so never edit it.
    pub out: Vec<u8>,
    pub(crate) fd: OwnedFd,
    pub(crate) key: Key,
    /// How much of `out` the kernel has taken.
    pub(crate) taken: usize,
    pub(crate) state: State,
    /// Readability is wanted.
    pub(crate) reading: bool,
    /// The peer's FIN was seen.
    pub(crate) ended: bool,
    /// FIN is to be sent once `out` is empty.
    pub(crate) finishing: bool,
    /// What the epoll set was last told to watch, in its own coding; zero:
    /// nothing.
    pub(crate) registered: u32,
    /// Its index in the table of a poller that keeps one.
    pub(crate) index: u32,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
}

/// How far the TCP handshake is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Connecting,
    Connected,
}

/// A listening socket that belongs to one driver.
#[derive(Debug)]
pub struct Listener {
    pub(crate) fd: OwnedFd,
    pub(crate) key: Key,
    local: SocketAddr,
}

/// What the kernel knows of a connection. Times in microseconds; zero where
/// the kernel is too old to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpInfo {
    /// Smoothed round trip time.
    pub rtt_us: u32,
    /// Its mean deviation.
    pub rtt_variation_us: u32,
    /// The least round trip seen.
    pub min_rtt_us: u32,
    /// Congestion window, in segments.
    pub congestion_window: u32,
    /// Segments sent again since the start.
    pub retransmits: u32,
    /// Segments sent, with those sent again.
    pub segments_out: u32,
    /// Segments received.
    pub segments_in: u32,
    /// Bytes that the peer has acknowledged.
    pub bytes_acked: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Bytes that wait in the kernel and were never sent.
    pub unsent_bytes: u32,
    /// How long there was something to send.
    pub busy_us: u64,
    /// Part of it in which the peer's window was the limit.
    pub receive_window_limited_us: u64,
    /// Part of it in which the own send buffer was the limit.
    pub send_buffer_limited_us: u64,
}

impl Socket {
    /// The address of this end.
    ///
    /// # Errors
    /// When the kernel has none for it.
    pub fn local_addr(&self) -> Result<SocketAddr, NetError> {
        let address = rustix::net::getsockname(&self.fd)?;
        SocketAddr::try_from(address).map_err(NetError::from)
    }

    /// The key under which readiness of this socket is told.
    pub fn key(&self) -> Key {
        self.key
    }

    /// Bytes of `out` that the kernel has not taken yet.
    pub fn pending(&self) -> usize {
        self.out.len() - self.taken
    }

    /// Bytes handed to and received from the kernel so far.
    pub fn bytes(&self) -> (u64, u64) {
        (self.bytes_sent, self.bytes_received)
    }

    /// The kernel's own account of the connection.
    ///
    /// # Errors
    /// When the kernel refuses to tell.
    pub fn tcp_info(&self) -> Result<TcpInfo, NetError> {
        let raw = sys::tcp_info(self.fd.as_fd())?;
        Ok(TcpInfo::from_kernel(&raw))
    }

    /// The congestion control in use, by the kernel's name of it.
    ///
    /// # Errors
    /// When the kernel refuses to tell.
    pub fn congestion(&self) -> Result<String, NetError> {
        congestion::of(self.fd.as_fd())
    }

    /// Opens the socket and sends SYN; the result is not known yet.
    pub(crate) fn connect(key: Key, spec: &ConnectSpec) -> Result<Self, NetError> {
        let fd = open(spec.peer)?;
        if spec.nodelay {
            sockopt::set_tcp_nodelay(&fd, true)?;
        }
        if let Some(bytes) = spec.receive_buffer {
            sockopt::set_socket_recv_buffer_size(&fd, bytes as usize)?;
        }
        if let Some(wanted) = spec.congestion {
            congestion::set(fd.as_fd(), wanted)?;
        }
        if let Some(source) = spec.source {
            bind_source(&fd, source)?;
        }
        match rustix::net::connect(&fd, &spec.peer) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => {}
            Err(errno) => {
                return Err(NetError::doing(format!("cannot connect to {}", spec.peer), errno));
            }
        }
        Ok(Self::new(fd, key, State::Connecting))
    }

    pub(crate) fn new(fd: OwnedFd, key: Key, state: State) -> Self {
        Self {
            out: Vec::new(),
            fd,
            key,
            taken: 0,
            state,
            reading: true,
            ended: false,
            finishing: false,
            registered: 0,
            index: 0,
            bytes_sent: 0,
            bytes_received: 0,
        }
    }

    /// Notes that the kernel took `count` more bytes of `out`.
    pub(crate) fn advance(&mut self, count: usize) {
        self.bytes_sent += count as u64;
        self.taken += count;
        trim(&mut self.out, &mut self.taken);
    }

    /// Hands bytes to the kernel and says how many it took.
    pub(crate) fn send(&self, bytes: &[u8]) -> Result<usize, NetError> {
        match rustix::net::send(&self.fd, bytes, SendFlags::NOSIGNAL) {
            Ok(count) => Ok(count),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(errno) => Err(NetError::doing("cannot send", errno)),
        }
    }

    /// Sends FIN.
    pub(crate) fn finish(&self) {
        // Not connected any more: then the peer knows already.
        let _ = rustix::net::shutdown(&self.fd, Shutdown::Write);
    }

    /// The pending error, which the kernel forgets by telling it.
    pub(crate) fn take_error(&self) -> Result<(), NetError> {
        sockopt::socket_error(&self.fd)??;
        Ok(())
    }
}

impl Listener {
    /// The address that it listens on, with the port that was chosen where 0
    /// was asked for.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// The key under which readiness of this listener is told.
    pub fn key(&self) -> Key {
        self.key
    }

    /// Has the connections that are accepted from now on use this congestion
    /// control for what they send.
    ///
    /// # Errors
    /// As of [`Congestion::check_for_tcp`].
    pub fn set_congestion(&self, wanted: Congestion) -> Result<(), NetError> {
        // Accepted sockets inherit it, where it was said of the listener.
        congestion::set(self.fd.as_fd(), wanted)
    }

    /// The next connection that waits.
    pub(crate) fn accept(&self) -> Result<Option<(OwnedFd, SocketAddr)>, NetError> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        match rustix::net::acceptfrom_with(&self.fd, flags) {
            Ok((fd, Some(peer))) => Ok(Some((fd, SocketAddr::try_from(peer)?))),
            // A peer that left while it waited is no failure of the listener.
            Ok((_, None)) | Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(None),
            Err(errno) => Err(NetError::doing("cannot accept a connection", errno)),
        }
    }

    pub(crate) fn open(key: Key, address: SocketAddr, reuse_port: bool) -> Result<Self, NetError> {
        let failed =
            |errno| NetError::Os { doing: format!("cannot listen on {address}").into(), errno };
        let fd = open(address)?;
        sockopt::set_socket_reuseaddr(&fd, true)?;
        if reuse_port {
            sockopt::set_socket_reuseport(&fd, true)?;
        }
        // Accepted sockets inherit it: one call less for each connection.
        sockopt::set_tcp_nodelay(&fd, true)?;
        bind(&fd, &address).map_err(failed)?;
        listen(&fd, BACKLOG).map_err(failed)?;
        let local = SocketAddr::try_from(rustix::net::getsockname(&fd)?)?;
        Ok(Self { fd, key, local })
    }
}

impl TcpInfo {
    /// Reads the kernel's `struct tcp_info` by its offsets, which are ABI.
    fn from_kernel(raw: &[u8; sys::TCP_INFO_BYTES]) -> Self {
        let word = |offset: usize| {
            u32::from_ne_bytes([raw[offset], raw[offset + 1], raw[offset + 2], raw[offset + 3]])
        };
        let long = |offset: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&raw[offset..offset + 8]);
            u64::from_ne_bytes(bytes)
        };
        Self {
            rtt_us: word(68),
            rtt_variation_us: word(72),
            congestion_window: word(80),
            retransmits: word(100),
            bytes_acked: long(120),
            bytes_received: long(128),
            segments_out: word(136),
            segments_in: word(140),
            unsent_bytes: word(144),
            min_rtt_us: word(148),
            busy_us: long(168),
            receive_window_limited_us: long(176),
            send_buffer_limited_us: long(184),
        }
    }
}

/// Drops the front part of a buffer that is done with, when that is cheap or
/// a large buffer can be given back.
pub(crate) fn trim(buffer: &mut Vec<u8>, done: &mut usize) {
    if *done == buffer.len() {
        *done = 0;
        buffer.clear();
        if buffer.capacity() > KEPT_CAPACITY {
            *buffer = Vec::new();
        }
    } else if *done > KEPT_CAPACITY && *done > buffer.len() / 2 {
        // A writer that never lets it run empty must not make it grow.
        buffer.drain(..*done);
        *done = 0;
    }
}

fn open(address: SocketAddr) -> Result<OwnedFd, NetError> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))
        .map_err(|errno| NetError::doing("cannot open a socket", errno))
}

fn bind_source(fd: &OwnedFd, source: IpAddr) -> Result<(), NetError> {
    sys::bind_address_no_port(fd.as_fd())?;
    // No port is taken here, so "not available" means the address.
    bind(fd, &SocketAddr::new(source, 0)).map_err(|errno| NetError::Os {
        doing: format!("cannot connect from source {source} (is it an address of this machine?)")
            .into(),
        errno,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    #[test]
    fn a_source_takes_no_port_before_the_peer_is_known() {
        for source in [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)] {
            let Ok(fd) = open(SocketAddr::new(source, 0)) else {
                continue;
            };
            bind_source(&fd, source).expect("bound");
            let bound = rustix::net::getsockname(&fd).expect("named");
            let bound = SocketAddr::try_from(bound).expect("an address");
            assert_eq!(bound, SocketAddr::new(source, 0));
        }
    }

    #[test]
    fn what_the_kernel_took_does_not_pile_up() {
        let fd = open(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a socket");
        let mut socket = Socket::new(fd, Key { slot: 0, generation: 0 }, State::Connected);
        // A writer that is always a little ahead of the kernel.
        socket.out.extend_from_slice(&[0; 1000]);
        for _ in 0..10_000 {
            socket.out.extend_from_slice(&[0; 1000]);
            socket.advance(1000);
            assert_eq!(socket.pending(), 1000);
        }
        assert!(socket.out.capacity() <= 4 * KEPT_CAPACITY, "{}", socket.out.capacity());
        assert_eq!(socket.bytes(), (10_000_000, 0));
    }
}
