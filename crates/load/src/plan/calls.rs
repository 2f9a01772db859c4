//! Calls of gRPC and the form of their messages, as they cross the seam.
//!
//! Knows the names and defaults of the JSON; must not know what makes them ones that can be asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// A method of gRPC (grpc, grpcs), whose path is that of the URL.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GrpcDocument {
    /// Who sends how many messages in a call.
    #[serde(skip_serializing_if = "is_unary")]
    pub kind: KindDocument,
    /// How long a call may take, nanoseconds: it is told to the server, and a reply that comes later has failed; null:
    /// nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
    /// The status of a right reply, by its number; that of other replies than OK makes their content none.
    #[serde(skip_serializing_if = "is_ok")]
    pub status: u16,
    /// How many messages a right reply has, from and to and with, null: no limit. Null: one where the server sends
    /// one, and else any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replies: Option<(u32, Option<u32>)>,
    /// Messages go in gzip, and those of replies may come in it.
    #[serde(skip_serializing_if = "is_not")]
    pub gzip: bool,
    /// Of a call whose client sends several messages: the time from one of them to the next, nanoseconds; null: they go
    /// at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_interval_ns: Option<u64>,
    /// Of `bidi`: the next message goes when the one before it is answered.
    #[serde(skip_serializing_if = "is_not")]
    pub turns: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands references over")]
fn is_unary(kind: &KindDocument) -> bool {
    *kind == KindDocument::Unary
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands references over")]
fn is_ok(status: &u16) -> bool {
    *status == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands references over")]
fn is_not(said: &bool) -> bool {
    !said
}

impl GrpcDocument {
    /// Does it say nothing?
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Who sends how many messages in a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KindDocument {
    /// Each side sends one.
    #[default]
    Unary,
    /// The server sends several.
    Server,
    /// The client sends several: a list of payloads is one call.
    Client,
    /// Both do: a list of payloads is one call.
    Bidi,
}

/// What a message in the wire format of Protocol Buffers is like.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WireDocument {
    /// What its fields are like, at most 64.
    pub fields: Vec<FieldDocument>,
    /// It may have fields whose numbers are not among these.
    pub others: bool,
}

/// A field of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldDocument {
    /// Its number, unlike those of the others.
    pub number: u32,
    /// How its value stands on the wire.
    pub wire: WireTypeDocument,
    /// How often it occurs at least.
    #[serde(default)]
    pub least: u32,
    /// How often it occurs at most; null: no limit.
    #[serde(default)]
    pub most: Option<u32>,
    /// Its value is one of these, base64 of what stands on the wire behind the tag and, of `len`, the length; empty: any.
    #[serde(default)]
    pub values: Vec<String>,
    /// Of `len`: bytes of its content, from and to and with; null: no limit.
    #[serde(default)]
    pub length: Option<(u64, Option<u64>)>,
    /// Of `varint`: whole numbers from and to and with; null: no limit.
    #[serde(default)]
    #[schemars(with = "Option<(Option<i64>, Option<i64>)>")]
    pub range: Option<(Option<Number>, Option<Number>)>,
    /// Of `varint`: which number its bits are, where a range is said.
    #[serde(default)]
    pub signed: SignedDocument,
    /// Of `len`: its content is a text in UTF-8.
    #[serde(default)]
    pub utf8: bool,
    /// Of `len`: its content is such a message; null: bytes, a text, or packed numbers.
    #[serde(default)]
    pub message: Option<Box<WireDocument>>,
}

/// How a value stands on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WireTypeDocument {
    /// Seven bits in each byte.
    Varint,
    /// Eight bytes.
    I64,
    /// A length, and so many bytes.
    Len,
    /// Four bytes.
    I32,
}

/// Which number the bits of a varint are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SignedDocument {
    /// One without a sign (`uint32`, `uint64`, `bool`).
    #[default]
    No,
    /// One in two's complement (`int32`, `int64`, `enum`).
    Int,
    /// One whose sign is its last bit (`sint32`, `sint64`).
    Zigzag,
}
