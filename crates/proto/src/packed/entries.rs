//! The entries of a dynamic table (RFC 7541 section 2.3.2, RFC 9204 section 3.2): the oldest go for the new.
//!
//! Knows entries by their age; must not know who counts them, nor from where.

use std::collections::VecDeque;

use super::{OVERHEAD, cost};

/// Entries stand in one buffer, the newest last, so that they take no more memory than about twice
/// what the table may hold.
#[derive(Debug)]
pub(crate) struct Entries {
    /// Names and values; what went is at the front, until it is half of it.
    text: Vec<u8>,
    /// Bytes at the front of `text` that nobody refers to.
    gone: usize,
    /// Lengths of name and value, the newest first.
    lengths: VecDeque<(u32, u32)>,
    /// Of all entries, with what each costs beside its text.
    size: usize,
    most: usize,
}

impl Entries {
    /// No entry, and room for so many bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self { text: Vec::new(), gone: 0, lengths: VecDeque::new(), size: 0, most }
    }

    /// How much they may be together, bytes.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// What they cost together, bytes.
    #[cfg(test)]
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Changes how much they may be; what no longer fits goes, the oldest first.
    pub(crate) fn resize(&mut self, most: usize) {
        self.most = most;
        self.shrink_to(most);
    }

    /// Adds one; the oldest go for it. False: it is larger than all of the table, which has nothing
    /// then.
    pub(crate) fn add(&mut self, name: &[u8], value: &[u8]) -> bool {
        let size = cost(name, value);
        self.shrink_to(self.most.saturating_sub(size));
        if size > self.most {
            return false;
        }
        self.text.extend_from_slice(name);
        self.text.extend_from_slice(value);
        self.lengths.push_front((name.len() as u32, value.len() as u32));
        self.size += size;
        true
    }

    /// Name and value of the one behind which so many have come.
    pub(crate) fn get(&self, newer: usize) -> Option<(&[u8], &[u8])> {
        let &(name, value) = self.lengths.get(newer)?;
        let behind: usize = self.lengths.range(..newer).map(|&entry| text_of(entry)).sum();
        let end = self.text.len() - behind;
        let middle = end - value as usize;
        let begin = middle - name as usize;
        Some((&self.text[begin..middle], &self.text[middle..end]))
    }

    fn shrink_to(&mut self, most: usize) {
        while self.size > most
            && let Some(oldest) = self.lengths.pop_back()
        {
            self.size -= text_of(oldest) + OVERHEAD;
            self.gone += text_of(oldest);
        }
        if self.gone > self.text.len() / 2 {
            self.text.drain(..self.gone);
            self.gone = 0;
        }
    }
}

fn text_of((name, value): (u32, u32)) -> usize {
    name as usize + value as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_for_the_new() {
        let mut entries = Entries::new(3 * (OVERHEAD + 2));
        for value in 0..100_u8 {
            assert!(entries.add(b"a", &[value]));
            for age in 0..3.min(value + 1) {
                assert_eq!(entries.get(age.into()), Some((&b"a"[..], &[value - age][..])));
            }
            assert_eq!(entries.get(3), None);
            assert!(entries.text.len() <= 2 * 3 * 2 + 2, "{} bytes", entries.text.len());
        }
        entries.resize(OVERHEAD + 2);
        assert_eq!(entries.get(0), Some((&b"a"[..], &[99][..])));
        assert_eq!(entries.get(1), None);
        assert!(!entries.add(b"larger than", b"the table"));
        assert_eq!((entries.get(0), entries.size()), (None, 0));
    }
}
