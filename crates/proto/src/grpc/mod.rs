//! What gRPC adds to HTTP/2: messages with their lengths before them, and statuses behind the content.
//!
//! Knows bytes and fields. Must not know streams, sockets, nor what a message says.
//!
//! The form of it is that of "gRPC over HTTP2", the document of the protocol itself.

mod framing;
mod gzip;
mod status;
mod timeout;

pub use framing::{Deframer, PREFIX, Part, framed, write_prefix};
pub use gzip::{BadMessage, GZIP, Gunzip, Gzip};
pub use status::{Status, decoded, encoded};
pub use timeout::{from_timeout, timeout};

use crate::fields::FieldList;

/// The content's type, of requests and of replies; a subtype may follow it.
pub const CONTENT_TYPE: &str = "application/grpc";
/// In which encoding those messages of a side are that are compressed.
pub const ENCODING: &str = "grpc-encoding";
/// In which encodings the other side may send messages, a list.
pub const ACCEPTED: &str = "grpc-accept-encoding";
/// The status of a call, behind its content.
pub const STATUS: &str = "grpc-status";
/// What is said of the status, [encoded].
pub const MESSAGE: &str = "grpc-message";

/// Is this the type of gRPC's content, whatever its messages are written in?
pub fn is_grpc(content_type: &[u8]) -> bool {
    let rest = content_type
        .split_at_checked(CONTENT_TYPE.len())
        .filter(|(begin, _)| begin.eq_ignore_ascii_case(CONTENT_TYPE.as_bytes()));
    rest.is_some_and(|(_, rest)| matches!(rest, [] | [b'+' | b';' | b' ', ..]))
}

/// Is gzip this encoding?
pub fn is_gzip(encoding: &[u8]) -> bool {
    encoding.trim_ascii().eq_ignore_ascii_case(GZIP.as_bytes())
}

/// Is gzip among these encodings?
pub fn accepts_gzip(list: &[u8]) -> bool {
    list.split(|byte| *byte == b',').any(is_gzip)
}

/// The status in these fields; none: there is none.
///
/// # Errors
/// It is no number.
pub(crate) fn status_in(fields: &FieldList) -> Result<Option<u16>, &'static str> {
    let value = fields.get(STATUS.as_bytes());
    value.map(|value| Status::parse(value).ok_or("a grpc-status that is no number")).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_encodings() {
        for list in ["gzip", "identity,deflate,gzip", "br , GZIP"] {
            assert!(accepts_gzip(list.as_bytes()), "{list}");
        }
        for list in ["", "identity", "gzip2", "x-gzip", "gzip;q=1"] {
            assert!(!accepts_gzip(list.as_bytes()), "{list}");
        }
    }

    #[test]
    fn types_of_content() {
        for right in
            ["application/grpc", "application/grpc+proto", "Application/gRPC; charset=utf-8"]
        {
            assert!(is_grpc(right.as_bytes()), "{right}");
        }
        for wrong in
            ["", "application/grp", "application/grpc-web", "text/html", "application/json"]
        {
            assert!(!is_grpc(wrong.as_bytes()), "{wrong}");
        }
    }
}
