//! Figures as people read them.
//!
//! Knows numbers. Must not know what they count.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

/// A histogram as snapshots carry it.
pub(crate) fn decode(text: &str) -> Option<Histogram<u64>> {
    let bytes = BASE64_STANDARD.decode(text).ok()?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).ok()
}

/// The quantiles that can be told, the greatest value, and why the next quantile is withheld.
///
/// Ten values must lie beyond a quantile, or one stall more or less decides it.
pub(super) fn quantiles(histogram: &Histogram<u64>, values: &str) -> String {
    let mut line = String::new();
    let mut withheld = String::new();
    for (name, quantile, needed) in
        [("p50", 0.5, 20), ("p90", 0.9, 100), ("p99", 0.99, 1_000), ("p99.9", 0.999, 10_000)]
    {
        if histogram.len() < needed {
            let (needed, came) = (grouped(needed), grouped(histogram.len()));
            withheld = format!("   ({name} needs {needed} {values}; {came} came)");
            break;
        }
        // Writing to a String can't fail.
        let _ = write!(line, "{name} {}   ", time(histogram.value_at_quantile(quantile)));
    }
    let _ = write!(line, "max {}{withheld}", time(histogram.max()));
    line
}

/// Three significant digits, with the unit that suits.
pub(super) fn time(ns: u64) -> String {
    let ns = ns as f64;
    let (value, unit) = match ns {
        ns if ns < 1e3 => return format!("{ns} ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {unit}")
}

/// Digits in groups of three.
pub(super) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{grouped, time};

    #[test]
    fn table_of_figures() {
        let times = [
            (999, "999 ns"),
            (1_500, "1.50 us"),
            (99_960, "100 us"),
            (12_345_678, "12.3 ms"),
            (2_000_000_000, "2.00 s"),
        ];
        for (ns, text) in times {
            assert_eq!(time(ns), text);
        }
        let numbers = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (number, text) in numbers {
            assert_eq!(grouped(number), text);
        }
    }
}
