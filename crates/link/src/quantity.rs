//! Quantities of a link as people write them: `26ms`, `0.1%`, `100mbit`, `64KiB`.

const DURATIONS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
const RATES: [(&str, f64); 4] = [("bit", 1.0), ("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)];
const SIZES: [(&str, f64); 6] =
    [("B", 1.0), ("KB", 1e3), ("MB", 1e6), ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GB", 1e9)];

/// Nanoseconds.
pub(crate) fn duration_ns(text: &str) -> Option<u64> {
    scaled(text, &DURATIONS).map(|ns| ns.round() as u64)
}

/// Bits per second.
pub(crate) fn bits_per_second(text: &str) -> Option<u64> {
    scaled(text, &RATES).map(|rate| rate.round() as u64)
}

/// Bytes.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    scaled(text, &SIZES).map(|size| size.round() as u64)
}

/// A share of 0 to 1, written `0.1%`.
pub(crate) fn share(text: &str) -> Option<f64> {
    let share = number(text.strip_suffix('%')?)? / 100.0;
    (share <= 1.0).then_some(share)
}

/// A number that is not negative.
pub(crate) fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| plain)
}

fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (digits, unit) = text.split_at(split);
    let factor = units.iter().find(|(name, _)| *name == unit)?.1;
    Some(number(digits)? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_quantities() {
        assert_eq!(duration_ns("26ms"), Some(26_000_000));
        assert_eq!(duration_ns("0.5us"), Some(500));
        assert_eq!(bits_per_second("2.5mbit"), Some(2_500_000));
        assert_eq!(bytes("64KiB"), Some(65_536));
        assert_eq!(share("0.1%"), Some(0.001));
        assert_eq!(share("100%"), Some(1.0));
        for wrong in ["", "26", "ms", "-1ms", "1 ms", "1e3ms", "1mS", "infms", "1.2.3ms"] {
            assert_eq!(duration_ns(wrong), None, "{wrong}");
        }
        for wrong in ["", "%", "1", "101%", "-1%", "nan%"] {
            assert_eq!(share(wrong), None, "{wrong}");
        }
    }
}
