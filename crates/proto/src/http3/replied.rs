//! What fields say of a reply, and what of them comes again.
//!
//! Knows heads and what stands behind content; must not know streams.

use super::wrong::{self, Wrong};
use crate::fielded::inbound::{self, Response};
use crate::fields::FieldList;

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
        wrong::read_list(block, most, fields)?;
        if behind {
            inbound::trailers(fields)?;
            return Ok(Self::Behind);
        }
        let response = inbound::response(fields)?;
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
