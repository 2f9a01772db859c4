//! What must hold of one thing in a reply, and what is said where it does not.
//!
//! Knows tests. Must not know where the things that they test come from.

use std::cmp::Ordering;

use regex::bytes::Regex;
use serde_json::Value;

use super::template::{Known, Template};
use crate::plan::shape::Type;
use crate::plan::traffic::{Comparison, Operand, Test};
use crate::source::excerpt;
use crate::source::seen::Seen;
use crate::source::shape::Shape;

/// A test, ready to be made.
#[derive(Debug)]
pub(super) struct Check {
    count: bool,
    not: bool,
    holds: Holds,
}

#[derive(Debug)]
enum Holds {
    Exists,
    Empty,
    Compared(Comparison, With),
    Contains(With),
    Starts(Template),
    Ends(Template),
    Matches(Box<Regex>),
    Type(Type),
    Shape(Box<Shape>),
}

/// What a value is compared with.
#[derive(Debug)]
enum With {
    Json(Value),
    Text(Template),
}

impl With {
    fn new(operand: &Operand) -> Self {
        match operand {
            Operand::Json(value) => Self::Json(value.clone()),
            Operand::Text(text) => Self::Text(Template::new(text)),
        }
    }

    fn compare(&self, seen: &Seen<'_>, known: Known<'_>, room: &mut Vec<u8>) -> Option<Ordering> {
        match self {
            Self::Json(value) => seen.compared(value),
            Self::Text(text) => seen.compared_with_text(text.fill(known, room)),
        }
    }

    fn shown(&self, known: Known<'_>) -> String {
        match self {
            Self::Json(value) => excerpt(value.to_string().as_bytes()),
            Self::Text(text) => format!("'{}'", excerpt(text.fill(known, &mut Vec::new()))),
        }
    }
}

impl Check {
    /// Each pattern compiles, as a plan has been told.
    pub(super) fn new(check: &crate::plan::traffic::Check) -> Self {
        let holds = match &check.test {
            Test::Exists => Holds::Exists,
            Test::Empty => Holds::Empty,
            Test::Compared(how, with) => Holds::Compared(*how, With::new(with)),
            Test::Contains(with) => Holds::Contains(With::new(with)),
            Test::Starts(text) => Holds::Starts(Template::new(text)),
            Test::Ends(text) => Holds::Ends(Template::new(text)),
            Test::Matches(pattern) => Holds::Matches(Box::new(compiled(pattern))),
            Test::Type(named) => Holds::Type(*named),
            Test::Shape(shape) => Holds::Shape(Box::new(Shape::new(shape))),
        };
        Self { count: check.count, not: check.not, holds }
    }

    /// Does it hold? What is not there passes no test but that.
    pub(super) fn holds(&self, seen: &Seen<'_>, known: Known<'_>, room: &mut Vec<u8>) -> bool {
        if let Holds::Exists = self.holds {
            return seen.is_there() != self.not;
        }
        if !seen.is_there() {
            return false;
        }
        if !self.count {
            return self.passes(seen, known, room) != self.not;
        }
        let count = seen.count().map(Seen::Number);
        count.is_some_and(|count| self.passes(&count, known, room) != self.not)
    }

    fn passes(&self, seen: &Seen<'_>, known: Known<'_>, room: &mut Vec<u8>) -> bool {
        match &self.holds {
            Holds::Exists => true,
            Holds::Empty => seen.count() == Some(0),
            Holds::Type(named) => seen.is_of(*named),
            Holds::Shape(shape) => shape.fits(seen),
            Holds::Matches(pattern) => seen.text().is_some_and(|text| pattern.is_match(&text)),
            Holds::Starts(text) => {
                seen.text().is_some_and(|own| own.starts_with(text.fill(known, room)))
            }
            Holds::Ends(text) => {
                seen.text().is_some_and(|own| own.ends_with(text.fill(known, room)))
            }
            Holds::Contains(with) => contains(seen, with, known, room),
            Holds::Compared(how, with) => {
                let is = with.compare(seen, known, room);
                match how {
                    Comparison::Equal => is == Some(Ordering::Equal),
                    Comparison::Unequal => is != Some(Ordering::Equal),
                    Comparison::Less => is == Some(Ordering::Less),
                    Comparison::AtMost => is.is_some_and(Ordering::is_le),
                    Comparison::Greater => is == Some(Ordering::Greater),
                    Comparison::AtLeast => is.is_some_and(Ordering::is_ge),
                }
            }
        }
    }

    /// What is looked at, in words.
    #[cold]
    pub(super) fn came(&self, seen: &Seen<'_>) -> String {
        match seen.count().filter(|_| self.count) {
            Some(count) => count.to_string(),
            None => seen.shown(),
        }
    }

    /// What is said of something with this name for which it does not hold.
    #[cold]
    pub(super) fn fault(&self, name: &str, seen: &Seen<'_>, known: Known<'_>) -> String {
        if !seen.is_there() {
            return format!("there is no {name}");
        }
        let (count, not) =
            (if self.count { " count" } else { "" }, if self.not { "not " } else { "" });
        let found = self.came(seen);
        let wanted = match &self.holds {
            Holds::Exists => return format!("there is a {name}, {found}"),
            Holds::Empty => "empty".to_owned(),
            Holds::Compared(how, with) => {
                let how = match how {
                    Comparison::Equal => "",
                    Comparison::Unequal => "!= ",
                    Comparison::Less => "< ",
                    Comparison::AtMost => "<= ",
                    Comparison::Greater => "> ",
                    Comparison::AtLeast => ">= ",
                };
                format!("{how}{}", with.shown(known))
            }
            Holds::Contains(with) => format!("with {} in it", with.shown(known)),
            Holds::Starts(text) => {
                format!("beginning with '{}'", excerpt(text.fill(known, &mut Vec::new())))
            }
            Holds::Ends(text) => {
                format!("ending with '{}'", excerpt(text.fill(known, &mut Vec::new())))
            }
            Holds::Matches(pattern) => format!("matching {pattern}"),
            Holds::Type(named) => format!("of type {}", format!("{named:?}").to_lowercase()),
            Holds::Shape(shape) if !self.not => return shape.fault(name, seen),
            Holds::Shape(_) => "of the shape".to_owned(),
        };
        let should = if self.not { "is wanted to be " } else { "is wanted " };
        format!("{name}{count} was {found}, and {should}{not}{wanted}")
    }
}

fn contains(seen: &Seen<'_>, with: &With, known: Known<'_>, room: &mut Vec<u8>) -> bool {
    match with {
        With::Text(text) => {
            let text = text.fill(known, room);
            let among = seen.any_element(|it| it.compared_with_text(text) == Some(Ordering::Equal));
            among.unwrap_or_else(|| seen.text().is_some_and(|own| has(&own, text)))
        }
        With::Json(value) => {
            let among = seen.any_element(|it| it.compared(value) == Some(Ordering::Equal));
            let text = value.as_str().map(str::as_bytes);
            among.unwrap_or_else(|| match (seen.text(), text) {
                (Some(own), Some(text)) => has(&own, text),
                _ => false,
            })
        }
    }
}

/// Does this stand somewhere in it?
fn has(own: &[u8], text: &[u8]) -> bool {
    match (str::from_utf8(own), str::from_utf8(text)) {
        (Ok(own), Ok(text)) => own.contains(text),
        _ => text.is_empty() || own.windows(text.len()).any(|window| window == text),
    }
}

/// How a body differs from what it should be.
#[cold]
pub(super) fn differs(body: &[u8], wanted: &[u8]) -> String {
    let same = body.iter().zip(wanted).take_while(|(own, wanted)| own == wanted).count();
    let from = same.saturating_sub(24);
    let dots = if from > 0 { "…" } else { "" };
    format!(
        "from byte {same} on the body was '{dots}{}', not '{dots}{}'",
        excerpt(&body[from..]),
        excerpt(&wanted[from..])
    )
}

/// A pattern of a plan that was parsed.
pub(super) fn compiled(pattern: &str) -> Regex {
    // A plan refuses what does not compile.
    #[expect(clippy::expect_used, reason = "a plan's patterns compile")]
    Regex::new(pattern).expect("a plan's patterns compile")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::traffic::{Found, Part};
    use crate::source::traffic::{Making, Values};

    fn words(text: &str) -> Vec<Part> {
        vec![Part::Text(text.to_owned())]
    }

    fn told(test: Test, count: bool, not: bool, seen: &Seen<'_>) -> Result<(), String> {
        let filters = Vec::new();
        let check = crate::plan::traffic::Check { of: Found::Body, filters, count, not, test };
        let check = Check::new(&check);
        let values = Values::default();
        let known = Known { values: &values, making: Making::default() };
        if check.holds(seen, known, &mut Vec::new()) {
            return Ok(());
        }
        Err(check.fault("it", seen, known))
    }

    #[test]
    fn table_of_tests() {
        use Comparison::{AtLeast, AtMost, Equal, Greater, Less, Unequal};

        let list = Seen::List { body: b"[1,2]", places: &[1..2, 3..4] };
        let number = |how, with: i64| Test::Compared(how, Operand::Json(json!(with)));
        let text = |how, with: &str| Test::Compared(how, Operand::Text(words(with)));
        let rows = [
            (Test::Exists, Seen::Json("null"), Ok(())),
            (Test::Exists, Seen::Nothing, Err("there is no it")),
            (Test::Empty, Seen::Json("[]"), Ok(())),
            (Test::Empty, Seen::Json("\"a\""), Err(r#"it was "a", and is wanted empty"#)),
            (number(Equal, 5), Seen::Json("5"), Ok(())),
            (number(Equal, 5), Seen::Json("\"5\""), Err(r#"it was "5", and is wanted 5"#)),
            (number(Unequal, 5), Seen::Json("5.0"), Err("it was 5.0, and is wanted != 5")),
            (number(Unequal, 5), Seen::Nothing, Err("there is no it")),
            (number(Less, 5), Seen::Json("4.9"), Ok(())),
            (number(Less, 5), Seen::Json("5"), Err("it was 5, and is wanted < 5")),
            (number(AtMost, 5), Seen::Json("5"), Ok(())),
            (number(Greater, 5), Seen::Number(6), Ok(())),
            (number(AtLeast, 5), Seen::Json("null"), Err("it was null, and is wanted >= 5")),
            (text(Equal, "5"), Seen::Json("5"), Ok(())),
            (text(Equal, "a"), Seen::Json("\"a\""), Ok(())),
            (text(Equal, "a"), Seen::Text(b"b"), Err("it was 'b', and is wanted 'a'")),
            (Test::Contains(Operand::Json(json!("b"))), Seen::Json("\"abc\""), Ok(())),
            (Test::Contains(Operand::Json(json!(2))), Seen::Json("[1,2]"), Ok(())),
            (Test::Contains(Operand::Text(words("2"))), list, Ok(())),
            (
                Test::Contains(Operand::Text(words("x"))),
                Seen::Text(b"ab"),
                Err("it was 'ab', and is wanted with 'x' in it"),
            ),
            (Test::Starts(words("ab")), Seen::Json("\"abc\""), Ok(())),
            (
                Test::Ends(words("ab")),
                Seen::Text(b"abc"),
                Err("it was 'abc', and is wanted ending"),
            ),
            (Test::Matches("^a.c$".to_owned()), Seen::Text(b"abc"), Ok(())),
            (
                Test::Matches("^a".to_owned()),
                Seen::Json("1"),
                Err("it was 1, and is wanted matching"),
            ),
            (Test::Type(Type::List), Seen::Json("[1]"), Ok(())),
            (Test::Type(Type::Uuid), Seen::Json("\"a\""), Err("wanted of type uuid")),
        ];
        for (test, seen, expected) in rows {
            let found = told(test.clone(), false, false, &seen);
            let turned = told(test.clone(), false, true, &seen);
            match expected {
                Ok(()) => assert_eq!(found, Ok(()), "{test:?} of {seen:?}"),
                Err(says) => {
                    let fault = found.clone().expect_err(says);
                    assert!(fault.contains(says), "{test:?} of {seen:?}: {fault}");
                }
            }
            let is_turned = seen.is_there() || test == Test::Exists;
            assert_eq!(turned.is_ok(), found.is_err() && is_turned, "not {test:?} of {seen:?}");
        }
    }

    #[test]
    fn a_count_is_tested_in_place_of_what_it_counts() {
        let list = Seen::List { body: b"[1,2]", places: &[1..2, 3..4] };
        let two = || Test::Compared(Comparison::Equal, Operand::Json(json!(2)));
        assert_eq!(told(two(), true, false, &Seen::Json("[1,{}]")), Ok(()));
        assert_eq!(told(two(), true, false, &list), Ok(()));
        let fault = told(two(), true, false, &Seen::Json("[]")).expect_err("none");
        assert_eq!(fault, "it count was 0, and is wanted 2");
        assert!(told(two(), true, true, &Seen::Json("2")).is_err(), "it has no count");
        let fault = told(two(), true, true, &Seen::Json("[1,2]")).expect_err("two");
        assert_eq!(fault, "it count was 2, and is wanted to be not 2");
    }
}
