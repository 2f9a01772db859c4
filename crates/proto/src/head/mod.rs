//! The head of a message: where it ends, its start line, its fields.
//!
//! Knows the grammar of RFC 9112 sections 2 to 5; must not know what a field means for the
//! body or the connection. Nothing is copied and nothing allocated: heads and fields are slices
//! of the input. The WebSocket handshake reads its answer with this, too.

pub(crate) mod scan;

use crate::error::{ErrorClass, ProtocolError};

/// The longest head, and the longest trailer section, that is read.
pub(crate) const MAX_HEAD: usize = 64 * 1024;

/// Length of CRLF.
const LINE_END: usize = 2;

/// What is wrong with a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadError {
    /// Longer than [`MAX_HEAD`].
    TooLarge,
    /// Not what the grammar allows.
    Malformed(&'static str),
    /// A major version other than 1.
    Version,
    /// A transfer coding other than chunked.
    Coding,
}

impl From<HeadError> for ProtocolError {
    fn from(error: HeadError) -> Self {
        match error {
            HeadError::TooLarge => Self::new(ErrorClass::HeaderTooLarge, "head over 64 KiB"),
            HeadError::Malformed(detail) => Self::new(ErrorClass::Protocol, detail),
            HeadError::Version => Self::new(ErrorClass::Protocol, "HTTP version is not 1.x"),
            HeadError::Coding => {
                Self::new(ErrorClass::Protocol, "transfer coding other than chunked")
            }
        }
    }
}

/// Looks for the empty line that ends a head, and remembers how far it looked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HeadEnd {
    scanned: u32,
}

impl HeadEnd {
    /// Length of the head at the front of `input`, its empty line included; none where more
    /// bytes are needed. The same bytes, with more behind them, must be given next time.
    /// Line ends and control bytes are checked on the way.
    pub(crate) fn find(&mut self, input: &[u8]) -> Result<Option<usize>, HeadError> {
        let window = &input[..input.len().min(MAX_HEAD)];
        let mut offset = self.scanned as usize;
        while let Some(place) = scan::control(window, offset) {
            match window[place] {
                b'\t' => offset = place + 1,
                b'\r' => match window.get(place + 1) {
                    Some(b'\n') if place == 0 || window[place - 1] == b'\n' => {
                        self.scanned = 0;
                        return Ok(Some(place + 2));
                    }
                    Some(b'\n') => offset = place + 2,
                    Some(_) => return Err(HeadError::Malformed("carriage return inside a line")),
                    None => return self.pause(place, input),
                },
                b'\n' => return Err(HeadError::Malformed("line feed without carriage return")),
                _ => return Err(HeadError::Malformed("control character in a head")),
            }
        }
        self.pause(window.len(), input)
    }

    /// Were the first bytes looked at already?
    pub(crate) const fn has_looked(self) -> bool {
        self.scanned > 0
    }

    fn pause(&mut self, scanned: usize, input: &[u8]) -> Result<Option<usize>, HeadError> {
        if input.len() >= MAX_HEAD {
            return Err(HeadError::TooLarge);
        }
        self.scanned = scanned as u32;
        Ok(None)
    }
}

/// The head of a response, as far as its grammar goes.
#[derive(Debug, Clone)]
pub(crate) struct ParsedResponse<'a> {
    /// HTTP/1.0, or 1.1 and later.
    pub(crate) version: Version,
    /// 100 to 599.
    pub(crate) status: u16,
    /// Not yet checked: each is when it is taken.
    pub(crate) fields: Fields<'a>,
}

impl<'a> ParsedResponse<'a> {
    /// Can these first bytes begin a response? Lets garbage fail before it has an empty line.
    pub(crate) fn may_begin(input: &[u8]) -> bool {
        let begin = b"HTTP/1.";
        let length = input.len().min(begin.len());
        input[..length] == begin[..length]
    }

    /// Reads the status line (RFC 9112 section 4). What [`HeadEnd`] finds out first is checked
    /// here, too, so that a head that is probably whole can be read at once.
    pub(crate) fn parse(head: &'a [u8]) -> Result<Self, HeadError> {
        let bad = HeadError::Malformed("status line is not `HTTP/1.x NNN reason`");
        let &[b'H', b'T', b'T', b'P', b'/', b'1', b'.', minor, b' ', a, b, c, b' ', ref rest @ ..] =
            head
        else {
            return Err(bad);
        };
        if ![minor, a, b, c].iter().all(u8::is_ascii_digit) {
            return Err(bad);
        }
        let status =
            [a, b, c].iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0'));
        if !(100..600).contains(&status) {
            return Err(HeadError::Malformed("status outside 100 to 599"));
        }
        let (_reason, fields) = split_line(rest)?;
        let fields = Fields { rest: fields, folds: true };
        Ok(Self { version: Version::of(minor), status, fields })
    }
}

/// The head of a request, as far as its grammar goes.
#[derive(Debug, Clone)]
pub(crate) struct ParsedRequest<'a> {
    /// A token.
    pub(crate) method: &'a str,
    /// Visible ASCII.
    pub(crate) target: &'a str,
    /// HTTP/1.0, or 1.1 and later.
    pub(crate) version: Version,
    /// Not yet checked: each is when it is taken.
    pub(crate) fields: Fields<'a>,
}

impl<'a> ParsedRequest<'a> {
    /// Reads the request line of a head of which [`HeadEnd`] found the end (RFC 9112 section 3).
    pub(crate) fn parse(head: &'a [u8]) -> Result<Self, HeadError> {
        let bad = HeadError::Malformed("request line is not `METHOD target HTTP/1.x`");
        let (line, fields) = split_line(head)?;
        let mut words = line.split(|byte| *byte == b' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(bad);
        };
        if method.is_empty() || !method.iter().all(|byte| scan::is_token(*byte)) {
            return Err(HeadError::Malformed("method is not a token"));
        }
        if target.is_empty() || !target.iter().all(u8::is_ascii_graphic) {
            return Err(HeadError::Malformed("request target holds a forbidden character"));
        }
        let &[b'H', b'T', b'T', b'P', b'/', major, b'.', minor] = version else {
            return Err(bad);
        };
        if !major.is_ascii_digit() || !minor.is_ascii_digit() {
            return Err(bad);
        }
        if major != b'1' {
            return Err(HeadError::Version);
        }
        let text = |bytes| str::from_utf8(bytes).map_err(|_| bad);
        Ok(Self {
            method: text(method)?,
            target: text(target)?,
            version: Version::of(minor),
            fields: Fields { rest: fields, folds: false },
        })
    }
}

/// Minor version of HTTP/1, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// Closes after each message unless both sides ask otherwise; knows no chunks.
    Http10,
    /// 1.1 and any later minor version.
    Http11,
}

impl Version {
    fn of(minor: u8) -> Self {
        if minor == b'0' { Self::Http10 } else { Self::Http11 }
    }
}

/// The field lines of a head or a trailer section, checked as they are taken. They end with the
/// empty line, or behind the first that is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    /// A line may go on in the next one. A user agent must read a response so and a server may
    /// refuse a request for it (RFC 9112 section 5.2).
    folds: bool,
}

impl<'a> Fields<'a> {
    /// The fields of a trailer section of which [`HeadEnd`] found the end.
    pub(crate) const fn of_trailers(section: &'a [u8], folds: bool) -> Self {
        Self { rest: section, folds }
    }

    /// What is behind the empty line that ended the fields; only when all were taken.
    pub(crate) fn behind(self) -> &'a [u8] {
        self.rest.strip_prefix(b"\r\n").unwrap_or_default()
    }

    fn take_line(&mut self) -> Result<Field<'a>, HeadError> {
        let (name, behind) = self.rest.split_at(scan::token(self.rest));
        let (mut line, mut rest) = split_line(behind)?;
        while self.folds && matches!(rest, [b' ' | b'\t', ..]) {
            let (more, behind_more) = split_line(rest)?;
            line = &behind[..line.len() + LINE_END + more.len()];
            rest = behind_more;
        }
        self.rest = rest;
        match line {
            [b':', value @ ..] if !name.is_empty() => Ok(Field { name, value: value.trim_ascii() }),
            _ => Err(HeadError::Malformed(why_no_field(name, line))),
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, HeadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.starts_with(b"\r\n") {
            return None;
        }
        let field = self.take_line();
        if field.is_err() {
            self.rest = b"\r\n";
        }
        Some(field)
    }
}

/// The extensions to WebSocket that a head offers, the preferred one first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extensions<'a> {
    pub(crate) fields: Fields<'a>,
}

impl<'a> Extensions<'a> {
    /// Those in the fields of a head.
    pub(crate) fn new(fields: Fields<'a>) -> Self {
        Self { fields }
    }
}

/// One field line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    /// As sent; compare with [`Field::is`].
    pub(crate) name: &'a [u8],
    /// Without the white space around it; no control characters but tabs, and a CRLF in front
    /// of white space where the line was folded: together they are white space, too.
    pub(crate) value: &'a [u8],
}

impl<'a> Field<'a> {
    /// Is this the field's name? Case does not count.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    /// The members of a comma-separated list, without white space; empty ones are left out
    /// (RFC 9110 section 5.6.1).
    pub(crate) fn members(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let parts = self.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        parts.filter(|part| !part.is_empty())
    }

    /// Is this token a member of the list? Case does not count.
    pub(crate) fn has_member(&self, token: &str) -> bool {
        self.members().any(|member| member.eq_ignore_ascii_case(token.as_bytes()))
    }
}

/// The line at the front, without its end, and what is behind it.
#[inline]
fn split_line(bytes: &[u8]) -> Result<(&[u8], &[u8]), HeadError> {
    let mut from = 0;
    while let Some(place) = scan::control(bytes, from) {
        match bytes[place..] {
            [b'\t', ..] => from = place + 1,
            [b'\r', b'\n', ref behind @ ..] => return Ok((&bytes[..place], behind)),
            _ => return Err(HeadError::Malformed("control character in a line")),
        }
    }
    Err(HeadError::Malformed("line without an end"))
}

fn why_no_field(name: &[u8], behind: &[u8]) -> &'static str {
    match behind.first() {
        Some(b' ' | b'\t') if name.is_empty() => "folded field line",
        Some(b' ' | b'\t') => "white space between field name and colon",
        None => "field line without a colon",
        Some(_) => "field name is not a token",
    }
}
