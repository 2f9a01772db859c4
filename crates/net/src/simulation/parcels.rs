//! Sockets of datagrams in a simulated network.
//!
//! Knows what lies in one. Must not know what becomes of datagrams on their way: that is the peers' to say.

use super::network::Network;
use super::wires::{Closed, Parcel, Stage, What};

/// One socket of datagrams, which is closed with its owner.
#[derive(Debug)]
pub(crate) struct Parcels {
    network: Network,
    socket: u32,
}

impl Parcels {
    pub(super) fn new(network: &Network, socket: u32) -> Self {
        Self { network: network.clone(), socket }
    }

    /// Takes datagrams that leave together, all of them.
    pub(crate) fn send(&self, parcel: Parcel) {
        let inner = &mut *self.network.lock();
        inner.catch_up();
        inner.wires.plan_from_clock(0, self.socket, What::Left(parcel));
    }

    /// The next datagrams that came together. None: there are none now.
    pub(crate) fn receive(&self) -> Option<Parcel> {
        let inner = &mut *self.network.lock();
        inner.catch_up();
        inner.wires.sockets[self.socket as usize].parcels.pop_front()
    }
}

impl Drop for Parcels {
    fn drop(&mut self) {
        let inner = &mut *self.network.lock();
        inner.catch_up();
        let wires = &mut inner.wires;
        let wire = &mut wires.sockets[self.socket as usize];
        wire.stage = Stage::Closed;
        wire.parcels.clear();
        wires.open.retain(|open| *open != self.socket);
        wires.plan_from_clock(0, self.socket, What::Closed(Closed::Finished));
    }
}
