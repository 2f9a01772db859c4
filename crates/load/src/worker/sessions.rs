//! Sessions of traffic: a user's step begins, and is over.
//!
//! Knows who has which session, and what comes of its steps. Must not know how messages go out and come
//! back.

use super::{Share, Worker};
use crate::clock::Nanos;
use crate::connection::{LATE, Ledger, Pending};
use crate::exchange::Tape;
use crate::executor::{Executor, Part, Sessions};
use crate::judging::Bench;
use crate::machine::Machine;
use crate::measure::{Class, TrafficStanding};
use crate::mutation::{self, Mutation};
use crate::plan::LoopPlan;
use crate::preflight::Setup;
use crate::users::{Common, Users};

/// The users of a worker with this share; none where there is no traffic.
pub(super) fn users(setup: &Setup, share: &Share, bench: Option<Bench>) -> Option<Box<Users>> {
    let (traffic, routes) = (setup.plan.traffic.clone()?, setup.routes.clone()?);
    let common = Common {
        traffic,
        routes,
        seed: setup.plan.load.seed,
        first_user: share.first_connection.into(),
        started_unix_ns: setup.started_unix_ns,
    };
    let load = &setup.plan.load;
    let users = Users::new(common, load.users.unwrap_or(share.connections), bench);
    let several = load.users.is_some() && load.depth > 1;
    Some(Box::new(if several { users.sharing(share.connections) } else { users }))
}

impl<M: Machine> Worker<M> {
    /// From now on each step is told of.
    pub(crate) fn tape_onto(&mut self, tape: Tape) {
        if let Some(users) = &mut self.users {
            users.tape_onto(tape);
        }
    }

    /// What its users are taped onto.
    pub(crate) fn tape(&mut self) -> Option<&mut Tape> {
        self.users.as_mut()?.tape()
    }

    /// The sessions of the load that begins at this instant; none where there is no traffic.
    pub(super) fn sessions_from(&self, begin: Nanos) -> Option<Executor> {
        let plan = self.plan();
        let traffic = plan.traffic.clone()?;
        let pacer = match plan.load.loop_ {
            LoopPlan::Open { rate, pacing, .. } => Some(self.pacer(begin, rate, pacing)),
            _ => None,
        };
        let (place, workers) = (self.share.place, plan.share.workers);
        let flows = traffic.flows.len() as u64;
        // Rehearsals, whose worker is behind all of the load's, have the first numbers.
        let (first_session, apart) = match place.checked_sub(workers) {
            Some(engine) => (u64::from(engine) * flows, 1),
            None => (u64::from(workers) * flows + u64::from(place), workers.into()),
        };
        let in_turn = self.share.in_turn;
        let (first_session, apart, place, workers) = if in_turn {
            (self.share.first_number, 1, 0, 1)
        } else {
            (first_session, apart, place, workers)
        };
        // Of a fleet no more is known than that each engine has a worker.
        let is_alone = plan.share.workers == plan.generator.threads;
        let rehearsed = if is_alone { 1 } else { plan.share.workers };
        let deals = Part {
            seed: plan.load.seed,
            place,
            workers,
            first_session,
            apart,
            first_user: self.share.first_connection,
            keeps_rows: pacer.is_none() && !in_turn,
            rehearsed,
            in_turn,
        };
        let (connections, budget) = (self.share.connections, self.share.budget);
        let shared = plan.load.users;
        let users = shared.unwrap_or(connections);
        let sessions =
            Sessions::new(traffic, deals, users, begin, pacer, self.course(begin), budget);
        let streams = plan.load.depth;
        let is_shared = shared.is_some();
        let sessions = if is_shared { sessions.sharing(connections, streams) } else { sessions };
        Some(Executor::Sessions(Box::new(sessions)))
    }

    /// The user of a connection: of a pool's, the one whose step is on its way on it, or took it last where several
    /// are. None where nobody has it, or where there is no traffic.
    #[inline]
    pub(super) fn user_on(&self, index: u32) -> Option<u32> {
        self.users.as_ref()?;
        match &self.executor {
            Some(executor) => executor.user_on(index),
            // Before the load nobody has a connection of a pool.
            None => self.plan().load.users.is_none().then_some(index),
        }
    }

    /// A user's next step is about to be sent on a connection; with the first one its session begins.
    #[inline]
    pub(super) fn step_begins(&mut self, index: u32, now: Nanos) {
        let Some(user) = self.user_on(index) else { return };
        let Some(users) = &mut self.users else { return };
        let Some(sessions) = self.executor.as_mut().and_then(Executor::sessions) else { return };
        users.step(user, sessions.of(user), now, &mut self.recorder);
        users.takes(index, user);
    }

    /// Steps on a connection may be over: then their users' next ones, or next sessions, are due some time.
    #[inline]
    pub(super) fn step_over(&mut self, index: u32, now: Nanos) {
        let Some(users) = &mut self.users else { return };
        if users.share() {
            while let Some(user) = self.users.as_mut().and_then(|users| users.take_over()) {
                self.step_of_user_over(index, user, now);
            }
        } else if let Some(user) = self.user_on(index) {
            self.step_of_user_over(index, user, now);
        }
    }

    #[inline]
    fn step_of_user_over(&mut self, index: u32, user: u32, now: Nanos) {
        let Some(users) = &mut self.users else { return };
        let Some(sessions) = self.executor.as_mut().and_then(Executor::sessions) else { return };
        let Some(outcome) = users.take_outcome(user) else { return };
        let over = sessions.over((index, user), now, outcome.is_ok());
        let Some(session) = over else { return };
        if outcome.is_err() && mutation::is(Mutation::SessionLost) {
            return;
        }
        users.ended(user, &session, outcome, now, &mut self.recorder);
        self.hang_up(index, now);
    }

    /// A user's connection has ended, and what it had asked for with it where that has failed. Gives what
    /// people are to be told, with the name of the route.
    pub(super) fn user_lost(
        &mut self,
        index: u32,
        failed: Option<Class>,
        mut text: String,
        now: Nanos,
    ) -> String {
        if self.users.as_ref().is_some_and(|users| users.share()) {
            return self.users_lost(index, failed, text);
        }
        let Some(user) = self.user_on(index) else { return text };
        let Some(users) = &mut self.users else { return text };
        let is_asked = !self.connections[index as usize].ledger.is_empty();
        if failed == Some(Class::Timeout)
            && let Some(late) = users.late(user)
        {
            text = late;
        }
        let class = failed.unwrap_or(Class::Closed);
        if !is_asked
            && users.is_gone(user, class, &text)
            && let Some(sessions) = self.executor.as_mut().and_then(Executor::sessions)
        {
            sessions.hasten(user, now);
        }
        let failed = failed.filter(|_| is_asked).map(|class| (class, text.as_str()));
        users.lost(user, failed, &mut self.recorder);
        if failed.is_some() { format!("{}: {text}", users.route_name(user)) } else { text }
    }

    /// The same of a connection that several users have.
    #[cold]
    fn users_lost(&mut self, index: u32, failed: Option<Class>, text: String) -> String {
        let Some(users) = &mut self.users else { return text };
        let (ledger, recorder) = (&self.connections[index as usize].ledger, &mut self.recorder);
        let first = ledger.front().and_then(|pending| users.asker(pending.number));
        ledger.for_each(|Pending { number, .. }| match (users.asker(number), failed) {
            (None, _) => {}
            (Some(user), None) => users.lost(user, None, recorder),
            (Some(user), Some(class)) => users.given_up(user, number, (class, &text), recorder),
        });
        match first.filter(|_| failed.is_some()) {
            Some(user) => format!("{}: {text}", users.route_name(user)),
            None => text,
        }
    }

    /// The oldest message of a connection was given up, and the connection goes on.
    pub(super) fn user_given_up(&mut self, index: u32, number: u64) {
        let holder = self.user_on(index);
        let Some(users) = &mut self.users else { return };
        if let Some(user) = users.asker(number).or(holder) {
            users.given_up(user, number, (Class::Timeout, LATE), &mut self.recorder);
        }
    }

    /// A message of each of these is with the kernel: the youngest ones of a connection, so many.
    pub(super) fn steps_sent(&mut self, index: u32, count: u32) {
        let holder = self.user_on(index);
        let Some(users) = &mut self.users else { return };
        let recorder = &mut self.recorder;
        if !users.share() {
            if let Some(user) = holder {
                users.sent(user, recorder);
            }
            return;
        }
        self.connections[index as usize].ledger.for_youngest(count, |pending| {
            if let Some(user) = users.asker(pending.number) {
                users.sent(user, recorder);
            }
        });
    }

    /// Encodes what goes again, and what goes on with another request, as far as there is room.
    pub(super) fn encode_rest(&mut self, index: u32) {
        let holder = self.user_on(index);
        let connection = &mut self.connections[index as usize];
        let (buffers, recorder) = (&mut self.buffers, &mut self.recorder);
        let Some(users) = &mut self.users else {
            return connection.encode_rest(&mut self.payloads, buffers, recorder);
        };
        while let Some(number) = connection.next_again() {
            if let Some(user) = users.asker(number).or(holder) {
                users.encode(user, number, connection, buffers, recorder);
            }
        }
    }

    /// Encodes again what a user had in flight when its last connection ended. True: it is a user's.
    pub(super) fn encode_again_for_user(&mut self, index: u32, now: Nanos) -> bool {
        let user = self.user_on(index);
        let Some(users) = &mut self.users else { return false };
        if users.converse() {
            self.settle(index, now);
            return true;
        }
        let connection = &mut self.connections[index as usize];
        if matches!(connection.ledger, Ledger::Numbered(_)) {
            self.encode_rest(index);
            return true;
        }
        if let (Some(pending), Some(user)) = (connection.ledger.front().copied(), user) {
            let (buffers, recorder) = (&mut self.buffers, &mut self.recorder);
            users.encode(user, pending.number, connection, buffers, recorder);
        }
        true
    }

    /// Takes in what was found of replies that are judged beside the load.
    #[inline]
    pub(super) fn hear_verdicts(&mut self) {
        if let Some(users) = &mut self.users {
            users.hear_verdicts(&mut self.recorder);
        }
    }

    /// Replies that came and are neither right nor wrong yet.
    pub(super) fn unjudged(&self) -> u64 {
        self.users.as_ref().map_or(0, |users| users.unjudged())
    }

    /// Nothing is in flight: is there still a verdict to be waited for?
    pub(super) fn awaits_verdicts(&self) -> bool {
        let awaits = self.unjudged() > 0;
        if let Some(users) = self.users.as_ref().filter(|_| awaits) {
            users.await_verdicts();
        }
        awaits
    }

    /// The run is over, whatever is not judged.
    pub(super) fn end_judging(&mut self) {
        if let Some(users) =
            self.users.as_mut().filter(|_| !mutation::is(Mutation::UnjudgedForgotten))
        {
            users.end_judging(&mut self.recorder);
        }
    }

    /// Sessions that are due at this instant and have not begun.
    pub(super) fn sessions_waiting(&mut self, last: Nanos) -> u64 {
        match (&self.users, &mut self.executor) {
            (Some(_), Some(executor)) => executor.waiting(last),
            _ => 0,
        }
    }

    /// Counts the steps that wait for a connection of a pool since before this instant.
    pub(super) fn count_blocked(&mut self, before: Nanos) {
        if self.plan().load.users.is_none() {
            return;
        }
        let sessions = self.executor.as_mut().and_then(Executor::sessions);
        if let (Some(users), Some(sessions)) = (&mut self.users, sessions) {
            sessions.count_blocked(before, users.blocked());
        }
    }

    /// Counts what the dealer has found; then what is in flight and open, where so many sessions wait.
    pub(super) fn traffic_standing(&mut self, waiting: u64) -> TrafficStanding {
        let Some(users) = &mut self.users else { return TrafficStanding::default() };
        users.record_unasked(&mut self.recorder);
        if let Some(sessions) = self.executor.as_mut().and_then(Executor::sessions) {
            for flow in users.flows() {
                let starved = sessions.take_starved(flow);
                if starved > 0 {
                    self.recorder.flow(flow).starved(starved);
                    let text = || "a unique feed ran out: give it more rows".to_owned();
                    self.recorder.example(Class::Feed, text);
                }
            }
        }
        users.standing(waiting)
    }
}
