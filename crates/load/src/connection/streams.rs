//! Streams of events: how each is asked for, begins and ends.
//!
//! Knows when a stream is one, and how it fails. Must not know when a stream is asked for again, nor where an event
//! stands in what comes of it.

use wiretrial_proto::grpc::{PREFIX, Status};
use wiretrial_proto::sse::{CLOCK_FIELD, EVENT_STREAM, is_event_stream};
use wiretrial_proto::{ClientSession as _, Event, Fill, Message, Reply, ReplyHead, Tag};

use super::forms::{called, class_of, gather, hear, message, polled};
use super::ledger::{Ledger, Pending};
use super::outcome::{Expected, Received, status};
use super::partial::Partial;
use super::{Connection, Ending, Link};
use crate::clock::Nanos;
use crate::measure::{Class, Metric, Recorder};
use crate::protocol::Protocol;
use crate::source::{Form, Payloads, Refused, Streams, excerpt};

/// The way of requests that tell the last id, behind that of those that have none.
const WITH_LAST_ID: usize = 1;
/// What a client of Socket.IO emits to be told what is published.
const SUBSCRIBE: &[u8] = br#"["subscribe"]"#;
/// The message of a call of gRPC that says nothing, behind its prefix.
const NOTHING: &[u8] = &[0; PREFIX];
/// The status of a stream.
const RIGHT_STATUS: u16 = 200;
/// What is said of a stream that told nothing in time.
pub(crate) const SILENT: &str = "no event before the deadline: hold streams that may be silent (--hold), or use a longer --timeout";

/// Encodes requests for streams, which belong to messages with these numbers.
pub(super) fn ask(
    session: &mut Protocol,
    streams: &mut Streams,
    numbers: impl Iterator<Item = u64>,
    out: &mut Vec<u8>,
) {
    let form = streams.form();
    for number in numbers {
        let told = streams.ask(number);
        match form {
            Form::Events | Form::Polls => ask_behind(session, number, told, out),
            Form::Emitted => session.encode(&Message::new(number, SUBSCRIBE), out),
            Form::Calls => session.encode(&Message::new(number, NOTHING), out),
            // A WebSocket is there to be heard.
            Form::Messages => {}
        }
    }
}

/// Encodes a request for a stream, behind what it told last, if anything.
fn ask_behind(session: &mut Protocol, number: u64, told: Option<&[u8]>, out: &mut Vec<u8>) {
    let Some(told) = told else { return session.encode(&Message::new(number, &[]), out) };
    let fill = Fill { values: told, ends: &[told.len() as u32], cookies: &[] };
    let (route, fill) = (WITH_LAST_ID, Some(&fill));
    session.encode(&Message { number, route, payload: &[], fill }, out);
}

impl Connection {
    /// Takes in what came of a stream. False: it is about something else, or about a stream that nobody
    /// has asked for.
    pub(super) fn stream<W>(
        &mut self,
        event: &Event<'_>,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) -> bool {
        let Some(mut streams) = expected.payloads.streams().take() else { return false };
        let taken = self.of_stream(event, &mut streams, received, expected);
        *expected.payloads.streams() = Some(streams);
        taken
    }

    fn of_stream<W>(
        &mut self,
        event: &Event<'_>,
        streams: &mut Streams,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) -> bool {
        let tag = match event {
            Event::Head(head) => head.tag,
            Event::Chunk { tag, .. } | Event::Failed { tag, .. } => *tag,
            Event::Reply(reply) => reply.tag,
            _ => return false,
        };
        let Some(pending) = self.asked_for(tag) else { return false };
        let (number, now) = (pending.number, received.at);
        if streams.get(number).is_none() {
            return false;
        }
        match event {
            Event::Head(head) => {
                let is_first = streams.since(number).is_none();
                if begin(head, number, streams, now) && is_first {
                    expected.recorder.record(Metric::UpgradeTime, now - pending.sent);
                }
            }
            Event::Chunk { piece, .. } => match streams.form() {
                Form::Events => hear(piece, number, streams, received, expected),
                Form::Calls => called(piece, number, streams, received, expected),
                Form::Messages | Form::Emitted | Form::Polls => {
                    gather(piece, number, streams, received, expected);
                }
            },
            Event::Reply(reply) => self.of_reply(reply, &pending, streams, received, expected),
            // It is counted as any message that failed.
            _ => {
                streams.part(number, now);
                return false;
            }
        }
        true
    }

    /// Takes in a reply: an event or several, or the end of the stream.
    fn of_reply<W>(
        &mut self,
        reply: &Reply<'_>,
        pending: &Pending,
        streams: &mut Streams,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) {
        let (number, piece) = (pending.number, reply.payload);
        let goes_on = match streams.form() {
            Form::Messages | Form::Emitted => {
                message(piece, pending, streams, received, expected);
                true
            }
            Form::Polls => {
                let is_right = polled(piece, pending, streams, received, expected);
                if is_right {
                    self.poll_again(number, streams, expected);
                }
                is_right
            }
            Form::Calls => {
                called(piece, number, streams, received, expected);
                end_call(reply.status, number, streams);
                false
            }
            Form::Events => {
                hear(piece, number, streams, received, expected);
                false
            }
        };
        if received.ending.is_some() {
            return;
        }
        if !goes_on {
            self.stream_ended(pending, streams, received, expected.recorder);
        }
        received.ending = reply.last.then_some(Ending::Orderly("server"));
    }

    /// Asks for what is behind that which a poll has brought. The message stays the one that it is.
    fn poll_again<W>(&mut self, number: u64, streams: &Streams, expected: &mut Expected<'_, W>) {
        let Some(Link { transport, session }) = &mut self.link else { return };
        if !session.is_open() {
            // That reply was the connection's last.
            return;
        }
        let out = Partial::way_out(&mut self.partial, transport);
        expected.buffers.lend(out);
        let before = out.len();
        ask_behind(session, number, streams.behind(number), out);
        expected.recorder.bytes.application_sent += (out.len() - before) as u64;
    }

    /// The message that asked for what has come.
    fn asked_for(&self, tag: Tag) -> Option<Pending> {
        match (&self.ledger, tag) {
            (Ledger::InOrder(ledger), Tag::Oldest) => ledger.front().copied(),
            (Ledger::Numbered(ledger), Tag::Number(number)) => ledger.get(number),
            _ => None,
        }
    }

    /// A stream has come to its end, which none has by itself.
    fn stream_ended(
        &mut self,
        pending: &Pending,
        streams: &mut Streams,
        received: &mut Received,
        recorder: &mut Recorder,
    ) {
        let now = received.at;
        let Some(stream) = streams.get(pending.number) else { return };
        let since = stream.since.unwrap_or(pending.sent);
        let refused = stream.refused.take().map(|refused| (class_of(refused.0), refused.1));
        let events = stream.events;
        let ended = || (Class::Closed, format!("the server ended the stream, events: {events}"));
        let (class, text) = refused.unwrap_or_else(ended);
        recorder.failure(class, now - since);
        recorder.example(class, || text);
        match &mut self.ledger {
            Ledger::InOrder(ledger) => ledger.take(),
            Ledger::Numbered(ledger) => ledger.answer(pending.number),
        };
        streams.part(pending.number, now);
        received.done += 1;
    }

    /// Streams that have told nothing for so long; those that stand may be silent where they are held.
    pub(crate) fn silent_streams(
        &self,
        streams: &Streams,
        now: Nanos,
        timeout: Nanos,
        are_held: bool,
    ) -> Vec<u64> {
        let mut silent = Vec::new();
        self.ledger.for_each(|Pending { number, sent, .. }| {
            let is_websocket = matches!(streams.form(), Form::Messages | Form::Emitted);
            let stands = streams.since(number).or(is_websocket.then_some(sent));
            let is_late = now - stands.unwrap_or(sent) >= timeout;
            if is_late && !(are_held && stands.is_some()) {
                silent.push(number);
            }
        });
        silent
    }

    /// Gives up a stream alone, where others go on; what tells the peer so waits for a flush. False: the
    /// connection has to be given up.
    pub(crate) fn give_up_stream(
        &mut self,
        number: u64,
        now: Nanos,
        payloads: &mut Payloads,
        recorder: &mut Recorder,
    ) -> bool {
        let (Ledger::Numbered(ledger), Some(link)) = (&mut self.ledger, &mut self.link) else {
            return false;
        };
        let Link { transport, session } = link;
        let out = Partial::way_out(&mut self.partial, transport);
        if ledger.get(number).is_none() || !session.cancel(number, out) {
            return false;
        }
        let (Some(pending), Some(streams)) = (ledger.answer(number), payloads.streams()) else {
            return false;
        };
        recorder.failure(Class::Timeout, now - streams.since(number).unwrap_or(pending.sent));
        recorder.example(Class::Timeout, || SILENT.to_owned());
        streams.part(number, now);
        true
    }
}

/// The head of a stream came. False: it is none.
fn begin(head: &ReplyHead<'_>, number: u64, streams: &mut Streams, now: Nanos) -> bool {
    let named = |name: &str| {
        let is_it = |field: &(&[u8], &[u8])| field.0.eq_ignore_ascii_case(name.as_bytes());
        head.fields().find(is_it).map(|(_, value)| value)
    };
    let content_type = named("content-type").unwrap_or_default();
    let clock = named(CLOCK_FIELD);
    let (are_published, form) = (streams.are_published(), streams.form());
    let is_stamped = are_published || clock.is_some_and(|clock| streams.is_own_clock(clock));
    let Some(stream) = streams.get(number) else { return false };
    let wrong = if head.status != RIGHT_STATUS {
        Some((Refused::Status, status(head.status, false)))
    } else if form == Form::Events && !is_event_stream(content_type) {
        let shown = excerpt(content_type);
        Some((Refused::Kind, format!("content type '{shown}' instead of {EVENT_STREAM}")))
    } else {
        None
    };
    stream.refused = wrong.map(Box::new);
    if stream.refused.is_some() {
        return false;
    }
    stream.since.get_or_insert(now);
    (stream.is_numbered, stream.is_stamped) = (are_published || clock.is_some(), is_stamped);
    true
}

/// A call has come to its end with this status, which says why where it is not 0.
fn end_call(status: u16, number: u64, streams: &mut Streams) {
    if let Some(stream) = streams.get(number)
        && stream.refused.is_none()
        && status != 0
    {
        let text = format!("the call ended with status {}", Status(status));
        stream.refused = Some(Box::new((Refused::Status, text)));
    }
}
