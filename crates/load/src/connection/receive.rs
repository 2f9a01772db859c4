//! From bytes to outcomes: fill, decode, verify, record.

use wiretrial_net::{Driver, Fill};
use wiretrial_proto::{
    ClientSession as _, Delivery, Event, MessageKind, ProtocolError, Reply, Scratch, Tag,
};

use super::ledger::{Begun, Ledger, Pending};
use super::{Connection, Ending, Link, State};
use crate::clock::Nanos;
use crate::deliveries::Deliveries;
use crate::measure::{Arrival, Class, Metric, Recorder, Timeline};
use crate::outgoing::Outgoing;
use crate::source::{Payloads, Verifier, excerpt as shown};

/// What to do about a message that comes before anything was asked.
const GREETING: &str = "; where the server greets each connection so, say --greetings N";

/// What is said of a reply to a message that was not sent yet.
pub(crate) const FORESEEN: &str = "a reply that began before its message was sent";

/// What there is of a reply that has not come whole, and of a message that has not gone whole.
#[derive(Debug, Default)]
pub(super) struct Partial {
    /// Bytes that the session left behind.
    carry: Vec<u8>,
    /// The reply, where replies come in order.
    reply: Begun,
    /// The message that is on its way out.
    pub(super) outgoing: Option<Outgoing>,
}

impl Partial {
    pub(super) fn has_begun(&self) -> bool {
        self.reply.first_byte.is_some() || !self.carry.is_empty()
    }
}

/// What a right reply is, and where outcomes go.
#[derive(Debug)]
pub(crate) struct Expected<'w> {
    pub(crate) verifier: &'w Verifier,
    pub(crate) status: Option<u16>,
    pub(crate) kind: Option<MessageKind>,
    pub(crate) open_loop: bool,
    pub(crate) payloads: &'w mut Payloads,
    pub(crate) recorder: &'w mut Recorder,
    /// Who is owed what, and whose bytes these are; none where replies are nobody else's.
    pub(crate) deliveries: Option<(&'w mut Deliveries, u32)>,
}

/// What one fill brought.
#[derive(Debug, Default)]
pub(crate) struct Received {
    /// Messages that are done, well or badly.
    pub(crate) done: u32,
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
    /// A reply came whole, and its content was right.
    #[inline]
    fn right(&mut self, timeline: Timeline, recorder: &mut Recorder, open_loop: bool) {
        if !timeline.is_ordered() {
            return foreseen(&timeline, recorder);
        }
        match &mut self.alike {
            Some((first, count)) if *first == timeline => *count += 1,
            _ => {
                self.record_alike(recorder, open_loop);
                self.alike = Some((timeline, 1));
            }
        }
    }

    #[inline]
    fn record_alike(&mut self, recorder: &mut Recorder, open_loop: bool) {
        if let Some((timeline, count)) = self.alike.take() {
            recorder.replies(&timeline, count, open_loop);
        }
    }
}

impl Connection {
    /// Reads once, and takes in what came; `came` tells when, once it has been read.
    pub(crate) fn receive(
        &mut self,
        driver: &mut Driver,
        came: impl FnOnce() -> Nanos,
        scratch: &mut Scratch,
        expected: &mut Expected<'_>,
    ) -> Received {
        let mut received = Received { drained: true, ..Received::default() };
        let Some(Link { transport, session }) = &mut self.link else { return received };
        let before = transport.bytes();
        let partial = self.partial.as_mut();
        let mut carry = partial.map(|it| std::mem::take(&mut it.carry)).unwrap_or_default();
        let carry_before = carry.len();
        let fill = transport.fill(driver, &mut carry);
        received.at = came();
        match fill {
            Fill::WouldBlock => self.carry(carry),
            Fill::Failed(error) => {
                self.carry(carry);
                received.ending = Some(self.broken(&error));
            }
            Fill::End => {
                let event = session.end_by(transport.ended_on_purpose());
                self.carry(carry);
                self.end(event, &mut received, expected);
            }
            Fill::Data(bytes, new, drained) => {
                received.drained = drained;
                debug_assert_eq!(bytes.len(), carry_before + new);
                expected.recorder.bytes.application_received += new as u64;
                let consumed = self.decode(bytes, scratch, &mut received, expected);
                carry.clear();
                carry.extend_from_slice(&bytes[consumed..]);
                self.carry(carry);
            }
        }
        received.record_alike(expected.recorder, expected.open_loop);
        if let Some(link) = &self.link {
            // With TLS a fill sends too: what the handshake asks for, and what waited.
            let after = link.transport.bytes();
            expected.recorder.bytes.sent += after.0 - before.0;
            expected.recorder.bytes.received += after.1 - before.1;
        }
        received
    }

    /// Keeps what the session left behind, for the next bytes.
    fn carry(&mut self, bytes: Vec<u8>) {
        match &mut self.partial {
            Some(partial) => partial.carry = bytes,
            None if bytes.is_empty() => {}
            None => self.partial = Some(Box::new(Partial { carry: bytes, ..Partial::default() })),
        }
    }

    /// Takes in events until the session needs more bytes, and says how many it consumed.
    fn decode(
        &mut self,
        bytes: &[u8],
        scratch: &mut Scratch,
        received: &mut Received,
        expected: &mut Expected<'_>,
    ) -> usize {
        let mut at = 0;
        while let Some(Link { transport, session }) = &mut self.link {
            let outgoing = self.partial.as_mut().and_then(|partial| partial.outgoing.as_mut());
            let out = outgoing.map_or_else(|| transport.out(), Outgoing::behind);
            // Read where it is: a copy would wait until all of it has left the store buffer.
            let step = session.receive(&bytes[at..], scratch, out);
            let step = match &step {
                Ok(step) => step,
                Err(error) => {
                    let excerpt = excerpt(&bytes[at..]);
                    received.ending =
                        Some(Ending::Failed(error.class.into(), format!("{error}{excerpt}")));
                    return bytes.len();
                }
            };
            at += step.consumed;
            let Some(event) = &step.event else { return at };
            self.take_in(event, received, expected);
            if received.ending.is_some() {
                return bytes.len();
            }
        }
        at
    }

    fn take_in(&mut self, event: &Event<'_>, received: &mut Received, expected: &mut Expected<'_>) {
        if self.greetings > 0 && self.greeted(event, received, expected.recorder) {
            return;
        }
        match event {
            Event::Open => {
                self.step_done(Metric::UpgradeTime, received.at, expected.recorder);
                received.opened = self.greetings == 0;
            }
            Event::Room => received.room_changed = true,
            Event::Chunk { tag, piece } => {
                let Some((number, begun)) = self.begun(*tag) else {
                    received.ending = Some(self.unasked(piece));
                    return;
                };
                expected.recorder.bytes.payload_received += piece.len() as u64;
                begun.first_byte.get_or_insert(received.at);
                expected.verifier.update(&mut begun.progress, number, piece, expected.payloads);
            }
            Event::Reply(reply) => self.reply(reply, received, expected),
            Event::Failed { tag, error } => self.failed(*tag, error, received, expected.recorder),
            Event::Delivery(copy) => self.delivery(copy, received, expected),
            Event::Bulletin(bulletin) => expected.recorder.bulletin(bulletin),
            Event::Close(close) => {
                let awaited = self.ledger.len();
                received.ending = Some(if awaited == 0 {
                    Ending::Farewell(format!("closed with code {}", close.code))
                } else {
                    Ending::Failed(
                        Class::Closed,
                        format!("closed with code {}, {awaited} replies awaited", close.code),
                    )
                });
            }
        }
    }

    /// Takes a greeting in, or a piece of one; with the last of them requests may be sent.
    #[cold]
    fn greeted(
        &mut self,
        event: &Event<'_>,
        received: &mut Received,
        recorder: &mut Recorder,
    ) -> bool {
        match event {
            Event::Chunk { piece, .. } => recorder.bytes.payload_received += piece.len() as u64,
            Event::Reply(reply) => {
                recorder.bytes.payload_received += reply.payload.len() as u64;
                recorder.greetings += 1;
                self.greetings -= 1;
                received.opened = self.greetings == 0;
            }
            _ => return false,
        }
        true
    }

    /// Of which message pieces of a reply came, and what came of it so far.
    fn begun(&mut self, tag: Tag) -> Option<(u64, &mut Begun)> {
        match (&mut self.ledger, tag) {
            (Ledger::Numbered(ledger), Tag::Number(number)) => {
                Some((number, ledger.begun(number)?))
            }
            (Ledger::InOrder(ledger), Tag::Oldest) => {
                let number = ledger.front()?.number;
                Some((number, &mut self.partial.get_or_insert_default().reply))
            }
            _ => None,
        }
    }

    /// A message has failed, and the connection goes on.
    #[cold]
    fn failed(
        &mut self,
        tag: Tag,
        error: &ProtocolError,
        received: &mut Received,
        recorder: &mut Recorder,
    ) {
        let pending = match (&mut self.ledger, tag) {
            (Ledger::Numbered(ledger), Tag::Number(number)) => {
                ledger.take(number).map(|(pending, begun)| {
                    ledger.give_back(begun);
                    pending
                })
            }
            (Ledger::InOrder(ledger), Tag::Oldest) => ledger.take(),
            _ => None,
        };
        let Some(pending) = pending else {
            received.ending = Some(self.unasked(&[]));
            return;
        };
        if let Some(partial) = &mut self.partial {
            partial.reply.clear();
        }
        received.done += 1;
        let class = Class::from(error.class);
        recorder.failure(class, received.at - pending.sent);
        recorder.example(class, || error.to_string());
    }

    /// A copy of somebody's message; of its own, the reply to it.
    fn delivery(
        &mut self,
        copy: &Delivery<'_>,
        received: &mut Received,
        expected: &mut Expected<'_>,
    ) {
        let now = received.at;
        let Expected { payloads, recorder, .. } = expected;
        let right = copy.payload.is_none_or(|payload| payloads.get(copy.number) == payload);
        let copy = Delivery { intact: copy.intact && right, ..*copy };
        recorder.bytes.payload_received += copy.payload.map_or(0, |payload| payload.len() as u64);
        let Some((deliveries, at)) = &mut expected.deliveries else {
            received.ending = Some(self.unasked(&[]));
            return;
        };
        let arrival = deliveries.arrived(*at, &copy);
        if arrival == Arrival::Unknown {
            let text = "a copy came of a message that nobody of its company sent".to_owned();
            received.ending = Some(Ending::Failed(Class::Protocol, text));
            return;
        }
        recorder.delivery(arrival, now);
        if !copy.own {
            return;
        }
        // Without one it is a duplicate, and counted as that.
        let Ledger::Numbered(ledger) = &mut self.ledger else { return };
        let Some((pending, begun)) = ledger.take(copy.number) else { return };
        ledger.give_back(begun);
        ledger.note_answered(pending.sent);
        received.done += 1;
        if copy.intact {
            let timeline =
                Timeline { due: pending.due, sent: pending.sent, first_byte: now, done: now };
            received.right(timeline, recorder, expected.open_loop);
        } else {
            recorder.failure(Class::Mismatch, now - pending.sent);
            recorder.example(Class::Mismatch, || "a copy that differs from its message".to_owned());
        }
    }

    #[inline]
    fn reply(&mut self, reply: &Reply<'_>, received: &mut Received, expected: &mut Expected<'_>) {
        match (&mut self.ledger, reply.tag) {
            (Ledger::InOrder(ledger), Tag::Oldest) => {
                let Some(pending) = ledger.take() else {
                    received.ending = Some(self.unasked(reply.payload));
                    return;
                };
                let partial = self.partial.as_mut();
                let begun = partial.map(|partial| &mut partial.reply);
                judge(reply, &pending, begun, received, expected);
            }
            (Ledger::Numbered(ledger), Tag::Number(number)) => {
                let Some((pending, mut begun)) = ledger.take(number) else {
                    received.ending = Some(self.unasked(reply.payload));
                    return;
                };
                judge(reply, &pending, begun.as_deref_mut(), received, expected);
                ledger.note_answered(pending.sent);
                ledger.give_back(begun);
            }
            _ => received.ending = Some(self.unasked(reply.payload)),
        }
    }

    #[cold]
    fn unasked(&self, begin: &[u8]) -> Ending {
        let said = if begin.is_empty() { String::new() } else { format!(": '{}'", shown(begin)) };
        // Whether it was a greeting only the user can tell.
        let is_first = self.requests == 0 && !begin.is_empty();
        let remedy = if is_first { GREETING } else { "" };
        let text = format!("a message came that no request asked for{said}{remedy}");
        Ending::Failed(Class::Protocol, text)
    }

    /// The peer sent its FIN.
    fn end(
        &mut self,
        event: Result<Option<Event<'static>>, ProtocolError>,
        received: &mut Received,
        expected: &mut Expected<'_>,
    ) {
        match event {
            Ok(Some(event)) => self.take_in(&event, received, expected),
            Ok(None) => {}
            // Between two messages of a connection that carries none, nobody was cut off.
            Err(_) if self.state == State::Ready && self.ledger.is_empty() => {}
            Err(error) => {
                received.ending = Some(Ending::Failed(error.class.into(), error.to_string()));
                return;
            }
        }
        if received.ending.is_some() {
            return;
        }
        received.ending = Some(if self.ledger.is_empty() && self.state == State::Ready {
            Ending::Orderly("server")
        } else {
            Ending::Failed(Class::Truncated, "the connection ended before the reply".to_owned())
        });
    }
}

/// A reply came whole: is it right? `begun` is what came of it before, if anything did.
#[inline]
fn judge(
    reply: &Reply<'_>,
    pending: &Pending,
    begun: Option<&mut Begun>,
    received: &mut Received,
    expected: &mut Expected<'_>,
) {
    let (now, number) = (received.at, pending.number);
    let Expected { verifier, payloads, recorder, .. } = expected;
    recorder.bytes.payload_received += reply.payload.len() as u64;
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
    if expected.status.is_some_and(|status| status != reply.status) {
        recorder.failure(Class::Status, elapsed);
        recorder.example(Class::Status, || status(reply.status));
    } else if let Err(mismatch) = content {
        recorder.failure(Class::Mismatch, elapsed);
        recorder.example(Class::Mismatch, || format!("{mismatch}{}", verifier.remedy()));
    } else if expected.kind.is_some_and(|kind| kind != reply.kind) {
        recorder.failure(Class::Mismatch, elapsed);
        recorder.example(Class::Mismatch, || format!("a {:?} message", reply.kind));
    } else {
        let timeline = Timeline { due: pending.due, sent: pending.sent, first_byte, done: now };
        received.right(timeline, recorder, expected.open_loop);
    }
    if reply.last {
        received.ending = Some(Ending::Orderly("server"));
    }
}

/// A reply that began before its message was sent: only a peer that does not answer knows what will be
/// asked.
#[cold]
fn foreseen(timeline: &Timeline, recorder: &mut Recorder) {
    recorder.failure(Class::Protocol, timeline.service_time());
    recorder.example(Class::Protocol, || FORESEEN.to_owned());
}

fn status(status: u16) -> String {
    match status {
        301 | 302 | 303 | 307 | 308 => {
            format!("status {status}, a redirect, which is not followed: load what it points to")
        }
        _ => format!("status {status}"),
    }
}

/// The first bytes of what was wrong, for people.
fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 24;
    if bytes.is_empty() {
        return String::new();
    }
    let hex: Vec<String> = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
    let more = if bytes.len() > SHOWN { " …" } else { "" };
    format!(" (at bytes {}{more})", hex.join(" "))
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
            received.right(timeline, &mut recorder, true);
        }
        received.record_alike(&mut recorder, true);
        let counters = recorder.counters(0, 0, 0);
        assert_eq!((counters.ok, counters.errors["protocol"]), (2, 2));
    }
}
