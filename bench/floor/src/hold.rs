//! What opening many connections costs at least: threads that connect, ask for the upgrade and read
//! the answer, one connection after the other. Nothing is verified, nothing is timed but the whole.
//! And what holding them costs at least: an epoll set per thread that has them all.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use crate::connect::{Conversation, Protocol};

/// Connections come from so many addresses, each of which has ports of its own.
const SOURCES: usize = 126;
/// The stack of a thread, bytes: there may be many of them, and they call little.
const STACK: usize = 128 * 1024;

/// Connections that are to stand at once.
#[derive(Clone)]
pub(crate) struct Crowd {
    address: SocketAddrV4,
    path: String,
    connections: usize,
    threads: usize,
    watched: bool,
}

impl Crowd {
    pub(crate) fn parse(arguments: &[String]) -> Option<Self> {
        let [word, address, path, connections, threads] = arguments else { return None };
        let crowd = Self {
            address: address.parse().ok()?,
            path: path.clone(),
            connections: connections.parse().ok()?,
            threads: threads.parse().ok()?,
            watched: word == "watch",
        };
        ((word == "hold" || crowd.watched) && crowd.threads > 0).then_some(crowd)
    }

    /// Whether they stand until the input ends.
    pub(crate) fn stays(&self) -> bool {
        self.watched
    }

    /// Opens all of them; gives the seconds until the last one stood. They stand until the process
    /// ends.
    pub(crate) fn open(&self) -> io::Result<f64> {
        let began = Instant::now();
        let (done, all_done) = mpsc::channel();
        for place in 0..self.threads {
            let (crowd, done) = (self.clone(), done.clone());
            thread::Builder::new().stack_size(STACK).spawn(move || {
                let opened = crowd.open_share(place).and_then(|kept| {
                    if crowd.watched {
                        watch(&kept)?;
                    }
                    Ok(kept)
                });
                let (kept, outcome) = match opened {
                    Ok(kept) => (kept, Ok(())),
                    Err(error) => (Vec::new(), Err(error)),
                };
                // Who listened is gone only after another thread has failed.
                let _ = done.send(outcome);
                // They end with the thread, whose table of descriptors they are in.
                while !kept.is_empty() {
                    thread::park();
                }
            })?;
        }
        for _ in 0..self.threads {
            all_done.recv().map_err(io::Error::other)??;
        }
        Ok(began.elapsed().as_secs_f64())
    }

    fn open_share(&self, place: usize) -> io::Result<Vec<TcpStream>> {
        // SAFETY: changes what this thread's descriptors mean for nobody but itself.
        succeeded(unsafe { libc::unshare(libc::CLONE_FILES) })?;
        let address = self.address.to_string();
        let conversation = Conversation::new(Protocol::WebSocket, &address, &self.path, 0);
        let numbers = (place..self.connections).step_by(self.threads);
        numbers.map(|number| conversation.greet(self.connect(number)?)).collect()
    }

    fn connect(&self, number: usize) -> io::Result<TcpStream> {
        // SAFETY: makes a descriptor.
        let fd = succeeded(unsafe {
            libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0)
        })?;
        // SAFETY: it is new, and nobody else's.
        let stream = unsafe { TcpStream::from_raw_fd(fd) };
        let source = Ipv4Addr::new(127, 1, 0, 1 + (number % SOURCES) as u8);
        let (from, to) = (raw(SocketAddrV4::new(source, 0)), raw(self.address));
        let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        let yes: libc::c_int = 1;
        // SAFETY: a descriptor of ours, and values that live as long as the calls.
        unsafe {
            succeeded(libc::setsockopt(
                fd,
                libc::SOL_IP,
                libc::IP_BIND_ADDRESS_NO_PORT,
                (&raw const yes).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            ))?;
            succeeded(libc::bind(fd, (&raw const from).cast(), length))?;
            succeeded(libc::connect(fd, (&raw const to).cast(), length))?;
        }
        Ok(stream)
    }
}

/// What an event loop needs of each connection: that it does not block, and a place in an epoll set.
/// The set stays until the process ends.
fn watch(streams: &[TcpStream]) -> io::Result<()> {
    // SAFETY: makes a descriptor.
    let set = succeeded(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
    for (number, stream) in streams.iter().enumerate() {
        stream.set_nonblocking(true)?;
        let mut interest = libc::epoll_event { events: libc::EPOLLIN as u32, u64: number as u64 };
        let fd = stream.as_raw_fd();
        // SAFETY: two descriptors of ours, and a value that lives as long as the call.
        succeeded(unsafe { libc::epoll_ctl(set, libc::EPOLL_CTL_ADD, fd, &raw mut interest) })?;
    }
    Ok(())
}

fn raw(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*address.ip()).to_be() },
        sin_zero: [0; 8],
    }
}

fn succeeded(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
