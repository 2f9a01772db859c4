//! Where a conversation puts its answers.
//!
//! Knows whether they go straight to the connection or are held back on the stage for the script.
//! Must not know how answers are framed.

use wiretrial_net::clock::monotonic_ns;

use crate::script::{Directive, FaultKind};
use crate::shared::Shared;
use crate::stage::Stage;

/// While this many bytes of answers wait to go out, nothing more is read or answered.
pub(crate) const BACKLOG_LIMIT: usize = 1024 * 1024;

/// Takes the answers to one batch of input.
pub(crate) struct Sink<'a> {
    /// Answers are appended here. Without a stage it is the connection's own buffer.
    pub(crate) out: &'a mut Vec<u8>,
    stage: Option<&'a mut Stage>,
    shared: &'a Shared,
    requests: u64,
    /// Where the open reply begins in `out`; none where part of it went elsewhere.
    reply_start: Option<usize>,
    ending: Option<Ending>,
}

/// A reply that has begun. It belongs to the exchange that it answers: [`Sink::begin`] hands it
/// out, and [`Sink::end`] takes it back.
///
/// It carries no stream number: where replies come in order, at most one of a connection is open, and
/// all bytes appended before its end belong to it. HTTP/2, where they do not, has the script
/// [tell](Sink::direct) what it wants of each, and holds replies back and does them wrong by itself.
#[derive(Debug)]
#[must_use = "a reply that has begun must end"]
pub(crate) struct Reply {
    defect: Defect,
    /// Its bytes stay where they were appended: the conversation goes on with them.
    is_kept: bool,
}

/// How a conversation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The client knows and sends nothing more.
    Orderly,
    /// The client may still be sending.
    Early,
}

/// What the conversation itself does wrong in a reply. The stage injects all other faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Defect {
    None,
    /// One byte of the content is altered.
    Wrong,
    /// The status is 500.
    Status,
    /// The length is one too many.
    Length,
}

impl<'a> Sink<'a> {
    /// Without a stage, `out` must be the connection's buffer, else it must be empty.
    pub(crate) fn new(
        out: &'a mut Vec<u8>,
        stage: Option<&'a mut Stage>,
        shared: &'a Shared,
    ) -> Self {
        Self { out, stage, shared, requests: 0, reply_start: None, ending: None }
    }

    /// Begins a reply.
    #[inline]
    pub(crate) fn begin(&mut self) -> Reply {
        self.requests += 1;
        if self.shared.script.stall.is_some() {
            self.shared.note_request(monotonic_ns());
        }
        if self.stage.is_some() {
            return Reply { defect: self.begin_staged(), is_kept: false };
        }
        self.reply_start = Some(self.out.len());
        Reply { defect: Defect::None, is_kept: false }
    }

    /// Ends a reply: it is complete.
    #[inline]
    pub(crate) fn end(&mut self, reply: Reply) {
        let is_kept = reply.is_kept;
        // The handle is consumed, so that no reply ends twice.
        drop(reply);
        if is_kept {
            return;
        }
        self.reply_start = None;
        self.settle();
        if let Some(stage) = &mut self.stage {
            stage.end();
        }
    }

    /// Numbers a reply that its conversation holds back and does wrong by itself, and tells what the
    /// script wants of it.
    pub(crate) fn direct(&mut self) -> (u64, Directive) {
        self.requests += 1;
        if self.shared.script.stall.is_some() {
            self.shared.note_request(monotonic_ns());
        }
        let number = self.shared.number_reply();
        (number, self.shared.script.directive(number))
    }

    /// Sends these bytes as a whole reply with this fault, which is one of the connection.
    pub(crate) fn send_with(&mut self, number: u64, fault: FaultKind, bytes: &[u8]) {
        self.settle();
        if let Some(stage) = &mut self.stage {
            stage.begin(0, number, Some(fault));
            stage.add(bytes);
            stage.end();
        }
    }

    /// Assigns what was appended to the open reply, or to none where none is open. To be called
    /// before that changes.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if let Some(stage) = &mut self.stage {
            stage.add(self.out);
            self.out.clear();
        }
    }

    /// Holds back what was appended since it was last [settled](Self::settle), the answer to an upgrade, as the script
    /// says.
    pub(crate) fn delay_upgrade(&mut self) {
        let delay = self.shared.script.upgrade_delay;
        if let Some(stage) = &mut self.stage
            && delay > 0
        {
            stage.hold(monotonic_ns() + delay, self.out);
            self.out.clear();
        }
    }

    /// Where the open reply begins in `out`, as long as all of it is there.
    pub(crate) fn reply_start(&self) -> Option<usize> {
        self.reply_start
    }

    /// Ends the conversation: the connection is closed after what was appended.
    pub(crate) fn finish(&mut self, ending: Ending) {
        self.settle();
        self.ending = Some(ending);
        if let Some(stage) = &mut self.stage {
            stage.finish();
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.ending.is_some()
    }

    pub(crate) fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Are answers held back for the script?
    pub(crate) fn is_staged(&self) -> bool {
        self.stage.is_some()
    }

    pub(crate) fn shared(&self) -> &'a Shared {
        self.shared
    }

    /// Replies that began since this was made.
    pub(crate) fn requests(&self) -> u64 {
        self.requests
    }

    /// Bytes of answers that have not gone out.
    pub(crate) fn backlog(&self) -> usize {
        self.out.len() + self.stage.as_ref().map_or(0, |stage| stage.held())
    }

    #[cold]
    fn begin_staged(&mut self) -> Defect {
        self.settle();
        let Some(stage) = &mut self.stage else {
            return Defect::None;
        };
        let number = self.shared.number_reply();
        let directive = self.shared.script.directive(number);
        let due = if directive.delay == 0 { 0 } else { monotonic_ns() + directive.delay };
        stage.begin(due, number, directive.fault);
        Defect::of(directive.fault)
    }
}

impl Defect {
    fn of(fault: Option<FaultKind>) -> Self {
        match fault {
            Some(FaultKind::Wrong) => Self::Wrong,
            Some(FaultKind::Status) => Self::Status,
            Some(FaultKind::Length) => Self::Length,
            _ => Self::None,
        }
    }
}

impl Reply {
    /// One that the conversation does wrong by itself. `is_kept`: its bytes stay where they are appended.
    pub(crate) fn directed(fault: Option<FaultKind>, is_kept: bool) -> Self {
        Self { defect: Defect::of(fault), is_kept }
    }

    /// Does its conversation go on with its bytes?
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Must its length be one too many?
    #[inline]
    pub(crate) fn misstates(&self) -> bool {
        self.defect == Defect::Length
    }

    /// Must its status be 500?
    #[inline]
    pub(crate) fn fails(&self) -> bool {
        self.defect == Defect::Status
    }

    /// Must a byte of its content still be altered?
    #[inline]
    pub(crate) fn alters(&self) -> bool {
        self.defect == Defect::Wrong
    }

    /// Alters the last byte of the first piece of its content, where that must be done.
    #[inline]
    pub(crate) fn alter(&mut self, content: &mut [u8]) {
        if !self.alters() {
            return;
        }
        if let Some(byte) = content.last_mut() {
            *byte = altered(*byte);
            self.defect = Defect::None;
        }
    }
}

/// Another byte; ASCII stays ASCII, so that text stays text.
fn altered(byte: u8) -> u8 {
    byte ^ 1
}
