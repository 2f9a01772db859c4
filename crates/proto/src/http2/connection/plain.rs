//! Replies that are like nearly all others, taken frame by frame without a look at anything else.
//!
//! Knows which frames need no second look; must not know what a reply says. Whatever is not plain is left
//! untouched, to be [read](Connection::read).

use super::{Connection, Stream};
use crate::http2::frame::{END_HEADERS, END_STREAM, FrameHead, HEAD, Kind, WINDOW};

/// The flags of fields that end a stream.
const END: u8 = END_STREAM | END_HEADERS;

impl<M: Default> Connection<M> {
    /// Takes frames from the front of the input for as long as each is the head that the caller
    /// [keeps](Self::keep_fields), or the end of a reply with all that is missing of it: content in one frame that is not
    /// padded, with the fields behind it that the caller keeps, or none. `hear` is told of each such head, `take` of
    /// each such end, and whether it has fields; what they do not want is left, and `hear` leaves the stream of such a
    /// head as it was. Gives how many bytes were taken.
    #[inline]
    pub(in crate::http2) fn plain(
        &mut self,
        input: &[u8],
        mut hear: impl FnMut(&mut Stream<M>) -> bool,
        mut take: impl FnMut(&Stream<M>, &[u8], bool) -> bool,
    ) -> usize {
        let Some(repeats) = self.repeats.as_deref().filter(|_| !self.reading.is_inside()) else {
            return 0;
        };
        let version = self.decoder.version();
        let [Some(kept), behind] =
            [repeats[0].kept(false, version), repeats[1].kept(true, version)]
        else {
            return 0;
        };
        // Content that makes a window due to be widened is read.
        let least = self.limits.connection_window.max(WINDOW) / 2;
        let least_of_stream = self.limits.stream_window / 2;
        let most = self.limits.max_frame as usize;
        let mut offset = 0;
        while let Some((head, payload)) = whole(&input[offset..], most) {
            let Some(place) = self.streams.place(head.stream) else { break };
            let stream = self.streams.at(place);
            if stream.has_ended {
                break;
            }
            let mut taken = HEAD + payload.len();
            if (head.kind, head.flags) == (Kind::Headers, END_HEADERS) {
                if stream.has_head || kept != payload || !hear(stream) {
                    break;
                }
                offset += taken;
                continue;
            }
            let has_fields = match (head.kind, head.flags) {
                (Kind::Data, END_STREAM) => false,
                (Kind::Data, 0) => {
                    let Some((next, block)) = whole(&input[offset + taken..], most) else { break };
                    let is_last = !payload.is_empty()
                        && next.stream == head.stream
                        && (next.kind, next.flags) == (Kind::Headers, END)
                        && behind == Some(block)
                        && stream.allowance.left().saturating_sub(payload.len() as u32)
                            > least_of_stream;
                    if !is_last {
                        break;
                    }
                    taken += HEAD + block.len();
                    true
                }
                _ => break,
            };
            let length = payload.len() as u32;
            let is_plain = stream.has_head
                && !stream.is_held
                && stream.missing.is_none_or(|missing| missing == u64::from(length))
                && stream.allowance.is_plain(length)
                && self.allowance.left().saturating_sub(length) > least;
            if !is_plain || !take(stream, payload, has_fields) {
                break;
            }
            let waited = self.allowance.take(length, &self.instants).unwrap_or_default();
            self.used.waited_for_connection(waited);
            self.reading.empty = 0;
            self.reading.taken_back = self.reading.taken_back.saturating_sub(1);
            self.streams.remove_at(place, |_| ());
            if self.streams.is_empty() {
                // Who has nothing to send waits for nothing.
                self.allowance.over(&self.instants);
            }
            offset += taken;
        }
        offset
    }
}

/// The frame at the front, if all of it is there and it is not too long.
#[inline]
fn whole(input: &[u8], most: usize) -> Option<(FrameHead, &[u8])> {
    let head = FrameHead::read(input).filter(|head| head.length <= most)?;
    Some((head, input[HEAD..].get(..head.length)?))
}
