//! Frames, written by hand, and read for people.

use wiretrial_proto::FieldList;
use wiretrial_proto::http2::hpack::{HpackDecoder, Secrecy, write_field};

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RESET: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END: u8 = 1;
pub(crate) const ACK: u8 = 1;
pub(crate) const WHOLE: u8 = 4;
pub(crate) const PADDED: u8 = 8;

/// One frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A block of fields, as `name=value`.
pub(crate) fn block(fields: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    for field in fields {
        let (name, value) = field.split_at(1 + field[1..].find('=').unwrap());
        write_field(name.as_bytes(), &value.as_bytes()[1..], Secrecy::Plain, &mut out);
    }
    out
}

/// HEADERS with a whole block.
pub(crate) fn headers(flags: u8, stream: u32, fields: &[&str]) -> Vec<u8> {
    frame(HEADERS, WHOLE | flags, stream, &block(fields))
}

/// SETTINGS with these entries.
pub(crate) fn settings(entries: &[(u16, u32)]) -> Vec<u8> {
    let mut payload = Vec::new();
    for (id, value) in entries {
        payload.extend(id.to_be_bytes());
        payload.extend(value.to_be_bytes());
    }
    frame(SETTINGS, 0, 0, &payload)
}

/// A payload of one number of 32 bits.
pub(crate) fn number(kind: u8, stream: u32, value: u32) -> Vec<u8> {
    frame(kind, 0, stream, &value.to_be_bytes())
}

/// GOAWAY.
pub(crate) fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

/// Frames that one side sent, in words; fields are decoded with a table of their own.
pub(crate) fn told(mut bytes: &[u8]) -> Vec<String> {
    let mut decoder = HpackDecoder::new(4096);
    let mut told = Vec::new();
    while let Some((head, rest)) = bytes.split_first_chunk::<9>() {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let (kind, flags) = (head[3], head[4]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let (payload, behind) = rest.split_at(length);
        bytes = behind;
        let value = || u32::from_be_bytes(payload[..4].try_into().unwrap());
        told.push(match kind {
            DATA => {
                let end = if flags & END > 0 { " end" } else { "" };
                format!("{stream}: data {}{end}", String::from_utf8_lossy(payload))
            }
            HEADERS => {
                let mut list = FieldList::default();
                decoder.read(payload, 65_536, &mut list).unwrap();
                let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                let fields: Vec<_> =
                    list.iter().map(|(name, value)| text(name) + "=" + &text(value)).collect();
                let end = if flags & END > 0 { " end" } else { "" };
                format!("{stream}: headers {}{end}", fields.join(" "))
            }
            RESET => format!("{stream}: reset {}", value()),
            SETTINGS if flags & ACK > 0 => "settings ack".to_owned(),
            SETTINGS => format!("settings of {length}"),
            PING => format!("ping{} {payload:?}", if flags & ACK > 0 { " ack" } else { "" }),
            GOAWAY => {
                let code = u32::from_be_bytes(payload[4..8].try_into().unwrap());
                format!("goaway {} {code}", value())
            }
            WINDOW => format!("{stream}: window {}", value()),
            other => format!("{stream}: frame {other}"),
        });
    }
    assert!(bytes.is_empty(), "a frame in part");
    told
}
