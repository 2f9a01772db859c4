//! Places in a JSON document, of which `[*]` may name many.
//!
//! Knows how they are written. Must not know documents.

use serde_json::Value;

/// Where to look in a JSON document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// As it was written.
    pub text: String,
    /// From the document inwards.
    pub places: Vec<Place>,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// The member of an object with this name.
    Member(String),
    /// The element of a list, counted from 0.
    Element(usize),
    /// Each element of a list, each member of an object.
    Each,
}

impl Path {
    /// Reads `$.a.b[0]["c d"].e[*].f`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let mut rest = text.strip_prefix('$').ok_or("a path begins with $")?;
        let mut places = Vec::new();
        while !rest.is_empty() {
            let (place, behind) = match rest.strip_prefix('[') {
                Some(inside) => bracketed(inside)?,
                None => named(
                    rest.strip_prefix('.').ok_or("a place is .name, [0], [*] or [\"a name\"]")?,
                )?,
            };
            places.push(place);
            rest = behind;
        }
        Ok(Self { text: text.to_owned(), places })
    }

    /// It names any number of places.
    pub fn names_many(&self) -> bool {
        self.places.contains(&Place::Each)
    }
}

fn named(text: &str) -> Result<(Place, &str), &'static str> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    match &text[..end] {
        "" => Err("a place has no name: descendants (..) can't be looked for"),
        "*" => Ok((Place::Each, &text[end..])),
        name => Ok((Place::Member(name.to_owned()), &text[end..])),
    }
}

/// What stands behind an opening bracket: `0]`, `*]`, `"a name"]` or `'a name']`.
fn bracketed(inside: &str) -> Result<(Place, &str), &'static str> {
    const FAULT: &str = "what stands in brackets is [0], [*], [\"a name\"] or ['a name']: no filters, no slices, nothing from the end";
    if let Some(behind) = inside.strip_prefix("*]") {
        return Ok((Place::Each, behind));
    }
    if let Some(quoted) = inside.strip_prefix('\'') {
        let (name, behind) = quoted.split_once("']").ok_or(FAULT)?;
        return Ok((Place::Member(name.to_owned()), behind));
    }
    let mut names = serde_json::Deserializer::from_str(inside).into_iter::<Value>();
    let value = names.next().and_then(Result::ok).ok_or(FAULT)?;
    let behind = inside[names.byte_offset()..].strip_prefix(']').ok_or(FAULT)?;
    let place = match value {
        Value::String(name) => Place::Member(name),
        Value::Number(number) => {
            let index = number.as_u64().and_then(|index| usize::try_from(index).ok());
            Place::Element(index.ok_or(FAULT)?)
        }
        _ => return Err(FAULT),
    };
    Ok((place, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_paths() {
        let member = |name: &str| Place::Member(name.to_owned());
        let rows = [
            ("$", vec![]),
            ("$.a", vec![member("a")]),
            ("$.a.b[0].c", vec![member("a"), member("b"), Place::Element(0), member("c")]),
            ("$[2][*].x", vec![Place::Element(2), Place::Each, member("x")]),
            ("$[\"a.b\"]['c d']", vec![member("a.b"), member("c d")]),
            ("$.*.a", vec![Place::Each, member("a")]),
        ];
        for (text, places) in rows {
            let path = Path::parse(text).expect(text);
            assert_eq!((path.places, path.text.as_str()), (places, text));
        }
        assert!(Path::parse("$[*]").expect("a path").names_many());
        for text in
            ["", "a", "$a", "$..a", "$.a.", "$[-1]", "$[0:2]", "$[?(@.a==1)]", "$[0", "$['a]"]
        {
            assert!(Path::parse(text).is_err(), "{text}");
        }
    }
}
