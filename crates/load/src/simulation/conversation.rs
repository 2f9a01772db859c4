//! What a peer hears and says, in the protocol of its connection.
//!
//! Knows the project's own server codecs. Must not know time, nor what a good peer does.

use serde_json::{Value, json};
use wiretrial_net::simulation::Random;
use wiretrial_proto::http1::{BodyLength, Http1Server};
use wiretrial_proto::websocket::WebSocketServer;
use wiretrial_proto::{MessageKind, Scratch, ServerCodec as _, ServerEvent};

/// Which protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spoken {
    Raw,
    Http,
    WebSocket,
}

/// What a right reply is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Right {
    /// What was asked; of a byte stream, so many bytes each time.
    Echo { length: usize },
    /// These bytes, as the plan says.
    Constant(&'static [u8]),
    /// These bytes, as the first reply was.
    Learned(&'static [u8]),
    /// JSON with a certain member.
    Json,
    /// Anything.
    Anything,
}

/// What was heard.
#[derive(Debug)]
pub(super) enum Heard {
    /// A request or a message.
    Message(Vec<u8>),
    /// A request to upgrade, with its key.
    Upgrade(String),
    /// The client closed the conversation.
    Close,
    /// Nothing that can be understood.
    Nonsense,
}

/// One connection's codec, and the message that is coming.
#[derive(Debug)]
pub(super) struct Conversation {
    codec: Codec,
    carry: Vec<u8>,
    message: Vec<u8>,
    /// Of the upgrade request that is coming.
    key: Option<String>,
    scratch: Scratch,
}

#[derive(Debug)]
enum Codec {
    Raw(usize),
    Http(Http1Server),
    WebSocket(WebSocketServer),
}

impl Spoken {
    pub(super) fn url(self) -> &'static str {
        match self {
            Self::Raw => "tcp://127.0.0.1:9",
            Self::Http => "http://127.0.0.1:9/page",
            Self::WebSocket => "ws://127.0.0.1:9/talk",
        }
    }
}

impl Right {
    /// As a plan says it.
    pub(super) fn document(self) -> Value {
        match self {
            Self::Echo { .. } => json!({"is": "echo"}),
            Self::Constant(_) => {
                let base64 = "dGhlIHNhbWUgZXZlcnkgdGltZSwgd2hhdGV2ZXIgaXMgYXNrZWQ=";
                json!({"is": "fixed", "base64": base64})
            }
            Self::Learned(_) => json!({"is": "learned"}),
            Self::Json => json!({"is": "matching", "rules": ["json:ok=true", "json:n"]}),
            Self::Anything => json!({"is": "status"}),
        }
    }

    /// A right reply to this message.
    pub(super) fn reply(self, asked: &[u8], random: &mut Random) -> Vec<u8> {
        match self {
            Self::Echo { .. } => asked.to_vec(),
            Self::Constant(bytes) | Self::Learned(bytes) => bytes.to_vec(),
            Self::Json => format!(r#"{{"n": {}, "ok": true}}"#, random.any()).into_bytes(),
            Self::Anything => vec![b'x'; random.up_to(300) as usize],
        }
    }

    /// A reply to the same that is not right; none where every one is.
    pub(super) fn lie(self, asked: &[u8], random: &mut Random) -> Option<Vec<u8>> {
        let mut reply = self.reply(asked, random);
        match self {
            Self::Anything => return None,
            Self::Json => return Some(br#"{"n": 1, "ok": false}"#.to_vec()),
            _ if reply.is_empty() => return None,
            _ => {}
        }
        let at = random.up_to(reply.len() as u64 - 1) as usize;
        // Text stays text.
        reply[at] = if reply[at] == b'#' { b'~' } else { b'#' };
        Some(reply)
    }
}

impl Conversation {
    pub(super) fn new(spoken: Spoken, right: Right) -> Self {
        let codec = match (spoken, right) {
            (Spoken::Raw, Right::Echo { length }) => Codec::Raw(length),
            (Spoken::Raw, _) => Codec::Raw(1),
            (Spoken::Http | Spoken::WebSocket, _) => Codec::Http(Http1Server::new()),
        };
        Self { codec, carry: Vec::new(), message: Vec::new(), key: None, scratch: Scratch::new() }
    }

    /// Takes bytes in. What the protocol answers by itself is appended to `out`.
    pub(super) fn hear(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Vec<Heard> {
        self.carry.extend_from_slice(bytes);
        let mut heard = Vec::new();
        while let Some(one) = self.next(out) {
            let is_last = matches!(one, Heard::Close | Heard::Nonsense);
            heard.push(one);
            if is_last {
                self.carry.clear();
                break;
            }
        }
        heard
    }

    fn next(&mut self, out: &mut Vec<u8>) -> Option<Heard> {
        if let Codec::Raw(length) = self.codec {
            let whole = self.carry.len() >= length;
            return whole.then(|| Heard::Message(self.carry.drain(..length).collect()));
        }
        loop {
            let (input, scratch) = (&mut self.carry[..], &mut self.scratch);
            let step = match &mut self.codec {
                Codec::Http(codec) => codec.receive(input, scratch, out),
                Codec::WebSocket(codec) => codec.receive(input, scratch, out),
                Codec::Raw(_) => return None,
            };
            let Ok(step) = step else { return Some(Heard::Nonsense) };
            let consumed = step.consumed;
            let mut heard = None;
            let is_over = step.event.is_none();
            match step.event {
                None | Some(ServerEvent::Message(_)) => {}
                Some(ServerEvent::Request(request)) => {
                    self.key = request.websocket_key.map(str::to_owned);
                }
                Some(ServerEvent::Chunk(piece)) => self.message.extend_from_slice(piece),
                Some(ServerEvent::End) => {
                    let message = std::mem::take(&mut self.message);
                    heard = Some(self.key.take().map_or(Heard::Message(message), Heard::Upgrade));
                }
                Some(ServerEvent::Close(_)) => heard = Some(Heard::Close),
            }
            self.carry.drain(..consumed);
            if heard.is_some() || is_over {
                return heard;
            }
        }
    }

    /// Agrees to an upgrade.
    pub(super) fn accept(&mut self, key: &str, out: &mut Vec<u8>) {
        WebSocketServer::accept(key, None, out);
        self.codec = Codec::WebSocket(WebSocketServer::new(1 << 30));
    }

    /// Refuses one.
    pub(super) fn refuse(&mut self, out: &mut Vec<u8>) {
        if let Codec::Http(codec) = &mut self.codec {
            codec.respond(503, "text/plain", b"not now", false, out);
        }
    }

    /// A whole reply, in one of the ways in which it can be framed.
    pub(super) fn say(&mut self, reply: &Said<'_>, random: &mut Random, out: &mut Vec<u8>) {
        let Said { status, body, text, keep_alive } = *reply;
        let middle = random.up_to(body.len() as u64) as usize;
        let split = random.once_in(3);
        match &mut self.codec {
            Codec::Raw(_) => out.extend_from_slice(body),
            Codec::Http(codec) if split => {
                codec.respond_head(status, "text/plain", BodyLength::Chunked, keep_alive, out);
                codec.body_chunk(&body[..middle], out);
                codec.body_chunk(&body[middle..], out);
                codec.body_end(out);
            }
            Codec::Http(codec) => codec.respond(status, "text/plain", body, keep_alive, out),
            Codec::WebSocket(codec) => {
                let kind = if text { MessageKind::Text } else { MessageKind::Binary };
                if random.once_in(6) {
                    codec.ping(b"are you there", out);
                }
                if split {
                    codec.fragment(kind, &body[..middle], true, false, out);
                    codec.fragment(kind, &body[middle..], false, true, out);
                } else {
                    codec.message(kind, body, out);
                }
            }
        }
    }

    /// Pongs that nobody asked for: each is read, and none is a reply.
    pub(super) fn pongs(count: u64, out: &mut Vec<u8>) {
        for _ in 0..count {
            out.extend_from_slice(&[0x8a, 3, b'y', b'e', b's']);
        }
    }

    /// An orderly goodbye; false where the protocol has none.
    pub(super) fn leave(&mut self, code: u16, out: &mut Vec<u8>) -> bool {
        let Codec::WebSocket(codec) = &mut self.codec else { return false };
        codec.close(code, "going", out);
        true
    }
}

/// A reply to be framed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'a> {
    pub(super) status: u16,
    pub(super) body: &'a [u8],
    pub(super) text: bool,
    pub(super) keep_alive: bool,
}
