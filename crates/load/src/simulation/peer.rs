//! One peer: what it answers on one connection, and the fault that it may have.
//!
//! Knows the manners of its world. Must not know the worker, nor other connections.

use wiretrial_net::simulation::{Random, Wires};

use super::conversation::{Conversation, Heard, Said};
use super::peers::Facts;
use super::scenario::{MS, Manners};

/// Goes on reading.
pub(super) const READ: u64 = 0;
/// From now on all is well.
pub(super) const CALM: u64 = 1;
/// The fault that comes at an instant of its own strikes.
pub(super) const STRIKE: u64 = 2;

/// What goes wrong on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing.
    None,
    /// No further reply.
    Stall,
    /// No further reply, and nothing is read.
    Deaf,
    /// RST in place of a reply, or inside it.
    Reset,
    /// FIN in place of a reply, or inside it; a peer that is gone answers more bytes by RST.
    Finish { gone: bool },
    /// The same, whatever is under way then.
    ResetAtAnyTime,
    /// The same, whatever is under way then.
    FinishAtAnyTime,
    /// Right behind the upgrade, or behind what makes no sense so early.
    ResetBehindUpgrade,
    /// The upgrade is refused, or accepted with the answer to another key.
    Upgrade { refused: bool },
    /// A wrong reply.
    Lie,
    /// Two replies, each in the other's place.
    Swap,
    /// A reply that comes twice.
    Twice,
    /// An HTTP status that is not the right one.
    Status,
    /// The peer takes its leave, in the protocol's way, with its reply or in place of it.
    Leave { replies: bool },
    /// Many pongs before a right reply.
    Pongs,
    /// Bytes that mean nothing.
    Garbage,
}

/// Faults that a peer admits.
const HONEST: &[Fault] = &[
    Fault::Stall,
    Fault::Deaf,
    Fault::Reset,
    Fault::Reset,
    Fault::Finish { gone: true },
    Fault::Finish { gone: false },
    Fault::ResetAtAnyTime,
    Fault::ResetAtAnyTime,
    Fault::FinishAtAnyTime,
    Fault::ResetBehindUpgrade,
    Fault::ResetBehindUpgrade,
    Fault::Upgrade { refused: true },
    Fault::Upgrade { refused: false },
    Fault::Leave { replies: true },
    Fault::Leave { replies: false },
    Fault::Pongs,
];
/// Faults that must be found out.
const LIES: &[Fault] = &[Fault::Lie, Fault::Swap, Fault::Twice, Fault::Status, Fault::Garbage];

/// The other end of one connection.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of one moment")]
pub(super) struct Peer {
    /// Driver and slot of the client.
    pub(super) seat: (u32, u32),
    conversation: Conversation,
    fault: Fault,
    /// Replies before the fault strikes.
    strikes_at: u32,
    /// Replies so far.
    said: u32,
    /// When all is with the client that was said so far.
    heard_at: u64,
    /// Says nothing more.
    silent: bool,
    /// Takes no bytes.
    deaf: bool,
    /// More bytes are answered by RST.
    gone: bool,
    /// What was asked, where its reply is held back.
    held: Option<Vec<u8>>,
    /// More was answered than was asked.
    ahead: bool,
    /// The connect was answered.
    pub(super) settled: bool,
    /// Bytes that are taken at a time, and how often.
    pace: (usize, u64),
    random: Random,
}

impl Peer {
    pub(super) fn new(seat: (u32, u32), manners: &Manners, bad: bool, mut random: Random) -> Self {
        let faults = if manners.lies && random.once_in(2) { LIES } else { HONEST };
        let fault = if bad { random.of(faults) } else { Fault::None };
        let pace = match random.up_to(3) {
            0 => (200, 10_000),
            1 => (4_000, 50_000),
            _ => (usize::MAX, 0),
        };
        Self {
            seat,
            conversation: Conversation::new(manners.spoken, manners.right),
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
            let at = self.random.up_to(most);
            wires.call(socket, after + at, STRIKE);
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
            CALM if self.is_bad() => {
                self.fault = Fault::None;
                let held_back = self.silent || self.deaf || self.ahead || self.held.is_some();
                if held_back || world.manners.spoken == super::conversation::Spoken::WebSocket {
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
        let mut out = Vec::new();
        let heard = self.conversation.hear(&bytes, &mut out);
        self.send(wires, socket, 0, out, world);
        for one in heard {
            if !self.silent {
                self.answer(wires, socket, one, world);
            }
        }
    }

    fn answer(&mut self, wires: &mut Wires, socket: u32, heard: Heard, world: &mut Around) {
        match heard {
            Heard::Upgrade(key) => self.upgrade(wires, socket, &key, world),
            Heard::Message(asked) => {
                let after = self.random.up_to(world.manners.service);
                let strikes = self.said >= self.strikes_at && self.is_bad();
                self.said += 1;
                if strikes || self.held.is_some() {
                    self.strike(wires, socket, after, &asked, world);
                } else {
                    self.reply(wires, socket, after, &asked, world);
                }
            }
            // It was answered; FIN follows.
            Heard::Close => self.finish(wires, socket),
            Heard::Nonsense => {
                world.facts.misunderstood += 1;
                self.finish(wires, socket);
            }
        }
    }

    fn upgrade(&mut self, wires: &mut Wires, socket: u32, key: &str, world: &mut Around) {
        let mut out = Vec::new();
        let after = self.random.up_to(world.manners.connect);
        match self.fault {
            Fault::Upgrade { refused: true } => {
                self.conversation.refuse(&mut out);
                self.send(wires, socket, after, out, world);
                return self.finish(wires, socket);
            }
            Fault::Upgrade { refused: false } => {
                self.conversation.accept("dGhlIHNhbXBsZSBub25jZQ==", &mut out);
            }
            _ => self.conversation.accept(key, &mut out),
        }
        for _ in 0..world.manners.greetings {
            let text = world.manners.text;
            let said = Said { status: 0, body: b"welcome", text, keep_alive: true };
            self.conversation.say(&said, &mut self.random, &mut out);
        }
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
    fn reply(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        asked: &[u8],
        world: &mut Around,
    ) {
        let body = world.manners.right.reply(asked, &mut self.random);
        self.say(wires, socket, after, 200, &body, world);
        world.facts.right(self.seat, self.heard_at);
    }

    fn say(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        status: u16,
        body: &[u8],
        world: &mut Around,
    ) {
        let out = self.framed(status, body, true, world);
        self.send(wires, socket, after, out, world);
    }

    fn framed(&mut self, status: u16, body: &[u8], keep_alive: bool, world: &Around) -> Vec<u8> {
        let mut out = Vec::new();
        let said = Said { status, body, text: world.manners.text, keep_alive };
        self.conversation.say(&said, &mut self.random, &mut out);
        out
    }

    /// The fault comes in place of the reply to this message, or with it.
    fn strike(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        asked: &[u8],
        world: &mut Around,
    ) {
        let right = world.manners.right;
        // It may come again.
        self.strikes_at = self.said + self.random.up_to(3) as u32;
        match self.fault {
            Fault::Stall => self.silent = true,
            Fault::Deaf => (self.silent, self.deaf) = (true, true),
            Fault::Reset => {
                self.part(wires, socket, after, asked, world);
                self.reset(wires, socket);
            }
            Fault::Finish { gone } => {
                self.part(wires, socket, after, asked, world);
                self.finish(wires, socket);
                self.gone = gone;
            }
            Fault::Lie => match right.lie(asked, &mut self.random) {
                Some(body) => self.say(wires, socket, after, 200, &body, world),
                None => self.reply(wires, socket, after, asked, world),
            },
            Fault::Swap => match self.held.take() {
                None => {
                    self.strikes_at = self.said;
                    self.held = Some(asked.to_vec());
                }
                Some(earlier) => self.swapped(wires, socket, after, &earlier, asked, world),
            },
            Fault::Twice => {
                // Often, and the client would never have to wait.
                self.strikes_at = u32::MAX;
                self.ahead = true;
                self.reply(wires, socket, after, asked, world);
                let body = right.reply(asked, &mut self.random);
                self.say(wires, socket, 0, 200, &body, world);
                if !world.manners.is_distinct() {
                    // Nobody can tell whose it is.
                    world.facts.right(self.seat, self.heard_at);
                }
            }
            Fault::Status if world.manners.spoken == super::conversation::Spoken::Http => {
                let body = right.reply(asked, &mut self.random);
                self.say(wires, socket, after, 500, &body, world);
            }
            Fault::Leave { replies } => self.leave(wires, socket, after, asked, replies, world),
            Fault::Pongs => {
                let mut out = Vec::new();
                if world.manners.spoken == super::conversation::Spoken::WebSocket {
                    Conversation::pongs(self.random.between(1, 300), &mut out);
                }
                self.send(wires, socket, after, out, world);
                self.reply(wires, socket, 0, asked, world);
            }
            Fault::Garbage => {
                let count = self.random.between(1, 40);
                let bytes = (0..count).map(|_| self.random.any() as u8).collect();
                self.send(wires, socket, after, bytes, world);
                self.silent = true;
            }
            _ => self.reply(wires, socket, after, asked, world),
        }
    }

    /// A reply up to anywhere, or nothing of it.
    fn part(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        asked: &[u8],
        world: &mut Around,
    ) {
        let body = world.manners.right.reply(asked, &mut self.random);
        let mut out = self.framed(200, &body, true, world);
        let most = out.len().saturating_sub(1) as u64;
        let count = if self.random.once_in(3) { 0 } else { self.random.up_to(most) };
        out.truncate(count as usize);
        self.send(wires, socket, after, out, world);
    }

    fn swapped(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        earlier: &[u8],
        later: &[u8],
        world: &mut Around,
    ) {
        let right = world.manners.right;
        for asked in [later, earlier] {
            let body = right.reply(asked, &mut self.random);
            self.say(wires, socket, after, 200, &body, world);
            if !world.manners.is_distinct() {
                world.facts.right(self.seat, self.heard_at);
            }
        }
    }

    fn leave(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        asked: &[u8],
        replies: bool,
        world: &mut Around,
    ) {
        let body = world.manners.right.reply(asked, &mut self.random);
        let mut out = if replies { self.framed(200, &body, false, world) } else { Vec::new() };
        let code = self.random.of(&[1000, 1001, 1012]);
        self.conversation.leave(code, &mut out);
        self.send(wires, socket, after, out, world);
        if replies {
            world.facts.right(self.seat, self.heard_at);
        }
        // The client may be the one that closes.
        if self.random.once_in(2) {
            self.finish(wires, socket);
        }
        self.silent = true;
    }

    /// Sends bytes behind all that was said before, cut anywhere.
    #[expect(clippy::needless_pass_by_value, reason = "what was said is over with it")]
    fn send(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        bytes: Vec<u8>,
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
        let mut rest = &bytes[..];
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

    fn reset(&mut self, wires: &mut Wires, socket: u32) {
        let after = self.heard_at.saturating_sub(wires.now());
        let purges = self.random.once_in(2);
        // It may overtake what was said.
        let after = if self.random.once_in(3) { 0 } else { after };
        wires.reset(socket, after, purges);
        self.silent = true;
    }

    fn finish(&mut self, wires: &mut Wires, socket: u32) {
        wires.finish(socket, self.heard_at.saturating_sub(wires.now()));
        self.silent = true;
    }
}

/// What is around a peer.
pub(super) struct Around<'w> {
    pub(super) manners: &'w Manners,
    pub(super) facts: &'w mut Facts,
}
