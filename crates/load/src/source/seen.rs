//! Something in a reply, as it was seen: its type, how many it has in it, what it is equal to.
//!
//! Knows values one by one. Must not know where in a reply they stand.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use serde_json::Value;

use super::excerpt;
use crate::plan::shape::Type;

/// A value of a reply.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seen<'a> {
    /// It is not there.
    Nothing,
    /// JSON, as it stands in the reply.
    Json(&'a str),
    /// A list of such, each at its place in a body.
    List {
        /// The whole.
        body: &'a [u8],
        /// Where the elements are.
        places: &'a [Range<usize>],
    },
    /// Text, or bytes that are meant to be.
    Text(&'a [u8]),
    /// A number that the engine has counted.
    Number(u64),
}

/// What JSON is.
enum Kind<'a> {
    Null,
    Boolean,
    Number(&'a str),
    Text(Cow<'a, str>),
    List,
    Object,
}

fn kind(json: &str) -> Kind<'_> {
    match json.as_bytes().first() {
        Some(b'n') => Kind::Null,
        Some(b't' | b'f') => Kind::Boolean,
        Some(b'[') => Kind::List,
        Some(b'{') => Kind::Object,
        Some(b'"') => Kind::Text(unquoted(json)),
        _ => Kind::Number(json),
    }
}

/// What a string of JSON says; most say it without escapes.
fn unquoted(json: &str) -> Cow<'_, str> {
    let inside = &json[1..json.len() - 1];
    if !inside.contains('\\') {
        return Cow::Borrowed(inside);
    }
    // Half a surrogate is valid JSON, and no text.
    Cow::Owned(serde_json::from_str(json).unwrap_or_else(|_| inside.to_owned()))
}

impl<'a> Seen<'a> {
    pub(super) fn is_there(&self) -> bool {
        !matches!(self, Self::Nothing)
    }

    /// Its elements, members or characters; none: it has no such.
    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Self::Nothing | Self::Number(_) => None,
            Self::Text(bytes) => Some(String::from_utf8_lossy(bytes).chars().count() as u64),
            Self::List { places, .. } => Some(places.len() as u64),
            Self::Json(json) => match kind(json) {
                Kind::Text(text) => Some(text.chars().count() as u64),
                Kind::List => {
                    Some(serde_json::from_str::<Vec<serde::de::IgnoredAny>>(json).ok()?.len() as u64)
                }
                Kind::Object => {
                    let members: serde_json::Map<String, Value> =
                        serde_json::from_str(json).ok()?;
                    Some(members.len() as u64)
                }
                Kind::Null | Kind::Boolean | Kind::Number(_) => None,
            },
        }
    }

    /// It as text, where it is one.
    pub(super) fn text(&self) -> Option<Cow<'a, [u8]>> {
        match self {
            Self::Text(bytes) => Some(Cow::Borrowed(*bytes)),
            Self::Json(json) => match kind(json) {
                Kind::Text(Cow::Borrowed(text)) => Some(Cow::Borrowed(text.as_bytes())),
                Kind::Text(Cow::Owned(text)) => Some(Cow::Owned(text.into_bytes())),
                _ => None,
            },
            Self::Nothing | Self::List { .. } | Self::Number(_) => None,
        }
    }

    /// It as it is captured: a text as it is, anything else as JSON.
    pub(super) fn captured(&self) -> Option<Cow<'a, [u8]>> {
        match self {
            Self::Nothing => None,
            Self::Number(number) => Some(Cow::Owned(number.to_string().into_bytes())),
            Self::List { body, places } => {
                let all: Vec<_> = elements(body, places).collect();
                Some(Cow::Owned(format!("[{}]", all.join(",")).into_bytes()))
            }
            Self::Json(json) => Some(self.text().unwrap_or(Cow::Borrowed(json.as_bytes()))),
            Self::Text(bytes) => Some(Cow::Borrowed(*bytes)),
        }
    }

    pub(super) fn is_of(&self, named: Type) -> bool {
        match self {
            Self::Nothing => false,
            Self::List { .. } => named == Type::List,
            Self::Number(_) => matches!(named, Type::Number | Type::Integer),
            Self::Text(bytes) => is_text_of(bytes, named),
            Self::Json(json) => match kind(json) {
                Kind::Null => named == Type::Null,
                Kind::Boolean => named == Type::Boolean,
                Kind::List => named == Type::List,
                Kind::Object => named == Type::Object,
                Kind::Text(text) => is_text_of(text.as_bytes(), named),
                Kind::Number(digits) => {
                    let is_fraction = digits.contains(['.', 'e', 'E']);
                    match named {
                        Type::Number => true,
                        Type::Integer => !is_fraction,
                        Type::Float => is_fraction,
                        _ => false,
                    }
                }
            },
        }
    }

    /// A number without a fraction, however it is written: `1.0` and `1e3` are two.
    pub(super) fn is_whole(&self) -> bool {
        match self {
            Self::Number(_) => true,
            Self::Json(json) => matches!(kind(json), Kind::Number(digits) if is_whole(digits)),
            Self::Nothing | Self::List { .. } | Self::Text(_) => false,
        }
    }

    /// How it compares with a value; none where these don't.
    pub(super) fn compared(&self, with: &Value) -> Option<Ordering> {
        match (self, with) {
            (Self::Number(number), Value::Number(with)) => {
                Number::Whole((*number).into()).compared(Number::of(with)?)
            }
            (Self::Json(json), Value::Number(with)) => match kind(json) {
                Kind::Number(digits) => Number::read(digits)?.compared(Number::of(with)?),
                _ => None,
            },
            (_, Value::String(with)) => Some((*self.text()?).cmp(with.as_bytes())),
            _ => self.equals(with).then_some(Ordering::Equal),
        }
    }

    fn equals(&self, with: &Value) -> bool {
        match self {
            Self::Json(json) => serde_json::from_str(json).is_ok_and(|own: Value| same(&own, with)),
            Self::List { body, places } => with.as_array().is_some_and(|with| {
                let mut both = elements(body, places).zip(with);
                places.len() == with.len() && both.all(|(own, with)| Seen::Json(own).equals(with))
            }),
            Self::Nothing | Self::Text(_) | Self::Number(_) => false,
        }
    }

    /// How it compares with a text: a number by its digits, what has a name by that.
    pub(super) fn compared_with_text(&self, with: &[u8]) -> Option<Ordering> {
        let digits = || str::from_utf8(with).ok().map(str::trim);
        match self {
            Self::Number(number) => {
                Number::Whole((*number).into()).compared(Number::read(digits()?)?)
            }
            Self::Json(json) => match kind(json) {
                Kind::Number(own) => Number::read(own)?.compared(Number::read(digits()?)?),
                Kind::Null | Kind::Boolean => (json.as_bytes() == with).then_some(Ordering::Equal),
                Kind::Text(text) => Some(text.as_bytes().cmp(with)),
                Kind::List | Kind::Object => None,
            },
            Self::Text(bytes) => Some((*bytes).cmp(with)),
            Self::Nothing | Self::List { .. } => None,
        }
    }

    /// Has it an element of which this holds? None: it has no elements.
    pub(super) fn any_element(&self, holds: impl Fn(&Seen<'_>) -> bool) -> Option<bool> {
        match self {
            Self::List { body, places } => {
                Some(elements(body, places).any(|element| holds(&Seen::Json(element))))
            }
            Self::Json(json) if matches!(kind(json), Kind::List) => {
                let all: Vec<&serde_json::value::RawValue> = serde_json::from_str(json).ok()?;
                Some(all.iter().any(|element| holds(&Seen::Json(element.get()))))
            }
            _ => None,
        }
    }

    /// It on one line, as people read it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Nothing => "not there".to_owned(),
            Self::Text(bytes) => format!("'{}'", excerpt(bytes)),
            Self::Json(json) => excerpt(json.as_bytes()),
            Self::Number(_) | Self::List { .. } => excerpt(&self.captured().unwrap_or_default()),
        }
    }
}

/// JSON at these places of a body.
fn elements<'a>(
    body: &'a [u8],
    places: &'a [Range<usize>],
) -> impl Iterator<Item = &'a str> + use<'a> {
    // They are those of values in JSON, which is UTF-8.
    places.iter().map(|place| str::from_utf8(&body[place.clone()]).unwrap_or_default())
}

/// Whole numbers are compared exactly, others as binary fractions.
#[derive(Debug, Clone, Copy)]
enum Number {
    Whole(i128),
    Other(f64),
}

impl Number {
    fn read(digits: &str) -> Option<Self> {
        digits.parse().map(Self::Whole).or_else(|_| digits.parse().map(Self::Other)).ok()
    }

    fn of(number: &serde_json::Number) -> Option<Self> {
        let whole = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
        whole.map(Self::Whole).or_else(|| number.as_f64().map(Self::Other))
    }

    fn compared(self, with: Self) -> Option<Ordering> {
        let fraction = |number| match number {
            Self::Whole(whole) => whole as f64,
            Self::Other(fraction) => fraction,
        };
        match (self, with) {
            (Self::Whole(own), Self::Whole(with)) => Some(own.cmp(&with)),
            _ => fraction(self).partial_cmp(&fraction(with)),
        }
    }
}

/// Are these the same, but for how their numbers are written?
fn same(own: &Value, with: &Value) -> bool {
    match (own, with) {
        (Value::Number(own), Value::Number(with)) => {
            let both = Number::of(own).zip(Number::of(with));
            both.and_then(|(own, with)| own.compared(with)) == Some(Ordering::Equal)
        }
        (Value::Array(own), Value::Array(with)) => {
            own.len() == with.len() && own.iter().zip(with).all(|(own, with)| same(own, with))
        }
        (Value::Object(own), Value::Object(with)) => {
            let has =
                |(name, own): (&String, &Value)| with.get(name).is_some_and(|it| same(own, it));
            own.len() == with.len() && own.iter().all(has)
        }
        _ => own == with,
    }
}

/// Has this number of JSON no fraction, whatever its exponent is?
fn is_whole(digits: &str) -> bool {
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, ""));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() && whole.trim_matches(['-', '0']).is_empty() {
        return true;
    }
    let is_down = exponent.starts_with('-');
    let shift = match exponent.trim_start_matches(['+', '-']) {
        "" => 0,
        shift => shift.parse().unwrap_or(usize::MAX),
    };
    let zeros = whole.len() - whole.trim_end_matches('0').len();
    match (fraction.len(), is_down) {
        (0, false) => true,
        (0, true) => shift <= zeros,
        (places, false) => shift >= places,
        // 1.5e-0, too.
        (_, true) => false,
    }
}

fn is_text_of(text: &[u8], named: Type) -> bool {
    match named {
        Type::String => true,
        Type::Uuid => is_uuid(text),
        Type::Time => is_time(text),
        _ => false,
    }
}

/// 8-4-4-4-12 hexadecimal digits.
fn is_uuid(text: &[u8]) -> bool {
    let is_right = |(place, byte): (usize, &u8)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.iter().enumerate().all(is_right)
}

/// RFC 3339 section 5.6.
fn is_time(text: &[u8]) -> bool {
    let digits = |place: usize, count: usize, most: u32| {
        let found = text.get(place..place + count).filter(|it| it.iter().all(u8::is_ascii_digit));
        let number =
            found.map(|it| it.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')));
        number.is_some_and(|number| number <= most)
    };
    let marks = [(4, b"-".as_slice()), (7, b"-"), (10, b"Tt "), (13, b":"), (16, b":")];
    let is_marked =
        marks.iter().all(|(place, of)| text.get(*place).is_some_and(|it| of.contains(it)));
    let numbers = [(0, 4, 9999), (5, 2, 12), (8, 2, 31), (11, 2, 23), (14, 2, 59), (17, 2, 60)];
    if !is_marked || !numbers.iter().all(|(place, count, most)| digits(*place, *count, *most)) {
        return false;
    }
    let mut zone = 19;
    if text.get(zone) == Some(&b'.') {
        let fraction = text[zone + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if fraction == 0 {
            return false;
        }
        zone += 1 + fraction;
    }
    match text.get(zone) {
        Some(b'Z' | b'z') => text.len() == zone + 1,
        Some(b'+' | b'-') => {
            let is_marked = text.get(zone + 3) == Some(&b':') && text.len() == zone + 6;
            is_marked && digits(zone + 1, 2, 23) && digits(zone + 4, 2, 59)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The elements of `[1,"b",2]` at these places.
    const fn list(places: &[Range<usize>]) -> Seen<'_> {
        Seen::List { body: b"[1,\"b\",2]", places }
    }

    #[test]
    fn table_of_whole_numbers() {
        let whole = "0 -0.0 0e-9 1 1.0 -20.00 1e3 1.5e1 1.25E+2 2500e-2 1e99999999999999999999";
        let fractions = "0.5 1.01 1e-1 25e-2 1.5e0 1.25e1 -1.5e-3 10e-99999999999999999999";
        assert!(whole.split(' ').all(|digits| Seen::Json(digits).is_whole()));
        assert!(!fractions.split(' ').any(|digits| Seen::Json(digits).is_whole()));
        assert!(!["\"1\"", "null", "[1]"].iter().any(|json| Seen::Json(json).is_whole()));
    }

    #[test]
    fn table_of_types() {
        let rows = [
            ("1", "number integer"),
            ("-1.5", "number float"),
            ("1e3", "number float"),
            ("true", "boolean"),
            ("null", "null"),
            ("[]", "list"),
            ("{}", "object"),
            ("\"a\"", "string"),
            ("\"0f8fad5b-d9cb-469f-a165-70867728950e\"", "string uuid"),
            ("\"2024-02-29T12:00:00Z\"", "string time"),
            ("\"2024-02-29 12:00:00.123456+05:30\"", "string time"),
            ("\"2024-02-29T12:00:00\"", "string"),
            ("\"2024-13-29T12:00:00Z\"", "string"),
            ("\"2024-02-29T12:00:00.Z\"", "string"),
            ("\"0f8fad5b-d9cb-469f-a165-70867728950g\"", "string"),
        ];
        let all = [
            (Type::String, "string"),
            (Type::Uuid, "uuid"),
            (Type::Time, "time"),
            (Type::Number, "number"),
            (Type::Integer, "integer"),
            (Type::Float, "float"),
            (Type::Boolean, "boolean"),
            (Type::Null, "null"),
            (Type::List, "list"),
            (Type::Object, "object"),
        ];
        for (json, types) in rows {
            let is = all.iter().filter(|(of, _)| Seen::Json(json).is_of(*of));
            let is: Vec<_> = is.map(|(_, name)| *name).collect();
            assert_eq!(is.join(" "), types, "{json}");
        }
        assert!(Seen::Number(1).is_of(Type::Integer) && !Seen::Nothing.is_of(Type::Null));
    }

    #[test]
    fn table_of_comparisons() {
        let less = Some(Ordering::Less);
        let equal = Some(Ordering::Equal);
        let rows = [
            (Seen::Json("1"), json!(1.0), equal),
            (Seen::Json("1.0"), json!(1), equal),
            (Seen::Json("9007199254740992"), json!(9_007_199_254_740_993_u64), less),
            (Seen::Json("-2"), json!(1.5), less),
            (Seen::Json("\"1\""), json!(1), None),
            (Seen::Json("1"), json!("1"), None),
            (Seen::Json("\"a\\u0062\""), json!("ab"), equal),
            (Seen::Json("\"a\""), json!("b"), less),
            (Seen::Json("null"), json!(null), equal),
            (Seen::Json("true"), json!(true), equal),
            (Seen::Json("true"), json!(false), None),
            (Seen::Json("[1,{\"a\":2.0}]"), json!([1, {"a": 2}]), equal),
            (Seen::Json("[1,{\"a\":2}]"), json!([1]), None),
            (list(&[1..2, 3..6]), json!([1, "b"]), equal),
            (list(&[1..2, 1..2]), json!(1), None),
            (Seen::Text(b"ab"), json!("ab"), equal),
            (Seen::Number(20), json!(20), equal),
            (Seen::Nothing, json!(null), None),
        ];
        for (seen, with, expected) in rows {
            assert_eq!(seen.compared(&with), expected, "{seen:?} with {with}");
        }
        let rows = [
            (Seen::Json("10"), "9", Some(Ordering::Greater)),
            (Seen::Json("10"), "10.0", equal),
            (Seen::Json("\"10\""), "9", less),
            (Seen::Json("true"), "true", equal),
            (Seen::Json("null"), "", None),
            (Seen::Number(200), "200", equal),
            (Seen::Text(b"x"), "x", equal),
            (list(&[]), "[]", None),
        ];
        for (seen, with, expected) in rows {
            assert_eq!(seen.compared_with_text(with.as_bytes()), expected, "{seen:?} with {with}");
        }
    }

    #[test]
    fn a_plan_s_number_is_read_as_exactly_as_a_reply_s() {
        for digits in ["1.2283648193994923", "0.1", "1e23", "5e-324", "9007199254740993"] {
            let planned: Value = serde_json::from_str(digits).expect("JSON");
            assert_eq!(Seen::Json(digits).compared(&planned), Some(Ordering::Equal), "{digits}");
        }
    }

    #[test]
    fn table_of_counts_and_captures() {
        let rows = [
            (Seen::Json("[1,[2,3],{}]"), Some(3), "[1,[2,3],{}]"),
            (Seen::Json(r#"{"a":[1,2],"b":{}}"#), Some(2), r#"{"a":[1,2],"b":{}}"#),
            (Seen::Json("\"a\\n\u{fc}\""), Some(3), "a\n\u{fc}"),
            (Seen::Json("17"), None, "17"),
            (list(&[1..2, 3..6]), Some(2), "[1,\"b\"]"),
            (Seen::Text("\u{fc}b".as_bytes()), Some(2), "\u{fc}b"),
            (Seen::Number(5), None, "5"),
        ];
        for (seen, count, captured) in rows {
            assert_eq!(seen.count(), count, "{seen:?}");
            assert_eq!(seen.captured().as_deref(), Some(captured.as_bytes()), "{seen:?}");
        }
        assert_eq!(Seen::Nothing.captured(), None);
    }
}
