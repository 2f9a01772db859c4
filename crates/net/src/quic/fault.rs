//! Why a connection of QUIC ended, in words that a person can act on.
//!
//! Knows error codes of QUIC and TLS. Must not know what an application's codes mean.

use quinn_proto::{ConnectionError, TransportErrorCode};

use crate::tls::{Alpn, fault_in_quic};
use crate::{NetError, NetErrorClass};

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Nothing came for as long as the idle timeout allows.
    #[error("connection timed out: the peer does not answer")]
    TimedOut,
    /// The peer has no memory of the connection (a stateless reset): it was started anew, or gave it up.
    #[error("connection reset by the peer, which no longer knows it")]
    Reset,
    /// The peer speaks another version of QUIC.
    #[error("the peer speaks no version of QUIC that is spoken here (version 1)")]
    Version,
    /// The peer's application closed the connection; zero bytes of reason are usual.
    #[error("closed by the peer with code {code:#x}{}", because(.reason))]
    Closed {
        /// The application's code.
        code: u64,
        /// The peer's words.
        reason: Box<str>,
    },
    /// The peer's QUIC gave the connection up.
    #[error("the peer gave the connection up: {}{}", name(*.code), because(.reason))]
    Aborted {
        /// A transport error code (RFC 9000, section 20.1).
        code: u64,
        /// The peer's words.
        reason: Box<str>,
    },
    /// The peer broke the rules of QUIC.
    #[error("the peer broke the rules of QUIC: {}{}", name(*.code), because(.reason))]
    Violation {
        /// A transport error code (RFC 9000, section 20.1).
        code: u64,
        /// What it did.
        reason: Box<str>,
    },
    /// The handshake failed; the text is complete.
    #[error("{0}")]
    Tls(Box<str>),
    /// It was closed on this side.
    #[error("closed on this side")]
    ClosedHere,
}

impl Fault {
    /// The class under which this is counted.
    pub fn class(&self) -> NetErrorClass {
        match self {
            Self::TimedOut => NetErrorClass::TimedOut,
            // Who refuses a connection of QUIC says so with this code.
            Self::Aborted { code, .. } if *code == refused() => NetErrorClass::Refused,
            Self::Reset | Self::Closed { .. } | Self::Aborted { .. } => NetErrorClass::Reset,
            Self::Tls(_) => NetErrorClass::Tls,
            Self::Version | Self::Violation { .. } | Self::ClosedHere => NetErrorClass::Other,
        }
    }

    pub(super) fn of(error: ConnectionError, alpn: &[Alpn]) -> Self {
        match error {
            ConnectionError::TimedOut => Self::TimedOut,
            ConnectionError::Reset => Self::Reset,
            ConnectionError::VersionMismatch => Self::Version,
            ConnectionError::LocallyClosed => Self::ClosedHere,
            ConnectionError::ApplicationClosed(close) => {
                Self::Closed { code: close.error_code.into_inner(), reason: text(&close.reason) }
            }
            ConnectionError::ConnectionClosed(close) => {
                let (code, reason) = (u64::from(close.error_code), text(&close.reason));
                match alert(code) {
                    Some(alert) => Self::Tls(fault_in_quic(alert, true, &reason, alpn)),
                    None => Self::Aborted { code, reason },
                }
            }
            ConnectionError::TransportError(error) => {
                let code = u64::from(error.code);
                match alert(code) {
                    Some(alert) => Self::Tls(fault_in_quic(alert, false, &error.reason, alpn)),
                    None => Self::Violation { code, reason: error.reason.into() },
                }
            }
            ConnectionError::CidsExhausted => Self::Violation {
                code: TransportErrorCode::INTERNAL_ERROR.into(),
                reason: "no connection ID is left".into(),
            },
        }
    }
}

impl From<Fault> for NetError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::TimedOut => Self::TimedOut,
            Fault::Tls(text) => Self::Tls(text),
            fault => Self::Ended { text: fault.to_string().into(), class: fault.class() },
        }
    }
}

fn refused() -> u64 {
    TransportErrorCode::CONNECTION_REFUSED.into()
}

/// A TLS alert inside a code of QUIC (RFC 9001, section 4.8).
fn alert(code: u64) -> Option<u8> {
    code.checked_sub(0x100).and_then(|alert| u8::try_from(alert).ok())
}

fn text(bytes: &[u8]) -> Box<str> {
    let (text, control) = (String::from_utf8_lossy(bytes), char::is_control);
    text.chars().map(|it| if control(it) { ' ' } else { it }).collect::<String>().into()
}

fn because(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {reason}") }
}

fn name(code: u64) -> String {
    let name = match code {
        0x0 => "no error",
        0x1 => "internal error",
        0x2 => "connection refused",
        0x3 => "flow control error",
        0x4 => "too many streams",
        0x5 => "wrong state of a stream",
        0x6 => "wrong final size of a stream",
        0x7 => "malformed frame",
        0x8 => "wrong transport parameters",
        0x9 => "too many connection IDs",
        0xa => "protocol violation",
        0xb => "invalid token",
        0xc => "application error",
        0xd => "crypto buffer exceeded",
        0xe => "key update error",
        0xf => "limit of the cipher reached",
        0x10 => "no viable path",
        _ => return format!("code {code:#x}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_words_and_classes() {
        let closed = |code, reason: &str| Fault::Closed { code, reason: reason.into() };
        let aborted = |code, reason: &str| Fault::Aborted { code, reason: reason.into() };
        for (fault, words, class) in [
            (closed(0x100, ""), "closed by the peer with code 0x100", NetErrorClass::Reset),
            (closed(0, "bye"), "closed by the peer with code 0x0: bye", NetErrorClass::Reset),
            (
                aborted(2, ""),
                "the peer gave the connection up: connection refused",
                NetErrorClass::Refused,
            ),
            (
                aborted(0x77, "why"),
                "the peer gave the connection up: code 0x77: why",
                NetErrorClass::Reset,
            ),
            (
                Fault::TimedOut,
                "connection timed out: the peer does not answer",
                NetErrorClass::TimedOut,
            ),
        ] {
            assert_eq!((fault.to_string().as_str(), fault.class()), (words, class));
            let error = NetError::from(fault);
            assert_eq!((error.to_string().as_str(), error.class()), (words, class));
        }
        assert_eq!(alert(0x178), Some(120));
        assert_eq!((alert(0xff), alert(0x200)), (None, None));
        assert_eq!(&*text(b"two\nlines\xff"), "two lines\u{fffd}");
    }
}
