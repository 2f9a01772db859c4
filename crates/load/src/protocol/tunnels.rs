//! WebSockets on the streams of each connection, over HTTP/2 or HTTP/3, from a plan.
//!
//! Knows what a plan says of them; must not know transports or time.

use std::sync::Arc;

use wiretrial_proto::MessageKind;
use wiretrial_proto::http2::{Http2Connect, Http2Limits, Http2WebSockets};
use wiretrial_proto::http3::{Http3Connect, Http3Limits, Http3WebSockets};
use wiretrial_proto::websocket::{BadWebSocketConfig, WebSocketConfig};

use super::Protocol;
use super::http2::{limits, of_target};
use super::http3::http3_websockets;
use crate::plan::{Plan, PlanError};

/// WebSockets on the streams of each connection.
#[derive(Debug)]
pub(crate) struct Tunnels {
    config: Arc<WebSocketConfig>,
    /// What asks for one.
    request: Request,
    /// Of each connection.
    streams: u32,
}

#[derive(Debug)]
enum Request {
    Http2(Arc<Http2Connect>, Http2Limits),
    Http3(Arc<Http3Connect>),
}

impl Tunnels {
    /// As many on each connection as the plan has messages in flight there.
    ///
    /// # Errors
    /// A header field that neither HTTP/2 nor HTTP/3 has.
    pub(super) fn new(plan: &Plan, config: Arc<WebSocketConfig>) -> Result<Self, PlanError> {
        let target = &plan.target;
        let scheme = target.url.http_scheme();
        let wrong = |error: BadWebSocketConfig| of_target(&error);
        let request = if target.http3 {
            let connect = Http3Connect::websocket(scheme, &config).map_err(wrong)?;
            Request::Http3(Arc::new(connect))
        } else {
            let connect = Http2Connect::websocket(scheme, &config).map_err(wrong)?;
            Request::Http2(Arc::new(connect), limits(target))
        };
        Ok(Self { config, request, streams: plan.load.depth })
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
        let config = Arc::clone(&self.config);
        match &self.request {
            Request::Http2(request, limits) => {
                let request = Arc::clone(request);
                let session = Http2WebSockets::new(config, request, streams, entropy, *limits);
                Protocol::WebSockets(Box::new(session))
            }
            Request::Http3(request) => {
                let (request, limits) = (Arc::clone(request), Http3Limits::default());
                let session = Http3WebSockets::new(config, request, streams, entropy, limits);
                http3_websockets(session)
            }
        }
    }
}
