//! What a peer has to answer whose replies interleave.
//!
//! Knows what was asked and how far its reply is. Must not know when it goes on.

use std::collections::BTreeSet;

use super::conversation::Asked;

/// What was asked and is not answered.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub(super) waiting: Vec<Asked>,
    pub(super) begun: Vec<Begun>,
    /// Never answered while anybody waits for it.
    pub(super) ignored: Vec<Asked>,
    /// Nobody waits for these any more.
    pub(super) unwanted: BTreeSet<u64>,
}

/// A reply of which a part may have been said.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) number: u64,
    pub(super) rest: Vec<u8>,
    /// It ends in a refusal.
    pub(super) is_refused: bool,
}
