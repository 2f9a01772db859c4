//! What gRPC adds to HTTP/2: messages with their lengths before them, and statuses behind the content.
//!
//! Knows bytes and fields. Must not know streams, sockets, nor what a message says.
//!
//! The form of it is that of "gRPC over HTTP2", the document of the protocol itself.

mod framing;
mod status;
mod timeout;

pub use framing::{Deframer, PREFIX, Part, framed, write_prefix};
pub use status::{Status, decoded, encoded};
pub use timeout::{from_timeout, timeout};

use crate::fields::FieldList;

/// The content's type, of requests and of replies; a subtype may follow it.
pub const CONTENT_TYPE: &str = "application/grpc";
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
