//! Replies that are like nearly all others, taken frame by frame without a look at anything else.
//!
//! Knows which frames need no second look; must not know what a reply says. Whatever is not plain is left
//! untouched, to be [read](Connection::read).

use super::{Connection, Heard};
use crate::http2::frame::{END_HEADERS, END_STREAM, FrameHead, HEAD, Kind, WINDOW};

/// The flags of fields that end a stream.
const END: u8 = END_STREAM | END_HEADERS;

impl<M: Default + Copy> Connection<M> {
    /// Takes frames from the front of the input for as long as each is the head that the caller
    /// [keeps](Self::keep_fields), or the end of a reply with all that is missing of it: content in one frame that is not
    /// padded, with the fields behind it that the caller keeps, or none. `hear` is told of each such head, `take` of
    /// each such end, and whether it has fields; what they do not want is left, and `hear` leaves the stream of such a
    /// head as it was. Gives how many bytes were taken.
    #[inline]
    pub(in crate::http2) fn plain(
        &mut self,
        input: &[u8],
        mut hear: impl FnMut(&mut Heard<M>) -> bool,
        mut take: impl FnMut(&M, &[u8], bool) -> bool,
    ) -> usize {
        let Self { repeats, reading, decoder, limits, streams, allowance, instants, used, .. } =
            self;
        let Some(repeats) = repeats.as_deref().filter(|_| !reading.is_inside()) else { return 0 };
        let version = decoder.version();
        let [Some(kept), behind] =
            [repeats[0].kept(false, version), repeats[1].kept(true, version)]
        else {
            return 0;
        };
        // Content that makes a window due to be widened is read.
        let least = limits.connection_window.max(WINDOW) / 2;
        let most = limits.max_frame as usize;
        let mut offset = 0;
        let mut frame = whole(input, most);
        while let Some((head, payload)) = frame {
            let is_head = (head.kind, head.flags) == (Kind::Headers, END_HEADERS);
            if is_head && kept != payload {
                break;
            }
            let mut begin = offset;
            if is_head {
                begin += HEAD + payload.len();
                frame = whole(&input[begin..], most);
            }
            let content = frame
                .filter(|(next, _)| next.stream == head.stream)
                .and_then(|frame| Content::of(frame, &input[begin..], behind, most))
                .filter(|content| content.is_plain(allowance.left(), least));
            // One of which something else has come is read.
            let Some((place, heard)) = streams.queued(head.stream) else { break };
            let mut heard = *heard;
            if is_head && (heard.has_head || !hear(&mut heard)) {
                break;
            }
            let is_offered = content.is_some();
            let is_over = content.as_ref().is_some_and(|content| {
                content.is_right_behind(&heard, limits.stream_window)
                    && take(&heard.message, content.payload, content.has_fields)
            });
            let Some(content) = content.filter(|_| is_over) else {
                if !is_head {
                    break;
                }
                streams.note(place, heard);
                offset = begin;
                if is_offered {
                    break;
                }
                continue;
            };
            // Where all of the reply was there, nothing was noted of its stream.
            streams.leave(place);
            let length = content.payload.len() as u32;
            let waited = allowance.take(length, instants).unwrap_or_default();
            used.waited_for_connection(waited);
            reading.empty = 0;
            if streams.is_empty() {
                // Who has nothing to send waits for nothing.
                allowance.over(instants);
            }
            offset = begin + content.length;
            frame = whole(&input[offset..], most);
        }
        offset
    }
}

/// All content of a reply, and what ends it.
struct Content<'a> {
    payload: &'a [u8],
    /// Fields end it, which are those that the caller has kept.
    has_fields: bool,
    /// Of all its frames, bytes.
    length: usize,
}

impl<'a> Content<'a> {
    /// What begins with this frame, the one at the front, if all of it is there and no frame is too long.
    #[inline]
    fn of(
        (head, payload): (FrameHead, &'a [u8]),
        input: &'a [u8],
        behind: Option<&[u8]>,
        most: usize,
    ) -> Option<Self> {
        let length = HEAD + payload.len();
        match (head.kind, head.flags) {
            (Kind::Data, END_STREAM) => Some(Self { payload, has_fields: false, length }),
            (Kind::Data, 0) if !payload.is_empty() => {
                let (next, block) = whole(&input[length..], most)?;
                let is_end =
                    next.stream == head.stream && (next.kind, next.flags) == (Kind::Headers, END);
                let length = length + HEAD + block.len();
                let is_last = is_end && behind == Some(block);
                is_last.then_some(Self { payload, has_fields: true, length })
            }
            _ => None,
        }
    }

    /// May it come without anything to be said of the connection's window, where so much of that is left?
    #[inline]
    fn is_plain(&self, left: u32, least: u32) -> bool {
        left.saturating_sub(self.payload.len() as u32) > least
    }

    /// Is it what was to come behind this, on a stream with such a window of which nothing is used?
    #[inline]
    fn is_right_behind<M>(&self, heard: &Heard<M>, window: u32) -> bool {
        let length = self.payload.len() as u32;
        heard.has_head
            && heard.missing.is_none_or(|missing| missing == u64::from(length))
            && length <= window
            // What goes on behind its content may have to be allowed more.
            && (!self.has_fields || window - length > window / 2)
    }
}

/// The frame at the front, if all of it is there and it is not too long.
#[inline]
fn whole(input: &[u8], most: usize) -> Option<(FrameHead, &[u8])> {
    let head = FrameHead::read(input).filter(|head| head.length <= most)?;
    Some((head, input[HEAD..].get(..head.length)?))
}
