//! Messages of gRPC in the content of a reply: how many there are, and whether each is as the plan says.
//!
//! Knows the wire format of Protocol Buffers and the table that a plan was made into. Must not know names, nor
//! where a message came from. Nothing is allocated for a message that is right.

use wiretrial_proto::grpc::{Deframer, Part};

use crate::plan::wire::{Field, Messages, Signed, Wire, WireType, varint};

use super::excerpt::escaped;

/// The longest message that is looked at, bytes.
const MOST_LOOKED_AT: u32 = 16 << 20;
/// Bytes of a value that are shown.
const SHOWN: usize = 24;

/// How far the messages of a reply have come.
#[derive(Debug, Default)]
pub(super) struct Come {
    frames: Deframer,
    count: u32,
    /// How often each field came so far, of the message that is looked at and of those around it.
    counts: Vec<u32>,
}

impl Come {
    pub(super) fn clear(&mut self) {
        self.frames = Deframer::default();
        self.count = 0;
    }

    /// Takes in a reply that is there whole; `begun`: where a message may be put together, which it is not.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn all(
        &mut self,
        right: &Messages,
        content: &[u8],
        begun: &mut Vec<u8>,
    ) -> Result<(), String> {
        self.clear();
        self.piece(right, content, begun)?;
        self.finish(right)
    }

    /// Takes in the next piece of a reply; `begun` holds what came of a message that is not whole.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn piece(
        &mut self,
        right: &Messages,
        mut piece: &[u8],
        begun: &mut Vec<u8>,
    ) -> Result<(), String> {
        while let Some(part) = self.frames.next(&mut piece).map_err(str::to_owned)? {
            let Part { piece, begins, ends, .. } = part;
            self.count = self.count.saturating_add(u32::from(ends));
            let Some(wire) = &right.wire else { continue };
            if begins.is_some_and(|length| length > MOST_LOOKED_AT) {
                let most = MOST_LOOKED_AT >> 20;
                return Err(format!("a message is over {most} MiB, too much to look at"));
            }
            if begins.is_some() && ends {
                self.look(wire, piece)?;
                continue;
            }
            begun.extend_from_slice(piece);
            if ends {
                let looked = self.look(wire, begun);
                begun.clear();
                looked?;
            }
        }
        Ok(())
    }

    /// All of it came.
    ///
    /// # Errors
    /// There are too few messages, or too many.
    pub(super) fn finish(&self, right: &Messages) -> Result<(), String> {
        let (least, most) = right.count;
        if !self.frames.is_between() {
            return Err("it ended inside a message".to_owned());
        }
        if (least..=most).contains(&self.count) {
            return Ok(());
        }
        let wanted = match (least, most) {
            (least, most) if least == most => format!("{least}"),
            (least, u32::MAX) => format!("{least} or more"),
            (least, most) => format!("{least} to {most}"),
        };
        Err(format!("messages of the reply: {}, not {wanted}", self.count))
    }

    fn look(&mut self, wire: &Wire, message: &[u8]) -> Result<(), String> {
        self.counts.clear();
        message_of(wire, 0, message, &mut self.counts).map_err(|fault| {
            let path: Vec<_> = fault.path.iter().rev().map(u32::to_string).collect();
            let place =
                if path.is_empty() { String::new() } else { format!("field {} ", path.join(".")) };
            match self.count {
                0 | 1 => format!("{place}{}", fault.text),
                count => format!("{place}{} (message {count} of the reply)", fault.text),
            }
        })
    }
}

/// What is wrong with a message.
struct Fault {
    /// Numbers of fields, the innermost first.
    path: Vec<u32>,
    text: String,
}

#[cold]
fn fault(number: Option<u32>, text: impl Into<String>) -> Fault {
    Fault { path: number.into_iter().collect(), text: text.into() }
}

/// Looks at a message, which is this one of the table's.
fn message_of(
    wire: &Wire,
    index: usize,
    mut bytes: &[u8],
    counts: &mut Vec<u32>,
) -> Result<(), Fault> {
    let message = &wire.messages[index];
    let own = counts.len();
    counts.resize(own + message.fields.len(), 0);
    let mut expected = 0;
    while !bytes.is_empty() {
        let (tag, rest) = varint(bytes).ok_or_else(|| fault(None, "a tag that breaks off"))?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| (1..1 << 29).contains(number));
        let Some(number) = number else {
            return Err(fault(None, "a tag without a field's number"));
        };
        let (value, rest) = value(tag as u8 & 7, rest).map_err(|text| fault(Some(number), text))?;
        bytes = rest;
        let Some(place) = place_of(&message.fields, number, &mut expected) else {
            if message.others {
                continue;
            }
            return Err(fault(Some(number), "is none that the message may have"));
        };
        let field = &message.fields[place];
        counts[own + place] += 1;
        if counts[own + place] > field.count.1 {
            let most = field.count.1;
            return Err(fault(Some(number), format!("came more than {most} times")));
        }
        is_right(field, value).map_err(|text| fault(Some(number), text))?;
        if let (Some(inside), Value::Len(content)) = (field.message, value) {
            message_of(wire, inside, content, counts).map_err(|mut fault| {
                fault.path.push(number);
                fault
            })?;
        }
    }
    for (field, count) in message.fields.iter().zip(&counts[own..]) {
        if *count < field.count.0 {
            let least = field.count.0;
            let text = match count {
                0 => "is missing".to_owned(),
                _ => format!("came {count} times, not {least}"),
            };
            return Err(fault(Some(field.number), text));
        }
    }
    counts.truncate(own);
    Ok(())
}

/// Where the field with this number stands: in most messages at the place of the last one or behind it.
#[inline]
fn place_of(fields: &[Field], number: u32, expected: &mut usize) -> Option<usize> {
    let near =
        (*expected..fields.len().min(*expected + 2)).find(|&place| fields[place].number == number);
    let place = near.or_else(|| fields.binary_search_by_key(&number, |field| field.number).ok())?;
    *expected = place;
    Some(place)
}

/// A field's value.
#[derive(Debug, Clone, Copy)]
enum Value<'a> {
    Varint(u64),
    I64(u64),
    Len(&'a [u8]),
    I32(u32),
}

/// The value at the front of these bytes, and what is behind it.
#[inline]
fn value(wire: u8, bytes: &[u8]) -> Result<(Value<'_>, &[u8]), &'static str> {
    const BROKEN: &str = "has a value that breaks off";
    match wire {
        0 => varint(bytes).map(|(value, rest)| (Value::Varint(value), rest)).ok_or(BROKEN),
        1 => {
            let (value, rest) = bytes.split_first_chunk().ok_or(BROKEN)?;
            Ok((Value::I64(u64::from_le_bytes(*value)), rest))
        }
        2 => {
            let (length, rest) = varint(bytes).ok_or(BROKEN)?;
            let length = usize::try_from(length).map_err(|_| BROKEN)?;
            let (content, rest) = rest.split_at_checked(length).ok_or(BROKEN)?;
            Ok((Value::Len(content), rest))
        }
        5 => {
            let (value, rest) = bytes.split_first_chunk().ok_or(BROKEN)?;
            Ok((Value::I32(u32::from_le_bytes(*value)), rest))
        }
        3 | 4 => Err("is a group, which nobody writes any more"),
        _ => Err("has a wire type that there is not"),
    }
}

#[inline]
fn is_right(field: &Field, value: Value<'_>) -> Result<(), String> {
    let bits = match (field.wire, value) {
        (WireType::Varint, Value::Varint(bits)) | (WireType::I64, Value::I64(bits)) => bits,
        (WireType::I32, Value::I32(bits)) => bits.into(),
        (WireType::Len, Value::Len(content)) => return content_is_right(field, content),
        (wanted, came) => return Err(other_type(wanted, came)),
    };
    if !field.numbers.is_empty() && !field.numbers.contains(&bits) {
        return Err(format!("had {}, not {}", shown(field, bits), all(field)));
    }
    match field.range {
        Some((least, most)) if !(least..=most).contains(&signed(field.signed, bits)) => {
            Err(format!("had {}, outside of its range", shown(field, bits)))
        }
        _ => Ok(()),
    }
}

#[inline]
fn content_is_right(field: &Field, content: &[u8]) -> Result<(), String> {
    let (least, most) = field.length;
    if !(least..=most).contains(&(content.len() as u64)) {
        return Err(format!("had {} bytes, outside of its length", content.len()));
    }
    if field.utf8 && str::from_utf8(content).is_err() {
        return Err("had a text that is no UTF-8".to_owned());
    }
    if !field.contents.is_empty() && !field.contents.iter().any(|each| each == content) {
        let came = escaped(&content[..content.len().min(SHOWN)]);
        let wanted = escaped(&field.contents[0][..field.contents[0].len().min(SHOWN)]);
        let more = match field.contents.len() {
            1 => String::new(),
            count => format!(" or one of {} others", count - 1),
        };
        return Err(format!("had '{came}', not '{wanted}'{more}"));
    }
    Ok(())
}

/// The number that the bits of a varint are.
#[inline]
fn signed(signed: Signed, bits: u64) -> i128 {
    match signed {
        Signed::No => bits.into(),
        Signed::Int => bits.cast_signed().into(),
        Signed::Zigzag => ((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed()).into(),
    }
}

#[cold]
fn shown(field: &Field, bits: u64) -> String {
    match field.wire {
        WireType::Varint => signed(field.signed, bits).to_string(),
        WireType::I32 => format!("{bits:#010x}"),
        WireType::I64 | WireType::Len => format!("{bits:#018x}"),
    }
}

#[cold]
fn all(field: &Field) -> String {
    let all: Vec<_> = field.numbers.iter().take(8).map(|&bits| shown(field, bits)).collect();
    all.join(" or ")
}

#[cold]
fn other_type(wanted: WireType, came: Value<'_>) -> String {
    let came = match came {
        Value::Varint(_) => "varint",
        Value::I64(_) => "i64",
        Value::Len(_) => "len",
        Value::I32(_) => "i32",
    };
    let wanted = match wanted {
        WireType::Varint => "varint",
        WireType::I64 => "i64",
        WireType::Len => "len",
        WireType::I32 => "i32",
    };
    format!("had wire type {came}, not {wanted}")
}

#[cfg(test)]
mod tests;
