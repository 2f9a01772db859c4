//! The chunked transfer coding (RFC 9112 section 7.1), read as it flows.
//!
//! Knows chunk sizes, extensions (skipped) and trailers (checked and dropped); must not know
//! whose body it is.

use std::ops::Range;

use crate::head::scan;
use crate::head::{Fields, HeadEnd, HeadError};

/// The longest line with a chunk's size, extensions included.
const MAX_SIZE_LINE: usize = 4096;

/// Digits of the largest size that fits.
const MAX_SIZE_DIGITS: usize = 16;

/// How the coding ends where there are no trailers.
const LAST: &[u8] = b"\r\n0\r\n\r\n";

/// Where in the coding a body is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Chunked {
    /// Before the line with a chunk's size.
    Size,
    /// Inside a chunk: so many bytes are missing.
    Data(u64),
    /// Before the line end behind a chunk.
    DataEnd,
    /// In the trailer section.
    Trailers(HeadEnd),
}

/// What one step read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Bytes taken from the front.
    pub(super) consumed: usize,
    /// Where the payload is in the input. Empty, and not the end: more bytes are needed.
    pub(super) data: Range<usize>,
    /// The body is complete.
    pub(super) end: bool,
}

impl Chunked {
    /// Reads up to and with the next piece of payload, or to the end.
    /// In the trailers `folds` are read, or refused.
    pub(super) fn read(&mut self, input: &[u8], folds: bool) -> Result<Piece, HeadError> {
        let mut offset = 0;
        loop {
            let rest = &input[offset..];
            match self {
                Self::Size => {
                    let Some((size, length)) = size_line(rest)? else {
                        return Ok(Piece::nothing(offset));
                    };
                    offset += length;
                    *self = match size {
                        0 => Self::Trailers(HeadEnd::default()),
                        _ => Self::Data(size),
                    };
                }
                Self::Data(missing) => {
                    let take = usize::try_from(*missing).unwrap_or(usize::MAX).min(rest.len());
                    if take == 0 {
                        return Ok(Piece::nothing(offset));
                    }
                    *missing -= take as u64;
                    let whole = *missing == 0;
                    if whole {
                        *self = Self::DataEnd;
                    }
                    let end = whole && rest[take..].starts_with(LAST);
                    let consumed = offset + take + if end { LAST.len() } else { 0 };
                    return Ok(Piece { consumed, data: offset..offset + take, end });
                }
                Self::DataEnd => match rest {
                    [b'\r', b'\n', ..] => {
                        offset += 2;
                        *self = Self::Size;
                    }
                    [] | [b'\r'] => return Ok(Piece::nothing(offset)),
                    _ => return Err(HeadError::Malformed("chunk longer than its size")),
                },
                Self::Trailers(end) => {
                    let Some(length) = end.find(rest)? else {
                        return Ok(Piece::nothing(offset));
                    };
                    for field in Fields::of_trailers(&rest[..length], folds) {
                        field?;
                    }
                    let consumed = offset + length;
                    return Ok(Piece { consumed, data: consumed..consumed, end: true });
                }
            }
        }
    }
}

impl Piece {
    const fn nothing(consumed: usize) -> Self {
        Self { consumed, data: consumed..consumed, end: false }
    }
}

/// Size and length of the line at the front; none where more bytes are needed.
fn size_line(input: &[u8]) -> Result<Option<(u64, usize)>, HeadError> {
    let digits = input.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    if digits > MAX_SIZE_DIGITS {
        return Err(HeadError::Malformed("chunk size is too large"));
    }
    let Some(behind) = input.get(digits) else {
        return Ok(None);
    };
    if digits == 0 || !matches!(behind, b'\r' | b';' | b' ' | b'\t') {
        return Err(HeadError::Malformed("chunk size is not a hexadecimal number"));
    }
    let Some(end) = size_line_end(input, digits)? else {
        return Ok(None);
    };
    let extension = input[digits..end].trim_ascii_start();
    if end > digits && extension.first() != Some(&b';') {
        return Err(HeadError::Malformed("chunk size is not a hexadecimal number"));
    }
    let size = input[..digits].iter().fold(0, |size, digit| (size << 4) | hex_value(*digit));
    Ok(Some((size, end + 2)))
}

fn size_line_end(input: &[u8], from: usize) -> Result<Option<usize>, HeadError> {
    let window = &input[..input.len().min(MAX_SIZE_LINE)];
    let mut offset = from;
    while let Some(place) = scan::control(window, offset) {
        match (window[place], window.get(place + 1)) {
            (b'\t', _) => offset = place + 1,
            (b'\r', Some(b'\n')) => return Ok(Some(place)),
            (b'\r', None) => break,
            _ => return Err(HeadError::Malformed("control character in a chunk's extension")),
        }
    }
    if input.len() >= MAX_SIZE_LINE {
        return Err(HeadError::Malformed("chunk extension over 4 KiB"));
    }
    Ok(None)
}

fn hex_value(digit: u8) -> u64 {
    u64::from(match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    })
}
