//! Repeatable random numbers, one stream for each kind of decision.
//!
//! The generator is `SplitMix64` (Steele, Lea, Flood: "Fast splittable pseudorandom number
//! generators", 2014), written here so that a seed means the same in every release.

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of random numbers that depends on nothing but its seed and its name.
#[derive(Debug, Clone)]
pub(crate) struct Stream(u64);

impl Stream {
    /// The stream that `name` has under `seed`; streams of other names are unrelated.
    pub(crate) fn new(seed: u64, name: u64) -> Self {
        let mut mixed = Self(seed ^ name.wrapping_mul(0xD1B5_4A32_D192_ED03));
        Self(mixed.next())
    }

    /// Evenly spread over 0 (included) to 1 (excluded).
    pub(crate) fn unit(&mut self) -> f64 {
        // 53 bits are what the fraction of a double holds.
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True in that share of all draws.
    pub(crate) fn happens(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // The first three outputs for the seed 1234567, as its authors' reference gives them.
        let mut stream = Stream(1_234_567);
        let drawn = [stream.next(), stream.next(), stream.next()];
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn streams_of_other_names_differ_and_the_same_one_repeats() {
        let draw = |seed, name| Stream::new(seed, name).unit().to_bits();
        assert_eq!(draw(7, 1), draw(7, 1));
        assert_ne!(draw(7, 1), draw(7, 2));
        assert_ne!(draw(7, 1), draw(8, 1));
    }
}
