//! What a session knows: columns of its row, and what it captured.
//!
//! Knows bytes by index. Must not know what they are for.

/// The values of one session, all in one piece of memory, which is kept for the next session.
#[derive(Debug, Clone, Default)]
pub struct Values {
    bytes: Vec<u8>,
    /// By the value's index, as far as any was set.
    places: Vec<Place>,
}

/// Where a value stands; empty where there is none.
#[derive(Debug, Clone, Copy)]
struct Place {
    begin: u32,
    end: u32,
    is_set: bool,
}

impl Values {
    const UNSET: Place = Place { begin: 0, end: 0, is_set: false };

    /// Another session begins.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    /// The value with this index; nothing where it was not set.
    pub fn get(&self, index: usize) -> &[u8] {
        let place = self.places.get(index).copied().unwrap_or(Self::UNSET);
        &self.bytes[place.begin as usize..place.end as usize]
    }

    /// Was it set?
    pub fn has(&self, index: usize) -> bool {
        self.places.get(index).is_some_and(|place| place.is_set)
    }

    /// Takes the place of the value that was there.
    pub fn set(&mut self, index: usize, value: &[u8]) {
        if self.places.len() <= index {
            self.places.resize(index + 1, Self::UNSET);
        }
        let Place { begin, end, .. } = self.places[index];
        let room = begin as usize..end as usize;
        let begin = if value.len() <= room.len() {
            self.bytes[room.start..room.start + value.len()].copy_from_slice(value);
            room.start
        } else {
            self.bytes.extend_from_slice(value);
            self.bytes.len() - value.len()
        };
        let end = (begin + value.len()) as u32;
        self.places[index] = Place { begin: begin as u32, end, is_set: true };
    }

    /// Bytes of memory that it holds on to.
    #[cfg(test)]
    fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_set_and_set_anew() {
        let mut values = Values::default();
        assert!(!values.has(3) && values.get(3).is_empty());
        values.set(3, b"three");
        values.set(0, b"zero");
        values.set(3, b"3");
        assert_eq!((values.get(3), values.get(0), values.has(1)), (&b"3"[..], &b"zero"[..], false));
        values.set(3, b"another three");
        values.set(1, b"");
        assert_eq!((values.get(3), values.get(0)), (&b"another three"[..], &b"zero"[..]));
        assert!(values.has(1) && values.get(1).is_empty());
    }

    #[test]
    fn the_next_session_needs_no_more_memory() {
        let mut values = Values::default();
        let mut capacity = None;
        for _ in 0..100 {
            values.clear();
            assert!(!values.has(0));
            (0..4).for_each(|index| values.set(index, &[b'x'; 100]));
            assert_eq!(*capacity.get_or_insert(values.capacity()), values.capacity());
        }
    }
}
