//! One UDP socket: several datagrams per call where the kernel can (GSO and GRO), ECN, and what it counted.
//!
//! Knows socket options. Must not know QUIC, nor how readiness is told.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, ipproto, socket_with};

use crate::quic::counters::SocketCounters;
use crate::quic::datagram::{Arrival, Transmit};
#[cfg(feature = "simulation")]
use crate::simulation::{Parcel, Parcels};
use crate::sys::udp::{self, Beside};
use crate::{Driver, Key, NetError};

/// The most datagrams that every kernel with GSO takes at a time.
const MOST_SEGMENTS: usize = 64;

/// How a socket works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpSettings {
    /// Hands several datagrams to the kernel in one call (GSO). Without it, one call each.
    pub segments: bool,
    /// Takes several datagrams from the kernel in one call, where it has put them together (GRO).
    pub coalesced: bool,
    /// The source's address. None: the kernel chooses.
    pub source: Option<IpAddr>,
    /// Size of the kernel's receive buffer, in bytes; the kernel doubles it and, but for who administers the
    /// machine, bounds it by `net.core.rmem_max`. None: the kernel's default.
    pub receive_buffer: Option<usize>,
}

impl Default for UdpSettings {
    fn default() -> Self {
        Self { segments: true, coalesced: true, source: None, receive_buffer: None }
    }
}

/// A UDP socket, connected to one peer or bound for all.
#[derive(Debug)]
pub struct UdpSocket {
    fd: OwnedFd,
    /// Whom it is connected to.
    peer: Option<SocketAddr>,
    segments: bool,
    counters: SocketCounters,
    /// What carries datagrams in a simulated world, in place of the kernel.
    #[cfg(feature = "simulation")]
    parcels: Option<Parcels>,
}

impl UdpSocket {
    /// Opens a socket for one peer: the kernel brings nobody else's datagrams to it.
    ///
    /// # Errors
    /// What is known at once: no descriptors, no ports, no route, a source address that is not ours.
    pub fn connect(peer: SocketAddr, settings: &UdpSettings) -> Result<Self, NetError> {
        let mut socket = Self::open(peer, settings)?;
        if let Some(source) = settings.source {
            bind(&socket.fd, &SocketAddr::new(source, 0)).map_err(|errno| NetError::Os {
                doing: format!(
                    "cannot connect from source {source} (is it an address of this machine?)"
                )
                .into(),
                errno,
            })?;
        }
        connect(&socket.fd, &peer)
            .map_err(|errno| NetError::doing(format!("cannot connect to {peer}"), errno))?;
        socket.peer = Some(peer);
        Ok(socket)
    }

    /// The same, and a driver tells under this key when there is something to read.
    ///
    /// # Errors
    /// As there.
    pub fn watched(
        driver: &mut Driver,
        key: Key,
        peer: SocketAddr,
        settings: &UdpSettings,
    ) -> Result<Self, NetError> {
        #[cfg(feature = "simulation")]
        if let Some(opened) = driver.parcels(key) {
            let ((fd, parcels), counters) = (opened?, SocketCounters::default());
            let (peer, parcels) = (Some(peer), Some(parcels));
            return Ok(Self { fd, peer, segments: settings.segments, counters, parcels });
        }
        let socket = Self::connect(peer, settings)?;
        driver.watch(key, socket.as_fd(), false)?;
        Ok(socket)
    }

    /// Opens a socket for all who send to this address; port 0 lets the kernel choose. With
    /// `reuse_port`, several sockets share the address, and the kernel deals peers out among them.
    ///
    /// # Errors
    /// When the address is in use, not ours, or not allowed.
    pub fn bind(
        address: SocketAddr,
        reuse_port: bool,
        settings: &UdpSettings,
    ) -> Result<Self, NetError> {
        let socket = Self::open(address, settings)?;
        if reuse_port {
            sockopt::set_socket_reuseport(&socket.fd, true)?;
        }
        if address.ip().is_unspecified() {
            // An answer must come from the address that was asked.
            let (level, name) = if address.is_ipv4() {
                (libc::IPPROTO_IP, libc::IP_PKTINFO)
            } else {
                (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO)
            };
            udp::set_option(socket.as_fd(), level, name, 1)?;
        }
        bind(&socket.fd, &address).map_err(|errno| NetError::Os {
            doing: format!("cannot bind {address}").into(),
            errno,
        })?;
        Ok(socket)
    }

    /// Has the kernel find one of so many sockets at this address by the number of a datagram's connection
    /// in place of the peer's address. A kernel that refuses goes by that, as before.
    pub(super) fn deal_by_connection(&self, sockets: u8) {
        let _ = udp::deal_by_connection(self.fd.as_fd(), sockets);
    }

    fn open(address: SocketAddr, settings: &UdpSettings) -> Result<Self, NetError> {
        let is_ipv4 = address.is_ipv4();
        let family = if is_ipv4 { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = socket_with(family, SocketType::DGRAM, flags, Some(ipproto::UDP))
            .map_err(|errno| NetError::doing("cannot open a socket", errno))?;
        if let Some(bytes) = settings.receive_buffer {
            set_receive_buffer(&fd, bytes)?;
        }
        if settings.coalesced {
            // A kernel without it brings one datagram at a time.
            let _ = udp::set_option(fd.as_fd(), libc::SOL_UDP, libc::UDP_GRO, 1);
        }
        // Datagrams are never fragmented (RFC 9000, section 14), and QUIC itself finds what the path carries.
        // Marks of ECN are told. A socket of IPv6 may carry IPv4, too. What the kernel refuses is done without.
        if is_ipv4 {
            let _ = sockopt::set_ip_mtu_discover(&fd, Ipv4PathMtuDiscovery::PROBE);
        } else {
            let _ = sockopt::set_ipv6_mtu_discover(&fd, Ipv6PathMtuDiscovery::PROBE);
            let (level, name) = (libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS);
            let _ = udp::set_option(fd.as_fd(), level, name, 1);
        }
        let _ = udp::set_option(fd.as_fd(), libc::IPPROTO_IP, libc::IP_RECVTOS, 1);
        let counters = SocketCounters::default();
        Ok(Self {
            fd,
            peer: None,
            segments: settings.segments,
            counters,
            #[cfg(feature = "simulation")]
            parcels: None,
        })
    }

    /// The address of this end.
    ///
    /// # Errors
    /// When the kernel has none for it.
    pub fn local_addr(&self) -> Result<SocketAddr, NetError> {
        let address = rustix::net::getsockname(&self.fd)?;
        SocketAddr::try_from(address).map_err(NetError::from)
    }

    /// What went through it so far.
    pub fn counters(&self) -> SocketCounters {
        SocketCounters { dropped: udp::dropped(self.fd.as_fd()), ..self.counters }
    }

    /// Bytes sent and received so far. Costs nothing, unlike all [counters](Self::counters).
    pub fn bytes(&self) -> (u64, u64) {
        (self.counters.bytes_sent, self.counters.bytes_received)
    }

    /// Hands datagrams to the kernel, and says how many bytes of them it took: all, or whole datagrams
    /// from the front. The rest is to be sent once the socket is writable.
    ///
    /// # Errors
    /// When the peer's machine says that nobody listens, or the kernel refuses.
    pub fn send(&mut self, transmit: &Transmit, bytes: &[u8]) -> Result<usize, NetError> {
        #[cfg(feature = "simulation")]
        if let Some(parcels) = &self.parcels {
            let (stride, ecn) = (transmit.stride.max(1), transmit.ecn);
            parcels.send(Parcel { bytes: bytes.to_vec(), stride, ecn });
            self.sent(bytes.len().div_ceil(stride) as u64, bytes.len());
            return Ok(bytes.len());
        }
        let (mut taken, mut segments) = (0, self.segments);
        while taken < bytes.len() {
            let stride = transmit.stride.max(1);
            let left = bytes.len() - taken;
            let most = if segments { stride * MOST_SEGMENTS } else { stride };
            let part = &bytes[taken..taken + left.min(most)];
            let segment = u16::try_from(stride).ok().filter(|_| part.len() > stride);
            let beside = Beside {
                to: self.peer.is_none().then_some(transmit.to),
                from: transmit.from,
                ecn: transmit.ecn,
                is_ipv4: transmit.to.ip().to_canonical().is_ipv4(),
                segment,
            };
            match udp::send(self.fd.as_fd(), part, &beside) {
                Ok(()) => {
                    self.sent(part.len().div_ceil(stride) as u64, part.len());
                    taken += part.len();
                    // What did not go as segments and goes by itself: there is no way to cut them.
                    if part.len() == stride {
                        self.segments = segments;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::NOBUFS) => {
                    self.counters.sends_blocked += 1;
                    return Ok(taken);
                }
                // The device cannot cut segments, or they are too large for the path: one by one, this tells.
                Err(Errno::IO | Errno::INVAL) if segment.is_some() => segments = false,
                // A probe for what the path carries, or the path has changed: the same as lost.
                Err(Errno::MSGSIZE) => {
                    self.counters.too_large += part.len().div_ceil(stride) as u64;
                    taken += part.len();
                }
                Err(errno) => return Err(NetError::doing("cannot send a datagram", errno)),
            }
        }
        Ok(taken)
    }

    /// Takes datagrams of one peer from the kernel into `buffer`. None: there is nothing now.
    ///
    /// # Errors
    /// When the peer's machine says that nobody listens, or the kernel refuses.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Arrival>, NetError> {
        #[cfg(feature = "simulation")]
        if let (Some(parcels), Some(from)) = (&self.parcels, self.peer) {
            let Some(Parcel { bytes, stride, ecn }) = parcels.receive() else { return Ok(None) };
            let length = bytes.len();
            buffer[..length].copy_from_slice(&bytes);
            self.received(length.div_ceil(stride) as u64, length);
            return Ok(Some(Arrival { length, stride, from, to: None, ecn }));
        }
        loop {
            match udp::receive(self.fd.as_fd(), buffer) {
                Ok(heard) => {
                    let Some(from) = heard.from.or(self.peer) else { continue };
                    let stride = heard.segment.map_or(heard.length, usize::from).max(1);
                    self.received(heard.length.div_ceil(stride) as u64, heard.length);
                    let (length, to, ecn) = (heard.length, heard.to, heard.ecn);
                    return Ok(Some(Arrival { length, stride, from, to, ecn }));
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(None),
                Err(errno) => return Err(NetError::doing("cannot receive a datagram", errno)),
            }
        }
    }

    fn sent(&mut self, datagrams: u64, bytes: usize) {
        let counters = &mut self.counters;
        counters.sends += 1;
        counters.datagrams_sent += datagrams;
        counters.bytes_sent += bytes as u64;
        counters.most_sent_at_once = counters.most_sent_at_once.max(datagrams);
    }

    fn received(&mut self, datagrams: u64, bytes: usize) {
        let counters = &mut self.counters;
        counters.receives += 1;
        counters.datagrams_received += datagrams;
        counters.bytes_received += bytes as u64;
        counters.most_received_at_once = counters.most_received_at_once.max(datagrams);
    }
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Who administers the machine may have more than `net.core.rmem_max`.
fn set_receive_buffer(fd: &OwnedFd, bytes: usize) -> Result<(), NetError> {
    sockopt::set_socket_recv_buffer_size_force(fd, bytes)
        .or_else(|_| sockopt::set_socket_recv_buffer_size(fd, bytes))
        .map_err(|errno| NetError::doing("cannot size a receive buffer", errno))
}
