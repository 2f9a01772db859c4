//! Packets as bytes: length, class, fields.
//!
//! Knows how fields lie in bytes; must not know connections.

use crate::packet::{
    Action, BAD, GAME, JOIN_REQUEST, JOIN_RESPONSE, LARGEST, LEAVE_REQUEST, LEAVE_RESPONSE,
    LOBBY_SNAPSHOT, LOBBY_SUBSCRIBE, LOGIN_REQUEST, LOGIN_RESPONSE, Lobby, NoPacket, PING, Reply,
    Request,
};

/// Length and class.
const HEADER: usize = 5;
/// Classes among the packets of the game.
const LOAD_REQUEST: u8 = 1;
const LOAD_RESPONSE: u8 = 2;

/// Length of the packet that begins here; none while it is not told.
pub(crate) fn length(bytes: &[u8]) -> Result<Option<usize>, NoPacket> {
    let Some(told) = bytes.first_chunk() else { return Ok(None) };
    match usize::try_from(i32::from_be_bytes(*told)) {
        Ok(length) if (HEADER..=LARGEST).contains(&length) => Ok(Some(length)),
        _ => Err(NoPacket),
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<Request, NoPacket> {
    let (class, mut fields) = open(bytes)?;
    let request = match class {
        PING => Request::Ping(fields.int()?),
        LOGIN_REQUEST => {
            let name = fields.string()?.to_owned();
            fields.string()?;
            fields.int()?;
            fields.bytes()?;
            Request::LogIn(name)
        }
        JOIN_REQUEST => {
            let (table, seat) = (fields.int()?, i8::from_be_bytes(fields.chunk()?));
            for _ in 0..fields.count()? {
                // A parameter: its key, the type of its value, its value.
                fields.string()?;
                fields.chunk::<1>()?;
                fields.bytes()?;
            }
            Request::Join { table, seat }
        }
        LEAVE_REQUEST => Request::Leave(fields.int()?),
        GAME => {
            let table = fields.int()?;
            fields.int()?;
            let data = fields.bytes()?;
            for _ in 0..fields.count()? {
                fields.string()?;
                fields.string()?;
            }
            game(table, data)?
        }
        LOBBY_SUBSCRIBE => Request::Look,
        other => return Ok(Request::Unknown(other)),
    };
    fields.end()?;
    Ok(request)
}

/// What a packet of the game says.
pub(crate) fn game(table: i32, data: &[u8]) -> Result<Request, NoPacket> {
    let (class, mut fields) = open(data)?;
    if class != LOAD_REQUEST {
        return Ok(Request::Unknown(GAME));
    }
    let action = Action {
        player: fields.int()?,
        table: fields.int()?,
        number: fields.int()?.cast_unsigned(),
        delay: fields.int()?.try_into().map_err(|_| NoPacket)?,
        resend: match fields.chunk()? {
            [0] => false,
            [1] => true,
            [_] => return Err(NoPacket),
        },
    };
    fields.end()?;
    Ok(Request::Act { table, action })
}

pub(crate) fn write(reply: &Reply) -> Vec<u8> {
    match reply {
        Reply::Bad { class, error } => packet(BAD, |out| out.extend([*class, *error])),
        Reply::Ping(number) => packet(PING, |out| put(*number, out)),
        Reply::LoggedIn { name, player, status } => packet(LOGIN_RESPONSE, |out| {
            // It came in a string, so its length fits.
            out.extend((name.len() as u16).to_be_bytes());
            out.extend(name.as_bytes());
            put(*player, out);
            out.push(*status);
            // Neither code, message nor credentials.
            out.extend([0; 4 + 2 + 4]);
        }),
        Reply::Joined { table, seat, status } => packet(JOIN_RESPONSE, |out| {
            put(*table, out);
            out.extend(seat.to_be_bytes());
            out.push(*status);
            put(0, out);
        }),
        Reply::Left { table, status } => packet(LEAVE_RESPONSE, |out| {
            put(*table, out);
            out.push(*status);
            put(0, out);
        }),
        Reply::Copy(action) => packet(GAME, |out| {
            let data = response(action);
            put(action.table, out);
            put(action.player, out);
            put(data.len() as i32, out);
            out.extend(data);
            put(0, out);
        }),
        Reply::Lobby(Lobby { number, tables, players, listed }) => packet(LOBBY_SNAPSHOT, |out| {
            for count in [*number, *tables, *players, listed.len() as u32] {
                out.extend(count.to_be_bytes());
            }
            for (table, seated) in listed {
                put(*table, out);
                out.extend(seated.to_be_bytes());
            }
        }),
    }
}

/// The table's response, as a packet of the game.
pub(crate) fn response(action: &Action) -> Vec<u8> {
    packet(LOAD_RESPONSE, |out| {
        put(action.player, out);
        put(action.table, out);
        out.extend(action.number.to_be_bytes());
        out.push(action.resend.into());
    })
}

fn packet(class: u8, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = vec![0, 0, 0, 0, class];
    write(&mut out);
    let length = (out.len() as u32).to_be_bytes();
    out[..4].copy_from_slice(&length);
    out
}

fn put(number: i32, out: &mut Vec<u8>) {
    out.extend(number.to_be_bytes());
}

/// Class and fields of the one packet that these bytes are.
fn open(bytes: &[u8]) -> Result<(u8, Fields<'_>), NoPacket> {
    if length(bytes)? != Some(bytes.len()) {
        return Err(NoPacket);
    }
    Ok((bytes[HEADER - 1], Fields(&bytes[HEADER..])))
}

/// What is left of a packet's fields.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn int(&mut self) -> Result<i32, NoPacket> {
        self.chunk().map(i32::from_be_bytes)
    }

    /// How many elements follow. Nothing is set aside for them: each has to be there.
    fn count(&mut self) -> Result<usize, NoPacket> {
        usize::try_from(self.int()?).map_err(|_| NoPacket)
    }

    fn string(&mut self) -> Result<&'a str, NoPacket> {
        let length = self.chunk().map(u16::from_be_bytes)?;
        std::str::from_utf8(self.take(length.into())?).map_err(|_| NoPacket)
    }

    fn bytes(&mut self) -> Result<&'a [u8], NoPacket> {
        let length = self.count()?;
        self.take(length)
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], NoPacket> {
        let (chunk, rest) = self.0.split_first_chunk().ok_or(NoPacket)?;
        self.0 = rest;
        Ok(*chunk)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], NoPacket> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(NoPacket)?;
        self.0 = rest;
        Ok(taken)
    }

    fn end(self) -> Result<(), NoPacket> {
        if self.0.is_empty() { Ok(()) } else { Err(NoPacket) }
    }
}
