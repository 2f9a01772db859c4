//! The header fields that a plan gives to its requests.
//!
//! Knows where they have holes; must not know what is laid into these.

use wiretrial_proto::http1::HeadPart;

use crate::plan::Target;
use crate::plan::profile::Piece;

/// A field's name, and the parts of its value.
pub(super) type FieldParts<'t> = (&'t str, Vec<HeadPart<'t>>);

/// Those of a target's own, then those of its profile.
pub(super) fn fields(target: &Target) -> Vec<FieldParts<'_>> {
    let own = target.headers.iter();
    let own = own.map(|(name, value)| (name.as_str(), vec![HeadPart::Text(value.as_str())]));
    let beside = target.profile.iter().flat_map(|profile| &profile.fields).map(|field| {
        let parts = field.value.iter().map(|piece| match piece {
            Piece::Text(text) => HeadPart::Text(text),
            Piece::Digits(_) => HeadPart::Hole,
        });
        (field.name, parts.collect())
    });
    own.chain(beside).collect()
}
