//! Rules for replies that vary, from the text in which people write them.
//!
//! Knows what a rule says; must not know replies.

use serde_json::Value;

use super::PlanError;
use super::pattern::compiles;

/// What must hold of a reply's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// It is JSON, and has this value there; none: any value.
    Json {
        /// Where to look.
        path: JsonPath,
        /// What must stand there.
        value: Option<Value>,
    },
    /// This pattern matches somewhere in it. It compiles.
    Regex(String),
}

/// A place in a JSON document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath {
    /// As it was written.
    pub text: String,
    /// From the document inwards.
    pub steps: Vec<Step>,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The member of an object with this name.
    Member(String),
    /// The element of an array, counted from 0.
    Element(usize),
}

impl Rule {
    /// Reads `json:PATH=VALUE`, `json:PATH` or `regex:PATTERN`.
    ///
    /// # Errors
    /// What is wrong with it, with the remedy.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        if let Some(pattern) = text.strip_prefix("regex:") {
            if pattern.is_empty() {
                return wrong(text, "there is no pattern: use status for any reply");
            }
            return compiles(pattern).map(Self::Regex).or_else(|fault| wrong(text, &fault));
        }
        let Some(rest) = text.strip_prefix("json:") else {
            return wrong(text, "write json:PATH=VALUE, json:PATH or regex:PATTERN");
        };
        let (steps, behind) = match steps(rest) {
            Ok(read) => read,
            Err(fault) => return wrong(text, fault),
        };
        let path = JsonPath { text: rest[..rest.len() - behind.len()].to_owned(), steps };
        let value = behind.strip_prefix('=').map(|value| {
            serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()))
        });
        Ok(Self::Json { path, value })
    }
}

fn wrong<T>(text: &str, what: &str) -> Result<T, PlanError> {
    Err(PlanError(format!("expect.content: '{text}': {what}")))
}

/// The steps of a path, and what stands behind it: nothing, or `=VALUE`.
fn steps(text: &str) -> Result<(Vec<Step>, &str), &'static str> {
    const NO_NAME: &str = "the path has a place without a name: write json:a.b[0].c=VALUE";
    let from_root = text.strip_prefix('$');
    let (mut steps, mut rest) = (Vec::new(), from_root.unwrap_or(text));
    // A name may begin the path, or what follows `$`.
    let mut is_name_next = from_root.is_none();
    loop {
        if let Some(inside) = rest.strip_prefix('[') {
            let (step, behind) = bracketed(inside)?;
            steps.push(step);
            rest = behind;
        } else if is_name_next || rest.starts_with('.') {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[', '=']).unwrap_or(name.len());
            if end == 0 {
                return Err(NO_NAME);
            }
            steps.push(Step::Member(name[..end].to_owned()));
            rest = &name[end..];
        } else {
            break;
        }
        is_name_next = false;
    }
    match rest.chars().next() {
        None | Some('=') => Ok((steps, rest)),
        Some(_) => Err(NO_NAME),
    }
}

/// A step behind its opening bracket: `0]` or `"a name"]`.
fn bracketed(inside: &str) -> Result<(Step, &str), &'static str> {
    const FAULT: &str = "a place in brackets is [0] or [\"name\"]";
    let mut names = serde_json::Deserializer::from_str(inside).into_iter::<Value>();
    let value = names.next().and_then(Result::ok).ok_or(FAULT)?;
    let behind = inside[names.byte_offset()..].strip_prefix(']').ok_or(FAULT)?;
    let step = match value {
        Value::String(name) => Step::Member(name),
        Value::Number(number) => {
            let index = number.as_u64().and_then(|index| usize::try_from(index).ok());
            Step::Element(index.ok_or(FAULT)?)
        }
        _ => return Err(FAULT),
    };
    Ok((step, behind))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn member(name: &str) -> Step {
        Step::Member(name.to_owned())
    }

    #[test]
    fn table_of_rules() {
        let rows = [
            ("json:status=ok", vec![member("status")], Some(json!("ok"))),
            ("json:$.status=\"ok\"", vec![member("status")], Some(json!("ok"))),
            (
                "json:a.b[0].c=1",
                vec![member("a"), member("b"), Step::Element(0), member("c")],
                Some(json!(1)),
            ),
            ("json:[2][0]=true", vec![Step::Element(2), Step::Element(0)], Some(json!(true))),
            ("json:$[\"a.b\"]", vec![member("a.b")], None),
            ("json:a=", vec![member("a")], Some(json!(""))),
            ("json:a=b=c", vec![member("a")], Some(json!("b=c"))),
            ("json:$", vec![], None),
            ("json:$=[]", vec![], Some(json!([]))),
        ];
        for (text, steps, value) in rows {
            let Ok(Rule::Json { path, value: read }) = Rule::parse(text) else { panic!("{text}") };
            assert_eq!((path.steps, read), (steps, value), "{text}");
        }
        assert_eq!(Rule::parse("regex:^a=.*"), Ok(Rule::Regex("^a=.*".to_owned())));
    }

    #[test]
    fn table_of_faults() {
        let rows = [
            ("ok", "write json:PATH=VALUE"),
            ("json:", "a place without a name"),
            ("json:a..b=1", "a place without a name"),
            ("json:a[x]=1", "[0] or"),
            ("json:a[0=1", "[0] or"),
            ("json:a[-1]=1", "[0] or"),
            ("json:$a=1", "a place without a name"),
            ("regex:", "there is no pattern"),
            ("regex:(", "unclosed group"),
        ];
        for (text, says) in rows {
            let error = Rule::parse(text).expect_err(text).to_string();
            assert!(error.contains(says) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
