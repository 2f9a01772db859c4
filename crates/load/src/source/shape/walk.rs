//! One pass over a document that says whether it is of a shape.
//!
//! Knows how values follow each other in JSON. Must not know where a value is that does not fit: the pass goes to the
//! end in any case, since of members that stand twice the last one counts.

use std::cmp::Ordering;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{ANYTHING, BITS, Member, Shape, WORDS};
use crate::plan::shape::Type;
use crate::source::names::Named;
use crate::source::seen::Seen;

/// Reads a value: is it of this shape?
#[derive(Clone, Copy)]
pub(super) struct Fits<'s>(pub(super) &'s Shape);

impl<'de> DeserializeSeed<'de> for Fits<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<bool, D::Error> {
        if !self.0.as_it_stands {
            return reader.deserialize_any(self);
        }
        let json = <&RawValue as serde::Deserialize>::deserialize(reader)?.get();
        self.0.fits_text(json).map_err(serde::de::Error::custom)
    }
}

impl Shape {
    /// Is this JSON, which has been read once, of the shape?
    ///
    /// # Errors
    /// It is nested too deeply.
    fn fits_text(&self, json: &str) -> Result<bool, serde_json::Error> {
        for choice in &self.choices {
            let mut count = 0;
            for shape in &choice.of {
                count += usize::from(shape.fits_document(json.as_bytes())?);
            }
            if !choice.allows(count) {
                return Ok(false);
            }
        }
        if !json.starts_with(['[', '{']) {
            return Ok(self.fits_scalar(json));
        }
        let of = if json.starts_with('[') { Type::List } else { Type::Object };
        if !self.allows(of) {
            return Ok(false);
        }
        let mut fits = self.values.is_empty();
        for whole in &self.wholes {
            fits = fits || whole.fits_document(json.as_bytes())?;
        }
        if !fits {
            return Ok(false);
        }
        serde_json::Deserializer::from_str(json).deserialize_any(Fits(self))
    }

    /// Is this JSON, which is no list and no object, of the shape?
    fn fits_scalar(&self, json: &str) -> bool {
        let seen = Seen::Json(json);
        self.is_of(&seen)
            && self.is_value(json)
            && self.is_in_range(&seen)
            && self.is_written(&seen)
    }

    /// It is one of the values, or none is said.
    pub(super) fn is_value(&self, json: &str) -> bool {
        self.values.is_empty() || self.values.iter().any(|value| is_same(json, value))
    }

    /// It is no number, or one that is not too small nor too great.
    pub(super) fn is_in_range(&self, seen: &Seen<'_>) -> bool {
        let is = |bound: &Option<Value>, beyond: Ordering| {
            bound.as_ref().is_none_or(|bound| seen.compared(bound) != Some(beyond))
        };
        is(&self.least, Ordering::Less) && is(&self.most, Ordering::Greater)
    }

    /// It is no text, or one of a right length that the pattern matches.
    pub(super) fn is_written(&self, seen: &Seen<'_>) -> bool {
        if self.length.is_none() && self.pattern.is_none() {
            return true;
        }
        let Some(text) = seen.text() else { return true };
        let matches = self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(&text));
        matches && (self.length.is_none() || self.is_long_enough(characters(&text)))
    }
}

/// How many characters a text has.
pub(super) fn characters(text: &[u8]) -> u64 {
    let begins = |byte: &&u8| **byte & 0xc0 != 0x80;
    text.iter().filter(begins).count() as u64
}

/// Is this JSON, which is no list and no object, this value?
fn is_same(json: &str, value: &Value) -> bool {
    match value {
        Value::Null => json == "null",
        Value::Bool(value) => json == if *value { "true" } else { "false" },
        Value::Number(_) | Value::String(_) => {
            Seen::Json(json).compared(value) == Some(Ordering::Equal)
        }
        Value::Array(_) | Value::Object(_) => false,
    }
}

impl<'de> Visitor<'de> for Fits<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(self.0.allows(Type::Boolean))
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(self.0.allows(Type::Number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(self.0.allows(Type::Number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(self.0.allows(Type::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        let seen = Seen::Text(text.as_bytes());
        Ok(self.0.is_of(&seen) && self.0.is_written(&seen))
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(self.0.allows(Type::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<bool, A::Error> {
        let mut fits = self.0.allows(Type::List);
        let mut length = 0;
        while let Some(is_right) = elements.next_element_seed(Fits(self.0.element(length)))? {
            fits &= is_right;
            length += 1;
        }
        Ok(fits && self.0.is_long_enough(length as u64))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<bool, A::Error> {
        let mut fits = self.0.allows(Type::Object);
        let mut noted = Noted::default();
        let mut next = 0;
        while let Some(place) =
            members.next_key_seed(Named::new(|name: &str| place_of(&self.0.members, next, name)))?
        {
            let Some(place) = place else {
                let other = self.0.other();
                let is_right = members.next_value_seed(Fits(other.unwrap_or(&ANYTHING)))?;
                fits &= is_right && other.is_some();
                continue;
            };
            let is_right = members.next_value_seed(Fits(&self.0.members[place].shape))?;
            noted.note(place, is_right);
            next = place + 1;
        }
        Ok(fits && noted.are_right(&self.0.required))
    }
}

/// What came of the members of an object: a bit for each.
#[derive(Default)]
struct Noted {
    came: [u64; WORDS],
    right: [u64; WORDS],
}

impl Noted {
    fn note(&mut self, place: usize, is_right: bool) {
        let bit = 1 << (place % BITS);
        self.came[place / BITS] |= bit;
        if is_right {
            self.right[place / BITS] |= bit;
        } else {
            self.right[place / BITS] &= !bit;
        }
    }

    /// All that came are right, and these did.
    fn are_right(&self, required: &[u64]) -> bool {
        let words = self.came.iter().zip(&self.right).zip(required);
        words.into_iter().all(|((came, right), required)| came == right && required & !came == 0)
    }
}

/// Which of these members has this name? Most often the next one.
fn place_of(members: &[Member], next: usize, name: &str) -> Option<usize> {
    let (before, behind) = members.split_at(next);
    let place = |among: &[Member]| among.iter().position(|member| member.name == name);
    place(behind).map(|place| next + place).or_else(|| place(before))
}
