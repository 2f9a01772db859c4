//! The places for packs in flight: each connection has `depth / pack` of them.

use std::collections::VecDeque;
use std::iter::repeat_n;

/// Free slots in the order in which they became free. Slots of a connection that
/// can't take messages are parked until it can.
#[derive(Debug)]
pub struct Slots {
    /// Connections with the number of slots that became free one after the other.
    free: VecDeque<(u32, u32)>,
    parked: Vec<u32>,
    available: Vec<bool>,
    per_connection: u32,
    /// Slots that were taken and not released.
    taken: u64,
    /// Packs that each connection may still take; empty: any number.
    quota: Vec<u64>,
    /// Where each connection's slots are asked for by its number: connections of which one has
    /// become free. Free ones are counted in `parked` then, whether the connection can take
    /// messages or not.
    notices: Option<VecDeque<u32>>,
    /// Any number of packs may be in flight on each connection: nobody asks who is free.
    unlimited: bool,
    /// Slots of connections whose peers let fewer packs be in flight; empty: of none.
    withheld: Vec<Withheld>,
}

/// Free slots that are kept back because the peer has no room for them.
#[derive(Debug, Clone, Copy, Default)]
struct Withheld {
    now: u32,
    /// How many it has to come to, as slots become free.
    wanted: u32,
}

impl Slots {
    /// No connection can take messages yet.
    pub fn new(connections: u32, per_connection: u32) -> Self {
        Self {
            free: VecDeque::with_capacity(connections as usize),
            parked: vec![per_connection; connections as usize],
            available: vec![false; connections as usize],
            per_connection,
            taken: 0,
            quota: Vec::new(),
            notices: None,
            unlimited: false,
            withheld: Vec::new(),
        }
    }

    /// As [`new`](Self::new), for an executor that asks each connection for its own slots.
    pub fn by_connection(connections: u32, per_connection: u32) -> Self {
        Self { notices: Some(VecDeque::new()), ..Self::new(connections, per_connection) }
    }

    /// For an executor that chooses connections by itself, whatever is in flight on them.
    pub fn without_limit(connections: u32) -> Self {
        Self { unlimited: true, ..Self::new(connections, 0) }
    }

    /// No connection takes more than so many packs; its slots are gone then.
    #[must_use]
    pub fn with_quota(mut self, packs: u64) -> Self {
        self.quota = vec![packs; self.available.len()];
        self
    }

    /// Whether this connection has taken all that it may.
    pub fn is_spent(&self, connection: u32) -> bool {
        self.quota.get(connection as usize) == Some(&0)
    }

    /// The peer of a connection lets so many packs be in flight. What is over that already stays;
    /// no slot becomes free until it is below. On a new connection there is room for all.
    pub fn set_room(&mut self, connection: u32, packs: u32) {
        if self.unlimited || (self.withheld.is_empty() && packs >= self.per_connection) {
            return;
        }
        if self.withheld.is_empty() {
            self.withheld = vec![Withheld::default(); self.available.len()];
        }
        let withheld = &mut self.withheld[connection as usize];
        withheld.wanted = self.per_connection.saturating_sub(packs);
        let back = withheld.now.saturating_sub(withheld.wanted);
        withheld.now -= back;
        self.give(connection, back);
    }

    /// So many slots of this connection are free again.
    pub fn release(&mut self, connection: u32, slots: u32) {
        self.taken -= u64::from(slots);
        if self.unlimited {
            return;
        }
        let kept = self.withhold(connection, slots);
        self.give(connection, slots - kept);
    }

    /// Keeps back as many of so many free slots as are wanted; how many are that?
    #[inline]
    fn withhold(&mut self, connection: u32, free: u32) -> u32 {
        let Some(withheld) = self.withheld.get_mut(connection as usize) else { return 0 };
        let kept = free.min(withheld.wanted - withheld.now);
        withheld.now += kept;
        kept
    }

    /// So many free slots of this connection can be taken, as far as it can take messages.
    fn give(&mut self, connection: u32, slots: u32) {
        if slots == 0 {
            return;
        }
        let parked = &mut self.parked[connection as usize];
        if let Some(notices) = &mut self.notices {
            *parked += slots;
            notices.extend(repeat_n(connection, slots as usize));
        } else if self.available[connection as usize] {
            self.put_back(connection, slots);
        } else {
            *parked += slots;
        }
        debug_assert!(self.parked[connection as usize] <= self.per_connection);
    }

    /// Says whether this connection can take messages.
    pub fn set_available(&mut self, connection: u32, available: bool) {
        self.available[connection as usize] = available;
        if !available {
            return;
        }
        if let Some(notices) = &mut self.notices {
            notices.push_back(connection);
            return;
        }
        let parked = std::mem::take(&mut self.parked[connection as usize]);
        if parked > 0 {
            self.put_back(connection, parked);
        }
    }

    /// How many slots are taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Takes one more, where there is no limit.
    pub(super) fn take_another(&mut self) {
        debug_assert!(self.unlimited);
        self.taken += 1;
    }

    /// Takes the slot that became free last.
    pub(super) fn take_latest(&mut self) -> Option<u32> {
        loop {
            let (connection, free) = self.free.pop_back()?;
            if !self.available[connection as usize] {
                self.parked[connection as usize] += free;
                continue;
            }
            if free > 1 {
                self.free.push_back((connection, free - 1));
            }
            self.taken += 1;
            return Some(connection);
        }
    }

    /// Takes the slot that has been free the longest.
    pub(super) fn take(&mut self) -> Option<u32> {
        self.take_several(1).map(|(connection, _)| connection)
    }

    /// The same, and with it up to `most` in all that are of the same connection and next in turn:
    /// the connection, and how many.
    pub(super) fn take_several(&mut self, most: u32) -> Option<(u32, u32)> {
        loop {
            let (connection, free) = self.free.pop_front()?;
            if self.is_spent(connection) {
                continue;
            }
            let free = free - self.withhold(connection, free);
            if free == 0 {
                continue;
            }
            if !self.available[connection as usize] {
                self.parked[connection as usize] += free;
                continue;
            }
            let mut taken = free.min(most);
            if let Some(left) = self.quota.get_mut(connection as usize) {
                taken = u64::from(taken).min(*left) as u32;
                *left -= u64::from(taken);
            }
            if taken < free {
                self.free.push_front((connection, free - taken));
            }
            self.taken += u64::from(taken);
            return Some((connection, taken));
        }
    }

    /// A connection of which a slot has become free, or which can take messages again.
    pub(super) fn freed(&mut self) -> Option<u32> {
        self.notices.as_mut()?.pop_front()
    }

    /// Takes a slot of this connection, where there is one that can take messages.
    pub(super) fn take_of(&mut self, connection: u32) -> bool {
        let kept = self.withhold(connection, self.parked[connection as usize]);
        let free = &mut self.parked[connection as usize];
        *free -= kept;
        if self.notices.is_none() || !self.available[connection as usize] || *free == 0 {
            return false;
        }
        *free -= 1;
        self.taken += 1;
        true
    }

    /// How many slots are taken, of all connections.
    #[cfg(test)]
    pub(crate) fn taken_now(&self) -> u64 {
        self.taken
    }

    /// Whether this connection can take messages.
    #[cfg(test)]
    pub(crate) fn is_available(&self, connection: u32) -> bool {
        self.available[connection as usize]
    }

    /// Are all slots of this connection, of which so many are out, still somewhere?
    ///
    /// # Errors
    /// Where they are.
    #[cfg(test)]
    pub(crate) fn inspect(&self, connection: u32, out: u32) -> Result<(), String> {
        if self.unlimited || self.is_spent(connection) {
            return Ok(());
        }
        let own = self.free.iter().filter(|(whose, _)| *whose == connection);
        let free: u32 = own.map(|(_, count)| count).sum();
        let parked = self.parked[connection as usize];
        let withheld = self.withheld.get(connection as usize).map_or(0, |withheld| withheld.now);
        let all = free + parked + out + withheld;
        let is_stuck = self.notices.is_none() && parked > 0 && self.available[connection as usize];
        if all != self.per_connection || is_stuck {
            let of = self.per_connection;
            return Err(format!("slots: {free} free, {parked} parked, {out} out, of {of}"));
        }
        Ok(())
    }

    fn put_back(&mut self, connection: u32, slots: u32) {
        match self.free.back_mut() {
            Some((last, free)) if *last == connection => *free += slots,
            _ => self.free.push_back((connection, slots)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(slots: &mut Slots) -> Vec<u32> {
        std::iter::from_fn(|| slots.take()).collect()
    }

    #[test]
    fn nothing_is_free_before_a_connection_stands() {
        let mut slots = Slots::new(2, 3);
        assert!(taken(&mut slots).is_empty());
        slots.set_available(1, true);
        assert_eq!(taken(&mut slots), [1, 1, 1]);
    }

    #[test]
    fn slots_of_one_connection_that_are_next_in_turn_may_be_taken_together() {
        let mut slots = Slots::new(2, 4);
        slots.set_available(0, true);
        slots.set_available(1, true);
        assert_eq!(slots.take_several(3), Some((0, 3)));
        slots.release(0, 1); // behind those of the other one
        assert_eq!(slots.take_several(9), Some((0, 1)));
        assert_eq!(slots.take_several(9), Some((1, 4)));
        assert_eq!(slots.take_several(9), Some((0, 1)));
        assert_eq!(slots.take_several(9), None);
        assert_eq!(slots.taken(), 8);
    }

    #[test]
    fn slots_that_are_taken_are_counted() {
        let mut slots = Slots::new(2, 1);
        slots.set_available(0, true);
        slots.set_available(1, true);
        assert_eq!((slots.take(), slots.take(), slots.take()), (Some(0), Some(1), None));
        assert_eq!(slots.taken(), 2);
        slots.set_available(1, false);
        slots.release(1, 1);
        assert_eq!(slots.taken(), 1);
    }

    #[test]
    fn no_more_are_given_out_than_the_peer_has_room_for() {
        let mut slots = Slots::new(2, 4);
        slots.set_available(0, true);
        slots.set_room(0, 3);
        slots.set_available(1, true);
        assert_eq!(taken(&mut slots), [0, 0, 0, 1, 1, 1, 1]);
        slots.set_room(0, 1);
        slots.release(0, 2);
        assert!(taken(&mut slots).is_empty(), "one is in flight, and more is not allowed");
        slots.release(0, 1);
        assert_eq!(taken(&mut slots), [0]);
        slots.set_room(0, 2);
        assert_eq!(taken(&mut slots), [0]);
        slots.set_room(0, u32::MAX);
        assert_eq!(taken(&mut slots), [0, 0]);
        slots.release(0, 4);
        slots.set_room(0, 0);
        assert!(taken(&mut slots).is_empty(), "there is no room at all");
    }

    /// Whatever happens, none is lost, and room is kept to.
    #[test]
    fn slots_are_somewhere_whatever_room_there_is() {
        for by_connection in [false, true] {
            let mut rng = fastrand::Rng::with_seed(1);
            let mut slots =
                if by_connection { Slots::by_connection(3, 5) } else { Slots::new(3, 5) };
            let (mut out, mut room) = ([0_u32; 3], [5_u32; 3]);
            for _ in 0..20_000 {
                let index = rng.u32(..3);
                let of = &mut out[index as usize];
                match rng.u8(..6) {
                    0 => {
                        room[index as usize] = rng.u32(..7);
                        slots.set_room(index, room[index as usize]);
                    }
                    1 => slots.set_available(index, rng.bool()),
                    2 | 3 if *of > 0 => {
                        let back = rng.u32(1..=*of);
                        *of -= back;
                        slots.release(index, back);
                    }
                    _ if by_connection => *of += u32::from(slots.take_of(index)),
                    _ => {
                        if let Some((whose, count)) = slots.take_several(rng.u32(1..4)) {
                            out[whose as usize] += count;
                            assert!(out[whose as usize] <= room[whose as usize].min(5), "{out:?}");
                        }
                    }
                }
                for index in 0..3 {
                    slots.inspect(index, out[index as usize]).expect("none is lost");
                }
            }
        }
    }

    #[test]
    fn a_quota_is_that_of_each_connection() {
        let mut slots = Slots::new(2, 1).with_quota(2);
        slots.set_available(0, true);
        slots.set_available(1, true);
        assert_eq!(taken(&mut slots), [0, 1]);
        slots.release(0, 1);
        assert_eq!(taken(&mut slots), [0]);
        slots.release(0, 1);
        assert!(taken(&mut slots).is_empty());
        assert!(slots.is_spent(0));
        slots.release(1, 1); // the slow one has its turn yet
        assert_eq!(taken(&mut slots), [1]);
    }

    #[test]
    fn a_quota_holds_for_those_that_are_taken_together() {
        let mut slots = Slots::new(1, 4).with_quota(3);
        slots.set_available(0, true);
        assert_eq!(slots.take_several(9), Some((0, 3)));
        assert_eq!(slots.take_several(9), None);
    }

    #[test]
    fn slots_of_a_lost_connection_come_back_all_and_once() {
        let mut slots = Slots::new(2, 2);
        slots.set_available(0, true);
        slots.set_available(1, true);
        assert_eq!(slots.take(), Some(0));
        slots.set_available(0, false); // one slot in flight, one in the queue
        assert_eq!(taken(&mut slots), [1, 1]);
        slots.release(0, 1);
        assert_eq!(slots.take(), None);
        slots.set_available(0, true);
        assert_eq!(taken(&mut slots), [0, 0]);
    }
}
