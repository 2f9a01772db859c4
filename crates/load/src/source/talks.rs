//! Calls whose messages go one by one, of one worker: when the next message of each is due.
//!
//! Knows calls by their numbers and connections, and instants that are handed to it. Must not know what a message
//! says, nor what is answered.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wiretrial_proto::grpc::PREFIX;

use crate::clock::Nanos;
use crate::plan::grpc::Pace;

/// A connection, and which of those that it was.
pub(crate) type On = (u32, u32);

/// The calls of one worker.
#[derive(Debug, Clone)]
pub(crate) struct Talks {
    pub(crate) pace: Pace,
    /// Which connection makes calls now, with its generation, and the present.
    on: On,
    now: Nanos,
    /// When the next message of a call is due, the call's connection, and the call's number.
    due: BinaryHeap<Reverse<(Nanos, On, u64)>>,
}

/// A message that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) due: Nanos,
    pub(crate) on: On,
    pub(crate) number: u64,
}

impl Talks {
    /// None yet.
    pub(crate) fn new(pace: Pace) -> Self {
        Self { pace, on: (0, 0), now: Nanos::ZERO, due: BinaryHeap::new() }
    }

    /// What is asked from here on is asked now, on this connection.
    #[inline]
    pub(crate) fn ask_on(&mut self, on: On, now: Nanos) {
        (self.on, self.now) = (on, now);
    }

    /// The call with this number has begun with its first message, and more follow. Gives when, and when the next is due;
    /// the same: when the first is answered.
    pub(crate) fn begin(&mut self, number: u64) -> (Nanos, Nanos) {
        let Pace::Every(interval) = self.pace else { return (self.now, self.now) };
        let due = self.now + interval;
        self.due.push(Reverse((due, self.on, number)));
        (self.now, due)
    }

    /// A message that is due at this instant.
    pub(crate) fn take_due(&mut self, now: Nanos) -> Option<Turn> {
        if self.next_due() > now {
            return None;
        }
        let Reverse((due, on, number)) = self.due.pop()?;
        Some(Turn { due, on, number })
    }

    /// A message was said in its turn, and another one follows.
    pub(crate) fn goes_on(&mut self, Turn { due, on, number }: Turn) {
        if let Pace::Every(interval) = self.pace {
            self.due.push(Reverse((due + interval, on, number)));
        }
    }

    /// When the next message is due.
    #[inline]
    pub(crate) fn next_due(&self) -> Nanos {
        self.due.peek().map_or(Nanos::MAX, |Reverse((due, ..))| *due)
    }
}

/// The message that stands here in a payload, with its prefix.
pub(crate) fn message_at(payload: &[u8], offset: usize) -> &[u8] {
    let rest = payload.get(offset..).unwrap_or_default();
    let length = match rest {
        [_, a, b, c, d, ..] => PREFIX + u32::from_be_bytes([*a, *b, *c, *d]) as usize,
        _ => rest.len(),
    };
    rest.get(..length).unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: On = (3, 7);

    fn numbers(talks: &mut Talks, now: u64) -> Vec<u64> {
        std::iter::from_fn(|| talks.take_due(Nanos(now)).map(|turn| turn.number)).collect()
    }

    #[test]
    fn messages_are_due_at_their_instants_however_late_they_are_said() {
        let mut talks = Talks::new(Pace::Every(Nanos(10)));
        talks.ask_on(ON, Nanos(100));
        assert_eq!(talks.begin(1), (Nanos(100), Nanos(110)));
        talks.ask_on(ON, Nanos(103));
        talks.begin(2);
        assert_eq!(talks.next_due(), Nanos(110));
        assert_eq!(talks.take_due(Nanos(109)), None);
        // 35 late: the next two of it are due, too.
        let mut said = Vec::new();
        while let Some(turn) = talks.take_due(Nanos(131)) {
            assert_eq!(turn.on, ON);
            said.push((turn.number, turn.due.0));
            talks.goes_on(turn);
        }
        assert_eq!(said, [(1, 110), (2, 113), (1, 120), (2, 123), (1, 130)]);
        assert_eq!((talks.next_due(), numbers(&mut talks, 1_000)), (Nanos(133), vec![2, 1]));
    }

    #[test]
    fn in_turns_nothing_is_due_by_itself() {
        let mut talks = Talks::new(Pace::Turns);
        talks.ask_on(ON, Nanos(100));
        assert_eq!(talks.begin(1), (Nanos(100), Nanos(100)));
        assert_eq!(talks.next_due(), Nanos::MAX);
    }

    #[test]
    fn messages_stand_one_behind_the_other() {
        let payload = [0, 0, 0, 0, 2, 7, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9];
        let (mut offset, mut lengths) = (0, Vec::new());
        while offset < payload.len() {
            let message = message_at(&payload, offset);
            lengths.push(message.len());
            offset += message.len();
        }
        assert_eq!(lengths, [7, 5, 6]);
        assert_eq!(message_at(&payload, 18), b"");
        assert_eq!(message_at(&payload[..6], 0), &payload[..6]);
    }
}
