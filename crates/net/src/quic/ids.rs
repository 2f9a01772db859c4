//! Numbers by which this side's connections are known on the wire (connection IDs).
//!
//! Knows how they are made, and by which of them a datagram finds one of several sockets. Must not know
//! whose they are.

use std::time::Duration;

use quinn_proto::{ConnectionId, ConnectionIdGenerator, InvalidCid, RandomConnectionIdGenerator};

use crate::random::Random;

/// Enough that nobody guesses one, and as others have it.
const BYTES: usize = 8;

/// Which of several sockets at one address: the first byte of an ID, divided by their number, leaves its
/// index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// From 0 on, in the order in which they are bound.
    pub index: u8,
    /// How many there are.
    pub of: u8,
}

impl Share {
    /// The first byte of an ID that finds this socket.
    fn first(self, random: u8) -> u8 {
        let of = self.of.max(1);
        let least = random - random % of;
        least.checked_add(self.index).unwrap_or_else(|| least - of + self.index)
    }

    fn marked(self, id: &[u8]) -> ConnectionId {
        let mut bytes = [0; BYTES];
        bytes.copy_from_slice(id);
        bytes[0] = self.first(bytes[0]);
        ConnectionId::new(&bytes)
    }
}

/// Makes connection IDs.
#[derive(Debug)]
pub(super) struct Ids {
    /// None: unpredictable ones, as they have to be outside of tests.
    pub(super) seeded: Option<Random>,
    /// Whether a datagram with an unknown ID is answered by a stateless reset.
    pub(super) resets: bool,
    /// Of which socket they are, where there are several.
    pub(super) share: Option<Share>,
}

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        if let Some(random) = &mut self.seeded {
            return ConnectionId::new(&random.any().to_be_bytes());
        }
        let id = RandomConnectionIdGenerator::new(BYTES).generate_cid();
        self.share.map_or(id, |share| share.marked(&id))
    }

    fn validate(&self, _id: &ConnectionId) -> Result<(), InvalidCid> {
        // Known IDs do not come here.
        if self.resets { Ok(()) } else { Err(InvalidCid) }
    }

    fn cid_len(&self) -> usize {
        BYTES
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_finds_its_socket_whatever_is_drawn() {
        for of in [1, 2, 3, 64, 200, 255] {
            for index in (0..of).step_by(7).chain([of - 1]) {
                let share = Share { index, of };
                let found: Vec<u8> = (0..=255).map(|random| share.first(random) % of).collect();
                assert!(found.iter().all(|&it| it == index), "{share:?}: {found:?}");
            }
        }
    }
}
