//! Patterns over HTTP/2, of which a connection may have many under way.
//!
//! Knows pieces and their order. Must not know windows: the codec holds what has no room.

use super::{Answer, Http2Conversation, Open};
use crate::content::{BYTES, pattern_from};
use crate::route::Method;
use crate::sink::{Reply, Sink};

impl Http2Conversation {
    pub(super) fn begin_pattern(
        &mut self,
        stream: u32,
        reply: Reply,
        method: Method,
        length: u64,
        told: Option<u64>,
        sink: &mut Sink<'_>,
    ) {
        let is_end = length == 0 || method == Method::Head;
        self.head(stream, 200, BYTES, "", told, is_end, sink);
        if is_end {
            sink.end(reply);
            return self.complete(sink);
        }
        let answer = Answer::Pattern { offset: 0, length, reply };
        self.open.push(Open { stream, answer });
        if sink.is_staged() {
            // All of it at once: no other answer may come between its begin and its end.
            while let Some(place) = self.open.iter().position(|open| open.stream == stream)
                && self.continue_pattern(place, sink)
            {}
        }
    }

    /// Sends a piece of the pattern. False: it is over, and its place is another's now.
    pub(super) fn continue_pattern(&mut self, place: usize, sink: &mut Sink<'_>) -> bool {
        let Open { stream, answer } = &mut self.open[place];
        let stream = *stream;
        let Answer::Pattern { offset, length, reply } = answer else { return true };
        let piece = pattern_from(*offset, *length - *offset);
        *offset += piece.len() as u64;
        let is_end = offset == length;
        if reply.alters() {
            let mut piece = piece.to_vec();
            reply.alter(&mut piece);
            self.codec.content(stream, &piece, is_end, sink.out);
        } else {
            self.codec.content(stream, piece, is_end, sink.out);
        }
        if !is_end {
            return true;
        }
        if let Some(Answer::Pattern { reply, .. }) = self.take(stream) {
            sink.end(reply);
        }
        self.complete(sink);
        false
    }
}
