//! The head of the last reply, with what was read from it.
//!
//! Most replies of a load begin with the very bytes of the one before: those need no second
//! reading. Knows bytes and a verdict; must not know how it was reached.

/// A head that was read, and what it said.
#[derive(Debug, Default)]
pub(crate) struct KnownHead {
    bytes: Vec<u8>,
    verdict: Verdict,
}

/// What the head of a reply with a body of known length says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) status: u16,
    /// No reply follows on this connection.
    pub(crate) last: bool,
    /// Bytes of the body.
    pub(crate) length: u64,
}

impl KnownHead {
    /// The verdict and the length of the head, if the input begins with it.
    #[inline]
    pub(crate) fn of(&self, input: &[u8]) -> Option<(Verdict, usize)> {
        let length = self.bytes.len();
        (length > 0 && input.get(..length)? == self.bytes).then_some((self.verdict, length))
    }

    /// Takes the place of the one before.
    pub(crate) fn learn(&mut self, head: &[u8], verdict: Verdict) {
        self.bytes.clear();
        self.bytes.extend_from_slice(head);
        self.verdict = verdict;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_head_is_known() {
        let mut known = KnownHead::default();
        assert_eq!(known.of(b"anything"), None);
        let verdict = Verdict { status: 200, last: false, length: 3 };
        known.learn(b"head", verdict);
        assert_eq!(known.of(b"headbody"), Some((verdict, 4)));
        assert_eq!(known.of(b"hea"), None);
        assert_eq!(known.of(b"heaD"), None);
    }
}
