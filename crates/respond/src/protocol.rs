//! Which conversation a connection is having.
//!
//! Knows the conversations and the way from one to the other; must not know sockets.

use wiretrial_proto::Scratch;

use std::sync::Arc;

use wiretrial_proto::http1::DateField;

use crate::broadcast::Listener;
use crate::http::{HttpConversation, Standing, Upgrade};
use crate::hub::{Member, Memberships, Notice};
use crate::plan::Kind;
use crate::sink::Sink;
use crate::socketio::SocketIoConversation;
use crate::styx::StyxConversation;
use crate::verdict::Scheme;
use crate::websocket::WebSocketEcho;

#[derive(Debug)]
pub(crate) enum Protocol {
    Http(HttpConversation),
    WebSocket(WebSocketEcho),
    /// Boxed, because there may be a million of the others.
    Styx(Box<StyxConversation>),
    SocketIo(Box<SocketIoConversation>),
    Broadcast(Box<Listener>),
    /// Bytes come back as they are. One stretch that was read is one reply.
    Raw,
}

/// What became of a batch of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Bytes taken from its front.
    pub(crate) taken: usize,
    /// There is more to say and no room: call again, with or without input, when there is.
    pub(crate) blocked: bool,
}

impl Protocol {
    pub(crate) fn new(kind: Kind, date: &Arc<DateField>) -> Self {
        let http = |scheme| Self::Http(HttpConversation::new(scheme, Arc::clone(date)));
        match kind {
            Kind::Http => http(Scheme::Http),
            Kind::Https => http(Scheme::Https),
            Kind::Tcp | Kind::Tls => Self::Raw,
            Kind::Styx => Self::Styx(Box::new(StyxConversation::stream())),
        }
    }

    /// Takes the input that can be taken and appends the answers to the sink.
    pub(crate) fn take(
        &mut self,
        input: &mut [u8],
        unpacked: &mut Scratch,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) -> Heard {
        let mut taken = 0;
        loop {
            let rest = &mut input[taken..];
            match self {
                Self::Http(conversation) => {
                    let (used, standing) = conversation.take(rest, unpacked, sink);
                    taken += used;
                    let Standing::Upgraded(upgrade) = standing else {
                        return Heard { taken, blocked: standing == Standing::Blocked };
                    };
                    *self = Self::upgraded(upgrade, sink, member);
                }
                Self::WebSocket(echo) => {
                    let heard = echo.take(rest, unpacked, sink);
                    return Heard { taken: taken + heard.taken, ..heard };
                }
                Self::Styx(player) => {
                    let heard = player.take(rest, unpacked, sink, member);
                    return Heard { taken: taken + heard.taken, ..heard };
                }
                Self::SocketIo(client) => {
                    let heard = client.take(rest, unpacked, sink);
                    return Heard { taken: taken + heard.taken, ..heard };
                }
                Self::Broadcast(listener) => {
                    let heard = listener.take(rest, unpacked, sink, member);
                    return Heard { taken: taken + heard.taken, ..heard };
                }
                Self::Raw => {
                    if !rest.is_empty() {
                        sink.begin().apply(rest);
                        sink.out.extend_from_slice(rest);
                        sink.end();
                    }
                    return Heard { taken: input.len(), blocked: false };
                }
            }
        }
    }

    /// Passes on what the server tells the connection without being asked.
    pub(crate) fn tell(&mut self, notice: &Notice, sink: &mut Sink<'_>) {
        match (self, notice) {
            (Self::Styx(player), Notice::Response(response)) => player.copy(*response, sink),
            (Self::Styx(player), Notice::Lobby(lobby)) => player.show(lobby, sink),
            (Self::Broadcast(listener), Notice::Broadcast(said)) => listener.hear(said, sink),
            _ => {}
        }
    }

    /// What the connection has joined.
    pub(crate) fn memberships(&self) -> Memberships {
        match self {
            Self::Styx(player) => player.memberships(),
            Self::Broadcast(_) => Memberships { broadcast: true, ..Memberships::default() },
            _ => Memberships::default(),
        }
    }

    /// Appends what a server says that goes away.
    pub(crate) fn go_away(&mut self, out: &mut Vec<u8>) {
        match self {
            Self::WebSocket(echo) => echo.go_away(out),
            Self::Styx(player) => player.go_away(out),
            Self::SocketIo(client) => client.go_away(out),
            Self::Broadcast(listener) => listener.go_away(out),
            Self::Http(_) | Self::Raw => {}
        }
    }

    fn upgraded(upgrade: Upgrade, sink: &mut Sink<'_>, member: &mut Member<'_>) -> Self {
        let limit = sink.shared().max_message;
        match upgrade {
            Upgrade::Echo(deflate) => Self::WebSocket(WebSocketEcho::new(limit, deflate.as_ref())),
            Upgrade::Broadcast(deflate) => {
                member.join_broadcast();
                Self::Broadcast(Box::new(Listener::new(limit, deflate.as_ref())))
            }
            Upgrade::Styx => Self::Styx(Box::new(StyxConversation::websocket())),
            Upgrade::SocketIo => {
                let session = sink.shared().number_session();
                Self::SocketIo(Box::new(SocketIoConversation::new(session, limit, sink)))
            }
        }
    }
}
