//! Where a conversation puts its answers.
//!
//! Knows whether they go straight to the connection or wait on the stage for the script.
//! Must not know how answers are framed.

use wiretrial_net::clock::monotonic_ns;

use crate::script::FaultKind;
use crate::shared::Shared;
use crate::stage::Stage;

/// With so many bytes of answers waiting to go out, nothing more is read or answered.
pub(crate) const BACKLOG_LIMIT: usize = 1024 * 1024;

/// The way out of one batch of input.
pub(crate) struct Sink<'a> {
    /// Answers are appended here. Without a stage it is the connection's own buffer.
    pub(crate) out: &'a mut Vec<u8>,
    stage: Option<&'a mut Stage>,
    shared: &'a Shared,
    requests: u64,
    ending: Option<Ending>,
}

/// How a conversation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The peer knows and sends nothing more.
    Orderly,
    /// The peer may still be sending.
    Early,
}

/// What a conversation itself does wrong; the stage does the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Twist {
    /// Nothing.
    None,
    /// Alters one byte of the content.
    Wrong,
    /// Answers with status 500.
    Status,
}

impl<'a> Sink<'a> {
    /// Without a stage, `out` must be the connection's buffer, else it must be empty.
    pub(crate) fn new(
        out: &'a mut Vec<u8>,
        stage: Option<&'a mut Stage>,
        shared: &'a Shared,
    ) -> Self {
        Self { out, stage, shared, requests: 0, ending: None }
    }

    /// A reply begins.
    pub(crate) fn begin(&mut self) -> Twist {
        self.requests += 1;
        if self.shared.script.stall.is_some() {
            self.shared.note_request(monotonic_ns());
        }
        if self.stage.is_some() { self.begin_staged() } else { Twist::None }
    }

    /// The reply is complete.
    pub(crate) fn end(&mut self) {
        self.settle();
        if let Some(stage) = &mut self.stage {
            stage.end();
        }
    }

    /// What was appended belongs to the reply that is open, or to none: to be called before
    /// that changes.
    pub(crate) fn settle(&mut self) {
        if let Some(stage) = &mut self.stage {
            stage.add(self.out);
            self.out.clear();
        }
    }

    /// Is what is appended to the open reply still here, and not on the stage?
    pub(crate) fn may_be_taken_back(&self) -> bool {
        self.stage.is_none()
    }

    /// Nothing more is answered: the connection is closed after what was appended.
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

    pub(crate) fn shared(&self) -> &'a Shared {
        self.shared
    }

    /// Requests that began since this was made.
    pub(crate) fn requests(&self) -> u64 {
        self.requests
    }

    /// Bytes of answers that have not gone out.
    pub(crate) fn backlog(&self) -> usize {
        self.out.len() + self.stage.as_ref().map_or(0, |stage| stage.held())
    }

    #[cold]
    fn begin_staged(&mut self) -> Twist {
        self.settle();
        let Some(stage) = &mut self.stage else {
            return Twist::None;
        };
        let number = self.shared.number_reply();
        let directive = self.shared.script.directive(number);
        let due = if directive.delay == 0 { 0 } else { monotonic_ns() + directive.delay };
        stage.begin(due, number, directive.fault);
        match directive.fault {
            Some(FaultKind::Wrong) => Twist::Wrong,
            Some(FaultKind::Status) => Twist::Status,
            _ => Twist::None,
        }
    }
}

impl Twist {
    /// Alters the last byte of the content's first piece, once.
    pub(crate) fn apply(&mut self, content: &mut [u8]) {
        if *self != Self::Wrong {
            return;
        }
        if let Some(byte) = content.last_mut() {
            *byte = altered(*byte);
            *self = Self::None;
        }
    }
}

/// Another byte; ASCII stays ASCII, so that text stays text.
fn altered(byte: u8) -> u8 {
    byte ^ 1
}
