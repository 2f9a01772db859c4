//! Answers that are streams of events, and what is published to them.
//!
//! Knows when each begins, goes on and ends. Must not know which event is due when, nor who else hears one.

use wiretrial_net::clock::monotonic_ns;
use wiretrial_proto::http1::BodyLength;
use wiretrial_proto::sse::EVENT_STREAM;

use super::{Beside, Body, HttpConversation, add_fields};
use crate::content::TEXT;
use crate::conversation::due::tell_due;
use crate::conversation::published::{event_of, publish};
use crate::events::{Asked, EventStream, greet};
use crate::hub::{Broadcast, Member};
use crate::route::Method;
use crate::sink::{Ending, Sink};

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
