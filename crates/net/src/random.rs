//! Random numbers that are the same on every machine.
//!
//! Knows `SplitMix64` (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).

/// A generator of random numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// All that it gives follows from this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub const fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to this one, both included.
    pub const fn up_to(&mut self, most: u64) -> u64 {
        match most.checked_add(1) {
            Some(count) => ((self.any() as u128 * count as u128) >> 64) as u64,
            None => self.any(),
        }
    }

    /// A number between these two, both included.
    pub const fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.up_to(most - least)
    }

    /// True once in so many times, on average; never for 0.
    pub const fn once_in(&mut self, times: u64) -> bool {
        times > 0 && self.up_to(times - 1) == 0
    }

    /// One of these.
    ///
    /// # Panics
    /// When there is none.
    pub const fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.up_to(choices.len() as u64 - 1) as usize]
    }
}
