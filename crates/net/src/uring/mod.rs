//! io_uring: sockets are received from without being asked, and what is to be
//! sent goes with the call that waits.
//!
//! Knows what to ask of the ring and when. Must not know the memory that the
//! kernel shares with it (that is `ring`), nor who waits.
//!
//! Readiness stays what it is with epoll: told again until it was used. So
//! bytes that nobody reads in the turn in which they came are copied, and their
//! buffers go back: no connection can keep the others' buffers from them.
//! An epoll set watches listeners, the waker, sockets of others, and sockets that nothing is received
//! from or that take no more bytes, and the ring watches the set.

mod completing;
#[allow(unsafe_code, reason = "memory and queues that are shared with the kernel")]
mod ring;
mod sending;
mod states;
mod token;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

use crate::epoll::Epoll;
use crate::socket::State;
use crate::transfer::{Buffer, Received};
use crate::{ConnectSpec, Key, Listener, NetError, Ready, Socket, Waker};

use ring::{Completion, Refused, Ring, Staged};
use states::{States, flag};
use token::{Operation, Token};

/// A receive buffer is not larger: what comes in one piece from the kernel.
const LARGEST_BUFFER: usize = 8 * 1024;
/// Sockets that found no buffer and are received from anew in one turn: half
/// of the buffers. More would find none again, at the price of a message each.
const ARMED_AT_ONCE: usize = 256;
/// Tries to hand over entries that the kernel does not take.
const TRIES: u32 = 1000;

/// A ring with its sockets.
pub(crate) struct Uring {
    ring: Ring,
    /// Watches what the ring does not.
    epoll: Epoll,
    /// The ring waits for readiness of the epoll set.
    epoll_watched: bool,
    states: States,
    /// Whose readiness is being told.
    batch: Vec<Told>,
    next: usize,
    /// Sockets that may have to be received from anew.
    unarmed: VecDeque<u32>,
    /// What was staged for whom since the last submission.
    staged: Vec<(u32, Staged)>,
    completions: Vec<Completion>,
    /// Bytes came since the last wait returned.
    received_since: bool,
    /// The ring is of no use any more.
    broken: Option<Errno>,
}

/// Readiness of the socket that had this number then.
#[derive(Debug, Clone, Copy)]
struct Told {
    index: u32,
    generation: u32,
    key: Key,
}

impl std::fmt::Debug for Uring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Uring")
            .field("states", &self.states)
            .field("batch", &self.batch.len())
            .field("broken", &self.broken)
            .finish_non_exhaustive()
    }
}

impl Uring {
    /// Opens a ring whose receive buffers are not larger than asked for.
    ///
    /// # Errors
    /// When this kernel has none for us, in words that go behind "io_uring: ".
    pub(crate) fn new(buffer_bytes: usize) -> Result<Self, NetError> {
        let ring = Ring::new(buffer_bytes.min(LARGEST_BUFFER)).map_err(|refused| {
            let Refused { doing, errno } = refused;
            NetError::doing(format!("io_uring: {doing}"), errno)
        })?;
        Ok(Self {
            ring,
            epoll: Epoll::new()?,
            epoll_watched: false,
            states: States::default(),
            batch: Vec::new(),
            next: 0,
            unarmed: VecDeque::new(),
            staged: Vec::new(),
            completions: Vec::new(),
            received_since: false,
            broken: None,
        })
    }

    pub(crate) fn waker(&self) -> Waker {
        self.epoll.waker()
    }

    pub(crate) fn connect(&mut self, key: Key, spec: &ConnectSpec) -> Result<Socket, NetError> {
        let mut socket = Socket::connect(key, spec)?;
        let flags = flag::CONNECTING | flag::POLLING;
        socket.index = self.states.insert(key, socket.fd.as_raw_fd(), flags);
        let token = self.token(Operation::Connect, socket.index);
        self.make_room();
        self.ring.push_poll(socket.fd.as_raw_fd(), EventFlags::OUT.bits(), token);
        Ok(socket)
    }

    pub(crate) fn connect_result(&mut self, socket: &mut Socket) -> Result<(), NetError> {
        let state = self.states.get(socket.index);
        state.set(flag::CONNECTING | flag::CONNECTED, false);
        socket.take_error()?;
        socket.state = State::Connected;
        self.states.get(socket.index).set(flag::READING, socket.reading);
        self.arm(socket.index);
        Ok(())
    }

    pub(crate) fn listen(
        &mut self,
        key: Key,
        address: SocketAddr,
        reuse_port: bool,
    ) -> Result<Listener, NetError> {
        self.epoll.listen(key, address, reuse_port)
    }

    pub(crate) fn accept(
        &mut self,
        listener: &Listener,
        key: Key,
    ) -> Result<Option<(Socket, SocketAddr)>, NetError> {
        let Some((fd, peer)) = listener.accept()? else { return Ok(None) };
        let mut socket = Socket::new(fd, key, State::Connected);
        socket.index = self.states.insert(key, socket.fd.as_raw_fd(), flag::READING);
        self.arm(socket.index);
        Ok(Some((socket, peer)))
    }

    pub(crate) fn set_accepting(
        &mut self,
        listener: &Listener,
        accepting: bool,
    ) -> Result<(), NetError> {
        self.epoll.set_accepting(listener, accepting)
    }

    pub(crate) fn watch_other(
        &self,
        key: Key,
        socket: BorrowedFd<'_>,
        writable: bool,
    ) -> Result<(), NetError> {
        self.epoll.watch_other(key, socket, writable)
    }

    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> Result<(), NetError> {
        self.carry_over();
        for _ in 0..ARMED_AT_ONCE {
            let Some(index) = self.unarmed.pop_front() else { break };
            self.arm(index);
        }
        if !self.epoll_watched {
            self.epoll_watched = true;
            let token = Token { operation: Operation::Epoll, generation: 0, index: 0 }.to_number();
            self.make_room();
            self.ring.push_poll(self.epoll.as_raw_fd(), EventFlags::IN.bits(), token);
        }
        let idle = self.batch.is_empty() && self.unarmed.is_empty();
        let timeout = if idle { timeout } else { Some(Duration::ZERO) };
        if timeout != Some(Duration::ZERO) || self.ring.has_work() {
            let entered = self.ring.enter(timeout);
            self.broken = self.broken.or(entered.err());
        }
        self.reap();
        self.received_since = false;
        // What it has not told yet may be over by now.
        if !self.epoll_watched || self.epoll.has_events() {
            self.epoll.wait(Some(Duration::ZERO))?;
        }
        match self.broken {
            None => Ok(()),
            Some(errno) => Err(NetError::doing("cannot wait for readiness", errno)),
        }
    }

    pub(crate) fn has_events(&self) -> bool {
        self.next < self.batch.len() || self.epoll.has_events()
    }

    pub(crate) fn next(&mut self) -> Option<Ready> {
        let Some(&told) = self.batch.get(self.next) else { return self.epoll.next() };
        self.next += 1;
        let key = told.key;
        let silent =
            Ready { key, connected: false, readable: false, writable: false, hangup: false };
        let Some(state) = self.states.find(told.index, told.generation) else {
            return Some(silent);
        };
        if state.has(flag::CONNECTED) {
            return Some(Ready { connected: true, ..silent });
        }
        Some(Ready {
            readable: state.is_readable() || state.failed().is_some(),
            writable: state.has(flag::UNSENT),
            hangup: state.failed().is_some(),
            ..silent
        })
    }

    /// Bytes of an earlier turn go to `buffer`, those of this one stay where
    /// they are.
    pub(crate) fn receive(&mut self, socket: &mut Socket, buffer: &mut [u8]) -> Received {
        let index = socket.index;
        if let Some(input) = self.states.kept_input(index) {
            let count = take_first(input, buffer);
            self.states.forget_kept(index);
            self.unarmed.push_back(index);
            return self.count_received(socket, count, Buffer::Shared);
        }
        if let Some(piece) = self.states.pop_piece(index) {
            let count = self.ring.piece(piece).len();
            return self.count_received(socket, count, Buffer::Ring(piece));
        }
        let state = self.states.get(index);
        if let Some(errno) = state.failed() {
            return Received::Failed(NetError::doing("cannot receive", errno));
        }
        if state.has(flag::ENDED) {
            socket.ended = true;
            return Received::End;
        }
        if !socket.reading && !state.has(flag::RECEIVING) {
            return Epoll::receive(socket, buffer);
        }
        Received::WouldBlock
    }

    /// Nothing was received since the last wait returned.
    pub(crate) fn received_in_wait(&self) -> bool {
        !self.received_since
    }

    /// Received bytes that stayed where they were, until the next wait.
    pub(crate) fn piece(&mut self, piece: u32) -> &mut [u8] {
        self.ring.piece(piece)
    }

    pub(crate) fn set_reading(&mut self, socket: &mut Socket, reading: bool) {
        let index = socket.index;
        socket.reading = reading;
        let state = self.states.get(index);
        if state.has(flag::CONNECTING | flag::CONNECTED) {
            // It begins as is said now.
            return;
        }
        state.set(flag::READING, reading);
        if reading {
            self.arm(index);
            self.tell(index);
        } else if state.has(flag::RECEIVING) {
            self.cancel(Operation::Receive, index);
        }
        // It fails only where the kernel has no memory for it; then a hangup
        // is told later, by the next write.
        let _ = self.attend(socket);
    }

    /// Closes once the ring is done with it. Unless it is an abort, FIN goes out
    /// at once: nobody knows when the next wait comes.
    pub(crate) fn close(&mut self, mut socket: Socket, abort: bool) {
        let index = socket.index;
        // Whatever the set still tells of it is told by its key.
        let _ = self.epoll.watch(&mut socket, None);
        if self.states.get(index).has(flag::STAGED) {
            self.submit();
        }
        let state = self.states.get(index);
        let operation = match (state.has(flag::RECEIVING), state.has(flag::POLLING)) {
            (false, false) => return self.states.remove(index),
            (true, _) => Operation::Receive,
            (false, true) => Operation::Connect,
        };
        if !abort {
            socket.finish();
        }
        state.set(flag::READING, false);
        self.states.close(index, socket.fd);
        self.cancel(operation, index);
    }

    fn count_received(&mut self, socket: &mut Socket, count: usize, buffer: Buffer) -> Received {
        socket.bytes_received += count as u64;
        let state = self.states.get(socket.index);
        let more = state.has_input() || state.has(flag::ENDED) || state.failed().is_some();
        Received::Bytes { buffer, count, drained: !more }
    }

    fn arm(&mut self, index: u32) {
        if !self.states.get(index).wants_arming() {
            return;
        }
        self.make_room();
        let token = self.token(Operation::Receive, index);
        let state = self.states.get(index);
        // Making room may have brought completions, but none that matter here.
        state.set(flag::RECEIVING, true);
        self.ring.push_receive(state.fd, token);
    }

    fn cancel(&mut self, operation: Operation, index: u32) {
        self.make_room();
        let (target, token) = (self.token(operation, index), self.token(Operation::Cancel, index));
        self.ring.push_cancel(target, token);
    }

    fn token(&mut self, operation: Operation, index: u32) -> u64 {
        Token { operation, generation: self.states.get(index).generation, index }.to_number()
    }

    fn make_room(&mut self) {
        if self.ring.is_full() {
            self.submit();
        }
    }

    /// Hands everything over, and looks after what failed.
    fn submit(&mut self) {
        for _ in 0..TRIES {
            let submitted = self.ring.submit();
            self.reap();
            match submitted {
                Ok(true) => return,
                Ok(false) => {}
                Err(errno) => {
                    self.broken = Some(errno);
                    return;
                }
            }
        }
        self.broken = Some(Errno::AGAIN);
    }

    /// Begins a new batch with those of the last one that were not looked
    /// after, and gives their buffers back.
    fn carry_over(&mut self) {
        self.next = 0;
        let mut batch = std::mem::take(&mut self.batch);
        let mut unread = Vec::new();
        batch.retain(|told| {
            if self.states.find(told.index, told.generation).is_none() {
                return false;
            }
            self.keep_input(told.index);
            let state = self.states.get(told.index);
            let tells = state.tells();
            state.set(flag::TOLD, tells);
            if state.has_input() && state.has(flag::RECEIVING) {
                // The peer is to feel that nobody reads.
                unread.push(told.index);
            }
            tells
        });
        self.batch = batch;
        self.ring.take_back();
        self.states.forget_pieces();
        // Only now: room for them may bring completions, whose pieces and tidings must stay.
        for index in unread {
            self.cancel(Operation::Receive, index);
        }
    }

    /// Copies bytes that were not read.
    fn keep_input(&mut self, index: u32) {
        while let Some(piece) = self.states.pop_piece(index) {
            self.states.keep_input(index, self.ring.piece(piece));
        }
    }

    fn tell(&mut self, index: u32) {
        let state = self.states.get(index);
        if state.has(flag::TOLD) || !state.tells() {
            return;
        }
        state.set(flag::TOLD, true);
        self.batch.push(Told { index, generation: state.generation, key: state.key });
    }
}

/// Moves the first bytes to where they are wanted; gives how many.
fn take_first(input: &mut VecDeque<u8>, buffer: &mut [u8]) -> usize {
    let count = input.len().min(buffer.len());
    let (one, other) = input.as_slices();
    let of_one = one.len().min(count);
    buffer[..of_one].copy_from_slice(&one[..of_one]);
    buffer[of_one..count].copy_from_slice(&other[..count - of_one]);
    input.drain(..count);
    count
}

impl Drop for Uring {
    fn drop(&mut self) {
        self.submit();
    }
}
