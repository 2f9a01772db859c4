//! What is wrong with what came on a stream of requests.
//!
//! Knows what ends the connection, and what the stream alone; must not know who of the two is told.

use super::frame::ErrorCode;
use crate::fielded::inbound::Malformed;
use crate::grpc::BadMessage;
use crate::{ErrorClass, ProtocolError};

/// Why a message is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    /// The connection ends.
    Broken(ErrorCode),
    /// Its fields or its content break a rule.
    Malformed(&'static str),
    /// More fields than are taken.
    TooLarge,
    /// It ends before its head.
    Incomplete,
    /// A message of a reply to a call is none; HTTP/3 has nothing against it.
    Message(BadMessage),
}

impl Wrong {
    /// With which code its stream ends, and how the message has failed.
    pub(super) fn of_message(self) -> (ErrorCode, ProtocolError) {
        let (code, class, detail) = match self {
            Self::Broken(code) => {
                (code, ErrorClass::Protocol, "the peer broke the rules of HTTP/3")
            }
            Self::Malformed(detail) => (ErrorCode::MessageError, ErrorClass::Protocol, detail),
            Self::TooLarge => (
                ErrorCode::ExcessiveLoad,
                ErrorClass::HeaderTooLarge,
                "a list of fields is over the limit",
            ),
            Self::Incomplete => (
                ErrorCode::MessageError,
                ErrorClass::Protocol,
                "a reply that ends before its final head",
            ),
            Self::Message(bad) => (ErrorCode::RequestCancelled, bad.class(), bad.words()),
        };
        (code, ProtocolError::new(class, detail))
    }
}

impl From<ErrorCode> for Wrong {
    /// What the reader of a stream found: a frame in part is the connection's error (RFC 9114 section 7.1).
    fn from(code: ErrorCode) -> Self {
        match code {
            ErrorCode::ExcessiveLoad => Self::TooLarge,
            ErrorCode::RequestIncomplete => Self::Incomplete,
            code => Self::Broken(code),
        }
    }
}

impl From<BadMessage> for Wrong {
    fn from(bad: BadMessage) -> Self {
        Self::Message(bad)
    }
}

impl From<Malformed> for Wrong {
    fn from(Malformed(detail): Malformed) -> Self {
        Self::Malformed(detail)
    }
}
