//! Who asked what, where several users have a connection at once.
//!
//! Knows numbers of messages. Must not know what is asked.

use std::collections::{HashMap, VecDeque};

/// The messages of users who share connections with many streams.
#[derive(Debug)]
pub(super) struct Askers {
    /// By connection: users whose steps have taken it, and are not encoded yet.
    next: Vec<VecDeque<u32>>,
    /// Whose message has this number.
    by_number: HashMap<u64, u32>,
    /// Users whose steps are over, and of whom nobody has heard yet.
    over: Vec<u32>,
}

impl Askers {
    pub(super) fn new(connections: u32) -> Self {
        let next = (0..connections).map(|_| VecDeque::new()).collect();
        Self { next, by_number: HashMap::new(), over: Vec::new() }
    }

    /// A user's step has taken a connection.
    pub(super) fn takes(&mut self, connection: u32, user: u32) {
        self.next[connection as usize].push_back(user);
    }

    /// The next message of a connection has this number: whose is it?
    pub(super) fn asks(&mut self, connection: u32, number: u64) -> Option<u32> {
        let user = self.next[connection as usize].pop_front()?;
        self.by_number.insert(number, user);
        Some(user)
    }

    pub(super) fn of(&self, number: u64) -> Option<u32> {
        self.by_number.get(&number).copied()
    }

    /// The message with this number is over, and its user's step with it.
    pub(super) fn ends(&mut self, number: u64) {
        self.over.extend(self.by_number.remove(&number));
    }

    /// One whose step is over; each is told once.
    pub(super) fn take_over(&mut self) -> Option<u32> {
        self.over.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_the_users_who_took_the_connection_in_this_order() {
        let mut askers = Askers::new(2);
        for (at, user) in [(0, 7), (1, 8), (0, 9)] {
            askers.takes(at, user);
        }
        assert_eq!([askers.asks(0, 100), askers.asks(1, 101)], [Some(7), Some(8)]);
        assert_eq!([askers.asks(0, 102), askers.asks(0, 103)], [Some(9), None]);
        assert_eq!((askers.of(102), askers.of(103)), (Some(9), None));
        askers.ends(102);
        askers.ends(102);
        assert_eq!((askers.take_over(), askers.take_over()), (Some(9), None), "once");
        assert_eq!((askers.of(102), askers.of(100)), (None, Some(7)));
    }
}
