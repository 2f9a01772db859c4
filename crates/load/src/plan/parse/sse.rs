//! What a load of streams of events must be like: the server decides when one comes.

use super::wrong;
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
    if load.depth > 1 && !target.http2 {
        return wrong(
            "load.depth: over HTTP/1.1 a connection carries one stream of events; use --http 2, or more connections"
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
