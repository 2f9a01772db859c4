//! A multiplexed protocol of frames that exists in tests alone: replies interleave, the peer limits how
//! many messages are in flight, and refuses single ones.
//!
//! Knows its frames and the client's side. Must not know what messages mean, nor the server's side.
//!
//! A frame is a kind (1 byte), a number (8 bytes, big-endian), the payload's length (4 bytes) and the
//! payload. The client says hello; the connection stands once the server has said how much room it has.

use std::collections::BTreeSet;

use wiretrial_proto::{
    ClientSession, Close, ErrorClass, Event, Message, MessageKind, ProtocolError, Reply, Scratch,
    Step, Tag,
};

/// Bytes before a payload.
const HEAD: usize = 13;
/// So many replies that nobody wants any more may be missing.
const MOST_CANCELLED: usize = 1024;
/// Code of a goodbye.
const GOING: u16 = 1001;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// The client's first frame.
    Hello,
    /// A message with this number, whole.
    Message,
    /// The client no longer wants the reply to the message with this number.
    Cancel,
    /// The client has taken in one more `Room`: what follows heeds it.
    Seen,
    /// So many messages may be in flight, as the number says.
    Room,
    /// A piece of the reply to the message with this number.
    Piece,
    /// The last piece of it.
    End,
    /// The same, and the server answers nothing more.
    Last,
    /// The message with this number is refused.
    Refused,
    /// What nobody needs to know.
    News,
    /// Either side takes its leave.
    Goodbye,
}

impl Kind {
    const ALL: [Self; 11] = [
        Self::Hello,
        Self::Message,
        Self::Cancel,
        Self::Seen,
        Self::Room,
        Self::Piece,
        Self::End,
        Self::Last,
        Self::Refused,
        Self::News,
        Self::Goodbye,
    ];
}

/// What stands before a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    pub(crate) number: u64,
    /// Of the payload, bytes.
    pub(crate) length: usize,
}

impl Head {
    /// The head at the front of the input, and the rest of that; none: more bytes are needed.
    ///
    /// # Errors
    /// There is no such frame.
    pub(crate) fn read(input: &[u8]) -> Result<Option<(Self, &[u8])>, ProtocolError> {
        let Some((&kind, rest)) = input.split_first() else { return Ok(None) };
        let kind = Kind::ALL.get(usize::from(kind)).ok_or(broken("a frame of an unknown kind"))?;
        let Some((number, rest)) = rest.split_first_chunk() else { return Ok(None) };
        let Some((length, rest)) = rest.split_first_chunk() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        let number = u64::from_be_bytes(*number);
        Ok(Some((Self { kind: *kind, number, length }, rest)))
    }
}

/// Appends a frame.
pub(crate) fn append(kind: Kind, number: u64, payload: &[u8], out: &mut Vec<u8>) {
    out.push(kind as u8);
    out.extend_from_slice(&number.to_be_bytes());
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    out.extend_from_slice(payload);
}

/// The client's side of one connection.
#[derive(Debug, Default)]
pub(crate) struct MultiplexedClient {
    state: State,
    room: u32,
    /// The frame whose payload is coming, and how much of that is still to come.
    frame: Option<(Head, usize)>,
    /// Numbers of messages whose replies nobody wants any more, and that have not come whole.
    cancelled: BTreeSet<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Opening,
    Open,
    Closed,
}

impl MultiplexedClient {
    /// Takes in a frame without a payload.
    fn control(
        &mut self,
        head: Head,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, ProtocolError> {
        let Head { kind, number, length } = head;
        if length > 0 {
            return Err(broken("a payload where there is none"));
        }
        match (kind, self.state) {
            (Kind::Room, state) => {
                self.room = number as u32;
                self.state = State::Open;
                append(Kind::Seen, 0, &[], out);
                Ok(Some(if state == State::Opening { Event::Open } else { Event::Room }))
            }
            (Kind::Goodbye, _) => {
                self.state = State::Closed;
                Ok(Some(Event::Close(Close { code: GOING })))
            }
            (Kind::News, State::Open) => Ok(None),
            (Kind::Refused, State::Open) => {
                let error = ProtocolError::new(ErrorClass::TooBig, "the server refused a message");
                let is_wanted = !self.cancelled.remove(&number);
                Ok(is_wanted.then_some(Event::Failed { tag: Tag::Number(number), error }))
            }
            _ => Err(broken("a frame that no server sends now")),
        }
    }

    /// What the next piece of a reply's payload is; none: of a reply that nobody wants.
    fn piece<'a>(&mut self, head: Head, piece: &'a [u8], is_over: bool) -> Option<Event<'a>> {
        let tag = Tag::Number(head.number);
        if is_over && head.kind != Kind::Piece {
            let last = head.kind == Kind::Last;
            // A server that answers nothing more says so, whoever wants the reply.
            if self.cancelled.remove(&head.number) {
                return last.then_some(Event::Close(Close { code: GOING }));
            }
            let kind = MessageKind::Body;
            return Some(Event::Reply(Reply { tag, status: 200, kind, payload: piece, last }));
        }
        let is_wanted = !piece.is_empty() && !self.cancelled.contains(&head.number);
        is_wanted.then_some(Event::Chunk { tag, piece })
    }
}

impl ClientSession for MultiplexedClient {
    fn start(&mut self, out: &mut Vec<u8>) {
        append(Kind::Hello, 0, &[], out);
    }

    fn is_open(&self) -> bool {
        self.state == State::Open
    }

    fn room(&self) -> u32 {
        self.room
    }

    fn encode(&mut self, message: &Message<'_>, out: &mut Vec<u8>) {
        append(Kind::Message, message.number, message.payload, out);
    }

    fn receive<'a>(
        &mut self,
        input: &'a [u8],
        _scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Event<'a>>, ProtocolError> {
        if self.state == State::Closed {
            return Ok(Step { consumed: input.len(), event: None });
        }
        let mut offset = 0;
        loop {
            let (head, left) = if let Some(frame) = self.frame.take() {
                frame
            } else {
                let Some((head, _)) = Head::read(&input[offset..])? else {
                    return Ok(Step { consumed: offset, event: None });
                };
                offset += HEAD;
                (head, head.length)
            };
            let event = if !matches!(head.kind, Kind::Piece | Kind::End | Kind::Last) {
                self.control(head, out)?
            } else if self.state != State::Open {
                return Err(broken("a reply before the connection stands"));
            } else {
                let piece = &input[offset..input.len().min(offset + left)];
                offset += piece.len();
                let left = left - piece.len();
                self.frame = (left > 0).then_some((head, left));
                if left > 0 && piece.is_empty() {
                    return Ok(Step { consumed: offset, event: None });
                }
                self.piece(head, piece, left == 0)
            };
            if event.is_some() {
                return Ok(Step { consumed: offset, event });
            }
        }
    }

    fn cancel(&mut self, number: u64, out: &mut Vec<u8>) -> bool {
        if self.cancelled.len() == MOST_CANCELLED {
            return false;
        }
        append(Kind::Cancel, number, &[], out);
        self.cancelled.insert(number)
    }

    fn end(&mut self) -> Result<Option<Event<'static>>, ProtocolError> {
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Closed => Ok(None),
            _ => Err(ProtocolError::new(ErrorClass::Truncated, "it ended without a goodbye")),
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.is_open() {
            append(Kind::Goodbye, 0, &[], out);
            self.state = State::Closed;
        }
    }
}

const fn broken(detail: &'static str) -> ProtocolError {
    ProtocolError::new(ErrorClass::Protocol, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of these bytes where they come in pieces of so many: each event in a few letters,
    /// and the pieces of each reply together.
    fn said(bytes: &[u8], cut: usize) -> (String, [String; 2]) {
        let (mut client, mut out) = (MultiplexedClient::default(), Vec::new());
        let (mut events, mut replies) = (String::new(), [String::new(), String::new()]);
        let (mut carry, mut scratch) = (Vec::new(), Scratch::new());
        client.cancel(7, &mut out);
        for piece in bytes.chunks(cut) {
            carry.extend_from_slice(piece);
            let mut offset = 0;
            loop {
                let step =
                    client.receive(&carry[offset..], &mut scratch, &mut out).expect("frames");
                offset += step.consumed;
                let (tag, piece) = match step.event {
                    None => break,
                    Some(Event::Chunk { tag, piece }) => (tag, piece),
                    Some(Event::Reply(Reply { tag, payload, last, .. })) => {
                        events.push_str(if last { "last " } else { "end " });
                        (tag, payload)
                    }
                    Some(other) => {
                        events.push_str(match other {
                            Event::Open => "open ",
                            Event::Room => "room ",
                            Event::Failed { tag: Tag::Number(3), .. } => "failed ",
                            _ => "wrong ",
                        });
                        continue;
                    }
                };
                let Tag::Number(number @ 0..2) = tag else { panic!("{tag:?}") };
                replies[number as usize].push_str(std::str::from_utf8(piece).expect("text"));
            }
            carry.drain(..offset);
        }
        assert!(carry.is_empty() && client.cancelled.is_empty() && client.room() == 2);
        (events, replies)
    }

    #[test]
    fn frames_are_read_as_they_were_written_however_they_are_cut() {
        let mut bytes = Vec::new();
        append(Kind::Room, 9, &[], &mut bytes);
        append(Kind::Piece, 1, b"one ", &mut bytes);
        append(Kind::Piece, 7, b"gone", &mut bytes);
        append(Kind::End, 0, b"zero", &mut bytes);
        append(Kind::Refused, 7, &[], &mut bytes);
        append(Kind::Refused, 3, &[], &mut bytes);
        append(Kind::Room, 2, &[], &mut bytes);
        append(Kind::Last, 1, b"two", &mut bytes);
        for cut in 1..=bytes.len() {
            let expected = ("open end failed room last ".to_owned(), ["zero", "one two"]);
            let (events, replies) = said(&bytes, cut);
            assert_eq!((events, replies.each_ref().map(String::as_str)), expected, "cut to {cut}");
        }
    }
}
