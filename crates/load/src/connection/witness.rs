//! Somebody who looks at what comes before it is taken in: the preflight, for its first reply; a user of
//! traffic, for all of its own.

use wiretrial_proto::{Event, Reply};

use super::Ending;
use crate::measure::{Class, Recorder, Timeline};
use crate::source::Payloads;

/// Sees all that comes on a connection.
pub(crate) trait Witness {
    /// Does it want to see each event? Else those of right replies need not be made.
    const LOOKS: bool = true;
    /// Does it judge replies itself?
    const JUDGES: bool = false;

    /// These bytes came.
    fn bytes(&mut self, bytes: &[u8]) -> Testimony;

    /// This is what the session made of them.
    fn event(&mut self, event: &Event<'_>, payloads: &mut Payloads) -> Testimony;

    /// All of a reply came: is it right? Only who [judges](Self::JUDGES) is asked, and records it. True: its message
    /// is not done, and goes on with another request.
    fn judge(&mut self, reply: &Reply<'_>, judged: Judged<'_>) -> bool {
        let _ = (reply, judged);
        false
    }

    /// The message with this number has failed, and its connection goes on; that it has is recorded.
    fn failed(&mut self, number: u64, (class, text): (Class, String), recorder: &mut Recorder) {
        let _ = number;
        recorder.example(class, || text);
    }
}

/// What there is to know of a reply beside itself, and where outcomes go.
#[derive(Debug)]
pub(crate) struct Judged<'r> {
    pub(crate) timeline: &'r Timeline,
    /// Of the message that it answers.
    pub(crate) number: u64,
    pub(crate) recorder: &'r mut Recorder,
    pub(crate) open_loop: bool,
}

/// What is to be done with what came.
#[derive(Debug)]
pub(crate) enum Testimony {
    /// What is done always.
    GoOn,
    /// Nothing: the witness keeps it.
    Kept,
    /// The connection ends.
    End(Ending),
}

impl<W: Witness> Witness for &mut W {
    const LOOKS: bool = W::LOOKS;
    const JUDGES: bool = W::JUDGES;

    fn bytes(&mut self, bytes: &[u8]) -> Testimony {
        (**self).bytes(bytes)
    }

    fn event(&mut self, event: &Event<'_>, payloads: &mut Payloads) -> Testimony {
        (**self).event(event, payloads)
    }

    fn judge(&mut self, reply: &Reply<'_>, judged: Judged<'_>) -> bool {
        (**self).judge(reply, judged)
    }

    fn failed(&mut self, number: u64, failed: (Class, String), recorder: &mut Recorder) {
        (**self).failed(number, failed, recorder);
    }
}

/// Nobody looks: what a load does.
#[derive(Debug)]
pub(crate) struct Nobody;

impl Witness for Nobody {
    const LOOKS: bool = false;

    #[inline]
    fn bytes(&mut self, _: &[u8]) -> Testimony {
        Testimony::GoOn
    }

    #[inline]
    fn event(&mut self, _: &Event<'_>, _: &mut Payloads) -> Testimony {
        Testimony::GoOn
    }
}
