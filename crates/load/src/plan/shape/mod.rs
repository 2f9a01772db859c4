//! What a value of JSON is like, once all that is said of it makes sense.
//!
//! Knows the rules for shapes. Must not know replies.

pub mod document;

use std::collections::BTreeSet;

use serde_json::{Number, Value};

pub use document::TypeDocument as Type;
use document::{ChoiceDocument, MemberDocument, OthersDocument, ShapeDocument};

use super::pattern::compiles;

/// The most members that a shape says of an object: what came of them is noted in as many bits.
pub const MOST_MEMBERS: usize = 1024;

/// What a value of JSON is like. What is said of one type says nothing of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// It is of one of these types; empty: of any.
    pub types: Vec<Type>,
    /// It is equal to one of these; empty: any.
    pub values: Vec<Value>,
    /// Characters of a text, elements of a list: from and to and with.
    pub length: Option<(u64, u64)>,
    /// A number is not less and not more.
    pub range: (Option<Number>, Option<Number>),
    /// It matches somewhere in a text. It compiles.
    pub pattern: Option<String>,
    /// Members of an object, at most [`MOST_MEMBERS`].
    pub members: Vec<Member>,
    /// Other members of an object.
    pub others: Others,
    /// Each element of a list; none: anything.
    pub items: Option<Box<Self>>,
    /// Shapes of which it has some.
    pub choices: Vec<Choice>,
}

/// Members that have no name in a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Others {
    /// There may be any.
    Any,
    /// There are none.
    None,
    /// Each is like this.
    Of(Box<Shape>),
}

/// Shapes of which a value has so many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Never empty.
    pub of: Vec<Shape>,
    /// How many at least.
    pub least: usize,
    /// How many at most.
    pub most: usize,
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Unlike those of the others.
    pub name: String,
    /// What it is like.
    pub shape: Shape,
    /// It must be there.
    pub required: bool,
}

/// The shape of what a check or a message is about.
///
/// # Errors
/// What is wrong with it, and where in a reply the wrong part stands.
pub(super) fn shape(document: &ShapeDocument) -> Result<Shape, String> {
    of(document, "$")
}

fn of(document: &ShapeDocument, path: &str) -> Result<Shape, String> {
    let ShapeDocument { types, values, length, range, pattern, members, others, items, choices } =
        document;
    let wrong = |what: &str| format!("shape of {path}: {what}");
    let length = length.map(|(least, most)| (least, most.unwrap_or(u64::MAX)));
    if let Some((least, most)) = length.filter(|(least, most)| least > most) {
        return Err(wrong(&format!("a length of {least} to {most}: exchange them")));
    }
    let range = range.clone().unwrap_or_default();
    if let (Some(least), Some(most)) = &range
        && least.as_f64() > most.as_f64()
    {
        return Err(wrong(&format!("a range of {least} to {most}: exchange them")));
    }
    let pattern = match pattern {
        None => None,
        Some(pattern) => {
            let compiled = compiles(pattern);
            Some(compiled.map_err(|fault| wrong(&format!("pattern '{pattern}': {fault}")))?)
        }
    };
    if members.len() > MOST_MEMBERS || values.iter().any(has_too_many) {
        return Err(wrong(&format!(
            "an object has over {MOST_MEMBERS} members; name fewer, and let others be true"
        )));
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = members.iter().find(|member| !names.insert(&member.name)) {
        return Err(wrong(&format!("there are two members '{}'", twice.name)));
    }
    let member = |document: &MemberDocument| {
        let MemberDocument { name, shape, required } = document;
        let shape = of(shape, &format!("{path}.{name}"))?;
        Ok(Member { name: name.clone(), shape, required: *required })
    };
    let items = items.as_ref().map(|items| of(items, &format!("{path}[*]"))).transpose()?;
    let others = match others {
        OthersDocument::Any(true) => Others::Any,
        OthersDocument::Any(false) => Others::None,
        OthersDocument::Of(other) => Others::Of(Box::new(of(other, &format!("{path}.*"))?)),
    };
    let choice = |document: &ChoiceDocument| {
        let (count, least) = (document.of.len(), document.least as usize);
        let most = document.most.map_or(count, |most| most as usize);
        if count == 0 || least > count || least > most {
            return Err(wrong(&format!("a choice of {least} to {most} of {count} shapes")));
        }
        let shapes = document.of.iter().map(|shape| of(shape, path));
        Ok(Choice { of: shapes.collect::<Result<_, _>>()?, least, most })
    };
    Ok(Shape {
        types: types.clone(),
        values: values.clone(),
        length,
        range,
        pattern,
        members: members.iter().map(member).collect::<Result<_, String>>()?,
        others,
        items: items.map(Box::new),
        choices: choices.iter().map(choice).collect::<Result<_, String>>()?,
    })
}

fn has_too_many(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(has_too_many),
        Value::Object(members) => {
            members.len() > MOST_MEMBERS || members.values().any(has_too_many)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(document: Value) -> Result<Shape, String> {
        shape(&serde_json::from_value(document).expect("a document"))
    }

    #[test]
    fn nothing_said_is_anything() {
        let anything = read(json!({})).expect("a shape");
        assert_eq!(
            serde_json::from_value::<ShapeDocument>(json!({})).ok(),
            Some(ShapeDocument::default())
        );
        assert_eq!(
            (anything.others, anything.types, anything.values),
            (Others::Any, vec![], vec![])
        );
        let said = read(json!({
            "types": ["list"], "length": [1, null],
            "items": {"members": [{"name": "a"}, {"name": "b", "required": false}], "others": false},
        }));
        let said = said.expect("a shape");
        assert_eq!(said.length, Some((1, u64::MAX)));
        let items = said.items.expect("items");
        assert_eq!(items.others, Others::None);
        let required: Vec<_> = items.members.iter().map(|member| member.required).collect();
        assert_eq!(required, [true, false]);
    }

    #[test]
    fn table_of_faults() {
        let many: Vec<_> = (0..=MOST_MEMBERS).map(|n| json!({"name": n.to_string()})).collect();
        let all: serde_json::Map<_, _> =
            (0..=MOST_MEMBERS).map(|n| (n.to_string(), json!(n))).collect();
        let rows = [
            (json!({"length": [5, 4]}), "shape of $: a length of 5 to 4: exchange them"),
            (json!({"range": [1.5, 1]}), "shape of $: a range of 1.5 to 1: exchange them"),
            (
                json!({"items": {"members": [{"name": "a", "shape": {"pattern": "("}}]}}),
                "shape of $[*].a: pattern '(': unclosed group",
            ),
            (
                json!({"members": [{"name": "a"}, {"name": "a"}]}),
                "shape of $: there are two members 'a'",
            ),
            (
                json!({"others": {"choices": [{"of": [{}], "least": 2}]}}),
                "shape of $.*: a choice of 2 to 1 of 1 shapes",
            ),
            (json!({"choices": [{"of": []}]}), "shape of $: a choice of 0 to 0 of 0 shapes"),
            (json!({"members": many}), "shape of $: an object has over 1024 members"),
            (json!({"values": [1, [all]]}), "shape of $: an object has over 1024 members"),
        ];
        for (document, says) in rows {
            let fault = read(document).expect_err(says);
            assert!(fault.starts_with(says) && !fault.contains('\n'), "{fault}");
        }
    }
}
