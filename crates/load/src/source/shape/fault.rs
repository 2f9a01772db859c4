//! Where a value is not of a shape, and why: looked for only in replies that are not.
//!
//! Knows sentences. Must say something of each value that the pass over a document refuses.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::walk::characters;
use super::{Choice, Shape};
use crate::plan::shape::Type;
use crate::source::excerpt;
use crate::source::seen::Seen;

impl Shape {
    /// What is said of something with this name that is not of the shape.
    #[cold]
    pub(in crate::source) fn fault(&self, name: &str, seen: &Seen<'_>) -> String {
        let (path, json) = match seen {
            Seen::Text(body) => ("$", str::from_utf8(body).map(str::to_owned)),
            seen => {
                let json = match seen {
                    Seen::Json(json) => (*json).to_owned(),
                    seen => String::from_utf8_lossy(&seen.captured().unwrap_or_default()).into(),
                };
                (name, Ok(json))
            }
        };
        let json = match json {
            Ok(json) => json,
            Err(error) => return format!("it is no JSON ({error})"),
        };
        if let Err(error) = self.fits_document(json.as_bytes()) {
            return format!("it is no JSON ({error})");
        }
        let fault = self.first_fault(path, json.trim_matches([' ', '\t', '\r', '\n']));
        fault.unwrap_or_else(|| format!("{path} is not of the shape"))
    }

    /// What is wrong with this JSON at this path, or within it.
    pub(super) fn first_fault(&self, path: &str, json: &str) -> Option<String> {
        let seen = Seen::Json(json);
        let shown = excerpt(json.as_bytes());
        if !self.is_of(&seen) {
            let (own, wanted) = (kind(&seen, &self.types), kinds(&self.types));
            return Some(format!("{path} was {shown}{own}, not {wanted}"));
        }
        let is_whole = json.starts_with(['[', '{']);
        let is_equal = |whole: &Self| whole.fits_document(json.as_bytes()).unwrap_or(false);
        let is_value = if is_whole {
            self.values.is_empty() || self.wholes.iter().any(is_equal)
        } else {
            self.is_value(json)
        };
        if !is_value {
            return Some(format!("{path} was {shown}, {}", self.not_one()));
        }
        if !self.is_in_range(&seen) {
            let bound = |bound: &Option<serde_json::Value>| bound.as_ref().map(ToString::to_string);
            let wanted = between(bound(&self.least), bound(&self.most));
            return Some(format!("{path} was {shown}, not {wanted}"));
        }
        let fault = match (seen.text(), json.as_bytes().first()) {
            (Some(text), _) => self.text_fault(path, &shown, &text),
            (None, Some(b'[')) => self.list_fault(path, json),
            (None, Some(b'{')) => self.object_fault(path, json),
            _ => None,
        };
        fault.or_else(|| self.choices.iter().find_map(|choice| choice.fault(path, json)))
    }

    fn text_fault(&self, path: &str, shown: &str, text: &[u8]) -> Option<String> {
        let length = characters(text);
        if !self.is_long_enough(length) {
            let (plural, wanted) = (if length == 1 { "" } else { "s" }, self.lengths());
            return Some(format!("{path} was {shown}, {length} character{plural}, not {wanted}"));
        }
        let pattern = self.pattern.as_ref().filter(|pattern| !pattern.is_match(text))?;
        Some(format!("{path} was {shown}, which does not match {pattern}"))
    }

    fn list_fault(&self, path: &str, json: &str) -> Option<String> {
        let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
        if !self.is_long_enough(elements.len() as u64) {
            let (length, wanted) = (elements.len(), self.lengths());
            let plural = if length == 1 { "" } else { "s" };
            return Some(format!("{path} had {length} element{plural}, not {wanted}"));
        }
        elements.iter().enumerate().find_map(|(place, element)| {
            self.element(place).first_fault(&format!("{path}[{place}]"), element.get())
        })
    }

    fn object_fault(&self, path: &str, json: &str) -> Option<String> {
        let Members { all, last } = serde_json::from_str(json).ok()?;
        let has = |name: &String| last.contains_key(name);
        let missing = self.members.iter().find(|member| member.required && !has(&member.name));
        if let Some(member) = missing {
            return Some(format!("there is no {}", inside(path, &member.name)));
        }
        all.iter().enumerate().find_map(|(place, (name, value))| {
            let path = inside(path, name);
            match self.members.iter().find(|member| member.name == *name) {
                Some(_) if last.get(name) != Some(&place) => None,
                Some(member) => member.shape.first_fault(&path, value.get()),
                None if let Some(other) = self.other() => other.first_fault(&path, value.get()),
                None => {
                    let shown = excerpt(value.get().as_bytes());
                    Some(format!("there is a {path}, {shown}, and no such member is expected"))
                }
            }
        })
    }

    /// The members of an object that the shape gives a constant have it.
    fn has_its_constants(&self, json: &str) -> bool {
        let Ok(Members { all, last }) = serde_json::from_str(json) else { return false };
        self.members.iter().filter(|member| !member.shape.values.is_empty()).all(|member| {
            let value = last.get(&member.name).map(|place| all[*place].1);
            value.is_some_and(|value| member.shape.is_value(value.get()))
        })
    }

    fn not_one(&self) -> String {
        let values: Vec<_> = self.values.iter().map(ToString::to_string).collect();
        let shown = excerpt(values.join(", ").as_bytes());
        if values.len() == 1 { format!("not {shown}") } else { format!("none of {shown}") }
    }

    fn lengths(&self) -> String {
        let (least, most) = self.length.unwrap_or((0, u64::MAX));
        let most = (most != u64::MAX).then(|| most.to_string());
        between(Some(least.to_string()).filter(|_| least > 0 || most.is_none()), most)
    }
}

impl Choice {
    /// What is wrong with this JSON that has too many of the shapes, or too few.
    fn fault(&self, path: &str, json: &str) -> Option<String> {
        let has = |shape: &&Shape| shape.first_fault(path, json).is_none();
        let (count, all) = (self.of.iter().filter(has).count(), self.of.len());
        if self.allows(count) {
            return None;
        }
        let shown = excerpt(json.as_bytes());
        if count > self.most {
            return Some(match self.most {
                0 => format!("{path} was {shown}, which has a shape that is wrong"),
                most => {
                    format!("{path} was {shown}, which has {count} of {all} shapes, not {most}")
                }
            });
        }
        // Of several that it might have, the one that it is meant to have is told by a constant.
        let missed = self.of.iter().filter(|shape| !has(shape));
        let mut near: Vec<_> = missed.collect();
        if self.least < all {
            near.retain(|shape| shape.is_of(&Seen::Json(json)));
            if near.len() > 1 {
                near.retain(|shape| shape.has_its_constants(json));
            }
        }
        match near.as_slice() {
            [first, ..] if self.least == all || near.len() == 1 => first.first_fault(path, json),
            _ if count == 0 => Some(format!("{path} was {shown}, which has none of {all} shapes")),
            _ => Some(format!("{path} was {shown}, which has {count} of {all} shapes")),
        }
    }
}

/// A place inside of another one.
fn inside(path: &str, name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    if !name.is_empty() && name.chars().all(is_plain) {
        return format!("{path}.{name}");
    }
    let quoted = serde_json::Value::from(excerpt(name.as_bytes()));
    format!("{path}[{quoted}]")
}

fn between(least: Option<String>, most: Option<String>) -> String {
    match (least, most) {
        (Some(least), Some(most)) if least == most => least,
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("{least} or more"),
        (None, Some(most)) => format!("{most} or less"),
        (None, None) => "as said".to_owned(),
    }
}

/// `, a text`: what a value is, where it is not shown by itself.
fn kind(seen: &Seen<'_>, wanted: &[Type]) -> &'static str {
    let asks_digits = wanted.iter().any(|of| matches!(of, Type::Integer | Type::Float));
    let kinds = [
        (Type::String, ", a text"),
        (Type::Integer, if asks_digits { ", an integer" } else { ", a number" }),
        (Type::Float, if asks_digits { ", a fraction" } else { ", a number" }),
        (Type::Boolean, ", a boolean"),
        (Type::List, ", a list"),
        (Type::Object, ", an object"),
    ];
    kinds.iter().find(|(of, _)| seen.is_of(*of)).map_or("", |(_, name)| name)
}

fn kinds(types: &[Type]) -> String {
    let name = |of: &Type| match of {
        Type::String => "a text",
        Type::Number => "a number",
        Type::Integer => "an integer",
        Type::Float => "a fraction",
        Type::Boolean => "a boolean",
        Type::Null => "null",
        Type::List => "a list",
        Type::Object => "an object",
        Type::Uuid => "a UUID",
        Type::Time => "an RFC 3339 time",
    };
    types.iter().map(name).collect::<Vec<_>>().join(" or ")
}

/// The members of an object as they stand there.
struct Members<'de> {
    all: Vec<(String, &'de RawValue)>,
    /// Where the last one of each name is.
    last: HashMap<String, usize>,
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let (mut all, mut last) = (Vec::new(), HashMap::new());
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    last.insert(name.clone(), all.len());
                    all.push((name, value));
                }
                Ok(Members { all, last })
            }
        }

        reader.deserialize_map(All)
    }
}
