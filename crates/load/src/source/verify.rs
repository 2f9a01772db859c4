//! Is this reply right? Checked as it flows, byte by byte, without being held.

use std::sync::Arc;

use super::Payloads;
use super::template::same;
use crate::plan::ContentRule;

/// Says what right content is.
#[derive(Debug, Clone)]
pub enum Verifier {
    /// The request's own payload.
    Echo,
    /// Always these bytes.
    Fixed(Arc<[u8]>),
}

/// How far the current reply of one connection has come.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Payload bytes so far.
    pub received: u64,
    /// Where it first differed.
    pub mismatch: Option<Mismatch>,
}

/// Where a reply first differed from what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// Offset of the first wrong byte, or the length where the reply is too short.
    pub at: u64,
    /// What came there; none: the reply ended.
    pub got: Option<u8>,
    /// What was expected there; none: the reply should have ended.
    pub expected: Option<u8>,
}

impl Verifier {
    /// What this rule says; what is to be learned is not known yet.
    pub fn new(rule: &ContentRule) -> Self {
        match rule {
            // Whoever is alone hears of itself alone.
            ContentRule::Echo | ContentRule::Broadcast | ContentRule::Learned => Self::Echo,
            ContentRule::Fixed(bytes) => Self::Fixed(Arc::from(bytes.as_slice())),
        }
    }

    /// Such replies as this one; the request's own payload shows an echo.
    pub fn learned(content: &[u8], is_echo: bool) -> Self {
        if is_echo { Self::Echo } else { Self::Fixed(Arc::from(content)) }
    }

    /// Checks the reply to message `seq`, of which all came at once.
    ///
    /// # Errors
    /// Where it first differs.
    #[inline]
    pub fn check(&self, seq: u64, reply: &[u8], payloads: &mut Payloads) -> Result<(), Mismatch> {
        let is_right = match self {
            Self::Echo => payloads.is(seq, reply),
            Self::Fixed(bytes) => same(bytes, reply),
        };
        if is_right {
            return Ok(());
        }
        self.first_difference(seq, reply, payloads)
    }

    /// Checks the next `piece` of the reply to message `seq`.
    pub fn update(&self, progress: &mut Progress, seq: u64, piece: &[u8], payloads: &mut Payloads) {
        let offset = progress.received;
        progress.received += piece.len() as u64;
        if progress.mismatch.is_some() {
            return;
        }
        let mut done = 0;
        while done < piece.len() {
            let (at, rest) = (offset + done as u64, &piece[done..]);
            let expected = self.expected_from(at, seq, payloads);
            let length = expected.len().min(rest.len());
            if length > 0 && expected[..length] == rest[..length] {
                done += length;
                continue;
            }
            let same = expected.iter().zip(rest).take_while(|(a, b)| a == b).count();
            progress.mismatch = Some(Mismatch {
                at: at + same as u64,
                got: rest.get(same).copied(),
                expected: expected.get(same).copied(),
            });
            return;
        }
    }

    /// The reply to message `seq` is complete: was it right? Begins anew for the next one.
    ///
    /// # Errors
    /// Where it first differed.
    pub fn finish(
        &self,
        progress: &mut Progress,
        seq: u64,
        payloads: &mut Payloads,
    ) -> Result<(), Mismatch> {
        let Progress { received, mismatch } = std::mem::take(progress);
        if let Some(mismatch) = mismatch {
            return Err(mismatch);
        }
        // All that came was right, so as many bytes as are expected are the expected ones.
        if received == self.length(seq, payloads) {
            return Ok(());
        }
        let expected = self.expected_from(received, seq, payloads).first().copied();
        Err(Mismatch { at: received, got: None, expected })
    }

    #[cold]
    fn first_difference(
        &self,
        seq: u64,
        reply: &[u8],
        payloads: &mut Payloads,
    ) -> Result<(), Mismatch> {
        let mut progress = Progress::default();
        self.update(&mut progress, seq, reply, payloads);
        self.finish(&mut progress, seq, payloads)
    }

    fn length(&self, seq: u64, payloads: &Payloads) -> u64 {
        match self {
            Self::Echo => payloads.length(seq) as u64,
            Self::Fixed(bytes) => bytes.len() as u64,
        }
    }

    /// What is expected from this offset on, perhaps not all of it; nothing at the end.
    fn expected_from<'a>(&'a self, at: u64, seq: u64, payloads: &'a mut Payloads) -> &'a [u8] {
        match self {
            Self::Echo => payloads.from(seq, at as usize),
            Self::Fixed(bytes) => bytes.get(at as usize..).unwrap_or_default(),
        }
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.got, self.expected) {
            (None, _) => write!(f, "the reply ended after {} bytes, too early", self.at),
            (Some(_), None) => write!(f, "the reply went on after its {} bytes", self.at),
            (Some(got), Some(expected)) => {
                write!(f, "byte {} was {got:#04x}, not {expected:#04x}", self.at)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PayloadPlan;

    fn check(verifier: &Verifier, seq: u64, reply: &[u8], piece: usize) -> Result<(), Mismatch> {
        let mut payloads = Payloads::new(&PayloadPlan::Sequence(20));
        let mut progress = Progress::default();
        for part in reply.chunks(piece) {
            verifier.update(&mut progress, seq, part, &mut payloads);
        }
        verifier.finish(&mut progress, seq, &mut payloads)
    }

    #[test]
    fn table_of_replies_in_pieces_of_every_size() {
        let right = b"0000000000000009qrst";
        let other = b"000000000000000aqrst";
        let cases: [(&[u8], Result<(), Mismatch>); 5] = [
            (right, Ok(())),
            (other, Err(Mismatch { at: 15, got: Some(b'a'), expected: Some(b'9') })),
            (&right[..19], Err(Mismatch { at: 19, got: None, expected: Some(b't') })),
            (b"", Err(Mismatch { at: 0, got: None, expected: Some(b'0') })),
            (b"0000000000000009qrstu", Err(Mismatch { at: 20, got: Some(b'u'), expected: None })),
        ];
        for (reply, expected) in cases {
            for piece in 1..=21 {
                assert_eq!(check(&Verifier::Echo, 9, reply, piece), expected, "pieces of {piece}");
            }
            let mut payloads = Payloads::new(&PayloadPlan::Sequence(20));
            assert_eq!(Verifier::Echo.check(9, reply, &mut payloads), expected, "all at once");
        }
        assert_eq!(check(&Verifier::Fixed(Arc::from(*right)), 1, right, 7), Ok(()));
    }
}
