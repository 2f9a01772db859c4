//! From the document to the typed payload: every rule about what a request carries.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::document::{MessageDocument, MessageKind, SourceDocument};
use super::json_text::{JsonPart, fault_in, fault_of, parts, rendered};
use super::{NUMBER_BYTES, PLACEHOLDER, PayloadPlan, PlanError, Scheme, TargetUrl};

/// Largest payload of a request, bytes.
const MAX_PAYLOAD: u64 = 1 << 30;
/// The event that is emitted where none is named.
const USUAL_EVENT: &str = r#"["get","messages","testing"]"#;

/// What each request of this target carries.
pub(super) fn payload(
    document: &MessageDocument,
    url: &TargetUrl,
) -> Result<PayloadPlan, PlanError> {
    // An event is JSON, whatever is said of it.
    let json = document.is_json || url.scheme == Scheme::SocketIo;
    let payload = payload_for(url, payload_from(&document.source, json)?)?;
    if document.kind == MessageKind::Text && !is_text(&payload) {
        return wrong("message: a text message must be UTF-8; use kind 'binary'".to_owned());
    }
    if url.scheme == Scheme::Stream && is_empty(&payload) {
        return wrong("message: a byte stream needs a payload (it is what comes back)".to_owned());
    }
    if let Some(fault) = json.then(|| fault(&payload)).flatten() {
        return wrong(format!(
            "message: the payload is said to be JSON and is not: {fault}; correct it, or send it as it is with --payload @FILE"
        ));
    }
    Ok(payload)
}

fn wrong<T>(what: String) -> Result<T, PlanError> {
    Err(PlanError(what))
}

fn payload_from(source: &SourceDocument, json: bool) -> Result<PayloadPlan, PlanError> {
    let plan = match source {
        SourceDocument::None => PayloadPlan::None,
        SourceDocument::Sequence { bytes } if *bytes > MAX_PAYLOAD => {
            return wrong(format!("message: {bytes} bytes is over the limit of {MAX_PAYLOAD}"));
        }
        SourceDocument::Sequence { bytes } => PayloadPlan::Sequence(*bytes as usize),
        SourceDocument::Fixed { base64 } => PayloadPlan::Fixed(decode(base64)?),
        SourceDocument::List { base64 } if base64.is_empty() => {
            return wrong("message: an empty list has nothing to send".to_owned());
        }
        SourceDocument::List { base64 } => {
            PayloadPlan::List(base64.iter().map(|text| decode(text)).collect::<Result<_, _>>()?)
        }
        SourceDocument::Template { text } if json => template_of_json(text),
        SourceDocument::Template { text } => PayloadPlan::Template(text.clone()),
        SourceDocument::Numbered { base64, places } => numbered(decode(base64)?, places)?,
    };
    Ok(plan)
}

/// Bytes with numbers in them, all of them whole and none inside of another.
fn numbered(bytes: Vec<u8>, places: &[u64]) -> Result<PayloadPlan, PlanError> {
    let mut begins = places.to_vec();
    begins.sort_unstable();
    let width = NUMBER_BYTES as u64;
    let ends = begins.iter().map(|begin| begin.saturating_add(width));
    let bounds = begins.iter().skip(1).copied().chain([bytes.len() as u64]);
    if ends.zip(bounds).any(|(end, bound)| end > bound) {
        return wrong(format!(
            "message: a number has {NUMBER_BYTES} digits, and no room for them at one of its places"
        ));
    }
    let places = begins.iter().map(|begin| (*begin as usize, NUMBER_BYTES)).collect();
    Ok(PayloadPlan::Placed { bytes, places })
}

/// Where no number stands by itself, it is a text like any other.
fn template_of_json(text: &str) -> PayloadPlan {
    let parts = parts(text);
    if parts.contains(&JsonPart::Number) {
        PayloadPlan::Json(parts)
    } else {
        PayloadPlan::Template(text.to_owned())
    }
}

/// What is wrong with it as JSON.
fn fault(payload: &PayloadPlan) -> Option<String> {
    match payload {
        PayloadPlan::None => None,
        PayloadPlan::Sequence(_) | PayloadPlan::Event(_) => {
            Some("it is letters and digits of a given size".to_owned())
        }
        PayloadPlan::Fixed(bytes) | PayloadPlan::Placed { bytes, .. } => fault_in(bytes),
        PayloadPlan::List(list) => list.iter().find_map(|bytes| fault_in(bytes)),
        PayloadPlan::Template(text) => fault_of(&parts(text)),
        PayloadPlan::Json(parts) => fault_of(parts),
    }
}

pub(super) fn decode(base64: &str) -> Result<Vec<u8>, PlanError> {
    BASE64_STANDARD
        .decode(base64)
        .map_err(|error| PlanError(format!("message: not base64: {error}")))
}

fn is_text(payload: &PayloadPlan) -> bool {
    match payload {
        PayloadPlan::None
        | PayloadPlan::Sequence(_)
        | PayloadPlan::Event(_)
        | PayloadPlan::Template(_)
        | PayloadPlan::Json(_) => true,
        PayloadPlan::Fixed(bytes) | PayloadPlan::Placed { bytes, .. } => {
            std::str::from_utf8(bytes).is_ok()
        }
        PayloadPlan::List(list) => list.iter().all(|bytes| std::str::from_utf8(bytes).is_ok()),
    }
}

fn is_empty(payload: &PayloadPlan) -> bool {
    match payload {
        PayloadPlan::None | PayloadPlan::Sequence(0) => true,
        PayloadPlan::Sequence(_) | PayloadPlan::Event(_) | PayloadPlan::Json(_) => false,
        PayloadPlan::Fixed(bytes) | PayloadPlan::Placed { bytes, .. } => bytes.is_empty(),
        PayloadPlan::List(list) => list.iter().any(Vec::is_empty),
        PayloadPlan::Template(text) => text.is_empty(),
    }
}

/// Does each payload begin with the whole number of its message?
pub(super) fn is_numbered(payload: &PayloadPlan) -> bool {
    matches!(payload, PayloadPlan::Sequence(bytes) if *bytes >= NUMBER_BYTES)
}

/// What a protocol's messages can carry.
fn payload_for(url: &TargetUrl, payload: PayloadPlan) -> Result<PayloadPlan, PlanError> {
    match url.scheme {
        Scheme::Styx(..) if payload != PayloadPlan::None => {
            wrong("message: an action of styx carries no payload; leave it out".to_owned())
        }
        Scheme::SocketIo if payload == PayloadPlan::None => {
            Ok(PayloadPlan::Fixed(USUAL_EVENT.as_bytes().to_vec()))
        }
        Scheme::SocketIo if !is_event(&payload) => wrong(format!(
            "message: an event is an array of JSON that begins with its name, e.g. {USUAL_EVENT}"
        )),
        _ => Ok(payload),
    }
}

fn is_event(payload: &PayloadPlan) -> bool {
    let is_array = |bytes: &[u8]| {
        let values = serde_json::from_slice::<Vec<serde_json::Value>>(bytes);
        bytes.first() == Some(&b'[')
            && values.is_ok_and(|values| values.first().is_some_and(serde_json::Value::is_string))
    };
    match payload {
        PayloadPlan::None | PayloadPlan::Sequence(_) | PayloadPlan::Event(_) => false,
        PayloadPlan::Fixed(bytes) | PayloadPlan::Placed { bytes, .. } => is_array(bytes),
        PayloadPlan::List(list) => list.iter().all(|bytes| is_array(bytes)),
        PayloadPlan::Template(text) => is_array(text.replace(PLACEHOLDER, "0").as_bytes()),
        PayloadPlan::Json(parts) => is_array(rendered(parts, "1").as_bytes()),
    }
}
