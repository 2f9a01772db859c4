//! Memory that the sessions of one thread share.
//!
//! Knows buffers, and what the last head meant; must not know who reads it.

mod known;

pub(crate) use known::{KnownHead, Verdict};

use crate::fields::FieldList;
use crate::grpc::Gunzip;

/// What codecs share, so that one serves all connections of a thread: room for payload that does
/// not stand in the input as it is, in which nothing stays between two calls, and what was last
/// read where the same bytes mean the same again. Takes memory once it is needed.
#[derive(Debug, Default)]
pub struct Scratch {
    buffer: Box<[u8]>,
    /// What was lent last.
    lent: Vec<u8>,
    /// The last head of an HTTP reply.
    pub(crate) head: KnownHead,
    /// Fields that were decoded last.
    pub(crate) fields: FieldList,
    /// What makes messages of gRPC what they were, and the last piece of content in which it did.
    pub(crate) gunzip: Gunzip,
    pub(crate) unpacked: Vec<u8>,
}

impl Scratch {
    /// How much payload is laid into it at once, bytes: nothing longer is ever held of a payload
    /// that was compressed, however long it comes to be.
    pub(crate) const SIZE: usize = 16 * 1024;

    /// Room that takes no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes what a session collected, which is empty then, so that an event may point to it.
    pub fn lend(&mut self, collected: &mut Vec<u8>) -> &[u8] {
        self.lent.clear();
        std::mem::swap(&mut self.lent, collected);
        &self.lent
    }

    /// All of it.
    pub(crate) fn buffer(&mut self) -> &mut [u8] {
        if self.buffer.is_empty() {
            self.buffer = vec![0; Self::SIZE].into_boxed_slice();
        }
        &mut self.buffer
    }
}
