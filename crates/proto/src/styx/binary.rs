//! Packets as bytes: length, class, fields.
//!
//! Knows the order of each packet's fields; must not know streams or messages.

use std::borrow::Cow;

use super::fields::{Fields, append_bytes, append_count, append_i32, append_string, append_u32};
use super::lobby::{Listed, Lobby};
use super::packet::{Attribute, Packet, class};
use super::{MAX_PACKET, broken, too_big};
use crate::ProtocolError;

/// Length and class.
pub(super) const HEADER: usize = 5;

/// Length of the packet that begins here, header included; none while it is not told.
#[inline]
pub(super) fn length(input: &[u8]) -> Result<Option<usize>, ProtocolError> {
    let Some(&told) = input.first_chunk() else { return Ok(None) };
    match usize::try_from(i32::from_be_bytes(told)) {
        Ok(length) if length > MAX_PACKET => Err(too_big()),
        Ok(length) if length >= HEADER => Ok(Some(length)),
        _ => Err(broken("a packet with a length below that of its header")),
    }
}

/// Class and fields of the one packet that these bytes are.
#[inline]
pub(super) fn open(bytes: &[u8]) -> Result<(u8, Fields<'_>), ProtocolError> {
    if length(bytes)? != Some(bytes.len()) {
        return Err(broken("a packet with another length than it says"));
    }
    Ok((bytes[HEADER - 1], Fields::new(&bytes[HEADER..])))
}

pub(super) fn read(bytes: &[u8]) -> Result<Packet<'_>, ProtocolError> {
    let (class, mut fields) = open(bytes)?;
    let packet = match class {
        class::BAD => Packet::Bad { class: fields.u8()?, error: fields.u8()? },
        class::PING => Packet::Ping { id: fields.i32()? },
        class::LOGIN_REQUEST => Packet::LoginRequest {
            user: Cow::Borrowed(fields.string()?),
            password: Cow::Borrowed(fields.string()?),
            operator: fields.i32()?,
            credentials: Cow::Borrowed(fields.bytes()?),
        },
        class::LOGIN_RESPONSE => Packet::LoginResponse {
            name: Cow::Borrowed(fields.string()?),
            player: fields.i32()?,
            status: fields.u8()?,
            code: fields.i32()?,
            message: Cow::Borrowed(fields.string()?),
            credentials: Cow::Borrowed(fields.bytes()?),
        },
        class::JOIN_REQUEST => {
            let packet = Packet::JoinRequest { table: fields.i32()?, seat: fields.i8()? };
            for _ in 0..fields.count()? {
                // A parameter: its key, the type of its value, its value.
                fields.string()?;
                fields.u8()?;
                fields.bytes()?;
            }
            packet
        }
        class::JOIN_RESPONSE => Packet::JoinResponse {
            table: fields.i32()?,
            seat: fields.i8()?,
            status: fields.u8()?,
            code: fields.i32()?,
        },
        class::LEAVE_REQUEST => Packet::LeaveRequest { table: fields.i32()? },
        class::LEAVE_RESPONSE => Packet::LeaveResponse {
            table: fields.i32()?,
            status: fields.u8()?,
            code: fields.i32()?,
        },
        class::GAME => Packet::Game {
            table: fields.i32()?,
            player: fields.i32()?,
            data: fields.bytes()?,
            attributes: attributes(&mut fields)?,
        },
        class::LOBBY_SUBSCRIBE => Packet::LobbySubscribe,
        class::LOBBY_SNAPSHOT => Packet::LobbySnapshot(lobby(&mut fields)?),
        other => return Ok(Packet::Other(other)),
    };
    fields.end()?;
    Ok(packet)
}

pub(super) fn append(packet: &Packet<'_>, out: &mut Vec<u8>) {
    append_packet(packet.class(), out, |out| match packet {
        Packet::Bad { class, error } => out.extend_from_slice(&[*class, *error]),
        Packet::Ping { id } => append_i32(*id, out),
        Packet::LoginRequest { user, password, operator, credentials } => {
            append_string(user, out);
            append_string(password, out);
            append_i32(*operator, out);
            append_bytes(credentials, out);
        }
        Packet::LoginResponse { name, player, status, code, message, credentials } => {
            append_string(name, out);
            append_i32(*player, out);
            out.push(*status);
            append_i32(*code, out);
            append_string(message, out);
            append_bytes(credentials, out);
        }
        Packet::JoinRequest { table, seat } => {
            append_i32(*table, out);
            out.extend_from_slice(&seat.to_be_bytes());
            append_i32(0, out);
        }
        Packet::JoinResponse { table, seat, status, code } => {
            append_i32(*table, out);
            out.extend_from_slice(&seat.to_be_bytes());
            out.push(*status);
            append_i32(*code, out);
        }
        Packet::LeaveRequest { table } => append_i32(*table, out),
        Packet::LeaveResponse { table, status, code } => {
            append_i32(*table, out);
            out.push(*status);
            append_i32(*code, out);
        }
        Packet::Game { table, player, data, attributes } => {
            append_i32(*table, out);
            append_i32(*player, out);
            append_bytes(data, out);
            append_count(attributes.len(), out);
            for attribute in attributes {
                append_string(&attribute.name, out);
                append_string(&attribute.value, out);
            }
        }
        Packet::LobbySnapshot(Lobby { seq, tables, players, listed }) => {
            append_u32(*seq, out);
            append_u32(*tables, out);
            append_u32(*players, out);
            append_count(listed.len(), out);
            for Listed { table, seated } in listed {
                append_i32(*table, out);
                append_u32(*seated, out);
            }
        }
        Packet::LobbySubscribe | Packet::Other(_) => {}
    });
}

/// Appends a packet of this class, whose fields `write` appends.
#[inline]
pub(super) fn append_packet(class: u8, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0, 0, 0, 0, class]);
    write(out);
    let length = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

fn attributes<'a>(fields: &mut Fields<'a>) -> Result<Vec<Attribute<'a>>, ProtocolError> {
    let mut attributes = Vec::new();
    for _ in 0..fields.count()? {
        attributes.push(Attribute {
            name: Cow::Borrowed(fields.string()?),
            value: Cow::Borrowed(fields.string()?),
        });
    }
    Ok(attributes)
}

fn lobby(fields: &mut Fields<'_>) -> Result<Lobby, ProtocolError> {
    let (seq, tables, players) = (fields.u32()?, fields.u32()?, fields.u32()?);
    let mut listed = Vec::new();
    for _ in 0..fields.count()? {
        listed.push(Listed { table: fields.i32()?, seated: fields.u32()? });
    }
    Ok(Lobby { seq, tables, players, listed })
}
