//! Random numbers for masks and handshake keys.
//!
//! Knows arithmetic only; the entropy is the caller's job.
//!
//! RFC 6455 section 10.3 wants masks that whoever chooses the payload cannot predict, so that a
//! script in a browser cannot place bytes of its choice on the wire and poison a proxy's cache.
//! In a load generator the one who chooses the payload is the one who started the program and
//! who could write any bytes to the socket anyway: there is nobody to keep the mask from. What
//! remains is that masks are fresh for each frame, spread over all 32 bits and differ between
//! connections and runs, so that the peer's unmasking cannot be predicted or skipped. A small
//! generator seeded by the operating system does that in about a nanosecond; it must not be
//! used where somebody else's payload is relayed.

/// xoroshiro128++ (Blackman and Vigna), period 2^128 - 1.
#[derive(Debug, Clone)]
pub(super) struct Random {
    state: [u64; 2],
}

impl Random {
    /// A generator for this seed. Seeds that differ in one bit give unrelated sequences.
    pub(super) fn new(seed: [u64; 2]) -> Self {
        // The all-zero state would stay zero for ever; the set bit rules it out.
        Self { state: [mix(seed[0]), mix(!seed[1]) | 1] }
    }

    /// A fresh mask.
    #[inline]
    pub(super) fn mask(&mut self) -> [u8; 4] {
        ((self.next() >> 32) as u32).to_ne_bytes()
    }

    /// The 16 random bytes that a handshake key is made of.
    pub(super) fn nonce(&mut self) -> [u8; 16] {
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&self.next().to_le_bytes());
        nonce[8..].copy_from_slice(&self.next().to_le_bytes());
        nonce
    }

    #[inline]
    fn next(&mut self) -> u64 {
        let [low, mut high] = self.state;
        let result = low.wrapping_add(high).rotate_left(17).wrapping_add(low);
        high ^= low;
        self.state = [low.rotate_left(49) ^ high ^ (high << 21), high.rotate_left(28)];
        result
    }
}

/// Spreads a seed over all bits (the finaliser of splitmix64).
fn mix(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the reference algorithm from the state [1, 2], computed by hand.
    #[test]
    fn follows_the_published_recurrence() {
        let mut random = Random { state: [1, 2] };
        assert_eq!(random.next(), (3 << 17) + 1);
        let high = 3_u64;
        let state = [1_u64.rotate_left(49) ^ high ^ (high << 21), high.rotate_left(28)];
        assert_eq!(random.state, state);
    }

    #[test]
    fn neighbouring_seeds_share_no_masks() {
        let masks = |seed| {
            let mut random = Random::new(seed);
            (0..1000).map(|_| random.mask()).collect::<std::collections::HashSet<_>>()
        };
        let common = masks([0, 0]).intersection(&masks([0, 1])).count();
        assert!(common <= 1, "{common} of 1000 masks are the same");
    }

    #[test]
    fn every_bit_of_a_mask_is_set_about_half_the_time() {
        let mut random = Random::new([7, 11]);
        let mut set = [0_u32; 32];
        for _ in 0..10_000 {
            let mask = u32::from_ne_bytes(random.mask());
            for (bit, count) in set.iter_mut().enumerate() {
                *count += (mask >> bit) & 1;
            }
        }
        assert!(set.iter().all(|count| (4_700..5_300).contains(count)), "{set:?}");
    }
}
