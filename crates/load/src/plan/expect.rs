//! From the document to the typed expectation: every rule about what a right reply is.

use super::document::{ContentDocument, ExpectDocument};
use super::message::{decode, is_numbered};
use super::shape::shape;
use super::{ContentRule, Expect, NUMBER_BYTES, PayloadPlan, PlanError, Rule, Scheme, TargetUrl};

/// What a right reply of this target is.
pub(super) fn expect(
    document: &ExpectDocument,
    url: &TargetUrl,
    payload: &PayloadPlan,
    is_sse: bool,
) -> Result<Expect, PlanError> {
    let content = match document.content {
        // Each event is held to what is said of it; where nothing is, events vary.
        ContentDocument::Auto if is_sse => ContentRule::Any,
        _ => content(&document.content, url, payload)?,
    };
    if !(100..=599).contains(&document.status) {
        return wrong(format!("expect.status: {} is no HTTP status", document.status));
    }
    Ok(Expect { status: document.status, content })
}

fn wrong<T>(what: String) -> Result<T, PlanError> {
    Err(PlanError(what))
}

fn content(
    document: &ContentDocument,
    url: &TargetUrl,
    payload: &PayloadPlan,
) -> Result<ContentRule, PlanError> {
    let rule = match document {
        // What there is to check stands in each copy, and is checked there.
        ContentDocument::Auto if matches!(url.scheme, Scheme::Styx(..)) => {
            return Ok(ContentRule::Fixed(Vec::new()));
        }
        _ if matches!(url.scheme, Scheme::Styx(..)) => {
            return wrong("expect.content: of styx each copy is checked; leave it out".to_owned());
        }
        ContentDocument::Auto if matches!(url.scheme, Scheme::Http | Scheme::SocketIo) => {
            ContentRule::Learned
        }
        ContentDocument::Auto | ContentDocument::Echo => ContentRule::Echo,
        ContentDocument::Learned => ContentRule::Learned,
        ContentDocument::Broadcast if url.scheme != Scheme::WebSocket => {
            return wrong("expect.content: only ws and wss have broadcasts".to_owned());
        }
        ContentDocument::Broadcast if !is_numbered(payload) => {
            return wrong(format!(
                "expect.content: each message of a broadcast carries its number; use --payload with a size, {NUMBER_BYTES} bytes or more"
            ));
        }
        ContentDocument::Broadcast => ContentRule::Broadcast,
        ContentDocument::Fixed { base64 } => ContentRule::Fixed(decode(base64)?),
        ContentDocument::Status => ContentRule::Any,
        ContentDocument::Messages { .. } | ContentDocument::Fields { .. } => {
            return wrong(
                "expect.content: only grpc and grpcs have messages and fields".to_owned(),
            );
        }
        ContentDocument::Matching { rules } if rules.is_empty() => {
            return wrong(
                "expect.content: there is no rule; use 'status' for any reply".to_owned(),
            );
        }
        ContentDocument::Matching { rules } => ContentRule::Matching(
            rules.iter().map(|text| Rule::parse(text)).collect::<Result<_, _>>()?,
        ),
        ContentDocument::Shaped { shape: it } => {
            let shape = shape(it).map_err(|fault| PlanError(format!("expect.content: {fault}")))?;
            ContentRule::Shaped(Box::new(shape))
        }
    };
    if url.scheme == Scheme::Stream && rule != ContentRule::Echo {
        return wrong("expect.content: a byte stream can only be checked as an echo".to_owned());
    }
    if rule == ContentRule::Echo && *payload == PayloadPlan::None {
        return wrong(
            "expect.content: an echo needs a payload; give one, or expect 'learned'".to_owned(),
        );
    }
    Ok(rule)
}
