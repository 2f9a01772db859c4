//! What right replies are, and what is captured of them, from the document.
//!
//! Knows the rules for statuses, checks and captures. Must not know requests.

use super::call::place;
use super::document::{
    CaptureDocument, CheckDocument, FoundDocument, OperandDocument, StatusDocument, TestDocument,
};
use super::filter::FilterDocument;
use super::names::Names;
use super::text::text;
use super::{Capture, Check, Found, Operand, Path, Test};
use crate::plan::pattern;
use crate::plan::shape::shape;

/// The most that is captured, bytes.
const MOST_CAPTURED: u32 = 1 << 20;

/// The statuses of right replies.
pub(super) fn statuses(document: &StatusDocument) -> Result<Vec<(u16, u16)>, String> {
    match document {
        StatusDocument::Any => Ok(vec![(100, 599)]),
        StatusDocument::Success => Ok(vec![(200, 299)]),
        StatusDocument::In(statuses) if statuses.is_empty() => {
            Err("expect.status: no status is right; use 'any' for each".to_owned())
        }
        StatusDocument::In(statuses) => {
            match statuses.iter().find(|status| !(100..=599).contains(*status)) {
                Some(status) => Err(format!("expect.status: {status} is no HTTP status")),
                None => Ok(statuses.iter().map(|status| (*status, *status)).collect()),
            }
        }
    }
}

/// A check of a reply.
pub(super) fn check(document: &CheckDocument, names: &mut Names) -> Result<Check, String> {
    document.filters.iter().try_for_each(FilterDocument::check)?;
    let test = match &document.test {
        TestDocument::Exists => Test::Exists,
        TestDocument::Empty => Test::Empty,
        TestDocument::Compared { how, with } => Test::Compared(*how, operand(with, names)),
        TestDocument::Contains { with } => Test::Contains(operand(with, names)),
        TestDocument::Starts { with } => Test::Starts(text(with, names)),
        TestDocument::Ends { with } => Test::Ends(text(with, names)),
        TestDocument::Matches { pattern } => Test::Matches(compiles(pattern)?),
        TestDocument::Type { name } => Test::Type(*name),
        TestDocument::Shape { .. } if !has_shape(document) => {
            return Err("only the body, and what is at a place of it, has a shape: give body or json, and no filters and count".to_owned());
        }
        TestDocument::Shape { shape: it } => Test::Shape(Box::new(shape(it)?)),
    };
    let CheckDocument { count, not, .. } = *document;
    let filters = document.filters.clone();
    Ok(Check { of: found(&document.of)?, filters, count, not, test })
}

/// What is captured of a reply.
pub(super) fn capture(document: &CaptureDocument, names: &mut Names) -> Result<Capture, String> {
    let CaptureDocument { name, of, most } = document;
    if !(1..=MOST_CAPTURED).contains(most) {
        return Err(format!("captures '{name}': most is 1 to {MOST_CAPTURED} bytes"));
    }
    Ok(Capture {
        value: names.index(name),
        of: found(of).map_err(|fault| format!("captures '{name}': {fault}"))?,
        most: *most as usize,
        in_head: false,
        leads: false,
    })
}

fn has_shape(document: &CheckDocument) -> bool {
    matches!(document.of, FoundDocument::Body | FoundDocument::Json(_))
        && document.filters.is_empty()
        && !document.count
}

fn operand(document: &OperandDocument, names: &mut Names) -> Operand {
    match document {
        OperandDocument::Json(value) => Operand::Json(value.clone()),
        OperandDocument::Text(parts) => Operand::Text(text(parts, names)),
    }
}

fn found(document: &FoundDocument) -> Result<Found, String> {
    Ok(match document {
        FoundDocument::Status => Found::Status,
        FoundDocument::Body => Found::Body,
        FoundDocument::Bytes => Found::Bytes,
        FoundDocument::Json(path) => {
            Found::Json(Path::parse(path).map_err(|fault| format!("'{path}': {fault}"))?)
        }
        FoundDocument::Header(name) => Found::Header(name.clone()),
        FoundDocument::Cookie(name) => Found::Cookie(name.clone()),
        FoundDocument::Regex(pattern) => Found::Regex(compiles(pattern)?),
        FoundDocument::Field(field) => Found::Field(place(field)?),
    })
}

fn compiles(pattern: &str) -> Result<String, String> {
    pattern::compiles(pattern).map_err(|fault| format!("'{pattern}': {fault}"))
}
