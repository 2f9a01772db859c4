//! One event of a stream: is it right, does it come in its turn, and how late is it?
//!
//! Knows what an event says, and what its stream has told before it. Must not know what carried it.

use wiretrial_proto::sse::{NumberedEvent, ServerSent};

use crate::clock::Nanos;
use crate::measure::{Class, Metric, Recorder};
use crate::reach::Reach;
use crate::source::{Payloads, Verifier, excerpt};

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
    pub(super) reach: Option<&'s Reach>,
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
