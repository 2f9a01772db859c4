//! Users who converse: how their connections are opened, what steps are over without a reply, and what is heard.
//!
//! Knows the steps of conversations. Must not know sockets, nor whose turn it is.

use wiretrial_proto::{Close, Event, Reply};

use super::hearing::classed;
use super::talk::{Heard, Wrong};
use super::{Hearing, Users};
use crate::connection::{Ending, Testimony};
use crate::measure::{Class, Recorder, Timeline};
use crate::mutation::{self, Mutation};
use crate::plan::traffic::Deed;
use crate::source::excerpt;
use crate::source::traffic::{Coming, Known, Opening};

/// Codes with which a peer says that all is well, or nothing.
const WELL: [u16; 3] = [1000, 1001, 1005];

impl Users {
    /// Are their sessions conversations?
    #[inline]
    pub(crate) fn converse(&self) -> bool {
        self.all.first().is_some_and(|user| user.talk.is_some())
    }

    /// What the user does in the step that began last.
    pub(crate) fn deed(&self, index: u32) -> Option<Deed> {
        let user = &self.all[index as usize];
        self.common.traffic.routes[user.route].line.as_ref().map(|line| line.deed)
    }

    /// How the user's connection is opened, with the message of this number; none: as all are.
    pub(crate) fn opening(&mut self, index: u32, number: u64) -> Option<Opening> {
        let making = self.making(index, number);
        let user = &mut self.all[index as usize];
        user.talk.as_mut()?.making = making;
        let route = &self.common.traffic.routes[user.route];
        let opening = Opening::new(route, Known { values: &user.values, making });
        if let Some(tape) = &mut self.tape {
            tape.opens(&opening);
        }
        Some(opening)
    }

    /// Has the user's step, which is on its way, nothing to wait for?
    #[inline]
    pub(crate) fn hands_over(&self, index: u32) -> bool {
        let user = &self.all[index as usize];
        user.talk.as_ref().is_some_and(|talk| talk.is_out)
            && self.deed(index) == Some(Deed::Send)
            && self.common.routes.get(user.route).awaits.is_none()
    }

    /// Has what the user's step awaits come before it began?
    pub(crate) fn came_early(&mut self, index: u32) -> bool {
        let Some(talk) = &mut self.all[index as usize].talk else { return false };
        talk.heard = talk.take_early();
        talk.heard.is_some()
    }

    /// Does the user's step wait for the peer to close, too?
    pub(crate) fn is_leaving(&self, index: u32) -> bool {
        let talk = &self.all[index as usize].talk;
        talk.as_ref().is_some_and(|talk| talk.is_out) && self.deed(index) == Some(Deed::Close)
    }

    /// Why the connection is gone on which the user's step was to go; none: its peer has closed it, which is all
    /// that the step wants.
    pub(crate) fn cut_off(&self, index: u32) -> Option<Wrong> {
        let talk = self.all[index as usize].talk.as_ref()?;
        let is_well = talk.closed.is_some_and(|code| WELL.contains(&code));
        if is_well && self.deed(index) == Some(Deed::Close) {
            return None;
        }
        let unknown = || (Class::Closed, "the connection was closed".to_owned());
        Some(talk.gone.clone().unwrap_or_else(unknown))
    }

    /// The user's connection is gone, and its session with it, if it has one: true.
    pub(crate) fn is_gone(&mut self, index: u32, class: Class, text: &str) -> bool {
        let Some(talk) = &mut self.all[index as usize].talk else { return false };
        if !talk.is_open || talk.gone.is_some() {
            return false;
        }
        talk.gone = Some((class, format!("before this step: {text}")));
        true
    }

    /// What is said of a step of the user that has waited too long, where that is more than of others.
    pub(crate) fn late(&self, index: u32) -> Option<String> {
        let talk = self.all[index as usize].talk.as_ref()?;
        match self.deed(index)? {
            Deed::Open => None,
            Deed::Close => Some(talk.late("the server did not close in time")),
            Deed::Send | Deed::Await => Some(talk.late("no such message came in time")),
        }
    }

    /// The user's step is over, without a reply that was waited for on its connection.
    pub(crate) fn settle(
        &mut self,
        index: u32,
        timeline: &Timeline,
        open_loop: bool,
        recorder: &mut Recorder,
    ) {
        let hands_over = self.hands_over(index);
        let user = &mut self.all[index as usize];
        let Some(talk) = &mut user.talk else { return };
        let heard = talk.heard.take();
        talk.is_out = false;
        if talk.ear == Some(talk.at) {
            talk.ear = self.common.traffic.flows[user.flow].after(talk.at.0, talk.at.1);
        }
        if hands_over {
            recorder.handed_over();
            recorder.route(user.route).handed_over();
            user.outcome = Some(Ok(()));
            return self.tape_over(index, Ok(()), None);
        }
        let heard = heard.unwrap_or(Heard { at: talk.at, bytes: 0, told: Ok(()) });
        self.over(index, heard.bytes, heard.told, (timeline, open_loop), recorder);
    }

    /// Records what nobody asked for.
    pub(crate) fn record_unasked(&mut self, recorder: &mut Recorder) {
        for (flow, unasked) in self.unasked.iter_mut().enumerate() {
            if !unasked.is_empty() {
                unasked.record(recorder.flow(flow));
            }
        }
    }

    /// Is this message of a user the one that is listened for? Then it is what comes of its step.
    fn heard(&mut self, index: u32, message: &[u8]) -> Option<Heard> {
        let Self { common, all, scratches, matching, tape, .. } = self;
        let user = &mut all[index as usize];
        let talk = user.talk.as_mut()?;
        let at = talk.ear?;
        let flow = &common.traffic.flows[user.flow];
        let number = flow.steps[at.0].route;
        let deed = common.traffic.routes[number].line.as_ref()?.deed;
        let is_now = talk.is_out && talk.at == at;
        // An answer cannot come before what it answers.
        if deed != Deed::Await && !is_now {
            return None;
        }
        let route = common.routes.get(number);
        let known = Known { values: &user.values, making: talk.making };
        let is_it = route.awaits.as_ref()?.is_of(message, known, matching[number].as_mut()?);
        if !is_it && !mutation::is(Mutation::AnyAnswer) {
            return None;
        }
        let scratch = &mut scratches[number];
        if let Some(tape) = tape {
            let known = (&user.values, talk.making);
            let verdicts = route.replies.verdicts(&Coming::default(), message, known, scratch);
            tape.hears(at, message, verdicts);
        }
        let values = (&mut user.values, talk.making);
        let told = route.replies.message(message, values, scratch);
        let told = told.map_err(classed);
        talk.ear = flow.after(at.0, at.1);
        Some(Heard { at, bytes: message.len() as u64, told })
    }
}

impl Hearing<'_> {
    /// Something of a conversation came.
    pub(super) fn talk(&mut self, event: &Event<'_>) -> Testimony {
        let user = &mut self.users.all[self.index as usize];
        let Some(talk) = &mut user.talk else { return Testimony::GoOn };
        match event {
            Event::Open => {
                // What follows at once may be what the next step awaits.
                let flow = &self.users.common.traffic.flows[user.flow];
                talk.ear = flow.after(talk.at.0, talk.at.1);
                Testimony::GoOn
            }
            Event::Chunk { piece, .. } => {
                talk.message.extend_from_slice(piece);
                Testimony::Kept
            }
            Event::Reply(reply) => self.message(reply),
            Event::Close(close) => self.close(*close),
            _ => Testimony::GoOn,
        }
    }

    fn close(&mut self, Close { code }: Close) -> Testimony {
        if self.users.is_leaving(self.index) {
            return Testimony::End(Ending::Orderly("plan"));
        }
        if let Some(talk) = &mut self.users.all[self.index as usize].talk {
            talk.closed = Some(code);
        }
        Testimony::GoOn
    }

    /// A whole message came, or the end of one.
    fn message(&mut self, reply: &Reply<'_>) -> Testimony {
        let user = &mut self.users.all[self.index as usize];
        let Some(talk) = &mut user.talk else { return Testimony::GoOn };
        let mut pieces = std::mem::take(&mut talk.message);
        let message = if pieces.is_empty() {
            reply.payload
        } else {
            pieces.extend_from_slice(reply.payload);
            &pieces
        };
        let testimony = match self.users.heard(self.index, message) {
            None => self.unasked(reply, message),
            Some(heard) => self.take(heard),
        };
        pieces.clear();
        if let Some(talk) = &mut self.users.all[self.index as usize].talk {
            talk.message = pieces;
        }
        testimony
    }

    /// The message that is listened for, now or for later.
    fn take(&mut self, heard: Heard) -> Testimony {
        let user = &mut self.users.all[self.index as usize];
        let Some(talk) = &mut user.talk else { return Testimony::GoOn };
        if talk.is_out && talk.at == heard.at {
            talk.is_out = false;
            talk.heard = Some(heard);
            return Testimony::GoOn;
        }
        if !mutation::is(Mutation::EarlyForgotten) {
            talk.early.push_back(heard);
        }
        Testimony::Kept
    }

    fn unasked(&mut self, reply: &Reply<'_>, message: &[u8]) -> Testimony {
        let Users { common, all, unasked, .. } = &mut *self.users;
        let user = &mut all[self.index as usize];
        let Some(talk) = &mut user.talk else { return Testimony::GoOn };
        if !talk.is_open {
            return Testimony::Kept;
        }
        talk.another(message);
        unasked[user.flow].count(reply.kind, message);
        if common.traffic.flows[user.flow].fails_unasked {
            let text = format!("a message came that nothing awaits: '{}'", excerpt(message));
            return Testimony::End(Ending::Failed(Class::Mismatch, text));
        }
        Testimony::Kept
    }

    /// All of the message is here that the user's step waited for.
    pub(super) fn judge_talk(
        &mut self,
        timeline: &Timeline,
        open_loop: bool,
        recorder: &mut Recorder,
    ) -> bool {
        let Some(talk) = &mut self.users.all[self.index as usize].talk else { return false };
        let Some(heard) = talk.heard.take() else { return false };
        let Heard { bytes, told, .. } = heard;
        self.users.over(self.index, bytes, told, (timeline, open_loop), recorder);
        true
    }
}
