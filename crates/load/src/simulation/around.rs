//! What a peer sees beside its own connection.

use super::conversation::Asked;
use super::facts::Facts;
use super::scenario::Manners;

/// What is around a peer.
pub(super) struct Around<'w> {
    pub(super) manners: &'w Manners,
    pub(super) facts: &'w mut Facts,
    /// What was said to the whole company.
    pub(super) posts: Vec<Post>,
}

/// A message that goes to everybody at its table, its sender included.
#[derive(Debug, Clone)]
pub(super) struct Post {
    /// Where it came from.
    pub(super) socket: u32,
    /// Who sent it.
    pub(super) origin: i32,
    pub(super) table: i32,
    pub(super) asked: Asked,
}
