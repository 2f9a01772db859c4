//! Calls of gRPC, once all that is said of them makes sense.
//!
//! Knows the rules for calls, their payloads and what right replies are. Must not know replies.

use wiretrial_proto::grpc::{Deframer, framed};

use super::document::{ContentDocument, ExpectDocument};
use super::message::decode;
use super::{ContentRule, Expect, PLACEHOLDER, PayloadPlan, PlanError, TargetUrl};
use crate::clock::Nanos;
use crate::plan::NUMBER_BYTES;
use crate::plan::calls::{GrpcDocument, KindDocument};
use crate::plan::wire::{Messages, Wire};

/// The status of a call that has succeeded.
const OK: u16 = 0;

/// Calls of one method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrpcPlan {
    /// Who sends how many messages in a call.
    pub kind: KindDocument,
    /// How long a call may take.
    pub deadline: Option<Nanos>,
    /// How many messages a right reply has, from and to and with.
    pub replies: (u32, u32),
    /// Messages go in gzip, and those of replies may come in it.
    pub gzip: bool,
    /// When the messages of a call go that the client sends; none: all at once.
    pub pace: Option<Pace>,
}

/// When the next message of a call goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// So long after the one before it was due, whatever is answered.
    Every(Nanos),
    /// When the one before it is answered.
    Turns,
}

impl GrpcPlan {
    /// Does the server send several messages, so that each has a time of its own?
    pub fn streams(&self) -> bool {
        matches!(self.kind, KindDocument::Server | KindDocument::Bidi)
    }

    /// Has a call that took so long missed its deadline?
    pub fn is_late(&self, elapsed: Nanos) -> bool {
        self.deadline.is_some_and(|deadline| elapsed > deadline)
    }

    /// Does the client send several messages in a call?
    fn sends_several(&self) -> bool {
        matches!(self.kind, KindDocument::Client | KindDocument::Bidi)
    }
}

fn wrong<T>(what: impl Into<String>) -> Result<T, PlanError> {
    Err(PlanError(what.into()))
}

/// The calls that a plan makes; none: it makes none.
pub(super) fn grpc(
    document: &GrpcDocument,
    url: &TargetUrl,
) -> Result<Option<GrpcPlan>, PlanError> {
    if !url.grpc {
        if document.is_default() {
            return Ok(None);
        }
        return wrong("grpc: only grpc:// and grpcs:// make calls; leave it out");
    }
    let path = url.path.split('?').next().unwrap_or_default();
    if !matches!(path.split('/').collect::<Vec<_>>()[..], ["", service, method] if !service.is_empty() && !method.is_empty())
    {
        return wrong(format!(
            "'{}' names no method: its path is /package.Service/Method",
            url.text
        ));
    }
    let GrpcDocument { kind, deadline_ns, status, replies, gzip, .. } = document;
    if *status > 16 {
        return wrong(format!("grpc.status: {status} is none, 0 (OK) to 16 (UNAUTHENTICATED)"));
    }
    if *deadline_ns == Some(0) {
        return wrong("grpc.deadline_ns: no call is done within no time");
    }
    let usual = match kind {
        KindDocument::Unary | KindDocument::Client => (1, Some(1)),
        KindDocument::Server | KindDocument::Bidi => (0, None),
    };
    let (least, most) = replies.unwrap_or(usual);
    let most = most.unwrap_or(u32::MAX);
    if least > most {
        return wrong(format!("grpc.replies: {least} to {most} messages: exchange them"));
    }
    let deadline = deadline_ns.map(Nanos);
    let pace = pace(document)?;
    Ok(Some(GrpcPlan { kind: *kind, deadline, replies: (least, most), gzip: *gzip, pace }))
}

/// When the messages of a call go.
fn pace(document: &GrpcDocument) -> Result<Option<Pace>, PlanError> {
    let GrpcDocument { kind, message_interval_ns, turns, .. } = document;
    match (message_interval_ns, turns, kind) {
        (None, false, _) => Ok(None),
        (Some(_), true, _) => {
            wrong("grpc.message_interval_ns and grpc.turns exclude each other; leave one out")
        }
        (None, true, KindDocument::Bidi) => Ok(Some(Pace::Turns)),
        (None, true, _) => wrong("grpc.turns: only for bidirectional streams; leave it out"),
        (Some(0), false, _) => wrong("grpc.message_interval_ns: 0 is too short; leave it out"),
        (Some(every), false, KindDocument::Client | KindDocument::Bidi) => {
            Ok(Some(Pace::Every(Nanos(*every))))
        }
        (Some(_), false, _) => {
            wrong("grpc.message_interval_ns: only for methods with a client stream; leave it out")
        }
    }
}

/// Has a call messages that can be paced, and are they gone before they are late?
pub(super) fn paced(
    plan: &GrpcPlan,
    payload: &PayloadPlan,
    timeout: Nanos,
) -> Result<(), PlanError> {
    let Some(pace) = plan.pace else { return Ok(()) };
    let count = match payload {
        // They are our own, so that nothing is wrong with them.
        PayloadPlan::Fixed(bytes) => Deframer::default().pass(bytes).unwrap_or_default(),
        _ => 1,
    };
    if count < 2 {
        return wrong("message: pacing needs a call with several messages; use a list");
    }
    let Pace::Every(interval) = pace else { return Ok(()) };
    let taken = Nanos(interval.0.saturating_mul(u64::from(count - 1)));
    if taken >= timeout {
        return wrong(format!(
            "grpc.message_interval_ns: the last message of a call is due after {} ms, but the timeout is {} ms; send fewer messages or raise --timeout",
            taken.0 / 1_000_000,
            timeout.0 / 1_000_000
        ));
    }
    Ok(())
}

/// Payloads as they go: each message behind its prefix, all of a call one after the other.
pub(super) fn payload(plan: &GrpcPlan, payload: PayloadPlan) -> Result<PayloadPlan, PlanError> {
    let one = |bytes: &[u8]| frames([bytes]);
    Ok(match payload {
        PayloadPlan::None => PayloadPlan::Fixed(one(&[])?),
        PayloadPlan::Fixed(bytes) => PayloadPlan::Fixed(one(&bytes)?),
        PayloadPlan::List(list) if plan.sends_several() => {
            PayloadPlan::Fixed(frames(list.iter().map(Vec::as_slice))?)
        }
        PayloadPlan::List(list) => {
            let each = list.iter().map(|bytes| one(bytes));
            PayloadPlan::List(each.collect::<Result<_, _>>()?)
        }
        PayloadPlan::Sequence(length) => {
            let letters: Vec<u8> = (0..length).map(|at| b'a' + (at % 26) as u8).collect();
            placed(&letters, &[(0, length.min(NUMBER_BYTES))])?
        }
        PayloadPlan::Template(text) => {
            let mut parts = text.split(PLACEHOLDER);
            let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
            let mut places = Vec::new();
            for part in parts {
                places.push((bytes.len(), NUMBER_BYTES));
                bytes.extend_from_slice(&[b'0'; NUMBER_BYTES]);
                bytes.extend_from_slice(part.as_bytes());
            }
            placed(&bytes, &places)?
        }
        PayloadPlan::Placed { bytes, places } => placed(&bytes, &places)?,
        PayloadPlan::Json(_) => {
            return wrong("message: a message of gRPC is no JSON; the laboratory makes its bytes");
        }
        PayloadPlan::Event(_) => return wrong("message: events are published over http"),
    })
}

/// A message in which numbers stand at these places, behind its prefix.
fn placed(message: &[u8], places: &[(usize, usize)]) -> Result<PayloadPlan, PlanError> {
    let bytes = frames([message])?;
    let before = bytes.len() - message.len();
    let places = places.iter().map(|(begin, width)| (begin + before, *width)).collect();
    Ok(PayloadPlan::Placed { bytes, places })
}

fn frames<'a>(messages: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, PlanError> {
    framed(messages).ok_or_else(|| PlanError("message: a message has 4 GiB at most".to_owned()))
}

/// What a right reply is. Its status is that of the call.
pub(super) fn expect(
    plan: &GrpcPlan,
    status: u16,
    document: &ExpectDocument,
) -> Result<Expect, PlanError> {
    if document.status != ExpectDocument::default().status {
        return wrong("expect.status: of a call it is grpc.status; leave it out");
    }
    let messages = |wire| ContentRule::Messages(Messages { wire, count: plan.replies });
    let content = match &document.content {
        _ if status != OK => ContentRule::Any,
        ContentDocument::Auto | ContentDocument::Learned => ContentRule::Learned,
        ContentDocument::Echo => ContentRule::Echo,
        ContentDocument::Status => messages(None),
        ContentDocument::Fixed { base64 } => ContentRule::Fixed(frames([&decode(base64)?[..]])?),
        ContentDocument::Messages { base64 } => {
            let all = base64.iter().map(|text| decode(text)).collect::<Result<Vec<_>, _>>()?;
            ContentRule::Fixed(frames(all.iter().map(Vec::as_slice))?)
        }
        ContentDocument::Fields { shape } => {
            let wire = Wire::new(shape);
            messages(Some(wire.map_err(|fault| PlanError(format!("expect.content: {fault}")))?))
        }
        ContentDocument::Broadcast
        | ContentDocument::Matching { .. }
        | ContentDocument::Shaped { .. } => {
            return wrong(
                "expect.content: messages of gRPC are no text; use fields, messages, fixed, echo, learned or status",
            );
        }
    };
    Ok(Expect { status, content })
}
