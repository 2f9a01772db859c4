//! Messages that go to a whole company: the copies, and what may go wrong with one of them.
//!
//! Knows who is sent what. Must not know what the worker makes of it.

use wiretrial_net::simulation::Wires;

use super::around::{Around, Post};
use super::conversation::Said;
use super::fault::Fault;
use super::peer::Peer;
use super::spoken::Spoken;
use super::strikes::FAR;

/// Digits of the number with which a message of a broadcast begins.
const DIGITS: usize = 16;

impl Peer {
    /// Sends this connection its copy, or does to it what its fault does.
    pub(super) fn copy(&mut self, wires: &mut Wires, socket: u32, post: &Post, world: &mut Around) {
        if !self.sits || self.silent {
            return;
        }
        let is_foreign = self.conversation.place().1 != post.table;
        let strikes = self.fault.strikes_copies() && self.said >= self.strikes_at;
        if is_foreign && !(strikes && self.fault == Fault::Foreign) {
            return;
        }
        let after = self.random.up_to(world.manners.service);
        self.said += 1;
        if !strikes {
            self.right_copy(wires, socket, after, post, world);
            return self.overtaken(wires, socket, world);
        }
        self.strikes_at = self.said + self.random.up_to(3) as u32;
        match self.fault {
            Fault::Lie => {
                let body = world.manners.right.lie(&post.asked.body, &mut self.random);
                let altered = Said { altered: true, ..said(post, body.as_deref().unwrap_or(b"")) };
                self.tell(wires, socket, after, &altered, world);
            }
            Fault::Swap if self.late.is_none() => self.late = Some(post.clone()),
            Fault::Twice => {
                self.right_copy(wires, socket, after, post, world);
                self.tell(wires, socket, 0, &said(post, &post.asked.body), world);
            }
            Fault::Missing => {}
            Fault::Foreign => self.foreign(wires, socket, after, post, world),
            _ => {
                self.right_copy(wires, socket, after, post, world);
                self.overtaken(wires, socket, world);
            }
        }
    }

    fn right_copy(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        post: &Post,
        world: &mut Around,
    ) {
        self.tell(wires, socket, after, &said(post, &post.asked.body), world);
        world.facts.copies += 1;
        if post.socket == socket {
            world.facts.right(self.seat, self.heard_at);
        }
    }

    /// The copy that was held back comes behind.
    fn overtaken(&mut self, wires: &mut Wires, socket: u32, world: &mut Around) {
        if let Some(late) = self.late.take() {
            self.right_copy(wires, socket, 0, &late, world);
        }
    }

    /// A copy of what nobody of the company sent.
    fn foreign(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        post: &Post,
        world: &mut Around,
    ) {
        let mut copy = said(post, &post.asked.body);
        let mut body = post.asked.body.clone();
        if world.manners.spoken == Spoken::Broadcast {
            let digits = std::str::from_utf8(&body[..DIGITS]).unwrap_or_default();
            let number = u64::from_str_radix(digits, 16).unwrap_or_default();
            let other = number ^ self.random.of(&[FAR, 1 << 40]);
            body[..DIGITS].copy_from_slice(format!("{other:016x}").as_bytes());
            copy.body = &body;
        } else if self.conversation.place().1 == post.table {
            copy.number += FAR;
        }
        self.tell(wires, socket, after, &copy, world);
    }

    fn tell(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        said: &Said<'_>,
        world: &mut Around,
    ) {
        let out = self.framed(said, world);
        self.send(wires, socket, after, out, world);
    }
}

/// A copy with this body.
fn said<'b>(post: &Post, body: &'b [u8]) -> Said<'b> {
    Said { number: post.asked.number, origin: Some(post.origin), ..Said::of(body) }
}
