//! How a conversation ends that broke its protocol.
//!
//! Knows classes and words; must not know any one protocol.

/// The peer broke the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct ProtocolError {
    /// How it is counted.
    pub class: ErrorClass,
    /// What was wrong, for people.
    pub detail: &'static str,
}

impl ProtocolError {
    /// An error of this class.
    pub const fn new(class: ErrorClass, detail: &'static str) -> Self {
        Self { class, detail }
    }
}

/// How a protocol error is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// The connection ended inside a reply.
    Truncated,
    /// A head over the limit.
    HeaderTooLarge,
    /// A message over the limit.
    TooBig,
    /// Text that is not UTF-8.
    Utf8,
    /// The upgrade was answered with something else than 101, or with a wrong accept; or a login, a
    /// seat, a namespace was refused.
    Upgrade,
    /// A reply of gRPC without the status of its call.
    NoStatus,
    /// The peer has broken one message off, and goes on with the others.
    Reset,
    /// The peer has closed a conversation in the protocol's own way while a reply was awaited.
    Closed,
    /// What came belongs to no message that there is.
    Mismatch,
    /// Anything else that the protocol forbids.
    Protocol,
}
