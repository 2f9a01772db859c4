//! Frames as a peer writes them, and what our side says in words.

use wiretrial_proto::FieldList;
use wiretrial_proto::http3::qpack::{Secrecy, read_fields, write_field, write_prefix};
use wiretrial_proto::http3::{Action, ErrorCode, FrameHead, Kind, Outgoing, Settings, varint};

pub(super) const SETTINGS: u64 = 0x4;
pub(super) const PUSH_PROMISE: u64 = 0x5;
pub(super) const GOAWAY: u64 = 0x7;
/// One that means nothing (RFC 9114 section 7.2.8).
pub(super) const GREASE: u64 = 0x21;

/// Bytes on a stream, and whether they end it.
pub(super) type Piece = (u64, Vec<u8>, bool);

pub(super) fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    varint::write(kind, &mut out);
    varint::write(payload.len() as u64, &mut out);
    out.extend_from_slice(payload);
    out
}

pub(super) fn data(content: &str) -> Vec<u8> {
    frame(0x0, content.as_bytes())
}

/// A block of fields, each a name, `=` and a value.
pub(super) fn headers(fields: &[&str]) -> Vec<u8> {
    let mut block = Vec::new();
    write_prefix(&mut block);
    for field in fields {
        let (name, value) = field.split_once('=').unwrap();
        write_field(name.as_bytes(), value.as_bytes(), Secrecy::Plain, &mut block);
    }
    frame(0x1, &block)
}

/// A stream that ends.
pub(super) fn whole(stream: u64, frames: &[Vec<u8>]) -> Piece {
    (stream, frames.concat(), true)
}

/// A stream that goes on.
pub(super) fn begun(stream: u64, frames: &[Vec<u8>]) -> Piece {
    (stream, frames.concat(), false)
}

/// The peer's stream of control, with settings and these frames.
pub(super) fn control(stream: u64, frames: &[Vec<u8>]) -> Piece {
    (stream, [vec![0], frame(SETTINGS, &[]), frames.concat()].concat(), false)
}

pub(super) fn goaway(stream: u64) -> Vec<u8> {
    let mut payload = Vec::new();
    varint::write(stream, &mut payload);
    frame(GOAWAY, &payload)
}

/// What our side says, one line for each action.
pub(super) fn told(out: &Outgoing) -> Vec<String> {
    let code = ErrorCode::of;
    let words = out.actions().map(|action| match action {
        Action::Write { stream, bytes, fin } => {
            let end = if fin { " fin" } else { "" };
            format!("{stream}: {}{end}", frames_in(stream, bytes).join(", "))
        }
        Action::Reset { stream, code: why } => format!("{stream}: reset {:?}", code(why)),
        Action::Stop { stream, code: why } => format!("{stream}: stop {:?}", code(why)),
        Action::Close { code: why } => format!("close {:?}", code(why)),
    });
    words.collect()
}

fn frames_in(stream: u64, bytes: &[u8]) -> Vec<String> {
    let mut rest = bytes;
    let mut words = Vec::new();
    if stream & 2 == 2 && rest.first() == Some(&0) {
        words.push("control".to_owned());
        rest = &rest[1..];
    }
    while let Some(head) = FrameHead::read(rest) {
        let (payload, behind) = rest[head.size..].split_at(head.length as usize);
        rest = behind;
        words.push(match head.kind {
            Kind::Headers => fields_in(payload),
            Kind::Data => format!("'{}'", String::from_utf8_lossy(payload)),
            Kind::Settings => {
                let Settings { max_field_section, enable_connect, .. } =
                    Settings::read(payload).unwrap();
                format!("settings {max_field_section} {enable_connect}")
            }
            Kind::GoAway => format!("goaway {}", varint::read(payload).unwrap().0),
            other => panic!("{other:?}"),
        });
    }
    assert!(rest.is_empty(), "a frame in part");
    words
}

fn fields_in(block: &[u8]) -> String {
    let mut fields = FieldList::default();
    read_fields(block, usize::MAX, &mut fields).unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let words: Vec<_> =
        fields.iter().map(|(name, value)| text(name) + "=" + &text(value)).collect();
    format!("[{}]", words.join(" "))
}
