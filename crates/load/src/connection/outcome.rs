//! What comes of a reply: is it right, and how is it recorded?
//!
//! Knows what is expected; must not know how bytes became a reply.

use wiretrial_proto::grpc::Status;
use wiretrial_proto::{MessageKind, Reply};

use super::ledger::{Begun, Pending};
use super::{Buffers, Ending, Judged, Witness};
use crate::clock::Nanos;
use crate::deliveries::Deliveries;
use crate::measure::{Class, Recorder, Timeline};
use crate::plan::grpc::GrpcPlan;
use crate::source::{Payloads, Verifier};

/// What is said of a reply to a message that was not sent yet.
pub(crate) const FORESEEN: &str = "a reply that began before its message was sent";

/// What a right reply is, and where outcomes go.
#[derive(Debug)]
pub(crate) struct Expected<'w, W> {
    pub(crate) witness: W,
    pub(crate) verifier: &'w Verifier,
    pub(crate) status: Option<u16>,
    /// Replies are those of calls of gRPC.
    pub(crate) calls: Option<GrpcPlan>,
    pub(crate) kind: Option<MessageKind>,
    pub(crate) open_loop: bool,
    pub(crate) payloads: &'w mut Payloads,
    pub(crate) recorder: &'w mut Recorder,
    /// For what a reply makes us send.
    pub(crate) buffers: &'w mut Buffers,
    /// Who is owed what, and whose bytes these are; none where replies are nobody else's.
    pub(crate) deliveries: Option<(&'w mut Deliveries, u32)>,
}

impl<'w, W> Expected<'w, W> {
    /// The same, and somebody else hears it.
    pub(crate) fn heard_by<V>(self, witness: V) -> Expected<'w, V> {
        let Self { verifier, status, calls, kind, open_loop, .. } = self;
        let Self { payloads, recorder, buffers, deliveries, .. } = self;
        Expected {
            witness,
            verifier,
            status,
            calls,
            kind,
            open_loop,
            payloads,
            recorder,
            buffers,
            deliveries,
        }
    }
}

/// What one fill brought.
#[derive(Debug, Default)]
pub(crate) struct Received {
    /// Messages that are done, well or badly.
    pub(crate) done: u32,
    /// Messages that are not done with their replies: other requests are to be sent for them.
    pub(crate) going_on: u32,
    /// The protocol's handshake is done.
    pub(crate) opened: bool,
    /// The peer lets another number of messages be in flight.
    pub(crate) room_changed: bool,
    /// The connection ends.
    pub(crate) ending: Option<Ending>,
    /// Nothing more is known to wait.
    pub(crate) drained: bool,
    /// When the bytes were there.
    pub(crate) at: Nanos,
    /// Right replies that were not recorded yet, all with this timeline: those of a pack that
    /// came together have one, and are recorded at once.
    alike: Option<(Timeline, u32)>,
}

impl Received {
    /// So many replies came whole, all with this timeline, and their content was right.
    #[inline]
    pub(super) fn right(
        &mut self,
        timeline: Timeline,
        count: u32,
        recorder: &mut Recorder,
        open_loop: bool,
    ) {
        match &mut self.alike {
            Some((first, so_far)) if *first == timeline => *so_far += count,
            _ if !timeline.is_ordered() => (0..count).for_each(|_| foreseen(&timeline, recorder)),
            _ => {
                self.record_alike(recorder, open_loop);
                self.alike = Some((timeline, count));
            }
        }
    }

    #[inline]
    pub(super) fn record_alike(&mut self, recorder: &mut Recorder, open_loop: bool) {
        if let Some((timeline, count)) = self.alike.take() {
            recorder.replies(&timeline, count, open_loop);
        }
    }
}

/// A reply came whole: is it right? `begun` is what came of it before, if anything did. True: its message goes on.
#[inline]
pub(super) fn judge<W: Witness>(
    reply: &Reply<'_>,
    pending: &Pending,
    mut begun: Option<&mut Begun>,
    received: &mut Received,
    expected: &mut Expected<'_, W>,
) -> bool {
    let (now, number) = (received.at, pending.number);
    let Expected { verifier, payloads, recorder, .. } = expected;
    recorder.bytes.payload_received += reply.payload.len() as u64;
    if W::JUDGES {
        let first_byte = begun.as_ref().and_then(|it| it.first_byte).unwrap_or(now);
        if let Some(begun) = &mut begun {
            begun.clear();
        }
        let timeline = Timeline { due: pending.due, sent: pending.sent, first_byte, done: now };
        let open_loop = expected.open_loop;
        let judged = Judged { timeline: &timeline, number, recorder, open_loop };
        let goes_on = expected.witness.judge(reply, judged);
        received.going_on += u32::from(goes_on);
        received.done += u32::from(!goes_on);
        if reply.last {
            received.ending = Some(Ending::Orderly("server"));
        }
        return goes_on;
    }
    let begun = begun.and_then(|it| Some((it.first_byte.take()?, &mut it.progress)));
    let (first_byte, content) = match begun {
        None => (now, verifier.check(number, reply.payload, payloads)),
        Some((first_byte, progress)) => {
            verifier.update(progress, number, reply.payload, payloads);
            (first_byte, verifier.finish(progress, number, payloads))
        }
    };
    received.done += 1;

    let elapsed = now - pending.sent;
    let mut is_late = false;
    if let Some(calls) = &expected.calls {
        recorder.status(reply.status);
        is_late = calls.is_late(elapsed);
    }
    let has_failed = if is_late {
        recorder.failure(Class::Deadline, elapsed);
        recorder.example(Class::Deadline, || late(elapsed, reply.status));
        true
    } else if expected.status.is_some_and(|status| status != reply.status) {
        recorder.failure(Class::Status, elapsed);
        let is_call = expected.calls.is_some();
        recorder.example(Class::Status, || status(reply.status, is_call));
        true
    } else if let Err(mismatch) = content {
        recorder.failure(Class::Mismatch, elapsed);
        recorder.example(Class::Mismatch, || format!("{mismatch}{}", verifier.remedy()));
        true
    } else if expected.kind.is_some_and(|kind| kind != reply.kind) {
        recorder.failure(Class::Mismatch, elapsed);
        recorder.example(Class::Mismatch, || format!("a {:?} message", reply.kind));
        true
    } else {
        let timeline = Timeline { due: pending.due, sent: pending.sent, first_byte, done: now };
        received.right(timeline, 1, recorder, expected.open_loop);
        false
    };
    if has_failed {
        payloads.failed(number);
    }
    if reply.last {
        received.ending = Some(Ending::Orderly("server"));
    }
    false
}

/// A reply that began before its message was sent: only a peer that does not answer knows what will be
/// asked.
#[cold]
fn foreseen(timeline: &Timeline, recorder: &mut Recorder) {
    recorder.failure(Class::Protocol, timeline.service_time());
    recorder.example(Class::Protocol, || FORESEEN.to_owned());
}

/// A reply that came too late.
#[cold]
fn late(elapsed: Nanos, status: u16) -> String {
    let ms = elapsed.0 / 1_000_000;
    format!(
        "a reply {ms} ms after its call was sent, behind its deadline, status {}",
        Status(status)
    )
}

pub(super) fn status(status: u16, is_call: bool) -> String {
    match status {
        _ if is_call => format!("status {}", Status(status)),
        301 | 302 | 303 | 307 | 308 => {
            format!("status {status}, a redirect, which is not followed: load what it points to")
        }
        _ => format!("status {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_that_begins_before_its_message_was_sent_is_none() {
        let (mut received, mut recorder) = (Received::default(), Recorder::default());
        let right =
            Timeline { due: Nanos(1), sent: Nanos(2), first_byte: Nanos(2), done: Nanos(3) };
        for (sent, first_byte) in [(2, 2), (2, 3), (3, 2), (u64::MAX, 3)] {
            let timeline = Timeline { sent: Nanos(sent), first_byte: Nanos(first_byte), ..right };
            received.right(timeline, 1, &mut recorder, true);
        }
        received.record_alike(&mut recorder, true);
        let counters = recorder.counters(0, 0, 0);
        assert_eq!((counters.ok, counters.errors["protocol"]), (2, 2));
    }
}
