//! QPACK (RFC 9204): fields in few bytes, where streams overtake each other.
//!
//! Knows the two tables and who may index what; must not know frames, nor what a field means.
//!
//! No block has to wait for another stream: a peer that is offered a table may refer to what we are known
//! to have (`SETTINGS_QPACK_BLOCKED_STREAMS` is 0), and so do we. What is written once is right on every
//! connection, so that a request is encoded when its plan is read and then copied: without the table at any
//! time, and with it once the peer has what was put there. A peer that refers to what is not there
//! breaks the rules, and is told so.

mod decoder;
mod encoder;
mod instructions;
mod table;

pub use decoder::{QpackDecoder, read_fields};
pub(super) use encoder::{
    is_static, write_capacity, write_footing, write_index, write_kept, write_name,
};
pub use encoder::{write_field, write_prefix};
pub use instructions::QpackPut;

use crate::packed::PackedError;
pub use crate::packed::Secrecy;

/// Why a block of fields can't be read. All but `TooLarge` end the connection with
/// `QPACK_DECOMPRESSION_FAILED`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QpackError {
    /// The block ends inside a field.
    #[error("a block of fields ends inside a field")]
    Truncated,
    /// A number that does not fit, or is written in more bytes than it needs.
    #[error("a number in a block of fields is too large")]
    Integer,
    /// An index into nothing.
    #[error("a field refers to an entry that no table has")]
    Index,
    /// Bits that are no code, or padding that is none.
    #[error("a string of a block of fields is no Huffman code")]
    Huffman,
    /// The block needs, or refers to, entries of the dynamic table that are not there.
    #[error("a block of fields refers to entries that no dynamic table has")]
    Dynamic,
    /// More fields than the limit holds.
    #[error("a block of fields is over the limit")]
    TooLarge,
}

impl From<PackedError> for QpackError {
    fn from(error: PackedError) -> Self {
        match error {
            PackedError::Truncated => Self::Truncated,
            PackedError::Integer => Self::Integer,
            PackedError::Huffman => Self::Huffman,
            PackedError::TooLarge => Self::TooLarge,
        }
    }
}
