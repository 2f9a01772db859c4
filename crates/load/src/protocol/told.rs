//! Requests whose replies tell of events: streams of events, and polls.
//!
//! Knows what a plan says of them; must not know transports or time, nor what a reply tells.

use std::sync::Arc;

use wiretrial_proto::http1::{BadRequest, HeadPart, PayloadLength, RequestHead};
use wiretrial_proto::sse::EVENT_STREAM;

use super::fields::{FieldParts, fields};
use super::http2::of_target;
use crate::plan::{PlanError, Target};

/// Fields of requests for streams of events: without the last id, and with it.
pub(super) fn stream_fields(target: &Target) -> (Vec<FieldParts<'_>>, Vec<FieldParts<'_>>) {
    let asks = |(name, _): &(String, String)| name.eq_ignore_ascii_case("accept");
    let mut headers = fields(target);
    if !target.headers.iter().any(asks) {
        headers.push(("Accept", vec![HeadPart::Text(EVENT_STREAM)]));
    }
    let plain = headers.clone();
    headers.push(("Last-Event-ID", vec![HeadPart::Hole]));
    (plain, headers)
}

/// A request with each of these fields.
pub(super) fn both<'f, R>(
    fields: [&[FieldParts<'f>]; 2],
    one: impl Fn(&[FieldParts<'f>]) -> Result<R, BadRequest>,
) -> Result<Arc<[R]>, PlanError> {
    let [plain, again] = fields.map(one);
    let wrong = |error: BadRequest| of_target(&error);
    Ok(Arc::from([plain.map_err(wrong)?, again.map_err(wrong)?]))
}

/// Heads of polls for what is published: for the number of what was last, and for what is behind a number.
pub(super) fn poll_heads(target: &Target) -> Result<Arc<[RequestHead]>, PlanError> {
    let url = &target.url;
    let path = HeadPart::Text(&url.path);
    let asks = HeadPart::Text(if url.path.contains('?') { "&after=" } else { "?after=" });
    let (headers, length) = (fields(target), PayloadLength::None);
    let head = |path: &[HeadPart<'_>]| {
        let (method, host) = (&target.method, &url.authority);
        RequestHead::with_holes(method, path, host, &headers, false, length)
            .map_err(|error| of_target(&error))
    };
    Ok(Arc::from([head(&[path])?, head(&[path, asks, HeadPart::Hole])?]))
}
