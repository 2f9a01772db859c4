//! Packs of messages that wait until their connection has room.

use std::collections::VecDeque;

use crate::clock::Nanos;

/// A pack of messages that waits until its connection has room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) messages: u32,
    pub(crate) due: Nanos,
}

/// Packs in the order in which they were due. Most connections never have one: those are a pointer.
#[derive(Debug, Default)]
pub(crate) struct Queue(
    #[expect(clippy::box_collection, reason = "a pointer where a ring would be 32 bytes")]
    Option<Box<VecDeque<Waiting>>>,
);

impl Queue {
    pub(crate) fn push(&mut self, waiting: Waiting) {
        self.0.get_or_insert_default().push_back(waiting);
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        self.0.as_mut()?.pop_front()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |ring| ring.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
