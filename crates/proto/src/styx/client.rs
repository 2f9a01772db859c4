//! The client's side of a Styx connection: one player at one table.
//!
//! Knows the way log in, join, act; must not know who else sits there, nor which copy is owed.

use std::borrow::Cow;
use std::sync::Arc;

use super::game::{LoadRequest, LoadResponse};
use super::intake::{self, Pieces};
use super::lobby::Lobby;
use super::packet::{OK, Packet};
use super::{Encoding, MAX_PACKET, broken};
use crate::websocket::{WebSocketClient, WebSocketConfig};
use crate::{
    Bulletin, ClientSession, Close, Delivery, ErrorClass, Event, Message, ProtocolError, Scratch,
    Step,
};

/// What all players of one target share.
#[derive(Debug, Clone)]
pub struct StyxConfig {
    /// How packets are written.
    pub encoding: Encoding,
    /// The upgrade to WebSocket, whose kind of message must be the encoding's and whose longest
    /// one [`MAX_PACKET`]; none: a byte stream.
    pub websocket: Option<Arc<WebSocketConfig>>,
    /// Names of the players; the number of each follows.
    pub user: String,
    /// Their password.
    pub password: String,
    /// How long a table shall wait before it responds, milliseconds.
    pub delay: i32,
    /// Each player looks at the lobby, from its login on.
    pub lobby: bool,
}

/// A player: logs in, joins a table, sends [`LoadRequest`]s there, and reports each
/// [`LoadResponse`] of the table as a delivery, its own included; snapshots of the lobby, where it
/// looks at it, as bulletins.
#[derive(Debug)]
pub struct StyxClient {
    config: Arc<StyxConfig>,
    carrier: Carrier,
    seat: Seat,
    pieces: Pieces,
    /// Where a packet is read that does not stand in the input as it is.
    room: Vec<u8>,
    /// Where one is written that is put into something.
    draft: Vec<u8>,
    /// Something came of a packet that is not all there.
    begun: bool,
}

#[derive(Debug)]
enum Carrier {
    Stream,
    /// Boxed, because the other one is empty.
    WebSocket(Box<WebSocketClient>),
}

/// Who the player is, and how far it has come.
#[derive(Debug)]
struct Seat {
    number: u32,
    table: i32,
    /// As the server calls it.
    player: i32,
    state: State,
    lobby: Look,
}

/// Whether the player looks at the lobby, and what it saw there.
#[derive(Debug, Clone, Copy)]
enum Look {
    Away,
    /// It has seen nothing yet.
    Expecting,
    /// The number of the last snapshot.
    Seen(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Upgrading,
    LoggingIn,
    Joining,
    Seated,
    /// It has said that it leaves.
    Leaving,
    Closed,
}

/// What the carrier brought.
enum Found {
    /// Nothing that is whole.
    Nothing,
    /// The upgrade is done.
    Upgraded,
    /// A packet, where it stands in the input.
    Packet(usize, usize),
    /// A packet, out of pieces.
    Assembled,
    /// The conversation ended.
    Closed(Close),
}

impl StyxClient {
    /// A player for one connection: its number, by which it logs in, and its table.
    ///
    /// Masks, over WebSocket, come from `seed`: draw it from the operating system, for each
    /// connection anew.
    pub fn new(config: Arc<StyxConfig>, number: u32, table: i32, seed: [u64; 2]) -> Self {
        let carrier = match &config.websocket {
            None => Carrier::Stream,
            Some(websocket) => {
                Carrier::WebSocket(Box::new(WebSocketClient::new(Arc::clone(websocket), seed)))
            }
        };
        Self {
            config,
            carrier,
            seat: Seat { number, table, player: 0, state: State::New, lobby: Look::Away },
            pieces: Pieces::default(),
            room: Vec::new(),
            draft: Vec::new(),
            begun: false,
        }
    }

    /// Appends a request with this number.
    #[inline]
    fn act(&mut self, seq: u32, out: &mut Vec<u8>) {
        debug_assert!(self.is_open(), "only who sits can act");
        let Seat { table, player, .. } = self.seat;
        let request = LoadRequest { player, table, seq, delay: self.config.delay, resend: false };
        self.room.clear();
        request.append(&mut self.room);
        let data = std::mem::take(&mut self.room);
        self.send(&Packet::Game { table, player, data: &data, attributes: Vec::new() }, out);
        self.room = data;
    }

    fn send(&mut self, packet: &Packet<'_>, out: &mut Vec<u8>) {
        let encoding = self.config.encoding;
        match &mut self.carrier {
            Carrier::Stream => {
                encoding.append(packet, out);
                intake::terminate(encoding, out);
            }
            Carrier::WebSocket(codec) => {
                self.draft.clear();
                encoding.append(packet, &mut self.draft);
                codec.message(encoding.kind(), &self.draft, out);
            }
        }
    }

    fn log_in(&mut self, out: &mut Vec<u8>) {
        self.seat.state = State::LoggingIn;
        let user = format!("{}{}", self.config.user, self.seat.number);
        let password = self.config.password.clone();
        let packet = Packet::LoginRequest {
            user: Cow::Owned(user),
            password: Cow::Owned(password),
            operator: 0,
            credentials: Cow::Borrowed(&[]),
        };
        self.send(&packet, out);
    }

    /// Finds what is next in `input`, and says how much it took.
    #[inline]
    fn find(
        &mut self,
        input: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Found), ProtocolError> {
        let encoding = self.config.encoding;
        let Carrier::WebSocket(codec) = &mut self.carrier else {
            return Ok(match intake::frame(encoding, input)? {
                None => (0, Found::Nothing),
                Some(framed) => {
                    (framed.consumed, Found::Packet(framed.packet.start, framed.packet.end))
                }
            });
        };
        let mut offset = 0;
        loop {
            let step = codec.receive(&input[offset..], scratch, out)?;
            offset += step.consumed;
            match step.event {
                None => return Ok((offset, Found::Nothing)),
                Some(Event::Open) => return Ok((offset, Found::Upgraded)),
                Some(Event::Close(close)) => return Ok((offset, Found::Closed(close))),
                Some(Event::Chunk { piece, .. }) => self.pieces.add(piece),
                Some(Event::Reply(reply)) => {
                    intake::check_kind(encoding, reply.kind)?;
                    if self.pieces.is_begun() {
                        self.pieces.add(reply.payload);
                        self.pieces.complete();
                        return Ok((offset, Found::Assembled));
                    }
                    // Without compression, what was taken last is the payload.
                    return Ok((offset, Found::Packet(offset - reply.payload.len(), offset)));
                }
                // A WebSocket alone has none of these.
                Some(
                    Event::Room
                    | Event::Head(_)
                    | Event::Trailers(_)
                    | Event::Failed { .. }
                    | Event::Parted(_)
                    | Event::Delivery(_)
                    | Event::Bulletin(_)
                    | Event::Unprocessed { .. }
                    | Event::Leaving,
                ) => {}
            }
        }
    }
}

impl Seat {
    /// What a packet means to the player: an event, or something to say.
    #[inline]
    fn hear(
        &mut self,
        packet: &Packet<'_>,
    ) -> Result<(Option<Event<'static>>, Answer), ProtocolError> {
        match (packet, self.state) {
            (Packet::Game { table, data, .. }, State::Seated | State::Leaving) => {
                let Some(response) = LoadResponse::read(data)? else {
                    return Ok((None, Answer::None));
                };
                let delivery = Delivery {
                    origin: response.player,
                    number: response.seq.into(),
                    own: response.player == self.player,
                    intact: response.table == self.table
                        && *table == self.table
                        && !response.resend,
                    payload: None,
                };
                return Ok((Some(Event::Delivery(delivery)), Answer::None));
            }
            (Packet::LoginResponse { status, player, .. }, State::LoggingIn) => {
                if *status != OK {
                    return Err(refused("the server refused the player's login"));
                }
                self.player = *player;
                self.state = State::Joining;
                return Ok((None, Answer::Join));
            }
            (Packet::JoinResponse { status, table, .. }, State::Joining) => {
                if *status != OK {
                    return Err(refused("the server refused the player a seat at its table"));
                }
                if *table != self.table {
                    return Err(broken("a seat at another table than the one asked for"));
                }
                self.state = State::Seated;
                return Ok((Some(Event::Open), Answer::None));
            }
            (Packet::LobbySnapshot(lobby), _) => {
                let bulletin = self.look(lobby)?;
                return Ok((Some(Event::Bulletin(bulletin)), Answer::None));
            }
            (Packet::LoginResponse { .. } | Packet::JoinResponse { .. }, _) => {
                return Err(broken("a response that nobody asked for"));
            }
            (Packet::Ping { id }, _) => return Ok((None, Answer::Ping(*id))),
            (Packet::Bad { .. }, _) => {
                return Err(broken("the server did not understand a packet"));
            }
            _ => {}
        }
        Ok((None, Answer::None))
    }

    /// What a snapshot of the lobby is, behind those that came.
    fn look(&mut self, lobby: &Lobby) -> Result<Bulletin, ProtocolError> {
        let ahead = match self.lobby {
            Look::Away => return Err(broken("a snapshot of the lobby that nobody asked for")),
            Look::Expecting => 0,
            Look::Seen(last) => lobby.seq.wrapping_sub(last.wrapping_add(1)).cast_signed(),
        };
        if ahead >= 0 {
            self.lobby = Look::Seen(lobby.seq);
        }
        Ok(Bulletin {
            missed: ahead.max(0).unsigned_abs(),
            late: ahead < 0,
            intact: lobby.is_consistent(),
        })
    }
}

/// What the client says to what it heard.
enum Answer {
    None,
    Join,
    Ping(i32),
}

impl ClientSession for StyxClient {
    fn start(&mut self, out: &mut Vec<u8>) {
        match &mut self.carrier {
            Carrier::Stream => self.log_in(out),
            Carrier::WebSocket(codec) => {
                codec.start(out);
                self.seat.state = State::Upgrading;
            }
        }
    }

    fn is_open(&self) -> bool {
        self.seat.state == State::Seated
    }

    fn member(&self) -> Option<i32> {
        Some(self.seat.player)
    }

    /// A payload has no place in it. A player's numbers are of 32 bits and follow each other.
    #[inline]
    fn encode(&mut self, message: &Message<'_>, out: &mut Vec<u8>) {
        self.act(message.number as u32, out);
    }

    /// A copy that comes after all is a delivery like any other.
    fn cancel(&mut self, _number: u64, _out: &mut Vec<u8>) -> bool {
        true
    }

    #[inline]
    fn receive<'a>(
        &mut self,
        input: &'a [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        let mut offset = 0;
        loop {
            if self.seat.state == State::Closed {
                return Ok(Step { consumed: input.len(), event: None });
            }
            let (taken, found) = match self.find(&input[offset..], scratch, out) {
                Ok(found) => found,
                Err(error) => return Err(self.fail(error)),
            };
            let from = offset;
            offset += taken;
            let packet = match found {
                Found::Nothing => {
                    self.begun = offset < input.len() || self.pieces.is_begun();
                    return Ok(Step { consumed: offset, event: None });
                }
                Found::Upgraded => {
                    self.log_in(out);
                    continue;
                }
                Found::Closed(close) => {
                    self.seat.state = State::Closed;
                    return Ok(Step { consumed: offset, event: Some(Event::Close(close)) });
                }
                Found::Packet(start, end) => &input[from + start..from + end],
                Found::Assembled => self.pieces.bytes(),
            };
            let heard = self
                .config
                .encoding
                .read(packet, &mut self.room)
                .and_then(|packet| self.seat.hear(&packet));
            let (event, answer) = match heard {
                Ok(heard) => heard,
                Err(error) => return Err(self.fail(error)),
            };
            match answer {
                Answer::None => {}
                Answer::Join => {
                    if self.config.lobby {
                        self.seat.lobby = Look::Expecting;
                        self.send(&Packet::LobbySubscribe, out);
                    }
                    self.send(&Packet::JoinRequest { table: self.seat.table, seat: -1 }, out);
                }
                Answer::Ping(id) => self.send(&Packet::Ping { id }, out),
            }
            if event.is_some() {
                return Ok(Step { consumed: offset, event });
            }
        }
    }

    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError> {
        let state = std::mem::replace(&mut self.seat.state, State::Closed);
        let truncated = |detail| Err(ProtocolError::new(ErrorClass::Truncated, detail));
        match state {
            State::Closed => Ok(None),
            _ if self.begun => truncated("the connection ended inside a packet"),
            State::Seated | State::Leaving => match &mut self.carrier {
                Carrier::Stream => Ok(None),
                Carrier::WebSocket(codec) => codec.end(),
            },
            _ => truncated("the connection ended before the player sat at its table"),
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if !self.is_open() {
            return;
        }
        self.send(&Packet::LeaveRequest { table: self.seat.table }, out);
        if let Carrier::WebSocket(codec) = &mut self.carrier {
            codec.close(out);
        }
        self.seat.state = State::Leaving;
    }
}

impl StyxClient {
    #[cold]
    fn fail(&mut self, error: ProtocolError) -> ProtocolError {
        self.seat.state = State::Closed;
        error
    }
}

impl StyxConfig {
    /// The limit that the upgrade's configuration must have.
    pub const MAX_MESSAGE: u64 = MAX_PACKET as u64;
}

#[cold]
const fn refused(detail: &'static str) -> ProtocolError {
    ProtocolError::new(ErrorClass::Upgrade, detail)
}
