//! The Date field (RFC 9110 sections 5.6.7 and 6.6.1).
//!
//! Knows the calendar and one format; must not know a clock: the seconds are handed in.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const SECONDS_PER_DAY: u64 = 86_400;
/// From 1970 to 9999, where four digits no longer tell the year.
const LAST_SECOND: u64 = 253_402_300_799;
const LENGTH: usize = "Thu, 01 Jan 1970 00:00:00 GMT".len();
/// The last of them holds what is left of the text, and zeros.
const WORDS: usize = LENGTH.div_ceil(8);

const DAYS: &[u8; 21] = b"ThuFriSatSunMonTueWed";
const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";

/// The date that answers carry, rendered once a second and shared by the connections of one
/// thread. Only that thread may set and read it: another one could read half of each second.
#[derive(Debug)]
pub struct DateField {
    seconds: AtomicU64,
    text: [AtomicU64; WORDS],
}

impl DateField {
    /// The date so many seconds after 1970-01-01 UTC.
    pub fn new(unix_seconds: u64) -> Self {
        let date = Self { seconds: AtomicU64::new(!unix_seconds), text: Default::default() };
        date.set(unix_seconds);
        date
    }

    /// The time went on to so many seconds after 1970-01-01 UTC. Costs a comparison where it
    /// did not.
    pub fn set(&self, unix_seconds: u64) {
        if self.seconds.load(Relaxed) == unix_seconds {
            return;
        }
        self.seconds.store(unix_seconds, Relaxed);
        let mut padded = [0; WORDS * 8];
        padded[..LENGTH].copy_from_slice(&imf_fixdate(unix_seconds));
        for (word, bytes) in self.text.iter().zip(padded.as_chunks().0) {
            word.store(u64::from_ne_bytes(*bytes), Relaxed);
        }
    }

    /// Appends the whole field line.
    pub(super) fn append(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"Date: ");
        for word in &self.text {
            out.extend_from_slice(&word.load(Relaxed).to_ne_bytes());
        }
        out.truncate(out.len() - (WORDS * 8 - LENGTH));
        out.extend_from_slice(b"\r\n");
    }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`.
fn imf_fixdate(unix_seconds: u64) -> [u8; LENGTH] {
    let seconds = unix_seconds.min(LAST_SECOND);
    let (days, second) = (seconds / SECONDS_PER_DAY, seconds % SECONDS_PER_DAY);
    let (year, month, day) = civil(days);
    let mut text = *b"Thu, 01 Jan 1970 00:00:00 GMT";
    text[..3].copy_from_slice(three(DAYS, days % 7));
    two_digits(&mut text[5..7], day);
    text[8..11].copy_from_slice(three(MONTHS, month));
    two_digits(&mut text[12..14], year / 100);
    two_digits(&mut text[14..16], year % 100);
    two_digits(&mut text[17..19], second / 3600);
    two_digits(&mut text[20..22], second / 60 % 60);
    two_digits(&mut text[23..25], second % 60);
    text
}

/// Year, month (from 0) and day (from 1) so many days after 1970-01-01.
fn civil(mut days: u64) -> (u64, u64, u64) {
    let mut year = 1970;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let mut month = 0;
    for length in [31, if is_leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

const fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn three(names: &[u8], index: u64) -> &[u8] {
    &names[index as usize * 3..][..3]
}

fn two_digits(place: &mut [u8], number: u64) {
    place.copy_from_slice(&[b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
}

#[cfg(test)]
mod tests {
    use super::DateField;

    fn line(unix_seconds: u64) -> String {
        let mut out = Vec::new();
        DateField::new(unix_seconds).append(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        let rows = [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (1_767_225_599, "Wed, 31 Dec 2025 23:59:59 GMT"),
            (1_767_225_600, "Thu, 01 Jan 2026 00:00:00 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (u64::MAX, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ];
        for (seconds, date) in rows {
            assert_eq!(line(seconds), format!("Date: {date}\r\n"));
        }
    }

    #[test]
    fn a_date_goes_on() {
        let date = DateField::new(0);
        date.set(59);
        date.set(59);
        let mut out = Vec::new();
        date.append(&mut out);
        assert_eq!(out, b"Date: Thu, 01 Jan 1970 00:00:59 GMT\r\n");
    }
}
