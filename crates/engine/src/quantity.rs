//! Durations, sizes and counts as people write them: `10s`, `64KiB`, `20k`.

use std::net::{IpAddr, Ipv4Addr};

use wiretrial_load::clock::Nanos;

/// The most addresses that one network stands for.
const MOST_ADDRESSES: u32 = 1 << 16;

const DURATIONS: [(&str, f64); 6] =
    [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];
const SIZES: [(&str, f64); 9] = [
    ("", 1.0),
    ("B", 1.0),
    ("k", 1e3),
    ("kB", 1e3),
    ("MB", 1e6),
    ("K", 1024.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];
const COUNTS: [(&str, f64); 4] = [("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)];

/// A duration such as `10s`, `500ms`, `1.5m`.
pub(crate) fn duration(text: &str) -> Result<Nanos, String> {
    let ns = parse(text, &DURATIONS, "a duration such as 10s, 500ms or 2m")?;
    Ok(Nanos(ns as u64))
}

/// A number of bytes such as `20`, `64KiB`, `100MB`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    Ok(parse(text, &SIZES, "a size such as 20, 64KiB or 1MB")? as u64)
}

/// A window of HTTP/2, bytes; its bounds are the plan's.
pub(crate) fn window(text: &str) -> Result<u32, String> {
    u32::try_from(size(text)?).map_err(|_| format!("{text}: no window is wider than 2 GiB"))
}

/// A number such as `1000`, `20k`, `1M`.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    Ok(parse(text, &COUNTS, "a number such as 1000, 20k or 1M")? as u64)
}

/// Local addresses: one (`10.0.0.1`), or the hosts of a network (`127.1.0.0/26`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Addresses(pub(crate) Vec<IpAddr>);

/// Reads [`Addresses`].
pub(crate) fn addresses(text: &str) -> Result<Addresses, String> {
    let wanted =
        || format!("{text} is no address such as 10.0.0.1, and no network as 127.1.0.0/26");
    let Some((address, prefix)) = text.split_once('/') else {
        return Ok(Addresses(vec![text.parse().map_err(|_| wanted())?]));
    };
    let address: Ipv4Addr = address.parse().map_err(|_| wanted())?;
    let prefix: u32 = prefix.parse().ok().filter(|prefix| *prefix <= 32).ok_or_else(wanted)?;
    let size = 1_u64 << (32 - prefix);
    if size > u64::from(MOST_ADDRESSES) {
        return Err(format!(
            "{text} has {size} addresses: use a network of {MOST_ADDRESSES} at most"
        ));
    }
    let first = u32::from(address) & ((u64::from(u32::MAX) << (32 - prefix)) as u32);
    let last = first + (size - 1) as u32;
    // The first and the last address of a network are no host's, but for the smallest ones.
    let hosts = if size > 2 { first + 1..=last - 1 } else { first..=last };
    Ok(Addresses(hosts.map(|host| IpAddr::V4(Ipv4Addr::from(host))).collect()))
}

/// As [`count`], up to four thousand million.
pub(crate) fn small_count(text: &str) -> Result<u32, String> {
    u32::try_from(count(text)?).map_err(|_| format!("{text} is too many"))
}

/// A rate such as `20k` or `0.5`, per second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    parse(text, &COUNTS, "a rate such as 1000, 20k or 0.5, per second")
}

/// Load over time: how long until it has come to what.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stages {
    pub(crate) parts: Vec<(Nanos, f64)>,
    /// They say so: some are per second.
    pub(crate) are_rates: bool,
}

/// Reads [`Stages`]: `30s:100,2m:500,30s:0`, of rates `30s:100/s`.
pub(crate) fn stages(text: &str) -> Result<Stages, String> {
    let mut stages = Stages { parts: Vec::new(), are_rates: false };
    for part in text.split(',') {
        let form = || format!("'{part}' is no stage; write TIME:CONNECTIONS or TIME:RATE/s");
        let (time, level) = part.trim().split_once(':').ok_or_else(form)?;
        let per_second = level.strip_suffix("/s");
        stages.are_rates |= per_second.is_some();
        let time = duration(time).map_err(|error| format!("'{part}': {error}"))?;
        let level = rate(per_second.unwrap_or(level));
        stages.parts.push((time, level.map_err(|error| format!("'{part}': {error}"))?));
    }
    if stages.parts.iter().all(|(_, level)| *level == 0.0) {
        return Err("all of it is nothing; give a level above 0".to_owned());
    }
    Ok(stages)
}

fn parse(text: &str, units: &[(&str, f64)], form: &str) -> Result<f64, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| factor);
    let number: Option<f64> = number.parse().ok().filter(|number: &f64| number.is_finite());
    match (number, factor) {
        (Some(number), Some(factor)) if number >= 0.0 => Ok(number * factor),
        _ => Err(format!("not {form}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_addresses() {
        let of = |text: &str| {
            addresses(text).map(|Addresses(list)| {
                (list.len(), list[0].to_string(), list[list.len() - 1].to_string())
            })
        };
        for (text, count, first, last) in [
            ("10.0.0.1", 1, "10.0.0.1", "10.0.0.1"),
            ("::1", 1, "::1", "::1"),
            ("127.1.0.0/26", 62, "127.1.0.1", "127.1.0.62"),
            ("127.1.0.9/30", 2, "127.1.0.9", "127.1.0.10"),
            ("127.1.0.1/32", 1, "127.1.0.1", "127.1.0.1"),
            ("127.1.0.0/31", 2, "127.1.0.0", "127.1.0.1"),
        ] {
            assert_eq!(of(text), Ok((count, first.to_owned(), last.to_owned())), "{text}");
        }
        for text in ["", "10.0.0", "10.0.0.0/33", "10.0.0.0/8", "::1/64", "0.0.0.0/0"] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn table_of_stages() {
        let second = Nanos::from_secs;
        let of = |text: &str| stages(text).map(|all| (all.parts, all.are_rates));
        let parts = vec![(second(30), 100.0), (second(120), 500.0), (second(30), 0.0)];
        assert_eq!(of("30s:100,2m:500, 30s:0"), Ok((parts.clone(), false)));
        assert_eq!(of("30s:100/s,2m:0.5k/s,30s:0"), Ok((parts, true)));
        assert_eq!(of("0s:8"), Ok((vec![(second(0), 8.0)], false)));
        for wrong in ["", "30s", "30s:", ":5", "30:5", "30s:x", "1s:0,2s:0/s", "1s:5/m", "1s:-5"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn table_of_quantities() {
        assert_eq!(duration("10s"), Ok(Nanos::from_secs(10)));
        assert_eq!(duration("1.5ms"), Ok(Nanos(1_500_000)));
        assert_eq!(size("64KiB"), Ok(65_536));
        assert_eq!(size("20"), Ok(20));
        assert_eq!(count("1M"), Ok(1_000_000));
        assert_eq!(rate("0.5"), Ok(0.5));
        for wrong in ["", "10", "s", "-1s", "10 s", "tens", "1e400s", "nans", "infs"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "-1", "1.2.3", "1q"] {
            assert!(count(wrong).is_err() && size(wrong).is_err(), "{wrong}");
        }
    }
}
