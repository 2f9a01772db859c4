//! Long payloads that begin with a sequence number: made piece by piece, never held whole.

use super::template::{PERIOD, Template, letter};

/// A longer payload than this, bytes, goes out in pieces.
pub(crate) const LONG: usize = 1 << 20;
/// So many bytes are there to be copied, whole periods.
const STRETCH: usize = 10_240 * PERIOD;

/// What [`Template::of_length`] would hold.
#[derive(Debug, Clone)]
pub(super) struct Long {
    length: usize,
    /// The first period, which holds the number.
    head: Template,
    /// Any later periods.
    stretch: Vec<u8>,
    /// The whole, once somebody needs it so.
    whole: Option<Template>,
}

impl Long {
    /// Of so many bytes, more than [`LONG`].
    pub(super) fn new(length: usize) -> Self {
        debug_assert!(length > LONG);
        let stretch = (0..STRETCH).map(letter).collect();
        Self { length, head: Template::of_length(PERIOD), stretch, whole: None }
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Bytes from this offset on, as many as are at hand; none at the end.
    pub(super) fn from(&mut self, seq: u64, offset: usize) -> &[u8] {
        if offset < PERIOD {
            return &self.head.write(seq)[offset..];
        }
        let begin = offset % PERIOD;
        let end = self.stretch.len().min(begin + self.length.saturating_sub(offset));
        &self.stretch[begin..end]
    }

    /// All of it, in memory from now on.
    pub(super) fn whole(&mut self, seq: u64) -> &[u8] {
        self.whole.get_or_insert_with(|| Template::of_length(self.length)).write(seq)
    }
}
