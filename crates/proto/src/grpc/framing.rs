//! Messages one after the other: a flag, a length, and so many bytes each.
//!
//! Knows where messages begin and end; must not know what they say. Frames of HTTP/2 end anywhere.

/// Bytes before each message: whether it is compressed, and its length.
pub const PREFIX: usize = 5;
/// What is said of a flag that means nothing.
pub(super) const WRONG_FLAG: &str = "a message whose compressed flag is neither 0 nor 1";
const COMPRESSED: &str = "a compressed message, which nobody has asked for";

/// Appends what goes before a message of this length.
pub fn write_prefix(length: u32, out: &mut Vec<u8>) {
    out.push(0);
    out.extend_from_slice(&length.to_be_bytes());
}

/// Messages as they go, one behind the other. None: one of them is too long for its length to be said.
pub fn framed<'a>(messages: impl IntoIterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for message in messages {
        write_prefix(u32::try_from(message.len()).ok()?, &mut out);
        out.extend_from_slice(message);
    }
    Some(out)
}

/// Finds messages in content that comes in pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deframer {
    prefix: [u8; PREFIX],
    /// Bytes of the prefix that are there.
    known: u8,
    /// Bytes of the message that are to come, once its prefix is there.
    missing: u32,
}

/// What stands next in the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// Bytes of a message, without its prefix.
    pub piece: &'a [u8],
    /// The length of the whole, where they are its first ones.
    pub begins: Option<u32>,
    /// They are its last ones.
    pub ends: bool,
    /// The message is compressed.
    pub is_compressed: bool,
}

impl Deframer {
    /// Takes bytes from the front of `input`, and gives what they are of a message; none: they are all
    /// taken, and no message is longer than it was.
    ///
    /// # Errors
    /// A message that is compressed, which nobody has asked for.
    #[inline]
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Part<'a>>, &'static str> {
        self.step(input, 0)
    }

    /// The same where messages may be compressed.
    ///
    /// # Errors
    /// A message of which nobody knows whether it is.
    #[inline]
    pub fn next_of_any<'a>(
        &mut self,
        input: &mut &'a [u8],
    ) -> Result<Option<Part<'a>>, &'static str> {
        self.step(input, 1)
    }

    #[inline]
    fn step<'a>(
        &mut self,
        input: &mut &'a [u8],
        most_flag: u8,
    ) -> Result<Option<Part<'a>>, &'static str> {
        let mut begins = None;
        if (self.known as usize) < PREFIX {
            let wanted = PREFIX - self.known as usize;
            let (front, rest) = input.split_at(input.len().min(wanted));
            self.prefix[self.known as usize..][..front.len()].copy_from_slice(front);
            self.known += front.len() as u8;
            *input = rest;
            if self.known > 0 && self.prefix[0] > most_flag {
                return Err(if self.prefix[0] == 1 { COMPRESSED } else { WRONG_FLAG });
            }
            if (self.known as usize) < PREFIX {
                return Ok(None);
            }
            let [_, length @ ..] = self.prefix;
            self.missing = u32::from_be_bytes(length);
            begins = Some(self.missing);
        }
        let (piece, rest) = input.split_at(input.len().min(self.missing as usize));
        self.missing -= piece.len() as u32;
        *input = rest;
        let ends = self.missing == 0;
        if ends {
            self.known = 0;
        }
        if piece.is_empty() && begins.is_none() {
            return Ok(None);
        }
        Ok(Some(Part { piece, begins, ends, is_compressed: self.prefix[0] == 1 }))
    }

    /// Takes a piece of content, and says how many messages ended in it.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    #[inline]
    pub fn pass(&mut self, mut input: &[u8]) -> Result<u32, &'static str> {
        let mut ended = 0;
        while let Some(part) = self.next(&mut input)? {
            ended += u32::from(part.ends);
        }
        Ok(ended)
    }

    /// Does no message stand open?
    pub const fn is_between(&self) -> bool {
        self.known == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages in these bytes, where they come in pieces of so many.
    fn messages(bytes: &[u8], cut: usize) -> Result<(Vec<Vec<u8>>, Deframer), &'static str> {
        let (mut deframer, mut all, mut current) = (Deframer::default(), Vec::new(), None);
        for mut input in bytes.chunks(cut) {
            while let Some(Part { piece, begins, ends, .. }) = deframer.next(&mut input)? {
                if let Some(length) = begins {
                    assert!(current.is_none(), "one ends before the next begins");
                    current = Some((length, Vec::new()));
                }
                let (_, open) = current.as_mut().expect("one is open");
                open.extend_from_slice(piece);
                if ends {
                    let (length, whole) = current.take().expect("one is open");
                    assert_eq!(whole.len(), length as usize);
                    all.push(whole);
                }
            }
            assert!(input.is_empty(), "all of it is taken");
        }
        assert_eq!(current.is_some() || deframer.known > 0, !deframer.is_between());
        Ok((all, deframer))
    }

    #[test]
    fn messages_are_found_however_they_are_cut() {
        let long = vec![7; 300];
        let sent: [&[u8]; 5] = [b"one", b"", b"two!", b"", &long];
        let bytes = framed(sent).expect("short ones");
        for cut in 1..=bytes.len() {
            let (found, deframer) = messages(&bytes, cut).expect("messages");
            assert!(found == sent && deframer.is_between(), "cut to {cut}");
            let mut counting = Deframer::default();
            let counts = bytes.chunks(cut).map(|piece| counting.pass(piece).expect("messages"));
            assert_eq!(counts.sum::<u32>(), 5, "cut to {cut}");
        }
    }

    #[test]
    fn what_breaks_off_stands_open() {
        let bytes = framed([&b"abc"[..]]).expect("a short one");
        for end in 1..bytes.len() {
            for cut in 1..=end {
                let (found, deframer) = messages(&bytes[..end], cut).expect("a begin");
                assert!(found.is_empty() && !deframer.is_between(), "{end} bytes cut to {cut}");
            }
        }
    }

    #[test]
    fn compressed_messages_are_refused_at_their_first_byte() {
        for (flag, why) in [(1, COMPRESSED), (2, WRONG_FLAG), (255, WRONG_FLAG)] {
            assert_eq!(messages(&[flag], 1), Err(why));
            assert_eq!(messages(&[0, 0, 0, 0, 0, flag, 0, 0, 0, 0], 3), Err(why));
        }
    }

    #[test]
    fn messages_that_may_be_compressed_say_whether_they_are() {
        let bytes = [1, 0, 0, 0, 2, 7, 8, 0, 0, 0, 0, 1, 9, 1, 0, 0, 0, 0];
        for cut in 1..=bytes.len() {
            let (mut deframer, mut ended) = (Deframer::default(), Vec::new());
            for mut input in bytes.chunks(cut) {
                while let Some(part) = deframer.next_of_any(&mut input).expect("messages") {
                    ended.extend(part.ends.then_some(part.is_compressed));
                }
            }
            assert_eq!(ended, [true, false, true], "cut to {cut}");
        }
        assert_eq!(Deframer::default().next_of_any(&mut &[2][..]), Err(WRONG_FLAG));
    }
}
