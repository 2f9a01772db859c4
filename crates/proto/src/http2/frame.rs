//! Frames (RFC 9113 sections 4 and 6): their nine bytes, their kinds, and how each is written.
//!
//! Knows the layout; must not know streams, nor what a frame does to one.

/// What a client sends first.
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of a frame's head.
pub(crate) const HEAD: usize = 9;
/// The longest payload that everybody takes, and the least that a setting may allow.
pub(crate) const LEAST_MAX_FRAME: u32 = 16_384;
/// The most that a setting may allow.
pub(crate) const MOST_MAX_FRAME: u32 = (1 << 24) - 1;
/// The widest window.
pub(crate) const WIDEST: u32 = (1 << 31) - 1;
/// A window that no setting has changed.
pub(crate) const WINDOW: u32 = 65_535;

pub(crate) const END_STREAM: u8 = 0x1;
pub(crate) const ACK: u8 = 0x1;
pub(crate) const END_HEADERS: u8 = 0x4;
pub(crate) const PADDED: u8 = 0x8;
pub(crate) const PRIORITY: u8 = 0x20;

/// Kinds of frames (RFC 9113 section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Data,
    Headers,
    Priority,
    ResetStream,
    Settings,
    PushPromise,
    Ping,
    GoAway,
    WindowUpdate,
    Continuation,
    /// One that this protocol does not define: to be skipped (section 5.5).
    Other,
}

impl Kind {
    const fn of(byte: u8) -> Self {
        match byte {
            0 => Self::Data,
            1 => Self::Headers,
            2 => Self::Priority,
            3 => Self::ResetStream,
            4 => Self::Settings,
            5 => Self::PushPromise,
            6 => Self::Ping,
            7 => Self::GoAway,
            8 => Self::WindowUpdate,
            9 => Self::Continuation,
            _ => Self::Other,
        }
    }

    const fn byte(self) -> u8 {
        // `Other` is never written.
        self as u8
    }
}

/// Why a stream or a connection ends (RFC 9113 section 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs, reason = "the names are the RFC's")]
pub enum ErrorCode {
    NoError = 0,
    ProtocolError = 1,
    InternalError = 2,
    FlowControlError = 3,
    SettingsTimeout = 4,
    StreamClosed = 5,
    FrameSizeError = 6,
    RefusedStream = 7,
    Cancel = 8,
    CompressionError = 9,
    ConnectError = 10,
    EnhanceYourCalm = 11,
    InadequateSecurity = 12,
    Http11Required = 13,
}

impl ErrorCode {
    const ALL: [Self; 14] = [
        Self::NoError,
        Self::ProtocolError,
        Self::InternalError,
        Self::FlowControlError,
        Self::SettingsTimeout,
        Self::StreamClosed,
        Self::FrameSizeError,
        Self::RefusedStream,
        Self::Cancel,
        Self::CompressionError,
        Self::ConnectError,
        Self::EnhanceYourCalm,
        Self::InadequateSecurity,
        Self::Http11Required,
    ];

    /// The code with this number; one that nobody knows means no more than `INTERNAL_ERROR`.
    pub(crate) fn of(number: u32) -> Self {
        Self::ALL.get(number as usize).copied().unwrap_or(Self::InternalError)
    }
}

/// What stands before a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameHead {
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    /// 0: the connection.
    pub(crate) stream: u32,
    /// Of the payload, bytes.
    pub(crate) length: usize,
}

impl FrameHead {
    /// The head at the front; none where more bytes are needed.
    #[inline]
    pub(crate) fn read(input: &[u8]) -> Option<Self> {
        let head: &[u8; HEAD] = input.first_chunk()?;
        let number =
            |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        Some(Self {
            kind: Kind::of(head[3]),
            flags: head[4],
            // The first bit means nothing (section 4.1).
            stream: number(5) & WIDEST,
            length: (number(0) >> 8) as usize,
        })
    }

    #[inline]
    pub(crate) const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&((self.length as u32) << 8).to_be_bytes());
        (head[3], head[4]) = (self.kind.byte(), self.flags);
        head[5..].copy_from_slice(&self.stream.to_be_bytes());
        out.extend_from_slice(&head);
    }
}

/// Appends a frame.
#[inline]
pub(crate) fn write(kind: Kind, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    FrameHead { kind, flags, stream, length: payload.len() }.write(out);
    out.extend_from_slice(payload);
}

/// Appends a whole block of fields: HEADERS, and as many CONTINUATION frames as it needs.
#[inline]
pub(crate) fn write_block(stream: u32, flags: u8, block: &[u8], most: usize, out: &mut Vec<u8>) {
    if block.len() <= most {
        write(Kind::Headers, flags | END_HEADERS, stream, block, out);
    } else {
        write_pieces(stream, flags, block, most, out);
    }
}

/// The same of a block that is too long for one frame.
#[cold]
fn write_pieces(stream: u32, flags: u8, block: &[u8], most: usize, out: &mut Vec<u8>) {
    let (first, mut rest) = block.split_at(most);
    let end = |rest: &[u8]| if rest.is_empty() { END_HEADERS } else { 0 };
    write(Kind::Headers, flags, stream, first, out);
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.len().min(most));
        write(Kind::Continuation, end(behind), stream, piece, out);
        rest = behind;
    }
}

/// Appends the end of a stream.
pub(crate) fn write_reset(stream: u32, code: ErrorCode, out: &mut Vec<u8>) {
    write(Kind::ResetStream, 0, stream, &(code as u32).to_be_bytes(), out);
}

/// Appends the end of a connection; streams behind `last` were not looked at.
pub(crate) fn write_goaway(last: u32, code: ErrorCode, out: &mut Vec<u8>) {
    let mut payload = [0; 8];
    payload[..4].copy_from_slice(&last.to_be_bytes());
    payload[4..].copy_from_slice(&(code as u32).to_be_bytes());
    write(Kind::GoAway, 0, 0, &payload, out);
}

/// Appends so much more room for what the peer sends: on a stream, or on all (0).
pub(crate) fn write_window_update(stream: u32, more: u32, out: &mut Vec<u8>) {
    write(Kind::WindowUpdate, 0, stream, &more.to_be_bytes(), out);
}

/// A payload without its padding, and without the priority that HEADERS may carry (sections 6.1 and
/// 6.2); none: the padding is longer than the payload.
pub(crate) fn unpadded(head: FrameHead, payload: &[u8]) -> Option<&[u8]> {
    let (padding, mut rest) = if head.has(PADDED) {
        let (&padding, rest) = payload.split_first()?;
        (usize::from(padding), rest)
    } else {
        (0, payload)
    };
    if head.kind == Kind::Headers && head.has(PRIORITY) {
        rest = rest.get(5..)?;
    }
    rest.len().checked_sub(padding).map(|length| &rest[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_it_was_written() {
        let head = FrameHead {
            kind: Kind::Continuation,
            flags: END_HEADERS,
            stream: 0x1234_5678,
            length: 0x00ab_cdef,
        };
        let mut out = Vec::new();
        head.write(&mut out);
        assert_eq!(out, [0xab, 0xcd, 0xef, 9, 4, 0x12, 0x34, 0x56, 0x78]);
        assert_eq!(FrameHead::read(&out), Some(head));
        assert_eq!(FrameHead::read(&out[..8]), None);
        // The bit that is reserved is not looked at; a kind that is not known is known as that.
        out[3] = 77;
        out[5] |= 0x80;
        assert_eq!(FrameHead::read(&out), Some(FrameHead { kind: Kind::Other, ..head }));
    }

    #[test]
    fn a_long_block_is_cut_where_the_peer_wants_it() {
        for (length, wanted) in [(0, vec![0]), (10, vec![10]), (11, vec![10, 1]), (30, vec![10; 3])]
        {
            let mut out = Vec::new();
            write_block(5, END_STREAM, &vec![7; length], 10, &mut out);
            let (mut rest, mut lengths) = (&out[..], Vec::new());
            while let Some(head) = FrameHead::read(rest) {
                let is_first = lengths.is_empty();
                lengths.push(head.length);
                rest = &rest[HEAD + head.length..];
                let kind = if is_first { Kind::Headers } else { Kind::Continuation };
                assert_eq!((head.kind, head.stream), (kind, 5));
                assert_eq!(head.has(END_STREAM), is_first);
                assert_eq!(head.has(END_HEADERS), rest.is_empty());
            }
            assert_eq!(lengths, wanted);
        }
    }

    #[test]
    fn padding_and_priority_are_taken_off() {
        let head = |flags| FrameHead { kind: Kind::Headers, flags, stream: 1, length: 0 };
        assert_eq!(unpadded(head(0), b"abc"), Some(&b"abc"[..]));
        assert_eq!(unpadded(head(PADDED), b"\x02abcd"), Some(&b"ab"[..]));
        assert_eq!(unpadded(head(PADDED), b"\x04abcd"), Some(&b""[..]));
        assert_eq!(unpadded(head(PADDED), b"\x05abcd"), None);
        assert_eq!(unpadded(head(PADDED), b""), None);
        assert_eq!(unpadded(head(PRIORITY), b"12345a"), Some(&b"a"[..]));
        assert_eq!(unpadded(head(PRIORITY), b"1234"), None);
        assert_eq!(unpadded(head(PADDED | PRIORITY), b"\x0112345ab"), Some(&b"a"[..]));
    }
}
