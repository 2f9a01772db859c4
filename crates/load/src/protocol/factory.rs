//! From a plan to sessions: what all connections share is rendered once.
//!
//! Knows what a plan says of its protocol; must not know transports or time.

use std::sync::Arc;

use wiretrial_proto::MessageKind;
use wiretrial_proto::grpc::timeout;
use wiretrial_proto::http1::{BadRequest, HeadPart, Http1Client, PayloadLength, RequestHead};
use wiretrial_proto::http2::{Http2Limits, Http2Request};
use wiretrial_proto::http3::{Http3Limits, Http3Request};
use wiretrial_proto::raw::RawClient;
use wiretrial_proto::socketio::SocketIoClient;
use wiretrial_proto::styx::{StyxClient, StyxConfig};
use wiretrial_proto::websocket::{WebSocketClient, WebSocketConfig};

use super::Protocol;
use super::broadcast::{BroadcastClient, Hall};
use super::fields::{FieldParts, fields};
use super::http2::{TIMEOUT, call, http2, http2_request, limits, of_target};
use super::http3::{http3, http3_limits, http3_request};
use super::longest::{MAX_INFLATED, MAX_MESSAGE, max_message};
use super::told::{both, poll_heads, stream_fields};
use super::tunnels::Tunnels;
use crate::plan::{
    Carrier, ContentRule, Plan, PlanError, Scheme, StyxPlan, Target, TargetUrl, traffic,
};
use crate::source::Payloads;
use crate::source::traffic::{Opening, Route, Routes};

/// Makes sessions: what all connections of a plan share, rendered once.
#[derive(Debug, Clone)]
pub(crate) enum ProtocolFactory {
    /// Request heads.
    Http(Arc<[RequestHead]>),
    /// The same in HTTP/2; what the server may send; and whether heads of replies are told.
    Http2(Arc<[Http2Request]>, Http2Limits, bool),
    /// The same in HTTP/3.
    Http3(Arc<[Http3Request]>, Http3Limits, bool),
    /// Request heads of many routes, with holes.
    Routes(Arc<[RequestHead]>),
    /// The upgrade.
    WebSocket(Arc<WebSocketConfig>),
    /// The same on streams of HTTP/2 or HTTP/3.
    WebSockets(Arc<Tunnels>),
    /// The same of conversations, of which each is opened in its own way.
    Conversation(Box<WebSocketConfig>),
    /// The same over Socket.IO, and by route whether its event is to be acknowledged.
    Events(Box<WebSocketConfig>, Arc<[bool]>),
    /// The upgrade, where each message comes to all connections.
    Broadcast(Arc<WebSocketConfig>, Hall),
    /// Nothing.
    Stream,
    /// Players and tables.
    Styx(Arc<StyxConfig>, Seating),
    /// The upgrade.
    SocketIo(Arc<WebSocketConfig>),
    /// Nothing, and no plan asks for it.
    #[cfg(test)]
    Multiplexed,
}

/// Which player sits at which table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seating {
    first_player: u32,
    first_table: i32,
    size: u32,
}

impl ProtocolFactory {
    /// For the target of this plan.
    ///
    /// # Errors
    /// A method, path or header field that can't be sent.
    pub(crate) fn new(plan: &Plan, routes: Option<&Routes>) -> Result<Self, PlanError> {
        let target = &plan.target;
        let url = &target.url;
        if let (Some(traffic), Some(routes)) = (&plan.traffic, routes) {
            return Self::of_traffic(target, traffic, routes);
        }
        match url.scheme {
            Scheme::Stream => Ok(Self::Stream),
            Scheme::WebSocket => {
                let kind = if target.text { MessageKind::Text } else { MessageKind::Binary };
                let config = upgrade(target, kind, max_message(target))?;
                Ok(match target.expect.content {
                    ContentRule::Broadcast => {
                        let longest = Payloads::new(&target.payload).longest();
                        Self::Broadcast(config, Hall { longest, greetings: target.greetings })
                    }
                    _ if target.has_streams() => {
                        Self::WebSockets(Arc::new(Tunnels::new(plan, config)?))
                    }
                    _ => Self::WebSocket(config),
                })
            }
            Scheme::SocketIo if plan.publish.is_some() => {
                let config = upgrade(target, MessageKind::Text, MAX_MESSAGE)?;
                // Who subscribes awaits no acknowledgement.
                Ok(Self::Events(Box::new(Arc::unwrap_or_clone(config)), Arc::from([false])))
            }
            Scheme::SocketIo => {
                Ok(Self::SocketIo(upgrade(target, MessageKind::Text, MAX_MESSAGE)?))
            }
            Scheme::Styx(encoding, carrier) => {
                let websocket = match carrier {
                    Carrier::Stream => None,
                    Carrier::WebSocket => {
                        Some(upgrade(target, encoding.kind(), StyxConfig::MAX_MESSAGE)?)
                    }
                };
                // Such a target has players and tables.
                let styx = target.styx.clone().unwrap_or_default();
                let StyxPlan { table_size: size, first_table, first_player, .. } = styx;
                let (user, password) = (styx.user, styx.password);
                let (delay, lobby) = (styx.delay_ms, styx.lobby);
                let config = StyxConfig { encoding, websocket, user, password, delay, lobby };
                let seating = Seating { first_player, first_table, size };
                Ok(Self::Styx(Arc::new(config), seating))
            }
            Scheme::Http if target.sse => streams(target),
            Scheme::Http if plan.polls() => Ok(Self::Routes(poll_heads(target)?)),
            Scheme::Http => {
                let close = plan.load.requests_per_connection == Some(1);
                let payloads = Payloads::new(&target.payload);
                let length = match payloads.fixed_length() {
                    Some(0) => PayloadLength::None,
                    Some(length) => PayloadLength::Fixed(length as u64),
                    None => PayloadLength::Varying,
                };
                if let Some(calls) = &target.grpc {
                    let (scheme, path, host) = (url.http_scheme(), &url.path, &url.authority);
                    if target.http3 {
                        let request = call(target, calls, |fields| {
                            Http3Request::call(scheme, path, host, fields, close)
                        });
                        return Ok(Self::Http3(Arc::from([request?]), http3_limits(target), false));
                    }
                    let request = call(target, calls, |fields| {
                        Http2Request::call(scheme, path, host, fields, close)
                    });
                    let tells_heads = plan.publish.is_some();
                    return Ok(Self::Http2(Arc::from([request?]), limits(target), tells_heads));
                }
                if target.http2 {
                    let request = http2_request(target, close, length)?;
                    return Ok(Self::Http2(Arc::from([request]), limits(target), false));
                }
                if target.http3 {
                    let request = http3_request(target, close, length)?;
                    return Ok(Self::Http3(Arc::from([request]), http3_limits(target), false));
                }
                let head = RequestHead::with_holes(
                    &target.method,
                    &[HeadPart::Text(&url.path)],
                    &url.authority,
                    &fields(target),
                    close,
                    length,
                );
                let head = head.map_err(|error| of_target(&error))?;
                Ok(Self::Http(Arc::from([head])))
            }
        }
    }

    /// For sessions of requests, or of conversations.
    fn of_traffic(
        target: &Target,
        traffic: &traffic::Traffic,
        routes: &Routes,
    ) -> Result<Self, PlanError> {
        let url = &target.url;
        if traffic.is_conversation() {
            let config = upgrade(target, MessageKind::Text, MAX_INFLATED)?;
            let config = Box::new(Arc::unwrap_or_clone(config));
            let lines = traffic.routes.iter().map(|route| route.line.as_ref());
            let acknowledged = lines.map(|line| line.is_some_and(|line| line.acknowledged));
            return Ok(match url.scheme {
                Scheme::SocketIo => Self::Events(config, acknowledged.collect()),
                _ => Self::Conversation(config),
            });
        }
        if target.http2 {
            let (call, ask) = (Http2Request::call, Http2Request::with_holes);
            let one = |of: &_, route: Option<&_>| on_stream(of, route, url, call, ask);
            return Ok(Self::Http2(of_all(traffic, routes, one)?, limits(target), true));
        }
        if target.http3 {
            let (call, ask) = (Http3Request::call, Http3Request::with_holes);
            let one = |of: &_, route: Option<&_>| on_stream(of, route, url, call, ask);
            return Ok(Self::Http3(of_all(traffic, routes, one)?, http3_limits(target), true));
        }
        let head = |of: &_, route: Option<&_>| route_head(of, route, &url.authority);
        Ok(Self::Routes(of_all(traffic, routes, head)?))
    }

    /// The same, and sessions of HTTP tell the head of each reply.
    pub(crate) fn telling_heads(self) -> Self {
        match self {
            Self::Http(heads) => Self::Routes(heads),
            Self::Http2(requests, limits, _) => Self::Http2(requests, limits, true),
            Self::Http3(requests, limits, _) => Self::Http3(requests, limits, true),
            other => other,
        }
    }

    /// The same for the preflight, which is told of the head of its reply, too.
    pub(crate) fn make_first(
        &self,
        number: u32,
        entropy: [u64; 2],
        opening: Option<Opening>,
    ) -> Protocol {
        match self {
            Self::Http(heads) => Protocol::Http(Http1Client::telling_heads(Arc::clone(heads))),
            Self::Http2(requests, limits, _) => http2(requests, *limits, true),
            Self::Http3(requests, limits, _) => http3(requests, *limits, true),
            Self::WebSockets(tunnels) => tunnels.one(entropy),
            _ => self.make(number, entropy, opening),
        }
    }

    /// A session for a new connection with this number, over all workers. `entropy` seeds its masks; that of a
    /// conversation is opened so.
    pub(crate) fn make(
        &self,
        number: u32,
        entropy: [u64; 2],
        opening: Option<Opening>,
    ) -> Protocol {
        match self {
            Self::Http(heads) => Protocol::Http(Http1Client::new(Arc::clone(heads))),
            Self::Routes(heads) => Protocol::Http(Http1Client::telling_heads(Arc::clone(heads))),
            Self::Http2(requests, limits, tells_heads) => http2(requests, *limits, *tells_heads),
            Self::Http3(requests, limits, tells_heads) => http3(requests, *limits, *tells_heads),
            Self::WebSocket(config) => {
                Protocol::WebSocket(WebSocketClient::new(Arc::clone(config), entropy))
            }
            Self::WebSockets(tunnels) => tunnels.all(entropy),
            Self::Conversation(config) => {
                Protocol::WebSocket(WebSocketClient::new(opened(config, opening), entropy))
            }
            Self::Events(config, acknowledged) => {
                let (config, acknowledged) = (opened(config, opening), Arc::clone(acknowledged));
                let session = SocketIoClient::telling_events(config, entropy, acknowledged);
                Protocol::SocketIo(Box::new(session))
            }
            Self::Broadcast(config, hall) => {
                let websocket = WebSocketClient::new(Arc::clone(config), entropy);
                let session = BroadcastClient::new(websocket, config.kind, number, *hall);
                Protocol::Broadcast(Box::new(session))
            }
            Self::Stream => Protocol::Stream(RawClient::new()),
            Self::Styx(config, seating) => {
                let player = seating.first_player.wrapping_add(number);
                let table = seating.first_table.wrapping_add_unsigned(number / seating.size);
                let session = StyxClient::new(Arc::clone(config), player, table, entropy);
                Protocol::Styx(Box::new(session))
            }
            Self::SocketIo(config) => {
                Protocol::SocketIo(Box::new(SocketIoClient::new(Arc::clone(config), entropy)))
            }
            #[cfg(test)]
            Self::Multiplexed => Protocol::Multiplexed(Box::default()),
        }
    }

    /// Kind of a right reply; none where the protocol has no kinds.
    pub(crate) fn reply_kind(&self) -> Option<MessageKind> {
        match self {
            Self::WebSocket(config) => Some(config.kind),
            Self::WebSockets(tunnels) => Some(tunnels.kind()),
            Self::SocketIo(_) => Some(MessageKind::Text),
            // A broadcast looks at its copies by itself.
            Self::Http(_)
            | Self::Http2(..)
            | Self::Http3(..)
            | Self::Routes(_)
            | Self::Stream
            | Self::Conversation(_)
            | Self::Events(..)
            | Self::Styx(..)
            | Self::Broadcast(..) => None,
            #[cfg(test)]
            Self::Multiplexed => None,
        }
    }

    /// Do replies say by number which message they answer?
    pub(crate) fn is_numbered(&self) -> bool {
        // Of streams only the codec knows: what stands on the wire is a stream's number.
        matches!(self, Self::Http2(..) | Self::Http3(..) | Self::WebSockets(_))
            || self.first_number(0).is_some()
    }

    /// The first number of the messages of the connection with this number, where each connection
    /// numbers its own because replies name them; none where the worker numbers all.
    pub(crate) fn first_number(&self, number: u32) -> Option<u64> {
        match self {
            Self::Styx(..) | Self::SocketIo(_) => Some(0),
            #[cfg(test)]
            Self::Multiplexed => Some(0),
            // All hear it, so it says whose it is.
            Self::Broadcast(..) => Some(u64::from(number) << 32),
            Self::Http(_)
            | Self::Http2(..)
            | Self::Http3(..)
            | Self::Routes(_)
            | Self::WebSocket(_)
            | Self::WebSockets(_)
            | Self::Conversation(_)
            | Self::Events(..)
            | Self::Stream => None,
        }
    }
}

/// Requests for streams of events.
fn streams(target: &Target) -> Result<ProtocolFactory, PlanError> {
    let url = &target.url;
    let (plain, again) = stream_fields(target);
    let each = [&plain[..], &again[..]];
    let (path, length) = ([HeadPart::Text(url.path.as_str())], PayloadLength::None);
    let (scheme, method, host) = (url.http_scheme(), &target.method, &url.authority);
    if target.http2 {
        let request = |fields: &[_]| {
            Http2Request::with_holes(scheme, method, &path, host, fields, false, length)
        };
        return Ok(ProtocolFactory::Http2(both(each, request)?, limits(target), true));
    }
    if target.http3 {
        let request = |fields: &[_]| {
            Http3Request::with_holes(scheme, method, &path, host, fields, false, length)
        };
        return Ok(ProtocolFactory::Http3(both(each, request)?, http3_limits(target), true));
    }
    let head = |fields: &[_]| RequestHead::with_holes(method, &path, host, fields, false, length);
    Ok(ProtocolFactory::Routes(both(each, head)?))
}

/// The upgrade of a conversation that is opened so.
fn opened(config: &WebSocketConfig, opening: Option<Opening>) -> Arc<WebSocketConfig> {
    let mut config = config.clone();
    if let Some(Opening { target, headers }) = opening {
        (config.target, config.headers) = (target, headers);
    }
    Arc::new(config)
}

/// A route's requests to the target that a redirect says: like its own, and those that only get. Of these HEAD
/// stays what it is, and nothing is said of a body.
fn redirected(of: &traffic::Route) -> (traffic::Route, traffic::Route) {
    let target = vec![traffic::Part::Make(traffic::Made::Seq)];
    let same = traffic::Route { target, ..of.clone() };
    let mut get = same.clone();
    if get.method != "HEAD" {
        "GET".clone_into(&mut get.method);
    }
    // A field with holes stays: they are filled in their order.
    let is_fixed =
        |text: &traffic::Text| text.iter().all(|it| matches!(it, traffic::Part::Text(_)));
    let of_body = |name: &str| name.get(..8).is_some_and(|it| it.eq_ignore_ascii_case("content-"));
    get.headers.retain(|(name, value)| !(of_body(name) && is_fixed(value)));
    (same, get)
}

/// What each route's requests have in common, in the order of the routes; behind them that of those to where redirects
/// lead.
fn of_all<R>(
    traffic: &traffic::Traffic,
    routes: &Routes,
    one: impl Fn(&traffic::Route, Option<&Route>) -> Result<R, PlanError>,
) -> Result<Arc<[R]>, PlanError> {
    let both = || traffic.routes.iter().zip(routes.iter());
    let own = both().map(|(of, route)| one(of, Some(route)));
    let followed = both().filter(|(_, route)| route.follow.is_some());
    let all = own.chain(followed.flat_map(|(of, route)| {
        let (same, get) = redirected(of);
        [one(&same, Some(route)), one(&get, None)]
    }));
    all.collect()
}

/// The head of requests to a route; none: they have no body.
fn route_head(
    of: &traffic::Route,
    route: Option<&Route>,
    authority: &str,
) -> Result<RequestHead, PlanError> {
    let (target, headers) = head_parts(of);
    let length = length_of(route);
    let head = RequestHead::with_holes(&of.method, &target, authority, &headers, false, length);
    head.map_err(|error| of_route(of, &error))
}

/// A request on a stream to a route, which is a call or not.
fn on_stream<R>(
    of: &traffic::Route,
    route: Option<&Route>,
    url: &TargetUrl,
    call: Call<R>,
    ask: Ask<R>,
) -> Result<R, PlanError> {
    let (target, mut headers) = head_parts(of);
    let (scheme, host) = (url.http_scheme(), url.authority.as_str());
    let Some(called) = &of.call else {
        let request = ask(scheme, &of.method, &target, host, &headers, false, length_of(route));
        return request.map_err(|error| of_route(of, &error));
    };
    let deadline = called.deadline.map(|deadline| timeout(deadline.0));
    let said = deadline.as_ref().map(|deadline| vec![HeadPart::Text(deadline.as_str())]);
    headers.extend(said.map(|said| (TIMEOUT, said)));
    call(scheme, &called.path, host, &headers, false).map_err(|error| of_route(of, &error))
}

fn of_route(of: &traffic::Route, error: &BadRequest) -> PlanError {
    PlanError(format!("traffic.routes '{}': {error}", of.name))
}

/// How calls are made of a scheme, a path, a host and fields; `true`: none follows on the connection.
type Call<R> = fn(&str, &str, &str, &[FieldParts<'_>], bool) -> Result<R, BadRequest>;

/// How requests are made of a scheme, a method, a target, a host and fields; `true`: none follows on the connection.
type Ask<R> = fn(
    &str,
    &str,
    &[HeadPart<'_>],
    &str,
    &[FieldParts<'_>],
    bool,
    PayloadLength,
) -> Result<R, BadRequest>;

/// Parts of the target of a route's requests, and its fields.
type HeadParts<'r> = (Vec<HeadPart<'r>>, Vec<FieldParts<'r>>);

fn head_parts(of: &traffic::Route) -> HeadParts<'_> {
    let headers = of.headers.iter().map(|(name, value)| (name.as_str(), parts(value)));
    (parts(&of.target), headers.collect())
}

fn length_of(route: Option<&Route>) -> PayloadLength {
    match route.map_or(Some(0), |route| route.requests.body_length()) {
        Some(0) => PayloadLength::None,
        Some(length) => PayloadLength::Fixed(length as u64),
        None => PayloadLength::Varying,
    }
}

fn parts(text: &traffic::Text) -> Vec<HeadPart<'_>> {
    let parts = text.iter().map(|part| match part {
        traffic::Part::Text(words) => HeadPart::Text(words.as_str()),
        traffic::Part::Value(..) | traffic::Part::Make(_) => HeadPart::Hole,
    });
    parts.collect()
}

fn upgrade(
    target: &Target,
    kind: MessageKind,
    max_message: u64,
) -> Result<Arc<WebSocketConfig>, PlanError> {
    let config = WebSocketConfig {
        host: target.url.authority.clone(),
        target: target.url.path.clone(),
        headers: target.headers.clone(),
        subprotocols: Vec::new(),
        kind,
        max_message,
        deflate: target.deflate,
        insists_on_deflate: target.deflate.is_some(),
    };
    config.validate().map_err(|error| of_target(&error))?;
    Ok(Arc::new(config))
}
