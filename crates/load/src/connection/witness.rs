//! Somebody who looks at what comes before it is taken in: the preflight, for its first reply.

use wiretrial_proto::Event;

use super::Ending;
use crate::source::Payloads;

/// Sees all that comes on a connection.
pub(crate) trait Witness {
    /// Does it want to see each event? Else those of right replies need not be made.
    const LOOKS: bool = true;

    /// These bytes came.
    fn bytes(&mut self, bytes: &[u8]) -> Testimony;

    /// This is what the session made of them.
    fn event(&mut self, event: &Event<'_>, payloads: &mut Payloads) -> Testimony;
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

    fn bytes(&mut self, bytes: &[u8]) -> Testimony {
        (**self).bytes(bytes)
    }

    fn event(&mut self, event: &Event<'_>, payloads: &mut Payloads) -> Testimony {
        (**self).event(event, payloads)
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
