//! What the kernel has done, taken in.
//!
//! Knows what each completion means for its socket. Must not know what was
//! asked for when.

use rustix::io::Errno;

use super::Uring;
use super::ring::Completion;
use super::states::flag;
use super::token::{Operation, Token};

impl Uring {
    /// Takes in what completed.
    pub(super) fn reap(&mut self) {
        let mut completions = std::mem::take(&mut self.completions);
        self.ring.take_completions(&mut completions);
        for completion in completions.drain(..) {
            let Token { operation, generation, index } = Token::from_number(completion.token);
            match operation {
                Operation::Epoll => self.epoll_watched = false,
                Operation::Cancel => {}
                _ if self.states.find(index, generation).is_none() => {}
                Operation::Receive => self.on_received(index, &completion),
                Operation::Connect => self.on_connect(index),
                Operation::Send => self.on_unsent(index, completion.result),
            }
        }
        self.completions = completions;
        if !self.ring.is_submitted() {
            return;
        }
        // Sends end before their submission does.
        for (index, _) in self.staged.drain(..) {
            self.states.get(index).set(flag::STAGED, false);
        }
        self.ring.clear_outbox();
    }

    fn on_received(&mut self, index: u32, completion: &Completion) {
        let state = self.states.get(index);
        state.set(flag::RECEIVING, completion.more);
        if state.has(flag::CLOSING) {
            return self.closed(index);
        }
        match completion.result {
            0 => state.set(flag::ENDED, true),
            ..0 => match Errno::from_raw_os_error(-completion.result) {
                Errno::CANCELED | Errno::NOBUFS | Errno::AGAIN | Errno::INTR => {}
                errno => state.fail(errno),
            },
            _ => {
                self.received_since = true;
                let reading = state.has(flag::READING);
                if let Some(piece) = completion.piece {
                    self.states.push_piece(index, piece);
                }
                if !reading {
                    // Silent, so not in the batch that would be looked through.
                    self.keep_input(index);
                }
            }
        }
        if !completion.more {
            self.unarmed.push_back(index);
        }
        self.tell(index);
    }

    fn on_connect(&mut self, index: u32) {
        let state = self.states.get(index);
        state.set(flag::POLLING, false);
        if state.has(flag::CLOSING) {
            return self.closed(index);
        }
        state.set(flag::CONNECTED, true);
        self.tell(index);
    }

    /// A closing socket goes when nothing is under way on it.
    fn closed(&mut self, index: u32) {
        if !self.states.get(index).has(flag::RECEIVING | flag::POLLING) {
            self.states.remove(index);
        }
    }
}
