//! Faults that the simulated world must find, put in on purpose.
//!
//! Knows their names. In a normal build none is ever there, and what asks costs nothing.

/// One fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code, reason = "only tests put one in"))]
pub(crate) enum Mutation {
    /// A connection that has ended may end again, and its generation moves at the next connect only.
    EndsTwice,
    /// The slots of messages that failed with their connection are not given back.
    SlotsLost,
    /// Messages that wait for room on their connection are not counted.
    QueueUncounted,
    /// Bytes that came since the wait returned are taken to have been there then.
    StaleDone,
    /// A connection that backs off is forgotten when others do, too.
    RetryLost,
    /// A reply is taken to answer the oldest message, whichever it names.
    NumberIgnored,
    /// As many messages are in flight as one likes, whatever their peer has room for.
    RoomIgnored,
    /// A piece of a reply is taken to be one of the oldest message's reply, whichever it names.
    PieceToOldest,
    /// What a peer is told of a message that was given up waits for the next one that goes.
    CancelUnflushed,
    /// A copy that comes again is counted as right again.
    CopyTwice,
    /// A whole reply is not compared where no event is made of it.
    Uncompared,
    /// What is owed to a member of a company that leaves is not counted as missing.
    OwedForgotten,
    /// A reply without what a later request needs is taken to be right.
    CaptureMissed,
    /// A session that has failed is not counted.
    SessionLost,
    /// Any message is taken to be the answer that is awaited.
    AnyAnswer,
    /// A message that comes before its step has begun is forgotten.
    EarlyForgotten,
    /// A session whose connection is gone between two steps goes on as if it were not.
    GoneUnnoticed,
    /// A reply that was found to be wrong beside the load is taken to be right.
    WrongUnheard,
    /// A reply that waits to be judged when the run ends is forgotten.
    UnjudgedForgotten,
    /// Of the steps that wait for a connection of a pool the one that came last goes first.
    LatestFirst,
    /// What comes on a connection of a pool is heard by the user with the connection's number.
    WrongUser,
}

/// Whether this fault is in.
#[cfg(not(test))]
#[inline]
pub(crate) const fn is(_: Mutation) -> bool {
    false
}

#[cfg(test)]
pub(crate) use active::{is, with};

#[cfg(test)]
mod active {
    use std::cell::Cell;

    use super::Mutation;

    thread_local! {
        static ACTIVE: Cell<Option<Mutation>> = const { Cell::new(None) };
    }

    /// Whether this fault is in, on this thread.
    pub(crate) fn is(mutation: Mutation) -> bool {
        ACTIVE.get() == Some(mutation)
    }

    /// Does this with a fault in.
    pub(crate) fn with<T>(mutation: Mutation, act: impl FnOnce() -> T) -> T {
        let before = ACTIVE.replace(Some(mutation));
        let done = act();
        ACTIVE.set(before);
        done
    }
}
