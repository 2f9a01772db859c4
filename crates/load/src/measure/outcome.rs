//! How a message or a connection fails, one class each, with one meaning; and how a copy comes.

use wiretrial_net::NetErrorClass;
use wiretrial_proto::ErrorClass;

use crate::clock::Nanos;

/// How a message or a connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The peer refused the connection.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// The peer could not be reached.
    Unreachable,
    /// The connection did not stand in time.
    ConnectTimeout,
    /// TLS failed.
    Tls,
    /// The WebSocket upgrade was refused, or accepted wrongly.
    Upgrade,
    /// No whole reply before the deadline.
    Timeout,
    /// The connection ended inside a reply or before it.
    Truncated,
    /// A head over the limit.
    HeaderTooLarge,
    /// A message over the limit.
    TooBig,
    /// Text that is not UTF-8.
    Utf8,
    /// Bytes that the protocol forbids.
    Protocol,
    /// A reply with another status than expected, of HTTP or of gRPC.
    Status,
    /// A reply of gRPC without the status of its call.
    NoStatus,
    /// A reply that came after the deadline of its call.
    Deadline,
    /// A redirect that is not followed: to another origin, or one too many.
    Redirect,
    /// A reply with wrong content.
    Mismatch,
    /// An event was left out, as the numbers of those that came show.
    Missing,
    /// An event came again, or behind a later one.
    Order,
    /// A reply without what a later request needs.
    Capture,
    /// No row of data was left for a session.
    Feed,
    /// The peer closed the conversation while a reply was awaited.
    Closed,
    /// The generator's own fault: no descriptors, no ports. The trial is invalid.
    Client,
    /// Anything else that the system reports.
    System,
}

/// What a copy is of those that its receiver is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// In its turn; when its message was due.
    Right(Nanos),
    /// Right, and behind a later one; when its message was due.
    OutOfOrder(Nanos),
    /// With other content than its message's.
    Mismatch,
    /// It came before, or was given up.
    Duplicate,
    /// It was sent before the receiver sat there.
    Unowed,
    /// Nobody at the table sent such a message.
    Unknown,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 24] = [
        Self::Refused,
        Self::Reset,
        Self::Unreachable,
        Self::ConnectTimeout,
        Self::Tls,
        Self::Upgrade,
        Self::Timeout,
        Self::Truncated,
        Self::HeaderTooLarge,
        Self::TooBig,
        Self::Utf8,
        Self::Protocol,
        Self::Status,
        Self::NoStatus,
        Self::Deadline,
        Self::Redirect,
        Self::Mismatch,
        Self::Missing,
        Self::Order,
        Self::Capture,
        Self::Feed,
        Self::Closed,
        Self::Client,
        Self::System,
    ];

    /// Name in snapshots.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Unreachable => "unreachable",
            Self::ConnectTimeout => "connect_timeout",
            Self::Tls => "tls",
            Self::Upgrade => "upgrade",
            Self::Timeout => "timeout",
            Self::Truncated => "truncated",
            Self::HeaderTooLarge => "header_too_large",
            Self::TooBig => "too_big",
            Self::Utf8 => "utf8",
            Self::Protocol => "protocol",
            Self::Status => "status",
            Self::NoStatus => "no_status",
            Self::Deadline => "deadline",
            Self::Redirect => "redirect",
            Self::Mismatch => "mismatch",
            Self::Missing => "missing",
            Self::Order => "order",
            Self::Capture => "capture",
            Self::Feed => "feed",
            Self::Closed => "closed",
            Self::Client => "client",
            Self::System => "system",
        }
    }
}

impl From<ErrorClass> for Class {
    fn from(class: ErrorClass) -> Self {
        match class {
            ErrorClass::Truncated => Self::Truncated,
            ErrorClass::HeaderTooLarge => Self::HeaderTooLarge,
            ErrorClass::TooBig => Self::TooBig,
            ErrorClass::Utf8 => Self::Utf8,
            ErrorClass::NoStatus => Self::NoStatus,
            ErrorClass::Reset => Self::Reset,
            ErrorClass::Closed => Self::Closed,
            ErrorClass::Mismatch => Self::Mismatch,
            ErrorClass::Upgrade => Self::Upgrade,
            ErrorClass::Protocol => Self::Protocol,
        }
    }
}

impl From<NetErrorClass> for Class {
    fn from(class: NetErrorClass) -> Self {
        match class {
            NetErrorClass::Refused => Self::Refused,
            NetErrorClass::Reset => Self::Reset,
            NetErrorClass::TimedOut => Self::ConnectTimeout,
            NetErrorClass::Unreachable => Self::Unreachable,
            NetErrorClass::NoDescriptors | NetErrorClass::NoPorts => Self::Client,
            NetErrorClass::Tls => Self::Tls,
            NetErrorClass::Other => Self::System,
        }
    }
}
