//! A player's connection to its table.
//!
//! Knows what a player may ask for and when. Must not know the other players (the hub does).

use std::borrow::Cow;
use std::convert::Infallible;
use std::mem;
use std::ops::ControlFlow;

use wiretrial_net::clock::monotonic_ns;
use wiretrial_proto::styx::{
    Encoding, LoadRequest, LoadResponse, Lobby, OK, Packet, StyxEvent, StyxServer, class,
};
use wiretrial_proto::{ProtocolError, Scratch, Step};

use super::Conversation;
use crate::hub::{Member, Memberships, Notice};
use crate::sink::{Ending, Sink};

/// Status of a request that is denied.
const DENIED: u8 = 2;
/// Error of a packet whose class the server does not answer.
const UNKNOWN: u8 = 0;
/// Error of a packet that this player must not send now.
const NOT_NOW: u8 = 1;
/// Nanoseconds in a millisecond, the unit of a player's delay.
const MILLISECOND: u64 = 1_000_000;

#[derive(Debug)]
pub(crate) struct StyxConversation {
    /// None: the first byte, which tells the encoding, has not come.
    codec: Option<StyxServer>,
    player: Option<i32>,
    table: Option<i32>,
    /// Number of the next action; none before the first one.
    next: Option<u32>,
    watches_lobby: bool,
    /// Where a packet of the game is written.
    data: Vec<u8>,
}

/// What a player asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    LogIn(String),
    Join {
        table: i32,
        seat: i8,
    },
    Leave(i32),
    Ping(i32),
    Act {
        table: i32,
        request: LoadRequest,
    },
    WatchLobby,
    /// A packet of a class that the server does not answer.
    Unknown {
        class: u8,
    },
    /// The player closed the conversation, and the codec answered.
    Close,
}

impl StyxConversation {
    /// On a byte stream.
    pub(crate) fn stream() -> Self {
        Self {
            codec: None,
            player: None,
            table: None,
            next: None,
            watches_lobby: false,
            data: Vec::new(),
        }
    }

    /// Over WebSocket, behind the upgrade.
    pub(crate) fn websocket() -> Self {
        Self { codec: Some(StyxServer::websocket_of_any_kind()), ..Self::stream() }
    }
}

impl Conversation for StyxConversation {
    type Event<'a> = Request;
    type Upgrade = Infallible;

    fn receive<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Request>, ProtocolError> {
        let Some(first) = input.first() else { return Ok(Step { consumed: 0, event: None }) };
        // A binary packet begins with its length, of which the first byte is 0.
        let encoding = if *first == b'{' { Encoding::Json } else { Encoding::Binary };
        let codec = self.codec.get_or_insert_with(|| StyxServer::stream(encoding));
        let step = codec.receive(input, scratch, out)?;
        let request = match step.event {
            None => None,
            Some(StyxEvent::Close) => Some(Request::Close),
            Some(StyxEvent::Packet(packet)) => Some(request(&packet)?),
        };
        Ok(Step { consumed: step.consumed, event: request })
    }

    fn on_event(
        &mut self,
        request: &mut Request,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) -> ControlFlow<Infallible> {
        if *request == Request::Close {
            sink.finish(Ending::Orderly);
        } else if let Some(answer) = self.answer(request, member) {
            self.codec().send(&answer, sink.out);
        }
        ControlFlow::Continue(())
    }

    fn on_error(&mut self, _start: usize, sink: &mut Sink<'_>) {
        self.codec().refuse(sink.out);
    }

    fn on_notice(&mut self, notice: &Notice, sink: &mut Sink<'_>, _member: &mut Member<'_>) {
        match notice {
            Notice::Response(response) => self.pass_on(*response, sink),
            Notice::Lobby(lobby) => {
                // It is no reply: the script does not apply to it.
                self.codec().send(&Packet::LobbySnapshot(Lobby::clone(lobby)), sink.out);
                sink.settle();
            }
            Notice::Broadcast(_) | Notice::Due { .. } => {}
        }
    }

    fn go_away(&mut self, out: &mut Vec<u8>) {
        if let Some(codec) = &mut self.codec {
            codec.close(1001, out);
        }
    }

    fn memberships(&self) -> Memberships {
        Memberships { table: self.table, lobby: self.watches_lobby, ..Memberships::default() }
    }
}

impl StyxConversation {
    fn codec(&mut self) -> &mut StyxServer {
        // A client that is answered has sent something, so its encoding is known.
        self.codec.get_or_insert_with(|| StyxServer::stream(Encoding::Binary))
    }

    /// The packet that answers a request; none: there is none, or the table answers later.
    fn answer(
        &mut self,
        request: &mut Request,
        member: &mut Member<'_>,
    ) -> Option<Packet<'static>> {
        Some(match *request {
            Request::Close => return None,
            Request::Ping(id) => Packet::Ping { id },
            Request::Unknown { class } => Packet::Bad { class, error: UNKNOWN },
            Request::LogIn(ref mut name) => self.log_in(mem::take(name), member),
            Request::Join { table, seat } => self.join(table, seat, member),
            Request::Leave(table) => self.leave(table, member),
            Request::WatchLobby if self.player.is_some() => {
                if !mem::replace(&mut self.watches_lobby, true) {
                    member.watch_lobby(monotonic_ns());
                }
                return None;
            }
            Request::WatchLobby => Packet::Bad { class: class::LOBBY_SUBSCRIBE, error: NOT_NOW },
            Request::Act { table, request } => {
                let allowed = self.table == Some(table)
                    && self.table == Some(request.table)
                    && self.player == Some(request.player)
                    && self.next.is_none_or(|next| next == request.seq);
                if allowed {
                    self.act(request, member);
                    return None;
                }
                Packet::Bad { class: class::GAME, error: NOT_NOW }
            }
        })
    }

    /// Sends the player what its table responded.
    fn pass_on(&mut self, response: LoadResponse, sink: &mut Sink<'_>) {
        let mut reply = sink.begin();
        let mut data = mem::take(&mut self.data);
        data.clear();
        response.append(&mut data);
        // Its last byte says whether the action was sent again: altered, it is still a packet.
        reply.alter(&mut data);
        let LoadResponse { table, player, .. } = response;
        let packet = Packet::Game { table, player, data: &data, attributes: Vec::new() };
        self.codec().send(&packet, sink.out);
        self.data = data;
        sink.end(reply);
    }

    fn log_in(&mut self, name: String, member: &Member<'_>) -> Packet<'static> {
        let again = self.player.is_some();
        let player = *self.player.get_or_insert_with(|| member.number_player(&name));
        Packet::LoginResponse {
            name: Cow::Owned(name),
            player,
            status: if again { DENIED } else { OK },
            code: 0,
            message: Cow::Borrowed(if again { "logged in already" } else { "" }),
            credentials: Cow::Borrowed(&[]),
        }
    }

    fn join(&mut self, table: i32, seat: i8, member: &mut Member<'_>) -> Packet<'static> {
        let granted = self.player.is_some() && self.table.is_none();
        if granted {
            self.table = Some(table);
            member.join_table(table);
        }
        Packet::JoinResponse { table, seat, status: if granted { OK } else { DENIED }, code: 0 }
    }

    fn leave(&mut self, table: i32, member: &mut Member<'_>) -> Packet<'static> {
        let granted = self.table == Some(table);
        if granted {
            self.table = None;
            member.leave_table(table);
        }
        Packet::LeaveResponse { table, status: if granted { OK } else { DENIED }, code: 0 }
    }

    fn act(&mut self, request: LoadRequest, member: &mut Member<'_>) {
        let LoadRequest { player, table, seq, delay, resend } = request;
        self.next = Some(seq.wrapping_add(1));
        let delay = u64::try_from(delay).unwrap_or_default() * MILLISECOND;
        let due = (delay > 0).then(|| monotonic_ns() + delay);
        member.respond(LoadResponse { player, table, seq, resend }, due);
    }
}

fn request(packet: &Packet<'_>) -> Result<Request, ProtocolError> {
    Ok(match packet {
        Packet::LoginRequest { user, .. } => Request::LogIn(user.to_string()),
        Packet::JoinRequest { table, seat } => Request::Join { table: *table, seat: *seat },
        Packet::LeaveRequest { table } => Request::Leave(*table),
        Packet::Ping { id } => Request::Ping(*id),
        Packet::Game { table, data, .. } => match LoadRequest::read(data)? {
            Some(request) => Request::Act { table: *table, request },
            None => Request::Unknown { class: class::GAME },
        },
        Packet::LobbySubscribe => Request::WatchLobby,
        other => Request::Unknown { class: other.class() },
    })
}
