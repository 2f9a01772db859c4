//! A reply as a call of gRPC: whose status stands behind its content.
//!
//! Knows the fields and the messages of one reply; must not know streams.

use crate::fields::FieldList;
use crate::grpc::{self, Deframer};

/// What is next to be done with a piece of content.
pub(crate) enum Look {
    /// It is told as it is.
    Tell,
    /// The same, and the call's status is still to come.
    Await,
    /// Its messages may be compressed.
    Unpack,
}

/// No status has come so far.
pub(crate) const MISSING: u16 = u16::MAX;

/// The status of a call as its reply's head says it: its own where nothing else comes, that of HTTP where
/// the reply is none of gRPC, and else none yet.
pub(crate) fn head(http: u16, fields: &FieldList, is_end: bool) -> Result<u16, &'static str> {
    if is_end && let Some(status) = grpc::status_in(fields)? {
        return Ok(status);
    }
    if http != 200 {
        return Ok(http);
    }
    match fields.get(b"content-type") {
        Some(kind) if grpc::is_grpc(kind) => Ok(MISSING),
        _ => Err("a reply whose content-type is not application/grpc"),
    }
}

/// The same with the status that stands behind the content, if one does.
pub(crate) fn trailers(
    so_far: u16,
    frames: Deframer,
    behind: Option<u16>,
) -> Result<u16, &'static str> {
    if so_far == MISSING && !frames.is_between() {
        return Err("the reply ended inside a message");
    }
    Ok(behind.unwrap_or(so_far))
}

/// Do messages end with this piece of a reply's content, as they have to where fields follow?
#[inline]
pub(crate) fn is_whole(mut frames: Deframer, piece: &[u8]) -> bool {
    frames.pass(piece).is_ok() && frames.is_between()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_heads() {
        let (kind, html) = (("content-type", "application/grpc"), ("content-type", "text/html"));
        let (good, bad) = (("grpc-status", "5"), ("grpc-status", "five"));
        for (http, fields, is_end, status) in [
            (200, &[kind][..], false, Ok(MISSING)),
            (200, &[kind], true, Ok(MISSING)),
            (200, &[kind, good], true, Ok(5)),
            (200, &[good], true, Ok(5)),
            (200, &[kind, bad], true, Err(())),
            // Content follows, and the status behind it counts.
            (200, &[kind, good], false, Ok(MISSING)),
            (200, &[html], false, Err(())),
            (200, &[], true, Err(())),
            (503, &[html], false, Ok(503)),
            (404, &[], true, Ok(404)),
            (500, &[kind, good], true, Ok(5)),
        ] {
            let found = head(http, &FieldList::of(fields), is_end).map_err(|_| ());
            assert_eq!(found, status, "{http} {fields:?} {is_end}");
        }
    }

    #[test]
    fn table_of_trailers() {
        let mut open = Deframer::default();
        open.pass(&[0, 0]).expect("a begin");
        assert_eq!(trailers(MISSING, Deframer::default(), Some(0)), Ok(0));
        assert_eq!(trailers(MISSING, Deframer::default(), None), Ok(MISSING));
        assert_eq!(trailers(503, open, None), Ok(503), "its content is none of gRPC's");
        assert!(trailers(MISSING, open, Some(0)).is_err());
    }
}
