//! What one call brought or took: the results of reads and writes.
//!
//! Knows counts and where bytes lie. Must not know who moves them.

use crate::NetError;

/// What one read brought.
#[derive(Debug)]
pub enum Fill<'d> {
    /// Carried and new bytes; how many are new; whether nothing more is known
    /// to wait. When not drained, fill again before waiting.
    Data(&'d mut [u8], usize, bool),
    /// Nothing now.
    WouldBlock,
    /// The peer has finished sending. `carry` is untouched. Told again at
    /// each further call.
    End,
    /// The connection is broken. `carry` is untouched.
    Failed(NetError),
}

/// What one flush did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flush {
    /// Bytes that the kernel took in this call.
    pub bytes: usize,
    /// Everything is with the kernel. Otherwise `writable` will tell when to
    /// go on.
    pub done: bool,
}

/// Where received bytes are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Buffer {
    /// In the shared buffer.
    Shared,
    /// In one of the ring's.
    Ring(u32),
}

/// What one receive brought.
pub(crate) enum Received {
    /// So many bytes, and whether nothing more is known to wait.
    Bytes {
        buffer: Buffer,
        count: usize,
        drained: bool,
    },
    WouldBlock,
    End,
    Failed(NetError),
}
