//! What stands in front of a packet's content.
//!
//! Knows the digits, as they come; must not know who sent them, nor what follows.

use crate::{ErrorClass, ProtocolError};

/// What a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The session begins (Engine.IO).
    Open,
    /// The session ends (Engine.IO).
    Close,
    Ping,
    Pong,
    Nothing,
    /// The namespace is entered.
    Connect,
    Disconnect,
    Event,
    Ack,
    Refused,
}

/// The head of the packet under way, as far as it has come. What is wrong with it is said when its
/// message is complete: what is wrong with the message itself comes first, however it was cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Head {
    progress: Progress,
    /// Number of the acknowledgement, where there is one.
    id: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Progress {
    #[default]
    Nothing,
    /// It is a message; of which kind is not told.
    Message,
    /// Of an event or acknowledgement: digits of its number may follow.
    Number(Kind),
    Done(Kind),
    /// It is none, for this reason.
    Wrong(&'static str),
}

impl Head {
    /// Takes what belongs to the head from the front of `piece`, and says how much that was. What
    /// is left is content.
    pub(super) fn take(&mut self, piece: &[u8]) -> usize {
        for (offset, byte) in piece.iter().enumerate() {
            self.progress = match self.progress {
                Progress::Done(_) => return offset,
                Progress::Wrong(_) => return piece.len(),
                Progress::Nothing => of_engine(*byte),
                Progress::Message => of_message(*byte),
                Progress::Number(kind) => match byte {
                    b'0'..=b'9' => match longer(self.id.unwrap_or_default(), byte - b'0') {
                        None => Progress::Wrong("a number of an acknowledgement that is too long"),
                        id => {
                            self.id = id;
                            Progress::Number(kind)
                        }
                    },
                    b'[' => {
                        self.progress = Progress::Done(kind);
                        return offset;
                    }
                    b'/' => Progress::Wrong("a packet of another namespace"),
                    _ => Progress::Wrong("a packet without an array of arguments"),
                },
            };
        }
        piece.len()
    }

    /// What the packet is, as far as that is told and right.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self.progress {
            Progress::Done(kind) => Some(kind),
            _ => None,
        }
    }

    /// The message is complete: what was it?
    ///
    /// # Errors
    /// What is wrong with the head.
    pub(super) fn finish(&self) -> Result<Kind, ProtocolError> {
        match self.progress {
            Progress::Done(kind) => Ok(kind),
            Progress::Wrong(detail) => Err(broken(detail)),
            Progress::Nothing | Progress::Message | Progress::Number(_) => {
                Err(broken("a message that ends inside the head of a packet"))
            }
        }
    }

    /// Number of the acknowledgement.
    pub(super) fn id(&self) -> Option<u64> {
        self.id
    }
}

fn of_engine(byte: u8) -> Progress {
    match byte {
        b'0' => Progress::Done(Kind::Open),
        b'1' => Progress::Done(Kind::Close),
        b'2' => Progress::Done(Kind::Ping),
        b'3' => Progress::Done(Kind::Pong),
        b'4' => Progress::Message,
        b'6' => Progress::Done(Kind::Nothing),
        _ => Progress::Wrong("a packet of an unknown kind"),
    }
}

fn of_message(byte: u8) -> Progress {
    match byte {
        b'0' => Progress::Done(Kind::Connect),
        b'1' => Progress::Done(Kind::Disconnect),
        b'2' => Progress::Number(Kind::Event),
        b'3' => Progress::Number(Kind::Ack),
        b'4' => Progress::Done(Kind::Refused),
        b'5' | b'6' => Progress::Wrong("a packet with binary parts, which are not supported"),
        _ => Progress::Wrong("a message of an unknown kind"),
    }
}

fn longer(number: u64, digit: u8) -> Option<u64> {
    number.checked_mul(10)?.checked_add(digit.into())
}

#[cold]
pub(super) const fn broken(detail: &'static str) -> ProtocolError {
    ProtocolError::new(ErrorClass::Protocol, detail)
}
