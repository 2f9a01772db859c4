//! What makes the header fields of a request its own: digits of the message's number, laid out in place.
//!
//! Knows a profile's holes. Must not know what stands around them.

use wiretrial_proto::Fill;

use super::template::Template;
use crate::plan::NUMBER_BYTES;
use crate::plan::profile::{Piece, Profile};

/// The values of all holes of a request's header fields.
#[derive(Debug, Clone)]
pub(super) struct Numbers {
    /// The number once for each field that has it.
    digits: Template,
    /// Where each hole's part of these ends.
    ends: Box<[u32]>,
}

impl Numbers {
    /// Those of this profile; none: its requests are all alike.
    pub(super) fn new(profile: &Profile) -> Option<Self> {
        let pieces = profile.fields.iter().flat_map(|field| &field.value);
        let widths = pieces.filter_map(|piece| match piece {
            Piece::Digits(width) => Some(*width),
            Piece::Text(_) => None,
        });
        let ends = widths.scan(0, |end, width| {
            *end += width;
            Some(*end as u32)
        });
        let ends: Box<[u32]> = ends.collect();
        // All digits of a number are in each field that has any.
        let length = *ends.last()? as usize;
        let places = (0..length).step_by(NUMBER_BYTES).map(|begin| (begin, NUMBER_BYTES));
        let digits = Template::with_places(vec![b'0'; length], places.collect());
        Some(Self { digits, ends })
    }

    /// What is laid into the holes of the message with this number.
    #[inline]
    pub(super) fn fill(&mut self, number: u64) -> Fill<'_> {
        Fill { values: self.digits.write(number), ends: &self.ends, cookies: &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::profile::HeaderProfile;

    /// The values of the fields of the message with this number.
    fn values(profile: &Profile, number: u64) -> Vec<String> {
        let mut numbers = Numbers::new(profile);
        let fill = numbers.as_mut().map(|numbers| numbers.fill(number)).unwrap_or_default();
        let mut holes = (0..fill.ends.len()).map(|at| {
            let begin = at.checked_sub(1).map_or(0, |before| fill.ends[before]);
            std::str::from_utf8(&fill.values[begin as usize..fill.ends[at] as usize]).expect("text")
        });
        let value = profile.fields.iter().map(|field| {
            let pieces = field.value.iter().map(|piece| match piece {
                Piece::Text(text) => *text,
                Piece::Digits(_) => holes.next().expect("a value for each hole"),
            });
            pieces.collect::<String>()
        });
        let values = value.collect();
        assert_eq!(holes.next(), None);
        values
    }

    #[test]
    fn values_are_those_of_the_message() {
        let of = |kind, number| values(&Profile::new(kind, &[]), number);
        let number = 0x0123_4567_89ab_cdef;
        let unique = of(HeaderProfile::Unique, number);
        assert_eq!(unique[2], "en-GB,en;q=0.9,x-01234567-89abcdef;q=0.1");
        assert_eq!(unique[7], "0123456789abcdef");
        assert!(unique.iter().zip(of(HeaderProfile::Unique, number + 1)).all(|(a, b)| *a != b));
        let partly = of(HeaderProfile::Partly, number);
        let same = partly.iter().zip(of(HeaderProfile::Partly, 7)).filter(|(a, b)| *a == b);
        assert_eq!(same.count(), 8);
        assert_eq!(of(HeaderProfile::Constant, 1), of(HeaderProfile::Constant, 2));
        assert!(Numbers::new(&Profile::new(HeaderProfile::Constant, &[])).is_none());
    }
}
