//! A network in memory, for tests of what uses a driver: sockets are numbers, time is virtual.
//!
//! Knows sockets, bytes on their way and instants, and behaves as its seed says. Must not know
//! what the peers say: they are the test's ([`Peers`]). Nothing here is part of a normal build.
//!
//! A simulated driver behaves like one of the two real pollers, as [`Nature::receives_in_wait`]
//! says. With io_uring the bytes are there when the wait returns, small writes leave with the next
//! submission, and a failed write is told later. With epoll, reads and writes happen when they are
//! asked for, and readiness is level-triggered. Sockets of datagrams are read and written when that is
//! asked for with both.

mod network;
mod parcels;
mod poller;
mod wires;

pub use crate::random::Random;
pub use network::{Nature, Network};
pub use wires::{Closed, Outcome, Parcel, Peers, Wires};

pub(crate) use parcels::Parcels;
pub(crate) use poller::Simulated;
