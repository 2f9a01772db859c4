//! The server's side of a Socket.IO connection.
//!
//! Knows the greeting, the namespace, events and acknowledgements; must not know what is asked for.

use std::io::Write as _;

use super::head::{Head, Kind, broken};
use crate::websocket::WebSocketServer;
use crate::{MessageKind, ProtocolError, Scratch, ServerCodec as _, ServerEvent, Step};

/// How often the server is said to send a heartbeat, milliseconds: a day. It sends none.
const HEARTBEAT: u64 = 86_400_000;

/// A server for one connection, after its upgrade. Events are held until they are complete.
#[derive(Debug)]
pub struct SocketIoServer {
    codec: WebSocketServer,
    session: u64,
    max_message: u64,
    connected: bool,
    closed: bool,
    head: Head,
    kind: MessageKind,
    /// Content of the message under way, or of the last one.
    content: Vec<u8>,
    draft: Vec<u8>,
}

/// What a client said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketIoEvent<'a> {
    /// It entered the default namespace; the answer is in `out`.
    Connected,
    /// An event.
    Event {
        /// Under which number it wants to have it acknowledged; none: it does not.
        id: Option<u64>,
        /// Name and arguments, an array of JSON.
        arguments: &'a [u8],
    },
    /// It left; the answer is in `out`.
    Close,
}

impl SocketIoServer {
    /// A server for one connection that accepts messages up to this many bytes. No two sessions
    /// should have the same number.
    pub fn new(session: u64, max_message: u64) -> Self {
        Self {
            codec: WebSocketServer::new(max_message),
            session,
            max_message,
            connected: false,
            closed: false,
            head: Head::default(),
            kind: MessageKind::Text,
            content: Vec::new(),
            draft: Vec::new(),
        }
    }

    /// Appends the greeting: first of all, behind the answer to the upgrade.
    pub fn greet(&mut self, out: &mut Vec<u8>) {
        self.draft.clear();
        // A Vec takes whatever is written to it.
        let _ = write!(
            self.draft,
            r#"0{{"sid":"{:016x}","upgrades":[],"pingInterval":{HEARTBEAT},"pingTimeout":20000,"maxPayload":{}}}"#,
            self.session, self.max_message
        );
        self.codec.message(MessageKind::Text, &self.draft, out);
    }

    /// Appends an acknowledgement with this array of JSON.
    pub fn acknowledge(&mut self, id: u64, content: &[u8], out: &mut Vec<u8>) {
        self.draft.clear();
        // As above.
        let _ = write!(self.draft, "43{id}");
        self.draft.extend_from_slice(content);
        self.codec.message(MessageKind::Text, &self.draft, out);
    }

    /// Appends an event that nobody is to acknowledge: name and arguments, an array of JSON.
    pub fn emit(&mut self, arguments: &[u8], out: &mut Vec<u8>) {
        self.draft.clear();
        self.draft.extend_from_slice(b"42");
        self.draft.extend_from_slice(arguments);
        self.codec.message(MessageKind::Text, &self.draft, out);
    }

    /// Takes bytes from the front of `input`, as [`ServerCodec`](crate::ServerCodec) does.
    ///
    /// # Errors
    /// The client broke the protocol: [`close`](Self::close) with 1002, and close the connection.
    pub fn receive<'s>(
        &'s mut self,
        input: &mut [u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<SocketIoEvent<'s>>, ProtocolError> {
        let mut offset = 0;
        loop {
            if self.closed {
                return Ok(Step { consumed: input.len(), event: None });
            }
            let step = self.codec.receive(&mut input[offset..], scratch, out)?;
            offset += step.consumed;
            match step.event {
                None => return Ok(Step { consumed: offset, event: None }),
                Some(ServerEvent::Message(kind)) => {
                    self.kind = kind;
                    self.head = Head::default();
                    self.content.clear();
                }
                Some(ServerEvent::Chunk(piece)) => {
                    let head = self.head.take(piece);
                    self.content.extend_from_slice(&piece[head..]);
                }
                Some(ServerEvent::End) => {
                    let kind = self.complete()?;
                    match kind {
                        Kind::Connect => self.connect(out),
                        Kind::Ping => self.pong(out),
                        Kind::Close | Kind::Disconnect => self.close(1000, out),
                        _ => {}
                    }
                    let event = match kind {
                        Kind::Connect => SocketIoEvent::Connected,
                        Kind::Event => {
                            let (id, arguments) = (self.head.id(), &self.content[..]);
                            SocketIoEvent::Event { id, arguments }
                        }
                        Kind::Close | Kind::Disconnect => SocketIoEvent::Close,
                        _ => continue,
                    };
                    return Ok(Step { consumed: offset, event: Some(event) });
                }
                Some(ServerEvent::Close(_) | ServerEvent::Request(_)) => {
                    self.closed = true;
                    return Ok(Step { consumed: offset, event: Some(SocketIoEvent::Close) });
                }
            }
        }
    }

    /// Appends a close frame, once.
    pub fn close(&mut self, code: u16, out: &mut Vec<u8>) {
        self.closed = true;
        self.codec.close(code, "", out);
    }

    /// A message is complete: may it come now?
    fn complete(&self) -> Result<Kind, ProtocolError> {
        if self.kind != MessageKind::Text {
            return Err(broken("a binary message"));
        }
        match self.head.finish()? {
            Kind::Event if !self.connected => {
                Err(broken("an event before the namespace was entered"))
            }
            Kind::Connect if self.connected => Err(broken("a namespace that was entered before")),
            Kind::Connect if !matches!(self.content.first(), None | Some(b'{')) => {
                Err(broken("another namespace than the default one"))
            }
            Kind::Open | Kind::Refused => Err(broken("a packet that only a server may send")),
            kind => Ok(kind),
        }
    }

    fn connect(&mut self, out: &mut Vec<u8>) {
        self.connected = true;
        self.draft.clear();
        // As above.
        let _ = write!(self.draft, r#"40{{"sid":"{:016x}"}}"#, self.session);
        self.codec.message(MessageKind::Text, &self.draft, out);
    }

    fn pong(&mut self, out: &mut Vec<u8>) {
        self.draft.clear();
        self.draft.push(b'3');
        self.draft.extend_from_slice(&self.content);
        self.codec.message(MessageKind::Text, &self.draft, out);
    }
}
