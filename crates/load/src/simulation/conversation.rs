//! What a peer hears and says, in the protocol of its connection.
//!
//! Knows the project's own server codecs. Must not know time, nor what a good peer does.

use std::borrow::Cow;

use wiretrial_net::simulation::Random;
use wiretrial_proto::http1::{BodyLength, Http1Server};
use wiretrial_proto::socketio::{SocketIoEvent, SocketIoServer};
use wiretrial_proto::styx::{LoadRequest, LoadResponse, Lobby, OK, Packet, StyxEvent, StyxServer};
use wiretrial_proto::websocket::{DeflateAnswer, DeflateConfig, WebSocketServer};
use wiretrial_proto::{MessageKind, ProtocolError, Scratch, ServerCodec as _, ServerEvent};

use super::events;
use super::frames::{Frame, Frames};
use super::spoken::{Over, Right, Spoken};

/// Longest message that is taken.
const MAX_MESSAGE: u64 = 1 << 30;
/// Status of what is not granted.
const DENIED: u8 = 2;

/// What was asked, and its number where the protocol has numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) number: u64,
    pub(super) body: Vec<u8>,
}

/// The status of a reply that leads elsewhere, with all that was sent.
pub(super) const REDIRECT: u16 = 307;

/// What was heard.
#[derive(Debug)]
pub(super) enum Heard {
    /// A request or a message.
    Message(Asked),
    /// A request to upgrade, with its key and the compression that is agreed on.
    Upgrade(String, Option<DeflateAnswer>),
    /// It entered the namespace of Socket.IO, and that was answered.
    Entered,
    /// A player comes, with this name.
    Login(String),
    /// It wants to sit at this table.
    Join(i32),
    /// It looks at the lobby from now on.
    Look,
    /// A client of the multiplexed protocol comes.
    Hello,
    /// It no longer wants the reply to this message, which was not answered.
    Cancelled(u64),
    /// The client closed the conversation.
    Close,
    /// Nothing that can be understood.
    Nonsense,
}

/// One connection's codec, and the message that is coming.
#[derive(Debug)]
pub(super) struct Conversation {
    spoken: Spoken,
    /// Users have conversations.
    talks: bool,
    codec: Codec,
    /// As far as which it compresses messages, where the client offers it.
    deflate: Option<DeflateConfig>,
    carry: Vec<u8>,
    message: Vec<u8>,
    /// Of the upgrade request that is coming.
    upgrade: Option<(String, Option<DeflateAnswer>)>,
    scratch: Scratch,
}

#[derive(Debug)]
enum Codec {
    Raw(usize),
    Http(Http1Server),
    WebSocket(WebSocketServer),
    SocketIo(SocketIoServer),
    Styx(StyxServer, Seat),
    Frames(Frames),
}

/// Who sits where.
#[derive(Debug, Default)]
struct Seat {
    player: i32,
    table: i32,
    /// Number of the next action; none before the first one.
    next: Option<u32>,
}

impl Conversation {
    pub(super) fn new(spoken: Spoken, right: Right, deflate: Option<DeflateConfig>) -> Self {
        let codec = match (spoken, right) {
            (Spoken::Raw, Right::Echo { length }) => Codec::Raw(length),
            (Spoken::Raw, _) => Codec::Raw(1),
            (Spoken::Multiplexed, _) => Codec::Frames(Frames::default()),
            (Spoken::Styx(encoding, Over::Stream), _) => {
                Codec::Styx(StyxServer::stream(encoding), Seat::default())
            }
            _ => Codec::Http(Http1Server::new()),
        };
        Self {
            spoken,
            talks: matches!(right, Right::Talk),
            codec,
            deflate,
            carry: Vec::new(),
            message: Vec::new(),
            upgrade: None,
            scratch: Scratch::new(),
        }
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
        loop {
            let found = match &mut self.codec {
                Codec::Raw(length) => {
                    let (length, whole) = (*length, self.carry.len() >= *length);
                    return whole.then(|| plain(self.carry.drain(..length).collect()));
                }
                Codec::SocketIo(codec) => {
                    event(codec, self.talks, &mut self.carry, &mut self.scratch, out)
                }
                Codec::Styx(codec, seat) => {
                    packet(codec, seat, &mut self.carry, &mut self.scratch, out)
                }
                Codec::Frames(frames) => frame(frames, &self.carry),
                Codec::Http(_) | Codec::WebSocket(_) => self.message(out),
            };
            let Ok((consumed, found)) = found else { return Some(Heard::Nonsense) };
            self.carry.drain(..consumed);
            match found {
                Found::Nothing => return None,
                Found::Part => {}
                Found::Heard(heard) => return Some(heard),
            }
        }
    }

    /// The next step of HTTP or WebSocket.
    fn message(&mut self, out: &mut Vec<u8>) -> Result<(usize, Found), ProtocolError> {
        let (input, scratch) = (&mut self.carry[..], &mut self.scratch);
        let step = match &mut self.codec {
            Codec::Http(codec) => codec.receive(input, scratch, out)?,
            Codec::WebSocket(codec) => codec.receive(input, scratch, out)?,
            _ => return Ok((0, Found::Nothing)),
        };
        let mut found = Found::Part;
        match step.event {
            None => found = Found::Nothing,
            Some(ServerEvent::Message(_)) => {}
            Some(ServerEvent::Request(request)) => {
                let extensions = &request.websocket_extensions;
                let answer = self.deflate.as_ref().and_then(|it| extensions.accept_deflate(it));
                self.upgrade = request.websocket_key.map(|key| (key.to_owned(), answer));
            }
            Some(ServerEvent::Chunk(piece)) => self.message.extend_from_slice(piece),
            Some(ServerEvent::End) => {
                let message = std::mem::take(&mut self.message);
                found = Found::Heard(match self.upgrade.take() {
                    Some((key, answer)) => Heard::Upgrade(key, answer),
                    None => plain(message),
                });
            }
            Some(ServerEvent::Close(_)) => found = Found::Heard(Heard::Close),
        }
        Ok((step.consumed, found))
    }

    /// Agrees to an upgrade, and greets as the protocol does.
    pub(super) fn accept(
        &mut self,
        key: &str,
        deflate: Option<&DeflateAnswer>,
        session: u64,
        out: &mut Vec<u8>,
    ) {
        match deflate {
            None => WebSocketServer::accept(key, None, out),
            Some(answer) => WebSocketServer::accept_deflate(key, None, answer, out),
        }
        self.codec = match self.spoken {
            Spoken::SocketIo => {
                let mut codec = SocketIoServer::new(session, MAX_MESSAGE);
                codec.greet(out);
                Codec::SocketIo(codec)
            }
            Spoken::Styx(encoding, _) => {
                Codec::Styx(StyxServer::websocket(encoding), Seat::default())
            }
            _ => Codec::WebSocket(match deflate {
                None => WebSocketServer::new(MAX_MESSAGE),
                Some(answer) => WebSocketServer::with_deflate(MAX_MESSAGE, answer),
            }),
        };
    }

    /// Refuses one.
    pub(super) fn refuse(&mut self, out: &mut Vec<u8>) {
        if let Codec::Http(codec) = &mut self.codec {
            codec.respond(503, "text/plain", b"not now", false, out);
        }
    }

    /// Lets a player in under this number, or not.
    pub(super) fn log_in(&mut self, name: String, player: i32, granted: bool, out: &mut Vec<u8>) {
        let Codec::Styx(codec, seat) = &mut self.codec else { return };
        seat.player = player;
        let packet = Packet::LoginResponse {
            name: Cow::Owned(name),
            player,
            status: if granted { OK } else { DENIED },
            code: 0,
            message: Cow::Borrowed(""),
            credentials: Cow::Borrowed(&[]),
        };
        codec.send(&packet, out);
    }

    /// Says that a player sits at this table.
    pub(super) fn seat(&mut self, table: i32, out: &mut Vec<u8>) {
        let Codec::Styx(codec, seat) = &mut self.codec else { return };
        seat.table = table;
        codec.send(&Packet::JoinResponse { table, seat: 0, status: OK, code: 0 }, out);
    }

    /// The server of the multiplexed protocol.
    pub(super) fn frames(&mut self) -> Option<&mut Frames> {
        match &mut self.codec {
            Codec::Frames(frames) => Some(frames),
            _ => None,
        }
    }

    /// The player, and its table; the same for everybody where there are none.
    pub(super) fn place(&self) -> (i32, i32) {
        match &self.codec {
            Codec::Styx(_, seat) => (seat.player, seat.table),
            _ => (0, 0),
        }
    }

    /// Tells how the lobby is.
    pub(super) fn show(&mut self, lobby: Lobby, out: &mut Vec<u8>) {
        if let Codec::Styx(codec, _) = &mut self.codec {
            codec.send(&Packet::LobbySnapshot(lobby), out);
        }
    }

    /// A whole reply, in one of the ways in which it can be framed.
    pub(super) fn say(&mut self, reply: &Said<'_>, random: &mut Random, out: &mut Vec<u8>) {
        let Said { number, origin, status, body, text, keep_alive, altered } = *reply;
        let middle = random.up_to(body.len() as u64) as usize;
        let split = random.once_in(3);
        let begin = out.len();
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
            Codec::SocketIo(codec) if self.talks => events::say(codec, number, body, out),
            Codec::SocketIo(codec) => codec.acknowledge(number, body, out),
            Codec::Frames(frames) => {
                let (begin, end) = body.split_at(if split { middle } else { 0 });
                if split {
                    Frames::piece(number, begin, out);
                }
                frames.end(number, end, !keep_alive, out);
            }
            Codec::Styx(codec, seat) => {
                let (table, seq) = (seat.table, number as u32);
                let player = origin.unwrap_or(seat.player);
                let mut data = Vec::new();
                LoadResponse { player, table, seq, resend: altered }.append(&mut data);
                let data = &data[..];
                codec.send(&Packet::Game { table, player, data, attributes: Vec::new() }, out);
            }
        }
        if status == REDIRECT {
            let line = out[begin..].windows(2).position(|end| end == b"\r\n");
            let place = begin + line.map_or(0, |line| line + 2);
            out.splice(place..place, *b"Location: elsewhere?again\r\n");
        }
    }

    /// What is no reply, and must be read all the same: pongs that nobody asked for, heartbeats,
    /// events.
    pub(super) fn chatter(&mut self, count: u64, out: &mut Vec<u8>) {
        for number in 0..count {
            match &mut self.codec {
                Codec::WebSocket(_) => out.extend_from_slice(&[0x8a, 3, b'y', b'e', b's']),
                Codec::SocketIo(codec) if number % 2 == 0 => codec.emit(br#"["news"]"#, out),
                // A heartbeat of Engine.IO.
                Codec::SocketIo(_) => out.extend_from_slice(&[0x81, 1, b'2']),
                Codec::Styx(codec, _) => codec.send(&Packet::Ping { id: number as i32 }, out),
                Codec::Frames(_) => Frames::news(out),
                Codec::Raw(_) | Codec::Http(_) => {}
            }
        }
    }

    /// An orderly goodbye; false where the protocol has none.
    pub(super) fn leave(&mut self, code: u16, out: &mut Vec<u8>) -> bool {
        match &mut self.codec {
            Codec::WebSocket(codec) => codec.close(code, "going", out),
            Codec::SocketIo(codec) => codec.close(code, out),
            Codec::Styx(codec, _) => codec.close(code, out),
            Codec::Frames(_) => Frames::leave(out),
            Codec::Raw(_) | Codec::Http(_) => return false,
        }
        true
    }
}

/// A reply to be framed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'a> {
    /// Number of what it answers.
    pub(super) number: u64,
    /// The player that asked; none: the one on this connection.
    pub(super) origin: Option<i32>,
    pub(super) status: u16,
    pub(super) body: &'a [u8],
    pub(super) text: bool,
    pub(super) keep_alive: bool,
    /// It does not say what it must, where that stands in no body.
    pub(super) altered: bool,
}

impl<'a> Said<'a> {
    /// A reply like most.
    pub(super) fn of(body: &'a [u8]) -> Self {
        Self {
            number: 0,
            origin: None,
            status: 200,
            body,
            text: false,
            keep_alive: true,
            altered: false,
        }
    }
}

/// What came of the next bytes.
enum Found {
    /// More of them are needed.
    Nothing,
    /// A part of something.
    Part,
    Heard(Heard),
}

fn plain(body: Vec<u8>) -> Heard {
    Heard::Message(Asked { number: 0, body })
}

/// The next step of the multiplexed protocol.
fn frame(frames: &mut Frames, input: &[u8]) -> Result<(usize, Found), ProtocolError> {
    let Some((consumed, frame)) = frames.next(input)? else { return Ok((0, Found::Nothing)) };
    let found = match frame {
        Frame::Hello => Found::Heard(Heard::Hello),
        Frame::Message(number, body) => Found::Heard(Heard::Message(Asked { number, body })),
        Frame::Cancelled(number) => Found::Heard(Heard::Cancelled(number)),
        Frame::Goodbye => Found::Heard(Heard::Close),
        Frame::Other => Found::Part,
        Frame::Nonsense => Found::Heard(Heard::Nonsense),
    };
    Ok((consumed, found))
}

/// The next step of Socket.IO.
fn event(
    codec: &mut SocketIoServer,
    talks: bool,
    input: &mut [u8],
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<(usize, Found), ProtocolError> {
    let step = codec.receive(input, scratch, out)?;
    let found = match step.event {
        None => Found::Nothing,
        Some(SocketIoEvent::Connected) => Found::Heard(Heard::Entered),
        Some(SocketIoEvent::Event { id, arguments }) if talks => {
            Found::Heard(Heard::Message(Asked {
                number: id.unwrap_or_default(),
                body: events::heard(arguments),
            }))
        }
        Some(SocketIoEvent::Event { id: None, .. }) => Found::Heard(Heard::Nonsense),
        Some(SocketIoEvent::Event { id: Some(number), arguments }) => {
            Found::Heard(Heard::Message(Asked { number, body: arguments.to_vec() }))
        }
        Some(SocketIoEvent::Close) => Found::Heard(Heard::Close),
    };
    Ok((step.consumed, found))
}

/// The next step of Styx.
fn packet(
    codec: &mut StyxServer,
    seat: &mut Seat,
    input: &mut [u8],
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<(usize, Found), ProtocolError> {
    let step = codec.receive(input, scratch, out)?;
    let mut left = None;
    let found = match step.event {
        None => Found::Nothing,
        Some(StyxEvent::Close) => Found::Heard(Heard::Close),
        Some(StyxEvent::Packet(packet)) => match packet {
            Packet::LoginRequest { user, .. } => Found::Heard(Heard::Login(user.into_owned())),
            Packet::JoinRequest { table, .. } => Found::Heard(Heard::Join(table)),
            Packet::LobbySubscribe => Found::Heard(Heard::Look),
            Packet::LeaveRequest { table } => {
                left = Some(table);
                Found::Part
            }
            // It answers one of ours.
            Packet::Ping { .. } => Found::Part,
            Packet::Game { table, data, .. } => match LoadRequest::read(data)? {
                Some(request) if table == seat.table => Found::Heard(seat.act(&request)),
                _ => Found::Heard(Heard::Nonsense),
            },
            _ => Found::Heard(Heard::Nonsense),
        },
    };
    let consumed = step.consumed;
    if let Some(table) = left {
        codec.send(&Packet::LeaveResponse { table, status: OK, code: 0 }, out);
    }
    Ok((consumed, found))
}

impl Seat {
    /// A player's numbers follow one another.
    fn act(&mut self, request: &LoadRequest) -> Heard {
        let LoadRequest { player, table, seq, resend, .. } = *request;
        let right = player == self.player
            && table == self.table
            && !resend
            && self.next.is_none_or(|next| next == seq);
        self.next = Some(seq.wrapping_add(1));
        if right {
            Heard::Message(Asked { number: seq.into(), body: Vec::new() })
        } else {
            Heard::Nonsense
        }
    }
}
