//! A router that forgets: the near end's ports of UDP as the far end sees them, which change while nobody says so.
//!
//! Pure: knows the headers of IPv4 and UDP; must not know a clock or a device. Whoever keeps a
//! connection by its addresses alone loses it; QUIC has to find it again (RFC 9000 section 9).

use std::collections::HashMap;

use crate::random::Stream;

const UDP: u8 = 17;
const UDP_HEADER: usize = 8;
const LEAST_IPV4_HEADER: usize = 20;
/// Behind these bits of the word are those that say where a fragment belongs.
const FRAGMENT_OFFSET: u16 = 0x1FFF;
/// What is changed of a port; its upper bits stay, so that none becomes one of another kind.
const CHANGED: u16 = 0x3FFF;

/// The table of one link.
#[derive(Debug, Clone)]
pub struct Nat {
    every_ns: u64,
    /// When the ports of today end; None: nothing has come yet.
    until_ns: Option<u64>,
    /// How the ports of today differ from the sender's own. At first they don't.
    mask: u16,
    drawn: Stream,
    /// By the port outside: the one within, of those that have sent since it changed.
    within: HashMap<u16, u16>,
    rebound: u64,
}

impl Nat {
    /// A table whose ports change each `every_ns`, counted from the first packet.
    pub fn new(every_ns: u64, seed: u64) -> Self {
        Self {
            every_ns,
            until_ns: None,
            mask: 0,
            drawn: Stream::new(seed, 5),
            within: HashMap::new(),
            rebound: 0,
        }
    }

    /// A packet from within at `now_ns`: what is UDP gets the port of today. All else stays as it is.
    pub fn outward(&mut self, now_ns: u64, packet: &mut [u8]) {
        self.turn(now_ns);
        let Some(at) = udp_at(packet) else { return };
        let own = read(packet, at);
        let outside = self.outside(own);
        self.within.insert(outside, own);
        rewrite(packet, at, at, outside);
    }

    /// A packet from outside at `now_ns`. False: it is UDP for a port that stands for nobody, and
    /// goes no further.
    #[must_use]
    pub fn inward(&mut self, now_ns: u64, packet: &mut [u8]) -> bool {
        self.turn(now_ns);
        let Some(at) = udp_at(packet) else { return true };
        let Some(&own) = self.within.get(&read(packet, at + 2)) else { return false };
        rewrite(packet, at, at + 2, own);
        true
    }

    /// How often ports that somebody had used were taken from him.
    pub fn rebound(&self) -> u64 {
        self.rebound
    }

    fn turn(&mut self, now_ns: u64) {
        let until_ns = *self.until_ns.get_or_insert(now_ns + self.every_ns);
        if now_ns < until_ns {
            return;
        }
        let missed = (now_ns - until_ns) / self.every_ns;
        self.until_ns = Some(until_ns + (1 + missed) * self.every_ns);
        let mask = (self.drawn.unit() * f64::from(CHANGED)) as u16;
        self.mask = if mask == self.mask { mask ^ 1 } else { mask };
        self.rebound += self.within.len() as u64;
        self.within.clear();
    }

    /// No two ports within have the same one outside.
    fn outside(&self, own: u16) -> u16 {
        match own ^ self.mask {
            // There is no port 0, and who would have it can keep his own: only 0 itself would get that.
            0 => own,
            outside => outside,
        }
    }
}

/// Where the header of UDP is in a packet that has one.
fn udp_at(packet: &[u8]) -> Option<usize> {
    let first = *packet.first()?;
    let is_udp = first >> 4 == 4 && *packet.get(9)? == UDP;
    // Later fragments have no ports.
    if !is_udp || read(packet, 6) & FRAGMENT_OFFSET != 0 {
        return None;
    }
    let at = usize::from(first & 0x0F) * 4;
    (at >= LEAST_IPV4_HEADER && packet.len() >= at + UDP_HEADER).then_some(at)
}

/// Writes a word of the header at `udp`, and what its sum is then.
fn rewrite(packet: &mut [u8], udp: usize, word: usize, value: u16) {
    let old = read(packet, word);
    packet[word..word + 2].copy_from_slice(&value.to_be_bytes());
    let sum = read(packet, udp + 6);
    // Without a sum there is none to keep (RFC 768), and one of 0 is written as its other form.
    if sum == 0 {
        return;
    }
    let sum = match replaced(sum, old, value) {
        0 => u16::MAX,
        sum => sum,
    };
    packet[udp + 6..udp + 8].copy_from_slice(&sum.to_be_bytes());
}

/// The sum where a word is another one (RFC 1624, equation 3).
fn replaced(sum: u16, old: u16, new: u16) -> u16 {
    let total = u32::from(!sum) + u32::from(!old) + u32::from(new);
    let folded = (total & 0xFFFF) + (total >> 16);
    !((folded & 0xFFFF) + (folded >> 16)) as u16
}

fn read(packet: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([packet[at], packet[at + 1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// A datagram with its sum, as a kernel writes it.
    fn datagram(source: u16, target: u16, payload: &[u8]) -> Vec<u8> {
        let length = (UDP_HEADER + payload.len()) as u16;
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, UDP, 0, 0];
        packet.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        packet.extend(source.to_be_bytes());
        packet.extend(target.to_be_bytes());
        packet.extend(length.to_be_bytes());
        packet.extend([0, 0]);
        packet.extend(payload);
        let sum = match summed(&packet) {
            0 => u16::MAX,
            sum => sum,
        };
        packet[26..28].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    /// The sum over the pseudo header and the datagram (RFC 768): 0 of one that has the right sum.
    fn summed(packet: &[u8]) -> u16 {
        let mut all = packet[12..20].to_vec();
        all.extend([0, UDP]);
        all.extend(((packet.len() - 20) as u16).to_be_bytes());
        all.extend(&packet[20..]);
        if all.len() % 2 == 1 {
            all.push(0);
        }
        let mut total: u32 = all.chunks(2).map(|word| u32::from(read(word, 0))).sum();
        while total > 0xFFFF {
            total = (total & 0xFFFF) + (total >> 16);
        }
        !(total as u16)
    }

    /// The port outside of a packet that goes out at `now_ns`.
    fn out(nat: &mut Nat, now_ns: u64, own: u16) -> u16 {
        let mut packet = datagram(own, 443, b"payload");
        nat.outward(now_ns, &mut packet);
        assert_eq!(summed(&packet), 0);
        assert_eq!((read(&packet, 22), &packet[28..]), (443, &b"payload"[..]));
        read(&packet, 20)
    }

    /// The port within that gets a packet for `outside`.
    fn back(nat: &mut Nat, now_ns: u64, outside: u16) -> Option<u16> {
        let mut packet = datagram(443, outside, b"reply");
        let is_let_in = nat.inward(now_ns, &mut packet);
        assert_eq!(summed(&packet), 0);
        is_let_in.then(|| read(&packet, 22))
    }

    #[test]
    fn a_port_is_the_senders_own_until_it_changes_and_the_old_one_stands_for_nobody() {
        let mut nat = Nat::new(5 * S, 7);
        assert_eq!(out(&mut nat, S, 40_000), 40_000);
        assert_eq!(back(&mut nat, 2 * S, 40_000), Some(40_000));
        assert_eq!(out(&mut nat, 6 * S - 1, 40_000), 40_000);
        assert_eq!(back(&mut nat, 6 * S, 40_000), None);
        let second = out(&mut nat, 6 * S + 1, 40_000);
        assert_ne!(second, 40_000);
        assert_eq!(back(&mut nat, 7 * S, second), Some(40_000));
        let third = out(&mut nat, 11 * S, 40_000);
        assert_ne!(third, second);
        assert_eq!(back(&mut nat, 11 * S, second), None);
        assert_eq!(nat.rebound(), 2);
    }

    #[test]
    fn nobody_gets_in_whom_nobody_asked() {
        let mut nat = Nat::new(5 * S, 7);
        assert_eq!(back(&mut nat, 0, 40_000), None);
    }

    #[test]
    fn a_long_silence_is_one_change() {
        let mut nat = Nat::new(S, 7);
        out(&mut nat, 0, 40_000);
        let second = out(&mut nat, 100 * S + 1, 40_000);
        assert_eq!((nat.rebound(), out(&mut nat, 101 * S - 1, 40_000)), (1, second));
        assert_ne!(out(&mut nat, 101 * S, 40_000), second);
    }

    #[test]
    fn no_two_ports_within_share_one_outside() {
        let mut nat = Nat::new(S, 7);
        for step in 0..20 {
            let mut outside: Vec<u16> =
                (1..=u16::MAX).map(|own| out(&mut nat, step * S, own)).collect();
            outside.sort_unstable();
            outside.dedup();
            assert_eq!((outside.len(), outside[0]), (usize::from(u16::MAX), 1));
        }
    }

    #[test]
    fn equal_seeds_give_equal_ports() {
        let ports = |seed| {
            let mut nat = Nat::new(S, seed);
            (0..5).map(|step| out(&mut nat, step * S, 50_000)).collect::<Vec<_>>()
        };
        assert_eq!(ports(1), ports(1));
        assert_ne!(ports(1), ports(2));
    }

    #[test]
    fn a_datagram_without_a_sum_gets_none() {
        let mut nat = Nat::new(S, 7);
        out(&mut nat, 0, 40_000);
        let mut packet = datagram(40_000, 443, b"payload");
        packet[26..28].fill(0);
        nat.outward(2 * S, &mut packet);
        assert_ne!(read(&packet, 20), 40_000);
        assert_eq!(read(&packet, 26), 0);
    }

    #[test]
    fn what_is_not_the_beginning_of_a_datagram_is_left_alone() {
        let whole = datagram(40_000, 443, b"payload");
        let changed = |at: usize, byte: u8| {
            let mut packet = whole.clone();
            packet[at] = byte;
            packet
        };
        for (what, packet) in [
            ("nothing", Vec::new()),
            ("IPv6", changed(0, 0x65)),
            ("TCP", changed(9, 6)),
            ("a later fragment", changed(7, 1)),
            ("a header that is too short", changed(0, 0x44)),
            ("cut in its header", whole[..27].to_vec()),
            ("cut before the protocol", whole[..9].to_vec()),
        ] {
            let mut nat = Nat::new(S, 7);
            out(&mut nat, 0, 40_000);
            let mut passed = packet.clone();
            nat.outward(2 * S, &mut passed);
            assert_eq!(passed, packet, "{what}");
            assert!(nat.inward(2 * S, &mut passed), "{what}");
            assert_eq!(passed, packet, "{what}");
        }
    }

    #[test]
    fn options_of_the_header_are_passed_over() {
        let mut packet = datagram(40_000, 443, b"payload");
        packet[0] = 0x46;
        packet.splice(20..20, [1, 1, 1, 0]);
        let mut nat = Nat::new(S, 7);
        nat.outward(0, &mut packet.clone());
        nat.outward(2 * S, &mut packet);
        assert_ne!(read(&packet, 24), 40_000);
        assert_eq!(read(&packet, 26), 443);
    }
}
