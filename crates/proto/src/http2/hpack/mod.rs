//! HPACK (RFC 7541): fields in few bytes, and back.
//!
//! Knows the two tables and who may index what; must not know frames, nor what a
//! field means.
//!
//! ```text
//! decoder, encoder -> table;   decoder, encoder -> packed (numbers, strings)
//! ```
//!
//! The encoder knows no dynamic table: what it wrote once is right on every connection and at
//! any time, so that a request is encoded when its plan is read and then copied. What is put into the
//! table, and referred to, is so by somebody who knows what is there. The decoder is
//! whole, because the peer chooses what it indexes.

mod decoder;
mod encoder;
mod table;

pub(super) use decoder::Footing;
pub use decoder::HpackDecoder;
pub(super) use encoder::{is_static, write_index, write_kept, write_name};
pub use encoder::{write_field, write_table_size};

use crate::packed::PackedError;
pub use crate::packed::Secrecy;

/// Why a block of fields can't be read. All but `TooLarge` end the connection with
/// `COMPRESSION_ERROR`; that one, too, where the rest of the block is not worth reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HpackError {
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
    /// A table larger than what was allowed, a change that is not at the begin, or one that is due
    /// and does not come.
    #[error("a block of fields changes the table's size against the rules")]
    TableSize,
    /// More fields than the limit holds.
    #[error("a block of fields is over the limit")]
    TooLarge,
}

impl From<PackedError> for HpackError {
    fn from(error: PackedError) -> Self {
        match error {
            PackedError::Truncated => Self::Truncated,
            PackedError::Integer => Self::Integer,
            PackedError::Huffman => Self::Huffman,
            PackedError::TooLarge => Self::TooLarge,
        }
    }
}
