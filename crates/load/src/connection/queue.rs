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
    /// Packs of so many messages, the last one of what is left, that were due together.
    pub(crate) fn push_packs(&mut self, messages: u32, pack: u32, due: Nanos) {
        let ring = self.0.get_or_insert_default();
        let mut left = messages;
        while left > 0 {
            let messages = left.min(pack);
            ring.push_back(Waiting { messages, due });
            left -= messages;
        }
    }

    /// The same of what is left of a pack, or of several that go together: it goes next.
    pub(crate) fn push_rest(&mut self, messages: u32, pack: u32, due: Nanos) {
        let behind = self.0.as_mut().map(|ring| std::mem::take(&mut **ring));
        self.push_packs(messages, pack, due);
        if let (Some(ring), Some(mut behind)) = (&mut self.0, behind) {
            ring.append(&mut behind);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        self.0.as_mut()?.pop_front()
    }

    /// The one whose turn it is.
    pub(crate) fn front(&self) -> Option<&Waiting> {
        self.0.as_ref()?.front()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |ring| ring.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Messages of all packs.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> u64 {
        self.0.iter().flat_map(|ring| ring.iter()).map(|it| u64::from(it.messages)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_wait_one_by_one() {
        let mut queue = Queue::default();
        queue.push_packs(4, 4, Nanos(1));
        queue.push_packs(9, 4, Nanos(2));
        assert_eq!(queue.len(), 4);
        let popped = std::iter::from_fn(|| queue.pop());
        let all: Vec<_> = popped.map(|waiting| (waiting.messages, waiting.due.0)).collect();
        assert_eq!(all, [(4, 1), (4, 2), (4, 2), (1, 2)]);
    }

    #[test]
    fn what_is_left_of_a_pack_goes_before_those_behind_it() {
        let mut queue = Queue::default();
        queue.push_packs(8, 4, Nanos(1));
        let Waiting { messages, due } = queue.pop().expect("a pack");
        queue.push_packs(1, 4, Nanos(2));
        queue.push_rest(messages - 1, 4, due);
        queue.push_rest(5, 4, Nanos(0));
        let popped = std::iter::from_fn(|| queue.pop());
        let all: Vec<_> = popped.map(|waiting| (waiting.messages, waiting.due.0)).collect();
        assert_eq!(all, [(4, 0), (1, 0), (3, 1), (4, 1), (1, 2)]);
    }
}
