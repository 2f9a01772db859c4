//! What messages are like, as a table: found by number, nothing is looked up by name.
//!
//! Knows the rules for fields. Must not know messages.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Number;

use super::calls::{FieldDocument, WireDocument};

pub use super::calls::{SignedDocument as Signed, WireTypeDocument as WireType};

/// Fields of one message.
const MOST_FIELDS: usize = 64;
/// Messages inside of messages.
const DEEPEST: usize = 16;
/// The highest number of a field, and those that are kept free for the format itself.
const HIGHEST: u32 = (1 << 29) - 1;

/// What a right message of a reply is, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Messages {
    /// What each is like; none: anything.
    pub wire: Option<Wire>,
    /// How many there are, from and to and with.
    pub count: (u32, u32),
}

/// Messages, each inside of one before it but for the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wire {
    /// Never empty.
    pub messages: Vec<Message>,
}

/// What a message is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// In the order of their numbers.
    pub fields: Vec<Field>,
    /// It may have fields of other numbers.
    pub others: bool,
}

/// What a field is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its number.
    pub number: u32,
    /// How its value stands on the wire.
    pub wire: WireType,
    /// How often it occurs, from and to and with.
    pub count: (u32, u32),
    /// The values of a field without a length: one of these; empty: any.
    pub numbers: Vec<u64>,
    /// The contents of a field with a length: one of these; empty: any.
    pub contents: Vec<Vec<u8>>,
    /// Bytes of its content, from and to and with.
    pub length: (u64, u64),
    /// Of a varint, from and to and with; none: any.
    pub range: Option<(i128, i128)>,
    /// Which number the bits of a varint are.
    pub signed: Signed,
    /// Its content is a text.
    pub utf8: bool,
    /// Its content is this one of the messages.
    pub message: Option<usize>,
}

impl Wire {
    /// The table of a message and of those inside of it.
    ///
    /// # Errors
    /// What is wrong with it, and of which field.
    pub(super) fn new(document: &WireDocument) -> Result<Self, String> {
        let mut made = Self { messages: Vec::new() };
        made.add(document, "", 1)?;
        Ok(made)
    }

    fn add(&mut self, document: &WireDocument, path: &str, depth: usize) -> Result<usize, String> {
        let WireDocument { fields, others } = document;
        let shown = if path.is_empty() { "the message" } else { path };
        if depth > DEEPEST {
            return Err(format!("{shown}: over {DEEPEST} messages inside each other"));
        }
        if fields.len() > MOST_FIELDS {
            return Err(format!("{shown} has over {MOST_FIELDS} fields; let others be true"));
        }
        let mut numbers = BTreeSet::new();
        if let Some(twice) = fields.iter().find(|field| !numbers.insert(field.number)) {
            return Err(format!("{shown} has two fields {}", twice.number));
        }
        let place = self.messages.len();
        self.messages.push(Message { fields: Vec::new(), others: *others });
        let mut made = Vec::with_capacity(fields.len());
        for document in fields {
            let path = match path {
                "" => format!("field {}", document.number),
                path => format!("{path}.{}", document.number),
            };
            let mut field = field(document).map_err(|fault| format!("{path}: {fault}"))?;
            if let Some(inside) = &document.message {
                field.message = Some(self.add(inside, &path, depth + 1)?);
            }
            made.push(field);
        }
        made.sort_unstable_by_key(|field| field.number);
        self.messages[place].fields = made;
        Ok(place)
    }
}

fn field(document: &FieldDocument) -> Result<Field, String> {
    let FieldDocument { number, wire, least, most, values, length, range, signed, utf8, message } =
        document;
    if !(1..=HIGHEST).contains(number) {
        return Err(format!("numbers of fields are 1 to {HIGHEST}"));
    }
    let count = (*least, most.unwrap_or(u32::MAX));
    if count.0 > count.1 {
        return Err(format!("{} to {} times: exchange them", count.0, count.1));
    }
    if *wire != WireType::Len && (length.is_some() || *utf8 || message.is_some()) {
        return Err("length, utf8 and message are of wire type len alone".to_owned());
    }
    if *wire != WireType::Varint && range.is_some() {
        return Err("a range is of wire type varint alone".to_owned());
    }
    let (least, most) =
        length.map_or((0, u64::MAX), |(least, most)| (least, most.unwrap_or(u64::MAX)));
    if least > most {
        return Err(format!("a length of {least} to {most}: exchange them"));
    }
    let bound = |number: &Option<Number>, none| match number {
        None => Ok(none),
        Some(number) => number
            .as_i128()
            .ok_or_else(|| format!("a range with {number}, which is no whole number")),
    };
    let range = match range {
        None => None,
        Some((least, most)) => Some((bound(least, i128::MIN)?, bound(most, i128::MAX)?)),
    };
    if let Some((least, most)) = range.filter(|(least, most)| least > most) {
        return Err(format!("a range of {least} to {most}: exchange them"));
    }
    let decoded = values.iter().map(|text| BASE64_STANDARD.decode(text));
    let decoded = decoded.collect::<Result<Vec<_>, _>>();
    let decoded = decoded.map_err(|error| format!("values: not base64: {error}"))?;
    let (mut numbers, mut contents) = (Vec::new(), Vec::new());
    if *wire == WireType::Len {
        contents = decoded;
    } else {
        let each = decoded.iter().map(|bytes| number_of(*wire, bytes));
        let each: Option<Vec<u64>> = each.collect();
        numbers = each.ok_or("values: one is not as its wire type is")?;
    }
    Ok(Field {
        number: *number,
        wire: *wire,
        count,
        numbers,
        contents,
        length: (least, most),
        range,
        signed: *signed,
        utf8: *utf8,
        message: None,
    })
}

/// The bits of a value that is no content; none: it is not one value, and nothing else.
fn number_of(wire: WireType, bytes: &[u8]) -> Option<u64> {
    match wire {
        WireType::Varint => match varint(bytes)? {
            (value, []) => Some(value),
            _ => None,
        },
        WireType::I64 => Some(u64::from_le_bytes(bytes.try_into().ok()?)),
        WireType::I32 => Some(u32::from_le_bytes(bytes.try_into().ok()?).into()),
        WireType::Len => None,
    }
}

/// The number at the front of these bytes, and what is behind it; none: there is none. What is beyond 64 bits
/// is left out, as all readers of the format do.
#[inline]
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (place, &byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some((value, &bytes[place + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(document: Value) -> Result<Wire, String> {
        Wire::new(&serde_json::from_value(document).expect("a document"))
    }

    #[test]
    fn messages_stand_in_one_table() {
        let wire = read(json!({"fields": [
            {"number": 4, "wire": "varint", "values": ["rAI=", "AA=="]},
            {"number": 1, "wire": "len", "least": 1, "message": {
                "fields": [{"number": 2, "wire": "i32", "values": ["AQAAAA=="]}], "others": true,
            }},
        ]}));
        let Wire { messages } = wire.expect("a table");
        let [whole, inside] = &messages[..] else { panic!("two messages") };
        assert!(!whole.others && inside.others);
        assert_eq!(whole.fields.iter().map(|field| field.number).collect::<Vec<_>>(), [1, 4]);
        assert_eq!((whole.fields[0].message, whole.fields[0].count), (Some(1), (1, u32::MAX)));
        assert_eq!(whole.fields[1].numbers, [300, 0]);
        assert_eq!(inside.fields[0].numbers, [1]);
    }

    #[test]
    fn table_of_faults() {
        let mut deep = json!({});
        for _ in 0..DEEPEST {
            deep = json!({"fields": [{"number": 1, "wire": "len", "message": deep}]});
        }
        let field = |more: Value| {
            let mut field = json!({"number": 3, "wire": "varint"});
            field
                .as_object_mut()
                .expect("an object")
                .extend(more.as_object().expect("one").clone());
            json!({"fields": [field]})
        };
        let many: Vec<_> = (1..=65).map(|n| json!({"number": n, "wire": "i64"})).collect();
        let rows = [
            (json!({"fields": many}), "the message has over 64 fields"),
            (deep, "field 1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1: over 16 messages"),
            (field(json!({"number": 0})), "field 0: numbers of fields are 1 to"),
            (field(json!({"least": 2, "most": 1})), "field 3: 2 to 1 times: exchange them"),
            (
                field(json!({"utf8": true})),
                "field 3: length, utf8 and message are of wire type len",
            ),
            (field(json!({"wire": "i64", "range": [1, 2]})), "field 3: a range is of wire type"),
            (field(json!({"range": [2, 1]})), "field 3: a range of 2 to 1: exchange them"),
            (field(json!({"wire": "len", "length": [2, 1]})), "field 3: a length of 2 to 1"),
            (field(json!({"values": ["!"]})), "field 3: values: not base64"),
            (field(json!({"values": ["rA=="]})), "field 3: values: one is not as its wire type"),
            (field(json!({"values": ["AAA="]})), "field 3: values: one is not as its wire type"),
            (
                json!({"fields": [{"number": 1, "wire": "i64"}, {"number": 1, "wire": "i32"}]}),
                "the message has two fields 1",
            ),
        ];
        for (document, says) in rows {
            let fault = read(document).expect_err(says);
            assert!(fault.starts_with(says) && !fault.contains('\n'), "{fault}");
        }
    }

    #[test]
    fn table_of_varints() {
        let long = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        for (bytes, expected) in [
            (&[0][..], Some((0, 0))),
            (&[0x7f, 9], Some((127, 1))),
            (&[0xac, 0x02], Some((300, 0))),
            (&long, Some((u64::MAX, 0))),
            (&[0x80], None),
            (&[], None),
            (&[0x80; 11], None),
        ] {
            let found = varint(bytes).map(|(value, rest)| (value, rest.len()));
            assert_eq!(found, expected, "{bytes:?}");
        }
    }
}
