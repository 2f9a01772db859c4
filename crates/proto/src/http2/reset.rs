//! Why a server has reset a stream, in words.
//!
//! Knows codes; must not know what the stream carried.

use super::frame::ErrorCode;

pub(super) const fn words(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::NoError => "the server reset the stream: NO_ERROR",
        ErrorCode::ProtocolError => "the server reset the stream: PROTOCOL_ERROR",
        ErrorCode::InternalError => "the server reset the stream: INTERNAL_ERROR",
        ErrorCode::FlowControlError => "the server reset the stream: FLOW_CONTROL_ERROR",
        ErrorCode::SettingsTimeout => "the server reset the stream: SETTINGS_TIMEOUT",
        ErrorCode::StreamClosed => "the server reset the stream: STREAM_CLOSED",
        ErrorCode::FrameSizeError => "the server reset the stream: FRAME_SIZE_ERROR",
        ErrorCode::RefusedStream => "the server reset the stream: REFUSED_STREAM",
        ErrorCode::Cancel => "the server reset the stream: CANCEL",
        ErrorCode::CompressionError => "the server reset the stream: COMPRESSION_ERROR",
        ErrorCode::ConnectError => "the server reset the stream: CONNECT_ERROR",
        ErrorCode::EnhanceYourCalm => "the server reset the stream: ENHANCE_YOUR_CALM",
        ErrorCode::InadequateSecurity => "the server reset the stream: INADEQUATE_SECURITY",
        ErrorCode::Http11Required => "the server reset the stream: HTTP_1_1_REQUIRED",
    }
}
