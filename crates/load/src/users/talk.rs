//! How far one user's conversation is: which message is listened for, and what came early.
//!
//! Knows places among steps. Must not know what stands there.

use crate::measure::Class;
use crate::plan::traffic::Flow;
use crate::source::excerpt;
use crate::source::traffic::Making;

/// A step of a flow, and its round among steps that are done again.
pub(super) type At = (usize, u64);

/// A class, and a line for people.
pub(super) type Wrong = (Class, String);

/// More than is shown of a message, bytes.
const SHOWN: usize = 200;

/// What a user of a conversation has.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// Its session has begun and not ended.
    pub(super) is_open: bool,
    /// Its step is on its way.
    pub(super) is_out: bool,
    /// The step that began last.
    pub(super) at: At,
    /// The step whose message is listened for; none: behind the last one. Those behind it that await one, too, are
    /// listened for beside it.
    pub(super) ear: Option<At>,
    /// What came for steps that have not begun.
    pub(super) early: Vec<Heard>,
    /// What came for the step that is on its way.
    pub(super) heard: Option<Heard>,
    /// What was made for the last message that was sent.
    pub(super) making: Making,
    /// What has come of a message that is not whole.
    pub(super) message: Vec<u8>,
    /// The beginning of what came last while the step waited for something else, and how many did.
    other: Vec<u8>,
    others: u64,
    /// Why the connection is gone, and the session with it.
    pub(super) gone: Option<Wrong>,
    /// With which code the peer closed.
    pub(super) closed: Option<u16>,
}

/// A message that was awaited.
#[derive(Debug)]
pub(super) struct Heard {
    /// Of which step.
    pub(super) at: At,
    /// Its length.
    pub(super) bytes: u64,
    /// Is it right?
    pub(super) told: Result<(), Wrong>,
}

impl Talk {
    /// A step is to be sent; with the first one the session begins.
    pub(super) fn begins(&mut self, at: At) {
        if at.0 == 0 {
            let message = std::mem::take(&mut self.message);
            let other = std::mem::take(&mut self.other);
            let early = std::mem::take(&mut self.early);
            *self = Self { message, other, early, is_open: true, ..Self::default() };
            self.message.clear();
            self.early.clear();
        }
        self.at = at;
        self.other.clear();
        self.others = 0;
        if self.ear != Some(at) && !self.has_early(at) {
            // Whatever came for others: the executor knows where a session goes on.
            self.early.clear();
            self.ear = Some(at);
        }
    }

    /// Has what this step awaits come before it began?
    pub(super) fn has_early(&self, at: At) -> bool {
        self.early.iter().any(|heard| heard.at == at)
    }

    /// What came for the step that begins, before it did.
    pub(super) fn take_early(&mut self) -> Option<Heard> {
        let place = self.early.iter().position(|heard| heard.at == self.at)?;
        Some(self.early.swap_remove(place))
    }

    /// The message of this step is there, or it has none: if it was listened for, the next one of which that is
    /// not so is.
    pub(super) fn listen_behind(&mut self, at: At, flow: &Flow) {
        if self.ear != Some(at) {
            return;
        }
        self.ear = flow.after(at.0, at.1);
        while let Some(next) = self.ear.filter(|next| self.has_early(*next)) {
            self.ear = flow.after(next.0, next.1);
        }
    }

    /// A message came that nothing awaited matches.
    pub(super) fn another(&mut self, message: &[u8]) {
        self.others += 1;
        self.other.clear();
        self.other.extend_from_slice(&message[..message.len().min(SHOWN)]);
    }

    /// What is said of a step that has waited too long.
    pub(super) fn late(&self, awaited: &str) -> String {
        let shown = excerpt(&self.other);
        match self.others {
            0 => format!("{awaited}, and nothing else came"),
            1 => format!("{awaited}; one other message came: '{shown}'"),
            others => format!("{awaited}; {others} other messages came, the last one: '{shown}'"),
        }
    }
}
