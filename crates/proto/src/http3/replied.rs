//! What fields say of a reply, and what of them comes again.
//!
//! Knows heads and what stands behind content; must not know streams.

use super::tables::Tables;
use super::wrong::Wrong;
use crate::fielded::inbound::{self, Response};
use crate::fields::FieldList;

/// A head is kept up to this length, bytes: a longer one is read each time.
const MOST_KEPT: usize = 512;

/// The last head that was read: nearly all replies of a server have the one of the reply before.
#[derive(Debug, Default)]
pub(super) struct Heads {
    block: Vec<u8>,
    said: Option<Response>,
    /// Entries of our table that had come when it was read.
    inserted: u64,
}

/// What a block of fields says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    Head(Response),
    /// Behind content.
    Behind,
}

impl Heard {
    /// Reads a block that came on a stream, of a head or `behind` content, into `fields`; where the head
    /// is `known` it need not be read.
    #[inline]
    pub(super) fn read(
        tables: &mut Tables,
        stream: u64,
        block: &[u8],
        behind: bool,
        most: usize,
        known: Option<&mut Heads>,
        fields: &mut FieldList,
    ) -> Result<Self, Wrong> {
        if let Some(Heads { block: last, said: Some(said), inserted }) = &known
            && !behind
            && block == last
            && tables.read_again(stream, block, *inserted)
        {
            return Ok(Self::Head(*said));
        }
        tables.read(stream, block, most, fields)?;
        if behind {
            inbound::trailers(fields)?;
            return Ok(Self::Behind);
        }
        let response = inbound::response(fields)?;
        if let Some(heads) = known {
            heads.keep(block, response, tables.inserted());
        }
        Ok(Self::Head(response))
    }
}

impl Heads {
    fn keep(&mut self, block: &[u8], response: Response, inserted: u64) {
        self.said = None;
        self.inserted = inserted;
        if block.len() <= MOST_KEPT {
            self.block.clear();
            self.block.extend_from_slice(block);
            self.said = Some(response);
        }
    }
}
