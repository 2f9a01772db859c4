//! What is made for each message: numbers, UUIDs, times. Pure functions of the seed and the number.
//!
//! Knows how they are written. Must not know where they stand.

use std::io::Write as _;

use crate::plan::traffic::Made;

/// Which message it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Making {
    /// Of all that the run draws.
    pub seed: u64,
    /// The message's number; the preflight's is the greatest there is.
    pub seq: u64,
    /// The user's number.
    pub user: u64,
    /// The session's number.
    pub session: u64,
    /// When the message was due, nanoseconds since 1970.
    pub due_unix_ns: u64,
}

impl Making {
    /// Appends it.
    pub(super) fn write(&self, made: Made, out: &mut Vec<u8>) {
        // Writing into a Vec can't fail.
        let _ = match made {
            Made::Seq => write!(out, "{}", self.seq.wrapping_add(1)),
            Made::User => write!(out, "{}", self.user),
            Made::Iteration => write!(out, "{}", self.session),
            Made::Uuid => uuid(self.seed, self.seq, out),
            Made::Time => time(self.due_unix_ns, out),
        };
    }
}

/// Drawn, of version 4 and the variant of RFC 9562.
fn uuid(seed: u64, seq: u64, out: &mut Vec<u8>) -> std::io::Result<()> {
    let mut rng = fastrand::Rng::with_seed(seed ^ seq.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let drawn = rng.u128(..);
    let bits = drawn & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let part = |shift: u32, digits: u32| (bits >> shift) & ((1 << (4 * digits)) - 1);
    write!(
        out,
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        part(96, 8),
        part(80, 4),
        part(64, 4),
        part(48, 4),
        part(0, 12)
    )
}

/// RFC 3339, UTC, microseconds.
fn time(unix_ns: u64, out: &mut Vec<u8>) -> std::io::Result<()> {
    let (seconds, micros) = (unix_ns / 1_000_000_000, unix_ns / 1_000 % 1_000_000);
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    // Days from 0000-03-01, in eras of 400 years: Howard Hinnant's civil_from_days.
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let date = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    write!(out, "{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(of: Made, making: Making) -> String {
        let mut out = Vec::new();
        making.write(of, &mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn table_of_times() {
        let rows = [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00.000000Z"),
            (1_709_164_799_999_999_999, "2024-02-28T23:59:59.999999Z"),
            (1_735_689_600_123_456_789, "2025-01-01T00:00:00.123456Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000Z"),
        ];
        for (due_unix_ns, text) in rows {
            assert_eq!(made(Made::Time, Making { due_unix_ns, ..Making::default() }), text);
        }
    }

    #[test]
    fn numbers_are_those_of_message_user_and_session() {
        let making = Making { seq: 6, user: 3, session: 9, ..Making::default() };
        let all = [Made::Seq, Made::User, Made::Iteration].map(|of| made(of, making));
        assert_eq!(all, ["7", "3", "9"]);
        assert_eq!(made(Made::Seq, Making { seq: u64::MAX, ..making }), "0");
    }

    #[test]
    fn uuids_differ_and_are_the_seed_s() {
        let of = |seed, seq| made(Made::Uuid, Making { seed, seq, ..Making::default() });
        let mut all: Vec<_> = (0..2000).map(|seq| of(1, seq)).collect();
        for uuid in &all {
            let places: Vec<_> = uuid.match_indices('-').map(|(place, _)| place).collect();
            assert_eq!((uuid.len(), places), (36, vec![8, 13, 18, 23]), "{uuid}");
            assert!(
                uuid.as_bytes()[14] == b'4' && b"89ab".contains(&uuid.as_bytes()[19]),
                "{uuid}"
            );
        }
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 2000);
        assert_eq!(of(1, 5), of(1, 5));
        assert_ne!(of(1, 5), of(2, 5));
    }
}
