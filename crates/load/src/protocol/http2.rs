//! What HTTP/2 carries, from a plan: requests and calls.
//!
//! Knows what a plan says of them; must not know transports or time.

use std::fmt::Display;
use std::sync::Arc;

use wiretrial_proto::grpc::{ACCEPTED, ENCODING, GZIP, timeout};
use wiretrial_proto::http1::{BadRequest, HeadPart, PayloadLength};
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request};

use super::Protocol;
use super::fields::{FieldParts, fields};
use super::longest::max_inflated;
use crate::plan::grpc::GrpcPlan;
use crate::plan::{PlanError, Target};

/// The field in which a call says its deadline.
pub(super) const TIMEOUT: &str = "grpc-timeout";

pub(super) fn http2(
    requests: &Arc<[Http2Request]>,
    limits: Http2Limits,
    tells_heads: bool,
) -> Protocol {
    let made = if tells_heads { Http2Client::telling_heads } else { Http2Client::new };
    Protocol::Http2(Box::new(made(Arc::clone(requests), limits)))
}

/// What the server may send.
pub(super) fn limits(target: &Target) -> Http2Limits {
    let (stream_window, connection_window) = (target.windows.stream, target.windows.connection);
    let mut limits = Http2Limits { stream_window, connection_window, ..Http2Limits::default() };
    if target.grpc.is_some_and(|calls| calls.gzip) {
        limits.max_inflated = u32::try_from(max_inflated(target)).unwrap_or(u32::MAX);
    }
    limits
}

/// A call with what the plan says beside its messages, `made` of these fields.
pub(super) fn call<R>(
    target: &Target,
    calls: &GrpcPlan,
    made: impl FnOnce(&[FieldParts<'_>]) -> Result<R, BadRequest>,
) -> Result<R, PlanError> {
    let deadline = calls.deadline.map(|deadline| timeout(deadline.0));
    let text = |text| vec![HeadPart::Text(text)];
    let mut headers = fields(target);
    headers.extend(deadline.as_ref().map(|deadline| (TIMEOUT, text(deadline.as_str()))));
    if calls.gzip {
        headers.extend([ENCODING, ACCEPTED].map(|name| (name, text(GZIP))));
    }
    made(&headers).map_err(|error| of_target(&error))
}

pub(super) fn http2_request(
    target: &Target,
    close: bool,
    length: PayloadLength,
) -> Result<Http2Request, PlanError> {
    let url = &target.url;
    // As browsers do, whose fields they are.
    let made =
        if target.profile.is_some() { Http2Request::keeping } else { Http2Request::with_holes };
    let path = [HeadPart::Text(url.path.as_str())];
    let request = made(
        url.http_scheme(),
        &target.method,
        &path,
        &url.authority,
        &fields(target),
        close,
        length,
    );
    request.map_err(|error| of_target(&error))
}

/// What of a target can't be sent.
pub(super) fn of_target(error: &impl Display) -> PlanError {
    PlanError(format!("target.http: {error}"))
}
