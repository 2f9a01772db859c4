//! The way between a client and its server.
//!
//! Knows what becomes of a datagram. Must not know what is in it.

use std::ops::Range;

use wiretrial_net::simulation::Random;

/// What happens on the way: to a datagram once in so many times; 0: never. Times are nanoseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Path {
    pub(super) loses: u64,
    pub(super) doubles: u64,
    pub(super) garbles: u64,
    /// One way, at least.
    pub(super) latency: u64,
    /// More than that, up to this: what leaves later may come earlier.
    pub(super) jitter: u64,
    /// While nothing comes through.
    pub(super) dark: Range<u64>,
    /// So long after its first datagram a client comes from another port, and does not know.
    pub(super) moves_after: Option<u64>,
}

impl Path {
    /// Nothing happens but that it takes its time.
    pub(super) fn quiet(latency: u64) -> Self {
        Self { latency, ..Self::default() }
    }

    pub(super) fn is_quiet(&self) -> bool {
        let Self { loses, doubles, garbles, latency: _, jitter, dark, moves_after } = self;
        [loses, doubles, garbles, jitter].into_iter().all(|it| *it == 0)
            && dark.is_empty()
            && moves_after.is_none()
    }

    /// What comes of a datagram that leaves now, and after how long.
    pub(super) fn carry(
        &self,
        now: u64,
        datagram: &[u8],
        random: &mut Random,
    ) -> Vec<(u64, Vec<u8>)> {
        if self.dark.contains(&now) || random.once_in(self.loses) {
            return Vec::new();
        }
        let copies = 1 + u64::from(random.once_in(self.doubles));
        let copy = |_| {
            let after = self.latency + random.up_to(self.jitter);
            let mut bytes = datagram.to_vec();
            if random.once_in(self.garbles) {
                let place = random.up_to(bytes.len() as u64 - 1) as usize;
                bytes[place] ^= 1 << random.up_to(7);
            }
            (after, bytes)
        };
        (0..copies).map(copy).collect()
    }
}
