//! The closing handshake's frame (RFC 6455 sections 5.5.1 and 7.4).
//!
//! Knows codes and reasons; must not know who closes or what follows.

use super::frame::{CONTROL_LIMIT, broken};
use crate::{ErrorClass, ProtocolError};

/// The conversation is over and was good.
pub(super) const NORMAL: u16 = 1000;
/// Stands for "no code" in reports; never on the wire.
pub(super) const NO_CODE: u16 = 1005;

/// The payload of a close frame, ready to be sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body {
    bytes: [u8; CONTROL_LIMIT],
    length: usize,
}

impl Body {
    /// A code and a reason; of the reason what fits, in whole characters. No body for
    /// [`NO_CODE`].
    pub(super) fn new(code: u16, reason: &str) -> Self {
        let mut body = Self { bytes: [0; CONTROL_LIMIT], length: 0 };
        if code == NO_CODE {
            return body;
        }
        let reason = fitting(reason).as_bytes();
        body.bytes[..2].copy_from_slice(&code.to_be_bytes());
        body.bytes[2..2 + reason.len()].copy_from_slice(reason);
        body.length = 2 + reason.len();
        body
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// As much of a reason as fits behind the code, in whole characters.
fn fitting(reason: &str) -> &str {
    let mut end = reason.len().min(CONTROL_LIMIT - 2);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    &reason[..end]
}

/// The code in a peer's close frame; [`NO_CODE`] where it carries none.
pub(super) fn read(payload: &[u8]) -> Result<u16, ProtocolError> {
    let Some((&code, reason)) = payload.split_first_chunk() else {
        return if payload.is_empty() {
            Ok(NO_CODE)
        } else {
            Err(broken("a close frame with half a code"))
        };
    };
    let code = u16::from_be_bytes(code);
    if !may_be_sent(code) {
        return Err(broken("a close frame with a code that must not be sent"));
    }
    if std::str::from_utf8(reason).is_err() {
        return Err(ProtocolError::new(
            ErrorClass::Utf8,
            "a close frame with a reason that is not UTF-8",
        ));
    }
    Ok(code)
}

/// The code that an error is answered with.
pub(super) fn code_for(class: ErrorClass) -> u16 {
    match class {
        ErrorClass::Utf8 => 1007,
        ErrorClass::TooBig => 1009,
        ErrorClass::Truncated
        | ErrorClass::Reset
        | ErrorClass::Closed
        | ErrorClass::HeaderTooLarge
        | ErrorClass::Mismatch
        | ErrorClass::Upgrade
        | ErrorClass::NoStatus
        | ErrorClass::Protocol => 1002,
    }
}

/// Section 7.4.2 with the codes registered since; 1004, 1005, 1006 and 1015 are for reports only.
fn may_be_sent(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let body = Body::new(1000, &"é".repeat(100));
        assert_eq!(body.as_bytes().len(), 2 + 122);
        assert_eq!(read(body.as_bytes()), Ok(1000));
    }

    #[test]
    fn no_code_is_an_empty_body() {
        assert_eq!(Body::new(NO_CODE, "never sent").as_bytes(), b"");
    }
}
