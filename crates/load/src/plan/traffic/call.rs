//! Calls of gRPC among the requests of a session, and fields of their replies.
//!
//! Knows what a message is made of when it is sent, and where a field stands; must not know the names of fields.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::Part;
use super::document::{
    CallDocument, FieldPlaceDocument, PieceDocument, ScalarDocument as Scalar, StatusDocument,
};
use super::names::Names;
use super::text::text;
use crate::clock::Nanos;
use crate::plan::wire::{Messages, Wire};

/// The last status that gRPC has.
const LAST_STATUS: u16 = 16;
/// Messages in messages, of those that are made and of places of fields.
const DEEPEST: usize = 16;

/// A call of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// `/package.Service/Method`.
    pub path: String,
    /// Its messages, each of pieces; it may have none.
    pub messages: Vec<Vec<Piece>>,
    /// How long it may take.
    pub deadline: Option<Nanos>,
    /// What each message of a right reply is, and how many there are.
    pub replies: Messages,
}

impl Call {
    /// The parts of all its texts.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Part> {
        let mut all = Vec::new();
        self.messages.iter().for_each(|message| collect(message, &mut all));
        all.into_iter()
    }
}

fn collect<'p>(pieces: &'p [Piece], all: &mut Vec<&'p Part>) {
    for piece in pieces {
        match piece {
            Piece::Bytes(_) => {}
            Piece::Text(text) => all.extend(text),
            Piece::Sized(inside) => collect(inside, all),
            Piece::Number(part, _) => all.push(part),
        }
    }
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it stands.
    Bytes(Vec<u8>),
    /// A text with holes.
    Text(super::Text),
    /// Its length, and then these.
    Sized(Vec<Piece>),
    /// A number that is known in digits.
    Number(Part, Scalar),
}

/// Where a field stands in the first message of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPlace {
    /// As people write it.
    pub name: String,
    /// Numbers of fields from the outermost message on, each with which of its occurrences it is; none: the last.
    pub path: Vec<(u32, Option<u32>)>,
    /// How its value is read.
    pub scalar: Scalar,
    /// Where it is not written it is zero, false or empty; else it is not there.
    pub has_usual: bool,
}

/// The statuses of right replies to a call.
pub(super) fn statuses(document: &StatusDocument) -> Result<Vec<(u16, u16)>, String> {
    match document {
        StatusDocument::Any => Ok(vec![(0, LAST_STATUS)]),
        StatusDocument::Success => Ok(vec![(0, 0)]),
        StatusDocument::In(all) => match all.iter().find(|status| **status > LAST_STATUS) {
            Some(status) => Err(format!("expect.status: {status} is none of gRPC, 0 to 16")),
            None if all.is_empty() => Err("expect.status: no status is right".to_owned()),
            None => Ok(all.iter().map(|status| (*status, *status)).collect()),
        },
    }
}

/// What a route calls.
pub(super) fn call(document: &CallDocument, names: &mut Names) -> Result<Call, String> {
    let CallDocument { path, messages, deadline_ns, replies: (least, most), shape } = document;
    let parts: Vec<_> = path.split('/').collect();
    if !matches!(parts[..], ["", service, method] if !service.is_empty() && !method.is_empty()) {
        return Err(format!("call: '{path}' is no /package.Service/Method"));
    }
    if *deadline_ns == Some(0) {
        return Err("call.deadline_ns: no call is done within no time".to_owned());
    }
    let most = most.unwrap_or(u32::MAX);
    if *least > most {
        return Err(format!("call.replies: {least} to {most} messages: exchange them"));
    }
    let wire = shape.as_ref().map(Wire::new).transpose();
    Ok(Call {
        path: path.clone(),
        messages: messages
            .iter()
            .map(|message| pieces(message, names, 1))
            .collect::<Result<_, _>>()?,
        deadline: deadline_ns.map(Nanos),
        replies: Messages {
            wire: wire.map_err(|fault| format!("call.shape: {fault}"))?,
            count: (*least, most),
        },
    })
}

fn pieces(
    documents: &[PieceDocument],
    names: &mut Names,
    depth: usize,
) -> Result<Vec<Piece>, String> {
    if depth > DEEPEST {
        return Err(format!("call.messages: over {DEEPEST} messages inside each other"));
    }
    let mut one = |document: &PieceDocument| {
        Ok(match document {
            PieceDocument::Bytes(base64) => {
                let bytes = BASE64_STANDARD.decode(base64);
                Piece::Bytes(bytes.map_err(|error| format!("call.messages: {error}"))?)
            }
            PieceDocument::Text(parts) => Piece::Text(text(parts, names)),
            PieceDocument::Sized(inside) => Piece::Sized(pieces(inside, names, depth + 1)?),
            PieceDocument::Number { of, scalar } => {
                let mut parts = text(std::slice::from_ref(of), names);
                let part = parts.pop().filter(|_| *scalar != Scalar::Text);
                let fault = "call.messages: a number is made of a part that says something";
                Piece::Number(part.ok_or(fault)?, *scalar)
            }
        })
    };
    documents.iter().map(&mut one).collect()
}

/// Where a field stands.
pub(super) fn place(document: &FieldPlaceDocument) -> Result<FieldPlace, String> {
    let FieldPlaceDocument { name, path, scalar, has_usual } = document;
    if path.is_empty() || path.len() > DEEPEST {
        return Err(format!("field '{name}': its path has 1 to {DEEPEST} numbers"));
    }
    if path.iter().any(|(number, _)| *number == 0) {
        return Err(format!("field '{name}': numbers of fields begin at 1"));
    }
    Ok(FieldPlace {
        name: name.clone(),
        path: path.clone(),
        scalar: *scalar,
        has_usual: *has_usual,
    })
}
