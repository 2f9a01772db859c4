//! What can go wrong on a connection.
//!
//! Knows the names, and which of them a peer admits. Must not know how any of it is done.

/// What goes wrong on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing.
    None,
    /// No further reply.
    Stall,
    /// No further reply, and nothing is read.
    Deaf,
    /// RST in place of a reply, or inside it.
    Reset,
    /// FIN in place of a reply, or inside it; a peer that is gone answers more bytes by RST.
    Finish { gone: bool },
    /// The same, whatever is under way then.
    ResetAtAnyTime,
    /// The same, whatever is under way then.
    FinishAtAnyTime,
    /// Right behind the upgrade, or behind what makes no sense so early.
    ResetBehindUpgrade,
    /// The upgrade is refused, or accepted with the answer to another key; of players without one,
    /// their login is refused, or they sit at another table.
    Upgrade { refused: bool },
    /// A wrong reply.
    Lie,
    /// Two replies, each in the other's place; of copies, two in the other order.
    Swap,
    /// A reply that comes twice.
    Twice,
    /// An HTTP status that is not the right one.
    Status,
    /// The peer takes its leave, in the protocol's way, with its reply or in place of it.
    Leave { replies: bool },
    /// Much that is no reply before a right one.
    Chatter,
    /// Bytes that mean nothing.
    Garbage,
    /// A reply that never comes, though later ones do.
    Missing,
    /// A reply to what was never asked, or a copy of another company's message.
    Foreign,
}

impl Fault {
    /// Where each message goes to many, it strikes what comes to its connection, not what is asked there.
    pub(super) fn strikes_copies(self) -> bool {
        matches!(self, Self::Lie | Self::Swap | Self::Twice | Self::Missing | Self::Foreign)
    }
}

/// Faults that a peer admits.
pub(super) const HONEST: &[Fault] = &[
    Fault::Stall,
    Fault::Deaf,
    Fault::Reset,
    Fault::Reset,
    Fault::Finish { gone: true },
    Fault::Finish { gone: false },
    Fault::ResetAtAnyTime,
    Fault::ResetAtAnyTime,
    Fault::FinishAtAnyTime,
    Fault::ResetBehindUpgrade,
    Fault::ResetBehindUpgrade,
    Fault::Upgrade { refused: true },
    Fault::Upgrade { refused: false },
    Fault::Leave { replies: true },
    Fault::Leave { replies: false },
    Fault::Chatter,
];

/// Faults that must be found out.
pub(super) const LIES: &[Fault] =
    &[Fault::Lie, Fault::Swap, Fault::Twice, Fault::Status, Fault::Garbage];

/// The same where replies name their message.
pub(super) const LIES_WITH_NUMBERS: &[Fault] =
    &[Fault::Lie, Fault::Swap, Fault::Twice, Fault::Missing, Fault::Foreign, Fault::Garbage];
