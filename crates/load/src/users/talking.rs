//! Users who converse: how their connections are opened, what steps are over without a reply, and what is heard.
//!
//! Knows the steps of conversations. Must not know sockets, nor whose turn it is.

use wiretrial_proto::{Close, Event, Reply, Tag};

use super::hearing::classed;
use super::talk::{At, Heard, Wrong};
use super::{Hearing, Users};
use crate::connection::{Ending, Testimony};
use crate::measure::{Class, Recorder, Timeline};
use crate::mutation::{self, Mutation};
use crate::plan::traffic::{Deed, Line};
use crate::source::excerpt;
use crate::source::traffic::{Coming, Known, Opening};

/// Codes with which a peer says that all is well, or nothing.
const WELL: [u16; 3] = [1000, 1001, 1005];

/// So many steps behind the one that is listened for may hear what they await.
const MOST_AHEAD: usize = 8;

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
            && !self.common.traffic.routes[user.route].line.as_ref().is_some_and(Line::listens)
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
        talk.listen_behind(talk.at, &self.common.traffic.flows[user.flow]);
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

    /// What comes of a step of the user with this message: of the one that is listened for, or of one of those
    /// behind it that await messages, too. None: it is none of theirs.
    fn heard(&mut self, index: u32, tag: Tag, message: &[u8]) -> Option<Heard> {
        let mut next = self.all[index as usize].talk.as_ref()?.ear;
        for _ in 0..=MOST_AHEAD {
            let at = next?;
            let user = &self.all[index as usize];
            let talk = user.talk.as_ref()?;
            let flow = &self.common.traffic.flows[user.flow];
            let awaits = |at: At| {
                let line = &self.common.traffic.routes[flow.steps[at.0].route].line;
                line.as_ref().is_some_and(|line| line.deed == Deed::Await)
            };
            // An answer cannot come before what it answers.
            let is_now = talk.is_out && talk.at == at;
            if !awaits(at) && !is_now {
                return None;
            }
            // Those of the next round await what this round's do.
            next = flow.after(at.0, at.1).filter(|behind| behind.0 > at.0 && awaits(*behind));
            if !talk.has_early(at) && self.is_of(index, at, tag, message) {
                return Some(self.take_in(index, at, message));
            }
        }
        None
    }

    /// Is this message of a user the one that this step awaits?
    fn is_of(&mut self, index: u32, at: At, tag: Tag, message: &[u8]) -> bool {
        let Self { common, all, matching, .. } = self;
        let user = &all[index as usize];
        let Some(talk) = &user.talk else { return false };
        let number = common.traffic.flows[user.flow].steps[at.0].route;
        let Some(line) = &common.traffic.routes[number].line else { return false };
        // An acknowledgement is of the last message that the session sent, or of one that nobody waits for any more.
        let is_kind = match tag {
            Tag::Oldest => !line.acknowledged,
            Tag::Number(of) => line.acknowledged && of == talk.making.seq,
        };
        if !line.listens() {
            return false;
        }
        if mutation::is(Mutation::AnyAnswer) {
            return true;
        }
        if !is_kind {
            return false;
        }
        let awaits = common.routes.get(number).awaits.as_ref().zip(matching[number].as_mut());
        let known = Known { values: &user.values, making: talk.making };
        awaits.is_none_or(|(awaits, scratch)| awaits.is_of(message, known, scratch))
    }

    /// Judges the message that this step awaits.
    fn take_in(&mut self, index: u32, at: At, message: &[u8]) -> Heard {
        let Self { common, all, scratches, tape, .. } = self;
        let user = &mut all[index as usize];
        let flow = &common.traffic.flows[user.flow];
        let number = flow.steps[at.0].route;
        let making = user.talk.as_ref().map(|talk| talk.making).unwrap_or_default();
        let (replies, scratch) = (&common.routes.get(number).replies, &mut scratches[number]);
        if let Some(tape) = tape {
            let known = (&user.values, making);
            let verdicts = replies.verdicts(&Coming::default(), message, known, scratch);
            tape.hears(at, message, verdicts);
        }
        let told = replies.message(message, (&mut user.values, making), scratch).map_err(classed);
        if let Some(talk) = &mut user.talk {
            talk.listen_behind(at, flow);
        }
        Heard { at, bytes: message.len() as u64, told }
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
        let testimony = match self.users.heard(self.index, reply.tag, message) {
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
            talk.early.push(heard);
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
        unasked[user.flow].count(reply, message);
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
