//! What the ring knows of each socket, by numbers that completions carry.
//!
//! Knows flags and what waits. Must not know the kernel.

use std::collections::VecDeque;
use std::os::fd::{OwnedFd, RawFd};

use rustix::io::Errno;

use crate::Key;

/// No piece.
const NONE: u32 = u32::MAX;

/// So many are kept for the next one that needs it, and no larger ones than that, in bytes.
const SPARE: usize = 256;
const SPARE_CAPACITY: usize = 64 * 1024;

/// Facts about a socket, one bit each.
pub(super) mod flag {
    /// Nothing was heard of the connect yet.
    pub(in crate::uring) const CONNECTING: u16 = 1;
    /// The result of the connect is there.
    pub(in crate::uring) const CONNECTED: u16 = 1 << 1;
    /// Readability is wanted.
    pub(in crate::uring) const READING: u16 = 1 << 2;
    /// The ring receives.
    pub(in crate::uring) const RECEIVING: u16 = 1 << 3;
    /// The ring waits for the connect.
    pub(in crate::uring) const POLLING: u16 = 1 << 4;
    /// The peer's FIN came.
    pub(in crate::uring) const ENDED: u16 = 1 << 5;
    /// Bytes wait in the outbox.
    pub(in crate::uring) const STAGED: u16 = 1 << 6;
    /// The kernel took not all of them: it is to be tried again.
    pub(in crate::uring) const UNSENT: u16 = 1 << 7;
    /// In the batch that is being told.
    pub(in crate::uring) const TOLD: u16 = 1 << 8;
    /// Gone, but for what the ring still does with it.
    pub(in crate::uring) const CLOSING: u16 = 1 << 9;
}

/// One socket.
#[derive(Debug)]
pub(super) struct State {
    pub(super) key: Key,
    pub(super) fd: RawFd,
    /// Tells apart those that had this number one after the other.
    pub(super) generation: u32,
    flags: u16,
    pub(super) failed: Option<Errno>,
    /// First and last piece that was not read.
    first: u32,
    last: u32,
    /// What is rare.
    kept: Option<Box<Kept>>,
    /// Open until the ring is done with it.
    pub(super) closing: Option<OwnedFd>,
}

/// Bytes that could not stay where they were.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Received, and not read in the turn in which they came.
    pub(super) input: VecDeque<u8>,
    /// Staged, and not taken by the kernel.
    pub(super) output: Vec<u8>,
}

impl State {
    pub(super) fn has(&self, flags: u16) -> bool {
        self.flags & flags != 0
    }

    pub(super) fn set(&mut self, flags: u16, on: bool) {
        if on {
            self.flags |= flags;
        } else {
            self.flags &= !flags;
        }
    }

    /// More is to be received, and nobody sees to it.
    pub(super) fn wants_arming(&self) -> bool {
        let settled = flag::RECEIVING | flag::ENDED | flag::CLOSING | flag::CONNECTING;
        let wants = self.has(flag::READING) && !self.has(settled) && self.failed.is_none();
        wants && !self.has_input()
    }

    pub(super) fn has_input(&self) -> bool {
        self.first != NONE || self.kept.as_ref().is_some_and(|kept| !kept.input.is_empty())
    }

    /// `fill` has something.
    pub(super) fn is_readable(&self) -> bool {
        let told = self.has_input() || self.has(flag::ENDED) || self.failed.is_some();
        self.has(flag::READING) && told
    }

    /// There is something to tell.
    pub(super) fn tells(&self) -> bool {
        self.is_readable() || self.failed.is_some() || self.has(flag::CONNECTED | flag::UNSENT)
    }

    /// Bytes from an earlier turn.
    pub(super) fn kept_input(&mut self) -> Option<&mut VecDeque<u8>> {
        self.kept.as_mut().map(|kept| &mut kept.input).filter(|input| !input.is_empty())
    }

    /// Bytes that go before all others.
    pub(super) fn kept_output(&mut self) -> Option<&mut Vec<u8>> {
        self.kept.as_mut().map(|kept| &mut kept.output).filter(|output| !output.is_empty())
    }
}

impl Kept {
    fn is_empty(&self) -> bool {
        self.input.is_empty() && self.output.is_empty()
    }
}

/// The sockets, and the order of the pieces of each.
#[derive(Debug, Default)]
pub(super) struct States {
    all: Vec<State>,
    free: Vec<u32>,
    /// For each piece of this turn, the next one of the same socket.
    next: Vec<u32>,
    /// Empty ones, with their memory.
    #[expect(clippy::vec_box, reason = "they come and go boxed")]
    spare: Vec<Box<Kept>>,
}

impl States {
    pub(super) fn insert(&mut self, key: Key, fd: RawFd, flags: u16) -> u32 {
        let at = self.free.pop().unwrap_or(self.all.len() as u32);
        let generation = self.all.get(at as usize).map_or(0, |state| state.generation);
        let state = State {
            key,
            fd,
            generation,
            flags,
            failed: None,
            first: NONE,
            last: NONE,
            kept: None,
            closing: None,
        };
        match self.all.get_mut(at as usize) {
            Some(place) => *place = state,
            None => self.all.push(state),
        }
        at
    }

    /// The number may be used again, and completions of the old one are void.
    pub(super) fn remove(&mut self, at: u32) {
        let state = &mut self.all[at as usize];
        state.generation = (state.generation + 1) & super::token::GENERATIONS;
        state.flags = 0;
        state.kept = None;
        state.closing = None;
        state.first = NONE;
        self.free.push(at);
    }

    pub(super) fn get(&mut self, at: u32) -> &mut State {
        &mut self.all[at as usize]
    }

    /// None: it has gone.
    pub(super) fn find(&mut self, at: u32, generation: u32) -> Option<&mut State> {
        self.all.get_mut(at as usize).filter(|state| state.generation == generation)
    }

    /// Where bytes go that can't stay where they are.
    pub(super) fn kept(&mut self, at: u32) -> &mut Kept {
        let kept = &mut self.all[at as usize].kept;
        kept.get_or_insert_with(|| self.spare.pop().unwrap_or_default())
    }

    /// Some of them were taken: of none, nothing is kept.
    pub(super) fn forget_kept(&mut self, at: u32) {
        let Some(kept) = self.all[at as usize].kept.take_if(|kept| kept.is_empty()) else { return };
        let small = kept.input.capacity().max(kept.output.capacity()) <= SPARE_CAPACITY;
        if small && self.spare.len() < SPARE {
            self.spare.push(kept);
        }
    }

    /// A piece came for this socket.
    pub(super) fn push_piece(&mut self, at: u32, piece: u32) {
        self.number_piece(piece);
        let state = &mut self.all[at as usize];
        if state.first == NONE {
            state.first = piece;
        } else {
            self.next[state.last as usize] = piece;
        }
        state.last = piece;
    }

    /// The oldest piece that was not read.
    pub(super) fn pop_piece(&mut self, at: u32) -> Option<u32> {
        let state = &mut self.all[at as usize];
        let piece = state.first;
        if piece == NONE {
            return None;
        }
        state.first = self.next[piece as usize];
        Some(piece)
    }

    /// A new turn: pieces are numbered from 0 again.
    pub(super) fn forget_pieces(&mut self) {
        self.next.clear();
    }

    fn number_piece(&mut self, piece: u32) {
        // Pieces of sockets that have gone have a number too.
        self.next.resize(piece as usize + 1, NONE);
    }
}
