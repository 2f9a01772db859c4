//! One event of a stream: is it right, does it come in its turn, and how late is it?
//!
//! Knows what an event says, and what its stream has told before it. Must not know what carried it.

use wiretrial_proto::sse::{NumberedEvent, ServerSent};

use crate::clock::Nanos;
use crate::measure::{Class, Metric, Recorder};
use crate::source::{Payloads, Publication, Verifier, excerpt};

/// Numbers that leave out more events than this are none of ours.
const MOST_MISSING: u64 = 1 << 20;

/// A class, and a line for people.
type Wrong = (Class, String);

/// Where a stream is when an event of it has come.
pub(super) struct Place<'s> {
    /// Of the message that asked for it.
    pub(super) number: u64,
    pub(super) since: &'s mut Option<Nanos>,
    pub(super) next: &'s mut Option<u64>,
    pub(super) is_numbered: bool,
    pub(super) is_stamped: bool,
    /// What it tells; none: nobody knows beforehand.
    pub(super) published: Option<&'s Publication>,
    /// Now, and what the machine's clock says, nanoseconds.
    pub(super) at: (Nanos, u64),
}

impl Place<'_> {
    /// Judges an event, and records what it is.
    pub(super) fn take(
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
                    if self.published.is_some_and(|it| it.reach.one_more(told.number)) {
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
            Some(in_turn(event, self.published, self.next, recorder)?)
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
    published: Option<&Publication>,
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
    // Of an event that the server did not confirm nobody is owed a copy: it may never have been taken.
    let unconfirmed = match published {
        Some(published) if missing > 0 => published.reach.unconfirmed_in(&(awaited..number)),
        _ => 0,
    };
    let missing = missing.saturating_sub(unconfirmed);
    if missing > 0 {
        recorder.missing(missing);
        recorder.example(Class::Missing, || {
            format!("event {number} came where event {awaited} was due")
        });
    }
    let is_named =
        published.is_some() || event.id.is_empty() || event.id == number.to_string().as_bytes();
    // What is cut off behind its instant would still be one.
    let has_all = published.is_none_or(|it| event.data.len() == it.size);
    let is_whole = is_named && has_all && NumberedEvent::read(event.data).is_some();
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::plan::PayloadPlan;
    use crate::reach::Reach;

    /// What comes of the first event of a stream that tells what is published, 64 bytes each: the right ones, and the
    /// errors of each class.
    fn come_to(data: &[u8]) -> (u64, Vec<(String, u64)>) {
        let published = Publication { size: 64, reach: Arc::new(Reach::new(1)) };
        let (mut since, mut next) = (None, Some(0));
        let mut place = Place {
            number: 0,
            since: &mut since,
            next: &mut next,
            is_numbered: true,
            is_stamped: true,
            published: Some(&published),
            at: (Nanos(9), 9),
        };
        let mut payloads = Payloads::new(&PayloadPlan::None);
        let mut recorder = Recorder::default();
        let event = ServerSent { kind: b"", data, id: b"" };
        place.take(&event, &Verifier::Any, &mut payloads, &mut recorder);
        let counters = recorder.counters(0, 0, 0);
        (counters.ok, counters.errors.into_iter().collect())
    }

    /// Of five events the first and the last come.
    #[test]
    fn what_was_not_confirmed_is_not_missing() {
        let reach = Arc::new(Reach::new(1));
        let published = Publication { size: 64, reach: Arc::clone(&reach) };
        for number in [1, 3] {
            reach.not_confirmed(number);
        }
        let (mut next, mut recorder) = (Some(0), Recorder::default());
        for number in [0, 4] {
            let mut data = Vec::new();
            NumberedEvent { number, due_ns: 5 }.write(64, &mut data);
            let event = ServerSent { kind: b"", data: &data, id: b"" };
            let told = in_turn(&event, Some(&published), &mut next, &mut recorder);
            assert_eq!(told.map(|told| told.number), Ok(number));
        }
        let counters = recorder.counters(0, 0, 0);
        assert_eq!((counters.sent, counters.errors.get("missing")), (1, Some(&1)), "event 2");
        assert_eq!(recorder.examples()["missing"], "event 4 came where event 1 was due");
    }

    #[test]
    fn what_is_published_comes_with_all_of_its_bytes() {
        for (size, is_right) in [(33, false), (63, false), (64, true), (65, false), (128, false)] {
            let mut data = Vec::new();
            NumberedEvent { number: 0, due_ns: 5 }.write(size, &mut data);
            let wrong = (0, vec![("mismatch".to_owned(), 1)]);
            assert_eq!(come_to(&data), if is_right { (1, Vec::new()) } else { wrong }, "{size}");
        }
    }
}
