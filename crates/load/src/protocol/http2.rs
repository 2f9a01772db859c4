//! What HTTP/2 carries, from a plan: requests, calls and WebSockets on streams.
//!
//! Knows what a plan says of them; must not know transports or time.

use std::fmt::Display;
use std::sync::Arc;

use wiretrial_proto::MessageKind;
use wiretrial_proto::grpc::{ACCEPTED, ENCODING, GZIP, timeout};
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::{
    Http2Client, Http2Connect, Http2Limits, Http2Request, Http2WebSockets,
};
use wiretrial_proto::websocket::WebSocketConfig;

use super::Protocol;
use super::fields::fields;
use super::longest::max_inflated;
use crate::plan::grpc::GrpcPlan;
use crate::plan::{Plan, PlanError, Target};

/// The field in which a call says its deadline.
pub(super) const TIMEOUT: &str = "grpc-timeout";

/// WebSockets on the streams of each connection.
#[derive(Debug)]
pub(crate) struct Tunnels {
    config: Arc<WebSocketConfig>,
    request: Arc<Http2Connect>,
    /// Of each connection.
    streams: u32,
    limits: Http2Limits,
}

impl Tunnels {
    /// As many on each connection as the plan has messages in flight there.
    ///
    /// # Errors
    /// A header field that HTTP/2 does not have.
    pub(super) fn new(plan: &Plan, config: Arc<WebSocketConfig>) -> Result<Self, PlanError> {
        let target = &plan.target;
        let request = Http2Connect::websocket(target.url.http_scheme(), &config);
        let request = Arc::new(request.map_err(|error| of_target(&error))?);
        Ok(Self { config, request, streams: plan.load.depth, limits: limits(target) })
    }

    /// The session of one connection of the load.
    pub(super) fn all(&self, entropy: [u64; 2]) -> Protocol {
        self.make(self.streams, entropy)
    }

    /// The same with one WebSocket alone.
    pub(super) fn one(&self, entropy: [u64; 2]) -> Protocol {
        self.make(1, entropy)
    }

    /// Kind of a right reply.
    pub(super) fn kind(&self) -> MessageKind {
        self.config.kind
    }

    fn make(&self, streams: u32, entropy: [u64; 2]) -> Protocol {
        let (config, request) = (Arc::clone(&self.config), Arc::clone(&self.request));
        let session = Http2WebSockets::new(config, request, streams, entropy, self.limits);
        Protocol::WebSockets(Box::new(session))
    }
}

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

/// A call with what the plan says beside its messages.
pub(super) fn call(
    target: &Target,
    calls: &GrpcPlan,
    close: bool,
) -> Result<Http2Request, PlanError> {
    let url = &target.url;
    let deadline = calls.deadline.map(|deadline| timeout(deadline.0));
    let text = |text| vec![HeadPart::Text(text)];
    let mut headers: Vec<_> =
        target.headers.iter().map(|(name, value)| (name.as_str(), text(value.as_str()))).collect();
    headers.extend(deadline.as_ref().map(|deadline| (TIMEOUT, text(deadline.as_str()))));
    if calls.gzip {
        headers.extend([ENCODING, ACCEPTED].map(|name| (name, text(GZIP))));
    }
    let call = Http2Request::call(url.http_scheme(), &url.path, &url.authority, &headers, close);
    call.map_err(|error| of_target(&error))
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
