//! What comes on a user's connection, as its step's route judges it.
//!
//! Knows events and outcomes. Must not know sockets.

use wiretrial_proto::{Event, Reply, ReplyHead, Tag};

use super::Users;
use super::talk::Wrong;
use crate::connection::{FORESEEN, Judged, Testimony, Witness};
use crate::judging::Right;
use crate::measure::{Class, Recorder, Timeline};
use crate::mutation::{self, Mutation};
use crate::source::Payloads;
use crate::source::traffic::{Fault, Known, Making};

/// Hears one user's connection.
#[derive(Debug)]
pub(crate) struct Hearing<'u> {
    pub(super) users: &'u mut Users,
    pub(super) index: u32,
}

impl Witness for Hearing<'_> {
    const JUDGES: bool = true;

    fn bytes(&mut self, _: &[u8]) -> Testimony {
        Testimony::GoOn
    }

    fn event(&mut self, event: &Event<'_>, _: &mut Payloads) -> Testimony {
        if self.users.converse() {
            return self.talk(event);
        }
        if !self.turn_to(event) {
            return Testimony::GoOn;
        }
        match event {
            Event::Head(head) => self.head(head),
            Event::Chunk { piece, .. } => {
                if let Some(tape) = &mut self.users.tape {
                    tape.piece(piece);
                }
                let user = &mut self.users.all[self.index as usize];
                if let Some(coming) = &mut user.coming {
                    self.users.common.routes.get(user.route).replies.piece(coming, piece);
                }
            }
            _ => {}
        }
        Testimony::GoOn
    }

    fn judge(&mut self, reply: &Reply<'_>, judged: Judged<'_>) -> bool {
        let Judged { timeline, number, recorder, open_loop } = judged;
        self.index = self.users.asker(number).unwrap_or(self.index);
        let goes_on = self.judge_one(reply, Judged { timeline, number, recorder, open_loop });
        if !goes_on {
            self.users.ends(number);
        }
        goes_on
    }

    fn failed(&mut self, number: u64, (class, text): (Class, String), recorder: &mut Recorder) {
        let index = self.users.asker(number).unwrap_or(self.index);
        let name = self.users.route_name(index);
        recorder.example(class, || format!("{name}: {text}"));
        self.users.given_up(index, number, (class, &text), recorder);
    }
}

impl Hearing<'_> {
    /// What is told of a message is heard by who asked it, where several have the connection. False: nobody did.
    #[inline]
    fn turn_to(&mut self, event: &Event<'_>) -> bool {
        let tag = match event {
            _ if !self.users.share() => return true,
            Event::Head(head) => head.tag,
            Event::Chunk { tag, .. } => *tag,
            _ => return true,
        };
        let Tag::Number(number) = tag else { return true };
        let asker = self.users.asker(number);
        self.index = asker.unwrap_or(self.index);
        asker.is_some()
    }

    /// A reply to this user came whole.
    #[inline]
    fn judge_one(&mut self, reply: &Reply<'_>, judged: Judged<'_>) -> bool {
        let Judged { timeline, number, recorder, open_loop } = judged;
        if self.judge_talk(timeline, open_loop, recorder) {
            return false;
        }
        let making = self.users.making(self.index, number);
        if let Some((bytes, led)) = self.lead(reply, making) {
            let wrong = match led {
                _ if !timeline.is_ordered() => (Class::Protocol, FORESEEN.to_owned()),
                Ok(()) => {
                    let user = &self.users.all[self.index as usize];
                    recorder.route(user.route).followed(bytes);
                    return true;
                }
                Err(text) => (Class::Redirect, text),
            };
            self.users.over(self.index, bytes, Err(wrong), (timeline, open_loop), recorder);
            return false;
        }
        let drawn = self.users.draw(self.index, number);
        let Users { common, all, scratches, tape, .. } = &mut *self.users;
        let user = &mut all[self.index as usize];
        let route = common.routes.get(user.route);
        let mut coming = user.coming.take().unwrap_or_default();
        if route.call.is_some() {
            coming.ended(reply.status);
            if let Some(tape) = tape {
                tape.ended_with(reply.status);
            }
            recorder.status(reply.status);
        }
        let scratch = &mut scratches[user.route];
        if let Some(tape) = tape {
            let known = (&user.values, making);
            tape.checked(route.verdicts(&coming, reply.payload, known, scratch));
        }
        let values = (&mut user.values, making);
        let told = route.replies.finish(&mut coming, reply.payload, values, scratch);
        let bytes = coming.bytes();
        let late = route.late(timeline.service_time());
        let told = match &drawn {
            Some(values) if told.is_ok() && self.users.sampler.is_none() => {
                coming.keep(reply.payload);
                self.users.judge_at_once(self.index, &coming, (values, making), recorder)
            }
            _ => told,
        };
        let told = self.tape_reply(reply, told);
        let told = match told {
            // Only a peer that does not answer knows what will be asked.
            _ if !timeline.is_ordered() => Err((Class::Protocol, FORESEEN.to_owned())),
            _ if late.is_some() => Err((Class::Deadline, late.unwrap_or_default())),
            Err(Fault::Capture(_)) if mutation::is(Mutation::CaptureMissed) => Ok(()),
            told => told.map_err(classed),
        };
        if let Some(values) = drawn.filter(|_| told.is_ok() && self.users.sampler.is_some()) {
            coming.keep(reply.payload);
            let right = Right { number, timeline, open_loop, making, values };
            if self.users.submit(self.index, coming, right, recorder) {
                return false;
            }
        } else {
            self.users.spare.push(coming);
        }
        self.users.over(self.index, bytes, told, (timeline, open_loop), recorder);
        false
    }
}

/// What a reply that is wrong is counted as.
pub(super) fn classed(fault: Fault) -> Wrong {
    match fault {
        Fault::Status(text) => (Class::Status, text),
        Fault::Mismatch(text) => (Class::Mismatch, text),
        Fault::Capture(text) => (Class::Capture, text),
    }
}

impl Users {
    /// The user's step is over with a reply of so many bytes, right or wrong.
    pub(super) fn over(
        &mut self,
        index: u32,
        bytes: u64,
        told: Result<(), Wrong>,
        (timeline, open_loop): (&Timeline, bool),
        recorder: &mut Recorder,
    ) {
        if self.tape.is_some() {
            let told = told.as_ref().copied().map_err(|(class, text)| (*class, text.as_str()));
            self.tape_over(index, told, Some(timeline.service_time()));
        }
        let user = &mut self.all[index as usize];
        let route = user.route;
        user.outcome = Some(told.as_ref().copied().map_err(|(class, _)| *class));
        recorder.route(route).received(bytes);
        self.count(route, told, (timeline, open_loop), recorder);
    }

    /// A reply of a route is right or wrong.
    pub(super) fn count(
        &self,
        route: usize,
        told: Result<(), Wrong>,
        (timeline, open_loop): (&Timeline, bool),
        recorder: &mut Recorder,
    ) {
        match told {
            Ok(()) => {
                recorder.replies(timeline, 1, open_loop);
                recorder.route(route).right(timeline, open_loop);
            }
            Err((class, text)) => {
                let name = &self.common.routes.get(route).name;
                recorder.failure(class, timeline.service_time());
                recorder.example(class, || format!("{name}: {text}"));
                recorder.route(route).failure(class, || text);
            }
        }
    }
}

impl Hearing<'_> {
    /// All of a reply came, of which this is told: the tape has a word in it where a plan has one message.
    fn tape_reply(&mut self, reply: &Reply<'_>, told: Result<(), Fault>) -> Result<(), Fault> {
        let Some(tape) = &mut self.users.tape else { return told };
        tape.piece(reply.payload);
        told.and(tape.whole().map_err(Fault::Mismatch))
    }

    /// A reply came whole: does it lead elsewhere, and may it be followed? With the bytes that it had.
    #[inline]
    fn lead(&mut self, reply: &Reply<'_>, making: Making) -> Option<(u64, Result<(), String>)> {
        let Users { common, all, spare, .. } = &mut *self.users;
        let user = &mut all[self.index as usize];
        let route = common.routes.get(user.route);
        let most = route.follow?.most;
        let values = &user.values;
        let first = || {
            let mut target = Vec::new();
            route.requests.write_target(Known { values, making }, &mut target);
            target
        };
        let told = user.way.lead(most, route.replies.origin(), first)?;
        let mut coming = user.coming.take().unwrap_or_default();
        route.replies.piece(&mut coming, reply.payload);
        let bytes = coming.bytes();
        spare.push(coming);
        Some((bytes, told))
    }

    /// A reply begins.
    fn head(&mut self, head: &ReplyHead<'_>) {
        let making = self.users.making(self.index, 0);
        let Users { common, all, spare, target, tape, .. } = &mut *self.users;
        let user = &mut all[self.index as usize];
        let route = common.routes.get(user.route);
        let mut coming = user.coming.take().or_else(|| spare.pop()).unwrap_or_default();
        route.replies.begin(&mut coming, head.status, head.length(), head.fields());
        user.coming = Some(coming);
        if let Some(tape) = tape {
            tape.head(head.status, head.fields());
        }
        if route.follow.is_some() {
            user.way.head(head.status, head.fields());
        }
        if !common.traffic.flows[user.flow].cookies {
            return;
        }
        let is_cookie = |name: &[u8]| name.eq_ignore_ascii_case(b"set-cookie");
        target.clear();
        for (_, value) in head.fields().filter(|(name, _)| is_cookie(name)) {
            if target.is_empty() {
                let known = Known { values: &user.values, making };
                match user.way.target() {
                    Some((place, _)) => target.extend_from_slice(place),
                    None => route.requests.write_target(known, target),
                }
            }
            user.jar.set(value, target);
        }
    }
}
