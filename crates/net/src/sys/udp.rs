//! Datagrams to and from the kernel, several in one call, with what is said beside them.
//!
//! Knows how headers, addresses and control messages lie in memory. Must not know why a call is made.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use rustix::io::Errno;

use super::{last_errno, zeroed_header};

/// Bytes of the largest address (`sockaddr_in6`).
const ADDRESS_BYTES: usize = 28;
/// Bytes for all control messages of a datagram: there are three at most, each below 40.
const CONTROL_BYTES: usize = 128;
/// Bytes of `cmsghdr` where a word has 64 bits.
const HEADER_BYTES: usize = 16;

/// Numbers of `SO_MEMINFO`, and which of them counts what the socket dropped.
const MEMORY_NUMBERS: usize = 9;
const DROPPED: usize = 8;

/// What is said beside datagrams that are sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside {
    /// Who gets them. None: whom the socket is connected to.
    pub(crate) to: Option<SocketAddr>,
    /// From which address. None: the kernel chooses.
    pub(crate) from: Option<IpAddr>,
    /// The two bits of ECN, and whether the peer's address is one of IPv4.
    pub(crate) ecn: u8,
    pub(crate) is_ipv4: bool,
    /// Bytes of each datagram, where there are several.
    pub(crate) segment: Option<u16>,
}

/// What was said beside datagrams that came.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Heard {
    pub(crate) length: usize,
    pub(crate) from: Option<SocketAddr>,
    pub(crate) to: Option<IpAddr>,
    pub(crate) ecn: u8,
    pub(crate) segment: Option<u16>,
}

/// `sendmsg` with these bytes, which are one datagram or several.
pub(crate) fn send(socket: BorrowedFd<'_>, bytes: &[u8], beside: &Beside) -> Result<(), Errno> {
    let (mut name, length) = beside.to.map_or(([0; ADDRESS_BYTES], 0), encode);
    let mut control = Control { bytes: [0; CONTROL_BYTES], length: 0 };
    if let Some(segment) = beside.segment {
        control.push(libc::SOL_UDP, libc::UDP_SEGMENT, &segment.to_ne_bytes());
    }
    if beside.ecn != 0 {
        let (level, kind) = if beside.is_ipv4 {
            (libc::IPPROTO_IP, libc::IP_TOS)
        } else {
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS)
        };
        control.push(level, kind, &libc::c_int::from(beside.ecn).to_ne_bytes());
    }
    match beside.from {
        // `in_pktinfo`: interface, source, and what is read only.
        Some(IpAddr::V4(from)) => {
            let mut info = [0; 12];
            info[4..8].copy_from_slice(&from.octets());
            control.push(libc::IPPROTO_IP, libc::IP_PKTINFO, &info);
        }
        // `in6_pktinfo`: source, interface.
        Some(IpAddr::V6(from)) => {
            let mut info = [0; 20];
            info[..16].copy_from_slice(&from.octets());
            control.push(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &info);
        }
        None => {}
    }
    let mut piece =
        libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut header = zeroed_header();
    header.msg_iov = &raw mut piece;
    header.msg_iovlen = 1;
    if length > 0 {
        header.msg_name = name.as_mut_ptr().cast();
        header.msg_namelen = length as libc::socklen_t;
    }
    if control.length > 0 {
        header.msg_control = control.bytes.as_mut_ptr().cast();
        header.msg_controllen = control.length as _;
    }
    // SAFETY: the header points to the bytes, the address and the control messages, each with its own
    // length, and all of them outlive the call. The kernel only reads them.
    let sent = unsafe {
        libc::sendmsg(
            socket.as_raw_fd(),
            &raw const header,
            libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT,
        )
    };
    if sent < 0 { Err(last_errno()) } else { Ok(()) }
}

/// `recvmsg` into this buffer: one datagram, or several that the kernel has put together.
pub(crate) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<Heard, Errno> {
    let mut name = [0_u8; ADDRESS_BYTES];
    let mut control = [0_u8; CONTROL_BYTES];
    let mut piece = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut header = zeroed_header();
    header.msg_iov = &raw mut piece;
    header.msg_iovlen = 1;
    header.msg_name = name.as_mut_ptr().cast();
    header.msg_namelen = ADDRESS_BYTES as libc::socklen_t;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = CONTROL_BYTES as _;
    // SAFETY: the header points to the buffer, to room for an address and to room for control messages,
    // each with its own length, and all of them outlive the call. The kernel writes no more than these
    // lengths, and any bytes are a valid value of all three.
    let count = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_DONTWAIT) };
    let Ok(length) = usize::try_from(count) else {
        return Err(last_errno());
    };
    #[allow(clippy::unnecessary_cast, reason = "its type differs between C libraries")]
    let told = (header.msg_controllen as usize).min(CONTROL_BYTES);
    let mut heard = Heard {
        length: length.min(buffer.len()),
        from: decode(&name[..(header.msg_namelen as usize).min(ADDRESS_BYTES)]),
        ..Heard::default()
    };
    heard.read(&control[..told]);
    Ok(heard)
}

/// Has the kernel deal datagrams out among so many sockets that share an address: the first byte of the
/// connection's number (RFC 8999), divided by how many there are, leaves the index of the socket.
pub(crate) fn deal_by_connection(socket: BorrowedFd<'_>, sockets: u8) -> Result<(), Errno> {
    // Classic BPF: what is done, where to go on, and with which number (`linux/filter.h`).
    const LOAD_BYTE: u16 = 0x30;
    const JUMP: u16 = 0x05;
    const JUMP_IF_SET: u16 = 0x45;
    const REMAINDER: u16 = 0x94;
    const RETURN: u16 = 0x16;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut steps = [
        step(LOAD_BYTE, 0, 0, 0),
        // A long header: behind the version and a length; a short one: behind the first byte.
        step(JUMP_IF_SET, 0, 2, 0x80),
        step(LOAD_BYTE, 0, 0, 6),
        step(JUMP, 0, 0, 1),
        step(LOAD_BYTE, 0, 0, 1),
        step(REMAINDER, 0, 0, sockets.max(1).into()),
        step(RETURN, 0, 0, 0),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the kernel reads one sock_fprog and as many steps as it says, and both outlive the call.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_REUSEPORT_CBPF,
            (&raw const program).cast(),
            size_of::<libc::sock_fprog>() as libc::socklen_t,
        )
    };
    if done < 0 { Err(last_errno()) } else { Ok(()) }
}

/// `setsockopt` with a number.
pub(crate) fn set_option(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> Result<(), Errno> {
    // SAFETY: the kernel reads one c_int, and that is what is passed.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            ptr::from_ref(&value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(last_errno()) }
}

/// `SO_MEMINFO`: datagrams that the socket has dropped so far, for want of room. None where the kernel
/// does not tell.
pub(crate) fn dropped(socket: BorrowedFd<'_>) -> Option<u64> {
    let mut numbers = [0_u32; MEMORY_NUMBERS];
    let mut length = size_of_val(&numbers) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, the size of `numbers`, and any bytes are a valid
    // value of it.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            numbers.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    (result == 0 && length as usize >= size_of_val(&numbers)).then(|| numbers[DROPPED].into())
}

/// Control messages to be sent, as `CMSG_NXTHDR` would find them.
struct Control {
    bytes: [u8; CONTROL_BYTES],
    length: usize,
}

impl Control {
    fn push(&mut self, level: libc::c_int, kind: libc::c_int, data: &[u8]) {
        let message = &mut self.bytes[self.length..];
        message[..8].copy_from_slice(&(HEADER_BYTES + data.len()).to_ne_bytes());
        message[8..12].copy_from_slice(&level.to_ne_bytes());
        message[12..16].copy_from_slice(&kind.to_ne_bytes());
        message[HEADER_BYTES..HEADER_BYTES + data.len()].copy_from_slice(data);
        self.length += HEADER_BYTES + data.len().next_multiple_of(8);
    }
}

impl Heard {
    fn read(&mut self, mut control: &[u8]) {
        while let Some((header, rest)) = control.split_at_checked(HEADER_BYTES) {
            let number = |at: usize| number(header, at);
            let length = usize::from_ne_bytes(array(&header[..8]));
            let Some(data) = length.checked_sub(HEADER_BYTES).and_then(|it| rest.get(..it)) else {
                return;
            };
            match (number(8), number(12)) {
                (libc::SOL_UDP, libc::UDP_GRO) if data.len() >= 4 => {
                    self.segment = u16::try_from(number_of(data)).ok().filter(|it| *it > 0);
                }
                (libc::IPPROTO_IP, libc::IP_TOS) | (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                    // One byte or a number, of which the least significant byte counts.
                    let byte = match data.len() {
                        0 => 0,
                        1..4 => data[0],
                        _ => number_of(data) as u8,
                    };
                    self.ecn = byte & 3;
                }
                (libc::IPPROTO_IP, libc::IP_PKTINFO) if data.len() >= 12 => {
                    self.to = Some(Ipv4Addr::from(array::<4>(&data[4..8])).into());
                }
                (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) if data.len() >= 20 => {
                    self.to = Some(Ipv6Addr::from(array::<16>(&data[..16])).into());
                }
                _ => {}
            }
            control = rest.get(data.len().next_multiple_of(8)..).unwrap_or_default();
        }
    }
}

/// As `sockaddr_in` or `sockaddr_in6` have it, and how many bytes that are.
fn encode(address: SocketAddr) -> ([u8; ADDRESS_BYTES], usize) {
    let mut bytes = [0; ADDRESS_BYTES];
    bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
    match address {
        SocketAddr::V4(address) => {
            bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
            bytes[4..8].copy_from_slice(&address.ip().octets());
            (bytes, 16)
        }
        SocketAddr::V6(address) => {
            bytes[..2].copy_from_slice(&(libc::AF_INET6 as u16).to_ne_bytes());
            bytes[4..8].copy_from_slice(&address.flowinfo().to_ne_bytes());
            bytes[8..24].copy_from_slice(&address.ip().octets());
            bytes[24..28].copy_from_slice(&address.scope_id().to_ne_bytes());
            (bytes, ADDRESS_BYTES)
        }
    }
}

/// None where there is no address: a connected socket need not tell it.
fn decode(bytes: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(array(bytes.get(..2)?));
    let port = u16::from_be_bytes(array(bytes.get(2..4)?));
    if family == libc::AF_INET as u16 {
        let ip = Ipv4Addr::from(array::<4>(bytes.get(4..8)?));
        return Some(SocketAddr::from((ip, port)));
    }
    if family != libc::AF_INET6 as u16 {
        return None;
    }
    let flow = u32::from_ne_bytes(array(bytes.get(4..8)?));
    let ip = Ipv6Addr::from(array::<16>(bytes.get(8..24)?));
    let scope = u32::from_ne_bytes(array(bytes.get(24..28)?));
    Some(SocketAddrV6::new(ip, port, flow, scope).into())
}

fn number(bytes: &[u8], at: usize) -> libc::c_int {
    libc::c_int::from_ne_bytes(array(&bytes[at..at + 4]))
}

fn number_of(data: &[u8]) -> libc::c_int {
    number(data, 0)
}

/// The same bytes; the slice has as many.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(bytes);
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_back_as_they_were() {
        for text in ["127.0.0.1:443", "[::1]:65535", "[fe80::1%3]:1", "0.0.0.0:0"] {
            let address: SocketAddr = text.parse().expect("an address");
            let (bytes, length) = encode(address);
            assert_eq!(decode(&bytes[..length]), Some(address), "{text}");
            for cut in 0..length.min(8) {
                assert_eq!(decode(&bytes[..cut]), None, "{text}, {cut} bytes");
            }
        }
    }

    #[test]
    fn control_messages_are_read_as_they_were_written_and_cut_anywhere() {
        let mut control = Control { bytes: [0; CONTROL_BYTES], length: 0 };
        control.push(libc::SOL_UDP, libc::UDP_GRO, &1200_i32.to_ne_bytes());
        control.push(libc::IPPROTO_IP, libc::IP_TOS, &[0b10]);
        let mut info = [0; 12];
        info[4..8].copy_from_slice(&[127, 0, 0, 7]);
        control.push(libc::IPPROTO_IP, libc::IP_PKTINFO, &info);
        let mut heard = Heard::default();
        heard.read(&control.bytes[..control.length]);
        assert_eq!((heard.segment, heard.ecn), (Some(1200), 2));
        assert_eq!(heard.to, Some(IpAddr::from([127, 0, 0, 7])));
        for cut in 0..control.length {
            Heard::default().read(&control.bytes[..cut]);
        }
        // A length that is less than its header, or more than there is.
        for length in [0, 15, 200, usize::MAX] {
            control.bytes[..8].copy_from_slice(&usize::to_ne_bytes(length));
            let mut heard = Heard::default();
            heard.read(&control.bytes[..control.length]);
            assert_eq!(heard.segment, None);
        }
    }
}
