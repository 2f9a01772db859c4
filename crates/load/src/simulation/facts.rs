//! What the peers of a world witness: what a worker counts must agree with it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::frames::Seen;

/// What the peers know to be true.
#[derive(Debug, Default, Clone)]
pub(super) struct Facts {
    /// Right replies that were sent: no more can have been counted.
    pub(super) right: u64,
    /// Replies that were sent, and that only checks of a sample find to be wrong.
    pub(super) subtle: u64,
    /// Right copies that were sent: to all of a company, its sender included.
    pub(super) copies: u64,
    /// Snapshots of the lobby that were sent.
    pub(super) snapshots: u64,
    /// When the last right reply of each connection was there, by driver and slot.
    pub(super) last_right: BTreeMap<(u32, u32), u64>,
    /// Connections asked for.
    pub(super) connects: u64,
    /// Messages that were refused alone.
    pub(super) refused: u64,
    /// Messages that are never answered, though later ones are.
    pub(super) ignored: u64,
    /// What clients have certainly taken in of that, and what came against their peers' will.
    pub(super) seen: Seen,
    /// Something came that no server understands.
    pub(super) misunderstood: u64,
}

impl Facts {
    pub(super) fn right(&mut self, seat: (u32, u32), at: u64) {
        self.right += 1;
        self.last_right.insert(seat, at);
    }
}

/// The facts, as the world and its peers share them.
pub(super) type Witness = Arc<Mutex<Facts>>;
