//! The conversation that a connection is having.
//!
//! Knows all conversations and which one follows an upgrade. Must not know sockets.

use std::sync::Arc;

use wiretrial_net::Alpn;
use wiretrial_proto::Scratch;
use wiretrial_proto::http1::DateField;
use wiretrial_proto::http2::PREFACE;

use crate::conversation::broadcast::BroadcastConversation;
use crate::conversation::http::{HttpConversation, Upgrade};
use crate::conversation::raw::RawEcho;
use crate::conversation::socketio::SocketIoConversation;
use crate::conversation::streamed::Http2Conversation;
use crate::conversation::styx::StyxConversation;
use crate::conversation::websocket::WebSocketEcho;
use crate::conversation::{Conversation as _, Outcome, Progress, converse};
use crate::hub::{Member, Memberships, Notice};
use crate::plan::EndpointKind;
use crate::sink::Sink;
use crate::verdict::Scheme;

/// Does the input begin as HTTP/2 does, as far as it has come?
#[inline]
fn begins_http2(input: &[u8]) -> bool {
    let there = input.len().min(PREFACE.len());
    there > 0 && input[..there] == PREFACE[..there]
}

/// One of all conversations. The rare ones are boxed, because there may be a million of the others.
#[derive(Debug)]
pub(crate) enum Protocol {
    Http(HttpConversation),
    Http2(Box<Http2Conversation>),
    WebSocket(WebSocketEcho),
    Raw(RawEcho),
    Styx(Box<StyxConversation>),
    SocketIo(Box<SocketIoConversation>),
    Broadcast(Box<BroadcastConversation>),
}

/// How much of a batch of input was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Bytes from its front.
    pub(crate) bytes: usize,
    /// There is no room for more answers: to be called again, with or without input, when there is.
    pub(crate) blocked: bool,
}

impl Taken {
    /// What a conversation took, behind the bytes that another one had taken.
    fn after<U>(bytes: usize, progress: &Progress<U>) -> Self {
        let blocked = matches!(progress.outcome, Outcome::Blocked);
        Self { bytes: bytes + progress.taken, blocked }
    }
}

/// Evaluates `$body` with the conversation of the protocol, whichever it is.
macro_rules! with {
    ($protocol:expr, $conversation:ident => $body:expr) => {
        match $protocol {
            Self::Http($conversation) => $body,
            Self::Http2($conversation) => $body,
            Self::WebSocket($conversation) => $body,
            Self::Raw($conversation) => $body,
            Self::Styx($conversation) => $body,
            Self::SocketIo($conversation) => $body,
            Self::Broadcast($conversation) => $body,
        }
    };
}

impl Protocol {
    pub(crate) fn new(kind: EndpointKind, date: &Arc<DateField>) -> Self {
        let http = |scheme| Self::Http(HttpConversation::new(scheme, Arc::clone(date)));
        match kind {
            EndpointKind::Http => http(Scheme::Http),
            EndpointKind::Https => http(Scheme::Https),
            EndpointKind::Tcp | EndpointKind::Tls => Self::Raw(RawEcho),
            EndpointKind::Styx => Self::Styx(Box::new(StyxConversation::stream())),
        }
    }

    /// Where HTTP/2 was agreed on before the first byte, nothing else may come.
    #[inline]
    pub(crate) fn agree(&mut self, agreed: impl FnOnce() -> Option<Alpn>) {
        if let Self::Http(http) = self
            && http.is_fresh()
            && agreed() == Some(Alpn::Http2)
        {
            *self = Self::Http2(Box::new(Http2Conversation::new(http.scheme())));
        }
    }

    /// Takes the input that can be taken and appends the answers to the sink.
    pub(crate) fn take(
        &mut self,
        input: &mut [u8],
        scratch: &mut Scratch,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) -> Taken {
        let mut bytes = 0;
        loop {
            let rest = &mut input[bytes..];
            let last = match self {
                Self::Http(http) if bytes == 0 && http.is_fresh() && begins_http2(rest) => {
                    if rest.len() < PREFACE.len() {
                        // Bytes that may still come to be something else wait for more.
                        return Taken { bytes, blocked: false };
                    }
                    *self = Self::Http2(Box::new(Http2Conversation::new(http.scheme())));
                    continue;
                }
                Self::Http2(http) => converse(&mut **http, rest, scratch, sink, member),
                Self::Http(http) => {
                    let progress = converse(http, rest, scratch, sink, member);
                    let Outcome::Upgraded(upgrade) = progress.outcome else {
                        return Taken::after(bytes, &progress);
                    };
                    bytes += progress.taken;
                    *self = Self::upgraded(upgrade, sink, member);
                    continue;
                }
                Self::WebSocket(echo) => converse(echo, rest, scratch, sink, member),
                Self::Raw(echo) => converse(echo, rest, scratch, sink, member),
                Self::Styx(player) => converse(&mut **player, rest, scratch, sink, member),
                Self::SocketIo(client) => converse(&mut **client, rest, scratch, sink, member),
                Self::Broadcast(client) => converse(&mut **client, rest, scratch, sink, member),
            };
            return Taken::after(bytes, &last);
        }
    }

    /// Passes on what the server tells the connection without being asked.
    pub(crate) fn on_notice(
        &mut self,
        notice: &Notice,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) {
        with!(self, conversation => conversation.on_notice(notice, sink, member));
    }

    /// When the conversation has something to do by itself; none: never.
    pub(crate) fn next_due(&self) -> Option<u64> {
        with!(self, conversation => conversation.next_due())
    }

    /// Does it.
    pub(crate) fn on_due(&mut self, now: u64, sink: &mut Sink<'_>) {
        with!(self, conversation => conversation.on_due(now, sink));
    }

    /// Appends what is said to the client when the server stops.
    pub(crate) fn go_away(&mut self, out: &mut Vec<u8>) {
        with!(self, conversation => conversation.go_away(out));
    }

    /// What the connection has joined.
    pub(crate) fn memberships(&self) -> Memberships {
        with!(self, conversation => conversation.memberships())
    }

    fn upgraded(upgrade: Upgrade, sink: &mut Sink<'_>, member: &mut Member<'_>) -> Self {
        let limit = sink.shared().max_message;
        match upgrade {
            Upgrade::Echo(deflate) => Self::WebSocket(WebSocketEcho::new(limit, deflate.as_ref())),
            Upgrade::Broadcast(deflate) => Self::Broadcast(Box::new(BroadcastConversation::new(
                limit,
                deflate.as_ref(),
                member,
            ))),
            Upgrade::Styx => Self::Styx(Box::new(StyxConversation::websocket())),
            Upgrade::SocketIo => {
                let session = sink.shared().number_session();
                Self::SocketIo(Box::new(SocketIoConversation::new(session, limit, sink)))
            }
        }
    }
}
