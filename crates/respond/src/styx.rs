//! A player's connection to its table.
//!
//! Knows what a player may ask for and when; must not know who else sits there (the hub does).

use std::borrow::Cow;

use wiretrial_net::clock::monotonic_ns;
use wiretrial_proto::styx::{
    Encoding, LoadRequest, LoadResponse, Lobby, OK, Packet, StyxEvent, StyxServer, class,
};
use wiretrial_proto::{ProtocolError, Scratch};

use crate::hub::{Member, Memberships};
use crate::protocol::Heard;
use crate::sink::{BACKLOG_LIMIT, Ending, Sink};

/// Status of what is not granted.
const DENIED: u8 = 2;
/// Why a packet is bad: nobody answers its class.
const UNKNOWN: u8 = 0;
/// Why a packet is bad: this player must not send it now.
const NOT_NOW: u8 = 1;
/// Nanoseconds in a millisecond, in which players count.
const MILLISECOND: u64 = 1_000_000;

/// One player.
#[derive(Debug)]
pub(crate) struct StyxConversation {
    /// None: the first byte, which tells the encoding, has not come.
    codec: Option<StyxServer>,
    player: Option<i32>,
    table: Option<i32>,
    /// Number of the next action; none before the first one.
    next: Option<u32>,
    looks: bool,
    /// Where a packet of the game is written.
    data: Vec<u8>,
}

/// What a player asked for.
enum Wish {
    LogIn(String),
    Join { table: i32, seat: i8 },
    Leave(i32),
    Ping(i32),
    Act { table: i32, request: LoadRequest },
    Look,
    Nonsense { class: u8 },
    GoodBye,
}

impl StyxConversation {
    /// On a byte stream.
    pub(crate) fn stream() -> Self {
        Self { codec: None, player: None, table: None, next: None, looks: false, data: Vec::new() }
    }

    /// Over WebSocket, whose upgrade is behind it.
    pub(crate) fn websocket() -> Self {
        Self { codec: Some(StyxServer::websocket_of_any_kind()), ..Self::stream() }
    }

    pub(crate) fn take(
        &mut self,
        input: &mut [u8],
        unpacked: &mut Scratch,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) -> Heard {
        let Some(first) = input.first() else { return Heard { taken: 0, blocked: false } };
        // A binary packet begins with its length, of which the first byte is 0.
        let encoding = if *first == b'{' { Encoding::Json } else { Encoding::Binary };
        self.codec.get_or_insert_with(|| StyxServer::stream(encoding));
        let mut taken = 0;
        while !sink.is_finished() {
            if sink.backlog() >= BACKLOG_LIMIT {
                sink.settle();
                return Heard { taken, blocked: true };
            }
            let Ok((consumed, wish)) = self.hear(&mut input[taken..], unpacked, sink) else {
                self.codec().refuse(sink.out);
                sink.finish(Ending::Early);
                break;
            };
            taken += consumed;
            let Some(wish) = wish else {
                sink.settle();
                return Heard { taken, blocked: false };
            };
            self.grant(wish, sink, member);
        }
        Heard { taken: input.len(), blocked: false }
    }

    /// The table has responded to somebody.
    pub(crate) fn copy(&mut self, response: LoadResponse, sink: &mut Sink<'_>) {
        let mut twist = sink.begin();
        let mut data = std::mem::take(&mut self.data);
        data.clear();
        response.append(&mut data);
        // Its last byte says whether the action was sent again: altered, it is still a packet.
        twist.apply(&mut data);
        let LoadResponse { table, player, .. } = response;
        let packet = Packet::Game { table, player, data: &data, attributes: Vec::new() };
        self.codec().send(&packet, sink.out);
        self.data = data;
        sink.end();
    }

    /// How the lobby is. It is no reply: no script holds for it.
    pub(crate) fn show(&mut self, lobby: &Lobby, sink: &mut Sink<'_>) {
        self.codec().send(&Packet::LobbySnapshot(lobby.clone()), sink.out);
        sink.settle();
    }

    /// What the player has joined.
    pub(crate) fn memberships(&self) -> Memberships {
        Memberships { table: self.table, lobby: self.looks, ..Memberships::default() }
    }

    /// The server goes away.
    pub(crate) fn go_away(&mut self, out: &mut Vec<u8>) {
        if let Some(codec) = &mut self.codec {
            codec.close(1001, out);
        }
    }

    fn codec(&mut self) -> &mut StyxServer {
        // Whoever is answered has said something, so its encoding is known.
        self.codec.get_or_insert_with(|| StyxServer::stream(Encoding::Binary))
    }

    fn hear(
        &mut self,
        input: &mut [u8],
        unpacked: &mut Scratch,
        sink: &mut Sink<'_>,
    ) -> Result<(usize, Option<Wish>), ProtocolError> {
        let step = self.codec().receive(input, unpacked, sink.out)?;
        let wish = match step.event {
            None => None,
            Some(StyxEvent::Close) => Some(Wish::GoodBye),
            Some(StyxEvent::Packet(packet)) => Some(wish(&packet)?),
        };
        Ok((step.consumed, wish))
    }

    fn grant(&mut self, wish: Wish, sink: &mut Sink<'_>, member: &mut Member<'_>) {
        let answer = match wish {
            Wish::GoodBye => return sink.finish(Ending::Orderly),
            Wish::Ping(id) => Packet::Ping { id },
            Wish::Nonsense { class } => Packet::Bad { class, error: UNKNOWN },
            Wish::LogIn(name) => self.log_in(name, member),
            Wish::Join { table, seat } => self.join(table, seat, member),
            Wish::Leave(table) => self.leave(table, member),
            Wish::Look if self.player.is_some() => {
                if !std::mem::replace(&mut self.looks, true) {
                    member.watch_lobby(monotonic_ns());
                }
                return;
            }
            Wish::Look => Packet::Bad { class: class::LOBBY_SUBSCRIBE, error: NOT_NOW },
            Wish::Act { table, request } => {
                let right = self.table == Some(table)
                    && self.table == Some(request.table)
                    && self.player == Some(request.player)
                    && self.next.is_none_or(|next| next == request.seq);
                if right {
                    return self.act(request, member);
                }
                Packet::Bad { class: class::GAME, error: NOT_NOW }
            }
        };
        self.codec().send(&answer, sink.out);
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

fn wish(packet: &Packet<'_>) -> Result<Wish, ProtocolError> {
    Ok(match packet {
        Packet::LoginRequest { user, .. } => Wish::LogIn(user.to_string()),
        Packet::JoinRequest { table, seat } => Wish::Join { table: *table, seat: *seat },
        Packet::LeaveRequest { table } => Wish::Leave(*table),
        Packet::Ping { id } => Wish::Ping(*id),
        Packet::Game { table, data, .. } => match LoadRequest::read(data)? {
            Some(request) => Wish::Act { table: *table, request },
            None => Wish::Nonsense { class: class::GAME },
        },
        Packet::LobbySubscribe => Wish::Look,
        other => Wish::Nonsense { class: other.class() },
    })
}
