//! The longest message that is worth taking in.
//!
//! Knows what a plan says of right replies; must not know who takes them in.

use crate::plan::{ContentRule, Target};
use crate::source::Payloads;

/// Largest message that a client accepts, bytes, where it flows through as it is.
pub(super) const MAX_MESSAGE: u64 = 1 << 40;
/// The same where a few bytes may come to be a thousand times as many, and a right reply's length
/// is not known.
pub(super) const MAX_INFLATED: u64 = 128 << 20;
/// So much longer than a right reply a wrong one may be, and is still read to its end.
const SLACK: u64 = 64 * 1024;

/// That of a WebSocket.
pub(super) fn max_message(target: &Target) -> u64 {
    if target.deflate.is_none() { MAX_MESSAGE } else { max_inflated(target) }
}

/// That of what comes compressed.
pub(super) fn max_inflated(target: &Target) -> u64 {
    let right = match &target.expect.content {
        ContentRule::Echo | ContentRule::Broadcast => Payloads::new(&target.payload).longest(),
        ContentRule::Fixed(content) => content.len(),
        ContentRule::Learned
        | ContentRule::Any
        | ContentRule::Matching(_)
        | ContentRule::Shaped(_)
        | ContentRule::Messages(_) => return MAX_INFLATED,
    };
    2 * right as u64 + SLACK
}
