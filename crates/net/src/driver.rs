//! The face of the poller: one driver per thread, readiness as values.
//!
//! Knows which poller is in use and owns what all sockets of a thread share.
//! Must not know TLS, nor what the bytes mean. Nothing outside this crate can
//! tell which poller it is, but for its name.

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
#[cfg(feature = "simulation")]
use std::os::fd::OwnedFd;
use std::time::Duration;

use crate::clock::monotonic_ns;
use crate::epoll::Epoll;
#[cfg(feature = "simulation")]
use crate::simulation::{Network, Parcels, Simulated};
use crate::transfer::{Buffer, Received};
use crate::uring::Uring;
use crate::{ConnectSpec, Fill, Flush, Key, Listener, NetError, Ready, Socket, Waker, sys};

/// Which poller to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PollerKind {
    /// io_uring; epoll where there is none, and [`Driver::shortfall`] says why.
    #[default]
    Auto,
    /// io_uring, or none.
    Uring,
    /// Level-triggered epoll.
    Epoll,
}

/// How a driver works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriverConfig {
    /// Which poller.
    pub poller: PollerKind,
    /// Size of the receive buffer that all sockets share, in bytes.
    pub buffer_bytes: usize,
    /// Burns CPU in [`Driver::wait`] in place of sleeping.
    pub spin: bool,
}

impl Default for DriverConfig {
    fn default() -> Self {
        Self { poller: PollerKind::Auto, buffer_bytes: 256 * 1024, spin: false }
    }
}

/// One thread's poller and the buffers that its sockets share.
#[derive(Debug)]
pub struct Driver {
    poller: Poller,
    /// Why it is not the best poller there is.
    shortfall: Option<Box<str>>,
    spin: bool,
    spun_ns: u64,
    buffer: Vec<u8>,
    buffer_bytes: usize,
    /// Where TLS puts what it has decrypted.
    plaintext: Vec<u8>,
}

/// Static dispatch over the pollers. Each one has the same calls.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one per thread")]
enum Poller {
    Uring(Uring),
    Epoll(Epoll),
    #[cfg(feature = "simulation")]
    Simulated(Simulated),
}

macro_rules! each {
    ($self:ident, $poller:ident => $call:expr) => {
        match &mut $self.poller {
            Poller::Uring($poller) => $call,
            Poller::Epoll($poller) => $call,
            #[cfg(feature = "simulation")]
            Poller::Simulated($poller) => $call,
        }
    };
}

impl Driver {
    /// Opens a poller.
    ///
    /// # Errors
    /// When the kernel refuses one, as without descriptors.
    pub fn new(config: &DriverConfig) -> Result<Self, NetError> {
        let buffer_bytes = config.buffer_bytes.max(4096);
        let (poller, shortfall) = match config.poller {
            PollerKind::Epoll => (Poller::Epoll(Epoll::new()?), None),
            PollerKind::Uring => (Poller::Uring(Uring::new(buffer_bytes)?), None),
            PollerKind::Auto => match Uring::new(buffer_bytes) {
                Ok(ring) => (Poller::Uring(ring), None),
                Err(refused) => {
                    let why = refused.to_string().into_boxed_str();
                    (Poller::Epoll(Epoll::new()?), Some(why))
                }
            },
        };
        Ok(Self { shortfall, spin: config.spin, ..Self::with(poller, buffer_bytes) })
    }

    /// A driver whose sockets are those of a simulated network.
    ///
    /// # Errors
    /// When descriptors ran out.
    #[cfg(feature = "simulation")]
    pub fn simulated(network: &Network) -> Result<Self, NetError> {
        Ok(Self::with(Poller::Simulated(Simulated::new(network)?), network.buffer_bytes()))
    }

    fn with(poller: Poller, buffer_bytes: usize) -> Self {
        Self {
            poller,
            shortfall: None,
            spin: false,
            spun_ns: 0,
            buffer: vec![0; buffer_bytes],
            buffer_bytes,
            plaintext: Vec::new(),
        }
    }

    /// The poller in use: "uring" or "epoll".
    pub fn poller_name(&self) -> &'static str {
        match self.poller {
            Poller::Uring(_) => "uring",
            Poller::Epoll(_) => "epoll",
            #[cfg(feature = "simulation")]
            Poller::Simulated(_) => "simulated",
        }
    }

    /// Why it is epoll where the best poller was asked for, as one line.
    pub fn shortfall(&self) -> Option<&str> {
        self.shortfall.as_deref()
    }

    /// Whether all bytes that [`Driver::fill`] gives now were there when [`Driver::wait`] returned.
    /// Not with epoll, which receives in `fill`; and not where io_uring brought some since, because
    /// the submission queue was full.
    pub fn received_in_wait(&self) -> bool {
        match &self.poller {
            Poller::Uring(uring) => uring.received_in_wait(),
            Poller::Epoll(_) => false,
            #[cfg(feature = "simulation")]
            Poller::Simulated(simulated) => simulated.received_in_wait(),
        }
    }

    /// Gives the calling thread a table of descriptors of its own, which may
    /// hold as many as the process's: whatever is opened from here on is this
    /// thread's alone, so the driver and its sockets must stay on it. What was
    /// open before is open in both, as the waker is.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn own_descriptors(&self) -> Result<(), NetError> {
        sys::unshare_descriptors()
            .map_err(|errno| NetError::doing("cannot make a table of descriptors", errno))
    }

    /// A handle with which any thread ends this driver's `wait`.
    pub fn waker(&self) -> Waker {
        match &self.poller {
            Poller::Uring(poller) => poller.waker(),
            Poller::Epoll(poller) => poller.waker(),
            #[cfg(feature = "simulation")]
            Poller::Simulated(poller) => poller.waker(),
        }
    }

    /// Starts to connect. `Ready::connected` tells when the result is there.
    ///
    /// # Errors
    /// What is known at once: no descriptors, no ports, no route, a source
    /// address that is not ours.
    pub fn connect(&mut self, key: Key, spec: &ConnectSpec) -> Result<Socket, NetError> {
        each!(self, poller => poller.connect(key, spec))
    }

    /// How a connect ended, once `Ready::connected` was told. From here on
    /// the socket is read from.
    ///
    /// # Errors
    /// Why there is no connection.
    pub fn connect_result(&mut self, socket: &mut Socket) -> Result<(), NetError> {
        each!(self, poller => poller.connect_result(socket))
    }

    /// Listens on an address; port 0 lets the kernel choose. With
    /// `reuse_port`, several listeners share the address and the kernel deals
    /// connections out among them.
    ///
    /// # Errors
    /// When the address is in use, not ours, or not allowed.
    pub fn listen(
        &mut self,
        key: Key,
        address: SocketAddr,
        reuse_port: bool,
    ) -> Result<Listener, NetError> {
        each!(self, poller => poller.listen(key, address, reuse_port))
    }

    /// The next connection that waits, or None. Sockets have `TCP_NODELAY`.
    ///
    /// # Errors
    /// When descriptors ran out. The listener stays ready then: pause it, or
    /// `wait` will not sleep.
    pub fn accept(
        &mut self,
        listener: &Listener,
        key: Key,
    ) -> Result<Option<(Socket, SocketAddr)>, NetError> {
        each!(self, poller => poller.accept(listener, key))
    }

    /// Stops or restarts telling that connections wait.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn set_accepting(&mut self, listener: &Listener, accepting: bool) -> Result<(), NetError> {
        each!(self, poller => poller.set_accepting(listener, accepting))
    }

    /// Has [`Driver::wait`] tell when a socket that is not the driver's can be read from, as those of
    /// [`quic`](crate::quic) are, and while `writable` also when it takes more. It is told under this
    /// key, again and again until it was used; an error is told as a hangup, which reading it
    /// explains. Called again, it changes the key or `writable`. A socket that is closed is
    /// forgotten.
    ///
    /// # Errors
    /// When the kernel refuses, and in a simulated world, which has no such sockets.
    pub fn watch(
        &mut self,
        key: Key,
        socket: BorrowedFd<'_>,
        writable: bool,
    ) -> Result<(), NetError> {
        match &self.poller {
            Poller::Uring(poller) => poller.watch_other(key, socket, writable),
            Poller::Epoll(poller) => poller.watch_other(key, socket, writable),
            #[cfg(feature = "simulation")]
            Poller::Simulated(_) => Err(NetError::Os {
                doing: "cannot watch a socket of the kernel's in a simulated world".into(),
                errno: rustix::io::Errno::OPNOTSUPP,
            }),
        }
    }

    /// A socket of datagrams in a simulated world, which is told under this key; None: this is no such world.
    ///
    /// # Errors
    /// When descriptors ran out, or the world refuses.
    #[cfg(feature = "simulation")]
    pub(crate) fn parcels(&mut self, key: Key) -> Option<Result<(OwnedFd, Parcels), NetError>> {
        match &mut self.poller {
            Poller::Simulated(poller) => Some(poller.parcels(key)),
            Poller::Uring(_) | Poller::Epoll(_) => None,
        }
    }

    /// Sleeps until something is ready, a waker was used, or the timeout has
    /// passed, which is kept to the nanosecond as far as the kernel's timers
    /// go. None waits for ever, zero only looks. May return early, as after a
    /// signal. Readiness of the wait before that was not asked for is told
    /// again.
    ///
    /// # Errors
    /// When the kernel refuses to poll, which no caller can mend.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<(), NetError> {
        if !self.spin {
            return each!(self, poller => poller.wait(timeout));
        }
        let start = monotonic_ns();
        let deadline = timeout.map(|timeout| {
            start.saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX))
        });
        let mut looked = start;
        loop {
            each!(self, poller => poller.wait(Some(Duration::ZERO)))?;
            if each!(self, poller => poller.has_events()) {
                break;
            }
            looked = monotonic_ns();
            if deadline.is_some_and(|deadline| looked >= deadline) {
                break;
            }
            std::hint::spin_loop();
        }
        self.spun_ns += looked - start;
        Ok(())
    }

    /// Nanoseconds in which a spinning [`Driver::wait`] looked and found
    /// nothing, so far. They cost CPU and were idle nevertheless.
    pub fn spun_ns(&self) -> u64 {
        self.spun_ns
    }

    /// The next readiness of the last wait, or None when that was all.
    #[allow(clippy::should_implement_trait, reason = "an iterator would borrow the driver")]
    pub fn next(&mut self) -> Option<Ready> {
        each!(self, poller => poller.next())
    }

    /// Reads once into the shared buffer, behind a copy of `carry` (what the
    /// codec left behind last time), and returns both together; `carry` is
    /// empty then. The buffer grows where `carry` would fill it.
    pub fn fill<'d>(&'d mut self, socket: &mut Socket, carry: &mut Vec<u8>) -> Fill<'d> {
        let carried = carry.len();
        match self.receive(socket, carried) {
            Received::Bytes { buffer: Buffer::Ring(piece), count, drained } if carried == 0 => {
                Fill::Data(self.piece(piece), count, drained)
            }
            Received::Bytes { buffer, count, drained } => {
                if let (Buffer::Ring(piece), Poller::Uring(uring)) = (buffer, &mut self.poller) {
                    if self.buffer.len() < carried + count {
                        self.buffer.resize(carried + count, 0);
                    }
                    self.buffer[carried..carried + count].copy_from_slice(uring.piece(piece));
                }
                self.buffer[..carried].copy_from_slice(carry);
                carry.clear();
                Fill::Data(&mut self.buffer[..carried + count], count, drained)
            }
            Received::WouldBlock => Fill::WouldBlock,
            Received::End => Fill::End,
            Received::Failed(error) => Fill::Failed(error),
        }
    }

    /// Hands `socket.out` to the kernel as far as it takes it.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn flush(&mut self, socket: &mut Socket) -> Result<Flush, NetError> {
        each!(self, poller => poller.flush(socket))
    }

    /// Sends FIN once everything in `socket.out` is with the kernel. Reading
    /// goes on.
    pub fn shutdown_write(&mut self, socket: &mut Socket) {
        match &mut self.poller {
            Poller::Uring(poller) => poller.shutdown_write(socket),
            Poller::Epoll(_) => Epoll::shutdown_write(socket),
            #[cfg(feature = "simulation")]
            Poller::Simulated(poller) => poller.shutdown_write(socket),
        }
    }

    /// Closes with FIN. What was not flushed is lost, and where received
    /// bytes were not read the kernel sends RST.
    pub fn close(&mut self, socket: Socket) {
        self.dismiss(socket, false);
    }

    /// Closes with RST.
    pub fn abort(&mut self, socket: Socket) {
        // Without linger the close is only gentler than asked for.
        let _ = rustix::net::sockopt::set_socket_linger(&socket.fd, Some(Duration::ZERO));
        self.dismiss(socket, true);
    }

    /// No longer tells that the socket is readable, so that the peer feels
    /// the backpressure. Also what to do after `Fill::End`, when there is
    /// still something to send.
    pub fn pause_reads(&mut self, socket: &mut Socket) {
        self.set_reading(socket, false);
    }

    /// Tells again that the socket is readable.
    pub fn resume_reads(&mut self, socket: &mut Socket) {
        self.set_reading(socket, true);
    }

    /// Reads once: into the shared buffer from index `from` on, or not at all
    /// where the bytes are there already.
    pub(crate) fn receive(&mut self, socket: &mut Socket, from: usize) -> Received {
        if socket.ended {
            // Level-triggered readiness would tell the end for ever.
            self.pause_reads(socket);
            return Received::End;
        }
        if self.buffer.len() < from + self.buffer_bytes / 2 {
            self.buffer.resize(from + self.buffer_bytes, 0);
        }
        match &mut self.poller {
            Poller::Uring(poller) => poller.receive(socket, &mut self.buffer[from..]),
            Poller::Epoll(_) => Epoll::receive(socket, &mut self.buffer[from..]),
            #[cfg(feature = "simulation")]
            Poller::Simulated(poller) => poller.receive(socket, &mut self.buffer[from..]),
        }
    }

    /// What the last `receive` from index 0 brought, and the scratch for
    /// plaintext.
    pub(crate) fn received_bytes(&mut self, buffer: Buffer, count: usize) -> (&[u8], &mut Vec<u8>) {
        let bytes = match (buffer, &mut self.poller) {
            (Buffer::Ring(piece), Poller::Uring(uring)) => uring.piece(piece),
            _ => &mut self.buffer[..count],
        };
        (bytes, &mut self.plaintext)
    }

    /// The scratch for plaintext.
    pub(crate) fn plaintext(&mut self) -> &mut Vec<u8> {
        &mut self.plaintext
    }

    /// Readiness that is still in the batch is told by its key, and the
    /// caller's generation has moved on.
    fn dismiss(&mut self, socket: Socket, abort: bool) {
        match &mut self.poller {
            Poller::Uring(poller) => poller.close(socket, abort),
            Poller::Epoll(_) => drop(socket),
            #[cfg(feature = "simulation")]
            Poller::Simulated(poller) => poller.close(socket, abort),
        }
    }

    /// Bytes that the ring received.
    fn piece(&mut self, piece: u32) -> &mut [u8] {
        match &mut self.poller {
            Poller::Uring(uring) => uring.piece(piece),
            // The others lend nothing.
            _ => &mut [],
        }
    }

    fn set_reading(&mut self, socket: &mut Socket, reading: bool) {
        each!(self, poller => poller.set_reading(socket, reading));
    }
}
