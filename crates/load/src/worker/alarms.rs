//! When connections want to be looked at, whatever comes: those over QUIC, which have timers of their own.
//!
//! Knows instants, each of which changes with nearly every datagram. Must not know what is due.

use wiretrial_net::Key;

use super::Worker;
use crate::clock::Nanos;
use crate::machine::Machine;

/// An instant for each connection, and the earliest of them all: a tree of which each node has the earlier
/// one of two, so that a change touches one of each height at most, and nothing is left behind.
#[derive(Debug)]
pub(super) struct Alarms {
    /// Node 1 is the root, those below node `n` are `2n` and `2n + 1`, and the last half are leaves.
    nodes: Vec<Nanos>,
}

impl Alarms {
    /// For so many connections, none of which wants anything. For none there is no memory.
    pub(super) fn new(connections: u32) -> Self {
        let leaves = if connections == 0 { 0 } else { connections.next_power_of_two() };
        Self { nodes: vec![Nanos::MAX; 2 * leaves as usize] }
    }

    /// The earliest instant; the last one that there is, where nobody wants anything.
    #[inline]
    pub(super) fn next(&self) -> Nanos {
        self.nodes.get(1).copied().unwrap_or(Nanos::MAX)
    }

    /// The connection wants to be looked at then, and no earlier.
    #[inline]
    pub(super) fn set(&mut self, connection: u32, at: Nanos) {
        let mut node = self.nodes.len() / 2 + connection as usize;
        if self.nodes.is_empty() || self.nodes[node] == at {
            return;
        }
        self.nodes[node] = at;
        while node > 1 {
            node /= 2;
            let earlier = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
            if self.nodes[node] == earlier {
                return;
            }
            self.nodes[node] = earlier;
        }
    }

    /// A connection whose instant has come; it wants nothing more until it says so.
    fn take_due(&mut self, now: Nanos) -> Option<u32> {
        let earliest = self.next();
        if earliest > now || earliest == Nanos::MAX {
            return None;
        }
        let (mut node, leaves) = (1, self.nodes.len() / 2);
        while node < leaves {
            node = 2 * node + usize::from(self.nodes[2 * node] != earliest);
        }
        let connection = (node - leaves) as u32;
        self.set(connection, Nanos::MAX);
        Some(connection)
    }
}

impl<M: Machine> Worker<M> {
    /// Looks at the connections whose instant has come.
    pub(super) fn answer_alarms(&mut self, now: Nanos) {
        while let Some(index) = self.alarms.take_due(now) {
            let connection = &mut self.connections[index as usize];
            connection.on_deadline(now);
            let key = Key { slot: index, generation: connection.generation };
            self.receive(key);
        }
    }

    /// Looks at a connection again when it wants to be looked at.
    #[inline]
    pub(super) fn set_alarm(&mut self, index: u32) {
        if self.setup.dial.is_quic() {
            let at = self.connections[index as usize].deadline();
            self.alarms.set(index, at.unwrap_or(Nanos::MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_however_often_they_change() {
        for connections in [1, 2, 3, 8, 100] {
            let (mut alarms, mut rng) = (Alarms::new(connections), fastrand::Rng::with_seed(7));
            let mut wanted = vec![Nanos::MAX; connections as usize];
            for round in 0..2_000 {
                let (index, at) = (rng.u32(..connections), Nanos(rng.u64(..500)));
                let at = if rng.u32(..4) == 0 { Nanos::MAX } else { at };
                alarms.set(index, at);
                wanted[index as usize] = at;
                let earliest = wanted.iter().min().copied().expect("one");
                assert_eq!(alarms.next(), earliest, "{connections}, {round}");
                let now = Nanos(rng.u64(..100));
                while let Some(due) = alarms.take_due(now) {
                    let at = std::mem::replace(&mut wanted[due as usize], Nanos::MAX);
                    assert!(at <= now, "{connections}, {round}");
                }
                assert!(wanted.iter().all(|at| *at > now), "{connections}, {round}");
            }
        }
    }

    #[test]
    fn where_there_are_none_nothing_is_kept() {
        let mut alarms = Alarms::new(0);
        alarms.set(7, Nanos(1));
        assert_eq!((alarms.next(), alarms.take_due(Nanos::MAX)), (Nanos::MAX, None));
        assert_eq!(alarms.nodes.capacity(), 0);
    }
}
