//! Is a value of JSON of the shape that it should be?
//!
//! Knows shapes and values. Must not know in which reply a value stands, nor how it came. One that fits costs one pass
//! and no allocation, but for texts with escapes; where one does not fit is looked for in a second pass.

mod fault;
#[cfg(test)]
mod tests;
mod walk;

use regex::bytes::Regex;
use serde::de::DeserializeSeed;
use serde_json::Value;

use super::seen::Seen;
use crate::plan::shape::{MOST_MEMBERS, Others, Shape as Planned, Type};

/// So many bits stand in a word of what is noted of members.
const BITS: usize = u64::BITS as usize;
/// So many words note what came of all members of an object.
const WORDS: usize = MOST_MEMBERS / BITS;

/// A shape, ready to be asked for.
#[derive(Debug)]
pub(super) struct Shape {
    types: Vec<Type>,
    values: Vec<Value>,
    /// Lists and objects among the values.
    wholes: Vec<Self>,
    length: Option<(u64, u64)>,
    least: Option<Value>,
    most: Option<Value>,
    pattern: Option<Regex>,
    members: Vec<Member>,
    /// Bits of the members that must be there.
    required: Vec<u64>,
    /// What other members are like; none: there are none.
    others: Option<Box<Self>>,
    /// There may be any other members.
    is_open: bool,
    /// What the first elements of a list are like.
    first: Vec<Self>,
    items: Option<Box<Self>>,
    choices: Vec<Choice>,
    /// The value is taken as it stands in the document: its digits are asked for, or it is not gone into.
    as_it_stands: bool,
}

#[derive(Debug)]
struct Member {
    name: String,
    shape: Shape,
    required: bool,
}

/// Shapes of which a value has so many.
#[derive(Debug)]
struct Choice {
    of: Vec<Shape>,
    least: usize,
    most: usize,
}

/// What any value has.
static ANYTHING: Shape = Shape::anything();

impl Shape {
    /// What a plan says. Each pattern compiles, as a plan has been told.
    pub(super) fn new(planned: &Planned) -> Self {
        if let Some(value) = constant(planned) {
            return Self::only(value);
        }
        let bound = |number: &Option<serde_json::Number>| number.clone().map(Value::Number);
        let whole = |value: &&Value| value.is_array() || value.is_object();
        let members = planned.members.iter().map(|member| Member {
            name: member.name.clone(),
            shape: Self::new(&member.shape),
            required: member.required,
        });
        Self {
            types: planned.types.clone(),
            values: planned.values.clone(),
            wholes: planned.values.iter().filter(whole).map(Self::only).collect(),
            length: planned.length,
            least: bound(&planned.range.0),
            most: bound(&planned.range.1),
            pattern: planned.pattern.as_deref().and_then(|pattern| Regex::new(pattern).ok()),
            is_open: planned.others == Others::Any,
            others: match &planned.others {
                Others::Of(other) => Some(Box::new(Self::new(other))),
                Others::Any | Others::None => None,
            },
            choices: planned.choices.iter().map(Choice::new).collect(),
            items: planned.items.as_deref().map(|items| Box::new(Self::new(items))),
            ..Self::of_members(members.collect())
        }
        .made()
    }

    /// What this value has, and no other.
    fn only(value: &Value) -> Self {
        let shape = match value {
            Value::Array(elements) => Self {
                types: vec![Type::List],
                length: Some((elements.len() as u64, elements.len() as u64)),
                first: elements.iter().map(Self::only).collect(),
                ..Self::anything()
            },
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| Member {
                    name: name.clone(),
                    shape: Self::only(value),
                    required: true,
                });
                Self {
                    types: vec![Type::Object],
                    is_open: false,
                    ..Self::of_members(members.collect())
                }
            }
            value => Self { values: vec![value.clone()], ..Self::anything() },
        };
        shape.made()
    }

    /// What an object with these members has, among others.
    fn of_members(members: Vec<Member>) -> Self {
        let mut required = vec![0; members.len().div_ceil(BITS)];
        for (index, _) in members.iter().enumerate().filter(|(_, member)| member.required) {
            required[index / BITS] |= 1 << (index % BITS);
        }
        Self { members, required, ..Self::anything() }
    }

    /// Nothing is said.
    const fn anything() -> Self {
        Self {
            types: Vec::new(),
            values: Vec::new(),
            wholes: Vec::new(),
            length: None,
            least: None,
            most: None,
            pattern: None,
            members: Vec::new(),
            required: Vec::new(),
            others: None,
            is_open: true,
            first: Vec::new(),
            items: None,
            choices: Vec::new(),
            as_it_stands: false,
        }
    }

    fn made(mut self) -> Self {
        let asks_digits = self.least.is_some()
            || self.most.is_some()
            || self.types.iter().any(|of| matches!(of, Type::Integer | Type::Float));
        let is_scalar = !self.types.is_empty()
            && !self.types.iter().any(|of| matches!(of, Type::List | Type::Object));
        let is_chosen = !self.values.is_empty() || !self.choices.is_empty();
        self.as_it_stands = asks_digits || is_scalar || is_chosen;
        self
    }

    /// Is this a value of the shape? Of a body: is it JSON of the shape?
    pub(super) fn fits(&self, seen: &Seen<'_>) -> bool {
        match seen {
            Seen::Nothing | Seen::Number(_) => false,
            Seen::Text(body) => self.fits_document(body).unwrap_or(false),
            Seen::Json(json) => self.fits_document(json.as_bytes()).unwrap_or(false),
            Seen::List { places, .. } if self.is_asked_of_parts() => {
                let misfits = |items: &Self| seen.any_element(|it| !items.fits(it)) == Some(true);
                self.allows(Type::List)
                    && self.is_long_enough(places.len() as u64)
                    && !self.items.as_deref().is_some_and(misfits)
            }
            Seen::List { .. } => {
                let list = seen.captured().unwrap_or_default();
                self.fits_document(&list).unwrap_or(false)
            }
        }
    }

    /// # Errors
    /// It is no JSON.
    fn fits_document(&self, document: &[u8]) -> Result<bool, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_slice(document);
        let fits = walk::Fits(self).deserialize(&mut reader)?;
        reader.end().map(|()| fits)
    }

    /// Of a list nothing is asked but its length and what is asked of each element.
    fn is_asked_of_parts(&self) -> bool {
        self.values.is_empty() && self.first.is_empty() && self.choices.is_empty()
    }

    /// What members without a name are like; none: there are none.
    fn other(&self) -> Option<&Self> {
        self.others.as_deref().or(self.is_open.then_some(&ANYTHING))
    }

    /// It has one of the types, or none is said.
    fn is_of(&self, seen: &Seen<'_>) -> bool {
        // As JSON Schema has it: 1.0 is an integer.
        let has = |of: &Type| seen.is_of(*of) || (*of == Type::Integer && seen.is_whole());
        self.types.is_empty() || self.types.iter().any(has)
    }

    /// What the element of a list at this place is like.
    fn element(&self, place: usize) -> &Self {
        self.first.get(place).or(self.items.as_deref()).unwrap_or(&ANYTHING)
    }

    /// Values of this type may be of the shape.
    fn allows(&self, of: Type) -> bool {
        self.types.is_empty() || self.types.contains(&of)
    }

    fn is_long_enough(&self, length: u64) -> bool {
        self.length.is_none_or(|(least, most)| (least..=most).contains(&length))
    }
}

impl Choice {
    fn new(planned: &crate::plan::shape::Choice) -> Self {
        let of = planned.of.iter().map(Shape::new).collect();
        Self { of, least: planned.least, most: planned.most }
    }

    fn allows(&self, count: usize) -> bool {
        (self.least..=self.most).contains(&count)
    }
}

/// The list or object that a shape says the value is, where it says that alone.
fn constant(planned: &Planned) -> Option<&Value> {
    let [value] = planned.values.as_slice() else { return None };
    let Planned { types, values: _, length, range, pattern, members, others, items, choices } =
        planned;
    let is_alone = types.is_empty()
        && length.is_none()
        && *range == (None, None)
        && pattern.is_none()
        && members.is_empty()
        && *others == Others::Any
        && items.is_none()
        && choices.is_empty();
    (is_alone && (value.is_array() || value.is_object())).then_some(value)
}
