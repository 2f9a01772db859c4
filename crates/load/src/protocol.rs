//! The protocols that the load generator speaks: one arm each, static dispatch.
//!
//! Knows which codec a plan asks for; must not know transports or time.

use std::sync::Arc;

use wiretrial_proto::http1::{Http1Client, PayloadLength, RequestHead};
use wiretrial_proto::raw::RawClient;
use wiretrial_proto::socketio::SocketIoClient;
use wiretrial_proto::styx::{StyxClient, StyxConfig};
use wiretrial_proto::websocket::{WebSocketClient, WebSocketConfig};
use wiretrial_proto::{
    ClientCodec, ErrorClass, Event, MessageKind, Pieces, ProtocolError, Request, Scratch, Step, Tag,
};

use crate::plan::{Carrier, ContentRule, Plan, PlanError, Scheme, StyxPlan, Target};
use crate::source::Payloads;

/// Largest message that a client accepts, bytes, where it flows through as it is.
const MAX_MESSAGE: u64 = 1 << 40;
/// The same where a few bytes may come to be a thousand times as many, and a right reply's length
/// is not known.
const MAX_INFLATED: u64 = 128 << 20;
/// So much longer than a right reply a wrong one may be, and is still read to its end.
const SLACK: u64 = 64 * 1024;

/// One connection's codec.
#[derive(Debug)]
pub(crate) enum Protocol {
    /// HTTP/1.1.
    Http(Http1Client),
    /// WebSocket.
    WebSocket(WebSocketClient),
    /// A byte stream.
    Stream(RawClient),
    /// A player; boxed, because there may be a million of the others.
    Styx(Box<StyxClient>),
    /// Socket.IO.
    SocketIo(Box<SocketIoClient>),
}

/// Makes codecs: what all connections of a plan share, rendered once.
#[derive(Debug, Clone)]
pub(crate) enum ProtocolFactory {
    /// Request heads.
    Http(Arc<[RequestHead]>),
    /// The upgrade.
    WebSocket(Arc<WebSocketConfig>),
    /// The same, where each message comes to all connections.
    Broadcast(Arc<WebSocketConfig>),
    /// Nothing.
    Stream,
    /// Players and tables.
    Styx(Arc<StyxConfig>, Tables),
    /// The upgrade.
    SocketIo(Arc<WebSocketConfig>),
}

/// Who sits where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tables {
    first_player: u32,
    first_table: i32,
    size: u32,
}

impl ProtocolFactory {
    /// For the target of this plan.
    ///
    /// # Errors
    /// A method, path or header field that can't be sent.
    pub(crate) fn new(plan: &Plan) -> Result<Self, PlanError> {
        let target = &plan.target;
        let url = &target.url;
        match url.scheme {
            Scheme::Stream => Ok(Self::Stream),
            Scheme::WebSocket => {
                let kind = if target.text { MessageKind::Text } else { MessageKind::Binary };
                let config = upgrade(target, kind, max_message(target))?;
                Ok(match target.expect.content {
                    ContentRule::Broadcast => Self::Broadcast(config),
                    _ => Self::WebSocket(config),
                })
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
                let tables = Tables { first_player, first_table, size };
                Ok(Self::Styx(Arc::new(config), tables))
            }
            Scheme::Http => {
                let close = plan.load.requests_per_connection == Some(1);
                let payloads = Payloads::new(&target.payload);
                let length = match payloads.fixed_length() {
                    Some(0) => PayloadLength::None,
                    Some(length) => PayloadLength::Fixed(length as u64),
                    None => PayloadLength::Varying,
                };
                let head = RequestHead::new(
                    &target.method,
                    &url.path,
                    &url.authority,
                    &target.headers,
                    close,
                    length,
                );
                let head = head.map_err(|error| PlanError(format!("target.http: {error}")))?;
                Ok(Self::Http(Arc::from([head])))
            }
        }
    }

    /// A codec for a new connection with this number, over all workers. `entropy` seeds its masks.
    pub(crate) fn make(&self, number: u32, entropy: [u64; 2]) -> Protocol {
        match self {
            Self::Http(heads) => Protocol::Http(Http1Client::new(Arc::clone(heads))),
            Self::WebSocket(config) | Self::Broadcast(config) => {
                Protocol::WebSocket(WebSocketClient::new(Arc::clone(config), entropy))
            }
            Self::Stream => Protocol::Stream(RawClient::new()),
            Self::Styx(config, tables) => {
                let player = tables.first_player.wrapping_add(number);
                let table = tables.first_table.wrapping_add_unsigned(number / tables.size);
                let codec = StyxClient::new(Arc::clone(config), player, table, entropy);
                Protocol::Styx(Box::new(codec))
            }
            Self::SocketIo(config) => {
                Protocol::SocketIo(Box::new(SocketIoClient::new(Arc::clone(config), entropy)))
            }
        }
    }

    /// Kind of a right reply; none where the protocol has no kinds.
    pub(crate) fn reply_kind(&self) -> Option<MessageKind> {
        match self {
            Self::WebSocket(config) | Self::Broadcast(config) => Some(config.kind),
            Self::SocketIo(_) => Some(MessageKind::Text),
            Self::Http(_) | Self::Stream | Self::Styx(..) => None,
        }
    }

    /// Do replies name their message, by its number on its connection?
    pub(crate) fn numbers_messages(&self) -> bool {
        matches!(self, Self::Styx(..) | Self::SocketIo(_) | Self::Broadcast(_))
    }

    /// Does each message come to all connections?
    pub(crate) fn is_broadcast(&self) -> bool {
        matches!(self, Self::Broadcast(_))
    }
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
    config.validate().map_err(|error| PlanError(format!("target.http: {error}")))?;
    Ok(Arc::new(config))
}

/// The longest message that is worth taking in.
fn max_message(target: &Target) -> u64 {
    if target.deflate.is_none() {
        return MAX_MESSAGE;
    }
    let right = match &target.expect.content {
        ContentRule::Echo | ContentRule::Broadcast => Payloads::new(&target.payload).longest(),
        ContentRule::Fixed(content) => content.len(),
        ContentRule::Learned | ContentRule::Any | ContentRule::Matching(_) => return MAX_INFLATED,
    };
    2 * right as u64 + SLACK
}

impl Protocol {
    /// The compression of messages that was agreed on, as the server would say it.
    pub(crate) fn deflate(&self) -> Option<String> {
        match self {
            Self::WebSocket(codec) => codec.deflate().map(ToString::to_string),
            Self::Http(_) | Self::Stream(_) | Self::Styx(_) | Self::SocketIo(_) => None,
        }
    }

    /// Appends one message. Its number is that of its connection where replies name it.
    #[inline]
    pub(crate) fn send(&mut self, seq: u64, payload: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Styx(codec) => {
                codec.act(seq as u32, out);
            }
            Self::SocketIo(codec) => {
                codec.emit(seq, payload, out);
            }
            _ => {
                self.encode(&Request { route: 0, payload }, out);
            }
        }
    }

    /// Which message the reply under way answers, of which chunks were reported.
    #[inline]
    pub(crate) fn answering(&self) -> Tag {
        match self {
            Self::SocketIo(codec) => codec.answering(),
            _ => Tag::Next,
        }
    }

    /// The player's number, as the server gave it.
    pub(crate) fn player(&self) -> Option<i32> {
        match self {
            Self::Styx(codec) => Some(codec.player()),
            _ => None,
        }
    }
}

impl Protocol {
    /// The connection has ended, on purpose or, inside TLS, for a reason that nobody vouches for:
    /// as [`ClientCodec::end`], but then nobody knows whether a reply that only the end completes
    /// is all there (RFC 9112 section 9.8).
    ///
    /// # Errors
    /// As there, and such a reply.
    pub(crate) fn end_by(
        &mut self,
        on_purpose: bool,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        match self.end()? {
            Some(Event::Reply(_)) if !on_purpose => Err(ProtocolError::new(
                ErrorClass::Truncated,
                "TLS ended without close_notify, in a reply that only its end completes",
            )),
            event => Ok(event),
        }
    }
}

macro_rules! each {
    ($self:ident, $codec:ident => $call:expr) => {
        match $self {
            Protocol::Http($codec) => $call,
            Protocol::WebSocket($codec) => $call,
            Protocol::Stream($codec) => $call,
            Protocol::Styx($codec) => $call,
            Protocol::SocketIo($codec) => $call,
        }
    };
}

impl ClientCodec for Protocol {
    fn start(&mut self, out: &mut Vec<u8>) {
        each!(self, codec => codec.start(out));
    }

    fn is_open(&self) -> bool {
        each!(self, codec => codec.is_open())
    }

    fn encode(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Tag {
        each!(self, codec => codec.encode(request, out))
    }

    fn begin(&mut self, route: usize, length: u64, out: &mut Vec<u8>) -> Option<Pieces> {
        each!(self, codec => codec.begin(route, length, out))
    }

    fn receive<'a>(
        &mut self,
        input: &'a [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        each!(self, codec => codec.receive(input, scratch, out))
    }

    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError> {
        each!(self, codec => codec.end())
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        each!(self, codec => codec.close(out));
    }
}
