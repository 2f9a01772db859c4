//! The peer's streams in one direction (RFC 9114 section 6.2, RFC 9204 section 4.2).
//!
//! Knows which of them there may be, and what is read of each; must not know requests.

use std::collections::BTreeSet;

use super::broken::Broken;
use super::control::{ControlReader, Said};
use super::frame::{ErrorCode, StreamKind};
use super::outgoing::Outgoing;
use super::tables::Tables;
use super::varint;

/// Streams that may be begun behind one that has not: QUIC's own limits are lower.
const MOST_GAPS: u64 = 16_384;
/// Streams whose kind has not come, beside the three that there are.
const MOST_OPEN: usize = 256;

/// All of them.
#[derive(Debug)]
pub(super) struct Unidirectional {
    is_client: bool,
    control: ControlReader,
    /// Those that are read, and those whose kind has not come.
    open: Vec<Stream>,
    seen: Seen,
    /// Is there one for control, of an encoder, of a decoder?
    taken: [bool; 3],
}

#[derive(Debug)]
struct Stream {
    id: u64,
    /// None: it has not come whole.
    kind: Option<StreamKind>,
    /// What is not whole.
    carry: Vec<u8>,
}

impl Unidirectional {
    /// At a client, or at a server.
    pub(super) fn new(is_client: bool) -> Self {
        Self {
            is_client,
            control: ControlReader::new(is_client),
            open: Vec::new(),
            seen: Seen::default(),
            taken: [false; 3],
        }
    }

    /// Takes in all of the input; to be called again, with none, until nothing was said.
    pub(super) fn receive(
        &mut self,
        id: u64,
        input: &[u8],
        fin: bool,
        tables: &mut Tables,
        out: &mut Outgoing,
    ) -> Result<Option<Said>, Broken> {
        if self.seen.begins(id)? {
            if self.open.len() >= MOST_OPEN {
                return Err(ErrorCode::ExcessiveLoad.into());
            }
            self.open.push(Stream { id, kind: None, carry: Vec::new() });
        }
        // One that means nothing is not there any more.
        let Some(place) = self.open.iter().position(|stream| stream.id == id) else {
            return Ok(None);
        };
        let stream = &mut self.open[place];
        stream.carry.extend_from_slice(input);
        let kind = if let Some(kind) = stream.kind {
            kind
        } else if let Some((number, taken)) = varint::read(&stream.carry) {
            stream.carry.drain(..taken);
            let kind = StreamKind::of(number);
            stream.kind = Some(kind);
            self.begin(kind)?;
            kind
        } else {
            // It may end before anybody knows what it was (section 6.2).
            if fin {
                self.open.swap_remove(place);
            }
            return Ok(None);
        };
        let carry = &mut self.open[place].carry;
        match kind {
            StreamKind::Control => {
                let (taken, said) = self.control.read(carry)?;
                carry.drain(..taken);
                if said.is_some() {
                    return Ok(said);
                }
            }
            StreamKind::Encoder => {
                let taken = tables.of_encoder(carry)?;
                carry.drain(..taken);
                tables.tell(out);
            }
            StreamKind::Decoder => {
                let taken = tables.of_decoder(carry)?;
                carry.drain(..taken);
            }
            StreamKind::Push | StreamKind::Other => {
                self.open.swap_remove(place);
                out.stop(id, ErrorCode::StreamCreationError);
                return Ok(None);
            }
        }
        if fin { Err(ErrorCode::ClosedCriticalStream.into()) } else { Ok(None) }
    }

    /// The peer has given a stream up.
    pub(super) fn reset(&mut self, id: u64) -> Result<(), Broken> {
        self.seen.begins(id)?;
        let Some(place) = self.open.iter().position(|stream| stream.id == id) else {
            return Ok(());
        };
        match self.open.swap_remove(place).kind {
            None => Ok(()),
            Some(_) => Err(ErrorCode::ClosedCriticalStream.into()),
        }
    }

    /// A stream is of this kind: may it be?
    fn begin(&mut self, kind: StreamKind) -> Result<(), Broken> {
        let place = match kind {
            StreamKind::Control => 0,
            StreamKind::Encoder => 1,
            StreamKind::Decoder => 2,
            // Only servers push, and we never allow it (section 4.6).
            StreamKind::Push if self.is_client => return Err(ErrorCode::IdError.into()),
            StreamKind::Push => return Err(ErrorCode::StreamCreationError.into()),
            StreamKind::Other => return Ok(()),
        };
        if std::mem::replace(&mut self.taken[place], true) {
            return Err(ErrorCode::StreamCreationError.into());
        }
        Ok(())
    }
}

/// Which of the peer's streams of one kind have begun. They are numbered in their order, and may come in
/// any.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The place of the first behind all that have begun.
    next: u64,
    /// Those before it that have not.
    gaps: BTreeSet<u64>,
}

impl Seen {
    /// Something came on this stream; is it the first thing?
    pub(super) fn begins(&mut self, id: u64) -> Result<bool, Broken> {
        let place = id >> 2;
        if place < self.next {
            return Ok(!self.gaps.is_empty() && self.gaps.remove(&place));
        }
        if place - self.next + self.gaps.len() as u64 > MOST_GAPS {
            return Err(ErrorCode::ExcessiveLoad.into());
        }
        self.gaps.extend(self.next..place);
        self.next = place + 1;
        Ok(true)
    }

    /// The place of the first stream behind all that have begun.
    pub(super) fn next(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_begins_once_in_whatever_order_they_come() {
        let mut seen = Seen::default();
        let mut begins = |place: u64| seen.begins(4 * place + 3).map_err(|_| ());
        for (place, is_new) in
            [(2, true), (0, true), (0, false), (2, false), (1, true), (1, false), (3, true)]
        {
            assert_eq!(begins(place), Ok(is_new), "{place}");
        }
        assert_eq!(begins(4 + MOST_GAPS + 1), Err(()));
        assert_eq!(begins(4 + MOST_GAPS), Ok(true));
    }

    /// Of each its number, its bytes and whether it ends.
    type Streams<'a> = &'a [(u64, &'a [u8], bool)];

    /// What streams of the peer come to.
    fn told(is_client: bool, streams: Streams<'_>) -> Result<Vec<Said>, ErrorCode> {
        let mut streams_in = Unidirectional::new(is_client);
        let mut tables = Tables::new(if is_client { 2 } else { 3 }, 0);
        let (mut said, mut out) = (Vec::new(), Outgoing::new());
        for &(id, bytes, fin) in streams {
            let mut input = bytes;
            loop {
                let what = streams_in.receive(id, input, fin, &mut tables, &mut out);
                match what.map_err(Broken::code)? {
                    None => break,
                    Some(what) => said.push(what),
                }
                input = &[];
            }
        }
        Ok(said)
    }

    #[test]
    fn each_of_the_three_may_be_there_once_and_stays() {
        let settings = Said::Settings(super::super::Settings::default());
        let control: (u64, &[u8], bool) = (3, &[0, 4, 0], false);
        let grease: (u64, &[u8], bool) = (15, &[0x40, 0x5f, 1, 2, 3], true);
        let all = [control, (7, &[2, 0x20], false), (11, &[3], false), grease, (19, &[0x40], true)];
        assert_eq!(told(true, &all), Ok(vec![settings]));
        let leaving: [(u64, &[u8], bool); 2] =
            [(3, &[0, 4, 0, 7], false), (3, &[1, 8, 7, 1, 4], false)];
        assert_eq!(
            told(true, &leaving),
            Ok(vec![settings, Said::Leaving(8), Said::Leaving(4)]),
            "more than one thing at once"
        );
        let cases: [(bool, Streams<'_>, ErrorCode); 9] = [
            (true, &[control, (7, &[0], false)], ErrorCode::StreamCreationError),
            (true, &[(3, &[2], false), (7, &[2], false)], ErrorCode::StreamCreationError),
            (true, &[(3, &[1, 0], false)], ErrorCode::IdError),
            (false, &[(2, &[1, 0], false)], ErrorCode::StreamCreationError),
            (true, &[(3, &[0, 4, 0], true)], ErrorCode::ClosedCriticalStream),
            (true, &[(3, &[2], true)], ErrorCode::ClosedCriticalStream),
            (true, &[(3, &[2, 0x3f, 0xe1, 0x1f], false)], ErrorCode::QpackEncoderStreamError),
            (true, &[(3, &[3, 0x80], false)], ErrorCode::QpackDecoderStreamError),
            (true, &[(3, &[0, 0x21, 0], false)], ErrorCode::MissingSettings),
        ];
        for (is_client, streams, code) in cases {
            assert_eq!(told(is_client, streams), Err(code), "{streams:x?}");
        }
    }

    #[test]
    fn what_is_given_up_was_not_needed() {
        let mut streams = Unidirectional::new(false);
        let (mut tables, mut out) = (Tables::new(3, 0), Outgoing::new());
        assert!(streams.reset(2).is_ok(), "before it began");
        assert!(streams.receive(6, &[0x40], false, &mut tables, &mut out).is_ok());
        assert!(streams.reset(6).is_ok(), "before its kind came");
        assert!(streams.receive(10, &[0x21, 1], false, &mut tables, &mut out).is_ok());
        assert!(!out.is_empty() && streams.reset(10).is_ok(), "of no kind");
        assert!(streams.receive(14, &[0], false, &mut tables, &mut out).is_ok());
        assert!(streams.reset(14).is_err());
    }
}
