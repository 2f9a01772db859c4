//! The users of traffic: what each knows, what it asks next, and whether the reply is right.
//!
//! Knows sessions step by step, and the connection of one user at a time. Must not know when anything is
//! sent, nor whose turn it is.

mod askers;
mod hearing;
mod sampling;
mod talk;
mod talking;
mod taping;
mod unasked;
mod way;

use std::sync::Arc;

pub(crate) use hearing::Hearing;

use crate::clock::Nanos;
use crate::connection::{Buffers, Connection};
use crate::exchange::Tape;
use crate::executor::Session;
use crate::judging::{Bench, Sampler};
use crate::measure::{Class, Metric, Recorder, TrafficStanding};
use crate::plan::traffic::Traffic;
use crate::source::traffic::{Coming, Jar, Known, Making, Request, Room, Routes, Scratch, Values};
use askers::Askers;
use talk::Talk;
use unasked::Unasked;
use way::Way;

/// What does not differ from user to user.
#[derive(Debug, Clone)]
pub(crate) struct Common {
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) routes: Arc<Routes>,
    /// Of all that the run draws.
    pub(crate) seed: u64,
    /// Number of the first user among all.
    pub(crate) first_user: u64,
    /// Wall clock at offset 0, nanoseconds since 1970.
    pub(crate) started_unix_ns: u64,
}

/// All users of a worker.
#[derive(Debug)]
pub(crate) struct Users {
    common: Common,
    all: Vec<User>,
    /// Where requests are laid out.
    room: Room,
    /// The target of a request whose reply sets cookies.
    target: Vec<u8>,
    /// By route: what judging a reply takes.
    scratches: Vec<Scratch>,
    /// By route: what telling takes whether a message is the awaited one; none where none is.
    matching: Vec<Option<Scratch>>,
    /// By flow.
    unasked: Vec<Unasked>,
    /// Where replies come to be whole, to be used again.
    #[expect(clippy::vec_box, reason = "they come and go boxed")]
    spare: Vec<Box<Coming>>,
    standing: TrafficStanding,
    /// Whose messages are on their way, where several users have a connection at once; none: who has the connection is
    /// who asked.
    askers: Option<Box<Askers>>,
    /// Who draws replies that are judged beside the load; none: each one is judged at once.
    sampler: Option<Box<Sampler>>,
    /// Where each step is told of, if it is.
    tape: Option<Box<Tape>>,
}

/// What a user has.
#[derive(Debug, Default)]
struct User {
    values: Values,
    jar: Jar,
    /// Index of the route of the step that is on its way, and of the flow.
    route: usize,
    flow: usize,
    /// Number of its session.
    session: u64,
    /// When the step was due.
    due: Nanos,
    /// What has come of the reply.
    coming: Option<Box<Coming>>,
    /// What became of the step, once it is over.
    outcome: Option<Result<(), Class>>,
    /// Where redirects have led its step.
    way: Way,
    /// How far its conversation is; none where its sessions are none.
    talk: Option<Box<Talk>>,
}

impl Users {
    pub(crate) fn new(common: Common, users: u32, bench: Option<Bench>) -> Self {
        let routes = common.routes.count();
        let standing = TrafficStanding {
            in_flight: vec![0; routes],
            blocked: vec![0; routes],
            open: vec![0; common.traffic.flows.len()],
            ..TrafficStanding::default()
        };
        let talks = common.traffic.is_conversation();
        let user = || User { talk: talks.then(Box::default), ..User::default() };
        let matching = common.routes.iter().map(|route| Some(route.awaits.as_ref()?.scratch()));
        let (seed, share) = (common.seed, common.traffic.sample);
        let sampler = bench.map(|bench| Box::new(Sampler::new(bench, seed, share, routes)));
        Self {
            all: (0..users).map(|_| user()).collect(),
            matching: matching.collect(),
            unasked: common.traffic.flows.iter().map(|_| Unasked::default()).collect(),
            room: Room::default(),
            target: Vec::new(),
            scratches: common.routes.iter().map(|route| route.replies.scratch()).collect(),
            spare: Vec::new(),
            standing,
            askers: None,
            sampler,
            tape: None,
            common,
        }
    }

    /// Several of them have each of so many connections at once.
    #[must_use]
    pub(crate) fn sharing(mut self, connections: u32) -> Self {
        self.askers = Some(Box::new(Askers::new(connections)));
        self
    }

    /// Do several users have a connection at once?
    #[inline]
    pub(crate) fn share(&self) -> bool {
        self.askers.is_some()
    }

    /// A user's step has taken a connection.
    #[inline]
    pub(crate) fn takes(&mut self, connection: u32, user: u32) {
        if let Some(askers) = &mut self.askers {
            askers.takes(connection, user);
        }
    }

    /// The next message of a connection has this number: whose is it? `holder`: who has it, where only one can.
    #[inline]
    pub(crate) fn asks(&mut self, connection: u32, number: u64, holder: u32) -> u32 {
        let asker = self.askers.as_mut().and_then(|askers| askers.asks(connection, number));
        asker.unwrap_or(holder)
    }

    /// Whose message has this number, where several users have its connection.
    #[inline]
    pub(crate) fn asker(&self, number: u64) -> Option<u32> {
        self.askers.as_ref()?.of(number)
    }

    /// The message with this number is over.
    #[inline]
    fn ends(&mut self, number: u64) {
        if let Some(askers) = &mut self.askers {
            askers.ends(number);
        }
    }

    /// One of several users of a connection, whose step is over; each is told once.
    #[inline]
    pub(crate) fn take_over(&mut self) -> Option<u32> {
        self.askers.as_mut()?.take_over()
    }

    /// A user's next step is to be sent; with the first one its session begins.
    pub(crate) fn step(&mut self, index: u32, at: &Session, now: Nanos, recorder: &mut Recorder) {
        let user = &mut self.all[index as usize];
        let flow = &self.common.traffic.flows[at.flow];
        if at.step == 0 {
            user.values.clear();
            user.jar.clear();
            (user.flow, user.session) = (at.flow, at.number);
            if let (Some(feed), Some(row)) = (flow.feed, at.row) {
                let feed = &self.common.traffic.feeds[feed];
                for (value, text) in feed.columns.iter().zip(&feed.rows[row]) {
                    user.values.set(*value, text.as_bytes());
                }
            }
            self.standing.open[at.flow] += 1;
            // What the first step waits for a connection of a pool is the step's.
            let waited = now - at.due - at.blocked.unwrap_or_default();
            recorder.flow(at.flow).begun(waited);
            recorder.record(Metric::SessionWait, waited);
        }
        user.route = flow.steps[at.step].route;
        user.way.begin();
        user.due = at.step_due;
        if let Some(blocked) = at.blocked {
            recorder.route(user.route).blocked(blocked);
            recorder.record(Metric::BlockedTime, blocked);
        }
        if let Some(talk) = &mut user.talk {
            talk.begins((at.step, at.round));
        }
        self.tape_step(index, at);
    }

    /// Encodes the user's step, for the first time or again.
    pub(crate) fn encode(
        &mut self,
        index: u32,
        number: u64,
        connection: &mut Connection,
        buffers: &mut Buffers,
        recorder: &mut Recorder,
    ) {
        let making = self.making(index, number);
        let user = &mut self.all[index as usize];
        if let Some(talk) = &mut user.talk {
            talk.making = making;
        }
        let user = &*user;
        let known = Known { values: &user.values, making };
        let jar = self.common.traffic.flows[user.flow].cookies.then_some(&user.jar);
        let route = self.common.routes.get(user.route);
        let (head, request) = match (user.way.target(), route.follow) {
            (Some((target, gets)), Some(follow)) => {
                let head = if gets { follow.get } else { follow.same };
                (head, route.requests.lay_for(target, !gets, known, jar, &mut self.room))
            }
            _ => (user.route, route.requests.lay(known, jar, &mut self.room)),
        };
        let one = self.tape.as_mut().and_then(|tape| tape.payload(number));
        let whole = Request { body: one.unwrap_or(request.body), ..request };
        let bytes = connection.encode_request(number, head, &whole, buffers, recorder);
        recorder.route(user.route).encoded(bytes as u64);
        match &mut self.tape {
            None => {}
            Some(tape) if user.talk.is_some() => tape.says(request.body),
            Some(tape) => tape.requested(connection.encoded(bytes)),
        }
    }

    /// The user's step was handed to the kernel.
    pub(crate) fn sent(&mut self, index: u32, recorder: &mut Recorder) {
        let user = &mut self.all[index as usize];
        let route = user.route;
        if let Some(talk) = &mut user.talk {
            talk.is_out = true;
        }
        self.standing.in_flight[route] += 1;
        recorder.route(route).sent(1);
    }

    /// Hears what comes on the user's connection.
    pub(crate) fn hearing(&mut self, index: u32) -> Hearing<'_> {
        Hearing { users: self, index }
    }

    /// The user's connection is lost: a reply that has begun comes to nothing, and where it was asked for, its
    /// step has failed.
    pub(crate) fn lost(
        &mut self,
        index: u32,
        failed: Option<(Class, &str)>,
        recorder: &mut Recorder,
    ) {
        let user = &mut self.all[index as usize];
        self.spare.extend(user.coming.take());
        let Some((class, text)) = failed else { return };
        if let Some(tape) = &mut self.tape {
            tape.over(Err((class, text)), None);
        }
        if let Some(talk) = &mut user.talk {
            talk.is_out = false;
        }
        user.outcome = Some(Err(class));
        recorder.route(user.route).failure(class, || text.to_owned());
    }

    /// The message of a user with this number was given up, and its connection goes on.
    pub(crate) fn given_up(
        &mut self,
        index: u32,
        number: u64,
        failed: (Class, &str),
        recorder: &mut Recorder,
    ) {
        self.lost(index, Some(failed), recorder);
        self.ends(number);
    }

    /// What became of the user's step, if it is over.
    pub(crate) fn take_outcome(&mut self, index: u32) -> Option<Result<(), Class>> {
        let user = &mut self.all[index as usize];
        let outcome = user.outcome.take()?;
        self.standing.in_flight[user.route] -= 1;
        Some(outcome)
    }

    /// A user's session has ended with this.
    pub(crate) fn ended(
        &mut self,
        index: u32,
        session: &Session,
        outcome: Result<(), Class>,
        now: Nanos,
        recorder: &mut Recorder,
    ) {
        self.standing.open[session.flow] -= 1;
        if let Some(tape) = &mut self.tape {
            tape.end_session();
        }
        if let Some(talk) = &mut self.all[index as usize].talk {
            talk.is_open = false;
        }
        let flow = recorder.flow(session.flow);
        if let Err(class) = outcome {
            return flow.failed(class);
        }
        flow.done(now - session.due);
        recorder.record(Metric::IterationTime, now - session.due);
    }

    /// So many sessions that were due did not begin before the load's end.
    pub(crate) fn give_up(&mut self, sessions: u64) {
        self.standing.dropped = sessions;
    }

    /// By route, where to count the steps that wait for a connection of the pool: none so far.
    pub(crate) fn blocked(&mut self) -> &mut [u64] {
        self.standing.blocked.fill(0);
        &mut self.standing.blocked
    }

    /// What is in flight and open now. A reply that is neither right nor wrong yet is in flight.
    pub(crate) fn standing(&self, waiting: u64) -> TrafficStanding {
        let mut standing = TrafficStanding { waiting, ..self.standing.clone() };
        if let Some(sampler) = &self.sampler {
            let unjudged = standing.in_flight.iter_mut().zip(sampler.waiting_by_route());
            unjudged.for_each(|(in_flight, unjudged)| *in_flight += unjudged);
        }
        standing
    }

    /// Name of the route of the user's step.
    pub(crate) fn route_name(&self, index: u32) -> &str {
        &self.common.routes.get(self.all[index as usize].route).name
    }

    /// Steps that are on their way, and sessions that have begun and not ended.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.standing.in_flight.iter().sum(), self.standing.open.iter().sum())
    }

    /// Flows, by number.
    pub(crate) fn flows(&self) -> std::ops::Range<usize> {
        0..self.common.traffic.flows.len()
    }

    fn making(&self, index: u32, number: u64) -> Making {
        let user = &self.all[index as usize];
        Making {
            seed: self.common.seed,
            seq: number,
            user: self.common.first_user + u64::from(index),
            session: user.session,
            due_unix_ns: self.common.started_unix_ns + user.due.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_who_waits_costs_little() {
        assert!(size_of::<User>() <= 184, "{} bytes", size_of::<User>());
    }
}
