//! What the ring knows of each socket, by numbers that completions carry.
//!
//! Knows flags and what waits. Must not know the kernel.

use std::collections::{HashMap, VecDeque};
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
    /// Bytes from an earlier turn were kept, and not read.
    pub(super) const INPUT: u16 = 1 << 10;
    /// Bytes were kept that go before all others.
    pub(super) const OUTPUT: u16 = 1 << 11;
}

/// One socket. There may be a million of them, so what is rare is elsewhere.
#[derive(Debug)]
pub(super) struct State {
    pub(super) key: Key,
    pub(super) fd: RawFd,
    /// Tells apart those that had this number one after the other.
    pub(super) generation: u32,
    flags: u16,
    /// What went wrong first; 0: nothing. Linux has no number of an error above 4095.
    error: u16,
    /// Last piece that was not read; the one behind it is the first.
    last: u32,
}

/// Bytes that could not stay where they were.
#[derive(Debug, Default)]
struct Kept {
    /// Received, and not read in the turn in which they came.
    input: VecDeque<u8>,
    /// Staged, and not taken by the kernel.
    output: Vec<u8>,
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

    /// What went wrong first.
    pub(super) fn failed(&self) -> Option<Errno> {
        (self.error != 0).then(|| Errno::from_raw_os_error(self.error.into()))
    }

    pub(super) fn fail(&mut self, errno: Errno) {
        if self.error == 0 {
            self.error = errno.raw_os_error() as u16;
        }
    }

    /// More is to be received, and nobody sees to it.
    pub(super) fn wants_arming(&self) -> bool {
        let settled = flag::RECEIVING | flag::ENDED | flag::CLOSING | flag::CONNECTING;
        let wants = self.has(flag::READING) && !self.has(settled) && self.failed().is_none();
        wants && !self.has_input()
    }

    pub(super) fn has_input(&self) -> bool {
        self.last != NONE || self.has(flag::INPUT)
    }

    /// `fill` has something.
    pub(super) fn is_readable(&self) -> bool {
        let told = self.has_input() || self.has(flag::ENDED) || self.failed().is_some();
        self.has(flag::READING) && told
    }

    /// There is something to tell.
    pub(super) fn tells(&self) -> bool {
        self.is_readable() || self.failed().is_some() || self.has(flag::CONNECTED | flag::UNSENT)
    }

    /// Bytes wait that go before all others.
    pub(super) fn has_kept_output(&self) -> bool {
        self.has(flag::OUTPUT)
    }
}

/// The sockets, and the order of the pieces of each.
#[derive(Debug, Default)]
pub(super) struct States {
    all: Vec<State>,
    free: Vec<u32>,
    /// For each piece of this turn, the next one of the same socket; behind the last comes the
    /// first.
    next: Vec<u32>,
    /// Of those whose flags say that there is something.
    kept: HashMap<u32, Kept>,
    /// Of those that are closing: open until the ring is done with them.
    closing: HashMap<u32, OwnedFd>,
    /// Empty ones, with their memory.
    spare: Vec<Kept>,
}

impl States {
    pub(super) fn insert(&mut self, key: Key, fd: RawFd, flags: u16) -> u32 {
        let index = self.free.pop().unwrap_or(self.all.len() as u32);
        let generation = self.all.get(index as usize).map_or(0, |state| state.generation);
        let state = State { key, fd, generation, flags, error: 0, last: NONE };
        match self.all.get_mut(index as usize) {
            Some(place) => *place = state,
            None => self.all.push(state),
        }
        index
    }

    /// The number may be used again, and completions of the old one are void.
    pub(super) fn remove(&mut self, index: u32) {
        let state = &mut self.all[index as usize];
        state.generation = (state.generation + 1) & super::token::GENERATIONS;
        if state.has(flag::INPUT | flag::OUTPUT) {
            self.kept.remove(&index);
        }
        if state.has(flag::CLOSING) {
            self.closing.remove(&index);
        }
        state.flags = 0;
        state.last = NONE;
        self.free.push(index);
    }

    /// Its owner is done with it; it stays open until the ring is too.
    pub(super) fn close(&mut self, index: u32, fd: OwnedFd) {
        self.all[index as usize].set(flag::CLOSING, true);
        self.closing.insert(index, fd);
    }

    pub(super) fn get(&mut self, index: u32) -> &mut State {
        &mut self.all[index as usize]
    }

    /// None: it has gone.
    pub(super) fn find(&mut self, index: u32, generation: u32) -> Option<&mut State> {
        self.all.get_mut(index as usize).filter(|state| state.generation == generation)
    }

    /// Keeps bytes that came and were not read in their turn.
    pub(super) fn keep_input(&mut self, index: u32, bytes: &[u8]) {
        let input = &mut self.keep(index, flag::INPUT).input;
        input.reserve_exact(bytes.len());
        input.extend(bytes);
    }

    /// Keeps bytes that the kernel did not take.
    pub(super) fn keep_output(&mut self, index: u32, bytes: &[u8]) {
        self.keep(index, flag::OUTPUT).output.extend_from_slice(bytes);
    }

    /// Bytes from an earlier turn, if there are any. Whoever takes some says so by
    /// [`forget_kept`](Self::forget_kept).
    pub(super) fn kept_input(&mut self, index: u32) -> Option<&mut VecDeque<u8>> {
        if !self.all[index as usize].has(flag::INPUT) {
            return None;
        }
        self.kept.get_mut(&index).map(|kept| &mut kept.input)
    }

    /// Bytes that go before all others, if there are any; as for those that came.
    pub(super) fn kept_output(&mut self, index: u32) -> Option<&mut Vec<u8>> {
        if !self.all[index as usize].has(flag::OUTPUT) {
            return None;
        }
        self.kept.get_mut(&index).map(|kept| &mut kept.output)
    }

    /// Some of them were taken: of none, nothing is kept.
    pub(super) fn forget_kept(&mut self, index: u32) {
        let Some(kept) = self.kept.get(&index) else { return };
        let state = &mut self.all[index as usize];
        state.set(flag::INPUT, !kept.input.is_empty());
        state.set(flag::OUTPUT, !kept.output.is_empty());
        if state.has(flag::INPUT | flag::OUTPUT) {
            return;
        }
        let Some(kept) = self.kept.remove(&index) else { return };
        let small = kept.input.capacity().max(kept.output.capacity()) <= SPARE_CAPACITY;
        if small && self.spare.len() < SPARE {
            self.spare.push(kept);
        }
    }

    /// A piece came for this socket.
    pub(super) fn push_piece(&mut self, index: u32, piece: u32) {
        self.number_piece(piece);
        let last = std::mem::replace(&mut self.all[index as usize].last, piece);
        let first = match last {
            NONE => piece,
            last => std::mem::replace(&mut self.next[last as usize], piece),
        };
        self.next[piece as usize] = first;
    }

    /// The oldest piece that was not read.
    pub(super) fn pop_piece(&mut self, index: u32) -> Option<u32> {
        let state = &mut self.all[index as usize];
        if state.last == NONE {
            return None;
        }
        let first = self.next[state.last as usize];
        if first == state.last {
            state.last = NONE;
        } else {
            self.next[state.last as usize] = self.next[first as usize];
        }
        Some(first)
    }

    /// A new turn: pieces are numbered from 0 again.
    pub(super) fn forget_pieces(&mut self) {
        self.next.clear();
    }

    fn keep(&mut self, index: u32, which: u16) -> &mut Kept {
        self.all[index as usize].set(which, true);
        let Self { kept, spare, .. } = self;
        kept.entry(index).or_insert_with(|| spare.pop().unwrap_or_default())
    }

    fn number_piece(&mut self, piece: u32) {
        // Pieces of sockets that have gone have a number too.
        self.next.resize(piece as usize + 1, NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(states: &mut States) -> u32 {
        states.insert(Key { slot: 0, generation: 0 }, 0, flag::READING)
    }

    #[test]
    fn a_million_of_them_are_24_megabytes() {
        assert_eq!(size_of::<State>(), 24);
    }

    #[test]
    fn pieces_are_read_in_their_order_whosever_they_are() {
        let mut states = States::default();
        let (one, other) = (state(&mut states), state(&mut states));
        for piece in 0..6 {
            states.push_piece(if piece % 3 == 0 { one } else { other }, piece);
        }
        assert_eq!(states.pop_piece(one), Some(0));
        states.push_piece(one, 6);
        let mut all = |index| std::iter::from_fn(|| states.pop_piece(index)).collect::<Vec<_>>();
        assert_eq!((all(one), all(other), all(one)), (vec![3, 6], vec![1, 2, 4, 5], vec![]));
        states.push_piece(one, 7);
        assert_eq!(states.pop_piece(one), Some(7));
    }

    #[test]
    fn what_is_kept_is_told_by_its_flag_alone() {
        let mut states = States::default();
        let index = state(&mut states);
        assert!(states.kept_input(index).is_none() && !states.get(index).has_input());
        states.keep_input(index, b"in");
        states.keep_output(index, b"out");
        states.keep_input(index, b"put");
        assert!(states.get(index).has_input() && states.get(index).has_kept_output());
        let input = states.kept_input(index).expect("kept");
        assert_eq!(input.drain(..).collect::<Vec<_>>(), b"input");
        states.forget_kept(index);
        assert!(!states.get(index).has_input());
        assert_eq!(states.kept_output(index).expect("kept"), b"out");
        states.remove(index);
        assert!(states.kept.is_empty());
        assert_eq!(state(&mut states), index);
        assert!(states.kept_output(index).is_none());
    }
}
