//! The list of extensions in a head (RFC 6455 section 9.1), read.
//!
//! Knows lists, parameters and quotes; must not know what a parameter means.

use super::parameters::{DeflateAnswer, DeflateConfig, NAME, Parameter};
use crate::fields::FieldList;
use crate::head::{Extensions, Field};

impl Extensions<'_> {
    /// What a server with these wishes answers: it takes the first offer of permessage-deflate
    /// that it can agree to. None: it can agree to none.
    pub fn accept_deflate(&self, wishes: &DeflateConfig) -> Option<DeflateAnswer> {
        let lists = self.fields.clone().filter_map(Result::ok).filter(is_list_of_extensions);
        let mut offers = lists.flat_map(|field| field.members()).filter_map(named_deflate);
        offers.find_map(|parameters| wishes.accept(parameters))
    }
}

impl DeflateConfig {
    /// As [`Extensions::accept_deflate`], of a list of fields.
    pub(crate) fn accept_among(self, fields: &FieldList) -> Option<DeflateAnswer> {
        let fields = fields.iter().map(|(name, value)| Field { name, value });
        let lists = fields.filter(is_list_of_extensions);
        let mut offers = lists.flat_map(|field| field.members()).filter_map(named_deflate);
        offers.find_map(|parameters| self.accept(parameters))
    }
}

/// Is this a field that lists extensions?
pub(in crate::websocket) fn is_list_of_extensions(field: &Field<'_>) -> bool {
    field.is("Sec-WebSocket-Extensions")
}

/// The parameters of a list's member that is called permessage-deflate.
pub(in crate::websocket) fn named_deflate(
    member: &[u8],
) -> Option<impl Iterator<Item = Parameter<'_>>> {
    let mut parts = member.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    (parts.next()? == NAME).then(|| parts.map(parameter))
}

/// `name`, `name=value` or `name="value"`; whatever else it is, no name or value fits it.
fn parameter(part: &[u8]) -> Parameter<'_> {
    let Some(equals) = part.iter().position(|byte| *byte == b'=') else {
        return Parameter { name: part, value: None };
    };
    let (name, value) = (part[..equals].trim_ascii_end(), part[equals + 1..].trim_ascii_start());
    let value = match value {
        [b'"', inner @ .., b'"'] => inner,
        bare => bare,
    };
    Parameter { name, value: Some(value) }
}
