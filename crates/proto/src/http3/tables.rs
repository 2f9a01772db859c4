//! The tables of fields of one connection (RFC 9204): ours, which the peer's encoder fills, and the peer's, where we put
//! what comes again.
//!
//! Knows the streams on which both are spoken of; must not know whose fields they are.

use super::broken::Broken;
use super::frame::ErrorCode;
use super::outgoing::Outgoing;
use super::qpack::{QpackDecoder, QpackError, QpackPut};
use super::request::Puts;
use super::settings::Settings;
use super::varint;
use super::wrong::Wrong;
use crate::fields::FieldList;

/// The kinds of the two streams of QPACK (section 4.2).
const ENCODER_STREAM: u64 = 0x2;
const DECODER_STREAM: u64 = 0x3;

/// Both tables, and what is said of them.
#[derive(Debug)]
pub(super) struct Tables {
    /// Our stream of control, behind which these two are opened.
    control: u64,
    ours: QpackDecoder,
    theirs: QpackPut,
}

impl Tables {
    /// Of a new connection, where the peer may use a table of so many bytes.
    pub(super) fn new(control: u64, most: usize) -> Self {
        Self { control, ours: QpackDecoder::new(most), theirs: QpackPut::default() }
    }

    /// Begins the stream on which the peer's encoder is answered, where it may use a table.
    pub(super) fn open(&self, out: &mut Outgoing) {
        if self.ours.has_table() {
            out.write(self.decoder(), false, |bytes| varint::write(DECODER_STREAM, bytes));
        }
    }

    /// Puts fields into the peer's table, where that has room for them.
    pub(super) fn put(&mut self, puts: &Puts, peer: Settings, out: &mut Outgoing) {
        if puts.count == 0 || puts.capacity as u64 > peer.max_table_capacity {
            return;
        }
        let behind = if self.ours.has_table() { 8 } else { 4 };
        out.write(self.control + behind, false, |bytes| {
            varint::write(ENCODER_STREAM, bytes);
            bytes.extend_from_slice(&puts.instructions);
        });
        self.theirs.put(puts.count as u64);
    }

    /// Has the peer what was put into its table?
    #[inline]
    pub(super) fn are_put(&self) -> bool {
        self.theirs.is_known()
    }

    /// A block that refers to it goes out.
    #[inline]
    pub(super) fn refer(&mut self) {
        self.theirs.refer();
    }

    /// Reads a block of fields that came on a stream, which `fields` holds then.
    pub(super) fn read(
        &mut self,
        stream: u64,
        block: &[u8],
        most: usize,
        fields: &mut FieldList,
    ) -> Result<(), Wrong> {
        fields.clear();
        self.ours.read(stream, block, most, fields).map_err(|error| match error {
            QpackError::TooLarge => Wrong::TooLarge,
            _ => Wrong::Broken(ErrorCode::QpackDecompressionFailed),
        })
    }

    /// As [`QpackDecoder::read_again`].
    #[inline]
    pub(super) fn read_again(&mut self, stream: u64, block: &[u8], inserted: u64) -> bool {
        self.ours.read_again(stream, block, inserted)
    }

    /// Entries that came so far into our table.
    pub(super) fn inserted(&self) -> u64 {
        self.ours.inserted()
    }

    /// What comes on a stream is not read any more, and the peer's encoder is told so.
    pub(super) fn cancel(&mut self, stream: u64, out: &mut Outgoing) {
        self.ours.cancel(stream);
        self.tell(out);
    }

    /// Takes in the whole instructions of the peer's encoder, and returns how many bytes they are.
    pub(super) fn of_encoder(&mut self, input: &[u8]) -> Result<usize, Broken> {
        let code = ErrorCode::QpackEncoderStreamError;
        self.ours.instructions(input).map_err(|detail| Broken::new(code, detail))
    }

    /// The same of its decoder.
    pub(super) fn of_decoder(&mut self, input: &[u8]) -> Result<usize, Broken> {
        let code = ErrorCode::QpackDecoderStreamError;
        self.theirs.instructions(input).map_err(|detail| Broken::new(code, detail))
    }

    /// Says what the peer's encoder has to know by now.
    #[inline]
    pub(super) fn tell(&mut self, out: &mut Outgoing) {
        let stream = self.decoder();
        let said = self.ours.said();
        if !said.is_empty() {
            out.write(stream, false, |bytes| bytes.append(said));
        }
    }

    fn decoder(&self) -> u64 {
        self.control + 4
    }
}
