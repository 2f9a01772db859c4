//! What one side says, in order: bytes on streams, and what becomes of streams and of the connection.
//!
//! Knows streams by their numbers (RFC 9000 section 2.1); must not know what carries them.

use super::frame::ErrorCode;

/// What is to be done, in this order. Its memory stays when it is cleared.
#[derive(Debug, Default)]
pub struct Outgoing {
    bytes: Vec<u8>,
    deeds: Vec<Deed>,
}

/// One thing to be done. What is about a stream that is over means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'a> {
    /// These bytes go out on a stream, behind those before.
    Write {
        /// One that was not named before is to be opened; those of one kind are named in their order.
        stream: u64,
        /// May be empty where it ends.
        bytes: &'a [u8],
        /// Nothing follows on it.
        fin: bool,
    },
    /// What has not gone out on a stream goes nowhere (`RESET_STREAM`).
    Reset {
        /// Which one.
        stream: u64,
        /// Why.
        code: u64,
    },
    /// What comes on a stream is not wanted, nor handed in any more (`STOP_SENDING`).
    Stop {
        /// Which one.
        stream: u64,
        /// Why.
        code: u64,
    },
    /// The connection ends.
    Close {
        /// Why.
        code: u64,
    },
}

/// The same, with a length in place of the bytes.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Write { stream: u64, length: usize, fin: bool },
    Reset { stream: u64, code: u64 },
    Stop { stream: u64, code: u64 },
    Close { code: u64 },
}

impl Outgoing {
    /// Nothing, and no memory for it yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is to be done, in order.
    pub fn actions(&self) -> impl Iterator<Item = Action<'_>> {
        let mut rest = &self.bytes[..];
        self.deeds.iter().map(move |&deed| match deed {
            Deed::Write { stream, length, fin } => {
                let (bytes, behind) = rest.split_at(length);
                rest = behind;
                Action::Write { stream, bytes, fin }
            }
            Deed::Reset { stream, code } => Action::Reset { stream, code },
            Deed::Stop { stream, code } => Action::Stop { stream, code },
            Deed::Close { code } => Action::Close { code },
        })
    }

    /// Is there nothing to be done?
    pub fn is_empty(&self) -> bool {
        self.deeds.is_empty()
    }

    /// All bytes of all streams, in the order in which they go out.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All of it is done.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.deeds.clear();
    }

    /// Exchanges the memory in which bytes are laid: what is in either goes with it. Who lends memory
    /// takes it back so, with what was laid there.
    pub fn swap_bytes(&mut self, bytes: &mut Vec<u8>) {
        std::mem::swap(&mut self.bytes, bytes);
    }

    /// Bytes for a stream, which `append` appends.
    #[inline]
    pub fn write(&mut self, stream: u64, fin: bool, append: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.bytes.len();
        append(&mut self.bytes);
        let more = self.bytes.len() - begin;
        match self.deeds.last_mut() {
            Some(Deed::Write { stream: last, length, fin: ends }) if *last == stream => {
                *length += more;
                *ends |= fin;
            }
            _ => self.deeds.push(Deed::Write { stream, length: more, fin }),
        }
    }

    /// A stream is given up.
    pub fn reset(&mut self, stream: u64, code: u64) {
        self.deeds.push(Deed::Reset { stream, code });
    }

    pub(super) fn stop(&mut self, stream: u64, code: ErrorCode) {
        self.deeds.push(Deed::Stop { stream, code: code as u64 });
    }

    pub(super) fn close(&mut self, code: ErrorCode) {
        self.deeds.push(Deed::Close { code: code as u64 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_on_the_same_stream_is_one() {
        let mut out = Outgoing::new();
        out.write(0, false, |bytes| bytes.extend_from_slice(b"ab"));
        out.write(0, true, |bytes| bytes.push(b'c'));
        out.write(4, false, |bytes| bytes.push(b'd'));
        out.stop(4, ErrorCode::NoError);
        out.write(4, true, |_| {});
        let told: Vec<_> = out.actions().collect();
        assert_eq!(
            told,
            [
                Action::Write { stream: 0, bytes: b"abc", fin: true },
                Action::Write { stream: 4, bytes: b"d", fin: false },
                Action::Stop { stream: 4, code: 0x100 },
                Action::Write { stream: 4, bytes: b"", fin: true },
            ]
        );
        out.clear();
        assert!(out.is_empty() && out.actions().next().is_none());
    }

    #[test]
    fn bytes_may_lie_elsewhere_in_the_meantime() {
        let (mut out, mut lent) = (Outgoing::new(), Vec::with_capacity(64));
        let memory = lent.as_ptr();
        for (stream, text) in [(0, &b"ab"[..]), (4, b"cd")] {
            out.swap_bytes(&mut lent);
            out.write(stream, true, |bytes| bytes.extend_from_slice(text));
            out.swap_bytes(&mut lent);
        }
        assert_eq!((&lent[..], lent.as_ptr()), (&b"abcd"[..], memory));
        assert!(!out.is_empty());
        out.swap_bytes(&mut lent);
        let told: Vec<_> = out.actions().collect();
        let write = |stream, bytes| Action::Write { stream, bytes, fin: true };
        assert_eq!(told, [write(0, &b"ab"[..]), write(4, b"cd")]);
    }
}
