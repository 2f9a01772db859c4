//! The client's side of a Socket.IO connection.
//!
//! Knows the order upgrade, greeting, namespace, events; must not know what is asked for. Holds no
//! content: an acknowledgement flows through as it comes.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;

use super::head::{Head, Kind, broken};
use crate::websocket::{WebSocketClient, WebSocketConfig};
use crate::{
    ClientSession, Close, ErrorClass, Event, Message, MessageKind, ProtocolError, Reply, Scratch,
    Step, Tag,
};

/// Where none was given (RFC 6455 section 7.4).
const NO_CODE: u16 = 1005;
/// So many acknowledgements that nobody wants any more may be missing.
const MOST_CANCELLED: usize = 1024;

/// A client that emits events with acknowledgements, which may come in any order; or one that reports the
/// server's events, too.
#[derive(Debug)]
pub struct SocketIoClient {
    codec: WebSocketClient,
    state: State,
    head: Head,
    /// By route: is its event to be acknowledged? None: each is, and the server's own are not reported.
    acknowledged: Option<Arc<[bool]>>,
    /// Numbers of events whose acknowledgements nobody wants any more, and that have not come.
    cancelled: BTreeSet<u64>,
    draft: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The upgrade is not done.
    Upgrading,
    /// The server's greeting is awaited.
    Greeting,
    /// The namespace was asked for.
    Entering,
    Open,
    /// Our goodbye went out.
    Leaving,
    Closed,
}

/// A piece of a message.
struct Piece {
    /// Its bytes are the last so many that were taken.
    length: usize,
    /// Kind of the message, which ends with it; none: it goes on.
    ends: Option<MessageKind>,
}

impl SocketIoClient {
    /// A client for one connection.
    ///
    /// The configuration's messages must be text, without compression, and its target must ask for
    /// version 4 and for WebSocket, as [`TARGET`](super::TARGET) does. As for `seed`, see
    /// [`WebSocketClient::new`].
    pub fn new(config: Arc<WebSocketConfig>, seed: [u64; 2]) -> Self {
        debug_assert!(config.deflate.is_none(), "pieces are found in the input as they are");
        Self {
            codec: WebSocketClient::new(config, seed),
            state: State::Upgrading,
            head: Head::default(),
            acknowledged: None,
            cancelled: BTreeSet::new(),
            draft: Vec::new(),
        }
    }

    /// The same that reports events of the server, too: as replies of [`Tag::Oldest`], acknowledgements as those of
    /// [`Tag::Number`]. Events of these routes are to be acknowledged, others are not.
    pub fn telling_events(
        config: Arc<WebSocketConfig>,
        seed: [u64; 2],
        acknowledged: Arc<[bool]>,
    ) -> Self {
        Self { acknowledged: Some(acknowledged), ..Self::new(config, seed) }
    }

    /// The next piece of a message, and how much of the input was taken up to its end.
    #[inline]
    fn piece(
        &mut self,
        input: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Found), ProtocolError> {
        let step = self.codec.receive(input, scratch, out)?;
        let found = match step.event {
            // A WebSocket alone has no more than the others.
            None
            | Some(
                Event::Room
                | Event::Head(_)
                | Event::Trailers(_)
                | Event::Failed { .. }
                | Event::Parted(_)
                | Event::Delivery(_)
                | Event::Bulletin(_)
                | Event::Unprocessed { .. }
                | Event::Leaving,
            ) => Found::Nothing,
            Some(Event::Open) => Found::Upgraded,
            Some(Event::Close(close)) => Found::Closed(close),
            Some(Event::Chunk { piece, .. }) => {
                Found::Piece(Piece { length: piece.len(), ends: None })
            }
            Some(Event::Reply(reply)) => {
                Found::Piece(Piece { length: reply.payload.len(), ends: Some(reply.kind) })
            }
        };
        Ok((step.consumed, found))
    }

    /// A packet that is not reported is complete.
    fn packet(
        &mut self,
        kind: Kind,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        match (kind, self.state) {
            (Kind::Ping, _) => self.codec.message(MessageKind::Text, b"3", out),
            // Those that are reported flow through and do not come here.
            (Kind::Pong | Kind::Nothing | Kind::Event | Kind::Ack, _) => {}
            (Kind::Open, State::Greeting) => {
                self.state = State::Entering;
                self.codec.message(MessageKind::Text, b"40", out);
            }
            (Kind::Connect, State::Entering) => {
                self.state = State::Open;
                return Ok(Some(Event::Open));
            }
            (Kind::Refused, State::Entering) => {
                let detail = "the server refused the default namespace";
                return Err(ProtocolError::new(ErrorClass::Upgrade, detail));
            }
            (Kind::Close | Kind::Disconnect, _) => {
                self.codec.close(out);
                self.state = State::Closed;
                return Ok(Some(Event::Close(Close { code: NO_CODE })));
            }
            (Kind::Open | Kind::Connect | Kind::Refused, _) => {
                return Err(broken("a packet at another time than its own"));
            }
        }
        Ok(None)
    }

    #[cold]
    fn fail(&mut self, error: ProtocolError, out: &mut Vec<u8>) -> ProtocolError {
        self.codec.close(out);
        self.state = State::Closed;
        error
    }

    #[inline]
    fn packets<'a>(
        &mut self,
        input: &'a [u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        let mut offset = 0;
        loop {
            let (taken, found) = self.piece(&input[offset..], scratch, out)?;
            offset += taken;
            let Piece { length, ends } = match found {
                Found::Nothing => return Ok(Step { consumed: offset, event: None }),
                Found::Piece(piece) => piece,
                Found::Upgraded => {
                    self.state = State::Greeting;
                    continue;
                }
                Found::Closed(close) => {
                    self.state = State::Closed;
                    return Ok(Step { consumed: offset, event: Some(Event::Close(close)) });
                }
            };
            let piece = &input[offset - length..offset];
            let content = &piece[self.head.take(piece)..];
            let Some(message) = ends else {
                // What is wrong is said at the end, where all of it is known.
                if let (Ok(Some(tag)), false) = (self.reported(), content.is_empty()) {
                    let event = Event::Chunk { tag, piece: content };
                    return Ok(Step { consumed: offset, event: Some(event) });
                }
                continue;
            };
            if message != MessageKind::Text {
                return Err(broken("a binary message"));
            }
            let kind = self.head.finish()?;
            let event = if let Some(tag) = self.reported()? {
                let kind = MessageKind::Text;
                Some(Event::Reply(Reply { tag, status: 0, kind, payload: content, last: false }))
            } else {
                if let Some(number) = self.head.id().filter(|_| kind == Kind::Ack) {
                    self.cancelled.remove(&number);
                }
                self.packet(kind, out)?
            };
            self.head = Head::default();
            if event.is_some() {
                return Ok(Step { consumed: offset, event });
            }
        }
    }

    /// What the message under way is reported as; none: it is not.
    ///
    /// # Errors
    /// It must not come now, or is an acknowledgement of nothing.
    fn reported(&self) -> Result<Option<Tag>, ProtocolError> {
        let is_in_time = matches!(self.state, State::Open | State::Leaving);
        match self.head.kind() {
            Some(Kind::Ack) if is_in_time => {
                let nothing = broken("an acknowledgement without a number");
                let number = self.head.id().ok_or(nothing)?;
                Ok((!self.cancelled.contains(&number)).then_some(Tag::Number(number)))
            }
            Some(Kind::Ack) => Err(broken("an acknowledgement before the namespace was entered")),
            Some(Kind::Event) if self.acknowledged.is_none() => Ok(None),
            Some(Kind::Event) if is_in_time => Ok(Some(Tag::Oldest)),
            Some(Kind::Event) => Err(broken("an event before the namespace was entered")),
            _ => Ok(None),
        }
    }
}

/// What the WebSocket brought.
enum Found {
    Nothing,
    Upgraded,
    Piece(Piece),
    Closed(Close),
}

impl ClientSession for SocketIoClient {
    fn start(&mut self, out: &mut Vec<u8>) {
        self.codec.start(out);
    }

    fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Its payload is the event's name and arguments, an array of JSON; where it is to be acknowledged, that is
    /// under its number.
    fn encode(&mut self, message: &Message<'_>, out: &mut Vec<u8>) {
        self.draft.clear();
        self.draft.extend_from_slice(b"42");
        let asks = self.acknowledged.as_ref();
        if asks.is_none_or(|asks| asks.get(message.route).is_some_and(|asks| *asks)) {
            // A Vec takes whatever is written to it.
            let _ = write!(self.draft, "{}", message.number);
        }
        self.draft.extend_from_slice(message.payload);
        self.codec.message(MessageKind::Text, &self.draft, out);
    }

    fn cancel(&mut self, number: u64, _out: &mut Vec<u8>) -> bool {
        self.cancelled.len() < MOST_CANCELLED && self.cancelled.insert(number)
    }

    #[inline]
    fn receive<'a>(
        &mut self,
        input: &'a [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        if self.state == State::Closed {
            return Ok(Step { consumed: input.len(), event: None });
        }
        self.packets(input, scratch, out).map_err(|error| self.fail(error, out))
    }

    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError> {
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Closed => Ok(None),
            _ => self.codec.end(),
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.is_open() {
            self.codec.message(MessageKind::Text, b"41", out);
            self.codec.close(out);
            self.state = State::Leaving;
        }
    }
}
