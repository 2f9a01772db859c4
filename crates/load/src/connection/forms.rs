//! What came of events in each of the forms in which they are told: streams of events, messages of a WebSocket, calls
//! of gRPC, replies to polls.
//!
//! Knows where the text of an event stands in each. Must not know what a right event is, nor when a poll is repeated.

use serde::Deserialize;
use wiretrial_proto::sse::ServerSent;

use super::Ending;
use super::event::Place;
use super::ledger::Pending;
use super::outcome::{Expected, Received};
use crate::measure::Class;
use crate::source::{Form, Refused, Stream, Streams, excerpt};

/// The most that is kept of a message or of the reply to a poll until it is whole, bytes.
const MOST_GATHERED: usize = 64 << 20;
/// So much of what is no stream is read to its end, bytes; of more the connection is given up.
const MOST_REFUSED: u64 = 64 * 1024;

/// A piece of a stream of events came.
pub(super) fn hear<W>(
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
    let Some((stream, published)) = streams.hearing(number) else { return };
    if passes_over(stream, piece, received) {
        return;
    }
    let Stream { decoder, since, is_numbered, is_stamped, next, events, .. } = stream;
    let mut place = Place {
        number,
        since,
        next,
        is_numbered: *is_numbered,
        is_stamped: *is_stamped,
        published,
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

/// A piece of a message, or of the reply to a poll, came, which goes on.
pub(super) fn gather<W>(
    piece: &[u8],
    number: u64,
    streams: &mut Streams,
    received: &mut Received,
    expected: &mut Expected<'_, W>,
) {
    expected.recorder.bytes.payload_received += piece.len() as u64;
    let Some(stream) = streams.get(number) else { return };
    if !passes_over(stream, piece, received) {
        keep(piece, &mut stream.begun, received);
    }
}

/// Keeps a piece of what is not whole. False: it is too long, which ends the connection.
fn keep(piece: &[u8], begun: &mut Vec<u8>, received: &mut Received) -> bool {
    let has_room = begun.len() + piece.len() <= MOST_GATHERED;
    if has_room {
        begun.extend_from_slice(piece);
    } else {
        let text = format!("what tells of events is over {} MiB", MOST_GATHERED >> 20);
        received.ending = Some(Ending::Failed(Class::TooBig, text));
    }
    has_room
}

/// A message of a WebSocket came whole, with these last bytes: an event.
pub(super) fn message<W>(
    last: &[u8],
    pending: &Pending,
    streams: &mut Streams,
    received: &mut Received,
    expected: &mut Expected<'_, W>,
) {
    let now = received.at;
    let (reading, is_emitted) = (streams.reading(now), streams.form() == Form::Emitted);
    let Expected { verifier, payloads, recorder, .. } = expected;
    recorder.bytes.payload_received += last.len() as u64;
    let Some((stream, published)) = streams.hearing(pending.number) else { return };
    let mut begun = std::mem::take(&mut stream.begun);
    let data = if begun.is_empty() {
        last
    } else {
        begun.extend_from_slice(last);
        begun.as_slice()
    };
    // What is no event that tells what is published is judged as it stands, and is not right.
    let parsed = || serde_json::from_slice::<(&str, String)>(data).ok();
    let told = is_emitted.then(parsed).flatten();
    let data = match &told {
        Some(("published", text)) => text.as_bytes(),
        _ => data,
    };
    // Until the first one comes it is awaited since the WebSocket was there to hear it.
    stream.since.get_or_insert(pending.sent);
    let mut place = Place {
        number: pending.number,
        since: &mut stream.since,
        next: &mut stream.next,
        is_numbered: true,
        is_stamped: true,
        published,
        at: (now, reading),
    };
    place.take(&ServerSent { kind: b"", data, id: b"" }, verifier, payloads, recorder);
}

/// A piece of a call's reply came, which is messages behind their prefixes.
pub(super) fn called<W>(
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
    let Some((stream, published)) = streams.hearing(number) else { return };
    if passes_over(stream, piece, received) {
        return;
    }
    let Stream { frames, begun, since, next, events, .. } = stream;
    let mut place = Place {
        number,
        since,
        next,
        is_numbered: true,
        is_stamped: true,
        published,
        at: (now, reading),
    };
    let mut input = piece;
    loop {
        let part = match frames.next(&mut input) {
            Ok(Some(part)) => part,
            Ok(None) => return,
            Err(text) => {
                received.ending = Some(Ending::Failed(Class::Protocol, text.to_owned()));
                return;
            }
        };
        if !keep(part.piece, begun, received) {
            return;
        }
        if part.ends {
            let whole = begun.as_slice();
            let data = first_field(whole).unwrap_or(whole);
            let event = ServerSent { kind: b"", data, id: b"" };
            *events += 1;
            place.take(&event, verifier, payloads, recorder);
            begun.clear();
        }
    }
}

/// The bytes of field 1 of a message of Protocol Buffers that has no other field; none: it is another one.
fn first_field(message: &[u8]) -> Option<&[u8]> {
    let mut rest = message.strip_prefix(&[0x0a])?;
    let (mut length, mut shift) = (0_u64, 0);
    loop {
        let (byte, behind) = rest.split_first()?;
        rest = behind;
        length |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if *byte < 0x80 {
            return (rest.len() as u64 == length).then_some(rest);
        }
        if shift > 28 {
            return None;
        }
    }
}

/// What a poll is answered with.
#[derive(Debug, Deserialize)]
struct Polled {
    /// Number of the last event.
    last: u64,
    events: Vec<String>,
}

/// The reply to a poll came whole, with these last bytes: perhaps several events. False: it is none.
pub(super) fn polled<W>(
    last: &[u8],
    pending: &Pending,
    streams: &mut Streams,
    received: &mut Received,
    expected: &mut Expected<'_, W>,
) -> bool {
    let now = received.at;
    let reading = streams.reading(now);
    let Expected { verifier, payloads, recorder, .. } = expected;
    recorder.bytes.payload_received += last.len() as u64;
    let Some((stream, published)) = streams.hearing(pending.number) else { return false };
    if stream.refused.is_some() {
        return false;
    }
    let mut body = std::mem::take(&mut stream.begun);
    body.extend_from_slice(last);
    let Ok(told) = serde_json::from_slice::<Polled>(&body) else {
        let text = format!("'{}' is no answer to a poll", excerpt(&body));
        stream.refused = Some(Box::new((Refused::Kind, text)));
        return false;
    };
    // The first one asks for a number, and for no event.
    let awaits_events = !stream.after.is_empty();
    recorder.empty_polls += u64::from(awaits_events && told.events.is_empty());
    stream.after = told.last.to_string().into_bytes();
    stream.events += told.events.len() as u64;
    let mut place = Place {
        number: pending.number,
        since: &mut stream.since,
        next: &mut stream.next,
        is_numbered: true,
        is_stamped: true,
        published,
        at: (now, reading),
    };
    for event in &told.events {
        let event = ServerSent { kind: b"", data: event.as_bytes(), id: b"" };
        place.take(&event, verifier, payloads, recorder);
    }
    true
}

/// Passes over a piece of what is no stream, and gives the connection up where there is too much of it. False: it is
/// one.
fn passes_over(stream: &mut Stream, piece: &[u8], received: &mut Received) -> bool {
    let Some(refused) = &stream.refused else { return false };
    stream.ignored += piece.len() as u64;
    if stream.ignored > MOST_REFUSED {
        received.ending = Some(Ending::Failed(class_of(refused.0), refused.1.clone()));
    }
    true
}

/// How a reply that is no stream is counted.
pub(super) const fn class_of(refused: Refused) -> Class {
    match refused {
        Refused::Status => Class::Status,
        Refused::Kind => Class::Mismatch,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wiretrial_proto::sse::NumberedEvent;

    use super::*;
    use crate::connection::{Buffers, Nobody};
    use crate::measure::Recorder;
    use crate::plan::PayloadPlan;
    use crate::reach::Reach;
    use crate::source::{Payloads, Publication, Verifier};

    #[test]
    fn polls_that_bring_no_event_are_counted_behind_the_first() {
        let published = Publication { size: 33, reach: Arc::new(Reach::new(1)) };
        let mut streams = Streams::new("clock", 0).telling(published).told_as(Form::Polls);
        streams.ask(1);
        let pending = Pending { number: 1, ..Pending::default() };
        let (mut payloads, mut buffers) = (Payloads::new(&PayloadPlan::None), Buffers::default());
        let mut recorder = Recorder::default();
        let mut event = Vec::new();
        NumberedEvent { number: 0, due_ns: 0 }.write(33, &mut event);
        let event = String::from_utf8(event).expect("digits");
        let one = format!(r#"{{"last":7,"events":["{event}"]}}"#);
        let none = r#"{"last":6,"events":[]}"#;
        for (reply, empty) in [(none, 0), (none, 1), (one.as_str(), 1), (none, 2)] {
            let mut received = Received::default();
            let mut expected = Expected {
                witness: Nobody,
                verifier: &Verifier::Any,
                status: None,
                calls: None,
                kind: None,
                open_loop: false,
                payloads: &mut payloads,
                recorder: &mut recorder,
                buffers: &mut buffers,
                deliveries: None,
            };
            let reply = reply.as_bytes();
            assert!(polled(reply, &pending, &mut streams, &mut received, &mut expected));
            assert_eq!(recorder.empty_polls, empty);
        }
        assert_eq!(recorder.counters(0, 0, 0).ok, 1);
    }

    #[test]
    fn table_of_first_fields() {
        let long = [&[0x0a, 0xac, 2][..], &[b'x'; 300]].concat();
        let cases: [(&[u8], Option<&[u8]>); 8] = [
            (&[0x0a, 0], Some(&[])),
            (&[0x0a, 2, b'h', b'i'], Some(b"hi")),
            (&long, Some(&long[3..])),
            (&[], None),
            (&[0x0a], None),
            (&[0x12, 1, b'x'], None),
            (&[0x0a, 1, b'x', 0x10, 1], None),
            (&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 1], None),
        ];
        for (message, field) in cases {
            assert_eq!(first_field(message), field, "{message:?}");
        }
    }
}
