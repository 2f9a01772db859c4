//! One peer: what it takes in, and what it answers on one connection when nothing goes wrong.
//!
//! Knows the manners of its world. Must not know the worker, nor other connections.

use wiretrial_net::simulation::{Random, Wires};
use wiretrial_proto::styx::{Listed, Lobby};
use wiretrial_proto::websocket::DeflateAnswer;

use super::answers::Answers;
use super::around::{Around, Post};
use super::conversation::{Asked, Conversation, Heard, Said};
use super::fault::{Fault, HONEST, LIES, LIES_WITH_NUMBERS};
use super::scenario::{MS, Manners};
use super::secure::{Secrets, Secure};
use super::spoken::{Right, Spoken};

/// Goes on reading.
pub(super) const READ: u64 = 0;
/// From now on all is well.
pub(super) const CALM: u64 = 1;
/// The fault that comes at an instant of its own strikes.
pub(super) const STRIKE: u64 = 2;
/// One of the replies that were set aside goes out.
pub(super) const RELEASE: u64 = 3;
/// A reply that goes out in pieces begins, goes on or ends.
pub(super) const STEP: u64 = 4;
/// There is room for messages again.
pub(super) const ROOM: u64 = 5;

/// The other end of one connection.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of one moment")]
pub(super) struct Peer {
    /// Driver and slot of the client.
    pub(super) seat: (u32, u32),
    pub(super) conversation: Conversation,
    /// Its bytes travel inside TLS.
    pub(super) secure: Option<Box<Secure>>,
    pub(super) fault: Fault,
    /// Replies before the fault strikes.
    pub(super) strikes_at: u32,
    /// Replies so far.
    pub(super) said: u32,
    /// When all is with the client that was said so far.
    pub(super) heard_at: u64,
    /// Says nothing more.
    pub(super) silent: bool,
    /// Takes no bytes.
    pub(super) deaf: bool,
    /// More bytes are answered by RST.
    pub(super) gone: bool,
    /// What was asked, where its reply is held back.
    pub(super) held: Option<Asked>,
    /// More was answered than was asked.
    pub(super) ahead: bool,
    /// The connect was answered.
    pub(super) settled: bool,
    /// Copies of the company's messages go to it.
    pub(super) sits: bool,
    /// A copy that is to come behind a later one.
    pub(super) late: Option<Post>,
    /// Its last reply was a redirect.
    pub(super) led: bool,
    /// What the user of a conversation was told in its greeting.
    pub(super) token: Option<String>,
    /// What was asked, and is answered when it pleases the peer.
    set_aside: Vec<Asked>,
    /// What was asked, and is answered piece by piece.
    pub(super) answers: Answers,
    /// Number of the next snapshot of the lobby; none: nobody looks.
    lobby: Option<u32>,
    /// Bytes that are taken at a time, and how often.
    pace: (usize, u64),
    pub(super) random: Random,
}

impl Peer {
    pub(super) fn new(seat: (u32, u32), manners: &Manners, bad: bool, mut random: Random) -> Self {
        let lies = if manners.spoken.is_numbered() { LIES_WITH_NUMBERS } else { LIES };
        let faults = if manners.lies && random.once_in(2) { lies } else { HONEST };
        let fault = if bad { random.of(faults) } else { Fault::None };
        let pace = match random.up_to(3) {
            0 => (200, 10_000),
            1 => (4_000, 50_000),
            _ => (usize::MAX, 0),
        };
        Self {
            seat,
            conversation: Conversation::new(manners.spoken, manners.right, manners.deflate),
            secure: manners.secrets.as_ref().map(Secrets::session).map(Box::new),
            fault,
            strikes_at: random.up_to(3) as u32,
            said: 0,
            heard_at: 0,
            silent: false,
            deaf: false,
            gone: false,
            held: None,
            ahead: false,
            settled: false,
            sits: false,
            late: None,
            led: false,
            token: None,
            set_aside: Vec::new(),
            answers: Answers::default(),
            lobby: None,
            pace,
            random,
        }
    }

    /// Something has gone wrong, or will.
    pub(super) fn is_bad(&self) -> bool {
        self.fault != Fault::None
    }

    /// The connection stands from so many nanoseconds on.
    pub(super) fn stands(&mut self, wires: &mut Wires, socket: u32, after: u64) {
        self.settled = true;
        self.heard_at = wires.now() + after;
        if matches!(self.fault, Fault::ResetAtAnyTime | Fault::FinishAtAnyTime) {
            let most = self.random.of(&[0, 1_000, MS, 60 * MS]);
            let delay = self.random.up_to(most);
            wires.call(socket, after + delay, STRIKE);
        }
    }

    pub(super) fn called(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        token: u64,
        world: &mut Around,
    ) {
        match token {
            READ => self.received(wires, socket, world),
            STRIKE if self.fault == Fault::ResetAtAnyTime => self.reset(wires, socket),
            STRIKE if self.fault == Fault::FinishAtAnyTime => self.finish(wires, socket),
            RELEASE if !self.silent => self.release(wires, socket, world),
            STEP if !self.silent => self.step(wires, socket, world),
            ROOM if !self.silent => self.reopen(wires, socket, world),
            CALM if self.is_bad() => {
                self.fault = Fault::None;
                let held_back = self.silent || self.deaf || self.ahead || self.held.is_some();
                let is_simple = matches!(world.manners.spoken, Spoken::Raw | Spoken::Http);
                if held_back || !is_simple {
                    self.reset(wires, socket);
                }
            }
            _ => {}
        }
    }

    /// Bytes wait to be taken.
    pub(super) fn received(&mut self, wires: &mut Wires, socket: u32, world: &mut Around) {
        if self.deaf {
            return;
        }
        let bytes = wires.take(socket, self.pace.0);
        if wires.untaken(socket) > 0 {
            wires.call(socket, self.pace.1, READ);
        }
        if bytes.is_empty() {
            return;
        }
        if self.gone {
            return self.reset(wires, socket);
        }
        if self.silent {
            return;
        }
        let Some(bytes) = self.opened(wires, socket, bytes, world) else { return };
        let mut out = Vec::new();
        let heard = self.conversation.hear(&bytes, &mut out);
        if let Some(frames) = self.conversation.frames() {
            world.facts.seen.add(std::mem::take(&mut frames.seen));
        }
        self.send(wires, socket, 0, out, world);
        if matches!(world.manners.right, Right::Talk) {
            // That was answered with the rest, whatever becomes of what came before it.
            let answered = heard.iter().filter(|one| matches!(one, Heard::Close | Heard::Entered));
            world.facts.right += answered.count() as u64;
        }
        for one in heard {
            if !self.silent {
                self.answer(wires, socket, one, world);
            }
        }
    }

    /// What was inside TLS; none: it was no TLS, or the client has given up.
    fn opened(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        bytes: Vec<u8>,
        world: &mut Around,
    ) -> Option<Vec<u8>> {
        let Some(secure) = &mut self.secure else { return Some(bytes) };
        let mut out = Vec::new();
        let opened = secure.open(&bytes, &mut out);
        self.send_as_it_is(wires, socket, 0, &out, world);
        match opened {
            Ok(Some(plain)) => return Some(plain),
            Ok(None) => {}
            Err(_) => world.facts.misunderstood += u64::from(!self.is_bad()),
        }
        self.finish(wires, socket);
        None
    }

    fn answer(&mut self, wires: &mut Wires, socket: u32, heard: Heard, world: &mut Around) {
        match heard {
            Heard::Upgrade(key, deflate) => {
                self.upgrade(wires, socket, &key, deflate.as_ref(), world);
            }
            Heard::Login(name) => self.log_in(wires, socket, name, world),
            Heard::Join(table) => self.join(wires, socket, table, world),
            Heard::Look => {
                self.lobby = Some(self.random.any() as u32);
                self.show(wires, socket, world);
            }
            Heard::Entered => self.entered(wires, socket, world),
            Heard::Hello => self.welcome(wires, socket, world),
            Heard::Message(asked) => self.asked(wires, socket, asked, world),
            Heard::Cancelled(number) => self.cancelled(wires, socket, number),
            // It was answered; FIN follows.
            Heard::Close => self.finish(wires, socket),
            Heard::Nonsense => {
                world.facts.misunderstood += 1;
                self.finish(wires, socket);
            }
        }
    }

    fn asked(&mut self, wires: &mut Wires, socket: u32, asked: Asked, world: &mut Around) {
        let after = self.random.up_to(world.manners.service);
        let spared = world.manners.spoken.has_company() && self.fault.strikes_copies();
        let strikes = self.said >= self.strikes_at && self.is_bad() && !spared;
        self.said += 1;
        if strikes || self.held.is_some() {
            self.strike(wires, socket, after, &asked, world);
        } else if world.manners.spoken == Spoken::Multiplexed {
            self.stream(wires, socket, after, asked, world);
        } else if world.manners.reorders && self.random.once_in(2) {
            self.set_aside.push(asked);
            wires.call(socket, after, RELEASE);
        } else {
            self.reply(wires, socket, after, &asked, world);
        }
        if self.lobby.is_some() && self.random.once_in(3) {
            self.show(wires, socket, world);
        }
    }

    fn release(&mut self, wires: &mut Wires, socket: u32, world: &mut Around) {
        if let Some(last) = self.set_aside.len().checked_sub(1) {
            let index = self.random.up_to(last as u64) as usize;
            let asked = self.set_aside.swap_remove(index);
            self.reply(wires, socket, 0, &asked, world);
        }
    }

    fn upgrade(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        key: &str,
        deflate: Option<&DeflateAnswer>,
        world: &mut Around,
    ) {
        let mut out = Vec::new();
        let after = self.random.up_to(world.manners.connect);
        let session = socket.into();
        match self.fault {
            Fault::Upgrade { refused: true } => {
                self.conversation.refuse(&mut out);
                self.send(wires, socket, after, out, world);
                return self.finish(wires, socket);
            }
            // The client insists on it.
            Fault::Upgrade { refused: false } if deflate.is_some() && self.random.once_in(2) => {
                self.conversation.accept(key, None, session, &mut out);
            }
            Fault::Upgrade { refused: false } => {
                let key = "dGhlIHNhbXBsZSBub25jZQ==";
                self.conversation.accept(key, deflate, session, &mut out);
            }
            _ => self.conversation.accept(key, deflate, session, &mut out),
        }
        for _ in 0..world.manners.greetings {
            let said = Said { text: world.manners.text, ..Said::of(b"welcome") };
            self.conversation.say(&said, &mut self.random, &mut out);
        }
        self.sits = world.manners.spoken == Spoken::Broadcast;
        let is_well = !matches!(self.fault, Fault::Upgrade { .. });
        let is_there = is_well && world.manners.spoken != Spoken::SocketIo;
        let later = if is_there { self.greet(&mut out, world) } else { None };
        self.behind_upgrade(wires, socket, after, out, world);
        if let Some((after, hello)) = later.filter(|_| !self.silent) {
            self.send(wires, socket, after, hello, world);
        }
    }

    fn log_in(&mut self, wires: &mut Wires, socket: u32, name: String, world: &mut Around) {
        let mut out = Vec::new();
        let after = self.random.up_to(world.manners.connect);
        let player = world.manners.player(&name);
        let granted = self.fault != (Fault::Upgrade { refused: true });
        self.conversation.log_in(name, player, granted, &mut out);
        self.send(wires, socket, after, out, world);
        if !granted {
            self.finish(wires, socket);
        }
    }

    fn join(&mut self, wires: &mut Wires, socket: u32, table: i32, world: &mut Around) {
        let mut out = Vec::new();
        let after = self.random.up_to(world.manners.connect);
        let is_astray = self.fault == (Fault::Upgrade { refused: false });
        self.conversation.seat(table + i32::from(is_astray), &mut out);
        self.sits = true;
        self.behind_upgrade(wires, socket, after, out, world);
    }

    /// The connection stands with these bytes, or what comes behind them is its end.
    pub(super) fn behind_upgrade(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        mut out: Vec<u8>,
        world: &mut Around,
    ) {
        if self.fault == Fault::ResetBehindUpgrade {
            match self.random.up_to(2) {
                0 => {}
                1 => out.extend_from_slice(b"\x07\x07\x07"),
                _ => drop(self.conversation.leave(1001, &mut out)),
            }
        }
        self.send(wires, socket, after, out, world);
        if self.fault == Fault::ResetBehindUpgrade {
            self.reset(wires, socket);
        }
    }

    /// A right reply.
    pub(super) fn reply(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        asked: &Asked,
        world: &mut Around,
    ) {
        if world.manners.spoken.has_company() {
            let (origin, table) = self.conversation.place();
            world.posts.push(Post { socket, origin, table, asked: asked.clone() });
            return;
        }
        if matches!(world.manners.right, Right::Talk) {
            return self.answer_talk(wires, socket, after, asked, world);
        }
        if self.leads(wires, socket, after, asked.number, world) {
            return;
        }
        let body = world.manners.right.reply(&asked.body, &mut self.random);
        self.say(wires, socket, after, asked.number, &body, world);
        world.facts.right(self.seat, self.heard_at);
    }

    pub(super) fn say(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        number: u64,
        body: &[u8],
        world: &mut Around,
    ) {
        let out = self.framed(&Said { number, ..Said::of(body) }, world);
        self.send(wires, socket, after, out, world);
    }

    /// The bytes of a reply.
    pub(super) fn framed(&mut self, said: &Said<'_>, world: &Around) -> Vec<u8> {
        let mut out = Vec::new();
        let said = Said { text: world.manners.text, ..*said };
        self.conversation.say(&said, &mut self.random, &mut out);
        out
    }

    /// How the lobby is, as is told from time to time.
    fn show(&mut self, wires: &mut Wires, socket: u32, world: &mut Around) {
        let Some(seq) = self.lobby else { return };
        self.lobby = Some(seq.wrapping_add(1));
        let seated = self.random.between(1, 9) as u32;
        let listed = vec![Listed { table: -3, seated: 2 }, Listed { table: 7, seated }];
        let mut lobby = Lobby { seq, tables: 2, players: seated + 2, listed };
        match self.fault {
            Fault::Lie => lobby.players += 1,
            Fault::Swap => lobby.seq = seq.wrapping_sub(1),
            Fault::Missing => self.lobby = Some(seq.wrapping_add(2)),
            _ => {}
        }
        world.facts.snapshots += 1;
        let mut out = Vec::new();
        self.conversation.show(lobby, &mut out);
        self.send(wires, socket, 0, out, world);
    }

    /// Sends bytes behind all that was said before, cut anywhere.
    #[expect(clippy::needless_pass_by_value, reason = "what was said is over with it")]
    pub(super) fn send(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        bytes: Vec<u8>,
        world: &mut Around,
    ) {
        match &mut self.secure {
            None => self.send_as_it_is(wires, socket, after, &bytes, world),
            Some(_) if bytes.is_empty() => {}
            Some(secure) => {
                let records = secure.seal(&bytes);
                self.send_as_it_is(wires, socket, after, &records, world);
            }
        }
    }

    /// The same where there is no TLS, or it is done.
    pub(super) fn send_as_it_is(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        bytes: &[u8],
        world: &mut Around,
    ) {
        if bytes.is_empty() {
            return;
        }
        let now = wires.now();
        self.heard_at = self.heard_at.max(now + after);
        let manners = world.manners;
        // Not so many that the world takes long.
        let most = manners.piece.max(bytes.len() / 50);
        let mut rest = bytes;
        while !rest.is_empty() {
            let count = self.random.between(1, most.min(rest.len()) as u64) as usize;
            let (piece, behind) = rest.split_at(count);
            wires.deliver(socket, self.heard_at - now, piece.to_vec());
            rest = behind;
            if !rest.is_empty() {
                self.heard_at += self.random.up_to(manners.gap);
            }
        }
    }

    pub(super) fn reset(&mut self, wires: &mut Wires, socket: u32) {
        let after = self.heard_at.saturating_sub(wires.now());
        let purges = self.random.once_in(2);
        // It may overtake what was said.
        let after = if self.random.once_in(3) { 0 } else { after };
        wires.reset(socket, after, purges);
        self.silent = true;
    }

    pub(super) fn finish(&mut self, wires: &mut Wires, socket: u32) {
        if let Some(secure) = &mut self.secure
            && !self.random.once_in(3)
        {
            let goodbye = secure.close();
            wires.deliver(socket, self.heard_at.saturating_sub(wires.now()), goodbye);
        }
        wires.finish(socket, self.heard_at.saturating_sub(wires.now()));
        self.silent = true;
    }
}
