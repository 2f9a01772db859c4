//! What the fields say about the body's length and the connection's end.
//!
//! Knows Content-Length, Transfer-Encoding and Connection (RFC 9112 sections 6 and 9); must not
//! know which side reads.

use crate::head::{Field, HeadError, Version};

/// Gathered from the fields of one head.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Framing {
    /// Content-Length.
    pub(super) length: Option<u64>,
    coding: Coding,
    /// Connection.
    pub(super) connection: Connection,
}

/// What Transfer-Encoding names, in all of its fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Coding {
    /// It is not there.
    #[default]
    Absent,
    Nothing,
    Chunked,
    /// Only what is not known here.
    Other,
    OtherThenChunked,
    ChunkedThenOther,
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
        if self.coding == Coding::Absent {
            return Ok(());
        }
        if self.length.is_some() {
            return Err(HeadError::Malformed("both Content-Length and Transfer-Encoding"));
        }
        if version == Version::Http10 {
            return Err(HeadError::Malformed("Transfer-Encoding in HTTP/1.0"));
        }
        match self.coding {
            Coding::Absent | Coding::Chunked => Ok(()),
            Coding::OtherThenChunked => Err(HeadError::Coding),
            Coding::Nothing | Coding::Other | Coding::ChunkedThenOther => {
                Err(HeadError::Malformed("chunked is not the last transfer coding"))
            }
        }
    }

    /// Is the body in chunks?
    pub(super) fn is_chunked(&self) -> bool {
        self.coding == Coding::Chunked
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
        // Several fields are one list, so an empty one among them says nothing.
        if self.coding == Coding::Absent {
            self.coding = Coding::Nothing;
        }
        for coding in field.members() {
            let chunked = coding.eq_ignore_ascii_case(b"chunked");
            self.coding = match (self.coding, chunked) {
                (Coding::Absent | Coding::Nothing, true) => Coding::Chunked,
                (Coding::Other, true) => Coding::OtherThenChunked,
                (_, true) => return Err(HeadError::Malformed("chunked applied twice")),
                (Coding::Absent | Coding::Nothing | Coding::Other, false) => Coding::Other,
                (_, false) => Coding::ChunkedThenOther,
            };
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
