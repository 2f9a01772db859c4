//! What a load of receivers must be like, who hold streams of events, WebSockets, calls or polls: the server decides
//! when an event comes.

use super::wrong;
use crate::plan::calls::KindDocument;
use crate::plan::{ContentRule, Load, LoopPlan, PayloadPlan, PlanError, Scheme, Stop, Target};

/// Can this be loaded as streams of events?
pub(super) fn streams(target: &Target, load: &Load, stop: &Stop) -> Result<(), PlanError> {
    if target.url.scheme != Scheme::Http {
        return wrong(
            "http.sse: only http and https have streams of events; leave --sse out".into(),
        );
    }
    if target.method != "GET" || target.payload != PayloadPlan::None {
        return wrong("http.sse: a stream of events is asked for by GET, without a payload".into());
    }
    if target.expect.status != 200 {
        return wrong("expect.status: a stream of events has status 200; leave it out".to_owned());
    }
    if matches!(target.expect.content, ContentRule::Echo | ContentRule::Learned) {
        return wrong(
            "expect.content: an event answers no message; use status, @FILE, json:PATH=VALUE or regex:PATTERN"
                .to_owned(),
        );
    }
    are_held(target, load, stop)
}

/// Can this be loaded as WebSockets or calls that hear what is published, or as polls that ask for it?
pub(super) fn listeners(
    target: &Target,
    polls: bool,
    load: &Load,
    stop: &Stop,
) -> Result<(), PlanError> {
    let hears = match target.url.scheme {
        Scheme::Http if target.url.grpc => {
            !polls && target.grpc.is_some_and(|calls| calls.kind == KindDocument::Server)
        }
        Scheme::Http => polls,
        Scheme::WebSocket | Scheme::SocketIo => !polls,
        Scheme::Stream | Scheme::Styx(..) => false,
    };
    let is_http1 = !(target.http2 || target.http3 || target.agrees);
    if !hears || target.http3 || !(is_http1 || target.url.grpc) {
        return wrong(
            "publish: only streams of events (--sse), WebSockets, Socket.IO and long polls over HTTP/1.1, and streams of gRPC tell what is published; use one of them, or leave --publish out"
                .to_owned(),
        );
    }
    if polls && (target.method != "GET" || target.profile.is_some()) {
        return wrong(
            "http: a poll is a GET without a profile; leave --method and --header-profile out"
                .to_owned(),
        );
    }
    if polls && target.expect.status != 200 {
        return wrong(
            "expect.status: what a poll is answered with has status 200; leave it out".to_owned(),
        );
    }
    are_held(target, load, stop)
}

/// Is each of them asked for once, and held to the end?
fn are_held(target: &Target, load: &Load, stop: &Stop) -> Result<(), PlanError> {
    match load.loop_ {
        LoopPlan::Closed | LoopPlan::Hold { rate: 0.0, .. } => {}
        _ => {
            return wrong(
                "load.executor: the server decides when an event comes; leave --rate and --pattern out"
                    .to_owned(),
            );
        }
    }
    if !load.stages.is_empty() || load.requests_per_connection.is_some() || load.pack > 1 {
        return wrong(
            "load: streams of events are held throughout; leave stages, packs and requests per connection out"
                .to_owned(),
        );
    }
    if load.depth > 1 && !target.has_streams() {
        return wrong(
            "load.depth: over HTTP/1.1 a connection carries one stream of events, or one WebSocket; use --http 2, or more connections"
                .to_owned(),
        );
    }
    if stop.requests.is_some() || stop.requests_each.is_some() || stop.duration.is_none() {
        return wrong(
            "stop: the server decides how many events come; give a duration instead".to_owned(),
        );
    }
    Ok(())
}
