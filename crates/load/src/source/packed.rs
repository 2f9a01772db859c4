//! Payloads of calls as they go, their messages in gzip.
//!
//! Knows the bytes of payloads; must not know when they go.

use wiretrial_proto::grpc::Gzip;

/// Compresses payloads: each once that is known beforehand, and each time what is one message's own.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    /// Those that are known, in their order.
    known: Box<[Vec<u8>]>,
    gzip: Gzip,
    /// The last one that was not.
    last: Vec<u8>,
}

impl Packed {
    /// With these payloads known beforehand; none: each message has its own.
    pub(super) fn knowing(plain: &[Vec<u8>]) -> Self {
        let mut gzip = Gzip::default();
        let known = plain.iter().map(|plain| {
            let mut packed = Vec::new();
            gzip.messages(plain, &mut packed);
            packed
        });
        Self { known: known.collect(), gzip, last: Vec::new() }
    }

    /// Are payloads known beforehand?
    #[inline]
    pub(super) fn knows(&self) -> bool {
        !self.known.is_empty()
    }

    /// That of the message with this number, where they are.
    #[inline]
    pub(super) fn of(&self, seq: u64) -> &[u8] {
        &self.known[(seq % self.known.len() as u64) as usize]
    }

    /// This one, compressed now.
    #[inline]
    pub(super) fn pack(&mut self, plain: &[u8]) -> &[u8] {
        self.last.clear();
        self.gzip.messages(plain, &mut self.last);
        &self.last
    }
}
