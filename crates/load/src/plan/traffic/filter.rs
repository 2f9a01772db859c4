//! Filters: what is made of something in a reply before it is tested.
//!
//! Knows their names, and which can be applied at all. Must not know what comes of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json_path::JsonPath;

use crate::plan::pattern;

/// What is made of a value. One that a filter can't be applied to, and one that is not there, fails its check, also
/// where that has `not`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilterDocument {
    /// Of a text or bytes: their SHA-256, in lower-case hexadecimal digits.
    Sha256,
    /// Of a text or bytes: their MD5, in lower-case hexadecimal digits.
    Md5,
    /// Of JSON, or of a text that is JSON: what is at this path (RFC 9535). Of a path that may name several places the
    /// list of all that are there.
    Jsonpath(String),
    /// The element of a list with this index, from 0.
    Nth(u32),
    /// Of a text: the first group of what this pattern matches first, or all of it where it has no group.
    Regex(String),
    /// Of a text: each place where this stands has the other in its place.
    Replace(ReplacedDocument),
    /// The same of each place where a pattern matches.
    ReplaceRegex(ReplacedPatternDocument),
    /// Of a text: the list of its parts between these.
    Split(String),
    /// Of a text or number: the whole number.
    ToInt,
    /// Of a text or number: the number, with a fraction.
    ToFloat,
    /// It as text.
    ToString,
    /// Of bytes: the text that they are in UTF-8.
    DecodeUtf8,
    /// Of a text: percent-encoded bytes are what they stand for.
    UrlDecode,
    /// Of a text: bytes but for letters, digits and `-._~/` are percent-encoded.
    UrlEncode,
    /// Of a text that is base64 (RFC 4648): the bytes.
    #[serde(rename = "base64_decode")]
    Base64Decode,
    /// Of bytes or a text: base64.
    #[serde(rename = "base64_encode")]
    Base64Encode,
}

/// What stands in a text, and what comes in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplacedDocument {
    /// A text as it stands.
    pub old: String,
    /// What comes in its place.
    pub new: String,
}

/// What matches in a text, and what comes in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplacedPatternDocument {
    /// A regular expression.
    pub pattern: String,
    /// What comes in its place; `$1` is the first group.
    pub new: String,
}

impl FilterDocument {
    /// Can it be applied to anything?
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Self::Regex(pattern) | Self::ReplaceRegex(ReplacedPatternDocument { pattern, .. }) => {
                pattern::compiles(pattern)
                    .map(drop)
                    .map_err(|fault| format!("'{pattern}': {fault}"))
            }
            Self::Jsonpath(path) => match JsonPath::parse(path) {
                Ok(_) => Ok(()),
                Err(error) => Err(format!(
                    "'{path}' is no path of RFC 9535: {} at {}",
                    error.message(),
                    error.position()
                )),
            },
            Self::Replace(ReplacedDocument { old, .. }) if old.is_empty() => {
                Err("nothing can't be replaced: give a text".to_owned())
            }
            Self::Split(at) if at.is_empty() => {
                Err("a text is split at a text: give one".to_owned())
            }
            _ => Ok(()),
        }
    }
}
