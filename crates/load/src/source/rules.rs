//! Replies that vary: does what is said of them hold?
//!
//! Knows a reply's whole content. A reply that is right costs one pass per rule and no allocation,
//! but for names and texts with escapes; what was wrong is looked for in a second pass.

use std::fmt;

use regex::bytes::Regex;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::excerpt;
use super::names::Named;
use super::seen::Seen;
use super::shape::Shape;
use crate::plan::shape::Shape as Planned;
use crate::plan::{JsonPath, Rule, Step};

/// Rules, ready to be asked.
#[derive(Debug)]
pub struct Rules(Vec<Check>);

#[derive(Debug)]
enum Check {
    Json { path: JsonPath, value: Option<Value> },
    Regex(Box<Regex>),
    Shape(Box<Shape>),
}

impl Rules {
    /// These rules. Each pattern compiles, as a plan has been told.
    pub(super) fn new(rules: &[Rule]) -> Self {
        let check = |rule: &Rule| match rule {
            Rule::Json { path, value } => {
                Some(Check::Json { path: path.clone(), value: value.clone() })
            }
            Rule::Regex(pattern) => Some(Check::Regex(Box::new(Regex::new(pattern).ok()?))),
        };
        let checks: Vec<Check> = rules.iter().filter_map(check).collect();
        debug_assert_eq!(checks.len(), rules.len());
        Self(checks)
    }

    /// The content has this shape.
    pub(super) fn shaped(shape: &Planned) -> Self {
        Self(vec![Check::Shape(Box::new(Shape::new(shape)))])
    }

    /// Does each rule hold of this content?
    ///
    /// # Errors
    /// What does not, and the beginning of the reply.
    pub(super) fn check(&self, content: &[u8]) -> Result<(), String> {
        match self.0.iter().find(|check| !check.holds(content)) {
            None => Ok(()),
            Some(broken) => Err(broken.fault(content)),
        }
    }
}

impl Check {
    fn holds(&self, content: &[u8]) -> bool {
        match self {
            Self::Regex(pattern) => pattern.is_match(content),
            Self::Shape(shape) => shape.fits(&Seen::Text(content)),
            Self::Json { path, value } => {
                let mut reader = serde_json::Deserializer::from_slice(content);
                let seek = Seek { steps: &path.steps, value: value.as_ref() };
                seek.deserialize(&mut reader).is_ok_and(|found| found && reader.end().is_ok())
            }
        }
    }

    #[cold]
    fn fault(&self, content: &[u8]) -> String {
        let shown = excerpt(content);
        let (path, value) = match self {
            Self::Regex(pattern) => return format!("nothing matches {pattern} in '{shown}'"),
            Self::Shape(shape) => {
                return format!("{}, in '{shown}'", shape.fault("body", &Seen::Text(content)));
            }
            Self::Json { path, value } => (path, value),
        };
        let document: Value = match serde_json::from_slice(content) {
            Ok(document) => document,
            Err(error) => return format!("it is no JSON ({error}): '{shown}'"),
        };
        let place = path.steps.iter().try_fold(&document, |value, step| match step {
            Step::Member(name) => value.get(name.as_str()),
            Step::Element(index) => value.get(index),
        });
        let path = &path.text;
        match (place, value) {
            (Some(found), Some(value)) => {
                let found = excerpt(found.to_string().as_bytes());
                format!("{path} was {found}, not {value}, in '{shown}'")
            }
            _ => format!("there is no {path} in '{shown}'"),
        }
    }
}

/// Looks for the rest of a path, and compares what stands at its end.
struct Seek<'r> {
    steps: &'r [Step],
    /// None: any.
    value: Option<&'r Value>,
}

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    /// It is there, and has the value.
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<bool, D::Error> {
        reader.deserialize_any(self)
    }
}

impl Seek<'_> {
    /// A value that has no parts is what the path ends at, if it ends here.
    fn scalar(&self, is_it: impl FnOnce(&Value) -> bool) -> bool {
        self.steps.is_empty() && self.value.is_none_or(is_it)
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, found: bool) -> Result<bool, E> {
        Ok(self.scalar(|value| value.as_bool() == Some(found)))
    }

    fn visit_u64<E>(self, found: u64) -> Result<bool, E> {
        Ok(self.scalar(|value| value.as_u64() == Some(found) || is_float(value, found as f64)))
    }

    fn visit_i64<E>(self, found: i64) -> Result<bool, E> {
        Ok(self.scalar(|value| value.as_i64() == Some(found) || is_float(value, found as f64)))
    }

    fn visit_f64<E>(self, found: f64) -> Result<bool, E> {
        Ok(self.scalar(|value| is_number(value, found)))
    }

    fn visit_str<E>(self, found: &str) -> Result<bool, E> {
        Ok(self.scalar(|value| value.as_str() == Some(found)))
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(self.scalar(Value::is_null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<bool, A::Error> {
        let Some((step, rest)) = self.steps.split_first() else {
            let mut all = Vec::new();
            while let Some(element) = elements.next_element::<Value>()? {
                all.push(element);
            }
            return Ok(self.value.is_none_or(|value| value.as_array() == Some(&all)));
        };
        let mut found = false;
        for index in 0_usize.. {
            let more = if *step == Step::Element(index) {
                let element =
                    elements.next_element_seed(Seek { steps: rest, value: self.value })?;
                found = element == Some(true);
                element.is_some()
            } else {
                elements.next_element_seed(PASSED_OVER)?.is_some()
            };
            if !more {
                break;
            }
        }
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<bool, A::Error> {
        let Some((step, rest)) = self.steps.split_first() else {
            let mut all = serde_json::Map::new();
            while let Some((name, member)) = members.next_entry()? {
                all.insert(name, member);
            }
            return Ok(self.value.is_none_or(|value| value.as_object() == Some(&all)));
        };
        let mut found = false;
        let is_step = |found: &str| matches!(step, Step::Member(name) if name == found);
        while let Some(is_it) = members.next_key_seed(Named::new(is_step))? {
            if is_it {
                // Of names that stand twice the last one counts, as with most readers.
                found = members.next_value_seed(Seek { steps: rest, value: self.value })?;
            } else {
                members.next_value_seed(PASSED_OVER)?;
            }
        }
        Ok(found)
    }
}

/// What leads nowhere: it is read, and nothing of it is kept. `IgnoredAny` would allocate for what
/// lies within.
const PASSED_OVER: Seek<'static> = Seek { steps: &[Step::Element(usize::MAX)], value: None };

/// A fraction that is this number, such as `1.0`.
fn is_float(value: &Value, found: f64) -> bool {
    value.is_f64() && is_number(value, found)
}

fn is_number(value: &Value, found: f64) -> bool {
    value.as_f64() == Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: &str, content: &str) -> Result<(), String> {
        let rule = Rule::parse(rule).expect("a rule");
        Rules::new(&[rule]).check(content.as_bytes())
    }

    #[test]
    fn table_of_rules_that_hold() {
        let rows = [
            ("json:status=ok", r#"{"id":7,"status":"ok","t":1.5}"#),
            ("json:a.b[1].c=2", r#" {"x":[{}],"a":{"b":[0,{"c":2,"d":[]},{}]}} "#),
            ("json:a=1", r#"{"a":0,"a":1}"#),
            ("json:a=-1", r#"{"a":-1}"#),
            ("json:a=1", r#"{"a":1.0}"#),
            ("json:a=1.0", r#"{"a":1}"#),
            ("json:a=2.5e3", r#"{"a":2500.0}"#),
            ("json:a=true", r#"{"a":true}"#),
            ("json:a=null", r#"{"a":null}"#),
            ("json:a=[1,{\"b\":2}]", r#"{"a":[1,{"b":2}]}"#),
            ("json:a={\"c\":1,\"b\":2}", r#"{"a":{"b":2,"c":1}}"#),
            ("json:a", r#"{"a":{"b":2}}"#),
            ("json:$", "[1]"),
            ("json:$[\"a.b\"]=\"\u{fc}\"", r#"{"a.b":"\u00fc"}"#),
            ("regex:^\\{.*\\}$", r#"{"a":1}"#),
            ("regex:(?i)OK", "all ok"),
        ];
        for (rule, content) in rows {
            assert_eq!(check(rule, content), Ok(()), "{rule} of {content}");
        }
    }

    #[test]
    fn table_of_rules_that_do_not_hold() {
        let rows = [
            (
                "json:status=ok",
                r#"{"status":"bad"}"#,
                r#"status was "bad", not "ok", in '{"status":"bad"}'"#,
            ),
            ("json:a=1", r#"{"a":"1"}"#, r#"a was "1", not 1, in"#),
            ("json:a=\"1\"", r#"{"a":1}"#, r#"a was 1, not "1", in"#),
            ("json:a=0", r#"{"a":false}"#, "a was false, not 0"),
            ("json:a=1", r#"{"a":1,"a":0}"#, "a was 0, not 1"),
            ("json:a=[]", r#"{"a":[1]}"#, "a was [1], not []"),
            ("json:a.b=1", r#"{"a":[{"b":1}]}"#, "there is no a.b in"),
            ("json:a[3]=1", r#"{"a":[1,1,1]}"#, "there is no a[3] in"),
            ("json:a[0]", r#"{"a":{"0":1}}"#, "there is no a[0] in"),
            ("json:a=1", "", "it is no JSON (EOF while parsing a value at line 1 column 0): ''"),
            ("json:a=1", r#"{"a":1}{"#, "it is no JSON (trailing characters"),
            ("json:a=1", r#"{"a":1,"b"}"#, "it is no JSON (expected `:`"),
            ("json:a", "<html>", "it is no JSON (expected value at line 1 column 1): '<html>'"),
            ("regex:^ok$", "not ok", "nothing matches ^ok$ in 'not ok'"),
        ];
        for (rule, content, says) in rows {
            let fault = check(rule, content).expect_err(content);
            assert!(fault.contains(says), "{rule} of {content}: {fault}");
        }
    }

    #[test]
    fn all_rules_must_hold() {
        let rules =
            ["json:a=1", "json:b", "regex:x"].map(|text| Rule::parse(text).expect("a rule"));
        let rules = Rules::new(&rules);
        assert_eq!(rules.check(br#"{"a":1,"b":"x"}"#), Ok(()));
        for content in [r#"{"a":2,"b":"x"}"#, r#"{"a":1,"c":"x"}"#, r#"{"a":1,"b":"y"}"#] {
            assert!(rules.check(content.as_bytes()).is_err(), "{content}");
        }
    }
}
