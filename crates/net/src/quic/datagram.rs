//! Datagrams on their way in and out, several of one size at a time, and the memory that they pass through.
//!
//! Knows addresses and sizes. Must not know sockets, nor what is inside.

use std::net::{IpAddr, SocketAddr};

use bytes::BytesMut;
use quinn_proto::EcnCodepoint;

/// The most that one call to the kernel takes or brings: the length field of UDP has 16 bits.
pub(super) const MOST_BYTES: usize = 65_535;

/// How much memory is taken at a time for datagrams that came.
const ARENA_BYTES: usize = 64 * 1024;

/// Datagrams that came together from one peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Bytes of all of them.
    pub length: usize,
    /// Bytes of each; the last may be shorter.
    pub stride: usize,
    /// Who sent them.
    pub from: SocketAddr,
    /// To which of our addresses, where the socket tells.
    pub to: Option<IpAddr>,
    /// The two bits of ECN (RFC 3168).
    pub ecn: u8,
}

/// Datagrams to be sent together to one peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// Bytes of all of them.
    pub length: usize,
    /// Bytes of each; the last may be shorter.
    pub stride: usize,
    /// Who gets them.
    pub to: SocketAddr,
    /// From which of our addresses, where it matters.
    pub from: Option<IpAddr>,
    /// The two bits of ECN (RFC 3168).
    pub ecn: u8,
}

impl Transmit {
    /// How many datagrams these are.
    pub fn count(&self) -> usize {
        self.length.div_ceil(self.stride.max(1))
    }

    pub(super) fn of(made: &quinn_proto::Transmit) -> Self {
        Self {
            length: made.size,
            stride: made.segment_size.unwrap_or(made.size),
            to: made.destination,
            from: made.src_ip,
            ecn: made.ecn.map_or(0, |ecn| ecn as u8),
        }
    }
}

impl Arrival {
    pub(super) fn mark(&self) -> Option<EcnCodepoint> {
        EcnCodepoint::from_bits(self.ecn)
    }
}

/// Memory for datagrams that came. It is used again once nobody holds a part of it: bytes of a stream
/// that were not read yet do.
#[derive(Debug, Default)]
pub struct Arena {
    free: BytesMut,
    /// Where an endpoint writes what it answers by itself.
    pub(super) reply: Vec<u8>,
}

impl Arena {
    /// A datagram as its receiver wants to own it.
    pub(super) fn own(&mut self, datagram: &[u8]) -> BytesMut {
        if self.free.capacity() < datagram.len() {
            self.free.reserve(ARENA_BYTES.max(datagram.len()));
        }
        self.free.extend_from_slice(datagram);
        self.free.split()
    }
}

/// What all connections of a thread share.
#[derive(Debug)]
pub struct Scratch {
    pub(super) arena: Arena,
    /// What the kernel has just brought.
    pub(super) incoming: Vec<u8>,
    /// What the kernel is to take next.
    pub(super) outgoing: Vec<u8>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            arena: Arena::default(),
            incoming: vec![0; MOST_BYTES],
            outgoing: Vec::with_capacity(MOST_BYTES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_once_nobody_holds_a_part_of_it() {
        let mut arena = Arena::default();
        let first = arena.own(&[1; 1200]);
        let place = first.as_ptr();
        drop(first);
        let mut places = Vec::new();
        for number in 0..200_u8 {
            let piece = arena.own(&[number; 1200]);
            assert_eq!(&piece[..], [number; 1200]);
            places.push(piece.as_ptr());
        }
        assert!(places.contains(&place), "it went on to new memory");
        let held: Vec<BytesMut> = (0..200_u8).map(|number| arena.own(&[number; 1200])).collect();
        assert!(held.iter().zip(0_u8..).all(|(piece, number)| piece[..] == [number; 1200]));
    }
}
