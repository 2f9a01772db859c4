//! What fields say of a reply, and what of them comes again.
//!
//! Knows heads and what stands behind content; must not know streams.

use super::frame::ErrorCode;
use super::qpack::{QpackError, read_fields};
use crate::fielded::inbound::{self, Response};
use crate::fields::FieldList;
use crate::{ErrorClass, ProtocolError};

/// A head is kept up to this length, bytes: a longer one is read each time.
const MOST_KEPT: usize = 512;

/// The last head that was read: nearly all replies of a server have the one of the reply before. The
/// same bytes say the same, as there is no dynamic table.
#[derive(Debug, Default)]
pub(super) struct Heads {
    block: Vec<u8>,
    said: Option<Response>,
}

/// What a block of fields says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    Head(Response),
    /// Behind content.
    Behind,
}

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    /// The connection ends.
    Broken(ErrorCode),
    /// It is no message.
    Malformed(&'static str),
    /// More fields than are taken.
    TooLarge,
    /// It ends before its head.
    Incomplete,
}

impl Heard {
    /// Reads a block, of a head or `behind` content, into `fields`; where the head is `known` it need
    /// not be read.
    #[inline]
    pub(super) fn read(
        block: &[u8],
        behind: bool,
        most: usize,
        known: Option<&mut Heads>,
        fields: &mut FieldList,
    ) -> Result<Self, Wrong> {
        if let Some(Heads { block: last, said: Some(said) }) = &known
            && !behind
            && block == last
        {
            return Ok(Self::Head(*said));
        }
        fields.clear();
        read_fields(block, most, fields).map_err(|error| match error {
            QpackError::TooLarge => Wrong::TooLarge,
            _ => Wrong::Broken(ErrorCode::QpackDecompressionFailed),
        })?;
        let malformed = |malformed: inbound::Malformed| Wrong::Malformed(malformed.0);
        if behind {
            return inbound::trailers(fields).map(|()| Self::Behind).map_err(malformed);
        }
        let response = inbound::response(fields).map_err(malformed)?;
        if let Some(heads) = known {
            heads.keep(block, response);
        }
        Ok(Self::Head(response))
    }
}

impl Heads {
    fn keep(&mut self, block: &[u8], response: Response) {
        self.said = None;
        if block.len() <= MOST_KEPT {
            self.block.clear();
            self.block.extend_from_slice(block);
            self.said = Some(response);
        }
    }
}

impl Wrong {
    /// With which code its stream ends, and how the message has failed.
    pub(super) fn of_message(self) -> (ErrorCode, ProtocolError) {
        let (code, class, detail) = match self {
            Self::Broken(code) => {
                (code, ErrorClass::Protocol, "the peer broke the rules of HTTP/3")
            }
            Self::Malformed(detail) => (ErrorCode::MessageError, ErrorClass::Protocol, detail),
            Self::TooLarge => (
                ErrorCode::ExcessiveLoad,
                ErrorClass::HeaderTooLarge,
                "a list of fields is over the limit",
            ),
            Self::Incomplete => (
                ErrorCode::MessageError,
                ErrorClass::Protocol,
                "a reply that ends before its final head",
            ),
        };
        (code, ProtocolError::new(class, detail))
    }
}
