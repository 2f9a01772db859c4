//! What a peer of a conversation says: a greeting, answers, what it says by itself.
//!
//! Knows JSON with a type. Must not know when a fault strikes.

use serde_json::{Value, json};
use wiretrial_net::simulation::Wires;

use super::acks::acknowledged;
use super::around::Around;
use super::conversation::{Asked, Said};
use super::peer::Peer;
use super::scenario::MS;
use super::spoken::{Right, Spoken};

impl Peer {
    /// A user has entered the namespace of Socket.IO, and that was answered.
    pub(super) fn entered(&mut self, wires: &mut Wires, socket: u32, world: &mut Around) {
        let mut out = Vec::new();
        let later = self.greet(&mut out, world);
        self.send(wires, socket, 0, out, world);
        if let Some((after, hello)) = later {
            self.send(wires, socket, after, hello, world);
        }
    }

    /// Greets a user who has come: behind the bytes of the upgrade, or so much later.
    pub(super) fn greet(
        &mut self,
        out: &mut Vec<u8>,
        world: &mut Around,
    ) -> Option<(u64, Vec<u8>)> {
        if !matches!(world.manners.right, Right::Talk) {
            return None;
        }
        if world.manners.spoken != Spoken::SocketIo {
            world.facts.right(self.seat, self.heard_at);
        }
        let token = format!("\u{fc}\"{}", self.random.any());
        let hello = json!({"token": token, "type": "hello"}).to_string();
        self.token = Some(token);
        let mut said = self.news(world);
        said.extend(self.framed(&Said::of(hello.as_bytes()), world));
        world.facts.right(self.seat, self.heard_at);
        if self.random.once_in(2) {
            out.extend(said);
            return None;
        }
        let late = self.random.of(&[0, MS, 20 * MS]);
        Some((self.random.up_to(late), said))
    }

    /// What nobody asked for, or nothing.
    fn news(&mut self, world: &Around) -> Vec<u8> {
        let mut out = Vec::new();
        for number in 0..self.random.up_to(4).saturating_sub(1) {
            let news = match number {
                0 => r#"{"type":"news","id":1}"#.to_owned(),
                1 => r#"{"type":"ack"}"#.to_owned(),
                _ => "x".repeat(self.random.up_to(200) as usize),
            };
            out.extend(self.framed(&Said::of(news.as_bytes()), world));
        }
        out
    }

    /// Answers rightly, among what it says by itself.
    pub(super) fn answer_talk(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        asked: &Asked,
        world: &mut Around,
    ) {
        let message: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        let is_own = message["token"].as_str() == self.token.as_deref();
        let news = self.news(world);
        self.send(wires, socket, after, news, world);
        if message["type"] != "say" || !is_own {
            return;
        }
        let said = json!({"type": "said", "id": message["id"]}).to_string();
        let mut answers = [acknowledged(&asked.body), said.into_bytes()];
        if self.random.once_in(3) {
            answers.reverse();
        }
        let [first, second] = answers;
        let number = asked.number;
        let mut out = self.framed(&Said { number, ..Said::of(&first) }, world);
        world.facts.right(self.seat, self.heard_at);
        // They are compressed in the order in which they go.
        if self.random.once_in(2) {
            self.send(wires, socket, 0, std::mem::take(&mut out), world);
            let news = self.news(world);
            self.send(wires, socket, 0, news, world);
        }
        out.extend(self.framed(&Said { number, ..Said::of(&second) }, world));
        let after = self.random.up_to(MS);
        self.send(wires, socket, after, out, world);
        world.facts.right(self.seat, self.heard_at);
    }
}
