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

/// The head of the packet under way, as far as it has come.
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
}

impl Head {
    /// Takes what belongs to the head from the front of `piece`, and says how much that was. What
    /// is left is content.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<usize, ProtocolError> {
        for (at, byte) in piece.iter().enumerate() {
            self.progress = match self.progress {
                Progress::Done(_) => return Ok(at),
                Progress::Nothing => of_engine(*byte)?,
                Progress::Message => of_message(*byte)?,
                Progress::Number(kind) => match byte {
                    b'0'..=b'9' => {
                        self.id = Some(longer(self.id.unwrap_or_default(), byte - b'0')?);
                        continue;
                    }
                    b'[' => {
                        self.progress = Progress::Done(kind);
                        return Ok(at);
                    }
                    b'/' => return Err(broken("a packet of another namespace")),
                    _ => return Err(broken("a packet without an array of arguments")),
                },
            };
        }
        Ok(piece.len())
    }

    /// What the packet is; none while that is not told.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self.progress {
            Progress::Done(kind) => Some(kind),
            Progress::Nothing | Progress::Message | Progress::Number(_) => None,
        }
    }

    /// Number of the acknowledgement.
    pub(super) fn id(&self) -> Option<u64> {
        self.id
    }
}

fn of_engine(byte: u8) -> Result<Progress, ProtocolError> {
    Ok(Progress::Done(match byte {
        b'0' => Kind::Open,
        b'1' => Kind::Close,
        b'2' => Kind::Ping,
        b'3' => Kind::Pong,
        b'4' => return Ok(Progress::Message),
        b'6' => Kind::Nothing,
        _ => return Err(broken("a packet of an unknown kind")),
    }))
}

fn of_message(byte: u8) -> Result<Progress, ProtocolError> {
    Ok(match byte {
        b'0' => Progress::Done(Kind::Connect),
        b'1' => Progress::Done(Kind::Disconnect),
        b'2' => Progress::Number(Kind::Event),
        b'3' => Progress::Number(Kind::Ack),
        b'4' => Progress::Done(Kind::Refused),
        b'5' | b'6' => return Err(broken("a packet with binary parts, which are not supported")),
        _ => return Err(broken("a message of an unknown kind")),
    })
}

fn longer(number: u64, digit: u8) -> Result<u64, ProtocolError> {
    let longer = number.checked_mul(10).and_then(|tens| tens.checked_add(digit.into()));
    longer.ok_or(broken("a number of an acknowledgement that is too long"))
}

#[cold]
pub(super) const fn broken(detail: &'static str) -> ProtocolError {
    ProtocolError::new(ErrorClass::Protocol, detail)
}
