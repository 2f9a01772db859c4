//! Calls of a session as they cross the seam.
//!
//! Knows the names and defaults of the JSON; must not know what makes a call one that can be made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part_document::PartDocument;
use crate::plan::calls::WireDocument;

/// A call of gRPC: its method, its messages, and what a right reply carries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallDocument {
    /// `/package.Service/Method`.
    pub path: String,
    /// The messages of the call, each of pieces in the wire format of Protocol Buffers.
    pub messages: Vec<Vec<PieceDocument>>,
    /// How long it may take, nanoseconds: it is told to the server, and a later reply has failed; null: nothing is said.
    #[serde(default)]
    pub deadline_ns: Option<u64>,
    /// How many messages a right reply has, from and to and with; null: no limit.
    pub replies: (u32, Option<u32>),
    /// What each of them is like; null: anything.
    #[serde(default)]
    pub shape: Option<WireDocument>,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PieceDocument {
    /// As it stands, base64.
    Bytes(String),
    /// A text in UTF-8.
    Text(Vec<PartDocument>),
    /// The length of what follows as a varint, and that.
    Sized(Vec<PieceDocument>),
    /// A number, of its digits; zero where they are none.
    Number {
        /// Which.
        of: PartDocument,
        /// How it stands on the wire.
        #[serde(rename = "as")]
        scalar: ScalarDocument,
    },
}

/// What a value on the wire means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScalarDocument {
    /// A text, or bytes.
    Text,
    /// `true` or `false`, a varint.
    Bool,
    /// A varint without a sign.
    Unsigned,
    /// A varint in two's complement.
    Signed,
    /// A varint whose sign is its last bit.
    Zigzag,
    /// Four bytes without a sign.
    Fixed32,
    /// Eight bytes without a sign.
    Fixed64,
    /// Four bytes in two's complement.
    Sfixed32,
    /// Eight bytes in two's complement.
    Sfixed64,
    /// Four bytes, binary32.
    Float,
    /// Eight bytes, binary64.
    Double,
}

/// Where a field stands in a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldPlaceDocument {
    /// What it is called where somebody is told of it.
    pub name: String,
    /// Numbers of fields, from the outermost message on, each with the index of its occurrence; null: the last one.
    pub path: Vec<(u32, Option<u32>)>,
    /// How its value is read.
    #[serde(rename = "as")]
    pub scalar: ScalarDocument,
    /// Where it is not written it is zero, false or empty.
    #[serde(default)]
    pub has_usual: bool,
}
