//! permessage-deflate (RFC 7692): messages compressed, each on its own or with those before it.
//!
//! Knows the extension's parameters and what they make of a message's bytes. Must not know
//! frames, masks or the upgrade. DEFLATE itself (RFC 1951) is zlib-rs's.

mod deflater;
mod inflater;
mod offer;
mod parameters;

pub use parameters::{BadDeflate, DeflateAnswer, DeflateConfig};

use super::frame::{self, Opcode};
use deflater::Deflater;
pub(super) use inflater::Inflater;
pub(super) use offer::{is_list_of_extensions, named_deflate};

/// What ends every flush of a compressor, and is left out behind a message (section 7.2.1).
const TAIL: [u8; 4] = [0x00, 0x00, 0xff, 0xff];

/// One connection's state in both directions.
#[derive(Debug)]
pub(super) struct Deflate {
    pub(super) agreed: DeflateConfig,
    deflater: Deflater,
    pub(super) inflater: Inflater,
    /// The message that goes out in fragments has begun: the next frame continues it.
    begun: bool,
}

impl Deflate {
    /// A client's, for what was agreed on.
    pub(super) fn of_client(agreed: DeflateConfig) -> Box<Self> {
        let (own, peer) = (agreed.client(), agreed.server());
        Box::new(Self {
            agreed,
            deflater: Deflater::new(own, agreed.level),
            inflater: Inflater::new(peer),
            begun: false,
        })
    }

    /// A server's, for what was agreed on.
    pub(super) fn of_server(agreed: DeflateConfig) -> Box<Self> {
        let (own, peer) = (agreed.server(), agreed.client());
        Box::new(Self {
            agreed,
            deflater: Deflater::new(own, agreed.level),
            inflater: Inflater::new(peer),
            begun: false,
        })
    }

    /// Appends one whole message in one frame; a client's has a mask.
    #[cold]
    pub(super) fn append_message(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        mask: Option<[u8; 4]>,
        out: &mut Vec<u8>,
    ) {
        let deflater = &mut self.deflater;
        frame::append_compressed(opcode, true, mask, out, |out| {
            deflater.append(payload, true, out);
        });
    }

    /// Appends what there is to send of a server's message after this piece. The compressor
    /// gathers pieces, so there may be no frame for this one, and less than all with the next.
    pub(super) fn append_fragment(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        last: bool,
        out: &mut Vec<u8>,
    ) {
        let opcode = if self.begun { Opcode::Continuation } else { opcode };
        let deflater = &mut self.deflater;
        let sent = frame::append_compressed(opcode, last, None, out, |out| {
            deflater.append(payload, last, out);
        });
        self.begun = !last && (self.begun || sent);
    }
}
