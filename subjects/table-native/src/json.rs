//! Packets as JSON: one object each.
//!
//! Knows the names of the fields; must not know connections.

use std::borrow::Cow;
use std::io::Write as _;

use base64::Engine as _;
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::binary;
use crate::packet::{
    BAD, GAME, JOIN_REQUEST, JOIN_RESPONSE, LARGEST, LEAVE_REQUEST, LEAVE_RESPONSE, LOBBY_SNAPSHOT,
    LOBBY_SUBSCRIBE, LOGIN_REQUEST, LOGIN_RESPONSE, Lobby, NoPacket, PING, Reply, Request,
};

pub(crate) fn read(bytes: &[u8]) -> Result<Request, NoPacket> {
    if bytes.len() > LARGEST || bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(NoPacket);
    }
    let object: Object<'_> = serde_json::from_slice(bytes).map_err(|_| NoPacket)?;
    Ok(match object.class.ok_or(NoPacket)? {
        PING => Request::Ping(object.id.ok_or(NoPacket)?),
        LOGIN_REQUEST => Request::LogIn(object.user.ok_or(NoPacket)?),
        JOIN_REQUEST => Request::Join {
            table: object.table.ok_or(NoPacket)?,
            seat: object.seat.ok_or(NoPacket)?,
        },
        LEAVE_REQUEST => Request::Leave(object.table.ok_or(NoPacket)?),
        GAME => {
            let text = object.data.ok_or(NoPacket)?;
            let data = STANDARD.decode(&*text).map_err(|_| NoPacket)?;
            binary::game(object.table.ok_or(NoPacket)?, &data)?
        }
        LOBBY_SUBSCRIBE => Request::Look,
        other => Request::Unknown(other),
    })
}

pub(crate) fn write(reply: &Reply) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    let written = match reply {
        // Numbers and base64 need no care, and this is nearly all that is written.
        Reply::Copy(action) => {
            let data = binary::response(action);
            let data = Base64Display::new(&data, &STANDARD);
            write!(
                out,
                r#"{{"classId":{GAME},"tableid":{},"pid":{},"gamedata":"{data}","attributes":[]}}"#,
                action.table, action.player
            )
        }
        rare => serde_json::to_writer(&mut out, &Form::of(rare)).map_err(Into::into),
    };
    // Into memory, all of these can be written.
    debug_assert!(written.is_ok());
    out
}

/// Every field that any request has.
#[derive(Deserialize)]
struct Object<'a> {
    #[serde(rename = "classId")]
    class: Option<u8>,
    id: Option<i32>,
    user: Option<String>,
    #[serde(rename = "tableid")]
    table: Option<i32>,
    seat: Option<i8>,
    #[serde(rename = "gamedata", borrow)]
    data: Option<Cow<'a, str>>,
}

/// A reply as an object, its class in front.
#[derive(Serialize)]
struct Form<'a> {
    #[serde(rename = "classId")]
    class: u8,
    #[serde(flatten)]
    fields: Fields<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Fields<'a> {
    Bad {
        cmd: u8,
        error: u8,
    },
    Ping {
        id: i32,
    },
    LoggedIn {
        screenname: &'a str,
        pid: i32,
        status: u8,
        code: i32,
        message: &'a str,
        credentials: &'a str,
    },
    Joined {
        tableid: i32,
        seat: i8,
        status: u8,
        code: i32,
    },
    Left {
        tableid: i32,
        status: u8,
        code: i32,
    },
    Lobby {
        seq: u32,
        tables: u32,
        players: u32,
        list: Vec<Row>,
    },
    /// Written by itself.
    Copy {},
}

#[derive(Serialize)]
struct Row {
    tableid: i32,
    seated: u32,
}

impl<'a> Form<'a> {
    fn of(reply: &'a Reply) -> Self {
        let (class, fields) = match reply {
            Reply::Bad { class, error } => (BAD, Fields::Bad { cmd: *class, error: *error }),
            Reply::Ping(id) => (PING, Fields::Ping { id: *id }),
            Reply::LoggedIn { name, player, status } => (
                LOGIN_RESPONSE,
                Fields::LoggedIn {
                    screenname: name,
                    pid: *player,
                    status: *status,
                    code: 0,
                    message: "",
                    credentials: "",
                },
            ),
            Reply::Joined { table, seat, status } => (
                JOIN_RESPONSE,
                Fields::Joined { tableid: *table, seat: *seat, status: *status, code: 0 },
            ),
            Reply::Left { table, status } => {
                (LEAVE_RESPONSE, Fields::Left { tableid: *table, status: *status, code: 0 })
            }
            Reply::Lobby(Lobby { number, tables, players, listed }) => (
                LOBBY_SNAPSHOT,
                Fields::Lobby {
                    seq: *number,
                    tables: *tables,
                    players: *players,
                    list: listed.iter().map(|&(tableid, seated)| Row { tableid, seated }).collect(),
                },
            ),
            Reply::Copy(_) => (GAME, Fields::Copy {}),
        };
        Self { class, fields }
    }
}
