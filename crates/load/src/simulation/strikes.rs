//! How a peer's fault strikes in place of a reply, or with it.
//!
//! Knows what each fault does to what was asked on its own connection. Must not know when it strikes.

use wiretrial_net::simulation::Wires;

use super::around::Around;
use super::conversation::{Asked, Said};
use super::fault::Fault;
use super::peer::Peer;
use super::spoken::{Right, Spoken, is_subtle};

/// So far from a message's number nobody has asked.
pub(super) const FAR: u64 = 5_000;

/// Bytes that are left out of a record at least, so that no other bytes are them by chance.
const LEFT_OUT_OF_RECORD: usize = 8;

impl Peer {
    /// The fault comes in place of the reply to this message, or with it.
    pub(super) fn strike(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        asked: &Asked,
        world: &mut Around,
    ) {
        let right = world.manners.right;
        let number = asked.number;
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
            Fault::Lie => match right.lie(&asked.body, &mut self.random) {
                Some(body) => {
                    world.facts.subtle += u64::from(is_subtle(&body));
                    self.say(wires, socket, after, number, &body, world);
                }
                None => self.reply(wires, socket, after, asked, world),
            },
            Fault::Swap => match self.held.take() {
                None => {
                    self.strikes_at = self.said;
                    self.held = Some(asked.clone());
                }
                Some(earlier) => self.swapped(wires, socket, after, [&earlier, asked], world),
            },
            Fault::Twice => {
                // Often, and the client would never have to wait.
                self.strikes_at = u32::MAX;
                self.ahead = true;
                self.reply(wires, socket, after, asked, world);
                let body = right.reply(&asked.body, &mut self.random);
                self.say(wires, socket, 0, number, &body, world);
                if !world.manners.is_distinct() {
                    // Nobody can tell whose it is.
                    world.facts.right(self.seat, self.heard_at);
                }
            }
            Fault::Status if world.manners.spoken == Spoken::Http => {
                let body = right.reply(&asked.body, &mut self.random);
                let out = self.framed(&Said { status: 500, ..Said::of(&body) }, world);
                self.send(wires, socket, after, out, world);
            }
            Fault::Missing => {}
            Fault::Foreign => {
                let body = right.reply(&asked.body, &mut self.random);
                self.say(wires, socket, after, number + FAR, &body, world);
            }
            Fault::Leave { replies } => self.leave(wires, socket, after, asked, replies, world),
            Fault::Chatter => {
                let mut out = Vec::new();
                if !matches!(world.manners.spoken, Spoken::Raw | Spoken::Http) {
                    self.conversation.chatter(self.random.between(1, 300), &mut out);
                }
                self.send(wires, socket, after, out, world);
                self.reply(wires, socket, 0, asked, world);
            }
            Fault::Garbage => {
                let count = self.random.between(1, 40);
                let mut bytes: Vec<u8> = (0..count).map(|_| self.random.any() as u8).collect();
                if world.manners.spoken == Spoken::Raw {
                    // A byte may be a whole reply there, and right by chance; no payload has these.
                    for byte in &mut bytes {
                        *byte |= 0x80;
                    }
                }
                if self.secure.is_some() && self.random.once_in(2) {
                    self.send_as_it_is(wires, socket, after, &bytes, world);
                } else {
                    self.send(wires, socket, after, bytes, world);
                }
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
        asked: &Asked,
        world: &mut Around,
    ) {
        let body = world.manners.right.reply(&asked.body, &mut self.random);
        let out = self.framed(&Said { number: asked.number, ..Said::of(&body) }, world);
        let secure = self.secure.as_mut();
        // The cut may be inside a record.
        let records = secure.filter(|_| self.random.once_in(2)).map(|secure| secure.seal(&out));
        let is_sealed = records.is_some();
        let mut out = records.unwrap_or(out);
        // Were a record's last byte alone left out, what follows it would be that byte by chance.
        let least = if is_sealed { LEFT_OUT_OF_RECORD } else { 1 };
        let most = out.len().saturating_sub(least) as u64;
        let count = if self.random.once_in(3) { 0 } else { self.random.up_to(most) };
        out.truncate(count as usize);
        if is_sealed {
            self.send_as_it_is(wires, socket, after, &out, world);
        } else {
            self.send(wires, socket, after, out, world);
        }
    }

    fn swapped(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        [earlier, later]: [&Asked; 2],
        world: &mut Around,
    ) {
        let right = world.manners.right;
        for (asked, place) in [(later, earlier), (earlier, later)] {
            let body = right.reply(&asked.body, &mut self.random);
            self.say(wires, socket, after, place.number, &body, world);
            // Of a conversation the earlier one may have been one that nobody answers.
            if !world.manners.is_distinct() || matches!(right, Right::Talk) {
                world.facts.right(self.seat, self.heard_at);
            }
        }
    }

    fn leave(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        asked: &Asked,
        replies: bool,
        world: &mut Around,
    ) {
        let body = world.manners.right.reply(&asked.body, &mut self.random);
        let said = Said { number: asked.number, keep_alive: false, ..Said::of(&body) };
        let mut out = if replies { self.framed(&said, world) } else { Vec::new() };
        let code = self.random.of(&[1000, 1001, 1012]);
        self.conversation.leave(code, &mut out);
        self.send(wires, socket, after, out, world);
        // What is left of a conversation is to close it.
        world.facts.right += u64::from(matches!(world.manners.right, Right::Talk));
        if replies {
            world.facts.copies += 1;
            world.facts.right(self.seat, self.heard_at);
        }
        // The client may be the one that closes.
        if self.random.once_in(2) {
            self.finish(wires, socket);
        }
        self.silent = true;
    }
}
