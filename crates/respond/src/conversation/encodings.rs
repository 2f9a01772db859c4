//! In what the messages of calls of gRPC are: as they are, or in gzip.
//!
//! Knows what a client says of encodings, and what is answered to it. Must not know methods.

use wiretrial_proto::grpc::{
    ACCEPTED, BadMessage, Deframer, ENCODING, GZIP, Gunzip, Gzip, Status, accepts_gzip, is_gzip,
};
use wiretrial_proto::http2::RequestFields;

/// Compressed content that comes in pieces: where it is, and what came of the message in which it is.
pub(super) type Pieces = (Deframer, Vec<u8>);

/// The longest that a compressed message may come to be, bytes.
pub(super) const MOST_INFLATED: usize = 16 << 20;
/// What no encoding was named for.
pub(super) const COMPRESSED: (Status, &str) =
    (Status::INTERNAL, "a message is compressed, and in no encoding");

/// What makes messages smaller, and what they were: one for all calls of a connection.
#[derive(Debug, Default)]
pub(super) struct Codecs {
    pub(super) gunzip: Gunzip,
    pub(super) gzip: Gzip,
    /// The last piece as it was.
    pub(super) plain: Vec<u8>,
    /// What was compressed last.
    pub(super) packed: Vec<u8>,
}

/// In what the messages of a call are, and in what those of its answer may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Encodings {
    /// Those that are compressed are in gzip.
    pub(super) is_gzip: bool,
    /// The client takes gzip.
    pub(super) takes_gzip: bool,
    /// They are in an encoding that is not known.
    pub(super) is_unknown: bool,
}

impl Encodings {
    /// What the client says of them.
    pub(super) fn of(fields: RequestFields<'_>) -> Self {
        Self::said(fields.get(ENCODING), fields.get(ACCEPTED))
    }

    pub(super) fn said(encoding: Option<&[u8]>, accepted: Option<&[u8]>) -> Self {
        let is_gzip = encoding.is_some_and(is_gzip);
        let is_plain = encoding.is_none_or(|encoding| encoding.eq_ignore_ascii_case(b"identity"));
        let takes_gzip = accepted.is_some_and(accepts_gzip);
        Self { is_gzip, takes_gzip, is_unknown: !is_gzip && !is_plain }
    }

    /// Why its messages are not taken; none: they are.
    pub(super) fn refused(self) -> Option<(Status, &'static str)> {
        let refused = (Status::UNIMPLEMENTED, "messages are taken uncompressed, or in gzip");
        self.is_unknown.then_some(refused)
    }

    /// Does who is answered in the same way get gzip? That a client takes it is not asking for it: those of some
    /// languages always say so.
    pub(super) fn answers_gzip(self) -> bool {
        self.is_gzip && self.takes_gzip
    }

    /// Where its messages may be compressed: no piece came.
    pub(super) fn pieces(self) -> Option<Box<Pieces>> {
        self.is_gzip.then(Box::default)
    }

    /// What is said of encodings in the head of an answer: that of its messages, or what there is instead of one that is
    /// not known.
    pub(super) fn field(self, answers_gzip: bool) -> Option<(&'static str, &'static [u8])> {
        let value = GZIP.as_bytes();
        if self.is_unknown {
            return Some((ACCEPTED, value));
        }
        answers_gzip.then_some((ENCODING, value))
    }
}

/// A piece of content as it is uncompressed, in `plain` where its messages may be compressed; each has this many bytes at
/// most then.
pub(super) fn unpacked<'p>(
    pieces: Option<&mut Pieces>,
    piece: &'p [u8],
    most: usize,
    gunzip: &mut Gunzip,
    plain: &'p mut Vec<u8>,
) -> Result<&'p [u8], (Status, &'static str)> {
    let Some(pieces) = pieces else { return Ok(piece) };
    let (frames, held) = pieces;
    plain.clear();
    gunzip.unpack((frames, held), piece, most, plain).map_err(refused)?;
    Ok(plain)
}

/// Has no message begun that is not whole? `frames` are those of the uncompressed content.
pub(super) fn is_between(frames: &Deframer, pieces: Option<&Pieces>) -> bool {
    frames.is_between() && pieces.is_none_or(|(packed, _)| packed.is_between())
}

/// What is said of a message that can't be taken.
const fn refused(bad: BadMessage) -> (Status, &'static str) {
    let status = match bad {
        BadMessage::TooLong => Status::RESOURCE_EXHAUSTED,
        BadMessage::Flag | BadMessage::Form | BadMessage::CutOff | BadMessage::Sum => {
            Status::INTERNAL
        }
    };
    (status, bad.words())
}
