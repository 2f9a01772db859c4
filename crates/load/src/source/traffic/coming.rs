//! What has come of a reply, as far as it is looked at.
//!
//! Knows its parts. Must not know what a right one is.

use std::ops::Range;

use super::coding::Codings;

/// What has come of a reply.
#[derive(Debug, Default)]
pub struct Coming {
    pub(super) status: u16,
    /// Of the head, bytes.
    pub(super) head_length: u64,
    /// Values of the header fields and cookies that are looked at.
    pub(super) heads: Vec<u8>,
    pub(super) places: Vec<Option<Range<usize>>>,
    /// What has come of the body, if it did not come at once; its beginning, where nobody looks at it.
    pub(super) body: Vec<u8>,
    /// Of the body so far.
    pub(super) length: u64,
    /// How it is compressed.
    pub(super) codings: Codings,
}

impl Coming {
    /// Bytes of head and body so far.
    pub fn bytes(&self) -> u64 {
        self.head_length + self.length
    }

    /// The reply is over with this status: of a call it stands behind the content.
    pub(crate) fn ended(&mut self, status: u16) {
        self.status = status;
    }

    /// Of the reply; none: it is a message, which has none.
    pub(super) fn status(&self) -> Option<u16> {
        (self.status > 0).then_some(self.status)
    }

    pub(super) fn codings(&self) -> Codings {
        self.codings
    }

    /// What has come of the body, as far as it is kept.
    pub(super) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Of the body with this last piece of it.
    pub(super) fn length_with(&self, last: &[u8]) -> u64 {
        self.length + last.len() as u64
    }

    /// The header field or cookie with this index, if it came.
    pub(super) fn head(&self, index: usize) -> Option<&[u8]> {
        self.places.get(index)?.clone().map(|place| &self.heads[place])
    }

    /// Takes the last piece in, where it was the only one: then the whole is kept, as it is of one that came in pieces.
    pub(crate) fn keep(&mut self, last: &[u8]) {
        if self.body.is_empty() {
            self.body.extend_from_slice(last);
        }
    }

    /// Bytes that it holds.
    pub(crate) fn held(&self) -> usize {
        self.heads.len() + self.body.len()
    }
}
