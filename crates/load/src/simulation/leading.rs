//! A peer that sends its client elsewhere before it answers.

use wiretrial_net::simulation::Wires;

use super::around::Around;
use super::conversation::{REDIRECT, Said};
use super::peer::Peer;

impl Peer {
    /// Answers some requests with a redirect, never two of them one behind the other. It may close its side then, so
    /// that the client has to come again.
    pub(super) fn leads(
        &mut self,
        wires: &mut Wires,
        socket: u32,
        after: u64,
        number: u64,
        world: &mut Around,
    ) -> bool {
        let has_led = std::mem::replace(&mut self.led, false);
        if !world.manners.redirects || has_led || !self.random.once_in(3) {
            return false;
        }
        let keep_alive = world.manners.good || !self.random.once_in(4);
        let said = Said { number, status: REDIRECT, keep_alive, ..Said::of(b"elsewhere") };
        let out = self.framed(&said, world);
        self.send(wires, socket, after, out, world);
        self.led = true;
        if !keep_alive {
            self.finish(wires, socket);
        }
        true
    }
}
