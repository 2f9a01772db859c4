//! Numbers by which this side's connections are known on the wire (connection IDs).
//!
//! Knows how they are made. Must not know whose they are.

use std::time::Duration;

use quinn_proto::{ConnectionId, ConnectionIdGenerator, InvalidCid, RandomConnectionIdGenerator};

use crate::random::Random;

/// Enough that nobody guesses one, and as others have it.
const BYTES: usize = 8;

/// Makes connection IDs.
#[derive(Debug)]
pub(super) struct Ids {
    /// None: unpredictable ones, as they have to be outside of tests.
    pub(super) seeded: Option<Random>,
    /// Whether a datagram with an unknown ID is answered by a stateless reset.
    pub(super) resets: bool,
}

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        match &mut self.seeded {
            Some(random) => ConnectionId::new(&random.any().to_be_bytes()),
            None => RandomConnectionIdGenerator::new(BYTES).generate_cid(),
        }
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
