//! The frames of one message, as they come on its stream (RFC 9114 section 4.1).
//!
//! Knows which frame may follow which; must not know fields, nor whose message it is.

use super::frame::{ErrorCode, FrameHead, Kind};

/// What a stream brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// A whole block of fields: the head, or trailers.
    Fields(&'a [u8]),
    /// Content, or a piece of it; never empty.
    Content(&'a [u8]),
}

/// Bytes that were taken in, and what they brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken<'a> {
    /// How many bytes at the begin of the input are done with.
    pub consumed: usize,
    /// None: more has to come first, behind what was not consumed.
    pub part: Option<Part<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// No head that is final has come.
    Head,
    /// Content may come, and trailers.
    Content,
    /// All that may come has come.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Between two frames.
    None,
    /// So many bytes of content are still to come.
    Content(u64),
    /// So many bytes of a frame that means nothing are still to come.
    Skipped(u64),
}

/// One direction of a stream with a message on it.
#[derive(Debug, Clone)]
pub struct MessageReader {
    place: Place,
    inside: Inside,
    /// The longest block of fields that is waited for, bytes.
    most: u64,
    /// What a promise of a push is: we never allow one.
    promised: ErrorCode,
}

impl MessageReader {
    /// Of a request's stream at its server, or of a response's at its client. A block of fields over
    /// `most` bytes is not waited for.
    pub fn new(most: u64, is_client: bool) -> Self {
        // A client that sent no MAX_PUSH_ID allows no push (section 4.6); no client promises one.
        let promised = if is_client { ErrorCode::IdError } else { ErrorCode::FrameUnexpected };
        Self { place: Place::Head, inside: Inside::None, most, promised }
    }

    /// Takes in what is at the begin of `input`; to be called until it brings nothing.
    ///
    /// # Errors
    /// A frame that has no place here, or fields over the limit: all but `ExcessiveLoad` end the
    /// connection.
    pub fn read<'a>(&mut self, input: &'a [u8]) -> Result<Taken<'a>, ErrorCode> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            match &mut self.inside {
                Inside::None => {}
                Inside::Content(left) => {
                    let piece = &rest[..rest.len().min(to_size(*left))];
                    if *left > 0 && piece.is_empty() {
                        return Ok(Taken { consumed, part: None });
                    }
                    *left -= piece.len() as u64;
                    if *left == 0 {
                        self.inside = Inside::None;
                    }
                    consumed += piece.len();
                    if !piece.is_empty() {
                        return Ok(Taken { consumed, part: Some(Part::Content(piece)) });
                    }
                    continue;
                }
                Inside::Skipped(left) => {
                    let passed = rest.len().min(to_size(*left));
                    *left -= passed as u64;
                    consumed += passed;
                    if *left > 0 {
                        return Ok(Taken { consumed, part: None });
                    }
                    self.inside = Inside::None;
                    continue;
                }
            }
            let Some(head) = FrameHead::read(rest) else {
                return Ok(Taken { consumed, part: None });
            };
            match head.kind {
                Kind::Other => self.inside = Inside::Skipped(head.length),
                Kind::Data if self.place == Place::Content => {
                    self.inside = Inside::Content(head.length);
                }
                Kind::Headers if self.place != Place::Over => {
                    if head.length > self.most {
                        return Err(ErrorCode::ExcessiveLoad);
                    }
                    let end = head.size + to_size(head.length);
                    let Some(block) = rest.get(head.size..end) else {
                        return Ok(Taken { consumed, part: None });
                    };
                    if self.place == Place::Content {
                        self.place = Place::Over;
                    }
                    consumed += end;
                    return Ok(Taken { consumed, part: Some(Part::Fields(block)) });
                }
                Kind::PushPromise => return Err(self.promised),
                _ => return Err(ErrorCode::FrameUnexpected),
            }
            consumed += head.size;
        }
    }

    /// Does what was read end between two frames?
    pub(super) fn is_between(&self) -> bool {
        self.inside == Inside::None
    }

    /// The head that came is the final one (of a response: no 1xx): content may follow.
    pub fn has_head(&mut self) {
        self.place = Place::Content;
    }

    /// The stream has ended, behind `left` bytes that were not consumed.
    ///
    /// # Errors
    /// It ended inside a frame, or before the head.
    pub fn end(&self, left: usize) -> Result<(), ErrorCode> {
        if left > 0 || self.inside != Inside::None {
            return Err(ErrorCode::FrameError);
        }
        if self.place == Place::Head { Err(ErrorCode::RequestIncomplete) } else { Ok(()) }
    }
}

/// How many bytes are at least missing of the frame whose begin this is, which was
/// [read](MessageReader::read) and left as it is: of its head, or of its fields.
pub(super) fn missing(begin: &[u8]) -> usize {
    if let Some(head) = FrameHead::read(begin) {
        return (head.size + to_size(head.length)).saturating_sub(begin.len());
    }
    let mut size = 0;
    for _ in 0..2 {
        let Some(first) = begin.get(size) else { return 1 };
        size += 1 << (first >> 6);
    }
    size.saturating_sub(begin.len())
}

fn to_size(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http3::frame::{write_data_head, write_head, write_headers};

    /// What a stream brings, content joined, and its end; the first block of fields is the head.
    fn read(input: &[u8], cuts: &[usize]) -> Result<Vec<String>, ErrorCode> {
        let mut reader = MessageReader::new(100, true);
        let (mut found, mut content) = (Vec::new(), Vec::new());
        let (mut begin, mut end) = (0, 0);
        for &next in cuts.iter().chain([&input.len()]) {
            end = next.max(end);
            loop {
                let taken = reader.read(&input[begin..end])?;
                begin += taken.consumed;
                match taken.part {
                    None => break,
                    Some(Part::Content(piece)) => {
                        assert!(!piece.is_empty());
                        content.extend_from_slice(piece);
                    }
                    Some(Part::Fields(block)) => {
                        found.push(format!("{content:?} {block:?}"));
                        content.clear();
                        if found.len() == 1 {
                            reader.has_head();
                        }
                    }
                }
            }
        }
        reader.end(input.len() - begin)?;
        found.push(format!("{content:?}"));
        Ok(found)
    }

    fn message() -> Vec<u8> {
        let mut out = Vec::new();
        write_head(0x21, 3, &mut out);
        out.extend_from_slice(b"???");
        write_headers(b"head", &mut out);
        write_data_head(0, &mut out);
        write_data_head(5, &mut out);
        out.extend_from_slice(b"hello");
        write_head(0x40, 0, &mut out);
        write_data_head(2, &mut out);
        out.extend_from_slice(b"!!");
        write_headers(b"trailers", &mut out);
        write_head(0x21, 1, &mut out);
        out.push(b'?');
        out
    }

    #[test]
    fn a_message_is_the_same_however_it_is_cut() {
        let input = message();
        let whole = read(&input, &[]).unwrap();
        assert_eq!(
            whole,
            [
                "[] [104, 101, 97, 100]",
                "[104, 101, 108, 108, 111, 33, 33] [116, 114, 97, 105, 108, 101, 114, 115]",
                "[]"
            ]
        );
        let each: Vec<usize> = (0..input.len()).collect();
        assert_eq!(read(&input, &each).unwrap(), whole, "byte by byte");
        for at in 0..input.len() {
            assert_eq!(read(&input, &[at]).unwrap(), whole, "cut at {at}");
        }
    }

    #[test]
    fn a_stream_that_ends_inside_a_frame_is_an_error_wherever_it_does() {
        let input = message();
        let mut reader = MessageReader::new(100, true);
        let mut ends = vec![0];
        let mut begin = 0;
        while begin < input.len() {
            let head = FrameHead::read(&input[begin..]).unwrap();
            begin += head.size + head.length as usize;
            ends.push(begin);
        }
        for at in 0..input.len() {
            match read(&input[..at], &[]) {
                // Between two frames, and behind the head.
                Ok(_) => assert!(ends.contains(&at) && at >= ends[2], "{at}"),
                Err(ErrorCode::RequestIncomplete) => assert!(at <= ends[1], "{at}"),
                Err(error) => assert_eq!(error, ErrorCode::FrameError, "{at}"),
            }
        }
        assert_eq!(reader.end(0), Err(ErrorCode::RequestIncomplete));
        reader.has_head();
        assert_eq!(reader.end(0), Ok(()));
    }

    #[test]
    fn what_has_no_place_is_refused() {
        let of = |frames: &[(u64, &str)]| {
            let mut out = Vec::new();
            for (kind, payload) in frames {
                write_head(*kind, payload.len() as u64, &mut out);
                out.extend_from_slice(payload.as_bytes());
            }
            read(&out, &[])
        };
        let unexpected = Err(ErrorCode::FrameUnexpected);
        assert_eq!(of(&[(0x0, "x")]), unexpected, "content before the head");
        assert_eq!(
            of(&[(0x1, "h"), (0x1, "t"), (0x0, "x")]),
            unexpected,
            "content behind trailers"
        );
        assert_eq!(of(&[(0x1, "h"), (0x1, "t"), (0x1, "u")]), unexpected, "trailers twice");
        for kind in [0x2, 0x3, 0x4, 0x6, 0x7, 0x8, 0x9, 0xd] {
            assert_eq!(of(&[(0x1, "h"), (kind, "")]), unexpected, "{kind:#x}");
        }
        assert_eq!(of(&[(0x5, "")]), Err(ErrorCode::IdError), "a push");
        let mut server = MessageReader::new(100, false);
        assert_eq!(server.read(&[0x5, 0]), Err(ErrorCode::FrameUnexpected), "a client's push");
    }

    #[test]
    fn a_block_over_the_limit_is_not_waited_for() {
        let mut reader = MessageReader::new(100, true);
        let mut out = Vec::new();
        write_head(0x1, 101, &mut out);
        assert_eq!(reader.read(&out), Err(ErrorCode::ExcessiveLoad));
    }
}
