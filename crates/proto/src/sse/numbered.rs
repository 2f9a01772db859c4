//! What the events of the reference server carry: a number, an instant, and a pattern up to their size.
//!
//! Knows bytes; must not know clocks, nor which number is due.

/// Digits of a number and of an instant.
const DIGITS: usize = 16;
/// Bytes before the pattern: both of them, and a blank behind each.
const FRONT: usize = 2 * (DIGITS + 1);
/// The least data of such an event, bytes: without the last blank.
pub const SHORTEST: usize = FRONT - 1;
const PATTERN: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// An event that says which one it is and when it was due, on the monotonic clock of its machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedEvent {
    /// Those of one stream follow one another.
    pub number: u64,
    /// Nanoseconds.
    pub due_ns: u64,
}

impl NumberedEvent {
    /// Appends `size` bytes of data, at least [`SHORTEST`].
    pub fn write(&self, size: usize, out: &mut Vec<u8>) {
        let begin = out.len();
        for value in [self.number, self.due_ns] {
            write_digits(value, out);
            out.push(b' ');
        }
        out.truncate(begin + size.max(SHORTEST));
        let mut missing = size.saturating_sub(out.len() - begin);
        while missing > 0 {
            let piece = &PATTERN[..missing.min(PATTERN.len())];
            out.extend_from_slice(piece);
            missing -= piece.len();
        }
    }

    /// Reads such data; none where any byte of it is another one than it has to be.
    pub fn read(data: &[u8]) -> Option<Self> {
        let event = Self::read_front(data)?;
        let pattern = data.get(FRONT..).unwrap_or_default();
        let is_right = |piece: &[u8]| piece == &PATTERN[..piece.len()];
        pattern.chunks(PATTERN.len()).all(is_right).then_some(event)
    }

    /// Number and instant, whatever is behind them.
    pub fn read_front(data: &[u8]) -> Option<Self> {
        let (number, rest) = data.split_at_checked(DIGITS)?;
        let (due, behind) = rest.strip_prefix(b" ")?.split_at_checked(DIGITS)?;
        if behind.first().is_some_and(|byte| *byte != b' ') {
            return None;
        }
        Some(Self { number: read_digits(number)?, due_ns: read_digits(due)? })
    }
}

fn write_digits(value: u64, out: &mut Vec<u8>) {
    for place in (0..DIGITS).rev() {
        out.push(b"0123456789abcdef"[(value >> (4 * place)) as usize & 0xf]);
    }
}

fn read_digits(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |value, digit| {
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(value << 4 | u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: NumberedEvent = NumberedEvent { number: 0x2a, due_ns: u64::MAX };

    #[test]
    fn what_was_written_is_read_and_each_other_byte_is_found() {
        for size in [0, SHORTEST, FRONT, FRONT + 1, 64, 97, 98, 99, 1000] {
            let mut data = Vec::new();
            EVENT.write(size, &mut data);
            assert_eq!(data.len(), size.max(SHORTEST));
            assert_eq!(NumberedEvent::read(&data), Some(EVENT), "{size}");
            for place in 0..data.len() {
                let mut wrong = data.clone();
                wrong[place] ^= 1;
                assert_ne!(NumberedEvent::read(&wrong), Some(EVENT), "{size}, at {place}");
            }
        }
    }

    #[test]
    fn other_data_is_none_of_it() {
        let mut data = Vec::new();
        EVENT.write(64, &mut data);
        assert!(data.starts_with(b"000000000000002a ffffffffffffffff ABC"));
        for wrong in [&data[..SHORTEST - 1], b"", b"000000000000002A ffffffffffffffff"] {
            assert_eq!(NumberedEvent::read(wrong), None);
        }
        data[40] = b'!';
        assert_eq!(NumberedEvent::read(&data), None);
        assert_eq!(NumberedEvent::read_front(&data), Some(EVENT), "its front is right");
    }
}
