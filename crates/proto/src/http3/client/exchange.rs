//! A message whose reply has not come whole.
//!
//! Knows what its stream has brought; must not know other streams.

use super::calls::Called;
use crate::fielded::call::Look;
use crate::fielded::inbound;
use crate::fields::FieldList;
use crate::http3::incoming::Incoming;
use crate::http3::replied::Heard;
use crate::http3::wrong::Wrong;
use crate::streams::Identified;

/// A message whose reply has not come whole, on its stream.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// See [`key`]; 0: none is here.
    pub(super) key: u32,
    pub(super) number: u64,
    /// The reply's; 0: its final head has not come.
    pub(super) status: u16,
    /// The reply has no content, whatever its head says.
    pub(super) is_head: bool,
    /// It has content, which may not all have gone.
    pub(super) has_content: bool,
    /// More of its content follows, which has not been said yet.
    pub(super) goes_on: bool,
    /// Of a call of gRPC: what came of its reply.
    pub(super) call: Option<Called>,
    /// What is missing of the reply's content, where its head told its length.
    pub(super) missing: Option<u64>,
    pub(super) incoming: Incoming,
}

impl Identified for Exchange {
    #[inline]
    fn id(&self) -> u32 {
        self.key
    }

    fn vacate(&mut self) {
        self.key = 0;
        self.incoming = Incoming::default();
        self.call = None;
    }
}

impl Exchange {
    /// Fields came, which are read where this is a call; are they to be told of?
    #[inline]
    pub(super) fn hear(&mut self, heard: Heard, fields: &FieldList) -> Result<bool, Wrong> {
        match heard {
            Heard::Head(response) => {
                self.missing = response.promised(self.is_head);
                let is_final = response.is_final(false).map_err(Wrong::Malformed)?;
                if is_final {
                    self.status = response.status;
                    self.incoming.has_head();
                    if let Some(call) = &mut self.call {
                        call.head(response.status, fields).map_err(Wrong::Malformed)?;
                    }
                }
                Ok(is_final)
            }
            Heard::Behind => {
                inbound::takes(&mut self.missing, 0, true).map_err(Wrong::Malformed)?;
                if let Some(call) = &mut self.call {
                    call.trailers(fields).map_err(Wrong::Malformed)?;
                }
                Ok(true)
            }
        }
    }

    /// A piece of content came, with the end or not: what is to be done with it?
    #[inline]
    pub(super) fn take(&mut self, piece: &[u8], is_end: bool) -> Result<Look, Wrong> {
        let length = piece.len() as u64;
        inbound::takes(&mut self.missing, length, is_end).map_err(Wrong::Malformed)?;
        let look = self.call.as_mut().map_or(Ok(Look::Tell), |call| call.look_at(piece));
        look.map_err(Wrong::Malformed)
    }

    /// Nothing comes behind what came.
    pub(super) fn end(&mut self) -> Result<(), Wrong> {
        self.incoming.end()?;
        if let Some(call) = &mut self.call {
            call.end();
        }
        inbound::takes(&mut self.missing, 0, true).map_err(Wrong::Malformed)
    }
}
