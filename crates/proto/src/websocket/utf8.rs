//! Text checked as it flows: UTF-8 (RFC 3629) over any borders, wrong at the first impossible byte.
//!
//! Knows bytes only; must not know frames.

/// What is left of a character that began in an earlier piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Utf8 {
    /// Continuation bytes still to come.
    missing: u8,
    /// What the next of them may be: the first one's range depends on the lead byte.
    low: u8,
    high: u8,
}

/// The text cannot be UTF-8, whatever follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotUtf8;

impl Utf8 {
    /// Between two characters.
    pub(super) const START: Self = Self { missing: 0, low: 0x80, high: 0xbf };

    /// Checks the next piece of the text.
    #[inline]
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<(), NotUtf8> {
        if self.is_whole() && piece.is_ascii() {
            return Ok(());
        }
        self.push_any(piece)
    }

    /// Does the text so far end with a whole character?
    #[inline]
    pub(super) fn is_whole(self) -> bool {
        self.missing == 0
    }

    fn push_any(&mut self, piece: &[u8]) -> Result<(), NotUtf8> {
        let head = piece.len().min(usize::from(self.missing));
        let (head, rest) = piece.split_at(head);
        for &byte in head {
            self.step(byte)?;
        }
        let (stretch, tail) = rest.split_at(whole_characters(rest));
        simdutf8::basic::from_utf8(stretch).map_err(|_| NotUtf8)?;
        for &byte in tail {
            self.step(byte)?;
        }
        Ok(())
    }

    fn step(&mut self, byte: u8) -> Result<(), NotUtf8> {
        if self.missing > 0 {
            if byte < self.low || byte > self.high {
                return Err(NotUtf8);
            }
            *self = Self { missing: self.missing - 1, ..Self::START };
            return Ok(());
        }
        // RFC 3629 section 4: overlong forms, surrogates and what lies beyond U+10FFFF are ruled
        // out by the range of the second byte.
        let (missing, low, high) = match byte {
            0x00..=0x7f => (0, 0x80, 0xbf),
            0xc2..=0xdf => (1, 0x80, 0xbf),
            0xe0 => (2, 0xa0, 0xbf),
            0xed => (2, 0x80, 0x9f),
            0xe1..=0xef => (2, 0x80, 0xbf),
            0xf0 => (3, 0x90, 0xbf),
            0xf1..=0xf3 => (3, 0x80, 0xbf),
            0xf4 => (3, 0x80, 0x8f),
            _ => return Err(NotUtf8),
        };
        *self = Self { missing, low, high };
        Ok(())
    }
}

/// Length of `text` without a character that its end cuts off.
fn whole_characters(text: &[u8]) -> usize {
    for back in 1..=text.len().min(3) {
        let length = match text[text.len() - back] {
            0x80..=0xbf => continue,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xff => 4,
            _ => 1,
        };
        return if length > back { text.len() - back } else { text.len() };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a validator without any splitting says: is some continuation valid, is it whole?
    fn by_the_standard_library(text: &[u8]) -> Result<bool, NotUtf8> {
        match std::str::from_utf8(text) {
            Ok(_) => Ok(true),
            Err(error) if error.error_len().is_none() => Ok(false),
            Err(_) => Err(NotUtf8),
        }
    }

    fn pushed(pieces: &[&[u8]]) -> Result<bool, NotUtf8> {
        let mut state = Utf8::START;
        for piece in pieces {
            state.push(piece)?;
        }
        Ok(state.is_whole())
    }

    fn check_at_all_splits(text: &[u8]) {
        let expected = by_the_standard_library(text);
        for cut in 0..=text.len() {
            let (left, right) = text.split_at(cut);
            assert_eq!(pushed(&[left, right]), expected, "{text:x?} cut at {cut}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(pushed(&bytes), expected, "{text:x?} byte by byte");
    }

    #[test]
    fn every_pair_and_the_borders_of_longer_sequences() {
        for first in 0..=255 {
            for second in 0..=255 {
                check_at_all_splits(&[first, second]);
            }
        }
        let edges = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
        for first in 0xc0..=255 {
            for second in edges {
                for third in edges {
                    for fourth in edges {
                        check_at_all_splits(&[first, second, third, fourth]);
                    }
                }
            }
        }
    }

    #[test]
    fn fails_at_the_first_impossible_byte() {
        let mut state = Utf8::START;
        assert_eq!(state.push(b"\xce\xba\xf4"), Ok(()));
        assert_eq!(state.push(b"\x90"), Err(NotUtf8), "beyond U+10FFFF");
    }

    proptest! {
        #[test]
        fn agrees_with_the_standard_library(
            text in "\\PC{0,60}",
            damage in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            let mut text = text.into_bytes();
            if let (Some((place, byte)), false) = (damage, text.is_empty()) {
                let place = place.index(text.len());
                text[place] = byte;
            }
            check_at_all_splits(&text);
        }

        #[test]
        fn agrees_on_noise(noise in proptest::collection::vec(any::<u8>(), 0..12)) {
            check_at_all_splits(&noise);
        }
    }
}
