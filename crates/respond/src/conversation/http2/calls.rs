//! Calls of gRPC: their heads, their messages, and the status behind them.
//!
//! Knows how an answer is written. Must not know what a method makes of its messages.

use wiretrial_proto::grpc::{self, CONTENT_TYPE, STATUS};

use super::scripted::Asked;
use super::{Answer, Http2Conversation, Open};
use crate::conversation::grpc::{Answered, Call};
use crate::sink::{Reply, Sink};

impl Http2Conversation {
    /// A call begins. With a script its answer is written when it is complete.
    pub(super) fn begin_call(&mut self, stream: u32, target: &str, sink: &mut Sink<'_>) {
        let call = Box::new(Call::of(target));
        self.answers = self.answers.saturating_add(1);
        let flows = call.flows() && !sink.is_staged();
        let begun = flows.then(|| sink.begin());
        if flows {
            let kind = [("content-type", CONTENT_TYPE.as_bytes())];
            self.codec.respond(stream, 200, &kind, false, sink.out);
        }
        self.open.push(Open { stream, answer: Answer::Call(call, begun) });
    }

    /// A call is complete.
    pub(super) fn end_call(
        &mut self,
        stream: u32,
        call: Box<Call>,
        begun: Option<Reply>,
        sink: &mut Sink<'_>,
    ) {
        if begun.is_none() && sink.is_staged() {
            return self.direct(stream, Asked::Call(call), sink);
        }
        let is_head_gone = begun.is_some();
        let reply = begun.unwrap_or_else(|| sink.begin());
        self.answer_call(stream, reply, &call, is_head_gone, sink);
    }

    pub(super) fn answer_call(
        &mut self,
        stream: u32,
        mut reply: Reply,
        call: &Call,
        is_head_gone: bool,
        sink: &mut Sink<'_>,
    ) {
        let Answered { mut content, status } = call.answer(reply.fails());
        reply.alter(&mut content);
        let kind = ("content-type", CONTENT_TYPE.as_bytes());
        let fields: Vec<_> = status
            .iter()
            .flat_map(|(status, said)| {
                let said = (!said.is_empty()).then_some((grpc::MESSAGE, said.as_bytes()));
                [(STATUS, status.as_bytes())].into_iter().chain(said)
            })
            .collect();
        let is_bare = fields.is_empty();
        if !is_head_gone && content.is_empty() && !is_bare {
            // Nothing stands between the head and what is behind the content: they are one.
            let all: Vec<_> = [kind].into_iter().chain(fields).collect();
            self.codec.respond(stream, 200, &all, true, sink.out);
        } else {
            if !is_head_gone {
                self.codec.respond(stream, 200, &[kind], false, sink.out);
            }
            if is_bare || !content.is_empty() {
                self.codec.content(stream, &content, is_bare, sink.out);
            }
            if !is_bare {
                self.codec.trailers(stream, &fields, sink.out);
            }
        }
        self.finish(reply, sink);
    }
}
