//! Which requests wait for their reply.
//!
//! Knows order and number. An ordinary request costs a count; only the unusual ones (whose
//! reply is framed in another way) are held one by one, so that a connection that never sends
//! one never allocates.

use std::collections::VecDeque;

/// Requests that wait, the oldest first; `T` says what is unusual about some of them.
#[derive(Debug, Clone)]
pub(super) struct Waiting<T> {
    /// Numbers wrap: no connection has 2^32 requests in flight.
    begun: u32,
    answered: u32,
    unusual: VecDeque<(u32, T)>,
}

impl<T: Copy> Waiting<T> {
    pub(super) const fn new() -> Self {
        Self { begun: 0, answered: 0, unusual: VecDeque::new() }
    }

    pub(super) fn push(&mut self, unusual: Option<T>) {
        if let Some(mark) = unusual {
            self.unusual.push_back((self.begun, mark));
        }
        self.begun = self.begun.wrapping_add(1);
    }

    pub(super) const fn count(&self) -> u32 {
        self.begun.wrapping_sub(self.answered)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.begun == self.answered
    }

    /// What is unusual about the oldest.
    pub(super) fn oldest(&self) -> Option<T> {
        let (number, unusual) = self.unusual.front()?;
        (*number == self.answered && !self.is_empty()).then_some(*unusual)
    }

    /// The oldest is answered. Nothing where none waits.
    pub(super) fn pop(&mut self) {
        if self.is_empty() {
            return;
        }
        if self.oldest().is_some() {
            self.unusual.pop_front();
        }
        self.answered = self.answered.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::Waiting;

    #[test]
    fn the_unusual_keep_their_place() {
        let mut waiting = Waiting::new();
        for unusual in [None, Some('a'), None, Some('b')] {
            waiting.push(unusual);
        }
        assert_eq!(waiting.count(), 4);
        let mut seen = Vec::new();
        while !waiting.is_empty() {
            seen.push(waiting.oldest());
            waiting.pop();
        }
        assert_eq!(seen, [None, Some('a'), None, Some('b')]);
        waiting.pop();
        assert_eq!(waiting.count(), 0);
    }

    #[test]
    fn numbers_wrap() {
        let mut waiting = Waiting { begun: u32::MAX, answered: u32::MAX, unusual: [].into() };
        waiting.push(Some(1));
        waiting.push(None);
        assert_eq!((waiting.count(), waiting.oldest()), (2, Some(1)));
        waiting.pop();
        assert_eq!((waiting.count(), waiting.oldest()), (1, None));
    }
}
