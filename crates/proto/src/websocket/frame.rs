//! One frame: its header read and written, whole frames written (RFC 6455 section 5.2).
//!
//! Knows bits and lengths; must not know messages or what a payload means.

use crate::mask;
use crate::{ErrorClass, MessageKind, ProtocolError};

/// The most that a control frame may carry.
pub(super) const CONTROL_LIMIT: usize = 125;

const FINAL: u8 = 0x80;
const RESERVED: u8 = 0x70;
/// The reserved bit that permessage-deflate gives a meaning: the message is compressed.
const COMPRESSED: u8 = 0x40;
const OPCODE: u8 = 0x0f;
const MASKED: u8 = 0x80;

/// Stands where the length would be: two bytes of it follow, or eight.
const TWO_BYTES: u8 = 126;
const EIGHT_BYTES: u8 = 127;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Opcode {
    Continuation = 0x0,
    Text = 0x1,
    Binary = 0x2,
    Close = 0x8,
    Ping = 0x9,
    Pong = 0xa,
}

/// Who sends a frame: a client masks, a server must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    Client,
    Server,
}

/// A frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Is it the last frame of its message?
    pub(super) last: bool,
    pub(super) opcode: Opcode,
    /// Does a compressed message begin here?
    pub(super) compressed: bool,
    /// Length of the payload.
    pub(super) length: u64,
    /// A client's mask; zeros for a server.
    pub(super) mask: [u8; 4],
    /// Length of the header itself.
    pub(super) size: usize,
}

impl Opcode {
    /// The opcode of a message's first frame. Whatever is not text travels as bytes.
    pub(super) fn of(kind: MessageKind) -> Self {
        match kind {
            MessageKind::Text => Self::Text,
            MessageKind::Binary | MessageKind::Body | MessageKind::Stream => Self::Binary,
        }
    }

    #[inline]
    pub(super) fn is_control(self) -> bool {
        self as u8 & 0x8 != 0
    }
}

impl Header {
    /// Reads a header from the front of `input`; none while it is not all there.
    ///
    /// `inside` tells whether a message is under way, `deflate` whether messages may be
    /// compressed. Each byte is judged as soon as it is there, in their order, so that the verdict
    /// does not depend on how the bytes came.
    #[inline]
    pub(super) fn read(
        input: &[u8],
        sender: Sender,
        inside: bool,
        deflate: bool,
    ) -> Result<Option<Self>, ProtocolError> {
        let Some(&first) = input.first() else { return Ok(None) };
        let last = first & FINAL != 0;
        let compressed = deflate && first & COMPRESSED != 0;
        let opcode = opcode(first, inside, compressed)?;
        let Some(&second) = input.get(1) else { return Ok(None) };
        if (second & MASKED != 0) != (sender == Sender::Client) {
            return Err(broken(match sender {
                Sender::Client => "the client sent a frame without a mask",
                Sender::Server => "the server sent a masked frame",
            }));
        }
        let short = second & !MASKED;
        if opcode.is_control() && usize::from(short) > CONTROL_LIMIT {
            return Err(broken("a control frame carries more than 125 bytes"));
        }
        let Some((length, mut size)) = payload_length(short, input)? else { return Ok(None) };
        let mut mask = [0; 4];
        if sender == Sender::Client {
            let Some(sent) = input[size..].first_chunk() else { return Ok(None) };
            mask = *sent;
            size += mask.len();
        }
        Ok(Some(Self { last, opcode, compressed, length, mask, size }))
    }
}

/// Length of the shortest header of a server's frame, bytes.
pub(super) const SHORT_HEADER: usize = 2;

/// The server's message at the front, where it is whole, in one frame with the shortest header, and
/// all that it could be refused for is its length: none of a text that is more than ASCII.
#[inline]
pub(super) fn short_message(input: &[u8]) -> Option<(MessageKind, &[u8])> {
    const TEXT: u8 = FINAL | Opcode::Text as u8;
    const BINARY: u8 = FINAL | Opcode::Binary as u8;
    let (&[first, length], behind) = input.split_first_chunk::<SHORT_HEADER>()?;
    if usize::from(length) > CONTROL_LIMIT {
        return None;
    }
    let payload = behind.get(..length.into())?;
    match first {
        TEXT if payload.is_ascii() => Some((MessageKind::Text, payload)),
        BINARY => Some((MessageKind::Binary, payload)),
        _ => None,
    }
}

/// Appends a client's frame, masked.
#[inline]
pub(super) fn append_masked(opcode: Opcode, payload: &[u8], mask: [u8; 4], out: &mut Vec<u8>) {
    append_masked_header(opcode, payload.len() as u64, mask, out);
    mask::append(mask, payload, out);
}

/// Appends the header of a client's frame.
#[inline]
pub(super) fn append_masked_header(opcode: Opcode, length: u64, mask: [u8; 4], out: &mut Vec<u8>) {
    let first = FINAL | opcode as u8;
    if length <= CONTROL_LIMIT as u64 {
        let [a, b, c, d] = mask;
        out.extend_from_slice(&[first, MASKED | length as u8, a, b, c, d]);
    } else {
        append_long_header(first, MASKED, length, out);
        out.extend_from_slice(&mask);
    }
}

/// Appends a server's frame.
#[inline]
pub(super) fn append_plain(opcode: Opcode, last: bool, payload: &[u8], out: &mut Vec<u8>) {
    append_plain_header(opcode, last, payload.len() as u64, out);
    out.extend_from_slice(payload);
}

/// Appends the header of a server's frame.
#[inline]
pub(super) fn append_plain_header(opcode: Opcode, last: bool, length: u64, out: &mut Vec<u8>) {
    append_header(if last { FINAL } else { 0 } | opcode as u8, 0, length, out);
}

/// Room for the longest header.
const GAP: usize = 14;

/// Appends one frame of a compressed message: `write` appends its payload. A client's frame has a
/// mask. Without a payload a frame that is not the last is left out; false then.
pub(super) fn append_compressed(
    opcode: Opcode,
    last: bool,
    mask: Option<[u8; 4]>,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>),
) -> bool {
    let start = out.len();
    // How long the header is depends on the payload, of which nobody knows how long it will be.
    out.resize(start + GAP, 0);
    write(out);
    let length = out.len() - start - GAP;
    if length == 0 && !last {
        out.truncate(start);
        return false;
    }
    let begins = if opcode == Opcode::Continuation { 0 } else { COMPRESSED };
    let first = if last { FINAL } else { 0 } | begins | opcode as u8;
    let end = out.len();
    let masked = if mask.is_some() { MASKED } else { 0 };
    append_header(first, masked, length as u64, out);
    out.extend_from_slice(mask.as_ref().map_or(&[], |mask| &mask[..]));
    // The header was written behind the payload, because its own length is known only now.
    let size = out.len() - end;
    out.copy_within(end.., start);
    out.copy_within(start + GAP..end, start + size);
    out.truncate(start + size + length);
    if let Some(mask) = mask {
        mask::apply(mask, &mut out[start + size..]);
    }
    true
}

/// An error that is answered with 1002.
#[cold]
pub(super) const fn broken(detail: &'static str) -> ProtocolError {
    ProtocolError::new(ErrorClass::Protocol, detail)
}

#[inline]
fn opcode(first: u8, inside: bool, compressed: bool) -> Result<Opcode, ProtocolError> {
    let reserved = if compressed { RESERVED & !COMPRESSED } else { RESERVED };
    if first & reserved != 0 {
        return Err(broken("a reserved bit is set though no extension was agreed on"));
    }
    if compressed && (inside || !matches!(first & OPCODE, 0x1 | 0x2)) {
        return Err(broken("the bit for compression elsewhere than where a message begins"));
    }
    let opcode = match first & OPCODE {
        0x0 if inside => return Ok(Opcode::Continuation),
        0x0 => return Err(broken("a continuation frame without a message to continue")),
        0x1 | 0x2 if inside => return Err(broken("a new message inside a fragmented one")),
        0x1 => return Ok(Opcode::Text),
        0x2 => return Ok(Opcode::Binary),
        0x8 => Opcode::Close,
        0x9 => Opcode::Ping,
        0xa => Opcode::Pong,
        _ => return Err(broken("a frame with an unknown opcode")),
    };
    if first & FINAL == 0 {
        return Err(broken("a fragmented control frame"));
    }
    Ok(opcode)
}

/// The payload's length and where the header goes on behind it.
#[inline]
fn payload_length(short: u8, input: &[u8]) -> Result<Option<(u64, usize)>, ProtocolError> {
    match short {
        TWO_BYTES => {
            let Some(&bytes) = input[2..].first_chunk() else { return Ok(None) };
            let length = u16::from_be_bytes(bytes);
            if length < TWO_BYTES.into() {
                return Err(broken("a payload length not in its shortest form"));
            }
            Ok(Some((length.into(), 4)))
        }
        EIGHT_BYTES => {
            let Some(&bytes) = input[2..].first_chunk() else { return Ok(None) };
            let length = u64::from_be_bytes(bytes);
            if length >> 63 != 0 {
                return Err(broken("a payload length with its highest bit set"));
            }
            if u16::try_from(length).is_ok() {
                return Err(broken("a payload length not in its shortest form"));
            }
            Ok(Some((length, 10)))
        }
        _ => Ok(Some((short.into(), 2))),
    }
}

/// Without the mask itself.
#[inline]
fn append_header(first: u8, masked: u8, length: u64, out: &mut Vec<u8>) {
    if length <= CONTROL_LIMIT as u64 {
        out.extend_from_slice(&[first, masked | length as u8]);
    } else {
        append_long_header(first, masked, length, out);
    }
}

fn append_long_header(first: u8, masked: u8, length: u64, out: &mut Vec<u8>) {
    if let Ok(length) = u16::try_from(length) {
        out.extend_from_slice(&[first, masked | TWO_BYTES]);
        out.extend_from_slice(&length.to_be_bytes());
        return;
    }
    out.extend_from_slice(&[first, masked | EIGHT_BYTES]);
    out.extend_from_slice(&length.to_be_bytes());
}
