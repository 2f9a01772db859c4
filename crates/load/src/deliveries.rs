//! Who is owed a copy of what: tables, their players, and the numbers of their messages.
//!
//! Knows seats, origins and sequence numbers. Must not know sockets, protocols or who sends next;
//! instants are handed to it.
//!
//! Each copy that a player is owed ends in one way: it came in its turn, it came behind a later one
//! of the same origin, it came with other content, it is missing, or it is in flight. One that
//! comes again is a duplicate, and stands beside that sum.

use wiretrial_proto::Delivery;

use crate::clock::Nanos;
use crate::measure::Arrival;
use crate::plan::DELIVERY_WINDOW as WINDOW;

/// The tables of one worker: its connections, so many of them at each.
#[derive(Debug)]
pub struct Deliveries {
    table_size: u32,
    seats: Vec<Seat>,
    /// The last messages of each seat, [`WINDOW`] each.
    stamps: Vec<Stamp>,
    /// What each seat knows of each one at its table.
    tracks: Vec<Track>,
    in_flight: u64,
}

/// What a message is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Owed {
    /// Copies that are expected of it.
    pub expected: u64,
    /// Copies of earlier ones that are given up for it, because they are too many.
    pub missing: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seat {
    /// As the server calls who sits there.
    player: i32,
    taken: bool,
    /// Number of the next message.
    next: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Stamp {
    due: Nanos,
    sent: Nanos,
}

/// What one seat knows of another one's messages.
#[derive(Debug, Clone, Copy, Default)]
struct Track {
    /// The first that it is owed.
    floor: u32,
    /// The first whose copy has neither come nor is given up.
    base: u32,
    /// Which came of those from there on.
    seen: u64,
}

impl Deliveries {
    /// Tables of so many connections, of which none sits.
    pub fn new(connections: u32, table_size: u32) -> Self {
        let count = connections as usize;
        Self {
            table_size,
            seats: vec![Seat::default(); count],
            stamps: vec![Stamp::default(); count * WINDOW as usize],
            tracks: vec![Track::default(); count * table_size as usize],
            in_flight: 0,
        }
    }

    /// Copies that are owed and have not come.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// A connection sits down. It is owed what is sent from now on.
    pub fn sit(&mut self, index: u32, player: i32) {
        let seat = &mut self.seats[index as usize];
        (seat.player, seat.taken) = (player, true);
        for origin in self.table(index) {
            let next = self.seats[origin as usize].next;
            *self.track(index, origin) = Track { floor: next, base: next, seen: 0 };
        }
    }

    /// A connection is gone: how many copies does it miss?
    pub fn stand_up(&mut self, index: u32) -> u64 {
        self.seats[index as usize].taken = false;
        let mut missing = 0;
        for origin in self.table(index) {
            let next = self.seats[origin as usize].next;
            missing += self.track(index, origin).give_up_before(next);
        }
        self.in_flight -= missing;
        missing
    }

    /// A connection sends its message with this number: those of one connection follow each other.
    #[inline]
    pub fn sent(&mut self, index: u32, seq: u32, due: Nanos, now: Nanos) -> Owed {
        let mut owed = Owed::default();
        self.seats[index as usize].next = seq.wrapping_add(1);
        *self.stamp(index, seq) = Stamp { due, sent: now };
        for receiver in self.table(index) {
            if self.seats[receiver as usize].taken {
                owed.expected += 1;
                owed.missing += self.track(receiver, index).make_room(seq);
            }
        }
        self.in_flight += owed.expected;
        self.in_flight -= owed.missing;
        owed
    }

    /// A copy came to a connection.
    #[inline]
    pub fn arrived(&mut self, index: u32, copy: &Delivery<'_>) -> Arrival {
        let usual = self.usual_seat(index, copy.origin).filter(|seat| self.has_sent(*seat, copy));
        let sender = usual.or_else(|| self.table(index).find(|seat| self.has_sent(*seat, copy)));
        let Some(origin) = sender else { return Arrival::Unknown };
        if !self.seats[index as usize].taken {
            // The server had it sit before it was told so.
            return Arrival::Unowed;
        }
        let taken = match self.track(index, origin).take(copy.number as u32) {
            Taken::InTurn => Arrival::Right(self.stamp(origin, copy.number as u32).due),
            Taken::Late => Arrival::OutOfOrder(self.stamp(origin, copy.number as u32).due),
            Taken::Before => return Arrival::Duplicate,
            Taken::Unowed => return Arrival::Unowed,
        };
        self.in_flight -= 1;
        if copy.intact { taken } else { Arrival::Mismatch }
    }

    /// Where this player of the table sits if players have numbers that follow one another, as the plan
    /// gives them: then no other seat has to be looked at, however large the table is.
    fn usual_seat(&self, index: u32, player: i32) -> Option<u32> {
        let table = self.table(index);
        let place = player.checked_sub(self.seats[table.start as usize].player)?;
        table.start.checked_add_signed(place).filter(|seat| table.contains(seat))
    }

    /// Is the copy of a message that this seat's player sent?
    fn has_sent(&self, seat: u32, copy: &Delivery<'_>) -> bool {
        let seat = &self.seats[seat as usize];
        seat.player == copy.origin && seat.next.wrapping_sub(copy.number as u32).cast_signed() > 0
    }

    /// Gives up what has not come for so long: how many copies?
    pub fn overdue(&mut self, now: Nanos, timeout: Nanos) -> u64 {
        let mut missing = 0;
        for index in 0..self.seats.len() as u32 {
            if !self.seats[index as usize].taken {
                continue;
            }
            for origin in self.table(index) {
                let next = self.seats[origin as usize].next;
                loop {
                    let base = self.track(index, origin).base;
                    if base == next || now - self.stamp(origin, base).sent < timeout {
                        break;
                    }
                    missing += self.track(index, origin).give_up_before(base.wrapping_add(1));
                }
            }
        }
        self.in_flight -= missing;
        missing
    }

    /// Gives up what a later one of the same origin has overtaken: how many copies?
    pub fn overtaken(&mut self) -> u64 {
        let missing = self.tracks.iter_mut().map(|track| {
            let above = u64::BITS - track.seen.leading_zeros();
            track.give_up_before(track.base.wrapping_add(above))
        });
        let missing = missing.sum();
        self.in_flight -= missing;
        missing
    }

    /// Copies that are owed and have not come, counted one by one.
    #[cfg(test)]
    pub(crate) fn found_in_flight(&self) -> u64 {
        let sitting =
            (0..self.seats.len() as u32).filter(|index| self.seats[*index as usize].taken);
        let pairs = sitting.flat_map(|index| self.table(index).map(move |origin| (index, origin)));
        let owed = pairs.map(|(index, origin)| {
            let track = self.tracks[(index * self.table_size + origin % self.table_size) as usize];
            let ahead = self.seats[origin as usize].next.wrapping_sub(track.base);
            u64::from(ahead) - u64::from(track.seen.count_ones())
        });
        owed.sum()
    }

    /// The connections at this one's table.
    fn table(&self, index: u32) -> std::ops::Range<u32> {
        let first = index - index % self.table_size;
        first..(first + self.table_size).min(self.seats.len() as u32)
    }

    #[inline]
    fn track(&mut self, index: u32, origin: u32) -> &mut Track {
        &mut self.tracks[(index * self.table_size + origin % self.table_size) as usize]
    }

    #[inline]
    fn stamp(&mut self, origin: u32, seq: u32) -> &mut Stamp {
        &mut self.stamps[(origin * WINDOW + seq % WINDOW) as usize]
    }
}

/// What a copy is to its receiver.
enum Taken {
    InTurn,
    Late,
    Before,
    Unowed,
}

impl Track {
    #[inline]
    fn take(&mut self, seq: u32) -> Taken {
        let ahead = seq.wrapping_sub(self.base);
        if ahead == 0 && self.seen == 0 {
            self.base = seq.wrapping_add(1);
            return Taken::InTurn;
        }
        if ahead.cast_signed() < 0 {
            let owed = seq.wrapping_sub(self.floor).cast_signed() >= 0;
            return if owed { Taken::Before } else { Taken::Unowed };
        }
        // Whoever sent it has made room for it.
        let bit = 1_u64 << (ahead % WINDOW);
        if self.seen & bit != 0 {
            return Taken::Before;
        }
        let late = self.seen > bit;
        self.seen |= bit;
        self.settle();
        if late { Taken::Late } else { Taken::InTurn }
    }

    /// Sees to it that this one is within the window; how many are given up for it?
    #[inline]
    fn make_room(&mut self, seq: u32) -> u64 {
        if seq.wrapping_sub(self.base) < WINDOW {
            return 0;
        }
        self.give_up_before(seq.wrapping_sub(WINDOW - 1))
    }

    /// Gives up all before this one that have not come; how many are that?
    fn give_up_before(&mut self, seq: u32) -> u64 {
        let mut missing = 0;
        while seq.wrapping_sub(self.base).cast_signed() > 0 {
            missing += u64::from(self.seen & 1 == 0);
            self.seen >>= 1;
            self.base = self.base.wrapping_add(1);
        }
        self.settle();
        missing
    }

    /// The first one that is awaited has not come.
    fn settle(&mut self) {
        let came = self.seen.trailing_ones();
        self.seen = self.seen.checked_shr(came).unwrap_or_default();
        self.base = self.base.wrapping_add(came);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos::from_secs(1);

    fn copy(origin: i32, seq: u32) -> Delivery<'static> {
        Delivery { origin, number: seq.into(), own: false, intact: true, payload: None }
    }

    /// Everybody sits: player 100 + n on connection n.
    fn seated(connections: u32, table_size: u32) -> Deliveries {
        let mut deliveries = Deliveries::new(connections, table_size);
        for index in 0..connections {
            deliveries.sit(index, 100 + index.cast_signed());
        }
        deliveries
    }

    fn send(deliveries: &mut Deliveries, index: u32, seq: u32) -> Owed {
        deliveries.sent(index, seq, Nanos(seq.into()), Nanos(seq.into()))
    }

    #[test]
    fn every_one_at_the_table_is_owed_a_copy() {
        let mut deliveries = seated(5, 2);
        assert_eq!(send(&mut deliveries, 0, 0), Owed { expected: 2, missing: 0 });
        assert_eq!(send(&mut deliveries, 4, 0), Owed { expected: 1, missing: 0 }, "it sits alone");
        assert_eq!(deliveries.in_flight(), 3);
        assert_eq!(deliveries.arrived(1, &copy(100, 0)), Arrival::Right(Nanos(0)));
        assert_eq!(deliveries.arrived(0, &copy(100, 0)), Arrival::Right(Nanos(0)));
        assert_eq!(deliveries.arrived(2, &copy(100, 0)), Arrival::Unknown, "another table");
        assert_eq!(deliveries.arrived(0, &copy(100, 1)), Arrival::Unknown, "not sent yet");
        assert_eq!(deliveries.arrived(0, &copy(104, 0)), Arrival::Unknown);
        assert_eq!(deliveries.in_flight(), 1);
    }

    #[test]
    fn players_whose_numbers_follow_one_another_are_found_without_a_search() {
        let deliveries = seated(7, 3);
        for index in 0..7 {
            let table = deliveries.table(index);
            for player in 90..120 {
                let seat = u32::try_from(player - 100).ok().filter(|seat| table.contains(seat));
                assert_eq!(deliveries.usual_seat(index, player), seat, "{player} from {index}");
            }
            assert_eq!(deliveries.usual_seat(index, i32::MIN), None);
            assert_eq!(deliveries.usual_seat(index, i32::MAX), None);
        }
    }

    #[test]
    fn players_with_any_numbers_are_found() {
        let mut deliveries = Deliveries::new(4, 4);
        let players = [7, -5, i32::MAX, 8];
        for (index, player) in players.into_iter().enumerate() {
            deliveries.sit(index as u32, player);
        }
        for (index, player) in players.into_iter().enumerate() {
            send(&mut deliveries, index as u32, 0);
            assert_eq!(
                deliveries.arrived(2, &copy(player, 0)),
                Arrival::Right(Nanos(0)),
                "{player}"
            );
        }
        assert_eq!(deliveries.arrived(2, &copy(9, 0)), Arrival::Unknown);
    }

    #[test]
    fn table_of_orders() {
        use Arrival::{Duplicate, OutOfOrder, Right};
        let due = |seq: u32| Nanos(seq.into());
        let rows: [(&[u32], &[Arrival], u64); 6] = [
            (&[0, 1, 2], &[Right(due(0)), Right(due(1)), Right(due(2))], 0),
            (&[1, 0, 2], &[Right(due(1)), OutOfOrder(due(0)), Right(due(2))], 0),
            (&[2, 1, 0], &[Right(due(2)), OutOfOrder(due(1)), OutOfOrder(due(0))], 0),
            (&[0, 0, 1], &[Right(due(0)), Duplicate, Right(due(1))], 0),
            (&[2, 2], &[Right(due(2)), Duplicate], 2),
            (&[0, 2], &[Right(due(0)), Right(due(2))], 1),
        ];
        for (order, expected, gaps) in rows {
            let mut deliveries = seated(1, 1);
            let owed: u64 = (0..3).map(|seq| send(&mut deliveries, 0, seq).expected).sum();
            let seen: Vec<_> =
                order.iter().map(|seq| deliveries.arrived(0, &copy(100, *seq))).collect();
            assert_eq!(seen, expected, "{order:?}");
            let came = seen.iter().filter(|arrival| **arrival != Duplicate).count() as u64;
            assert_eq!(deliveries.in_flight(), owed - came, "{order:?}");
            assert_eq!(deliveries.overtaken(), gaps, "{order:?}");
            assert_eq!(deliveries.in_flight(), owed - came - gaps, "{order:?}");
        }
    }

    #[test]
    fn other_content_is_a_mismatch_and_no_longer_in_flight() {
        let mut deliveries = seated(1, 1);
        send(&mut deliveries, 0, 0);
        let wrong = Delivery { intact: false, ..copy(100, 0) };
        assert_eq!(deliveries.arrived(0, &wrong), Arrival::Mismatch);
        assert_eq!(deliveries.arrived(0, &copy(100, 0)), Arrival::Duplicate);
        assert_eq!(deliveries.in_flight(), 0);
    }

    #[test]
    fn who_comes_later_is_owed_what_comes_later() {
        let mut deliveries = seated(2, 2);
        assert_eq!(deliveries.stand_up(1), 0);
        assert_eq!(send(&mut deliveries, 0, 0).expected, 1);
        assert_eq!(deliveries.arrived(1, &copy(100, 0)), Arrival::Unowed, "before it sits");
        deliveries.sit(1, 101);
        assert_eq!(send(&mut deliveries, 0, 1).expected, 2);
        assert_eq!(deliveries.arrived(1, &copy(100, 0)), Arrival::Unowed);
        assert_eq!(deliveries.arrived(1, &copy(100, 1)), Arrival::Right(Nanos(1)));
        assert_eq!(deliveries.stand_up(0), 2, "its own two");
        assert_eq!(deliveries.in_flight(), 0);
    }

    #[test]
    fn what_is_too_late_is_missing_and_then_a_duplicate() {
        let mut deliveries = seated(1, 1);
        deliveries.sent(0, 0, Nanos::ZERO, Nanos::ZERO);
        deliveries.sent(0, 1, Nanos::ZERO, SECOND);
        assert_eq!(deliveries.overdue(SECOND, SECOND), 1);
        assert_eq!(deliveries.overdue(SECOND, SECOND), 0);
        assert_eq!(deliveries.in_flight(), 1);
        assert_eq!(deliveries.arrived(0, &copy(100, 0)), Arrival::Duplicate);
        assert_eq!(deliveries.arrived(0, &copy(100, 1)), Arrival::Right(Nanos::ZERO));
    }

    #[test]
    fn more_than_the_window_are_given_up_and_numbers_wrap_around() {
        let mut deliveries = seated(2, 2);
        for seat in &mut deliveries.seats {
            seat.next = u32::MAX - 10;
        }
        for index in 0..2 {
            deliveries.sit(index, 100 + index.cast_signed());
        }
        let numbers = (0..100).map(|n| (u32::MAX - 10).wrapping_add(n));
        let (mut expected, mut missing) = (0, 0);
        for seq in numbers.clone() {
            let owed = send(&mut deliveries, 0, seq);
            (expected, missing) = (expected + owed.expected, missing + owed.missing);
            assert!(matches!(deliveries.arrived(0, &copy(100, seq)), Arrival::Right(_)));
        }
        assert_eq!((expected, missing), (200, 36), "the other one heard nothing");
        assert_eq!(deliveries.in_flight(), 64);
        let late: Vec<_> = numbers.map(|seq| deliveries.arrived(1, &copy(100, seq))).collect();
        let came = late.iter().filter(|arrival| matches!(arrival, Arrival::Right(_))).count();
        assert_eq!((came, deliveries.in_flight()), (64, 0));
    }
}
