//! What datagrams cost that carry nothing to be understood: both sides of UDP on loopback, each
//! turn in one call (GSO), and received as the kernel joins them (GRO).
//!
//! Knows sockets and lengths; must not know QUIC. Nothing is sent again: a datagram that is lost
//! ends its connection's turns.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

use crate::ring::{Buffers, Ring};

/// What one call takes at most, of whole datagrams: a UDP payload, and what GSO takes at once.
const CALL_BYTES: usize = 65_000;
const CALL_DATAGRAMS: usize = 64;
/// For what GRO joins.
const BUFFERS: Buffers = Buffers { count: 1024, bytes: 64 * 1024 };

/// One side: turns of requests.
pub(crate) struct Asking {
    address: String,
    connections: usize,
    requests: u64,
    sent: usize,
    segment: usize,
    received: usize,
    duration: Duration,
    pub(crate) cpu: usize,
}

impl Asking {
    pub(crate) fn parse(arguments: &[String]) -> Option<Self> {
        let (address, numbers) = numbers_of("datagrams", arguments)?;
        let &[connections, requests, sent, segment, received, seconds, cpu] = numbers.as_slice()
        else {
            return None;
        };
        Some(Self {
            address,
            connections,
            requests: requests as u64,
            sent,
            segment,
            received,
            duration: Duration::from_secs(seconds as u64),
            cpu,
        })
    }

    /// Asks until the time is over; gives the requests that were answered.
    pub(crate) fn run(&self) -> io::Result<u64> {
        let opened = (0..self.connections).map(|_| {
            let socket = segmenting("127.0.0.1:0", self.segment)?;
            socket.connect(&self.address)?;
            Ok(socket)
        });
        let sockets = opened.collect::<io::Result<Vec<_>>>()?;
        let turn = vec![0x5a; self.sent];
        let calls: Vec<&[u8]> = calls(&turn, self.segment).collect();
        let mut pending = vec![0_usize; sockets.len()];
        let mut ring = Ring::new(&sockets, BUFFERS)?;
        for at in 0..sockets.len() {
            ring.receive(at)?;
            calls.iter().try_for_each(|call| ring.send(at, call))?;
        }
        let mut messages = 0_u64;
        let end = Instant::now() + self.duration;
        loop {
            let completed = ring.wait()?;
            for index in 0..completed {
                let Some((at, bytes)) = ring.received(index)? else { continue };
                pending[at] += bytes.len();
                if pending[at] >= self.received {
                    pending[at] -= self.received;
                    messages += self.requests;
                    calls.iter().try_for_each(|call| ring.send(at, call))?;
                }
            }
            // One look at the clock per turn, for the end only.
            if Instant::now() >= end {
                return Ok(messages);
            }
        }
    }
}

/// The other side: so many bytes for so many.
pub(crate) struct Answering {
    address: String,
    asked: usize,
    answer: usize,
    segment: usize,
    pub(crate) cpu: usize,
}

impl Answering {
    pub(crate) fn parse(arguments: &[String]) -> Option<Self> {
        let (address, numbers) = numbers_of("answer", arguments)?;
        let &[asked, answer, segment, cpu] = numbers.as_slice() else { return None };
        (asked > 0).then_some(Self { address, asked, answer, segment, cpu })
    }

    /// Answers in a thread of its own for as long as the process lives; gives where.
    pub(crate) fn start(self) -> io::Result<SocketAddr> {
        let socket = segmenting(&self.address, self.segment)?;
        let address = socket.local_addr()?;
        thread::spawn(move || {
            if let Err(error) = self.answer(&socket) {
                eprintln!("wiretrial-floor: {error}");
                std::process::exit(1);
            }
        });
        Ok(address)
    }

    fn answer(&self, socket: &UdpSocket) -> io::Result<()> {
        let answer = vec![0x5a; self.answer];
        let mut read = vec![0; BUFFERS.bytes];
        let mut pending: HashMap<SocketAddr, usize> = HashMap::new();
        loop {
            let (bytes, from) = match socket.recv_from(&mut read) {
                // A client that has ended refuses what was on its way to it.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => continue,
                other => other?,
            };
            let pending = pending.entry(from).or_default();
            *pending += bytes;
            while *pending >= self.asked {
                *pending -= self.asked;
                for call in calls(&answer, self.segment) {
                    match socket.send_to(call, from) {
                        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                        sent => {
                            sent?;
                        }
                    }
                }
            }
        }
    }
}

/// The address and the numbers behind the word that says what is asked for.
fn numbers_of(word: &str, arguments: &[String]) -> Option<(String, Vec<usize>)> {
    let [first, address, numbers @ ..] = arguments else { return None };
    let numbers = numbers.iter().map(|number| number.parse().ok()).collect::<Option<_>>()?;
    (first == word).then(|| (address.clone(), numbers))
}

/// What goes in one call each.
fn calls(bytes: &[u8], segment: usize) -> impl Iterator<Item = &[u8]> {
    let segment = segment.max(1);
    bytes.chunks((CALL_BYTES / segment).clamp(1, CALL_DATAGRAMS) * segment)
}

/// A socket that cuts what it sends into datagrams of so many bytes, and joins what it receives.
fn segmenting(address: &str, segment: usize) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    for (option, value) in [(libc::UDP_SEGMENT, segment as libc::c_int), (libc::UDP_GRO, 1)] {
        // SAFETY: a number that lives as long as the call, with its length.
        let result = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_UDP,
                option,
                (&raw const value).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(socket)
}
