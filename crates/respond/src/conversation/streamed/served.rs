//! Calls of a service that somebody has put up.
//!
//! Knows messages, deadlines, and when something is to be said. Must not know what methods do.

use std::collections::VecDeque;
use std::mem;

use wiretrial_net::clock::monotonic_ns;
use wiretrial_proto::grpc::{self, CONTENT_TYPE, Deframer, Gzip, STATUS, Status, encoded, framed};
use wiretrial_proto::http2::RequestFields;

use super::calls::KIND;
use super::codec::Codec;
use super::{Answer, Open, StreamedConversation};
use crate::conversation::encodings::{self, COMPRESSED, Codecs, Encodings, MOST_INFLATED, Pieces};
use crate::hub::Member;
use crate::service::{Ended, Exchange, Metadata, Said, Step};
use crate::sink::Sink;

/// A call that is not over.
#[derive(Debug)]
pub(super) struct Served {
    exchange: Box<dyn Exchange>,
    frames: Deframer,
    encodings: Encodings,
    /// Where messages may be compressed.
    packed: Option<Box<Pieces>>,
    /// What came of the message that is coming.
    message: Vec<u8>,
    most_message: u32,
    /// What is to be said, and when.
    steps: VecDeque<(u64, Said)>,
    /// When the last one of them is due.
    last: u64,
    deadline: Option<u64>,
    is_head_gone: bool,
    /// How it ends is among what is to be said, or was said.
    has_end: bool,
}

impl<C: Codec> StreamedConversation<C> {
    /// Begins a call of a service that was put up; false: it has no such method.
    pub(super) fn begin_served(
        &mut self,
        stream: u32,
        target: &str,
        fields: RequestFields<'_>,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) -> bool {
        let service = sink.shared().service.as_deref();
        let Some(service) = service.filter(|service| service.has(target)) else { return false };
        self.answers = self.answers.saturating_add(1);
        // It is counted, and what is said later belongs to no reply.
        let reply = sink.begin();
        sink.end(reply);
        let now = monotonic_ns();
        let timeout = fields.get("grpc-timeout").and_then(grpc::from_timeout);
        let encodings = Encodings::of(fields);
        let mut served = Served {
            exchange: service.begin(target, fields, timeout),
            frames: Deframer::default(),
            encodings,
            packed: encodings.pieces(),
            message: Vec::new(),
            most_message: service.most_message(),
            steps: VecDeque::new(),
            last: now,
            deadline: timeout.map(|timeout| now.saturating_add(timeout)),
            is_head_gone: false,
            has_end: false,
        };
        let kind = fields.get("content-type").unwrap_or_default();
        if let Some(fault) = encodings.refused() {
            served.fail(fault);
        } else if !is_proto(kind) {
            served.fail((Status::UNIMPLEMENTED, "messages are those of protobuf"));
        }
        if let Some(deadline) = served.deadline {
            member.tell_at(deadline, stream);
        }
        self.open.push(Open { stream, answer: Answer::Served(Box::new(served)) });
        self.say_due(stream, now, sink, member);
        true
    }

    /// A piece of what the client says, or, without one, the end of it.
    pub(super) fn hear_call(
        &mut self,
        stream: u32,
        piece: Option<&[u8]>,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) {
        let found = self.open.iter_mut().find(|open| open.stream == stream);
        let Some(Open { answer: Answer::Served(served), .. }) = found else { return };
        let now = monotonic_ns();
        let heard = match piece {
            Some(piece) => served.take(piece, now, &mut self.codecs),
            None => served.end(now),
        };
        if let Err(fault) = heard {
            served.fail(fault);
        }
        self.say_due(stream, now, sink, member);
    }

    /// Says what is due, and sees to it that the rest is said.
    pub(super) fn say_due(
        &mut self,
        stream: u32,
        now: u64,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) {
        let found = self.open.iter_mut().find(|open| open.stream == stream);
        let Some(Open { answer: Answer::Served(served), .. }) = found else { return };
        if served.deadline.is_some_and(|deadline| deadline <= now) && !served.ends_by(now) {
            served.fail((Status::DEADLINE_EXCEEDED, "the deadline of the call has passed"));
        }
        while served.steps.front().is_some_and(|(due, _)| *due <= now)
            && let Some((_, said)) = served.steps.pop_front()
        {
            let gzip = &mut self.codecs.gzip;
            if served.write(stream, said, &mut self.codec, gzip, sink.out) {
                self.take(stream);
                return self.complete(sink);
            }
        }
        if let Some((due, _)) = served.steps.front() {
            member.tell_at(*due, stream);
        }
    }
}

impl Served {
    fn take(
        &mut self,
        piece: &[u8],
        now: u64,
        codecs: &mut Codecs,
    ) -> Result<(), (Status, &'static str)> {
        let Codecs { gunzip, plain, .. } = codecs;
        let most = MOST_INFLATED.min(self.most_message as usize);
        let pieces = self.packed.as_deref_mut();
        let mut piece = encodings::unpacked(pieces, piece, most, gunzip, plain)?;
        while let Some(part) = self.frames.next(&mut piece).map_err(|_| COMPRESSED)? {
            if part.begins.is_some_and(|length| length > self.most_message) {
                return Err((Status::RESOURCE_EXHAUSTED, "a message is longer than what is taken"));
            }
            self.message.extend_from_slice(part.piece);
            if part.ends {
                let message = mem::take(&mut self.message);
                if !self.has_end {
                    let steps = self.exchange.message(&message);
                    self.plan(steps, now);
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, now: u64) -> Result<(), (Status, &'static str)> {
        if !encodings::is_between(&self.frames, self.packed.as_deref()) {
            return Err((Status::INTERNAL, "the call ended inside a message"));
        }
        if !self.has_end {
            let steps = self.exchange.end();
            self.plan(steps, now);
        }
        Ok(())
    }

    fn plan(&mut self, steps: Vec<Step>, now: u64) {
        for Step { after, said } in steps {
            self.last = self.last.max(now).saturating_add(after);
            self.has_end |= matches!(said, Said::End(_));
            self.steps.push_back((self.last, said));
        }
    }

    /// Is the last of it due by now?
    fn ends_by(&self, now: u64) -> bool {
        self.has_end && self.last <= now
    }

    /// It ends so, and nothing else is said.
    fn fail(&mut self, (status, said): (Status, &str)) {
        self.steps.clear();
        self.has_end = true;
        let (said, trailers) = (said.to_owned(), Metadata::new());
        self.steps.push_back((0, Said::End(Ended { status, said, trailers })));
    }

    /// Appends it; true: the call is over.
    fn write(
        &mut self,
        stream: u32,
        said: Said,
        codec: &mut impl Codec,
        gzip: &mut Gzip,
        out: &mut Vec<u8>,
    ) -> bool {
        match said {
            Said::Head(metadata) => self.head(stream, &metadata, codec, out),
            Said::Message(message) => {
                self.head(stream, &[], codec, out);
                // A service has no message whose length cannot be said.
                let mut content = framed([&message[..]]).unwrap_or_default();
                if self.encodings.answers_gzip() {
                    let plain = mem::take(&mut content);
                    gzip.messages(&plain, &mut content);
                }
                codec.content(stream, &content, false, out);
            }
            Said::End(Ended { status, said, trailers }) => {
                let (status, said) = (status.0.to_string(), encoded(&said));
                let said = (!said.is_empty()).then_some((grpc::MESSAGE, said.as_bytes()));
                let own = [(STATUS, status.as_bytes())].into_iter().chain(said);
                let fields: Vec<_> = own.chain(borrowed(&trailers)).collect();
                if self.is_head_gone {
                    codec.trailers(stream, &fields, out);
                } else {
                    let all: Vec<_> = self.kind().chain(fields).collect();
                    codec.respond(stream, 200, &all, true, out);
                }
                return true;
            }
        }
        false
    }

    /// What each head begins with.
    fn kind<'f>(&self) -> impl Iterator<Item = (&'f str, &'f [u8])> + use<'f> {
        [KIND].into_iter().chain(self.encodings.field(self.encodings.answers_gzip()))
    }

    fn head(
        &mut self,
        stream: u32,
        metadata: &[(String, Vec<u8>)],
        codec: &mut impl Codec,
        out: &mut Vec<u8>,
    ) {
        if !mem::replace(&mut self.is_head_gone, true) {
            let fields: Vec<_> = self.kind().chain(borrowed(metadata)).collect();
            codec.respond(stream, 200, &fields, false, out);
        }
    }
}

fn borrowed(metadata: &[(String, Vec<u8>)]) -> impl Iterator<Item = (&str, &[u8])> {
    metadata.iter().map(|(name, value)| (name.as_str(), &value[..]))
}

/// Messages are of protobuf where nothing else is said.
fn is_proto(kind: &[u8]) -> bool {
    let subtype = kind.get(CONTENT_TYPE.len()..).unwrap_or_default();
    !subtype.starts_with(b"+") || subtype == b"+proto" || subtype.starts_with(b"+proto;")
}
