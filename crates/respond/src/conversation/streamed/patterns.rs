//! Patterns, of which a connection may have many under way.
//!
//! Knows pieces and their order. Must not know windows: the codec holds what has no room.

use super::codec::Codec;
use super::{Answer, Open, StreamedConversation};
use crate::content::{BYTES, pattern_from};
use crate::route::Method;
use crate::sink::{Reply, Sink};
use crate::stage::WHOLE_REPLY;

impl<C: Codec> StreamedConversation<C> {
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
        let told = told.map(|told| told + u64::from(reply.misstates()));
        self.head(stream, 200, BYTES, "", told, is_end, sink);
        if is_end {
            return self.finish(reply, sink);
        }
        if reply.is_kept() {
            return self.keep_pattern(stream, reply, length, sink);
        }
        let answer = Answer::Pattern { offset: 0, length, reply };
        self.open.push(Open { stream, answer });
    }

    /// Sends all of the pattern at once, or as much as is kept of a reply.
    fn keep_pattern(&mut self, stream: u32, mut reply: Reply, length: u64, sink: &mut Sink<'_>) {
        let (mut offset, most) = (0, length.min(WHOLE_REPLY as u64));
        while offset < most {
            let mut piece = pattern_from(offset, most - offset).to_vec();
            offset += piece.len() as u64;
            reply.alter(&mut piece);
            self.codec.content(stream, &piece, offset == length, sink.out);
        }
        self.finish(reply, sink);
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
            self.finish(reply, sink);
        }
        false
    }
}
