//! Messages in gzip (RFC 1952), each on its own.
//!
//! Knows members of gzip, and what a message may come to be. Must not know streams, nor who asked for it.
//! DEFLATE itself (RFC 1951) and its sum are zlib-rs's.

use std::fmt;

use zlib_rs::crc32::crc32;
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

use super::framing::{Deframer, PREFIX, WRONG_FLAG, write_prefix};
use crate::ErrorClass;

/// Name of the encoding, as `grpc-encoding` and `grpc-accept-encoding` have it.
pub const GZIP: &str = "gzip";

/// What a member begins with that says nothing of a file: no name, no time, no system.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// Bytes behind a member's content: its sum and its length.
const TAIL: usize = 8;
/// Bits of a head's flags, and those that mean nothing yet (section 2.3.1).
const HAS_SUM: u8 = 1 << 1;
const HAS_EXTRA: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0b1110_0000;
/// The effort that libraries of gRPC take where nobody says another.
const LEVEL: i32 = 6;
const WINDOW_BITS: u8 = 15;
/// Room that is made at a time, bytes: at least, at most.
const ROOM: (usize, usize) = (64, 64 * 1024);
/// Memory for a message that comes in pieces that is kept for the next one, bytes.
const KEPT: usize = 1 << 20;

/// Makes messages smaller. Its memory (some 300 KB) is taken with the first one, and kept.
#[derive(Default)]
pub struct Gzip {
    compressor: Option<Deflate>,
}

impl Gzip {
    /// Appends these messages, which stand behind their prefixes, each compressed. What has no bytes stays as it is:
    /// there is nothing to be made smaller.
    pub fn messages(&mut self, mut plain: &[u8], out: &mut Vec<u8>) {
        let mut frames = Deframer::default();
        while let Ok(Some(part)) = frames.next(&mut plain) {
            if part.piece.is_empty() {
                write_prefix(part.begins.unwrap_or_default(), out);
            } else {
                framed(1, out, |out| self.append(part.piece, out));
            }
        }
    }

    /// Appends one message, without a prefix.
    fn append(&mut self, message: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(&HEAD);
        let new = || Deflate::new(LEVEL, false, WINDOW_BITS);
        let compressor = self.compressor.get_or_insert_with(new);
        compressor.reset();
        let mut rest = message;
        loop {
            let (start, before) = (out.len(), (compressor.total_in(), compressor.total_out()));
            out.resize(start + (rest.len() + ROOM.0).min(ROOM.1), 0);
            let done = compressor.compress(rest, &mut out[start..], DeflateFlush::Finish);
            rest = &rest[(compressor.total_in() - before.0) as usize..];
            out.truncate(start + (compressor.total_out() - before.1) as usize);
            debug_assert!(done.is_ok(), "a compressor fails only where it is misused: {done:?}");
            if !matches!(done, Ok(Status::Ok | Status::BufError)) {
                break;
            }
        }
        out.extend_from_slice(&crc32(0, message).to_le_bytes());
        // What is longer than its field is said modulo its width (section 2.3.1).
        out.extend_from_slice(&(message.len() as u32).to_le_bytes());
    }
}

/// What is wrong with a message that may be compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadMessage {
    /// The byte before it is neither 0 nor 1.
    Flag,
    /// It does not begin as gzip does, or is no DEFLATE.
    Form,
    /// It ends before its content does.
    CutOff,
    /// Its content is not what its sum and its length say.
    Sum,
    /// It is longer than what is taken, as it came or once it is inflated.
    TooLong,
}

impl BadMessage {
    /// How it is counted.
    pub const fn class(self) -> ErrorClass {
        match self {
            Self::TooLong => ErrorClass::TooBig,
            Self::Flag | Self::Form | Self::CutOff | Self::Sum => ErrorClass::Protocol,
        }
    }

    /// The same in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Flag => WRONG_FLAG,
            Self::Form => "a compressed message that is not valid gzip",
            Self::CutOff => "a truncated compressed message",
            Self::Sum => "a compressed message with a wrong checksum or length",
            Self::TooLong => "a compressed message over the size limit after decompression",
        }
    }
}

/// Makes messages what they were. Its memory (some 40 KB) is taken with the first one, and kept.
#[derive(Default)]
pub struct Gunzip {
    decompressor: Option<Inflate>,
}

impl Gunzip {
    /// Takes a piece of content in which messages may be compressed, and appends what it is with messages that are
    /// not: one that was compressed once it is whole. Says whether any was. `frames` is where the content is, `held`
    /// what came of the message in which it is; `most` is the longest that a compressed message may come to be, bytes.
    ///
    /// # Errors
    /// What is wrong with a message; nothing that was appended means anything then.
    pub fn unpack(
        &mut self,
        (frames, held): (&mut Deframer, &mut Vec<u8>),
        mut piece: &[u8],
        most: usize,
        out: &mut Vec<u8>,
    ) -> Result<bool, BadMessage> {
        let mut is_any = false;
        while let Some(part) = frames.next_of_any(&mut piece).map_err(|_| BadMessage::Flag)? {
            if !part.is_compressed {
                if let Some(length) = part.begins {
                    write_prefix(length, out);
                }
                out.extend_from_slice(part.piece);
                continue;
            }
            is_any = true;
            // What can't be made smaller is a little longer.
            if part
                .begins
                .is_some_and(|length| length as usize > most.saturating_add(most / 8 + 64))
            {
                return Err(BadMessage::TooLong);
            }
            if part.begins.is_some() && part.ends {
                self.message(part.piece, most, out)?;
                continue;
            }
            held.extend_from_slice(part.piece);
            if part.ends {
                self.message(held, most, out)?;
                held.clear();
                held.shrink_to(KEPT);
            }
        }
        Ok(is_any)
    }

    /// Appends what one message was, behind its prefix.
    fn message(
        &mut self,
        compressed: &[u8],
        most: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), BadMessage> {
        let (mut result, mut rest) = (Ok(()), compressed);
        framed(0, out, |out| {
            let start = out.len();
            // Members may follow each other (section 2.2).
            while result.is_ok() {
                match self.member(rest, most - (out.len() - start), out) {
                    Ok([]) => return,
                    Ok(others) => rest = others,
                    Err(bad) => result = Err(bad),
                }
            }
        });
        result
    }

    /// Appends what one member was, and gives what is behind it.
    fn member<'m>(
        &mut self,
        member: &'m [u8],
        most: usize,
        out: &mut Vec<u8>,
    ) -> Result<&'m [u8], BadMessage> {
        let content = behind_head(member)?;
        let new = || Inflate::new(false, WINDOW_BITS);
        let decompressor = self.decompressor.get_or_insert_with(new);
        decompressor.reset(false);
        let start = out.len();
        loop {
            let (taken, given) = (decompressor.total_in() as usize, out.len() - start);
            let rest = &content[taken..];
            // One byte over the limit is enough to know that it is over.
            let room = (4 * rest.len()).clamp(ROOM.0, ROOM.1).min((most - given).saturating_add(1));
            out.resize(start + given + room, 0);
            let into = &mut out[start + given..];
            let status = decompressor.decompress(rest, into, InflateFlush::NoFlush);
            let length = decompressor.total_out() as usize;
            out.truncate(start + length);
            if length > most {
                return Err(BadMessage::TooLong);
            }
            match status {
                Err(_) => return Err(BadMessage::Form),
                Ok(Status::StreamEnd) => break,
                // There was room, and it has nothing more to say.
                Ok(_) if length < given + room => return Err(BadMessage::CutOff),
                Ok(_) => {}
            }
        }
        let tail = &content[decompressor.total_in() as usize..];
        let Some((tail, behind)) = tail.split_first_chunk::<TAIL>() else {
            return Err(BadMessage::CutOff);
        };
        let (tail, made) = (u64::from_le_bytes(*tail), &out[start..]);
        let (sum, length) = (tail as u32, (tail >> 32) as u32);
        if sum != crc32(0, made) || length != made.len() as u32 {
            return Err(BadMessage::Sum);
        }
        Ok(behind)
    }
}

/// A member's content, and what is behind it.
fn behind_head(member: &[u8]) -> Result<&[u8], BadMessage> {
    let known = member.len().min(3);
    if member[..known] != HEAD[..known] {
        return Err(BadMessage::Form);
    }
    let (head, mut rest) = member.split_first_chunk::<10>().ok_or(BadMessage::CutOff)?;
    let flags = head[3];
    if flags & RESERVED != 0 {
        return Err(BadMessage::Form);
    }
    if flags & HAS_EXTRA != 0 {
        let (length, behind) = rest.split_first_chunk::<2>().ok_or(BadMessage::CutOff)?;
        let length = u16::from_le_bytes(*length).into();
        rest = behind.get(length..).ok_or(BadMessage::CutOff)?;
    }
    for text in [HAS_NAME, HAS_COMMENT] {
        if flags & text != 0 {
            let end = rest.iter().position(|byte| *byte == 0).ok_or(BadMessage::CutOff)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & HAS_SUM != 0 {
        rest = rest.get(2..).ok_or(BadMessage::CutOff)?;
    }
    Ok(rest)
}

/// Appends what `append` does behind a prefix with this flag.
fn framed(flag: u8, out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[flag, 0, 0, 0, 0]);
    append(out);
    let length = (out.len() - start - PREFIX) as u32;
    out[start + 1..start + PREFIX].copy_from_slice(&length.to_be_bytes());
}

impl fmt::Debug for Gzip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gzip").finish_non_exhaustive()
    }
}

impl fmt::Debug for Gunzip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gunzip").finish_non_exhaustive()
    }
}

impl Clone for Gzip {
    /// Another one: nothing is kept from one message to the next.
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests;
