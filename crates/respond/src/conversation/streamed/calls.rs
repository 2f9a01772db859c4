//! Calls of gRPC: their heads, their messages, and the status behind them.
//!
//! Knows how an answer is written. Must not know what a method makes of its messages.

use wiretrial_proto::grpc::{self, CONTENT_TYPE, STATUS};
use wiretrial_proto::http2::RequestFields;

use super::codec::Codec;
use super::scripted::Asked;
use super::{Answer, Open, StreamedConversation, Told};
use crate::content::TEXT;
use crate::conversation::encodings::Encodings;
use crate::conversation::grpc::{Answered, Call};
use crate::hub::Member;
use crate::route::Method;
use crate::sink::{Reply, Sink};

/// The type of all answers.
pub(super) const KIND: (&str, &[u8]) = ("content-type", CONTENT_TYPE.as_bytes());
/// The method whose calls are told what is published.
const SUBSCRIBE: &str = "/wiretrial.Push/Subscribe";
/// What is said to who asks for a method as for a page.
const NO_CALL: &[u8] = b"a method of gRPC: POST application/grpc\n";

impl<C: Codec> StreamedConversation<C> {
    /// A call begins. With a script its answer is written when it is complete.
    pub(super) fn begin_call(
        &mut self,
        stream: u32,
        target: &str,
        fields: RequestFields<'_>,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) {
        if self.begin_served(stream, target, fields, sink, member) {
            return;
        }
        if target == SUBSCRIBE {
            return self.begin_told(stream, sink, member);
        }
        let call = Box::new(Call::of(target, Encodings::of(fields)));
        self.answers = self.answers.saturating_add(1);
        let flows = call.flows() && !sink.is_staged();
        let begun = flows.then(|| sink.begin());
        if flows {
            self.begin_answer(stream, call.encoding(), sink);
        }
        self.open.push(Open { stream, answer: Answer::Call(call, begun) });
    }

    /// Begins a call that is told what is published from now on, whatever the client says.
    fn begin_told(&mut self, stream: u32, sink: &mut Sink<'_>, member: &mut Member<'_>) {
        self.answers = self.answers.saturating_add(1);
        let reply = sink.begin();
        self.begin_answer(stream, None, sink);
        sink.end(reply);
        self.open.push(Open { stream, answer: Answer::Subscription(Told::Messages) });
        self.tell_later(stream, member);
    }

    /// A piece of what the client of a call says.
    pub(super) fn hear_echoed(&mut self, stream: u32, piece: &[u8], sink: &mut Sink<'_>) {
        let Self { open, codec, codecs, .. } = self;
        let found = open.iter_mut().find(|open| open.stream == stream);
        let Some(Open { answer: Answer::Call(call, flowing), .. }) = found else { return };
        let back = call.piece(piece, flowing.is_some(), codecs);
        if !back.is_empty() {
            codec.content(stream, back, false, sink.out);
        }
    }

    /// Writes the head of an answer that messages follow, in this encoding.
    fn begin_answer(
        &mut self,
        stream: u32,
        encoding: Option<(&'static str, &'static [u8])>,
        sink: &mut Sink<'_>,
    ) {
        let both = [KIND, encoding.unwrap_or(KIND)];
        let head = &both[..=usize::from(encoding.is_some())];
        self.codec.respond(stream, 200, head, false, sink.out);
    }

    /// Says that a request of a method is no call: by its type, or by HTTP's method.
    pub(super) fn no_call(&mut self, stream: u32, method: Method, sink: &mut Sink<'_>) {
        let (status, lines): (u16, _) =
            if method == Method::Post { (415, "") } else { (405, "Allow: POST\r\n") };
        let reply = sink.begin();
        self.give(stream, reply, status, TEXT, lines, NO_CALL, method, sink);
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
        let content = call.as_they_go(content, &mut self.codecs.gzip);
        let encoding = call.encoding();
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
            let all: Vec<_> = [KIND].into_iter().chain(encoding).chain(fields).collect();
            self.codec.respond(stream, 200, &all, true, sink.out);
        } else {
            if !is_head_gone {
                self.begin_answer(stream, encoding, sink);
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
