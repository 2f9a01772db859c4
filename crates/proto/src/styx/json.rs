//! Packets as JSON: one object each.
//!
//! Knows the names of the fields; must not know streams or messages. A packet of the game is read
//! and written without taking memory.

use std::borrow::Cow;

use base64::display::Base64Display;
use base64::engine::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

use super::lobby::{Listed, Lobby};
use super::packet::{Attribute, OK, Packet, class};
use super::{MAX_PACKET, broken, not_utf8, too_big};
use crate::ProtocolError;

/// Status of a response that does not grant what was asked for, where a name says so.
const NOT_OK: u8 = 1;

pub(super) fn read<'a>(
    bytes: &'a [u8],
    room: &'a mut Vec<u8>,
) -> Result<Packet<'a>, ProtocolError> {
    if bytes.len() > MAX_PACKET {
        return Err(too_big());
    }
    let text = simdutf8::basic::from_utf8(bytes).map_err(|_| not_utf8())?;
    // An array of all fields in their order would be read as well.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(broken("a packet that is no JSON object"));
    }
    let object: Object<'a> = serde_json::from_str(text)
        .map_err(|_| broken("a packet that is no JSON object with the fields of its class"))?;
    object.packet(room)
}

pub(super) fn append(packet: &Packet<'_>, out: &mut Vec<u8>) {
    let written = serde_json::to_writer(out, &Form(packet));
    // Into a Vec, numbers and strings can always be written.
    debug_assert!(written.is_ok());
}

/// Every field that any packet has: which packet it is may stand behind them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Object<'a> {
    #[serde(rename = "classId")]
    class_id: Option<u8>,
    cmd: Option<i16>,
    error: Option<i16>,
    id: Option<i32>,
    #[serde(borrow)]
    user: Cow<'a, str>,
    #[serde(borrow)]
    password: Cow<'a, str>,
    operatorid: i32,
    #[serde(borrow)]
    credentials: Cow<'a, str>,
    #[serde(borrow)]
    screenname: Cow<'a, str>,
    pid: Option<i32>,
    status: Option<Status<'a>>,
    code: i32,
    #[serde(borrow)]
    message: Cow<'a, str>,
    tableid: Option<i32>,
    seat: Option<i8>,
    #[serde(borrow)]
    gamedata: Cow<'a, str>,
    #[serde(borrow)]
    attributes: Vec<Note<'a>>,
    seq: Option<u32>,
    tables: Option<u32>,
    players: Option<u32>,
    list: Vec<Row>,
}

/// A status is a number, or the name of one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Status<'a> {
    Number(u8),
    Name(&'a str),
}

#[derive(Debug, Deserialize)]
struct Note<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    value: Cow<'a, str>,
}

/// A table in the lobby's list.
#[derive(Debug, Serialize, Deserialize)]
struct Row {
    tableid: i32,
    seated: u32,
}

impl<'a> Object<'a> {
    fn packet(self, room: &'a mut Vec<u8>) -> Result<Packet<'a>, ProtocolError> {
        let class = self.class_id.ok_or(broken("a packet without a classId"))?;
        Ok(match class {
            class::BAD => Packet::Bad { class: byte(self.cmd)?, error: byte(self.error)? },
            class::PING => Packet::Ping { id: needed(self.id)? },
            class::LOGIN_REQUEST => Packet::LoginRequest {
                user: self.user,
                password: self.password,
                operator: self.operatorid,
                credentials: Cow::Owned(decoded(&self.credentials)?),
            },
            class::LOGIN_RESPONSE => Packet::LoginResponse {
                name: self.screenname,
                player: needed(self.pid)?,
                status: status(self.status)?,
                code: self.code,
                message: self.message,
                credentials: Cow::Owned(decoded(&self.credentials)?),
            },
            class::JOIN_REQUEST => {
                Packet::JoinRequest { table: needed(self.tableid)?, seat: needed(self.seat)? }
            }
            class::JOIN_RESPONSE => Packet::JoinResponse {
                table: needed(self.tableid)?,
                seat: needed(self.seat)?,
                status: status(self.status)?,
                code: self.code,
            },
            class::LEAVE_REQUEST => Packet::LeaveRequest { table: needed(self.tableid)? },
            class::LEAVE_RESPONSE => Packet::LeaveResponse {
                table: needed(self.tableid)?,
                status: status(self.status)?,
                code: self.code,
            },
            class::GAME => Packet::Game {
                table: needed(self.tableid)?,
                player: needed(self.pid)?,
                data: {
                    room.clear();
                    STANDARD.decode_vec(&*self.gamedata, room).map_err(|_| not_base64())?;
                    room
                },
                attributes: self
                    .attributes
                    .into_iter()
                    .map(|Note { name, value }| Attribute { name, value })
                    .collect(),
            },
            class::LOBBY_SUBSCRIBE => Packet::LobbySubscribe,
            class::LOBBY_SNAPSHOT => Packet::LobbySnapshot(Lobby {
                seq: needed(self.seq)?,
                tables: needed(self.tables)?,
                players: needed(self.players)?,
                listed: self
                    .list
                    .into_iter()
                    .map(|Row { tableid, seated }| Listed { table: tableid, seated })
                    .collect(),
            }),
            other => Packet::Other(other),
        })
    }
}

fn needed<T>(field: Option<T>) -> Result<T, ProtocolError> {
    field.ok_or(broken("a packet without a field of its class"))
}

/// A byte that the other side may take for a signed one.
fn byte(field: Option<i16>) -> Result<u8, ProtocolError> {
    match needed(field)? {
        number @ -128..=255 => Ok(number as u8),
        _ => Err(broken("a byte that is none")),
    }
}

fn status(field: Option<Status<'_>>) -> Result<u8, ProtocolError> {
    needed(field).map(|status| match status {
        Status::Number(number) => number,
        Status::Name("OK") => OK,
        Status::Name(_) => NOT_OK,
    })
}

fn decoded(text: &str) -> Result<Vec<u8>, ProtocolError> {
    STANDARD.decode(text).map_err(|_| not_base64())
}

#[cold]
const fn not_base64() -> ProtocolError {
    broken("an array of bytes that is not base64")
}

/// A packet as an object, its class in front.
struct Form<'a>(&'a Packet<'a>);

impl Serialize for Form<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("classId", &self.0.class())?;
        match self.0 {
            Packet::Bad { class, error } => {
                object.serialize_entry("cmd", class)?;
                object.serialize_entry("error", error)?;
            }
            Packet::Ping { id } => object.serialize_entry("id", id)?,
            Packet::LoginRequest { user, password, operator, credentials } => {
                object.serialize_entry("user", user)?;
                object.serialize_entry("password", password)?;
                object.serialize_entry("operatorid", operator)?;
                object.serialize_entry("credentials", &Base64(credentials))?;
            }
            Packet::LoginResponse { name, player, status, code, message, credentials } => {
                object.serialize_entry("screenname", name)?;
                object.serialize_entry("pid", player)?;
                object.serialize_entry("status", status)?;
                object.serialize_entry("code", code)?;
                object.serialize_entry("message", message)?;
                object.serialize_entry("credentials", &Base64(credentials))?;
            }
            Packet::JoinRequest { table, seat } => {
                object.serialize_entry("tableid", table)?;
                object.serialize_entry("seat", seat)?;
                object.serialize_entry("params", &[(); 0])?;
            }
            Packet::JoinResponse { table, seat, status, code } => {
                object.serialize_entry("tableid", table)?;
                object.serialize_entry("seat", seat)?;
                object.serialize_entry("status", status)?;
                object.serialize_entry("code", code)?;
            }
            Packet::LeaveRequest { table } => object.serialize_entry("tableid", table)?,
            Packet::LeaveResponse { table, status, code } => {
                object.serialize_entry("tableid", table)?;
                object.serialize_entry("status", status)?;
                object.serialize_entry("code", code)?;
            }
            Packet::Game { table, player, data, attributes } => {
                object.serialize_entry("tableid", table)?;
                object.serialize_entry("pid", player)?;
                object.serialize_entry("gamedata", &Base64(data))?;
                object.serialize_entry("attributes", &Notes(attributes))?;
            }
            Packet::LobbySnapshot(Lobby { seq, tables, players, listed }) => {
                object.serialize_entry("seq", seq)?;
                object.serialize_entry("tables", tables)?;
                object.serialize_entry("players", players)?;
                object.serialize_entry("list", &Rows(listed))?;
            }
            Packet::LobbySubscribe | Packet::Other(_) => {}
        }
        object.end()
    }
}

struct Base64<'a>(&'a [u8]);

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(self.0, &STANDARD))
    }
}

struct Notes<'a>(&'a [Attribute<'a>]);

impl Serialize for Notes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(NoteForm))
    }
}

struct Rows<'a>(&'a [Listed]);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = |one: &Listed| Row { tableid: one.table, seated: one.seated };
        serializer.collect_seq(self.0.iter().map(row))
    }
}

struct NoteForm<'a>(&'a Attribute<'a>);

impl Serialize for NoteForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("name", &self.0.name)?;
        object.serialize_entry("value", &self.0.value)?;
        object.end()
    }
}
