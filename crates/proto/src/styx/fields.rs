//! Fields of a binary packet, read and written.
//!
//! Knows how a number, a string, an array lie in bytes; must not know packets.

use super::{broken, not_utf8};
use crate::ProtocolError;

/// What is left of a packet's fields.
#[derive(Debug)]
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    #[inline]
    pub(super) fn u8(&mut self) -> Result<u8, ProtocolError> {
        self.chunk::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(super) fn i8(&mut self) -> Result<i8, ProtocolError> {
        self.chunk().map(i8::from_be_bytes)
    }

    #[inline]
    pub(super) fn i32(&mut self) -> Result<i32, ProtocolError> {
        self.chunk().map(i32::from_be_bytes)
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32, ProtocolError> {
        self.chunk().map(u32::from_be_bytes)
    }

    #[inline]
    pub(super) fn bool(&mut self) -> Result<bool, ProtocolError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(broken("a truth value that is neither 0 nor 1")),
        }
    }

    pub(super) fn string(&mut self) -> Result<&'a str, ProtocolError> {
        let length = self.chunk().map(u16::from_be_bytes)?;
        let bytes = self.take(length.into())?;
        simdutf8::basic::from_utf8(bytes).map_err(|_| not_utf8())
    }

    #[inline]
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], ProtocolError> {
        let length = self.count()?;
        self.take(length)
    }

    /// How many elements a list has. Nothing is set aside for them: each has to be there.
    #[inline]
    pub(super) fn count(&mut self) -> Result<usize, ProtocolError> {
        usize::try_from(self.i32()?).map_err(|_| broken("a count below 0"))
    }

    /// Nothing may be left over.
    #[inline]
    pub(super) fn end(self) -> Result<(), ProtocolError> {
        if self.0.is_empty() { Ok(()) } else { Err(broken("a packet longer than its fields")) }
    }

    #[inline]
    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], ProtocolError> {
        let (chunk, rest) = self.0.split_first_chunk().ok_or(cut_short())?;
        self.0 = rest;
        Ok(*chunk)
    }

    #[inline]
    fn take(&mut self, length: usize) -> Result<&'a [u8], ProtocolError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(cut_short())?;
        self.0 = rest;
        Ok(taken)
    }
}

/// Appends a string, of which at most 65,535 bytes go.
pub(super) fn append_string(text: &str, out: &mut Vec<u8>) {
    let text = &text[..text.floor_char_boundary_within(u16::MAX.into())];
    out.extend_from_slice(&(text.len() as u16).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

#[inline]
pub(super) fn append_i32(value: i32, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_be_bytes());
}

#[inline]
pub(super) fn append_u32(value: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends the count of a list or array. What a packet holds is far from 2 GiB.
#[inline]
pub(super) fn append_count(count: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&(count as u32).to_be_bytes());
}

#[inline]
pub(super) fn append_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    append_count(bytes.len(), out);
    out.extend_from_slice(bytes);
}

#[cold]
const fn cut_short() -> ProtocolError {
    broken("a packet shorter than its fields")
}

/// Where a string can be cut.
trait Cut {
    /// The last boundary of a character that is no further than `most`.
    fn floor_char_boundary_within(&self, most: usize) -> usize;
}

impl Cut for str {
    fn floor_char_boundary_within(&self, most: usize) -> usize {
        (0..=most.min(self.len()))
            .rev()
            .find(|offset| self.is_char_boundary(*offset))
            .unwrap_or_default()
    }
}
