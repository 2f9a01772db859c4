//! Shapes of JSON as they cross the seam.
//!
//! Knows the names and defaults of the JSON; must not know what makes a shape one that can be asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// What a value of JSON is like. All that is said must hold; what is said of one type says nothing of the others, so
/// that nothing said is any value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ShapeDocument {
    /// It is of one of these types; empty: of any.
    pub types: Vec<TypeDocument>,
    /// It is equal to one of these; empty: any.
    pub values: Vec<Value>,
    /// Of texts: characters; of lists: elements; from and to and with, null: no limit.
    pub length: Option<(u64, Option<u64>)>,
    /// Of numbers: from and to and with; null: no limit.
    pub range: Option<(Option<Number>, Option<Number>)>,
    /// Of texts: a regular expression that matches somewhere in it.
    pub pattern: Option<String>,
    /// Of objects: what their members are like, at most 1024.
    pub members: Vec<MemberDocument>,
    /// Objects may have members that `members` does not name.
    pub others: bool,
    /// Of lists: what each element is like; null: anything.
    pub items: Option<Box<Self>>,
}

impl Default for ShapeDocument {
    fn default() -> Self {
        Self {
            types: Vec::new(),
            values: Vec::new(),
            length: None,
            range: None,
            pattern: None,
            members: Vec::new(),
            others: true,
            items: None,
        }
    }
}

/// A member of an object. Of members that stand twice in an object the last one counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberDocument {
    /// Its name, unlike those of the others.
    pub name: String,
    /// What it is like.
    #[serde(default)]
    pub shape: ShapeDocument,
    /// It must be there.
    #[serde(default = "yes")]
    pub required: bool,
}

fn yes() -> bool {
    true
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TypeDocument {
    /// Text.
    String,
    /// A number.
    Number,
    /// A number without a fraction.
    Integer,
    /// A number with a fraction or an exponent.
    Float,
    /// True or false.
    Boolean,
    /// Nothing.
    Null,
    /// A list.
    List,
    /// An object.
    Object,
    /// A text that is a UUID.
    Uuid,
    /// A text that is a date and time of RFC 3339.
    Time,
}
