//! Sessions: users who send one request after the other, and think in between.
//!
//! A session is due when its arrival is (open loop), or when its user's last one has ended (closed loop);
//! each of its steps when the one before has ended and its user has thought. Knows flows by their number of
//! steps. Must not know what is sent.

mod arrivals;
mod deal;
mod pool;
#[cfg(test)]
mod pool_tests;
#[cfg(test)]
mod tests;
mod think;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use super::{Assignment, Budget, Next, Slots};
use crate::clock::Nanos;
use crate::mutation::{self, Mutation};
use crate::pacing::{Attendance, Course, Pacer};
use crate::plan::traffic::Traffic;
use arrivals::Arrivals;
use deal::Dealer;
pub use deal::Part;
use deal::{Dealt, Row};
use pool::Pool;

/// A generator for what belongs to these numbers.
fn drawn(seed: u64, of: [u64; 2]) -> fastrand::Rng {
    let mixed = of.into_iter().fold(seed, |so_far, number| {
        // The finaliser of splitmix64: neighbours have nothing in common.
        let mut z = so_far.wrapping_add(number).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    });
    fastrand::Rng::with_seed(mixed)
}

/// Who has which session, and when its next step is due.
#[derive(Debug)]
pub struct Sessions {
    traffic: Arc<Traffic>,
    seed: u64,
    dealer: Dealer,
    /// None: the loop is closed.
    arrivals: Option<Arrivals>,
    /// Closed loop: which of the users are there over time; none: all of them.
    attendance: Option<Attendance>,
    /// Of sessions.
    budget: Budget,
    users: Vec<User>,
    /// Users who think, by the instant at which their next step is due.
    thinking: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// Users whose next step is due, in this order.
    ready: VecDeque<u32>,
    /// Open loop: users without a session, who has been free the longest first.
    idle: VecDeque<u32>,
    /// Open loop: the session that is next, and whom nobody has yet.
    dealt: Option<Dealt>,
    /// Closed loop: the user behind the one whose session has ended has the next.
    in_turn: bool,
    /// Sessions that somebody has.
    live: u64,
    /// Those of them whose first step waits for a connection of the pool (open loop).
    unbegun: u64,
    /// The connections that users share; none: each has its own.
    pool: Option<Pool>,
    /// By flow: sessions that were due and for which no row was left, since they were last asked for.
    starved: Vec<u64>,
}

/// A user, who has one connection, or shares those of a pool.
#[derive(Debug, Clone, Copy)]
struct User {
    state: State,
    /// From when on its step waits for a connection of the pool.
    since: Nanos,
    /// Means nothing without a session.
    session: Session,
}

/// A session that somebody has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// Index of its flow.
    pub flow: usize,
    /// Index of the step that is next, or on its way.
    pub step: usize,
    /// How often it has gone back, among steps that are done again.
    pub round: u64,
    /// Unlike those of all other sessions.
    pub number: u64,
    /// Index of its row of data.
    pub row: Option<usize>,
    /// When it was due.
    pub due: Nanos,
    /// When the step is.
    pub step_due: Nanos,
    /// How long the step that is on its way waited for a connection of the pool; none: there is none.
    pub blocked: Option<Nanos>,
}

/// What a user does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing: it has no session.
    Idle,
    /// The same, and its connection can't take messages.
    Parked,
    /// It thinks.
    Thinks,
    /// Its turn is next.
    Waits,
    /// Its step is due, and its connection can't take messages.
    Blocked,
    /// Its step is on its way.
    Out,
}

impl Sessions {
    /// Of so many users. `pacer` gives the instants at which sessions are due; without one the loop is closed,
    /// and the users' first sessions begin at `begin`; of these users as many are there as the course says. The slots
    /// must be [by connection](Slots::by_connection).
    pub fn new(
        traffic: Arc<Traffic>,
        part: Part,
        users: u32,
        begin: Nanos,
        pacer: Option<Pacer>,
        course: Option<Course>,
        budget: Budget,
    ) -> Self {
        let course = course.filter(|_| pacer.is_none());
        let none = Session {
            flow: 0,
            step: 0,
            round: 0,
            number: 0,
            row: None,
            due: begin,
            step_due: begin,
            blocked: None,
        };
        let mut sessions = Self {
            seed: part.seed,
            dealer: Dealer::new(&traffic, part),
            attendance: course.map(|it| Attendance::new(it, users, part.place, part.workers)),
            arrivals: pacer.map(Arrivals::new),
            budget,
            users: vec![User { state: State::Idle, since: begin, session: none }; users as usize],
            thinking: BinaryHeap::new(),
            ready: VecDeque::new(),
            idle: VecDeque::new(),
            dealt: None,
            in_turn: part.in_turn,
            live: 0,
            unbegun: 0,
            pool: None,
            starved: vec![0; traffic.flows.len()],
            traffic,
        };
        if sessions.arrivals.is_some() {
            sessions.idle = (0..users).collect();
        } else {
            let at_once = if part.in_turn { 1 } else { users };
            (0..at_once).for_each(|user| sessions.deal_to(user, begin));
        }
        sessions
    }

    /// The users share so many connections, each with so many streams. The slots must be one for each of these, in
    /// [turn](Slots::new).
    #[must_use]
    pub fn sharing(mut self, connections: u32, streams: u32) -> Self {
        self.pool = Some(Pool::new(connections, streams));
        self
    }

    pub(super) fn next(&mut self, now: Nanos, slots: &mut Slots) -> Next {
        self.hear(slots);
        while let Some(Reverse((due, user))) = self.thinking.peek().copied()
            && due <= now
        {
            self.thinking.pop();
            let User { state, session, .. } = &mut self.users[user as usize];
            // Else it was hastened, and its turn came before.
            if *state == State::Thinks && session.step_due == due {
                *state = State::Waits;
                self.ready.push_back(user);
            }
        }
        if let Some((user, connection)) = self.take(now, slots) {
            return self.send(user, connection, now);
        }
        if self.budget.is_spent() && self.live == 0 {
            return Next::Finished;
        }
        self.peek(now)
    }

    /// Whose turn it is, and on which connection.
    fn take(&mut self, now: Nanos, slots: &mut Slots) -> Option<(u32, u32)> {
        if self.pool.is_some() {
            return self.take_pooled(now, slots);
        }
        while let Some(user) = self.ready.pop_front() {
            if slots.take_of(user) {
                return Some((user, user));
            }
            self.users[user as usize].state = State::Blocked;
        }
        let user = self.admit(now, slots)?;
        Some((user, user))
    }

    /// The same of a pool: first come, first served. What arrives waits behind those whose steps are due.
    fn take_pooled(&mut self, now: Nanos, slots: &mut Slots) -> Option<(u32, u32)> {
        while let Some(user) = self.admit(now, slots) {
            let User { state, since, .. } = &mut self.users[user as usize];
            (*state, *since) = (State::Waits, now);
            self.ready.push_back(user);
            self.unbegun += 1;
        }
        let waiting = self.ready.len();
        let pool = self.pool.as_mut()?;
        let connection = if waiting > 0 { pool.choose(slots) } else { None };
        let Some(connection) = connection else {
            pool.blocks(waiting);
            return None;
        };
        let latest = mutation::is(Mutation::LatestFirst);
        let user = if latest { self.ready.pop_back() } else { self.ready.pop_front() }?;
        let Session { step, round, .. } = self.users[user as usize].session;
        let begins = self.arrivals.is_some() && (step, round) == (0, 0);
        self.unbegun -= u64::from(begins);
        Some((user, connection))
    }

    pub(super) fn peek(&self, now: Nanos) -> Next {
        let thinks = self.thinking.peek().map(|Reverse((due, _))| *due);
        let arrives = self.arrivals.as_ref().filter(|_| !self.budget.is_spent());
        let arrives = arrives.map(Arrivals::due).filter(|due| *due > now);
        match thinks.into_iter().chain(arrives).min() {
            Some(due) => Next::Wait(due),
            None => Next::Blocked,
        }
    }

    /// Open loop: sessions that are due at `now`, and have not begun.
    pub(super) fn waiting(&mut self, now: Nanos) -> u64 {
        let arrivals = self.arrivals.as_mut();
        self.budget.limit(arrivals.map_or(0, |arrivals| arrivals.waiting(now))) + self.unbegun
    }

    /// Whose step has taken this connection last; where there is no pool, whose the connection is.
    #[inline]
    pub fn user_on(&self, connection: u32) -> Option<u32> {
        match &self.pool {
            None => Some(connection),
            Some(pool) => pool.holder(connection),
        }
    }

    /// Counts by route the steps that wait for a connection of the pool since before this instant.
    pub fn count_blocked(&self, before: Nanos, routes: &mut [u64]) {
        let all = self.ready.iter().map(|user| &self.users[*user as usize]);
        for User { session, .. } in all.filter(|user| user.since < before) {
            routes[self.traffic.flows[session.flow].steps[session.step].route] += 1;
        }
    }

    /// The session that a user has, or had last.
    pub fn of(&self, user: u32) -> &Session {
        &self.users[user as usize].session
    }

    /// Sessions of this flow that failed for want of a row, since this was last asked.
    pub fn take_starved(&mut self, flow: usize) -> u64 {
        std::mem::take(&mut self.starved[flow])
    }

    /// Steps that are due and wait for a connection of a pool.
    #[cfg(test)]
    pub(crate) fn waiting_steps(&self) -> usize {
        self.ready.len()
    }

    /// Users who have a connection of the pool: each whose step is on its way, and nobody else. Nobody may have
    /// been served who began to wait so much later than somebody who still waits.
    ///
    /// # Errors
    /// What does not hold.
    #[cfg(test)]
    pub(crate) fn inspect_pool(&self, late: Nanos) -> Result<u64, String> {
        let Some(pool) = &self.pool else { return Err("there is no pool".to_owned()) };
        let mut out = vec![false; self.users.len()];
        for user in pool.holders() {
            if std::mem::replace(&mut out[user as usize], true) {
                return Err(format!("user {user} has two connections"));
            }
        }
        for (user, (out, at)) in out.iter().zip(&self.users).enumerate() {
            if *out != (at.state == State::Out) {
                return Err(format!("user {user} is {:?}, and has a connection: {out}", at.state));
            }
        }
        let longest = self.ready.iter().map(|user| self.users[*user as usize].since).min();
        if let Some(since) = longest.filter(|since| *since + late < pool.served()) {
            return Err(format!(
                "a step waits since {}, one since {} was sent",
                since.0,
                pool.served().0
            ));
        }
        Ok(pool.holders().count() as u64)
    }

    /// So many steps are on their way on this connection of the pool.
    #[cfg(test)]
    pub(crate) fn held(&self, connection: u32) -> usize {
        self.pool.as_ref().map_or(0, |pool| pool.held(connection))
    }

    /// Sessions that have begun and not ended.
    #[cfg(test)]
    pub(super) fn begun(&self) -> u64 {
        let has_begun = |user: &&User| match user.state {
            State::Out => true,
            State::Thinks | State::Waits | State::Blocked => user.session.step > 0,
            State::Idle | State::Parked => false,
        };
        self.users.iter().filter(has_begun).count() as u64
    }

    /// A user's step on a connection is over, well or badly. Gives the session that has ended with it.
    pub fn over(
        &mut self,
        (connection, user): (u32, u32),
        now: Nanos,
        well: bool,
    ) -> Option<Session> {
        if self.pool.as_mut().is_some_and(|pool| !pool.leave(connection, user)) {
            return None;
        }
        debug_assert_eq!(self.users[user as usize].state, State::Out, "its step was on its way");
        let ended = self.users[user as usize].session;
        if let Some((step, round)) = self.next_step(user, now).filter(|_| well) {
            let think = self.traffic.flows[ended.flow].think_between(ended.step, step);
            let which = step as u64 | round << 32;
            let thinks = think::draw(think, self.seed, ended.number, which);
            let session = &mut self.users[user as usize].session;
            (session.step, session.round, session.step_due) = (step, round, now + thinks);
            self.schedule(user, now);
            return None;
        }
        self.live -= 1;
        if self.arrivals.is_some() {
            self.users[user as usize].state = State::Idle;
            self.idle.push_back(user);
        } else {
            self.users[user as usize].state = State::Idle;
            let next = user + u32::from(self.in_turn);
            self.deal_to(next % self.users.len() as u32, now);
        }
        Some(ended)
    }

    /// What follows the step that is over. Who would go back and is not to be there any more goes on instead.
    fn next_step(&self, user: u32, now: Nanos) -> Option<(usize, u64)> {
        let Session { flow, step, round, .. } = self.users[user as usize].session;
        let flow = &self.traffic.flows[flow];
        let endless = flow.steps[step].back.is_some_and(|back| back.times.is_none());
        if endless && self.is_there(user, now) != Some(now) {
            return flow.behind(step);
        }
        flow.after(step, round)
    }

    /// What a user's session needs is gone: its next step does not wait until it is due.
    pub fn hasten(&mut self, user: u32, now: Nanos) {
        let User { state, session, .. } = &mut self.users[user as usize];
        if *state == State::Thinks {
            (*state, session.step_due) = (State::Waits, now.min(session.step_due));
            self.ready.push_back(user);
        }
    }

    /// Whose connections can take messages now?
    fn hear(&mut self, slots: &mut Slots) {
        while let Some(user) = slots.freed() {
            let state = &mut self.users[user as usize].state;
            match state {
                State::Blocked => {
                    *state = State::Waits;
                    self.ready.push_back(user);
                }
                State::Parked => {
                    *state = State::Idle;
                    self.idle.push_back(user);
                }
                State::Idle | State::Thinks | State::Waits | State::Out => {}
            }
        }
    }

    /// Open loop: who has the next session, if one is due and somebody is free.
    fn admit(&mut self, now: Nanos, slots: &mut Slots) -> Option<u32> {
        loop {
            let due = self.arrivals.as_ref()?.due();
            if due > now || self.budget.is_spent() {
                return None;
            }
            let dealt = *self.dealt.get_or_insert_with(|| self.dealer.deal());
            let user = match dealt.row {
                Row::RanOut => None,
                _ => Some(self.free_user(slots)?),
            };
            self.dealt = None;
            self.budget.take(1);
            self.arrivals.as_mut()?.advance();
            match user {
                Some(user) => {
                    self.give(user, dealt, due);
                    return Some(user);
                }
                None => self.starved[dealt.flow] += 1,
            }
        }
    }

    fn free_user(&mut self, slots: &mut Slots) -> Option<u32> {
        loop {
            let user = self.idle.pop_front()?;
            if self.pool.is_some() || slots.take_of(user) {
                return Some(user);
            }
            self.users[user as usize].state = State::Parked;
        }
    }

    /// Closed loop: the user's next session, if there is one.
    fn deal_to(&mut self, user: u32, now: Nanos) {
        self.users[user as usize].state = State::Idle;
        let is_there = self.is_there(user, now);
        let Some(from) = is_there.filter(|_| !self.budget.is_spent()) else { return };
        self.budget.take(1);
        let dealt = self.dealer.deal();
        let think = &self.traffic.flows[dealt.flow].steps[0].think;
        self.give(user, dealt, from + think::draw(think, self.seed, dealt.number, 0));
        self.schedule(user, now);
    }

    /// From when on the user is there, if ever again.
    fn is_there(&self, user: u32, now: Nanos) -> Option<Nanos> {
        self.attendance.as_ref().map_or(Some(now), |all| all.of(user, now))
    }

    fn give(&mut self, user: u32, dealt: Dealt, due: Nanos) {
        let Dealt { flow, number, row } = dealt;
        let row = match row {
            Row::At(row) => Some(row),
            Row::Own => Some(self.dealer.own_row(user)),
            Row::None | Row::RanOut => None,
        };
        self.users[user as usize].session =
            Session { flow, step: 0, round: 0, number, row, due, step_due: due, blocked: None };
        self.live += 1;
    }

    /// The user's next step goes when it is due.
    fn schedule(&mut self, user: u32, now: Nanos) {
        let User { state, since, session } = &mut self.users[user as usize];
        *since = session.step_due;
        if session.step_due <= now {
            *state = State::Waits;
            self.ready.push_back(user);
        } else {
            *state = State::Thinks;
            self.thinking.push(Reverse((session.step_due, user)));
        }
    }

    fn send(&mut self, user: u32, connection: u32, now: Nanos) -> Next {
        let User { state, since, session } = &mut self.users[user as usize];
        *state = State::Out;
        let pool = self.pool.as_mut();
        session.blocked = pool.map(|pool| pool.take(connection, user, *since, now));
        Next::Send(Assignment { connection, messages: 1, due: session.step_due })
    }
}
