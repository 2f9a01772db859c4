//! Calls whose messages go one by one: the first with the call, each other one at its instant or when the one
//! before it is answered.
//!
//! Knows what of a call has gone, and what was answered. Must not know when it is looked at.

use wiretrial_proto::{ClientSession as _, Message};

use super::ledger::{Ledger, Talk};
use super::outcome::Expected;
use super::partial::Partial;
use super::{Buffers, Connection, Link};
use crate::clock::Nanos;
use crate::measure::Recorder;
use crate::plan::grpc::Pace;
use crate::protocol::Protocol;
use crate::source::{Payloads, message_at};

/// Encodes the message with this number, or the beginning of a call. Gives how many bytes of its payload have gone.
#[inline]
pub(super) fn encode(
    session: &mut Protocol,
    ledger: &mut Ledger,
    number: u64,
    payloads: &mut Payloads,
    out: &mut Vec<u8>,
) -> usize {
    if let Some(gone) = begin(session, ledger, number, payloads, out) {
        return gone;
    }
    let (payload, fill) = payloads.message(number);
    let fill = fill.as_ref();
    session.encode(&Message { fill, ..Message::new(number, payload) }, out);
    let length = payload.len();
    payloads.length_before(number).unwrap_or(length)
}

/// Encodes the first message of a call with this number, and notes that others follow. Gives how many bytes of its
/// payload have gone; none: all go at once.
#[inline]
fn begin(
    session: &mut Protocol,
    ledger: &mut Ledger,
    number: u64,
    payloads: &mut Payloads,
    out: &mut Vec<u8>,
) -> Option<usize> {
    payloads.talks()?;
    let Ledger::Numbered(ledger) = ledger else { return None };
    let plain = message_at(payloads.get(number), 0).len();
    let (payload, fill) = payloads.message(number);
    let first = message_at(payload, 0);
    if first.len() == payload.len() {
        return None;
    }
    let gone = first.len();
    let fill = fill.as_ref();
    let first = Message { fill, ..Message::new(number, first) };
    let stream = session.encode_first(&first, out)?;
    let (began, due) = payloads.talks()?.begin(number);
    // Nothing came of a reply to a call that goes again from its beginning.
    if let Some(begun) = ledger.begun(number) {
        begun.clear();
        begun.messages.talk = Some(Talk { stream, plain, gone, said: 1, heard: 0, began, due });
    }
    Some(plain)
}

impl Connection {
    /// Encodes the next message of a call, which is due at this instant. Says whether another one follows; none: nothing
    /// is due, and nothing was encoded.
    pub(crate) fn say(
        &mut self,
        number: u64,
        due: Nanos,
        payloads: &mut Payloads,
        buffers: &mut Buffers,
        recorder: &mut Recorder,
    ) -> Option<bool> {
        let (Ledger::Numbered(ledger), Some(link)) = (&mut self.ledger, &mut self.link) else {
            return None;
        };
        let talk = ledger.begun(number)?.messages.talk.as_mut().filter(|talk| talk.due == due)?;
        let plain = message_at(payloads.get(number), talk.plain).len();
        let (payload, _) = payloads.message(number);
        let message = message_at(payload, talk.gone);
        if message.is_empty() {
            return None;
        }
        talk.plain += plain;
        talk.gone += message.len();
        talk.said += 1;
        let is_last = talk.gone == payload.len();
        let Link { transport, session } = link;
        let out = Partial::way_out(&mut self.partial, transport);
        buffers.lend(out);
        let before = out.len();
        session.say(talk.stream, message, is_last, out);
        recorder.bytes.payload_sent += plain as u64;
        recorder.bytes.application_sent += (out.len() - before) as u64;
        if let Some(Pace::Every(interval)) = payloads.talks().map(|talks| talks.pace) {
            talk.due = due + interval;
        }
        Some(!is_last)
    }

    /// A piece of the reply to a call came whose messages go one by one: its messages are counted, and in turns the
    /// next one of the call follows.
    pub(super) fn heard<W>(
        &mut self,
        number: u64,
        piece: &[u8],
        now: Nanos,
        expected: &mut Expected<'_, W>,
    ) {
        let Ledger::Numbered(ledger) = &mut self.ledger else { return };
        let Some(sent) = ledger.get(number).map(|pending| pending.sent) else { return };
        let Some(begun) = ledger.begun(number) else { return };
        let (payloads, recorder) = (&mut *expected.payloads, &mut *expected.recorder);
        let Some(pace) = payloads.talks().map(|talks| talks.pace) else { return };
        begun.messages.answers((pace, sent), piece, now, |since| recorder.messages(1, since));
        let Some(talk) = begun.messages.talk.as_mut() else { return };
        if pace == Pace::Turns && talk.is_answered() {
            talk.due = now;
            self.say(number, now, payloads, expected.buffers, recorder);
        }
    }
}
