//! The simulated arm of the driver: the same calls as the real pollers have.
//!
//! Knows what each of them would tell and when. Must not know peers.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use super::network::{Inner, Network};
use super::parcels::Parcels;
use super::wires::{self, Closed, Outcome, Stage, What, Wire};
use crate::socket::State;
use crate::transfer::{Buffer, Received};
use crate::{ConnectSpec, Flush, Key, Listener, NetError, Ready, Socket, Waker};

/// Larger writes do not wait for the next submission.
const STAGED_AT_MOST: usize = 4096;

/// Readiness of a socket.
#[derive(Debug, Clone, Copy)]
struct Told {
    socket: u32,
    /// As it was when the wait returned.
    ready: Ready,
}

/// One driver's view of the network.
#[derive(Debug)]
pub(crate) struct Simulated {
    network: Network,
    number: u32,
    waker: Arc<OwnedFd>,
    batch: Vec<Told>,
    next: usize,
    /// Bytes came since the last wait returned.
    received_since: bool,
}

impl Simulated {
    pub(crate) fn new(network: &Network) -> Result<Self, NetError> {
        let failed = |errno| NetError::doing("cannot open an event", errno);
        let waker = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(failed)?;
        Ok(Self {
            network: network.clone(),
            number: network.add_driver(),
            waker: Arc::new(waker),
            batch: Vec::new(),
            next: 0,
            received_since: false,
        })
    }

    pub(crate) fn waker(&self) -> Waker {
        Waker::new(Arc::clone(&self.waker))
    }

    pub(crate) fn received_in_wait(&self) -> bool {
        self.network.lock().nature.receives_in_wait && !self.received_since
    }

    pub(crate) fn connect(&mut self, key: Key, _: &ConnectSpec) -> Result<Socket, NetError> {
        let inner = &mut *self.network.lock();
        inner.admit(key)?;
        let mut socket = Socket::new(self.descriptor()?, key, State::Connecting);
        socket.index = inner.wires.sockets.len() as u32;
        inner.wires.sockets.push(Wire::new(key, self.number));
        inner.wires.open.push(socket.index);
        inner.wires.plan_from_clock(0, socket.index, What::Connecting);
        Ok(socket)
    }

    /// Opens a socket of datagrams: its descriptor, and what carries them.
    pub(crate) fn parcels(&mut self, key: Key) -> Result<(OwnedFd, Parcels), NetError> {
        let inner = &mut *self.network.lock();
        inner.admit(key)?;
        let fd = self.descriptor()?;
        let socket = inner.wires.sockets.len() as u32;
        let wire = Wire { stage: Stage::Connected, ..Wire::new(key, self.number) };
        inner.wires.sockets.push(wire);
        inner.wires.open.push(socket);
        Ok((fd, Parcels::new(&self.network, socket)))
    }

    /// A socket owns a descriptor. This one is never read or written.
    fn descriptor(&self) -> Result<OwnedFd, NetError> {
        rustix::io::dup(&self.waker).map_err(|errno| NetError::doing("cannot open a socket", errno))
    }

    pub(crate) fn connect_result(&mut self, socket: &mut Socket) -> Result<(), NetError> {
        let inner = &mut *self.network.lock();
        let wire = &mut inner.wires.sockets[socket.index as usize];
        let Stage::Settled(outcome) = wire.stage else { return Ok(()) };
        wire.stage = Stage::Connected;
        let errno = match outcome {
            Outcome::Accepted => {
                socket.state = State::Connected;
                return Ok(());
            }
            Outcome::Refused => Errno::CONNREFUSED,
            Outcome::TimedOut => Errno::TIMEDOUT,
            Outcome::Unreachable => Errno::HOSTUNREACH,
        };
        Err(errno.into())
    }

    #[expect(clippy::unused_self, reason = "as the other pollers")]
    pub(crate) fn listen(
        &mut self,
        _: Key,
        _: std::net::SocketAddr,
        _: bool,
    ) -> Result<Listener, NetError> {
        Err(NetError::doing("cannot listen in a simulated network", Errno::OPNOTSUPP))
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as the other pollers")]
    pub(crate) fn accept(
        &mut self,
        _: &Listener,
        _: Key,
    ) -> Result<Option<(Socket, std::net::SocketAddr)>, NetError> {
        Ok(None)
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as the other pollers")]
    pub(crate) fn set_accepting(&mut self, _: &Listener, _: bool) -> Result<(), NetError> {
        Ok(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "as the other pollers")]
    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> Result<(), NetError> {
        let woken = rustix::io::read(&*self.waker, &mut [0_u8; 8]).is_ok();
        let inner = &mut *self.network.lock();
        self.batch.clear();
        self.next = 0;
        if inner.nature.receives_in_wait {
            inner.submit(self.number);
        }
        let timeout = timeout.map_or(u64::MAX, |it| it.as_nanos().try_into().unwrap_or(u64::MAX));
        let deadline = inner.wires.clock.saturating_add(timeout).min(inner.latest);
        loop {
            inner.catch_up();
            if woken || inner.is_ready(self.number) {
                break;
            }
            match inner.wires.next_event() {
                Some(instant) if instant <= deadline => {
                    inner.wires.clock = instant.max(inner.wires.clock);
                }
                _ => {
                    inner.wires.clock = deadline.max(inner.wires.clock);
                    break;
                }
            }
        }
        inner.pause();
        inner.catch_up();
        if inner.nature.receives_in_wait {
            inner.reap(self.number);
        }
        self.received_since = false;
        for (socket, wire) in inner.wires.open() {
            if wire.driver == self.number && inner.tells(wire) {
                self.batch.push(Told { socket, ready: inner.ready(wire) });
            }
        }
        // The kernel tells them in any order.
        for last in (1..self.batch.len()).rev() {
            let other = inner.wires.random.up_to(last as u64) as usize;
            self.batch.swap(last, other);
        }
        Ok(())
    }

    pub(crate) fn has_events(&self) -> bool {
        self.next < self.batch.len()
    }

    pub(crate) fn next(&mut self) -> Option<Ready> {
        let &Told { socket, ready } = self.batch.get(self.next)?;
        self.next += 1;
        let inner = self.network.lock();
        if !inner.nature.receives_in_wait {
            return Some(ready);
        }
        let wire = &inner.wires.sockets[socket as usize];
        if wire.stage == Stage::Closed { Some(silent(wire.key)) } else { Some(inner.ready(wire)) }
    }

    pub(crate) fn receive(&mut self, socket: &mut Socket, buffer: &mut [u8]) -> Received {
        let inner = &mut *self.network.lock();
        inner.catch_up();
        let in_wait = inner.nature.receives_in_wait;
        let piece = inner.nature.piece_bytes;
        let wire = &mut inner.wires.sockets[socket.index as usize];
        let input = if in_wait { &mut wire.ring.visible } else { &mut wire.inbox };
        let offered = if in_wait { buffer.len().min(piece) } else { buffer.len() };
        let count = input.len().min(offered);
        if count > 0 {
            wires::take(input, &mut buffer[..count]);
            socket.bytes_received += count as u64;
            let ring = &wire.ring;
            let more = !ring.visible.is_empty() || ring.ended || ring.failed.is_some();
            let drained = if in_wait { !more } else { count < offered };
            return Received::Bytes { buffer: Buffer::Shared, count, drained };
        }
        if in_wait {
            if let Some(errno) = wire.ring.failed {
                return Received::Failed(NetError::doing("cannot receive", errno));
            }
            if wire.ring.ended {
                socket.ended = true;
                return Received::End;
            }
            return Received::WouldBlock;
        }
        if wire.reset && !std::mem::replace(&mut wire.reset_told, true) {
            return Received::Failed(NetError::doing("cannot receive", Errno::CONNRESET));
        }
        if wire.reset || wire.finished {
            socket.ended = true;
            return Received::End;
        }
        Received::WouldBlock
    }

    pub(crate) fn flush(&mut self, socket: &mut Socket) -> Result<Flush, NetError> {
        let network = self.network.clone();
        let inner = &mut *network.lock();
        inner.catch_up();
        if !inner.nature.receives_in_wait {
            let mut bytes = 0;
            if socket.pending() > 0 {
                bytes = inner.send(socket.index, &socket.out[socket.taken..])?;
                socket.advance(bytes);
            }
            let done = socket.pending() == 0;
            inner.wires.sockets[socket.index as usize].unsent = !done;
            return Ok(Flush { bytes, done });
        }
        let wire = &inner.wires.sockets[socket.index as usize];
        if let Some(errno) = wire.ring.failed.filter(|_| socket.pending() > 0) {
            return Err(NetError::doing("cannot send", errno));
        }
        if wire.stage != Stage::Connected {
            return Ok(Flush { bytes: 0, done: socket.pending() == 0 });
        }
        let full = inner.wires.random.once_in(inner.nature.submits_once_in);
        if full || (!wire.ring.staged.is_empty() && socket.pending() > 0) {
            self.submit(inner);
        }
        let index = socket.index;
        let ring = &mut inner.wires.sockets[index as usize].ring;
        ring.unsent = false;
        let kept = std::mem::take(&mut ring.kept);
        let count = if kept.is_empty() { 0 } else { inner.send(index, &kept)? };
        let kept = kept[count..].to_vec();
        let mut bytes = 0;
        if kept.is_empty() && socket.pending() > 0 {
            let out = &socket.out[socket.taken..];
            if out.len() <= STAGED_AT_MOST {
                inner.wires.sockets[index as usize].ring.staged.extend_from_slice(out);
                bytes = out.len();
            } else {
                bytes = inner.send(index, out)?;
            }
            socket.advance(bytes);
        }
        let wire = &mut inner.wires.sockets[index as usize];
        wire.ring.kept = kept;
        let done = socket.pending() == 0 && wire.ring.kept.is_empty();
        wire.unsent = !done;
        Ok(Flush { bytes, done })
    }

    #[expect(clippy::unused_self, reason = "as the other pollers")]
    pub(crate) fn shutdown_write(&mut self, socket: &mut Socket) {
        // Clients close: only servers need their own half alone.
        socket.finishing = true;
    }

    #[expect(clippy::needless_pass_by_value, reason = "as the other pollers")]
    pub(crate) fn close(&mut self, socket: Socket, abort: bool) {
        let network = self.network.clone();
        let inner = &mut *network.lock();
        inner.catch_up();
        let index = socket.index as usize;
        if !inner.wires.sockets[index].ring.staged.is_empty() {
            self.submit(inner);
        }
        let wire = &mut inner.wires.sockets[index];
        let unread = !wire.inbox.is_empty() || !wire.ring.visible.is_empty();
        let how = if abort || unread { Closed::Reset } else { Closed::Finished };
        if wire.stage == Stage::Closed {
            return;
        }
        wire.stage = Stage::Closed;
        wire.inbox.clear();
        inner.wires.open.retain(|open| *open != socket.index);
        let latency = inner.wires.latency;
        inner.wires.plan_from_clock(latency, socket.index, What::Closed(how));
    }

    pub(crate) fn set_reading(&mut self, socket: &mut Socket, reading: bool) {
        socket.reading = reading;
        self.network.lock().wires.sockets[socket.index as usize].reading = reading;
    }

    /// A submission in the middle of a turn: completions come with it.
    fn submit(&mut self, inner: &mut Inner) {
        inner.submit(self.number);
        inner.catch_up();
        for socket in inner.reap(self.number) {
            self.received_since = true;
            let wire = &inner.wires.sockets[socket as usize];
            if self.batch[self.next..].iter().all(|told| told.socket != socket) {
                self.batch.push(Told { socket, ready: inner.ready(wire) });
            }
        }
    }
}

impl Inner {
    pub(super) fn is_ready(&self, driver: u32) -> bool {
        self.wires.open().any(|(_, wire)| wire.driver == driver && self.tells(wire))
    }

    pub(super) fn tells(&self, wire: &Wire) -> bool {
        let Ready { connected, readable, writable, hangup, .. } = self.ready(wire);
        let arrived = self.nature.receives_in_wait
            && wire.stage == Stage::Connected
            && (!wire.inbox.is_empty() || wire.finished || wire.reset)
            && !(wire.ring.ended || wire.ring.failed.is_some());
        connected || readable || writable || hangup || arrived
    }

    fn ready(&self, wire: &Wire) -> Ready {
        let ready = silent(wire.key);
        match wire.stage {
            Stage::Connecting | Stage::Closed => return ready,
            Stage::Settled(_) => return Ready { connected: true, ..ready },
            Stage::Connected => {}
        }
        let has_room = wire.outbox.len() < self.nature.send_buffer || wire.reset;
        if self.nature.receives_in_wait {
            let ring = &wire.ring;
            let failed = ring.failed.is_some();
            let came = !ring.visible.is_empty() || !wire.parcels.is_empty();
            let input = came || ring.ended || failed;
            let writable = ring.unsent || (wire.unsent && has_room);
            return Ready { readable: wire.reading && input, writable, hangup: failed, ..ready };
        }
        let hangup = wire.reset;
        let came = !wire.inbox.is_empty() || !wire.parcels.is_empty();
        let input = wire.reading && (came || wire.finished);
        Ready { readable: input || hangup, writable: wire.unsent && has_room, hangup, ..ready }
    }

    /// Hands bytes to the kernel and says how many it took.
    fn send(&mut self, socket: u32, bytes: &[u8]) -> Result<usize, NetError> {
        let wire = &mut self.wires.sockets[socket as usize];
        if wire.reset {
            let told = std::mem::replace(&mut wire.reset_told, true);
            let errno = if told { Errno::PIPE } else { Errno::CONNRESET };
            return Err(NetError::doing("cannot send", errno));
        }
        if wire.stage != Stage::Connected {
            return Ok(0);
        }
        let mut count = bytes.len().min(self.nature.send_buffer.saturating_sub(wire.outbox.len()));
        if count > 1 && self.wires.random.once_in(self.nature.short_writes_once_in) {
            count = self.wires.random.between(1, count as u64 - 1) as usize;
        }
        self.wires.sockets[socket as usize].outbox.extend(&bytes[..count]);
        if count > 0 {
            self.wires.sent(socket);
        }
        Ok(count)
    }

    /// What was staged leaves.
    pub(super) fn submit(&mut self, driver: u32) {
        for number in 0..self.wires.open.len() {
            let socket = self.wires.open[number];
            let wire = &mut self.wires.sockets[socket as usize];
            if wire.driver != driver || wire.ring.staged.is_empty() {
                continue;
            }
            let staged = std::mem::take(&mut wire.ring.staged);
            match self.send(socket, &staged) {
                Ok(count) if count == staged.len() => {}
                Ok(count) => {
                    let wire = &mut self.wires.sockets[socket as usize];
                    wire.ring.kept.extend_from_slice(&staged[count..]);
                    wire.ring.unsent = true;
                }
                Err(_) => {
                    let ring = &mut self.wires.sockets[socket as usize].ring;
                    ring.failed = ring.failed.or(Some(Errno::PIPE));
                }
            }
        }
    }

    /// Takes in what came, and gives the sockets of which something did.
    fn reap(&mut self, driver: u32) -> Vec<u32> {
        let mut reaped = Vec::new();
        for &index in &self.wires.open {
            let wire = &mut self.wires.sockets[index as usize];
            if wire.driver != driver || wire.stage != Stage::Connected {
                continue;
            }
            let news = !wire.inbox.is_empty()
                || (wire.finished && !wire.ring.ended)
                || (wire.reset && wire.ring.failed.is_none());
            wire.ring.visible.append(&mut wire.inbox);
            wire.ring.ended |= wire.finished;
            if wire.reset {
                wire.ring.failed = wire.ring.failed.or(Some(Errno::CONNRESET));
            }
            if news {
                reaped.push(index);
            }
        }
        reaped
    }

    /// A wait ends a little late, or much too late.
    fn pause(&mut self) {
        let late = self.wires.random.up_to(self.nature.lateness);
        let pause = if self.wires.random.once_in(self.nature.pauses_once_in) {
            self.wires.random.up_to(60_000_000)
        } else {
            0
        };
        self.wires.clock += late + pause;
    }
}

fn silent(key: Key) -> Ready {
    Ready { key, connected: false, readable: false, writable: false, hangup: false }
}
