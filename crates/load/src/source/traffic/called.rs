//! Messages of calls as a session sends them, and fields of the first message of a reply.
//!
//! Knows the wire format of Protocol Buffers. Must not know names of fields, nor how calls are framed further.

use std::io::Write as _;
use std::ops::Range;

use wiretrial_proto::grpc::{PREFIX, Status};

use super::template::{Known, write};
use crate::plan::traffic::{FieldPlace, Part, Piece, Scalar};
use crate::plan::wire::varint;

/// The messages of a call, each of pieces.
#[derive(Debug, Clone)]
pub(super) struct Messages(Box<[Vec<Piece>]>);

impl Messages {
    pub(super) fn new(messages: &[Vec<Piece>]) -> Self {
        Self(messages.into())
    }

    /// All of them, each behind its prefix.
    pub(super) fn fill(&self, known: Known<'_>, out: &mut Vec<u8>) {
        for message in &self.0 {
            let begin = out.len();
            out.extend_from_slice(&[0; PREFIX]);
            write_pieces(message, known, out);
            let length = (out.len() - begin - PREFIX) as u32;
            out[begin + 1..begin + PREFIX].copy_from_slice(&length.to_be_bytes());
        }
    }

    /// Are they the same each time?
    pub(super) fn are_constant(&self) -> bool {
        fn is_constant(piece: &Piece) -> bool {
            match piece {
                Piece::Bytes(_) => true,
                Piece::Text(text) => text.iter().all(|part| matches!(part, Part::Text(_))),
                Piece::Sized(inside) => inside.iter().all(is_constant),
                Piece::Number(part, _) => matches!(part, Part::Text(_)),
            }
        }
        self.0.iter().flatten().all(is_constant)
    }
}

fn write_pieces(pieces: &[Piece], known: Known<'_>, out: &mut Vec<u8>) {
    for piece in pieces {
        match piece {
            Piece::Bytes(bytes) => out.extend_from_slice(bytes),
            Piece::Text(text) => text.iter().for_each(|part| write(part, known, out)),
            Piece::Sized(inside) => {
                let begin = out.len();
                // Most lengths have one byte; what has more is moved up.
                out.push(0);
                write_pieces(inside, known, out);
                let length = out.len() - begin - 1;
                let more = width(length as u64) - 1;
                if more > 0 {
                    out.resize(out.len() + more, 0);
                    out.copy_within(begin + 1..begin + 1 + length, begin + 1 + more);
                }
                put_varint(length as u64, &mut out[begin..=begin + more]);
            }
            Piece::Number(part, scalar) => {
                let begin = out.len();
                write(part, known, out);
                let (bytes, width) = encoded(&out[begin..], *scalar);
                out.truncate(begin);
                out.extend_from_slice(&bytes[..width]);
            }
        }
    }
}

/// A number that is known in digits as it stands on the wire, and how many bytes that are.
fn encoded(digits: &[u8], scalar: Scalar) -> ([u8; 10], usize) {
    let mut bytes = [0; 10];
    let text = str::from_utf8(digits).unwrap_or_default().trim();
    let whole = || text.parse::<i128>().unwrap_or_default();
    let mut fixed = |value: &[u8]| {
        bytes[..value.len()].copy_from_slice(value);
        value.len()
    };
    let bits = match scalar {
        Scalar::Bool => u64::from(text == "true" || text == "1"),
        Scalar::Unsigned | Scalar::Signed | Scalar::Text => whole() as u64,
        Scalar::Zigzag => {
            let value = whole() as i64;
            ((value << 1) ^ (value >> 63)).cast_unsigned()
        }
        Scalar::Fixed32 | Scalar::Sfixed32 => {
            let width = fixed(&(whole() as u32).to_le_bytes());
            return (bytes, width);
        }
        Scalar::Fixed64 | Scalar::Sfixed64 => {
            let width = fixed(&(whole() as u64).to_le_bytes());
            return (bytes, width);
        }
        Scalar::Float => {
            let width = fixed(&text.parse::<f32>().unwrap_or_default().to_le_bytes());
            return (bytes, width);
        }
        Scalar::Double => {
            let width = fixed(&text.parse::<f64>().unwrap_or_default().to_le_bytes());
            return (bytes, width);
        }
    };
    let width = width(bits);
    put_varint(bits, &mut bytes[..width]);
    (bytes, width)
}

/// Bytes of a number, seven bits in each.
fn width(bits: u64) -> usize {
    (64 - (bits | 1).leading_zeros() as usize).div_ceil(7)
}

fn put_varint(mut bits: u64, out: &mut [u8]) {
    let last = out.len() - 1;
    for (place, byte) in out.iter_mut().enumerate() {
        *byte = bits as u8 & 0x7f | if place < last { 0x80 } else { 0 };
        bits >>= 7;
    }
}

/// What is said of a call with a status that is none of these.
pub(super) fn wrong_status(status: u16, right: &[(u16, u16)]) -> String {
    let right: Vec<_> = right.iter().map(|(least, _)| Status(*least).to_string()).collect();
    format!("status {}, not {}", Status(status), right.join(", "))
}

/// Values of fields of one reply, as texts one behind the other; used again for each.
#[derive(Debug, Default)]
pub(super) struct Fields {
    text: Vec<u8>,
    /// By place: where the value is; none: it is not there.
    found: Vec<Option<Range<usize>>>,
}

impl Fields {
    /// Finds what stands at these places of the first message of a reply.
    ///
    /// # Errors
    /// It has none, or its bytes are no message there.
    pub(super) fn find(&mut self, content: &[u8], places: &[FieldPlace]) -> Result<(), String> {
        self.text.clear();
        self.found.clear();
        if places.is_empty() {
            return Ok(());
        }
        let message = first_message(content)?;
        for place in places {
            let begin = self.text.len();
            let value = at(message, &place.path)
                .map_err(|fault| format!("{} can't be read: {fault}", place.name))?;
            let is_there = match value {
                None if place.has_usual => {
                    self.text.extend_from_slice(usual(place.scalar));
                    true
                }
                None => false,
                Some(value) if value.tell(place.scalar, &mut self.text) => true,
                Some(_) => return Err(format!("{} has another type on the wire", place.name)),
            };
            self.found.push(is_there.then_some(begin..self.text.len()));
        }
        Ok(())
    }

    /// The value at the place with this index.
    pub(super) fn get(&self, index: usize) -> Option<&[u8]> {
        Some(&self.text[self.found.get(index)?.clone()?])
    }
}

fn first_message(content: &[u8]) -> Result<&[u8], String> {
    let Some((prefix, rest)) = content.split_first_chunk::<PREFIX>() else {
        return Err("the reply has no message".to_owned());
    };
    let [_, length @ ..] = *prefix;
    let message = rest.get(..u32::from_be_bytes(length) as usize);
    message.ok_or_else(|| "the reply ended inside a message".to_owned())
}

/// A value on the wire.
#[derive(Debug, Clone, Copy)]
enum Value<'a> {
    Varint(u64),
    Eight([u8; 8]),
    Content(&'a [u8]),
    Four([u8; 4]),
}

/// The value at this path; none: it is not there.
fn at<'a>(
    mut message: &'a [u8],
    path: &[(u32, Option<u32>)],
) -> Result<Option<Value<'a>>, &'static str> {
    let mut found = None;
    for (step, (number, index)) in path.iter().enumerate() {
        if step > 0 {
            match found {
                Some(Value::Content(inside)) => message = inside,
                _ => return Ok(None),
            }
        }
        found = field(message, *number, *index)?;
    }
    Ok(found)
}

/// The occurrence of a field with this index; none: the last one.
fn field(
    mut message: &[u8],
    wanted: u32,
    index: Option<u32>,
) -> Result<Option<Value<'_>>, &'static str> {
    const BROKEN: &str = "its message breaks off";
    let (mut found, mut count) = (None, 0);
    while !message.is_empty() {
        let (tag, rest) = varint(message).ok_or(BROKEN)?;
        let (value, rest) = match tag & 7 {
            0 => varint(rest).map(|(bits, rest)| (Value::Varint(bits), rest)),
            1 => rest.split_first_chunk().map(|(bytes, rest)| (Value::Eight(*bytes), rest)),
            2 => varint(rest).and_then(|(length, rest)| {
                let (content, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                Some((Value::Content(content), rest))
            }),
            5 => rest.split_first_chunk().map(|(bytes, rest)| (Value::Four(*bytes), rest)),
            _ => return Err("its message has a group"),
        }
        .ok_or(BROKEN)?;
        message = rest;
        if tag >> 3 != u64::from(wanted) {
            continue;
        }
        match index {
            Some(index) if count == index => return Ok(Some(value)),
            Some(_) => count += 1,
            None => found = Some(value),
        }
    }
    Ok(found)
}

impl Value<'_> {
    /// Appends it as a text. False: it is of another type.
    fn tell(self, scalar: Scalar, out: &mut Vec<u8>) -> bool {
        // Writing into a Vec can't fail.
        let _ = match (scalar, self) {
            (Scalar::Text, Self::Content(content)) => out.write_all(content),
            (Scalar::Bool, Self::Varint(bits)) => write!(out, "{}", bits != 0),
            (Scalar::Unsigned, Self::Varint(bits)) => write!(out, "{bits}"),
            (Scalar::Signed, Self::Varint(bits)) => write!(out, "{}", bits.cast_signed()),
            (Scalar::Zigzag, Self::Varint(bits)) => {
                write!(out, "{}", (bits >> 1).cast_signed() ^ -(bits & 1).cast_signed())
            }
            (Scalar::Fixed32, Self::Four(bytes)) => write!(out, "{}", u32::from_le_bytes(bytes)),
            (Scalar::Sfixed32, Self::Four(bytes)) => write!(out, "{}", i32::from_le_bytes(bytes)),
            (Scalar::Float, Self::Four(bytes)) => write!(out, "{}", f32::from_le_bytes(bytes)),
            (Scalar::Fixed64, Self::Eight(bytes)) => write!(out, "{}", u64::from_le_bytes(bytes)),
            (Scalar::Sfixed64, Self::Eight(bytes)) => write!(out, "{}", i64::from_le_bytes(bytes)),
            (Scalar::Double, Self::Eight(bytes)) => write!(out, "{}", f64::from_le_bytes(bytes)),
            _ => return false,
        };
        true
    }
}

/// What a field that is not written says.
fn usual(scalar: Scalar) -> &'static [u8] {
    match scalar {
        Scalar::Text => b"",
        Scalar::Bool => b"false",
        _ => b"0",
    }
}

#[cfg(test)]
mod tests {
    use super::super::made::Making;
    use super::super::values::Values;
    use super::*;
    use crate::plan::traffic::{Made, Written};

    fn filled(messages: &[Vec<Piece>], values: &[&str]) -> Vec<u8> {
        let mut known = Values::default();
        values.iter().enumerate().for_each(|(at, text)| known.set(at, text.as_bytes()));
        let (mut out, making) = (Vec::new(), Making { seq: 6, ..Making::default() });
        Messages::new(messages).fill(Known { values: &known, making }, &mut out);
        out
    }

    fn value(index: usize) -> Part {
        Part::Value(index, Written::Plain)
    }

    #[test]
    fn lengths_are_those_of_what_was_laid_in() {
        let long = "x".repeat(300);
        for (text, length) in [("", &[0][..]), ("tea", &[3]), (&long, &[0xac, 2])] {
            let inside =
                vec![Piece::Bytes(vec![0x0a]), Piece::Sized(vec![Piece::Text(vec![value(0)])])];
            let message = vec![Piece::Bytes(vec![0x4a]), Piece::Sized(inside)];
            let inner = [&[0x0a], length, text.as_bytes()].concat();
            let mut outer = vec![0x4a];
            let mut size = [0; 10];
            let wide = width(inner.len() as u64);
            put_varint(inner.len() as u64, &mut size[..wide]);
            outer.extend_from_slice(&size[..wide]);
            outer.extend_from_slice(&inner);
            let prefix = [&[0][..], &(outer.len() as u32).to_be_bytes()].concat();
            assert_eq!(filled(&[message], &[text]), [prefix, outer].concat(), "{text}");
        }
    }

    #[test]
    fn table_of_numbers_both_ways() {
        let rows = [
            (Scalar::Unsigned, "300", &[0xac, 2][..]),
            (Scalar::Signed, "-1", &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
            (Scalar::Zigzag, "-2", &[3]),
            (
                Scalar::Zigzag,
                "9223372036854775807",
                &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
            ),
            (Scalar::Bool, "true", &[1]),
            (Scalar::Fixed32, "7", &[7, 0, 0, 0]),
            (Scalar::Sfixed32, "-1", &[255; 4]),
            (Scalar::Fixed64, "7", &[7, 0, 0, 0, 0, 0, 0, 0]),
            (Scalar::Sfixed64, "-1", &[255; 8]),
            (Scalar::Float, "2.5", &[0, 0, 32, 64]),
            (Scalar::Double, "2.5", &[0, 0, 0, 0, 0, 0, 4, 64]),
        ];
        for (scalar, digits, bytes) in rows {
            let wire = match scalar {
                Scalar::Fixed32 | Scalar::Sfixed32 | Scalar::Float => 5,
                Scalar::Fixed64 | Scalar::Sfixed64 | Scalar::Double => 1,
                _ => 0,
            };
            let tag = vec![2 << 3 | wire];
            let message = vec![Piece::Bytes(tag.clone()), Piece::Number(value(0), scalar)];
            let content = filled(&[message], &[digits]);
            assert_eq!(content[PREFIX..], [&tag[..], bytes].concat(), "{scalar:?} {digits}");
            let place = FieldPlace {
                name: "$.n".to_owned(),
                path: vec![(2, None)],
                scalar,
                has_usual: false,
            };
            let mut fields = Fields::default();
            fields.find(&content, &[place]).expect("a message");
            assert_eq!(fields.get(0), Some(digits.as_bytes()), "{scalar:?}");
        }
    }

    #[test]
    fn fields_are_found_by_their_path() {
        // 1: "a", 9: {2: "b"}, 9: {2: "c"}; 3 is not written.
        let message = [0x0a, 1, b'a', 0x4a, 3, 0x12, 1, b'b', 0x4a, 3, 0x12, 1, b'c'];
        let content = [&[0, 0, 0, 0, message.len() as u8][..], &message].concat();
        let place = |path: &[(u32, Option<u32>)], scalar, has_usual| FieldPlace {
            name: "it".to_owned(),
            path: path.to_vec(),
            scalar,
            has_usual,
        };
        let rows = [
            (place(&[(1, None)], Scalar::Text, false), Some("a")),
            (place(&[(9, None), (2, None)], Scalar::Text, false), Some("c")),
            (place(&[(9, Some(0)), (2, None)], Scalar::Text, false), Some("b")),
            (place(&[(9, Some(2)), (2, None)], Scalar::Text, false), None),
            (place(&[(3, None)], Scalar::Signed, true), Some("0")),
            (place(&[(3, None), (1, None)], Scalar::Text, true), Some("")),
            (place(&[(3, None)], Scalar::Bool, false), None),
        ];
        let (places, wanted): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let mut fields = Fields::default();
        fields.find(&content, &places).expect("a message");
        for (index, wanted) in wanted.iter().enumerate() {
            assert_eq!(fields.get(index), wanted.map(str::as_bytes), "{index}");
        }
        let other = [place(&[(1, None)], Scalar::Signed, false)];
        assert!(fields.find(&content, &other).unwrap_err().contains("another type"));
        assert!(fields.find(&[], &other).unwrap_err().contains("no message"));
        assert!(fields.find(&content[..9], &other).unwrap_err().contains("inside a message"));
    }

    #[test]
    fn a_message_without_holes_is_constant() {
        let text = |part| vec![vec![Piece::Sized(vec![Piece::Text(vec![part])])]];
        assert!(Messages::new(&text(Part::Text("a".to_owned()))).are_constant());
        assert!(!Messages::new(&text(Part::Make(Made::Seq))).are_constant());
        assert_eq!(filled(&text(Part::Make(Made::Seq)), &[]), [0, 0, 0, 0, 2, 1, b'7']);
        assert!(filled(&[], &[]).is_empty());
    }
}
