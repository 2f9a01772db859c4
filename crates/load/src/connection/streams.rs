//! Streams of events: what came of them, event by event.
//!
//! Knows when a stream is one, when an event is right, and how both fail. Must not know when a stream
//! is asked for again.

use wiretrial_proto::sse::{CLOCK_FIELD, EVENT_STREAM, NumberedEvent, ServerSent, is_event_stream};
use wiretrial_proto::{ClientSession as _, Event, Fill, Message, ReplyHead, Tag};

use super::ledger::{Ledger, Pending};
use super::outcome::{Expected, Received, status};
use super::partial::Partial;
use super::{Connection, Ending, Link};
use crate::clock::Nanos;
use crate::measure::{Class, Metric, Recorder};
use crate::protocol::Protocol;
use crate::reach::Reach;
use crate::source::{Payloads, Refused, Stream, Streams, Verifier, excerpt};

/// The way of requests that tell the last id, behind that of those that have none.
const WITH_LAST_ID: usize = 1;
/// Numbers that leave out more events than this are none of ours.
const MOST_MISSING: u64 = 1 << 20;
/// So much of what is no stream is read to its end, bytes; of more the connection is given up.
const MOST_REFUSED: u64 = 64 * 1024;
/// The status of a stream.
const RIGHT_STATUS: u16 = 200;
/// What is said of a stream that told nothing in time.
pub(crate) const SILENT: &str = "no event before the deadline: hold streams that may be silent (--hold), or use a longer --timeout";

/// A class, and a line for people.
type Wrong = (Class, String);

/// Encodes requests for streams, which belong to messages with these numbers.
pub(super) fn ask(
    session: &mut Protocol,
    streams: &mut Streams,
    numbers: impl Iterator<Item = u64>,
    out: &mut Vec<u8>,
) {
    let are_messages = streams.are_messages();
    for number in numbers {
        match streams.ask(number) {
            // It is there with its WebSocket.
            _ if are_messages => {}
            None => session.encode(&Message::new(number, &[]), out),
            Some(id) => {
                let fill = Fill { values: id, ends: &[id.len() as u32], cookies: &[] };
                let (route, fill) = (WITH_LAST_ID, Some(&fill));
                session.encode(&Message { number, route, payload: &[], fill }, out);
            }
        }
    }
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
                if begin(head, number, streams, now) {
                    expected.recorder.record(Metric::UpgradeTime, now - pending.sent);
                }
            }
            Event::Chunk { piece, .. } if streams.are_messages() => {
                expected.recorder.bytes.payload_received += piece.len() as u64;
                if let Some(stream) = streams.get(number) {
                    stream.begun.extend_from_slice(piece);
                }
            }
            Event::Reply(reply) if streams.are_messages() => {
                message(reply.payload, &pending, streams, received, expected);
                received.ending = reply.last.then_some(Ending::Orderly("server"));
            }
            Event::Chunk { piece, .. } => hear(piece, number, streams, received, expected),
            Event::Reply(reply) => {
                hear(reply.payload, number, streams, received, expected);
                if received.ending.is_none() {
                    self.stream_ended(&pending, streams, received, expected.recorder);
                    received.ending = reply.last.then_some(Ending::Orderly("server"));
                }
            }
            // It is counted as any message that failed.
            _ => {
                streams.part(number, now);
                return false;
            }
        }
        true
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
            let stands = streams.since(number).or(streams.are_messages().then_some(sent));
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
    let are_published = streams.are_published();
    let is_stamped = are_published || clock.is_some_and(|clock| streams.is_own_clock(clock));
    let Some(stream) = streams.get(number) else { return false };
    let wrong = if head.status != RIGHT_STATUS {
        Some((Refused::Status, status(head.status, false)))
    } else if !is_event_stream(content_type) {
        let shown = excerpt(content_type);
        Some((Refused::Kind, format!("content type '{shown}' instead of {EVENT_STREAM}")))
    } else {
        None
    };
    stream.refused = wrong.map(Box::new);
    if stream.refused.is_some() {
        return false;
    }
    stream.since = Some(now);
    (stream.is_numbered, stream.is_stamped) = (are_published || clock.is_some(), is_stamped);
    true
}

/// How a reply that is no stream is counted.
const fn class_of(refused: Refused) -> Class {
    match refused {
        Refused::Status => Class::Status,
        Refused::Kind => Class::Mismatch,
    }
}

/// A piece of a stream came.
fn hear<W>(
    piece: &[u8],
    number: u64,
    streams: &mut Streams,
    received: &mut Received,
    expected: &mut Expected<'_, W>,
) {
    let now = received.at;
    let reading = streams.reading(now);
    let Expected { verifier, payloads, recorder, .. } = expected;
    recorder.bytes.payload_received += piece.len() as u64;
    let Some((stream, reach)) = streams.hearing(number) else { return };
    if let Some(refused) = &stream.refused {
        stream.ignored += piece.len() as u64;
        if stream.ignored > MOST_REFUSED {
            received.ending = Some(Ending::Failed(class_of(refused.0), refused.1.clone()));
        }
        return;
    }
    let Stream { decoder, since, is_numbered, is_stamped, next, events, .. } = stream;
    let mut place = Place {
        number,
        since,
        next,
        is_numbered: *is_numbered,
        is_stamped: *is_stamped,
        reach,
        at: (now, reading),
    };
    let mut rest = piece;
    loop {
        let step = match decoder.receive(rest) {
            Ok(step) => step,
            Err(error) => {
                received.ending = Some(Ending::Failed(error.class.into(), error.to_string()));
                return;
            }
        };
        rest = &rest[step.consumed..];
        let Some(event) = step.event else { return };
        *events += 1;
        place.take(&event, verifier, payloads, recorder);
    }
}

/// A message of a WebSocket came whole, with these last bytes: an event.
fn message<W>(
    last: &[u8],
    pending: &Pending,
    streams: &mut Streams,
    received: &mut Received,
    expected: &mut Expected<'_, W>,
) {
    let now = received.at;
    let reading = streams.reading(now);
    let Expected { verifier, payloads, recorder, .. } = expected;
    recorder.bytes.payload_received += last.len() as u64;
    let Some((stream, reach)) = streams.hearing(pending.number) else { return };
    let mut begun = std::mem::take(&mut stream.begun);
    let data = if begun.is_empty() {
        last
    } else {
        begun.extend_from_slice(last);
        begun.as_slice()
    };
    // Until the first one comes it is awaited since the WebSocket was there to hear it.
    stream.since.get_or_insert(pending.sent);
    let mut place = Place {
        number: pending.number,
        since: &mut stream.since,
        next: &mut stream.next,
        is_numbered: true,
        is_stamped: true,
        reach,
        at: (now, reading),
    };
    place.take(&ServerSent { kind: b"", data, id: b"" }, verifier, payloads, recorder);
}

/// Where a stream is when an event of it has come.
struct Place<'s> {
    /// Of the message that asked for it.
    number: u64,
    since: &'s mut Option<Nanos>,
    next: &'s mut Option<u64>,
    is_numbered: bool,
    is_stamped: bool,
    reach: Option<&'s Reach>,
    /// Now, and what the machine's clock says, nanoseconds.
    at: (Nanos, u64),
}

impl Place<'_> {
    /// Judges an event, and records what it is.
    fn take(
        &mut self,
        event: &ServerSent<'_>,
        verifier: &Verifier,
        payloads: &mut Payloads,
        recorder: &mut Recorder,
    ) {
        let (now, reading) = self.at;
        let gap = now - self.since.replace(now).unwrap_or(now);
        match self.judge(event, verifier, payloads, recorder) {
            Ok(told) => {
                recorder.event();
                recorder.record(Metric::MessageTime, gap);
                if let (Some(told), true) = (told, self.is_stamped)
                    && let Some(delay) = reading.checked_sub(told.due_ns)
                {
                    recorder.record(Metric::DeliveryTime, Nanos(delay));
                    if self.reach.is_some_and(|reach| reach.one_more(told.number)) {
                        recorder.record(Metric::ReachTime, Nanos(delay));
                    }
                }
            }
            Err((class, text)) => {
                // Another one is awaited in its place.
                recorder.sent += 1;
                recorder.failure(class, gap);
                recorder.example(class, || text);
            }
        }
    }

    fn judge(
        &mut self,
        event: &ServerSent<'_>,
        verifier: &Verifier,
        payloads: &mut Payloads,
        recorder: &mut Recorder,
    ) -> Result<Option<NumberedEvent>, Wrong> {
        is_text(event)?;
        let told = if self.is_numbered {
            Some(in_turn(event, self.reach.is_some(), self.next, recorder)?)
        } else {
            None
        };
        is_right(event, self.number, verifier, payloads)?;
        Ok(told)
    }
}

/// Browsers replace what is no text; a load says so.
fn is_text(event: &ServerSent<'_>) -> Result<(), Wrong> {
    let are_text = [event.data, event.kind, event.id].iter().all(|it| str::from_utf8(it).is_ok());
    are_text.then_some(()).ok_or_else(|| (Class::Utf8, "an event that is not UTF-8".to_owned()))
}

/// An event that has a number: does it come in its turn, and whole? Ids of what is published are its server's own.
fn in_turn(
    event: &ServerSent<'_>,
    is_published: bool,
    next: &mut Option<u64>,
    recorder: &mut Recorder,
) -> Result<NumberedEvent, Wrong> {
    let mismatch = || {
        let text = format!("'{}' is not what the event has to carry", excerpt(event.data));
        (Class::Mismatch, text)
    };
    let told = NumberedEvent::read_front(event.data).ok_or_else(mismatch)?;
    let number = told.number;
    let awaited = next.unwrap_or(number);
    if number < awaited {
        let text = format!("event {number} came where event {awaited} was due");
        return Err((Class::Order, text));
    }
    let missing = number - awaited;
    if missing > MOST_MISSING {
        return Err(mismatch());
    }
    *next = Some(number.wrapping_add(1));
    if missing > 0 {
        recorder.missing(missing);
        recorder.example(Class::Missing, || {
            format!("event {number} came where event {awaited} was due")
        });
    }
    let is_named = is_published || event.id.is_empty() || event.id == number.to_string().as_bytes();
    let is_whole = is_named && NumberedEvent::read(event.data).is_some();
    is_whole.then_some(told).ok_or_else(mismatch)
}

/// Does it carry what the plan says?
fn is_right(
    event: &ServerSent<'_>,
    number: u64,
    verifier: &Verifier,
    payloads: &mut Payloads,
) -> Result<(), Wrong> {
    let checked = verifier.check(number, event.data, payloads);
    checked.map_err(|mismatch| (Class::Mismatch, mismatch.to_string()))
}
