//! Replies that interleave: the peer of the multiplexed protocol, when nothing goes wrong, and when
//! single messages do.
//!
//! Knows whose turn it is. Must not know other connections, nor how frames are written.

use wiretrial_net::simulation::Wires;

use super::answers::{Answers, Begun};
use super::around::Around;
use super::conversation::Asked;
use super::fault::Fault;
use super::frames::Frames;
use super::peer::{Peer, ROOM, STEP};
use super::scenario::MS;

/// Longest time without any room, nanoseconds.
const LONGEST_CLOSED: u64 = 20 * MS;

impl Peer {
    /// The client has said hello: it hears how much room there is.
    pub(super) fn welcome(&mut self, wires: &mut Wires, socket: u32, world: &mut Around) {
        let mut out = Vec::new();
        let after = self.random.up_to(world.manners.connect);
        match self.fault {
            Fault::Upgrade { refused } => {
                if refused {
                    Frames::leave(&mut out);
                } else {
                    Frames::piece(0, b"too early", &mut out);
                }
                self.send(wires, socket, after, out, world);
                return self.finish(wires, socket);
            }
            _ => self.announce(wires, socket, &mut out),
        }
        self.behind_upgrade(wires, socket, after, out, world);
    }

    /// Another room than before, perhaps none for a while.
    fn announce(&mut self, wires: &mut Wires, socket: u32, out: &mut Vec<u8>) {
        let room = self.random.of(&[0, 1, 1, 2, 3, 5, 8, 100]);
        if room == 0 {
            wires.call(socket, self.random.up_to(LONGEST_CLOSED), ROOM);
        }
        if let Some(frames) = self.conversation.frames() {
            frames.announce(room, out);
        }
    }

    /// There is room again.
    pub(super) fn reopen(&mut self, wires: &mut Wires, socket: u32, world: &mut Around) {
        let mut out = Vec::new();
        let room = self.random.of(&[1, 2, 5, 100]);
        if let Some(frames) = self.conversation.frames() {
            frames.announce(room, &mut out);
        }
        self.send(wires, socket, 0, out, world);
    }

    /// A message came that will be answered piece by piece.
    pub(super) fn stream(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        asked: Asked,
        world: &mut Around,
    ) {
        self.answers.waiting.push(asked);
        wires.call(socket, after, STEP);
        if self.random.once_in(6) {
            let mut out = Vec::new();
            self.announce(wires, socket, &mut out);
            self.send(wires, socket, 0, out, world);
        }
    }

    /// A reply begins, goes on or ends.
    pub(super) fn step(&mut self, wires: &mut Wires, socket: u32, world: &mut Around) {
        let begins = self.answers.begun.is_empty() || self.random.once_in(2);
        if begins && !self.answers.waiting.is_empty() {
            self.begin(wires, world);
        }
        let Some(most) = self.answers.begun.len().checked_sub(1) else { return };
        let index = self.random.up_to(most as u64) as usize;
        let begun = &mut self.answers.begun[index];
        let mut out = Vec::new();
        if !begun.rest.is_empty() && self.random.once_in(2) {
            let count = self.random.between(1, begun.rest.len() as u64) as usize;
            let piece: Vec<u8> = begun.rest.drain(..count).collect();
            Frames::piece(begun.number, &piece, &mut out);
            self.send(wires, socket, 0, out, world);
            let pause = self.random.up_to(world.manners.service / 4);
            return wires.call(socket, pause, STEP);
        }
        let Begun { number, rest, is_refused } = self.answers.begun.swap_remove(index);
        let is_wanted = !self.answers.unwanted.contains(&number);
        let Some(frames) = self.conversation.frames() else { return };
        if is_refused {
            frames.refuse(number, is_wanted, &mut out);
            world.facts.refused += u64::from(is_wanted);
        } else {
            frames.end(number, &rest, false, &mut out);
            if is_wanted {
                frames.was_right(number);
            }
        }
        self.send(wires, socket, 0, out, world);
        if is_wanted && !is_refused {
            world.facts.right(self.seat, self.heard_at);
        }
    }

    fn begin(&mut self, wires: &Wires, world: &mut Around) {
        let most = self.answers.waiting.len() as u64 - 1;
        let asked = self.answers.waiting.swap_remove(self.random.up_to(most) as usize);
        let manners = world.manners;
        let is_strict = manners.mild || !manners.good && wires.now() < manners.calm_at;
        if is_strict && self.random.once_in(8) {
            // For ever, while a later one is answered.
            let earlier = |it: &Asked| it.number < asked.number;
            if let Some(ignored) = self.answers.waiting.iter().position(earlier) {
                let ignored = self.answers.waiting.swap_remove(ignored);
                self.answers.ignored.push(ignored);
                world.facts.ignored += 1;
            }
        }
        self.answers.begun.push(Begun {
            number: asked.number,
            rest: manners.right.reply(&asked.body, &mut self.random),
            is_refused: is_strict && self.random.once_in(8),
        });
    }

    /// Nobody wants this reply: it may come all the same, or what is left of it.
    pub(super) fn cancelled(&mut self, wires: &mut Wires, socket: u32, number: u64) {
        let stays = self.random.once_in(2);
        let Answers { waiting, begun, ignored, unwanted } = &mut self.answers;
        unwanted.insert(number);
        if !stays {
            waiting.retain(|asked| asked.number != number);
            begun.retain(|begun| begun.number != number);
        } else if let Some(index) = ignored.iter().position(|asked| asked.number == number) {
            waiting.push(ignored.swap_remove(index));
            wires.call(socket, self.random.up_to(MS), STEP);
        }
    }
}
