//! All peers of a world.
//!
//! Knows which connection meets with what. Must not know the worker.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use wiretrial_net::simulation::{Closed, Outcome, Peers, Random, Wires};
use wiretrial_net::{Key, NetError};

use super::around::Around;
use super::facts::Witness;
use super::peer::{CALM, Peer};
use super::scenario::{MS, Manners};

/// So many of the first connects are refused more seldom.
const MOSTLY_STAND: usize = 12;
/// A fate that is none of those of refused connects.
const STANDS: u64 = u64::MAX;

/// All peers.
pub(super) struct Crowd {
    manners: Manners,
    random: Random,
    /// By socket; none: it is closed.
    peers: Vec<Option<Peer>>,
    /// The last socket of each driver and slot: who comes again is no longer where it was.
    last: BTreeMap<(u32, u32), u32>,
    witness: Witness,
}

impl Crowd {
    pub(super) fn new(manners: Manners, witness: Witness) -> Self {
        let random = Random::new(manners.seed);
        Self { manners, random, peers: Vec::new(), last: BTreeMap::new(), witness }
    }

    fn with(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        act: impl FnOnce(&mut Peer, &mut Wires, &mut Around),
    ) {
        let facts = &mut *self.witness.lock().unwrap_or_else(PoisonError::into_inner);
        let mut around = Around { manners: &self.manners, facts, posts: Vec::new() };
        let Some(Some(peer)) = self.peers.get_mut(socket as usize) else { return };
        act(peer, wires, &mut around);
        if self.last.get(&peer.seat) != Some(&socket) {
            return;
        }
        for post in std::mem::take(&mut around.posts) {
            for (index, peer) in self.peers.iter_mut().enumerate() {
                if let Some(peer) = peer {
                    peer.copy(wires, index as u32, &post, &mut around);
                }
            }
        }
    }

    fn is_bad(&mut self, now: u64) -> bool {
        !self.manners.good
            && now < self.manners.calm_at
            && self.random.once_in(self.manners.bad_once_in)
    }
}

impl Peers for Crowd {
    fn admit(&mut self, wires: &mut Wires, _: Key) -> Result<(), NetError> {
        let facts = &mut *self.witness.lock().unwrap_or_else(PoisonError::into_inner);
        facts.connects += 1;
        let bad = !self.manners.good && wires.now() < self.manners.calm_at;
        if bad && self.random.once_in(40) { Err(NetError::NoPorts) } else { Ok(()) }
    }

    fn connecting(&mut self, wires: &mut Wires, socket: u32, driver: u32, key: Key) {
        let bad = self.is_bad(wires.now());
        let random = Random::new(self.random.any());
        let mut peer = Peer::new((driver, key.slot), &self.manners, bad, random);
        let after = self.random.up_to(self.manners.connect);
        if bad {
            wires.call(socket, self.manners.calm_at - wires.now(), CALM);
        }
        // Where nobody stands, nothing can be tried.
        let is_first = (socket as usize) < MOSTLY_STAND;
        let refuses = bad && !(is_first && self.random.once_in(2));
        let fate = if refuses { self.random.up_to(11) } else { STANDS };
        match fate {
            0 | 1 => wires.settle(socket, after, Outcome::Refused),
            2 => wires.settle(socket, self.random.up_to(200 * MS), Outcome::TimedOut),
            3 if self.random.once_in(2) => wires.settle(socket, after, Outcome::Unreachable),
            // Nothing is ever heard of it, unless all becomes well.
            3 => {}
            _ => {
                wires.settle(socket, after, Outcome::Accepted);
                peer.stands(wires, socket, after);
            }
        }
        self.peers.resize_with(self.peers.len().max(socket as usize + 1), || None);
        self.last.insert(peer.seat, socket);
        self.peers[socket as usize] = Some(peer);
    }

    fn received(&mut self, wires: &mut Wires, socket: u32) {
        self.with(wires, socket, |peer, wires, around| peer.received(wires, socket, around));
    }

    fn closed(&mut self, _: &mut Wires, socket: u32, _: Closed) {
        if let Some(peer) = self.peers.get_mut(socket as usize) {
            *peer = None;
        }
    }

    fn called(&mut self, wires: &mut Wires, socket: u32, token: u64) {
        self.with(wires, socket, |peer, wires, around| {
            if token == CALM && !peer.settled {
                wires.settle(socket, 0, Outcome::Refused);
            } else {
                peer.called(wires, socket, token, around);
            }
        });
    }
}
