//! Blocks of fields that come again: nearly all replies of a server have the head of the one before.
//!
//! Knows bytes, and whether they still mean what they meant; must not know what that is.

use crate::http2::hpack::Footing;

/// Blocks are kept up to this length, bytes: a longer one is read each time.
const MOST_BYTES: usize = 512;

/// The last block in one place of a reply: its head, or behind its content.
#[derive(Debug, Default)]
pub(super) struct Repeat {
    bytes: Vec<u8>,
    /// Of the table that its indices refer to.
    version: u64,
    is_end: bool,
    /// So often it came in a row, with nothing between that changed the table.
    in_a_row: usize,
    /// The next one means the same and leaves the table as it is.
    is_steady: bool,
    /// The caller has kept what it says.
    is_known: bool,
}

impl Repeat {
    /// Does this block say what the caller has kept? `version` is that of the table, none where the
    /// next block has to change it.
    #[inline]
    pub(super) fn is_again(&self, block: &[u8], is_end: bool, version: Option<u64>) -> bool {
        self.is_known
            && self.is_end == is_end
            && version == Some(self.version)
            && self.bytes == block
    }

    /// The block that says what the caller has kept, where it still does; see [`is_again`](Self::is_again).
    #[inline]
    pub(super) fn kept(&self, is_end: bool, version: Option<u64>) -> Option<&[u8]> {
        let holds = self.is_known && self.is_end == is_end && version == Some(self.version);
        holds.then_some(&self.bytes)
    }

    /// This block was read, between these two versions of the table.
    ///
    /// Where it refers to what was added, it means something else once it has changed the table. Where it
    /// only adds, as nginx does with each reply, it changes the table until that holds nothing else: what
    /// a table holds are the last entries that there is room for, and those are the same ones then.
    pub(super) fn was_read(
        &mut self,
        block: &[u8],
        is_end: bool,
        tables: [Option<u64>; 2],
        footing: Footing,
    ) {
        let [before, after] = tables;
        let is_next = before == Some(self.version) && self.is_end == is_end && self.bytes == block;
        self.in_a_row = if is_next { self.in_a_row.saturating_add(1) } else { 1 };
        (self.is_known, self.is_steady) = (false, false);
        let Some(version) = after.filter(|_| block.len() <= MOST_BYTES) else {
            self.bytes.clear();
            return;
        };
        if !is_next {
            self.bytes.clear();
            self.bytes.extend_from_slice(block);
        }
        (self.version, self.is_end) = (version, is_end);
        let fills = self.in_a_row.saturating_mul(footing.added) >= footing.room;
        self.is_steady = before == after || (!footing.needs_table && fills);
    }

    /// The caller keeps what the block says that was read last.
    pub(super) fn keep(&mut self) {
        // An empty one is read at once.
        self.is_known = self.is_steady && !self.bytes.is_empty();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_again_while_its_table_and_its_end_are_the_same() {
        let mut repeat = Repeat::default();
        assert!(!repeat.is_again(b"", false, Some(0)));
        repeat.was_read(b"abc", false, [Some(3); 2], Footing::default());
        assert!(!repeat.is_again(b"abc", false, Some(3)), "nobody kept it");
        repeat.keep();
        for (block, is_end, version, is_again) in [
            (&b"abc"[..], false, Some(3), true),
            (b"abd", false, Some(3), false),
            (b"ab", false, Some(3), false),
            (b"abc", true, Some(3), false),
            (b"abc", false, Some(4), false),
            (b"abc", false, None, false),
        ] {
            assert_eq!(repeat.is_again(block, is_end, version), is_again, "{block:?} {version:?}");
        }
    }

    #[test]
    fn what_rests_on_a_table_that_changed_or_is_long_is_never_kept() {
        let long = vec![b'a'; MOST_BYTES + 1];
        let footing = Footing { needs_table: true, added: 40, room: 0 };
        for (block, tables) in [
            (&b"abc"[..], [Some(3), Some(4)]),
            (b"abc", [None, Some(3)]),
            (b"abc", [Some(3), None]),
            (&long, [Some(3); 2]),
            (b"", [Some(3); 2]),
        ] {
            let mut repeat = Repeat::default();
            repeat.was_read(block, false, tables, footing);
            repeat.keep();
            assert!(!repeat.is_again(block, false, tables[1]), "{tables:?}");
        }
    }

    #[test]
    fn what_only_adds_is_kept_once_the_table_holds_nothing_else() {
        let footing = Footing { needs_table: false, added: 40, room: 100 };
        let mut repeat = Repeat::default();
        let mut kept = Vec::new();
        // What came between two of them changed the table: it begins again.
        for before in [0, 1, 2, 3, 9, 10, 11] {
            repeat.was_read(b"abc", false, [Some(before), Some(before + 1)], footing);
            repeat.keep();
            kept.push(repeat.is_again(b"abc", false, Some(before + 1)));
        }
        assert_eq!(kept, [false, false, true, true, false, false, true]);
        repeat.was_read(b"abd", false, [Some(12), Some(13)], footing);
        repeat.keep();
        assert!(!repeat.is_again(b"abd", false, Some(13)), "another block");
    }
}
