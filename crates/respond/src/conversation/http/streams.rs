//! Answers that are streams of events, and what is published to them.
//!
//! Knows when each begins, goes on and ends. Must not know which event is due when, nor who else hears one.

use std::mem;
use std::sync::Arc;

use wiretrial_net::clock::monotonic_ns;
use wiretrial_proto::http1::BodyLength;
use wiretrial_proto::sse::EVENT_STREAM;

use super::{Beside, Body, HttpConversation, POLLS, add_fields};
use crate::content::{JSON, TEXT};
use crate::conversation::due::tell_due;
use crate::conversation::published::{event_of, polled, publish};
use crate::events::{Asked, EventStream, greet};
use crate::hub::{Broadcast, Member};
use crate::route::Method;
use crate::sink::{Ending, Sink};

/// A poll is answered by then, even where nothing was published: 25 s, nanoseconds. Proxies wait for longer.
const LONGEST_POLL: u64 = 25_000_000_000;

impl HttpConversation {
    /// Begins a stream of events, of which the first may be due at once.
    pub(super) fn begin_events(
        &mut self,
        method: Method,
        asked: Asked,
        last_id: Option<&[u8]>,
        sink: &mut Sink<'_>,
    ) {
        let events = EventStream::new(asked, last_id, monotonic_ns(), sink.shared().epoch);
        let mut greeting = Vec::new();
        events.greet(&mut greeting);
        if self.begin_stream(method, &greeting, sink) {
            self.body = Body::Events;
            self.beside = Some(Box::new(Beside::Events(events)));
        }
    }

    /// Begins a stream of what is published from now on.
    pub(super) fn begin_subscription(&mut self, method: Method, sink: &mut Sink<'_>) {
        let mut greeting = Vec::new();
        greet(&mut greeting);
        if self.begin_stream(method, &greeting, sink) {
            self.body = Body::Subscription;
        }
    }

    /// Begins an answer that is a stream. False: only its head is wanted.
    fn begin_stream(&mut self, method: Method, greeting: &[u8], sink: &mut Sink<'_>) -> bool {
        let shared = sink.shared();
        self.head(200, EVENT_STREAM, BodyLength::Chunked, sink);
        add_fields(&shared.event_fields, sink);
        if method == Method::Head {
            self.codec.body_end(sink.out);
        } else {
            self.codec.body_chunk(greeting, sink.out);
        }
        self.complete(sink);
        method != Method::Head
    }

    /// Tells the events that are due by now.
    pub(super) fn tell_events(&mut self, now: u64, sink: &mut Sink<'_>, member: &mut Member<'_>) {
        let Some(Beside::Events(events)) = self.beside.as_deref_mut() else { return };
        if let Some(due) = tell_due(events, now, sink, &mut self.codec) {
            member.tell_at(due, 0);
        }
        if !events.is_over() {
            return;
        }
        self.beside = None;
        self.codec.body_end(sink.out);
        sink.settle();
        self.body = Body::Complete;
        if let Some(ending) = self.last {
            sink.finish(ending);
        }
    }

    /// Tells what was published: a reply of its own.
    pub(super) fn tell_published(&mut self, message: &Broadcast, sink: &mut Sink<'_>) {
        let mut reply = sink.begin();
        self.codec.body_chunk(&event_of(message, &mut reply), sink.out);
        sink.end(reply);
    }

    /// It is told what is published from now on.
    pub(super) fn join(&mut self, member: &mut Member<'_>) {
        if !self.has_joined {
            self.has_joined = true;
            member.join_broadcast();
        }
    }

    /// Answers a poll for what was published behind this number; where nothing was, later.
    pub(super) fn poll(&mut self, after: u64, sink: &mut Sink<'_>, member: &mut Member<'_>) {
        // First, so that nothing is published in between of which nobody tells.
        self.join(member);
        let (last, messages) = member.published_since(after);
        if last != after || !messages.is_empty() {
            return self.answer_poll(last, &messages, sink);
        }
        let until = monotonic_ns() + LONGEST_POLL;
        self.body = Body::Poll { after, until };
        self.wake_at(until, member);
    }

    /// Nothing cancels an alarm, so one has to do for all polls of a connection. Where an earlier one is set, that
    /// looks for itself when the poll is over that waits then.
    fn wake_at(&mut self, until: u64, member: &mut Member<'_>) {
        if !mem::replace(&mut self.has_alarm, true) {
            member.tell_at(until, POLLS);
        }
    }

    /// The alarm of polls: the one that waits, if one does, may have waited for long enough.
    pub(super) fn end_poll(&mut self, now: u64, sink: &mut Sink<'_>, member: &mut Member<'_>) {
        self.has_alarm = false;
        let Body::Poll { after, until } = self.body else { return };
        if now < until {
            return self.wake_at(until, member);
        }
        let (last, messages) = member.published_since(after);
        self.conclude_poll(last, &messages, sink);
    }

    /// Something was published while a poll waited for what is behind this number.
    pub(super) fn poll_on(&mut self, after: u64, sink: &mut Sink<'_>, member: &mut Member<'_>) {
        let (last, messages) = member.published_since(after);
        if !messages.is_empty() {
            self.conclude_poll(last, &messages, sink);
        }
    }

    fn conclude_poll(&mut self, last: u64, messages: &[Arc<Broadcast>], sink: &mut Sink<'_>) {
        self.answer_poll(last, messages, sink);
        if let Some(ending) = self.last {
            sink.finish(ending);
        }
    }

    fn answer_poll(&mut self, last: u64, messages: &[Arc<Broadcast>], sink: &mut Sink<'_>) {
        self.give(200, JSON, "", polled(last, messages).as_bytes(), sink);
    }

    /// A piece of what is to be published came.
    pub(super) fn keep(&mut self, piece: &[u8], sink: &mut Sink<'_>) {
        let Some(Beside::Publication(kept)) = self.beside.as_deref_mut() else { return };
        if (kept.len() + piece.len()) as u64 <= sink.shared().max_message {
            return kept.extend_from_slice(piece);
        }
        self.beside = None;
        // What is left of it is not waited for.
        self.last = Some(Ending::Early);
        self.give(413, TEXT, "", b"more than a message may have\n", sink);
        sink.finish(Ending::Early);
    }

    /// Publishes what came, and says so.
    pub(super) fn publish(&mut self, sink: &mut Sink<'_>, member: &mut Member<'_>) {
        let Some(Beside::Publication(payload)) = self.beside.take().map(|beside| *beside) else {
            return;
        };
        publish(payload, member);
        self.give(200, TEXT, "", b"OK", sink);
    }
}

#[cfg(test)]
mod tests {
    use wiretrial_net::Key;
    use wiretrial_proto::MessageKind;
    use wiretrial_proto::http1::DateField;

    use super::*;
    use crate::conversation::Conversation as _;
    use crate::hub::{Dispatcher, Notice};
    use crate::script::Script;
    use crate::shared::Shared;
    use crate::verdict::Scheme;

    #[test]
    fn polls_that_were_answered_leave_one_alarm() {
        let shared = Shared::new(Script::default(), 1 << 20, None, None, 1);
        let mut dispatcher = Dispatcher::new(0);
        let key = Key { slot: 1, generation: 0 };
        let mut member = Member { hub: &shared.hub, dispatcher: &mut dispatcher, key };
        let mut conversation = HttpConversation::new(Scheme::Http, Arc::new(DateField::new(0)));
        let mut out = Vec::new();
        for number in 0..5 {
            let mut sink = Sink::new(&mut out, None, &shared);
            conversation.poll(number, &mut sink, &mut member);
            assert!(matches!(conversation.body, Body::Poll { .. }), "it waits");
            let payload = b"x".to_vec();
            let message = Arc::new(Broadcast { kind: MessageKind::Text, payload });
            member.publish(&message);
            conversation.on_notice(&Notice::Broadcast(message), &mut sink, &mut member);
            assert_eq!(conversation.body, Body::Complete, "it is answered");
        }
        member.dispatcher.take_queue();
        member.dispatcher.release(monotonic_ns() + 2 * LONGEST_POLL, &shared.hub);
        let alarms = member.dispatcher.take_queue();
        assert_eq!(alarms.len(), 1);

        // It looks after the poll that waits by then.
        let mut sink = Sink::new(&mut out, None, &shared);
        conversation.poll(5, &mut sink, &mut member);
        let Body::Poll { until, .. } = conversation.body else { panic!("it waits") };
        conversation.end_poll(until - 1, &mut sink, &mut member);
        assert!(matches!(conversation.body, Body::Poll { .. }), "it waits on");
        conversation.end_poll(until, &mut sink, &mut member);
        assert_eq!(conversation.body, Body::Complete);
    }
}
