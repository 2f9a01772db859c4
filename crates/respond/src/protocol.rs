//! Which conversation a connection is having.
//!
//! Knows the conversations and the way from one to the other; must not know sockets.

use wiretrial_proto::Scratch;

use std::sync::Arc;

use wiretrial_proto::http1::DateField;

use crate::http::{HttpConversation, Standing};
use crate::plan::Kind;
use crate::sink::Sink;
use crate::verdict::Scheme;
use crate::websocket::WebSocketEcho;

#[derive(Debug)]
pub(crate) enum Protocol {
    Http(HttpConversation),
    WebSocket(WebSocketEcho),
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
        }
    }

    /// Takes the input that can be taken and appends the answers to the sink.
    pub(crate) fn take(
        &mut self,
        input: &mut [u8],
        unpacked: &mut Scratch,
        sink: &mut Sink<'_>,
    ) -> Heard {
        let mut taken = 0;
        loop {
            let rest = &mut input[taken..];
            match self {
                Self::Http(conversation) => {
                    let (used, standing) = conversation.take(rest, unpacked, sink);
                    taken += used;
                    let Standing::Upgraded(deflate) = standing else {
                        return Heard { taken, blocked: standing == Standing::Blocked };
                    };
                    let limit = sink.shared().max_message;
                    *self = Self::WebSocket(WebSocketEcho::new(limit, deflate.as_ref()));
                }
                Self::WebSocket(echo) => {
                    let heard = echo.take(rest, unpacked, sink);
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
}
