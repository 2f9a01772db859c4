//! Streams of events, of which a connection may have many.
//!
//! Knows answers that go on by themselves. Must not know which event is due when.

use wiretrial_net::clock::monotonic_ns;
use wiretrial_proto::grpc::STATUS;
use wiretrial_proto::sse::EVENT_STREAM;

use super::codec::Codec;
use super::{Answer, Open, StreamedConversation, Told};
use crate::conversation::due::{Teller, tell_due};
use crate::conversation::published::{event_of, message_of};
use crate::events::{Asked, EventStream, greet};
use crate::hub::{Broadcast, Member};
use crate::sink::{BACKLOG_LIMIT, Ending, Reply, Sink};

/// A client whose windows hold back so many bytes of what is published is disconnected.
const MOST_HELD: usize = 4 * BACKLOG_LIMIT;

/// How calls end that are told what is published, when the server stops.
const UNAVAILABLE: &[(&str, &[u8])] = &[(STATUS, b"14")];

/// One stream of a connection.
struct OneStream<'a, C> {
    codec: &'a mut C,
    stream: u32,
}

impl<C: Codec> Teller for OneStream<'_, C> {
    fn held(&self) -> usize {
        self.codec.held()
    }

    fn tell(&mut self, event: &[u8], is_last: bool, out: &mut Vec<u8>) {
        self.codec.content(self.stream, event, is_last, out);
    }
}

impl<C: Codec> StreamedConversation<C> {
    /// Begins a stream of events, of which the first may be due at once.
    pub(super) fn begin_events(
        &mut self,
        stream: u32,
        reply: Reply,
        asked: Asked,
        last_id: Option<&[u8]>,
        sink: &mut Sink<'_>,
    ) {
        let events = EventStream::new(asked, last_id, monotonic_ns(), sink.shared().epoch);
        self.event_head(stream, false, sink);
        let mut greeting = Vec::new();
        events.greet(&mut greeting);
        self.codec.content(stream, &greeting, false, sink.out);
        sink.end(reply);
        self.open.push(Open { stream, answer: Answer::Events(Box::new(events)) });
    }

    pub(super) fn event_head(&mut self, stream: u32, is_end: bool, sink: &mut Sink<'_>) {
        let fields = &sink.shared().event_fields;
        self.head(stream, 200, EVENT_STREAM, fields, None, is_end, sink);
    }

    /// Begins a stream of what is published from now on.
    pub(super) fn begin_subscription(&mut self, stream: u32, reply: Reply, sink: &mut Sink<'_>) {
        self.event_head(stream, false, sink);
        let mut greeting = Vec::new();
        greet(&mut greeting);
        self.codec.content(stream, &greeting, false, sink.out);
        sink.end(reply);
        self.open.push(Open { stream, answer: Answer::Subscription(Told::Events) });
    }

    /// Sees to it that what is due of a stream of events, or published, is told.
    pub(super) fn tell_later(&mut self, stream: u32, member: &mut Member<'_>) {
        let has_joined = self.has_joined;
        match self.find(stream) {
            Some(Answer::Events(events)) => {
                if let Some(due) = events.next_due() {
                    member.tell_at(due, stream);
                }
            }
            Some(Answer::Subscription(_)) if !has_joined => {
                member.join_broadcast();
                self.has_joined = true;
            }
            _ => {}
        }
    }

    /// Tells all streams that have asked for it what was published.
    pub(super) fn tell_published(&mut self, message: &Broadcast, sink: &mut Sink<'_>) {
        if self.codec.held() >= MOST_HELD {
            // Other connections cause the notices, so they do not stop for this one.
            return sink.finish(Ending::Early);
        }
        for Open { stream, answer } in &self.open {
            if let Answer::Subscription(told) = answer {
                let mut reply = sink.begin();
                let bytes = match told {
                    Told::Events => event_of(message, &mut reply),
                    Told::Messages => message_of(message, &mut reply),
                };
                self.codec.content(*stream, &bytes, false, sink.out);
                sink.end(reply);
            }
        }
    }

    /// Tells the events of a stream that are due.
    pub(super) fn tell_events(
        &mut self,
        stream: u32,
        now: u64,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) {
        let found = self.open.iter_mut().find(|open| open.stream == stream);
        let Some(Open { answer: Answer::Events(events), .. }) = found else { return };
        let mut teller = OneStream { codec: &mut self.codec, stream };
        if let Some(due) = tell_due(events, now, sink, &mut teller) {
            member.tell_at(due, stream);
        }
        if events.is_over() {
            self.take(stream);
            self.complete(sink);
        }
    }

    /// Ends all of them.
    pub(super) fn end_events(&mut self, out: &mut Vec<u8>) {
        for Open { stream, answer } in &self.open {
            match answer {
                Answer::Subscription(Told::Messages) => {
                    self.codec.trailers(*stream, UNAVAILABLE, out);
                }
                Answer::Events(_) | Answer::Subscription(Told::Events) => {
                    self.codec.content(*stream, b"", true, out);
                }
                _ => {}
            }
        }
    }
}
