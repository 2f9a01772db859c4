//! From bytes to events to outcomes: fill, decode, take in.

use wiretrial_net::{Driver, Fill};
use wiretrial_proto::grpc::{Status, decoded};
use wiretrial_proto::{ClientSession as _, Delivery, Event, ProtocolError, Reply, Scratch, Tag};

use super::ledger::{Begun, Ledger};
use super::outcome::{Expected, Received, judge};
use super::partial::Partial;
use super::{AnyTransport, Connection, Ending, Link, State, Testimony, Witness};
use crate::clock::Nanos;
use crate::measure::{Arrival, Class, Recorder, Timeline};
use crate::mutation::{self, Mutation};
use crate::source::excerpt as shown;

/// What to do about a message that comes before anything was asked.
const GREETING: &str = "; where the server greets each connection so, say --greetings N";

impl Connection {
    /// Reads once, and takes in what came; `came` tells when, once it has been read.
    pub(crate) fn receive<W: Witness>(
        &mut self,
        driver: &mut Driver,
        came: impl Fn() -> Nanos,
        scratch: &mut Scratch,
        expected: &mut Expected<'_, W>,
    ) -> Received {
        let mut received = Received::default();
        received.drained = true;
        let Some(Link { transport, session }) = &mut self.link else { return received };
        let AnyTransport::Tcp(transport) = transport else {
            return self.receive_datagrams(came, scratch, expected);
        };
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
                if self.state == State::Securing {
                    // A server that speaks first may do so with the last bytes of the handshake.
                    match self.start(true, received.at, expected.recorder) {
                        Ok(opened) => received.opened = opened,
                        Err(picked) => {
                            let text = picked.unlike_the_first();
                            received.ending = Some(Ending::Failed(Class::Protocol, text));
                            return received;
                        }
                    }
                }
                if let Some(link) = &mut self.link {
                    link.session.came_at(received.at);
                }
                expected.recorder.bytes.application_received += new as u64;
                let consumed = match expected.witness.bytes(bytes) {
                    Testimony::End(ending) => {
                        received.ending = Some(ending);
                        bytes.len()
                    }
                    _ => self.decode(bytes, scratch, &mut received, expected),
                };
                carry.clear();
                carry.extend_from_slice(&bytes[consumed..]);
                self.carry(carry);
            }
        }
        received.record_alike(expected.recorder, expected.open_loop);
        if let Some(link) = &mut self.link {
            // With TLS a fill sends too: what the handshake asks for, and what waited.
            let after = link.transport.bytes();
            expected.recorder.bytes.sent += after.0 - before.0;
            expected.recorder.bytes.received += after.1 - before.1;
            if let Some(used) = link.session.take_use() {
                expected.recorder.http2.count(&used);
            }
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
    fn decode<W: Witness>(
        &mut self,
        bytes: &[u8],
        scratch: &mut Scratch,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) -> usize {
        let mut offset = 0;
        loop {
            offset += self.take_right(&bytes[offset..], scratch, received, expected);
            let Some(Link { transport, session }) = &mut self.link else { return offset };
            let out = Partial::way_out(&mut self.partial, transport);
            // Read where it is: a copy would wait until all of it has left the store buffer.
            let step = session.receive(&bytes[offset..], scratch, out);
            let step = match &step {
                Ok(step) => step,
                Err(error) => {
                    let excerpt = excerpt(&bytes[offset..]);
                    received.ending =
                        Some(Ending::Failed(error.class.into(), format!("{error}{excerpt}")));
                    return bytes.len();
                }
            };
            offset += step.consumed;
            let Some(event) = &step.event else { return offset };
            self.take_in(event, received, expected);
            if received.ending.is_some() {
                return bytes.len();
            }
        }
    }

    pub(super) fn take_in<W: Witness>(
        &mut self,
        event: &Event<'_>,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) {
        match expected.witness.event(event, expected.payloads) {
            Testimony::GoOn => {}
            Testimony::Kept => return,
            Testimony::End(ending) => {
                received.ending = Some(ending);
                return;
            }
        }
        if self.greetings > 0 && self.greeted(event, received, expected.recorder) {
            return;
        }
        if self.stream(event, received, expected) {
            return;
        }
        match event {
            Event::Open => {
                // Where messages went before the server said anything, it is what the server allows that is new.
                let stood = self.state == State::Ready;
                self.opened(received.at, expected.recorder);
                received.room_changed |= stood;
                received.opened |= !stood && self.greetings == 0;
            }
            Event::Room => {
                self.record_upgrades(expected.recorder);
                received.room_changed = true;
            }
            Event::Head(head) => {
                let Some((_, begun)) = self.begun(head.tag) else {
                    received.ending = Some(self.unasked(&[]));
                    return;
                };
                begun.first_byte.get_or_insert(received.at);
            }
            // Who judges has heard them.
            Event::Trailers(_) => {}
            Event::Chunk { tag, piece } => {
                let Some((number, begun)) = self.begun(*tag) else {
                    received.ending = Some(self.unasked(piece));
                    return;
                };
                expected.recorder.bytes.payload_received += piece.len() as u64;
                begun.first_byte.get_or_insert(received.at);
                expected.verifier.update(&mut begun.progress, number, piece, expected.payloads);
                if expected.calls.is_some_and(|calls| calls.streams()) {
                    if begun.messages.talk.is_some() {
                        self.heard(number, piece, received.at, expected);
                    } else {
                        let (count, since) = begun.messages.piece(piece, received.at);
                        expected.recorder.messages(count, since);
                    }
                }
            }
            Event::Reply(reply) => self.reply(reply, received, expected),
            Event::Failed { tag, error } => self.failed(*tag, error, received, expected),
            Event::Parted(error) => {
                expected.recorder.note("server", || error.to_string());
            }
            Event::Delivery(copy) => self.delivery(copy, received, expected),
            Event::Bulletin(bulletin) => expected.recorder.bulletin(bulletin),
            Event::Unprocessed { tag } => self.unprocessed(*tag, received, expected.recorder),
            Event::Leaving => received.ending = Some(Ending::Orderly("server")),
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
    fn failed<W: Witness>(
        &mut self,
        tag: Tag,
        error: &ProtocolError,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) {
        let pending = match (&mut self.ledger, tag) {
            // To refuse is to answer: the peer is there.
            (Ledger::Numbered(ledger), Tag::Number(number)) => ledger.answer(number),
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
        let elapsed = received.at - pending.sent;
        let is_late = expected.calls.is_some_and(|calls| calls.is_late(elapsed));
        let class = if is_late { Class::Deadline } else { Class::from(error.class) };
        expected.recorder.failure(class, elapsed);
        expected.payloads.failed(pending.number);
        expected.witness.failed(pending.number, (class, error.to_string()), expected.recorder);
    }

    /// The peer has not looked at a message: it goes again, on this connection.
    #[cold]
    pub(super) fn unprocessed(
        &mut self,
        tag: Tag,
        received: &mut Received,
        recorder: &mut Recorder,
    ) {
        if self.is_quic() {
            recorder.http3.refused += 1;
        } else {
            recorder.http2.refused += 1;
        }
        recorder.note("unprocessed", || "messages that the server refused went again".to_owned());
        if let (Ledger::Numbered(ledger), Tag::Number(number)) = (&mut self.ledger, tag)
            && ledger.refused(number)
        {
            return;
        }
        received.ending = Some(self.unasked(&[]));
    }

    /// A copy of somebody's message; of its own, the reply to it.
    fn delivery<W>(
        &mut self,
        copy: &Delivery<'_>,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) {
        let now = received.at;
        let Expected { payloads, recorder, .. } = expected;
        let right = copy.payload.is_none_or(|payload| payloads.get(copy.number) == payload);
        let copy = Delivery { intact: copy.intact && right, ..*copy };
        recorder.bytes.payload_received += copy.payload.map_or(0, |payload| payload.len() as u64);
        let Some((deliveries, index)) = &mut expected.deliveries else {
            received.ending = Some(self.unasked(&[]));
            return;
        };
        let arrival = deliveries.arrived(*index, &copy);
        if arrival == Arrival::Unknown {
            let text = "a copy came of a message that nobody of its company sent".to_owned();
            received.ending = Some(Ending::Failed(Class::Protocol, text));
            return;
        }
        let again = arrival == Arrival::Duplicate && mutation::is(Mutation::CopyTwice);
        recorder.delivery(if again { Arrival::Right(now) } else { arrival }, now);
        if !copy.own {
            return;
        }
        // Without one it is a duplicate, and counted as that.
        let Ledger::Numbered(ledger) = &mut self.ledger else { return };
        let Some(pending) = ledger.answer(copy.number) else { return };
        received.done += 1;
        if copy.intact {
            let timeline =
                Timeline { due: pending.due, sent: pending.sent, first_byte: now, done: now };
            received.right(timeline, 1, recorder, expected.open_loop);
        } else {
            recorder.failure(Class::Mismatch, now - pending.sent);
            recorder.example(Class::Mismatch, || "a copy that differs from its message".to_owned());
        }
    }

    #[inline]
    fn reply<W: Witness>(
        &mut self,
        reply: &Reply<'_>,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) {
        match (&mut self.ledger, reply.tag) {
            // Who judges has looked whose it is.
            (Ledger::InOrder(ledger), tag) if W::JUDGES || tag == Tag::Oldest => {
                let Some(pending) = ledger.take() else {
                    received.ending = Some(self.unasked(reply.payload));
                    return;
                };
                let partial = self.partial.as_mut();
                let begun = partial.map(|partial| &mut partial.reply);
                if judge(reply, &pending, begun, received, expected) && W::JUDGES {
                    ledger.push_sent(pending.number, 1, pending.due, pending.sent);
                }
            }
            // One whose message goes on waits for room, as those do that the peer refused.
            (Ledger::Numbered(ledger), Tag::Number(number)) if W::JUDGES => {
                let Some((pending, mut begun)) = ledger.look(number) else {
                    received.ending = Some(self.unasked(reply.payload));
                    return;
                };
                let goes_on = judge(reply, &pending, begun.as_deref_mut(), received, expected);
                ledger.note_answered(pending.sent);
                ledger.give_back(begun);
                if goes_on {
                    ledger.refused(number);
                } else {
                    ledger.take(number);
                }
            }
            (Ledger::Numbered(ledger), Tag::Number(number)) => {
                let Some((pending, mut begun)) = ledger.take(number) else {
                    received.ending = Some(self.unasked(reply.payload));
                    return;
                };
                let is_wrong = expected.status != Some(reply.status);
                if let Some(calls) = expected.calls.filter(|_| is_wrong)
                    && !calls.is_late(received.at - pending.sent)
                {
                    said(self.link.as_ref(), reply.status, expected.recorder);
                }
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
    fn end<W: Witness>(
        &mut self,
        event: Result<Option<Event<'static>>, ProtocolError>,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
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

/// What the server said of a call that it did not end as it should have.
#[cold]
fn said(link: Option<&Link>, status: u16, recorder: &mut Recorder) {
    let text = link.map(|link| decoded(link.session.said())).unwrap_or_default();
    if !text.is_empty() {
        recorder.example(Class::Status, || format!("status {}: {text}", Status(status)));
    }
}

/// The first bytes of what was wrong, for people.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 24;
    if bytes.is_empty() {
        return String::new();
    }
    let hex: Vec<String> = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
    let more = if bytes.len() > SHOWN { " …" } else { "" };
    format!(" (at bytes {}{more})", hex.join(" "))
}

#[cfg(test)]
mod tests;
