//! The short way for what nearly all replies are: whole, and right.
//!
//! Knows what is right by its bytes alone. Must not know what is wrong with a reply: that shows when it is
//! taken in by its events.

use wiretrial_proto::{ClientSession as _, Reply, Scratch, Tag};

use super::ledger::{InOrder, Ledger, Numbered, Pending};
use super::outcome::{Expected, Received};
use super::{Connection, Link, Witness};
use crate::measure::Timeline;
use crate::mutation::{self, Mutation};
use crate::protocol::Protocol;

impl Connection {
    /// Takes in the replies at the front that are whole and right, as nearly all are, without an event
    /// for each; says how many bytes they had. What is wrong with the one behind them, if anything is,
    /// shows when its events are taken in.
    #[inline]
    pub(super) fn take_right<W: Witness>(
        &mut self,
        bytes: &[u8],
        scratch: &Scratch,
        received: &mut Received,
        expected: &mut Expected<'_, W>,
    ) -> usize {
        let is_inside = self.partial.as_ref().is_some_and(|it| it.reply.first_byte.is_some());
        // What streams tell is no reply.
        let are_told = expected.payloads.streams().is_some();
        if W::LOOKS || self.greetings > 0 || is_inside || are_told {
            return 0;
        }
        let Some(Link { session, .. }) = &mut self.link else { return 0 };
        let input = (bytes, scratch);
        match &mut self.ledger {
            Ledger::InOrder(ledger) => in_order(session, ledger, input, received, expected),
            Ledger::Numbered(ledger) => numbered(session, ledger, input, received, expected),
        }
    }
}

/// Replies that come in the order of their messages.
#[inline]
fn in_order<W>(
    session: &mut Protocol,
    ledger: &mut InOrder,
    (bytes, scratch): (&[u8], &Scratch),
    received: &mut Received,
    expected: &mut Expected<'_, W>,
) -> usize {
    let mut offset = 0;
    while let Some((oldest, alike)) = ledger.oldest_alike() {
        let (mut count, mut payload_bytes) = (0, 0);
        offset += session.replies(&bytes[offset..], scratch, |reply| {
            let number = oldest.number.wrapping_add(count.into());
            let is_right = count < alike && is_right(reply, number, expected);
            count += u32::from(is_right);
            payload_bytes += if is_right { reply.payload.len() } else { 0 };
            is_right
        });
        if count == 0 {
            break;
        }
        ledger.take_several(count);
        expected.recorder.bytes.payload_received += payload_bytes as u64;
        received.done += count;
        received.right(at(&oldest, received), count, expected.recorder, expected.open_loop);
    }
    offset
}

/// Replies that name their messages.
#[inline]
fn numbered<W>(
    session: &mut Protocol,
    ledger: &mut Numbered,
    (bytes, scratch): (&[u8], &Scratch),
    received: &mut Received,
    expected: &mut Expected<'_, W>,
) -> usize {
    session.replies(bytes, scratch, |reply| {
        let Tag::Number(number) = reply.tag else { return false };
        let Some((place, pending)) = ledger.plain(number) else { return false };
        // Each message of a stream has a time of its own.
        let is_plain = expected
            .calls
            .is_none_or(|calls| !calls.streams() && !calls.is_late(received.at - pending.sent));
        if !is_plain || !is_right(reply, pending.number, expected) {
            return false;
        }
        ledger.answer_plain(place);
        if expected.calls.is_some() {
            expected.recorder.status(reply.status);
        }
        expected.recorder.bytes.payload_received += reply.payload.len() as u64;
        received.done += 1;
        received.right(at(&pending, received), 1, expected.recorder, expected.open_loop);
        true
    })
}

/// Is this what answers the message with this number?
#[inline]
fn is_right<W>(reply: &Reply<'_>, number: u64, expected: &mut Expected<'_, W>) -> bool {
    let Expected { verifier, status, kind, payloads, .. } = expected;
    status.is_none_or(|status| status == reply.status)
        && kind.is_none_or(|kind| kind == reply.kind)
        && (verifier.is_plainly_right(number, reply.payload, payloads)
            || mutation::is(Mutation::Uncompared))
}

/// All of a reply came at once.
#[inline]
fn at(&Pending { due, sent, .. }: &Pending, received: &Received) -> Timeline {
    Timeline { due, sent, first_byte: received.at, done: received.at }
}
