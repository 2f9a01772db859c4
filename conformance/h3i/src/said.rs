//! What is said in the cases: frames, fields and streams, byte by byte.
//!
//! Knows the formats of RFC 9114 and RFC 9204. Must not know what is wrong with them.

use h3i::actions::h3::{Action, send_headers_frame};
use h3i::quiche::h3::Header;

/// The stream of the request: a client's first in both directions.
pub(crate) const REQUEST: u64 = 0;
/// The client's streams in one direction, in the order in which they are opened.
pub(crate) const FIRST: u64 = 2;
pub(crate) const SECOND: u64 = 6;

/// Kinds of streams in one direction (RFC 9114 section 6.2, RFC 9204 section 4.2).
pub(crate) const CONTROL: u64 = 0x00;
pub(crate) const PUSH: u64 = 0x01;
pub(crate) const ENCODER: u64 = 0x02;
pub(crate) const DECODER: u64 = 0x03;
/// One that means nothing (RFC 9114 section 6.2.3).
pub(crate) const RESERVED: u64 = 0x21;

/// Kinds of frames (RFC 9114 section 7.2).
pub(crate) const DATA: u64 = 0x00;
pub(crate) const HEADERS: u64 = 0x01;
pub(crate) const CANCEL_PUSH: u64 = 0x03;
pub(crate) const SETTINGS: u64 = 0x04;
pub(crate) const PUSH_PROMISE: u64 = 0x05;
pub(crate) const GOAWAY: u64 = 0x07;
pub(crate) const MAX_PUSH_ID: u64 = 0x0d;

/// How a server says what was wrong (RFC 9114 section 8.1, RFC 9204 section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorCode {
    NoError = 0x100,
    StreamCreationError = 0x103,
    ClosedCriticalStream = 0x104,
    FrameUnexpected = 0x105,
    FrameError = 0x106,
    IdError = 0x108,
    SettingsError = 0x109,
    MissingSettings = 0x10a,
    RequestIncomplete = 0x10d,
    MessageError = 0x10e,
    DecompressionFailed = 0x200,
    EncoderStreamError = 0x201,
    DecoderStreamError = 0x202,
}

impl ErrorCode {
    const ALL: [(Self, &str); 13] = [
        (Self::NoError, "H3_NO_ERROR"),
        (Self::StreamCreationError, "H3_STREAM_CREATION_ERROR"),
        (Self::ClosedCriticalStream, "H3_CLOSED_CRITICAL_STREAM"),
        (Self::FrameUnexpected, "H3_FRAME_UNEXPECTED"),
        (Self::FrameError, "H3_FRAME_ERROR"),
        (Self::IdError, "H3_ID_ERROR"),
        (Self::SettingsError, "H3_SETTINGS_ERROR"),
        (Self::MissingSettings, "H3_MISSING_SETTINGS"),
        (Self::RequestIncomplete, "H3_REQUEST_INCOMPLETE"),
        (Self::MessageError, "H3_MESSAGE_ERROR"),
        (Self::DecompressionFailed, "QPACK_DECOMPRESSION_FAILED"),
        (Self::EncoderStreamError, "QPACK_ENCODER_STREAM_ERROR"),
        (Self::DecoderStreamError, "QPACK_DECODER_STREAM_ERROR"),
    ];

    pub(crate) fn name(number: u64) -> String {
        let known = Self::ALL.iter().find(|(code, _)| *code as u64 == number);
        known.map_or_else(|| format!("{number:#x}"), |(_, name)| (*name).to_owned())
    }
}

/// A number of QUIC (RFC 9000 section 16), below 2^30.
fn number(value: u64, out: &mut Vec<u8>) {
    match value {
        ..0x40 => out.push(value as u8),
        0x40..0x4000 => out.extend((0x4000 | value as u16).to_be_bytes()),
        _ => out.extend((0x8000_0000 | value as u32).to_be_bytes()),
    }
}

/// Numbers, one behind the other.
pub(crate) fn numbers(values: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    values.iter().for_each(|value| number(*value, &mut bytes));
    bytes
}

/// A frame.
pub(crate) fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = numbers(&[kind, payload.len() as u64]);
    bytes.extend(payload);
    bytes
}

/// The bytes go on a stream, and others may follow.
pub(crate) fn bytes(stream_id: u64, bytes: Vec<u8>) -> Action {
    Action::StreamBytes { stream_id, fin_stream: false, bytes }
}

/// The bytes go on a stream, and nothing follows.
pub(crate) fn last(stream_id: u64, bytes: Vec<u8>) -> Action {
    Action::StreamBytes { stream_id, fin_stream: true, bytes }
}

/// A stream in one direction, of a kind.
pub(crate) fn open(stream_id: u64, stream_type: u64) -> Action {
    Action::OpenUniStream { stream_id, fin_stream: false, stream_type }
}

/// A stream of control that begins as it must.
pub(crate) fn control() -> [Action; 2] {
    [open(FIRST, CONTROL), bytes(FIRST, frame(SETTINGS, &[]))]
}

pub(crate) type Fields<'a> = &'a [(&'a str, &'a str)];

/// Fields as they come, on the stream of the request.
pub(crate) fn fields(fields: Fields<'_>, is_last: bool) -> Action {
    let header = |(name, value): &(&str, &str)| Header::new(name.as_bytes(), value.as_bytes());
    send_headers_frame(REQUEST, is_last, fields.iter().map(header).collect())
}

/// The fields that a GET must have.
pub(crate) fn get(authority: &str) -> [(&str, &str); 4] {
    [(":method", "GET"), (":scheme", "https"), (":authority", authority), (":path", "/message")]
}

/// The fields of a GET, compressed, and one more whose name is as it is given. In the static table (RFC 9204 appendix A)
/// 17 is `:method: GET`, 23 `:scheme: https`, 0 and 1 the names `:authority` and `:path`.
pub(crate) fn literal(authority: &str, name: &str, value: &str) -> Vec<u8> {
    let mut block = vec![0, 0, 0xc0 | 17, 0xc0 | 23];
    for (place, value) in [(0, authority), (1, "/message")] {
        // All of them are shorter than what a byte tells.
        block.extend([0x50 | place, value.len() as u8]);
        block.extend(value.as_bytes());
    }
    block.push(0x20 | name.len() as u8);
    block.extend(name.as_bytes());
    block.push(value.len() as u8);
    block.extend(value.as_bytes());
    block
}

/// A whole request.
pub(crate) fn request(authority: &str) -> Action {
    fields(&get(authority), true)
}
