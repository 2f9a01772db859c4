//! What goes out: small writes with the next submission, larger ones at once.
//!
//! Knows what was staged and what the kernel did not take. Must not know what
//! comes in.

use std::os::fd::AsRawFd;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

use super::Uring;
use super::states::flag;
use super::token::Operation;
use crate::{Flush, NetError, Socket};

/// The most that goes through the outbox at once. More is worth a call of its
/// own, which saves a copy.
const STAGED_AT_MOST: usize = 4096;

impl Uring {
    pub(crate) fn flush(&mut self, socket: &mut Socket) -> Result<Flush, NetError> {
        let index = socket.index;
        let state = self.states.get(index);
        if let Some(errno) = state.failed().filter(|_| socket.pending() > 0) {
            return Err(NetError::doing("cannot send", errno));
        }
        if state.has(flag::CONNECTING) {
            return Ok(Flush { bytes: 0, done: socket.pending() == 0 });
        }
        if state.has(flag::STAGED) && (socket.pending() > 0 || socket.finishing) {
            // Two entries of one socket could overtake each other.
            self.submit();
        }
        let mut bytes = 0;
        if self.send_kept(socket)? && socket.pending() > 0 {
            bytes = match self.stage(socket) {
                0 => socket.send(&socket.out[socket.taken..])?,
                staged => staged,
            };
            socket.advance(bytes);
        }
        let done = socket.pending() == 0 && !self.states.get(index).has_kept_output();
        if done && socket.finishing {
            self.shutdown_write(socket);
        }
        self.attend(socket)?;
        Ok(Flush { bytes, done })
    }

    pub(crate) fn shutdown_write(&mut self, socket: &mut Socket) {
        if self.states.get(socket.index).has(flag::STAGED) {
            self.submit();
        }
        let unsent = self.states.get(socket.index).has_kept_output();
        socket.finishing = unsent || socket.pending() > 0;
        if !socket.finishing {
            socket.finish();
        }
    }

    /// Has the epoll set watch for what the ring does not tell.
    pub(super) fn attend(&mut self, socket: &mut Socket) -> Result<(), NetError> {
        let state = self.states.get(socket.index);
        let unsent = socket.pending() > 0 || state.has_kept_output();
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::OUT, unsent);
        let wanted = (unsent || !socket.reading).then_some(flags);
        self.epoll.watch(socket, wanted)
    }

    /// The kernel took not all of what was staged.
    pub(super) fn on_unsent(&mut self, index: u32, result: i32) {
        let Some(&(_, staged)) = self.staged.iter().find(|(whose, _)| *whose == index) else {
            return;
        };
        let state = self.states.get(index);
        let taken = match result {
            0.. => result as usize,
            ..0 => match Errno::from_raw_os_error(-result) {
                Errno::AGAIN | Errno::INTR => 0,
                errno => {
                    state.fail(errno);
                    return self.tell(index);
                }
            },
        };
        self.states.keep_output(index, &self.ring.staged(staged)[taken..]);
        self.states.get(index).set(flag::UNSENT, true);
        self.tell(index);
    }

    /// Puts what waits into the outbox, if it is small; gives how much.
    fn stage(&mut self, socket: &Socket) -> usize {
        let bytes = &socket.out[socket.taken..];
        if bytes.len() > STAGED_AT_MOST {
            return 0;
        }
        self.make_room();
        let mut staged = self.ring.stage(bytes);
        if staged.is_none() {
            self.submit();
            staged = self.ring.stage(bytes);
        }
        let Some(staged) = staged else { return 0 };
        let index = socket.index;
        let token = self.token(Operation::Send, index);
        self.ring.push_send(socket.fd.as_raw_fd(), staged, token);
        self.states.get(index).set(flag::STAGED, true);
        self.staged.push((index, staged));
        bytes.len()
    }

    /// Sends what the kernel did not take before; true: nothing of it is left.
    fn send_kept(&mut self, socket: &Socket) -> Result<bool, NetError> {
        self.states.get(socket.index).set(flag::UNSENT, false);
        let Some(output) = self.states.kept_output(socket.index) else { return Ok(true) };
        let count = socket.send(output)?;
        output.drain(..count);
        let done = output.is_empty();
        self.states.forget_kept(socket.index);
        Ok(done)
    }
}
