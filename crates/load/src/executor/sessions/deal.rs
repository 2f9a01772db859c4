//! Which session is next: its flow from a seeded deck, in exact shares, and its row of data.
//!
//! Knows weights and rows by number. Must not know who takes the session, nor when.

use super::drawn;
use crate::plan::traffic::{Order, Traffic};

/// Which part of all sessions is dealt here.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Of all that the run draws.
    pub seed: u64,
    /// The worker's number among all.
    pub place: u32,
    /// All workers.
    pub workers: u32,
    /// Number of the first session, and how far the others are apart.
    pub first_session: u64,
    /// As said.
    pub apart: u64,
    /// Number of the worker's first user among all.
    pub first_user: u32,
    /// Users keep their rows: the loop is closed.
    pub keeps_rows: bool,
    /// Rows at the end of a feed whose rows are one user's that rehearsals have.
    pub rehearsed: u32,
    /// Closed loop: one user after the other has a session, and no two at once.
    pub in_turn: bool,
}

/// A session that somebody is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dealt {
    /// Index of its flow.
    pub(super) flow: usize,
    /// Unlike those of all other sessions.
    pub(super) number: u64,
    /// Its row of data.
    pub(super) row: Row,
}

/// The row of data of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    /// Its flow has no feed.
    None,
    /// The one with this index.
    At(usize),
    /// The one that its user keeps.
    Own,
    /// There is none left.
    RanOut,
}

/// Deals sessions.
#[derive(Debug)]
pub(super) struct Dealer {
    part: Part,
    /// A flow for each card; shuffled anew when all were dealt.
    deck: Vec<u32>,
    next_card: usize,
    shuffles: u64,
    sessions: u64,
    /// By flow: its feed.
    feeds: Vec<Option<usize>>,
    rows: Vec<Rows>,
}

/// The rows of a feed.
#[derive(Debug)]
struct Rows {
    count: usize,
    order: Order,
    /// Shuffled: which is where.
    shuffled: Vec<u32>,
    /// Sessions that had one.
    dealt: u64,
}

impl Dealer {
    pub(super) fn new(traffic: &Traffic, part: Part) -> Self {
        let flows = traffic.flows.iter().enumerate();
        let common = traffic.flows.iter().fold(0, |so_far, flow| divisor(so_far, flow.weight));
        let cards = flows.flat_map(|(index, flow)| {
            std::iter::repeat_n(index as u32, (flow.weight / common.max(1)) as usize)
        });
        let rows = traffic.feeds.iter().enumerate().map(|(index, feed)| {
            let mut shuffled = Vec::new();
            if feed.order == Order::Shuffled {
                shuffled = (0..feed.rows.len() as u32).collect();
                drawn(part.seed, [u64::MAX, index as u64]).shuffle(&mut shuffled);
            }
            Rows { count: feed.rows.len(), order: feed.order, shuffled, dealt: 0 }
        });
        let deck: Vec<_> = cards.collect();
        Self {
            part,
            next_card: deck.len(),
            deck,
            shuffles: 0,
            sessions: 0,
            feeds: traffic.flows.iter().map(|flow| flow.feed).collect(),
            rows: rows.collect(),
        }
    }

    /// The next session.
    pub(super) fn deal(&mut self) -> Dealt {
        let Part { seed, place, first_session, apart, .. } = self.part;
        if self.next_card == self.deck.len() {
            self.next_card = 0;
            self.shuffles += 1;
            self.deck.sort_unstable();
            drawn(seed, [place.into(), self.shuffles]).shuffle(&mut self.deck);
        }
        let flow = self.deck[self.next_card] as usize;
        self.next_card += 1;
        let number = first_session + self.sessions * apart;
        self.sessions += 1;
        Dealt { flow, number, row: self.row(flow) }
    }

    fn row(&mut self, flow: usize) -> Row {
        let Some(feed) = self.feeds[flow] else { return Row::None };
        let Part { place, workers, keeps_rows, rehearsed, .. } = self.part;
        let rows = &mut self.rows[feed];
        if rows.order == Order::Unique && keeps_rows {
            return Row::Own;
        }
        let number = u64::from(place) + rows.dealt * u64::from(workers);
        rows.dealt += 1;
        let place = (number % rows.count as u64) as usize;
        match rows.order {
            Order::Sequential => Row::At(place),
            Order::Shuffled => Row::At(rows.shuffled[place] as usize),
            Order::Unique
                if number < rows.count.saturating_sub(rehearsed as usize).max(1) as u64 =>
            {
                Row::At(place)
            }
            Order::Unique => Row::RanOut,
        }
    }

    /// The row that this user keeps.
    pub(super) fn own_row(&self, user: u32) -> usize {
        (self.part.first_user + user) as usize
    }
}

/// The greatest number that divides both.
fn divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::traffic;
    use super::*;
    use serde_json::json;

    fn dealer(feed: &str, order: &str, rows: usize, place: u32, keeps_rows: bool) -> Dealer {
        let rows: Vec<_> = (0..rows).map(|row| json!([row.to_string()])).collect();
        let feeds = json!([{"name": "f", "columns": ["c"], "rows": rows, "order": order}]);
        let flow = |name: &str, weight: u32| {
            let feed = if name == feed { json!("f") } else { json!(null) };
            json!({"name": name, "weight": weight, "feed": feed, "steps": [{"route": 0}]})
        };
        let traffic = traffic(&json!([flow("a", 8), flow("b", 1), flow("c", 3)]), &feeds);
        let (first_session, first_user) = (place.into(), 10 * place);
        let part = Part {
            seed: 5,
            place,
            workers: 2,
            first_session,
            apart: 2,
            first_user,
            keeps_rows,
            rehearsed: 1,
            in_turn: false,
        };
        Dealer::new(&traffic, part)
    }

    #[test]
    fn shares_are_exact_in_each_round_of_the_deck() {
        let mut dealer = dealer("", "sequential", 1, 1, false);
        let mut rounds = Vec::new();
        for round in 0..20 {
            let dealt: Vec<_> = (0..12).map(|_| dealer.deal()).collect();
            for flow in 0..3 {
                let count = dealt.iter().filter(|it| it.flow == flow).count();
                assert_eq!(count, [8, 1, 3][flow], "round {round}");
            }
            assert_eq!((dealt[0].number, dealt[0].row), (1 + round * 24, Row::None));
            rounds.push(dealt.iter().map(|it| it.flow).collect::<Vec<_>>());
        }
        rounds.dedup();
        assert!(rounds.len() > 15, "they are shuffled");
    }

    #[test]
    fn workers_share_the_rows_and_begin_anew() {
        let rows = |order: &str, place| {
            let mut dealer = dealer("a", order, 3, place, false);
            let dealt = std::iter::repeat_with(move || dealer.deal()).filter(|it| it.flow == 0);
            dealt.take(6).map(|it| it.row).collect::<Vec<_>>()
        };
        assert_eq!(rows("sequential", 0), [0, 2, 1, 0, 2, 1].map(Row::At));
        assert_eq!(rows("sequential", 1), [1, 0, 2, 1, 0, 2].map(Row::At));
        let shuffled = rows("shuffled", 0);
        assert_eq!((shuffled[..3].len(), &shuffled[..3]), (3, &shuffled[3..]));
        for row in 0..3 {
            assert!(shuffled.contains(&Row::At(row)));
        }
        assert_eq!(rows("shuffled", 1)[0], shuffled[2], "the same order for all");
    }

    #[test]
    fn a_row_is_one_user_s() {
        let mut open = dealer("a", "unique", 4, 0, false);
        let dealt = std::iter::repeat_with(|| open.deal()).filter(|it| it.flow == 0);
        let rows: Vec<_> = dealt.take(4).map(|it| it.row).collect();
        assert_eq!(
            rows,
            [Row::At(0), Row::At(2), Row::RanOut, Row::RanOut],
            "the last is not dealt"
        );
        // Three engines rehearse with a row each.
        let mut many = dealer("a", "unique", 7, 0, false);
        many.part.rehearsed = 3;
        let dealt = std::iter::repeat_with(|| many.deal()).filter(|it| it.flow == 0);
        let rows: Vec<_> = dealt.take(3).map(|it| it.row).collect();
        assert_eq!(rows, [Row::At(0), Row::At(2), Row::RanOut]);
        let mut closed = dealer("a", "unique", 30, 1, true);
        assert!((0..24).map(|_| closed.deal()).all(|it| it.flow != 0 || it.row == Row::Own));
        assert_eq!(closed.own_row(3), 13);
    }
}
