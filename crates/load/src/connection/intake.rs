//! Where connections over QUIC take in what comes: memory that all of a worker's share.
//!
//! Knows that it is lent. Must not know whose bytes are in it.

use wiretrial_net::quic::Scratch;

/// Memory for what comes.
#[derive(Debug, Default)]
pub(super) struct Intake {
    /// Datagrams on their way in and out.
    pub(super) datagrams: Scratch,
    /// What is read of a stream.
    pub(super) bytes: Vec<u8>,
}
