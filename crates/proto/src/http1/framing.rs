//! What the fields say about the body's length and the connection's end.
//!
//! Knows Content-Length, Transfer-Encoding and Connection (RFC 9112 sections 6 and 9); must not
//! know which side reads.

use super::head::{Field, HeadError, Version};

/// Gathered from the fields of one head.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Framing {
    /// Content-Length.
    pub(super) length: Option<u64>,
    /// Transfer-Encoding: chunked.
    pub(super) chunked: bool,
    /// Transfer-Encoding names a coding that is not known here.
    unknown_coding: bool,
    /// Transfer-Encoding names a coding behind chunked.
    behind_chunked: bool,
    /// Connection.
    pub(super) connection: Connection,
}

/// The members of Connection that mean something here.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Connection {
    pub(super) upgrade: bool,
    close: bool,
    keep_alive: bool,
}

impl Framing {
    /// Takes note of a field. False where it is about something else.
    #[inline]
    pub(super) fn note(&mut self, field: &Field<'_>) -> Result<bool, HeadError> {
        match field.name.len() {
            10 if field.is("connection") => self.connection.note(field),
            14 if field.is("content-length") => self.content_length(field)?,
            17 if field.is("transfer-encoding") => self.transfer_encoding(field)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Do the fields contradict each other? To be asked when all were noted.
    pub(super) fn check(&self, version: Version) -> Result<(), HeadError> {
        if !self.chunked && !self.unknown_coding {
            return Ok(());
        }
        if self.length.is_some() {
            return Err(HeadError::Malformed("both Content-Length and Transfer-Encoding"));
        }
        if version == Version::Http10 {
            return Err(HeadError::Malformed("Transfer-Encoding in HTTP/1.0"));
        }
        if !self.chunked || self.behind_chunked {
            return Err(HeadError::Malformed("chunked is not the last transfer coding"));
        }
        if self.unknown_coding {
            return Err(HeadError::Coding);
        }
        Ok(())
    }

    /// May the connection carry another exchange (RFC 9112 section 9.3)?
    pub(super) fn persists(&self, version: Version) -> bool {
        !self.connection.close && (version == Version::Http11 || self.connection.keep_alive)
    }

    fn content_length(&mut self, field: &Field<'_>) -> Result<(), HeadError> {
        // One number many times is an intermediary's doing, and harmless (RFC 9110 section 8.6).
        for member in field.value.split(|byte| *byte == b',') {
            let length = decimal(member.trim_ascii())
                .ok_or(HeadError::Malformed("Content-Length is not a number"))?;
            if self.length.is_some_and(|known| known != length) {
                return Err(HeadError::Malformed("two different Content-Length"));
            }
            self.length = Some(length);
        }
        Ok(())
    }

    fn transfer_encoding(&mut self, field: &Field<'_>) -> Result<(), HeadError> {
        for coding in field.members() {
            if !coding.eq_ignore_ascii_case(b"chunked") {
                self.unknown_coding = true;
                self.behind_chunked = self.chunked;
                continue;
            }
            if self.chunked {
                return Err(HeadError::Malformed("chunked applied twice"));
            }
            self.chunked = true;
        }
        if !self.chunked && !self.unknown_coding {
            return Err(HeadError::Malformed("Transfer-Encoding is empty"));
        }
        Ok(())
    }
}

impl Connection {
    fn note(&mut self, field: &Field<'_>) {
        for member in field.members() {
            match member.len() {
                5 => self.close |= member.eq_ignore_ascii_case(b"close"),
                7 => self.upgrade |= member.eq_ignore_ascii_case(b"upgrade"),
                10 => self.keep_alive |= member.eq_ignore_ascii_case(b"keep-alive"),
                _ => {}
            }
        }
    }
}

fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}
