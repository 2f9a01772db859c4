//! Frames and streams (RFC 9114 sections 6.2 and 7): their kinds, and how each is written.
//!
//! Knows the layout; must not know what a frame does to a stream.

use super::varint;

/// Kinds of frames (RFC 9114 section 7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Content of a message.
    Data,
    /// A block of fields.
    Headers,
    /// A push is not wanted.
    CancelPush,
    /// What the peer takes.
    Settings,
    /// A push begins.
    PushPromise,
    /// The last stream, or push, that counts.
    GoAway,
    /// How many pushes are taken.
    MaxPushId,
    /// One of HTTP/2's that has no place here (section 7.2.8).
    OfHttp2,
    /// One that this protocol does not define: to be skipped (section 9).
    Other,
}

impl Kind {
    fn of(number: u64) -> Self {
        match number {
            0x0 => Self::Data,
            0x1 => Self::Headers,
            0x3 => Self::CancelPush,
            0x4 => Self::Settings,
            0x5 => Self::PushPromise,
            0x7 => Self::GoAway,
            0xd => Self::MaxPushId,
            0x2 | 0x6 | 0x8 | 0x9 => Self::OfHttp2,
            _ => Self::Other,
        }
    }
}

/// What a stream in one direction is for, its first number (RFC 9114 section 6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamKind {
    /// Settings, and what is about the connection; one each way.
    Control,
    /// What a server sends unasked.
    Push,
    /// From an encoder of fields to the other side's decoder; at most one each way.
    Encoder,
    /// From a decoder of fields to the other side's encoder; at most one each way.
    Decoder,
    /// One that this protocol does not define: to be given up, or passed over.
    Other,
}

impl StreamKind {
    /// The kind with this number.
    pub fn of(number: u64) -> Self {
        match number {
            0x0 => Self::Control,
            0x1 => Self::Push,
            0x2 => Self::Encoder,
            0x3 => Self::Decoder,
            _ => Self::Other,
        }
    }
}

/// Why a stream or a connection ends (RFC 9114 section 8.1, RFC 9204 section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
#[allow(missing_docs, reason = "the names are the RFC's")]
pub enum ErrorCode {
    NoError = 0x100,
    GeneralProtocolError = 0x101,
    InternalError = 0x102,
    StreamCreationError = 0x103,
    ClosedCriticalStream = 0x104,
    FrameUnexpected = 0x105,
    FrameError = 0x106,
    ExcessiveLoad = 0x107,
    IdError = 0x108,
    SettingsError = 0x109,
    MissingSettings = 0x10a,
    RequestRejected = 0x10b,
    RequestCancelled = 0x10c,
    RequestIncomplete = 0x10d,
    MessageError = 0x10e,
    ConnectError = 0x10f,
    VersionFallback = 0x110,
    QpackDecompressionFailed = 0x200,
    QpackEncoderStreamError = 0x201,
    QpackDecoderStreamError = 0x202,
}

impl ErrorCode {
    const ALL: [Self; 20] = [
        Self::NoError,
        Self::GeneralProtocolError,
        Self::InternalError,
        Self::StreamCreationError,
        Self::ClosedCriticalStream,
        Self::FrameUnexpected,
        Self::FrameError,
        Self::ExcessiveLoad,
        Self::IdError,
        Self::SettingsError,
        Self::MissingSettings,
        Self::RequestRejected,
        Self::RequestCancelled,
        Self::RequestIncomplete,
        Self::MessageError,
        Self::ConnectError,
        Self::VersionFallback,
        Self::QpackDecompressionFailed,
        Self::QpackEncoderStreamError,
        Self::QpackDecoderStreamError,
    ];

    /// The one with this number. One that nobody knows is as good as `NoError` (RFC 9114 section 9).
    pub fn of(number: u64) -> Self {
        let known = Self::ALL.into_iter().find(|&code| code as u64 == number);
        known.unwrap_or(Self::NoError)
    }
}

/// What stands before a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHead {
    /// What it is.
    pub kind: Kind,
    /// Of the payload, bytes.
    pub length: u64,
    /// Bytes of the head itself: 2 to 16.
    pub size: usize,
}

impl FrameHead {
    /// The head at the begin of `input`. None: it has not come whole.
    pub fn read(input: &[u8]) -> Option<Self> {
        let (number, first) = varint::read(input)?;
        let (length, second) = varint::read(&input[first..])?;
        Some(Self { kind: Kind::of(number), length, size: first + second })
    }
}

/// Appends the head of content that follows.
pub fn write_data_head(length: u64, out: &mut Vec<u8>) {
    write_head(0x0, length, out);
}

/// Appends a block of fields.
pub fn write_headers(block: &[u8], out: &mut Vec<u8>) {
    write_head(0x1, block.len() as u64, out);
    out.extend_from_slice(block);
}

/// Appends a farewell: no stream from this one on counts.
pub fn write_goaway(stream: u64, out: &mut Vec<u8>) {
    let mut payload = Vec::with_capacity(8);
    varint::write(stream, &mut payload);
    write_head(0x7, payload.len() as u64, out);
    out.extend_from_slice(&payload);
}

pub(super) fn write_head(kind: u64, length: u64, out: &mut Vec<u8>) {
    varint::write(kind, out);
    varint::write(length, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_once_it_is_whole() {
        let mut out = Vec::new();
        write_data_head(16_384, &mut out);
        let head = FrameHead { kind: Kind::Data, length: 16_384, size: 5 };
        assert_eq!(FrameHead::read(&out), Some(head));
        for end in 0..out.len() {
            assert_eq!(FrameHead::read(&out[..end]), None, "{end} bytes");
        }
    }

    #[test]
    fn numbers_of_another_protocol_are_told_from_those_of_none() {
        let kind = |number: u64| {
            let mut out = Vec::new();
            write_head(number, 0, &mut out);
            FrameHead::read(&out).map(|head| head.kind)
        };
        for number in [0x2, 0x6, 0x8, 0x9] {
            assert_eq!(kind(number), Some(Kind::OfHttp2), "{number:#x}");
        }
        // A number that is kept for this (section 7.2.8), and one of an extension.
        for number in [0x1f * 3 + 0x21, 0xf0700] {
            assert_eq!(kind(number), Some(Kind::Other), "{number:#x}");
        }
        assert_eq!(kind(0xd), Some(Kind::MaxPushId));
        assert_eq!(StreamKind::of(0x1f + 0x21), StreamKind::Other);
    }

    #[test]
    fn a_code_is_known_by_its_number() {
        assert_eq!(ErrorCode::of(0x10b), ErrorCode::RequestRejected);
        assert_eq!(ErrorCode::of(0x202), ErrorCode::QpackDecoderStreamError);
        assert_eq!(ErrorCode::of(0x1f * 5 + 0x21), ErrorCode::NoError);
    }

    #[test]
    fn a_farewell_names_a_stream() {
        let mut out = Vec::new();
        write_goaway(4 * 100, &mut out);
        assert_eq!(out, [0x7, 2, 0x41, 0x90]);
    }
}
