//! The server's side of the multiplexed protocol, and what it knows for certain.
//!
//! Knows which messages are in flight, and how many may be. Must not know time, nor what a good peer
//! does.

use std::collections::{BTreeSet, VecDeque};

use wiretrial_proto::ProtocolError;

use crate::protocol::multiplexed::{Head, Kind, append};

/// What was heard.
#[derive(Debug)]
pub(super) enum Frame {
    Hello,
    Message(u64, Vec<u8>),
    /// Nobody wants the reply to this message, which was not answered yet.
    Cancelled(u64),
    Goodbye,
    /// What the peer need not know.
    Other,
    Nonsense,
}

/// One connection's server.
#[derive(Debug, Default)]
pub(super) struct Frames {
    in_flight: BTreeSet<u64>,
    /// Number of the message that came last.
    last: Option<u64>,
    /// How many the client lets be in flight, as the last announcement says that it has taken in.
    room: u64,
    /// Announcements that it has not taken in, and what was said before each of them; at the end what
    /// was said behind all.
    unseen: VecDeque<(u64, Said)>,
    said: Said,
    /// What has certainly been taken in.
    pub(super) seen: Seen,
}

/// Messages that were answered, by their numbers.
#[derive(Debug, Default)]
struct Said {
    right: BTreeSet<u64>,
    refused: BTreeSet<u64>,
}

/// What a client must have counted.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Seen {
    pub(super) right: u64,
    pub(super) refused: u64,
    /// Messages that came although there was no room for them.
    pub(super) crowded: u64,
}

impl Seen {
    pub(super) fn add(&mut self, other: Self) {
        self.right += other.right;
        self.refused += other.refused;
        self.crowded += other.crowded;
    }
}

impl Frames {
    /// The next frame, and how many bytes it is long; none: more of them are needed.
    ///
    /// # Errors
    /// There is no such frame.
    pub(super) fn next(&mut self, input: &[u8]) -> Result<Option<(usize, Frame)>, ProtocolError> {
        let Some((head, rest)) = Head::read(input)? else { return Ok(None) };
        let Head { kind, number, length } = head;
        let Some(payload) = rest.get(..length) else { return Ok(None) };
        let frame = match kind {
            Kind::Hello if self.last.is_none() && self.unseen.is_empty() => Frame::Hello,
            Kind::Message if self.last.is_none_or(|last| last < number) => {
                self.last = Some(number);
                self.in_flight.insert(number);
                self.seen.crowded += u64::from(self.in_flight.len() as u64 > self.room);
                Frame::Message(number, payload.to_vec())
            }
            Kind::Cancel if self.last.is_some_and(|last| number <= last) => {
                // What was said of it has crossed.
                let all = self.unseen.iter_mut().map(|(_, said)| said).chain([&mut self.said]);
                for said in all {
                    said.right.remove(&number);
                    said.refused.remove(&number);
                }
                let waits = self.in_flight.remove(&number);
                if waits { Frame::Cancelled(number) } else { Frame::Other }
            }
            Kind::Seen => match self.unseen.pop_front() {
                None => Frame::Nonsense,
                Some((room, said)) => {
                    self.room = room;
                    self.seen.right += said.right.len() as u64;
                    self.seen.refused += said.refused.len() as u64;
                    Frame::Other
                }
            },
            Kind::Goodbye => Frame::Goodbye,
            _ => Frame::Nonsense,
        };
        Ok(Some((input.len() - rest.len() + length, frame)))
    }

    /// So many messages may be in flight from now on.
    pub(super) fn announce(&mut self, room: u64, out: &mut Vec<u8>) {
        self.unseen.push_back((room, std::mem::take(&mut self.said)));
        append(Kind::Room, room, &[], out);
    }

    /// A piece of a reply.
    pub(super) fn piece(number: u64, piece: &[u8], out: &mut Vec<u8>) {
        append(Kind::Piece, number, piece, out);
    }

    /// The last piece of a reply, behind which the server may answer no others.
    pub(super) fn end(&mut self, number: u64, piece: &[u8], is_last: bool, out: &mut Vec<u8>) {
        self.in_flight.remove(&number);
        append(if is_last { Kind::Last } else { Kind::End }, number, piece, out);
    }

    /// The reply to this message, which has ended, was right, and somebody wants it.
    pub(super) fn was_right(&mut self, number: u64) {
        self.said.right.insert(number);
    }

    /// Refuses a message, which somebody may want to hear or not.
    pub(super) fn refuse(&mut self, number: u64, is_wanted: bool, out: &mut Vec<u8>) {
        self.in_flight.remove(&number);
        if is_wanted {
            self.said.refused.insert(number);
        }
        append(Kind::Refused, number, &[], out);
    }

    /// What is no reply.
    pub(super) fn news(out: &mut Vec<u8>) {
        append(Kind::News, 0, &[], out);
    }

    pub(super) fn leave(out: &mut Vec<u8>) {
        append(Kind::Goodbye, 0, &[], out);
    }
}
