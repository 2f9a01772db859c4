//! Parses a duration: a number and a unit.
//!
//! Must not know which flag it belongs to.

/// Nanoseconds of `5ms`, `1.5s`, `200us`, `80ns`, `2m`; none where the text is not a duration.
pub(super) fn parse(text: &str) -> Option<u64> {
    const UNITS: [(&str, f64); 6] =
        [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9)];
    // The limit of this server's timers: a day.
    const LONGEST: f64 = 86_400e9;

    let (number, scale) = UNITS
        .iter()
        .filter_map(|&(unit, scale)| Some((text.strip_suffix(unit)?, scale)))
        .find(|(number, _)| number.ends_with(|c: char| c.is_ascii_digit()))?;
    if !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let nanoseconds = number.parse::<f64>().ok()? * scale;
    (nanoseconds <= LONGEST).then(|| nanoseconds.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_number_and_unit() {
        let table = [
            ("5ms", Some(5_000_000)),
            ("1.5s", Some(1_500_000_000)),
            ("200us", Some(200_000)),
            ("200µs", Some(200_000)),
            ("80ns", Some(80)),
            ("2m", Some(120_000_000_000)),
            ("0s", Some(0)),
            ("24000m", None),
            ("5", None),
            ("ms", None),
            ("5 ms", None),
            ("-5ms", None),
            ("1e3s", None),
            ("1.2.3s", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
