//! Buffers for what is encoded and not yet with the kernel, lent to connections by their worker.
//!
//! A connection that waits for a reply, or for its turn, has nothing to send and needs none.

use super::intake::Intake;

/// So many are kept: more connections than that have seldom something to send at once.
const KEPT: usize = 1024;

/// A worker's spare buffers, all of them empty. The last one that came back is lent first, as its
/// memory is still in the cache.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    spare: Vec<Vec<u8>>,
    /// Where those over QUIC take in what comes; kept once it was needed.
    intake: Option<Box<Intake>>,
}

impl Buffers {
    /// Where connections over QUIC take in what comes.
    pub(super) fn intake(&mut self) -> &mut Intake {
        self.intake.get_or_insert_default()
    }

    /// Sees to it that `out` has memory of its own, if there is some to spare.
    #[inline]
    pub(crate) fn lend(&mut self, out: &mut Vec<u8>) {
        if out.capacity() == 0
            && let Some(spare) = self.spare.pop()
        {
            *out = spare;
        }
    }

    /// Takes the memory of `out` back once nothing is left in it.
    #[inline]
    pub(crate) fn take_back(&mut self, out: &mut Vec<u8>) {
        if !out.is_empty() || out.capacity() == 0 {
            return;
        }
        let spare = std::mem::take(out);
        if self.spare.len() < KEPT {
            self.spare.push(spare);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_goes_round() {
        let mut buffers = Buffers::default();
        let mut one = Vec::new();
        buffers.lend(&mut one);
        one.extend_from_slice(b"first");
        let memory = one.as_ptr();
        buffers.take_back(&mut one);
        assert_eq!(one, b"first", "what is not sent stays");
        one.clear();
        buffers.take_back(&mut one);
        assert_eq!(one.capacity(), 0);
        let mut other = Vec::new();
        buffers.lend(&mut other);
        assert_eq!(other.as_ptr(), memory);
    }

    #[test]
    fn no_more_is_kept_than_is_of_use() {
        let mut buffers = Buffers::default();
        for _ in 0..2 * KEPT {
            buffers.take_back(&mut Vec::with_capacity(1));
        }
        assert_eq!(buffers.spare.len(), KEPT);
    }
}
