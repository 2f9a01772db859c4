//! Filters: what is made of a value before it is tested.
//!
//! Knows values and what becomes of them. Must not know where they come from, nor which replies are looked at so.

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use md5::Md5;
use regex::bytes::Regex;
use serde_json::{Number, Value};
use serde_json_path::JsonPath;
use sha2::{Digest as _, Sha256};

use super::check::compiled;
use crate::plan::traffic::{Filter as Planned, Replaced, ReplacedPattern};
use crate::source::seen::Seen;

/// A filter, ready to be applied.
#[derive(Debug)]
pub(super) enum Filter {
    /// With what has to be made ready for it.
    Path(Box<Path>),
    Pattern(Regex),
    ReplacePattern(Regex, String),
    /// As the plan says it.
    Plain(Planned),
}

/// A path, and where it comes to name many places.
#[derive(Debug)]
pub(super) struct Path {
    whole: JsonPath,
    /// What stands before that; none: it names one place at most.
    before: Option<JsonPath>,
}

/// A value on its way through filters.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Came {
    /// It is not there.
    Nothing,
    Json(Value),
    /// Text, or bytes.
    Bytes(Vec<u8>),
}

impl Came {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        match seen {
            Seen::Nothing => Self::Nothing,
            Seen::Text(bytes) => Self::Bytes(bytes.to_vec()),
            Seen::Number(number) => Self::Json((*number).into()),
            Seen::Json(_) | Seen::List { .. } => {
                // What was found in JSON is JSON.
                let json = match seen {
                    Seen::Json(json) => Cow::Borrowed(json.as_bytes()),
                    _ => seen.captured().unwrap_or_default(),
                };
                serde_json::from_slice(&json).map_or(Self::Nothing, Self::Json)
            }
        }
    }

    /// Does this with it as a check sees it.
    pub(super) fn seen<T>(&self, act: impl FnOnce(&Seen<'_>) -> T) -> T {
        match self {
            Self::Nothing => act(&Seen::Nothing),
            Self::Bytes(bytes) => act(&Seen::Text(bytes)),
            Self::Json(value) => act(&Seen::Json(&value.to_string())),
        }
    }

    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Json(Value::String(text)) => Some(text.as_bytes()),
            Self::Json(_) | Self::Nothing => None,
        }
    }

    fn text(&self) -> Option<&str> {
        str::from_utf8(self.bytes()?).ok()
    }
}

impl Filter {
    /// Each path and pattern is right, as a plan has been told.
    pub(super) fn new(planned: &Planned) -> Self {
        match planned {
            Planned::Jsonpath(path) => {
                #[expect(clippy::expect_used, reason = "a plan refuses what is no path")]
                let parsed = |path| JsonPath::parse(path).expect("a plan's paths are right");
                let before = widens_at(path).map(|at| parsed(&path[..at]));
                Self::Path(Box::new(Path { whole: parsed(path), before }))
            }
            Planned::Regex(pattern) => Self::Pattern(compiled(pattern)),
            Planned::ReplaceRegex(ReplacedPattern { pattern, new }) => {
                Self::ReplacePattern(compiled(pattern), new.clone())
            }
            plain => Self::Plain(plain.clone()),
        }
    }

    /// What becomes of a value.
    ///
    /// # Errors
    /// It is none that this can be applied to; in words.
    pub(super) fn apply(&self, came: &Came) -> Result<Came, String> {
        if *came == Came::Nothing {
            return Err(format!("there is nothing to make {} of", self.word()));
        }
        self.applied(came).ok_or_else(|| {
            came.seen(|seen| format!("{} can't be made of {}", self.word(), seen.shown()))
        })
    }

    fn applied(&self, came: &Came) -> Option<Came> {
        Some(match self {
            Self::Path(path) => at(path, came)?,
            Self::Pattern(pattern) => {
                let found = pattern.captures(came.bytes()?);
                let group = found.as_ref().and_then(|all| all.get(usize::from(all.len() > 1)));
                group.map_or(Came::Nothing, |it| Came::Bytes(it.as_bytes().to_vec()))
            }
            Self::ReplacePattern(pattern, new) => {
                Came::Bytes(pattern.replace_all(came.bytes()?, new.as_bytes()).into_owned())
            }
            Self::Plain(plain) => plainly(plain, came)?,
        })
    }

    /// It in the name of what is looked at.
    pub(super) fn word(&self) -> String {
        match self {
            Self::Path(_) => "what is at a path".to_owned(),
            Self::Pattern(_) => "regex".to_owned(),
            Self::ReplacePattern(..) => "replace".to_owned(),
            Self::Plain(plain) => match plain {
                Planned::Sha256 => "sha256".to_owned(),
                Planned::Md5 => "md5".to_owned(),
                Planned::Nth(index) => format!("nth {index}"),
                Planned::Replace(_) => "replace".to_owned(),
                Planned::Split(_) => "split".to_owned(),
                Planned::ToInt => "toInt".to_owned(),
                Planned::ToFloat => "toFloat".to_owned(),
                Planned::ToString => "toString".to_owned(),
                Planned::DecodeUtf8 => "decode".to_owned(),
                Planned::UrlDecode => "urlDecode".to_owned(),
                Planned::UrlEncode => "urlEncode".to_owned(),
                Planned::Base64Decode => "base64Decode".to_owned(),
                Planned::Base64Encode => "base64Encode".to_owned(),
                Planned::Jsonpath(path) => path.clone(),
                Planned::Regex(_) | Planned::ReplaceRegex(_) => "regex".to_owned(),
            },
        }
    }
}

/// What is at a path.
fn at(path: &Path, came: &Came) -> Option<Came> {
    let parsed;
    let value = match came {
        Came::Json(value) if !value.is_string() => value,
        text => {
            parsed = serde_json::from_slice(text.bytes()?).ok()?;
            &parsed
        }
    };
    let found = path.whole.query(value);
    Some(match &path.before {
        None => found.first().map_or(Came::Nothing, |one| Came::Json(one.clone())),
        // None of nothing is nothing, and none of what is there an empty list.
        Some(before) if found.is_empty() && before.query(value).is_empty() => Came::Nothing,
        Some(_) => Came::Json(found.iter().map(|one| (*one).clone()).collect()),
    })
}

/// Where a path has the first part that may name many places: `..`, `*`, a filter, a slice, several selectors in
/// brackets; none: it has no such.
fn widens_at(path: &str) -> Option<usize> {
    let (mut quote, mut is_escaped) = (None, false);
    let (mut part, mut before) = (0, ' ');
    for (at, letter) in path.char_indices() {
        match (quote, letter) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), _) if open == letter => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, '*' | '?' | ':' | ',') => return Some(part),
            (None, '.') if before == '.' => return Some(part),
            (None, '.' | '[') => part = at,
            (_, _) => {}
        }
        before = letter;
    }
    None
}

fn plainly(filter: &Planned, came: &Came) -> Option<Came> {
    let text = |text: String| Came::Bytes(text.into_bytes());
    Some(match filter {
        Planned::Sha256 => text(hex(&Sha256::digest(came.bytes()?))),
        Planned::Md5 => text(hex(&Md5::digest(came.bytes()?))),
        Planned::Nth(index) => match came {
            Came::Json(Value::Array(all)) => {
                all.get(*index as usize).map_or(Came::Nothing, |one| Came::Json(one.clone()))
            }
            _ => return None,
        },
        Planned::Replace(Replaced { old, new }) => text(came.text()?.replace(old, new)),
        Planned::Split(between) => {
            Came::Json(came.text()?.split(between).map(Value::from).collect())
        }
        Planned::ToInt => Came::Json(whole(came)?.into()),
        Planned::ToFloat => Came::Json(Value::Number(Number::from_f64(fraction(came)?)?)),
        Planned::ToString => match came {
            Came::Json(value) if !value.is_string() => text(value.to_string()),
            other => text(other.text()?.to_owned()),
        },
        Planned::DecodeUtf8 => text(came.text()?.to_owned()),
        Planned::UrlDecode => Came::Bytes(percent_decoded(came.text()?)?),
        Planned::UrlEncode => text(percent_encoded(came.text()?)),
        Planned::Base64Decode => Came::Bytes(BASE64_STANDARD.decode(came.bytes()?).ok()?),
        Planned::Base64Encode => text(BASE64_STANDARD.encode(came.bytes()?)),
        // These have been made ready.
        Planned::Jsonpath(_) | Planned::Regex(_) | Planned::ReplaceRegex(_) => return None,
    })
}

fn whole(came: &Came) -> Option<i64> {
    match came {
        Came::Json(Value::Number(number)) => {
            number.as_i64().or_else(|| number.as_f64().map(|fraction| fraction as i64))
        }
        other => other.text()?.parse().ok(),
    }
}

fn fraction(came: &Came) -> Option<f64> {
    match came {
        Came::Json(Value::Number(number)) => number.as_f64(),
        other => other.text()?.parse().ok(),
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing into a String can't fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let digit = |at: usize| char::from(*text.as_bytes().get(at)?).to_digit(16);
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        if let (b'%', Some(high), Some(low)) = (byte, digit(at + 1), digit(at + 2)) {
            out.push((high * 16 + low) as u8);
            at += 3;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    // It is to be text.
    str::from_utf8(&out).is_ok().then_some(out)
}

fn percent_encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> Planned {
        Planned::Jsonpath(text.to_owned())
    }

    fn text(text: &str) -> Came {
        Came::Bytes(text.as_bytes().to_vec())
    }

    #[test]
    fn table_of_filters() {
        let list = || Came::Json(json!([{"id": 1, "price": 9.5}, {"id": 2, "price": 4}]));
        let replace =
            |old: &str, new: &str| Planned::Replace(Replaced { old: old.into(), new: new.into() });
        let pattern = |pattern: &str, new: &str| {
            let (pattern, new) = (pattern.into(), new.into());
            Planned::ReplaceRegex(ReplacedPattern { pattern, new })
        };
        let rows = [
            (text("abc"), Planned::Md5, text("900150983cd24fb0d6963f7d28e17f72")),
            (
                text("abc"),
                Planned::Sha256,
                text("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            ),
            (list(), path("$[?(@.price > 5)].id"), Came::Json(json!([1]))),
            (list(), path("$[?@.price > 50]"), Came::Json(json!([]))),
            (list(), path("$..id"), Came::Json(json!([1, 2]))),
            (list(), path("$[-1].id"), Came::Json(json!(2))),
            (list(), path("$[0:1].id"), Came::Json(json!([1]))),
            (list(), path("$[7].id"), Came::Nothing),
            (list(), path("$[7][?@.id]"), Came::Nothing),
            (list(), path("$[0]['i*d',\"id\"]"), Came::Json(json!([1]))),
            (list(), path("$[*].price"), Came::Json(json!([9.5, 4]))),
            (text("{\"a*b\": 1}"), path("$['a*b']"), Came::Json(json!(1))),
            (list(), Planned::Nth(1), Came::Json(json!({"id": 2, "price": 4}))),
            (list(), Planned::Nth(2), Came::Nothing),
            (text("id=7;"), Planned::Regex("id=(\\d)".into()), text("7")),
            (text("id=7;"), Planned::Regex("id=\\d".into()), text("id=7")),
            (text("id=7;"), Planned::Regex("x".into()), Came::Nothing),
            (text("a-b-c"), replace("-", "+"), text("a+b+c")),
            (text("a1b22"), pattern("(\\d+)", "<$1>"), text("a<1>b<22>")),
            (text("a, b"), Planned::Split(", ".into()), Came::Json(json!(["a", "b"]))),
            (text("-7"), Planned::ToInt, Came::Json(json!(-7))),
            (Came::Json(json!("7")), Planned::ToInt, Came::Json(json!(7))),
            (Came::Json(json!(7.9)), Planned::ToInt, Came::Json(json!(7))),
            (text("1.5"), Planned::ToFloat, Came::Json(json!(1.5))),
            (Came::Json(json!(5)), Planned::ToString, text("5")),
            (Came::Json(json!("5")), Planned::ToString, text("5")),
            (text("a%20%C3%A9%2"), Planned::UrlDecode, text("a é%2")),
            (text("a/é"), Planned::UrlEncode, text("a/%C3%A9")),
            (text("aGk="), Planned::Base64Decode, text("hi")),
            (text("hi"), Planned::Base64Encode, text("aGk=")),
            (Came::Bytes(vec![0xc3, 0xa9]), Planned::DecodeUtf8, text("é")),
        ];
        for (came, filter, expected) in rows {
            let found = Filter::new(&filter).apply(&came);
            assert_eq!(found, Ok(expected), "{filter:?} of {came:?}");
        }
    }

    #[test]
    fn what_a_filter_can_not_be_applied_to_is_told() {
        let rows = [
            (Came::Nothing, Planned::ToInt, "there is nothing to make toInt of"),
            (text("seven"), Planned::ToInt, "toInt can't be made of 'seven'"),
            (Came::Json(json!([])), Planned::Sha256, "sha256 can't be made of []"),
            (Came::Json(json!({"a": 1})), Planned::Nth(0), "nth 0 can't be made of {\"a\":1}"),
            (text("<html>"), path("$.a"), "what is at a path can't be made of '<html>'"),
            (Came::Bytes(vec![0xff]), Planned::DecodeUtf8, "decode can't be made of"),
            (text("%ff"), Planned::UrlDecode, "urlDecode can't be made of '%ff'"),
            (text("a b"), Planned::Base64Decode, "base64Decode can't be made of 'a b'"),
        ];
        for (came, filter, says) in rows {
            let told = Filter::new(&filter).apply(&came).expect_err(says);
            assert!(told.starts_with(says), "{filter:?} of {came:?}: {told}");
        }
    }
}
