//! How long a call may take, as a field says it.
//!
//! Knows digits and units; must not know clocks.

/// Letters of units, and their nanoseconds; the shortest first.
const UNITS: [(u8, u64); 6] = [
    (b'n', 1),
    (b'u', 1_000),
    (b'm', 1_000_000),
    (b'S', 1_000_000_000),
    (b'M', 60_000_000_000),
    (b'H', 3_600_000_000_000),
];
/// A number has eight digits at most.
const MOST: u64 = 99_999_999;

/// The value of `grpc-timeout` for so many nanoseconds, in the finest unit that has room for it, rounded up: no
/// server gives up before its time.
pub fn timeout(nanoseconds: u64) -> String {
    let fits = |(_, unit): &&(u8, u64)| nanoseconds.div_ceil(*unit) <= MOST;
    let (letter, unit) = UNITS.iter().find(fits).unwrap_or(&UNITS[5]);
    format!("{}{}", nanoseconds.div_ceil(*unit).min(MOST), char::from(*letter))
}

/// The nanoseconds in a value of `grpc-timeout`; none: it is no such value.
pub fn from_timeout(value: &[u8]) -> Option<u64> {
    let (letter, digits) = value.split_last()?;
    let (_, unit) = UNITS.iter().find(|(each, _)| each == letter)?;
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0, |number, digit| 10 * number + u64::from(digit - b'0'));
    number.checked_mul(*unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_timeouts() {
        let cases = [
            (0, "0n"),
            (1, "1n"),
            (99_999_999, "99999999n"),
            (100_000_000, "100000u"),
            (100_000_001, "100001u"),
            (1_000_000_000, "1000000u"),
            (250_000_000_000, "250000m"),
            (u64::MAX, "5124096H"),
        ];
        for (nanoseconds, text) in cases {
            let made = timeout(nanoseconds);
            let read = from_timeout(made.as_bytes()).unwrap_or(u64::MAX);
            assert!(read >= nanoseconds, "{made}");
            assert_eq!(made, text);
        }
    }

    #[test]
    fn what_is_no_timeout() {
        for wrong in ["", "n", "5", "5s", "123456789n", "-1S", "1.5S", "1 S"] {
            assert_eq!(from_timeout(wrong.as_bytes()), None, "'{wrong}'");
        }
        assert_eq!(from_timeout(b"2M"), Some(120_000_000_000));
    }
}
