//! What is on its way: packets in the order of their departure.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Packets that wait for their instants. Those of one instant leave in the order they came.
#[derive(Debug)]
pub struct Line<T> {
    waiting: BinaryHeap<Reverse<Waiting<T>>>,
    pushed: u64,
}

impl<T> Line<T> {
    /// A line with nothing on it.
    pub fn new() -> Self {
        Self { waiting: BinaryHeap::new(), pushed: 0 }
    }

    /// Holds `packet` until `at_ns`.
    pub fn push(&mut self, at_ns: u64, packet: T) {
        self.waiting.push(Reverse(Waiting { at_ns, number: self.pushed, packet }));
        self.pushed += 1;
    }

    /// The next packet whose instant is not after `now_ns`, and that instant.
    pub fn due(&mut self, now_ns: u64) -> Option<(u64, T)> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.waiting.pop().map(|Reverse(first)| (first.at_ns, first.packet))
    }

    /// When the next packet leaves; None: there is none.
    pub fn next_ns(&self) -> Option<u64> {
        self.waiting.peek().map(|Reverse(first)| first.at_ns)
    }

    /// How many packets are on their way.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Debug)]
struct Waiting<T> {
    at_ns: u64,
    number: u64,
    packet: T,
}

impl<T> Waiting<T> {
    fn key(&self) -> (u64, u64) {
        (self.at_ns, self.number)
    }
}

impl<T> PartialEq for Waiting<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Waiting<T> {}

impl<T> PartialOrd for Waiting<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Waiting<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_at_their_instants_and_in_order() {
        let mut line = Line::new();
        for (at_ns, name) in [(30, 'c'), (10, 'a'), (30, 'd'), (20, 'b')] {
            line.push(at_ns, name);
        }
        assert_eq!((line.len(), line.next_ns()), (4, Some(10)));
        assert_eq!(line.due(9), None);
        assert_eq!(line.due(10), Some((10, 'a')));
        assert_eq!(line.due(19), None);
        assert_eq!(line.due(99), Some((20, 'b')));
        assert_eq!(line.due(99), Some((30, 'c')));
        assert_eq!(line.due(99), Some((30, 'd')));
        assert_eq!((line.due(99), line.next_ns(), line.is_empty()), (None, None, true));
    }
}
