//! Connections by slot, with generations that distinguish the successive users of a slot.
//!
//! Knows keys. Must not know what it stores.

use wiretrial_net::Key;

/// A store with keys that are valid until their entry is removed. A key becomes valid again only
/// after its slot was used four billion times.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    entries: Vec<Entry<T>>,
    free: Vec<u32>,
    /// The first slot of the slab.
    first: u32,
    len: usize,
}

#[derive(Debug)]
struct Entry<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Slab<T> {
    /// Slots below `first` belong to others.
    pub(crate) fn new(first: u32) -> Self {
        Self { entries: Vec::new(), free: Vec::new(), first, len: 0 }
    }

    /// The first slot of the slab.
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The key that the next [`insert`](Self::insert) will have; none: all slots are in use.
    pub(crate) fn next_key(&mut self) -> Option<Key> {
        if self.free.is_empty() {
            let index = self.entries.len() as u32;
            if index > Key::LAST_SLOT - self.first {
                return None;
            }
            self.entries.push(Entry { generation: 0, value: None });
            self.free.push(index);
        }
        self.free.last().map(|&index| self.key(index))
    }

    /// Stores a value under the key that [`next_key`](Self::next_key) returned.
    pub(crate) fn insert(&mut self, value: T) {
        if let Some(index) = self.free.pop() {
            self.entries[index as usize].value = Some(value);
            self.len += 1;
        }
    }

    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let entry = self.entries.get_mut(key.slot.checked_sub(self.first)? as usize)?;
        if entry.generation == key.generation { entry.value.as_mut() } else { None }
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        let index = key.slot.checked_sub(self.first)?;
        let entry = self.entries.get_mut(index as usize)?;
        if entry.generation != key.generation {
            return None;
        }
        let value = entry.value.take()?;
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(index);
        self.len -= 1;
        Some(value)
    }

    /// The keys of all entries.
    pub(crate) fn keys(&self) -> Vec<Key> {
        let used = (0..).zip(&self.entries).filter(|(_, entry)| entry.value.is_some());
        used.map(|(index, _)| self.key(index)).collect()
    }

    fn key(&self, index: u32) -> Key {
        Key { slot: self.first + index, generation: self.entries[index as usize].generation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_used_again_has_another_key() {
        let mut slab = Slab::new(3);
        let first = slab.next_key().unwrap();
        assert_eq!(first, Key { slot: 3, generation: 0 });
        slab.insert("a");
        assert_eq!(slab.remove(first), Some("a"));
        let second = slab.next_key().unwrap();
        slab.insert("b");
        assert_eq!((second.slot, second.generation), (3, 1));
        assert_eq!(slab.get_mut(first), None);
        assert_eq!(slab.remove(first), None);
        assert_eq!(slab.get_mut(second), Some(&mut "b"));
        assert_eq!((slab.len(), slab.keys()), (1, vec![second]));
    }

    #[test]
    fn keys_of_others_are_not_found() {
        let mut slab: Slab<()> = Slab::new(3);
        assert_eq!(slab.get_mut(Key { slot: 0, generation: 0 }), None);
        assert_eq!(slab.get_mut(Key { slot: 9, generation: 0 }), None);
    }
}
