//! A simulated wire: what becomes of datagrams between two addresses, as a seed says.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use std::ops::Range;

use fastrand::Rng;
use wiretrial_net::quic::{Arrival, Transmit};

/// What the wire does to a datagram: once in so many times; 0: never. Times are nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Nature {
    pub(crate) loses: u64,
    pub(crate) doubles: u64,
    pub(crate) garbles: u64,
    /// Marks it as congestion does (ECN).
    pub(crate) marks: u64,
    /// One way, at least.
    pub(crate) latency: u64,
    /// More than that, up to this: what is sent later may come earlier.
    pub(crate) jitter: u64,
    /// While nothing comes through.
    pub(crate) dark: Range<u64>,
    /// Hands on what was sent together as one arrival, as GRO does.
    pub(crate) coalesces: bool,
}

/// Where datagrams go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Client,
    Server,
}

/// Datagrams on their way.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hop {
    pub(crate) at: u64,
    /// Its place among those of one instant.
    order: u64,
    pub(crate) to: Side,
    /// The client's address at the time.
    pub(crate) client: SocketAddr,
    pub(crate) from: SocketAddr,
    stride: usize,
    ecn: u8,
    pub(crate) bytes: Vec<u8>,
}

impl Hop {
    pub(crate) fn arrival(&self) -> Arrival {
        let (length, stride, from, ecn) = (self.bytes.len(), self.stride, self.from, self.ecn);
        Arrival { length, stride, from, to: None, ecn }
    }
}

#[derive(Debug)]
pub(crate) struct Wire {
    nature: Nature,
    random: Rng,
    hops: BinaryHeap<Reverse<Hop>>,
    order: u64,
    /// A digest of all that was sent and what became of it (FNV-1a).
    pub(crate) record: u64,
    pub(crate) lost: u64,
    pub(crate) garbled: u64,
}

impl Wire {
    pub(crate) fn new(nature: Nature, seed: u64) -> Self {
        Self {
            nature,
            random: Rng::with_seed(seed),
            hops: BinaryHeap::new(),
            order: 0,
            record: 0xcbf2_9ce4_8422_2325,
            lost: 0,
            garbled: 0,
        }
    }

    pub(crate) fn next_at(&self) -> Option<u64> {
        self.hops.peek().map(|Reverse(hop)| hop.at)
    }

    /// What has come by now.
    pub(crate) fn take(&mut self, now: u64) -> Option<Hop> {
        if self.next_at()? > now {
            return None;
        }
        self.hops.pop().map(|Reverse(hop)| hop)
    }

    /// Takes datagrams that `from` sends, whose other end is `client` or has it.
    pub(crate) fn send(
        &mut self,
        now: u64,
        to: Side,
        (from, client): (SocketAddr, SocketAddr),
        transmit: &Transmit,
        bytes: &[u8],
    ) {
        self.note(now);
        self.note(to as u64);
        if self.nature.coalesces && self.random.bool() {
            return self.one(now, to, (from, client), transmit, bytes);
        }
        for datagram in bytes.chunks(transmit.stride) {
            self.one(now, to, (from, client), transmit, datagram);
        }
    }

    fn one(
        &mut self,
        now: u64,
        to: Side,
        (from, client): (SocketAddr, SocketAddr),
        transmit: &Transmit,
        bytes: &[u8],
    ) {
        self.note(bytes.len() as u64);
        if self.nature.dark.contains(&now) || self.once_in(self.nature.loses) {
            self.lost += 1;
            return self.note(1);
        }
        let copies = 1 + u64::from(self.once_in(self.nature.doubles));
        for _ in 0..copies {
            let at = now + self.nature.latency + self.random.u64(0..=self.nature.jitter);
            self.note(at);
            let mut bytes = bytes.to_vec();
            if self.once_in(self.nature.garbles) {
                let place = self.random.usize(0..bytes.len());
                bytes[place] ^= 1 << self.random.u8(0..8);
                self.garbled += 1;
                self.note(place as u64);
            }
            let is_marked = transmit.ecn != 0 && self.once_in(self.nature.marks);
            let ecn = if is_marked { 3 } else { transmit.ecn };
            self.order += 1;
            let (order, stride) = (self.order, transmit.stride);
            self.hops.push(Reverse(Hop { at, order, to, client, from, stride, ecn, bytes }));
        }
    }

    pub(crate) fn note(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.record = (self.record ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn once_in(&mut self, times: u64) -> bool {
        times > 0 && self.random.u64(0..times) == 0
    }
}
