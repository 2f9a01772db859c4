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
    /// Of objects: whether they may have members that `members` does not name, or what those are like.
    pub others: OthersDocument,
    /// Of lists: what each element is like; null: anything.
    pub items: Option<Box<Self>>,
    /// Of each of these it has as many shapes as is said.
    pub choices: Vec<ChoiceDocument>,
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
            others: OthersDocument::Any(true),
            items: None,
            choices: Vec::new(),
        }
    }
}

/// A member of an object. Of named members that stand twice in an object the last one counts.
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

/// Members that have no name in a shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum OthersDocument {
    /// There may be such.
    Any(bool),
    /// Each is like this.
    Of(Box<ShapeDocument>),
}

/// Shapes of which a value has so many: one at least, exactly one, all of them, none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChoiceDocument {
    /// At least one.
    pub of: Vec<ShapeDocument>,
    /// So many of them, or more.
    #[serde(default)]
    pub least: u32,
    /// So many of them, or fewer; null: no limit.
    #[serde(default)]
    pub most: Option<u32>,
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
    /// A number without a fraction; `1.0` is one in a shape, and none in a check of the type alone.
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
