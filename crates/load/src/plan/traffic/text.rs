//! Texts with holes, from the parts in which they cross the seam.
//!
//! Knows parts. Must not know where a text stands.

use super::document::PartDocument;
use super::names::Names;
use super::{Part, Text, Written};

/// A text with its names resolved, and without parts that say nothing.
pub(super) fn text(parts: &[PartDocument], names: &mut Names) -> Text {
    let mut text: Text = Vec::new();
    for part in parts {
        let part = match part {
            PartDocument::Text(words) if words.is_empty() => continue,
            PartDocument::Text(words) => {
                if let Some(Part::Text(before)) = text.last_mut() {
                    before.push_str(words);
                    continue;
                }
                Part::Text(words.clone())
            }
            PartDocument::Value(name) => Part::Value(names.index(name), Written::Plain),
            PartDocument::Url(name) => Part::Value(names.index(name), Written::Url),
            PartDocument::Json(name) => Part::Value(names.index(name), Written::Json),
            PartDocument::Make(made) => Part::Make(*made),
        };
        text.push(part);
    }
    text
}

/// The header fields of a request: those of each, and then its own.
pub(super) fn fields(
    own: &[(String, Vec<PartDocument>)],
    common: &[(String, String)],
    names: &mut Names,
) -> Vec<(String, Text)> {
    let common = common.iter().map(|(name, value)| {
        let value = if value.is_empty() { Vec::new() } else { vec![Part::Text(value.clone())] };
        (name.clone(), value)
    });
    let mut all: Vec<_> = common.collect();
    all.extend(own.iter().map(|(name, value)| (name.clone(), text(value, names))));
    all
}
