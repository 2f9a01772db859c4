//! The connection can't go on, or a stream was given up: in words.
//!
//! Knows codes, and what they are to people; must not know what led to them.

use super::frame::ErrorCode;
use super::outgoing::Outgoing;
use crate::{ErrorClass, ProtocolError};

/// What the peer is told, and what people are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Broken {
    code: ErrorCode,
    detail: &'static str,
}

impl Broken {
    pub(super) const fn new(code: ErrorCode, detail: &'static str) -> Self {
        Self { code, detail }
    }

    #[cfg(test)]
    pub(super) const fn code(self) -> ErrorCode {
        self.code
    }

    /// Closes the connection.
    #[cold]
    pub(super) fn tell(self, out: &mut Outgoing) -> ProtocolError {
        out.close(self.code);
        ProtocolError::new(ErrorClass::Protocol, self.detail)
    }
}

impl From<ErrorCode> for Broken {
    fn from(code: ErrorCode) -> Self {
        let detail = match code {
            ErrorCode::ClosedCriticalStream => {
                "a stream of the connection was closed (H3_CLOSED_CRITICAL_STREAM)"
            }
            ErrorCode::FrameUnexpected => "a frame where it can't be (H3_FRAME_UNEXPECTED)",
            ErrorCode::FrameError => "a frame that is not whole (H3_FRAME_ERROR)",
            ErrorCode::ExcessiveLoad => "more than is taken (H3_EXCESSIVE_LOAD)",
            ErrorCode::IdError => "the number of a stream or a push is wrong (H3_ID_ERROR)",
            ErrorCode::SettingsError => "a setting is out of bounds (H3_SETTINGS_ERROR)",
            ErrorCode::MissingSettings => {
                "the control stream does not begin with settings (H3_MISSING_SETTINGS)"
            }
            ErrorCode::StreamCreationError => {
                "a stream that the peer may not open (H3_STREAM_CREATION_ERROR)"
            }
            ErrorCode::QpackDecompressionFailed => {
                "a block of fields can't be read (QPACK_DECOMPRESSION_FAILED)"
            }
            _ => "the peer broke the rules of HTTP/3",
        };
        Self { code, detail }
    }
}

/// How a server gave up a stream, for people.
pub(super) const fn words(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::NoError => "the server reset the stream: H3_NO_ERROR",
        ErrorCode::GeneralProtocolError => "the server reset the stream: H3_GENERAL_PROTOCOL_ERROR",
        ErrorCode::InternalError => "the server reset the stream: H3_INTERNAL_ERROR",
        ErrorCode::ExcessiveLoad => "the server reset the stream: H3_EXCESSIVE_LOAD",
        ErrorCode::RequestRejected => "the server reset the stream: H3_REQUEST_REJECTED",
        ErrorCode::RequestCancelled => "the server reset the stream: H3_REQUEST_CANCELLED",
        ErrorCode::RequestIncomplete => "the server reset the stream: H3_REQUEST_INCOMPLETE",
        ErrorCode::MessageError => "the server reset the stream: H3_MESSAGE_ERROR",
        ErrorCode::ConnectError => "the server reset the stream: H3_CONNECT_ERROR",
        ErrorCode::VersionFallback => "the server reset the stream: H3_VERSION_FALLBACK",
        _ => "the server reset the stream with a code that is about the connection",
    }
}
