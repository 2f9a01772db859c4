//! How a plan's messages are sent, and how long.

use super::wrong;
use crate::clock::Nanos;
use crate::plan::document::{
    ExecutorDocument, LoadDocument, OverflowDocument, PacingDocument, PhasesDocument,
    StageDocument, StopDocument,
};
use crate::plan::{
    GeneratorPlan, Load, LoopPlan, Overflow, Phases, PlanError, Scheme, Stage, Stop, Target,
};

/// Longest duration, nanoseconds: 30 days.
const MAX_DURATION: u64 = 30 * 24 * 3_600_000_000_000;

pub(super) fn load(
    document: &LoadDocument,
    generator: &GeneratorPlan,
    target: &Target,
) -> Result<Load, PlanError> {
    let LoadDocument { connections, users, depth, pack, requests_per_connection, .. } = *document;
    if connections < generator.threads {
        return wrong(format!(
            "load.connections: {connections} connections can't be shared by {} threads; use --threads {}",
            generator.threads,
            connections.max(1)
        ));
    }
    if connections == 0 || depth == 0 || pack == 0 {
        return wrong("load: connections, depth and pack start at 1".to_owned());
    }
    if !depth.is_multiple_of(pack) {
        return wrong(format!(
            "load.depth: {depth} is not a multiple of the pack, {pack}; use --depth {}",
            depth.next_multiple_of(pack)
        ));
    }
    if u64::from(connections) * u64::from(depth) > 1 << 28 {
        return wrong(format!(
            "load: {connections} connections x depth {depth} is over 268,435,456 in flight"
        ));
    }
    if requests_per_connection == Some(0) {
        return wrong("load.requests_per_connection starts at 1".to_owned());
    }
    if requests_per_connection.is_some_and(|requests| requests > u64::from(u32::MAX)) {
        return wrong(format!(
            "load.requests_per_connection is at most {}; leave it out to keep connections",
            u32::MAX
        ));
    }
    if requests_per_connection.is_some_and(|requests| !requests.is_multiple_of(u64::from(pack))) {
        return wrong("load.requests_per_connection must be a multiple of the pack".to_owned());
    }
    if requests_per_connection.is_some_and(|requests| requests < u64::from(depth)) {
        return wrong(format!(
            "load.depth: {depth} in flight don't fit into {} requests per connection; use --depth 1",
            requests_per_connection.unwrap_or_default()
        ));
    }
    let loop_ = match document.executor {
        ExecutorDocument::Closed => LoopPlan::Closed,
        ExecutorDocument::Open { rate, .. } if !(rate.is_finite() && rate > 0.0 && rate <= 1e9) => {
            return wrong(format!(
                "load.executor.rate: {rate} is not a rate above 0 and up to 1e9"
            ));
        }
        ExecutorDocument::Hold { rate, .. } if !(0.0..=1e9).contains(&rate) => {
            return wrong(format!("load.executor.rate: {rate} is not a rate from 0 to 1e9"));
        }
        ExecutorDocument::Hold { .. }
            if (depth > 1 && !holds_streams(target))
                || pack > 1
                || requests_per_connection.is_some() =>
        {
            return wrong(
                "load: held connections carry one message at a time and are kept: leave depth, pack and requests per connection out"
                    .to_owned(),
            );
        }
        ExecutorDocument::Hold { rate, idle_ns } => {
            LoopPlan::Hold { rate, idle: duration(idle_ns, "load.executor.idle_ns", 0)? }
        }
        ExecutorDocument::RandomBurst if depth > pack || requests_per_connection.is_some() => {
            return wrong(format!(
                "load: a burst is one pack for each connection, and connections are kept: use --depth {pack}, and leave requests per connection out"
            ));
        }
        ExecutorDocument::RandomBurst => LoopPlan::RandomBurst,
        ExecutorDocument::AfterResponse { pause_ns } => {
            LoopPlan::AfterResponse { pause: duration(pause_ns, "load.executor.pause_ns", 0)? }
        }
        ExecutorDocument::Open { rate, pacing, overflow } => LoopPlan::Open {
            rate,
            pacing,
            overflow: match overflow {
                OverflowDocument::Wait => Overflow::Wait,
                OverflowDocument::Drop => Overflow::Drop,
            },
        },
    };
    let stages = document.stages.iter().map(stage).collect::<Result<Vec<_>, _>>()?;
    if !stages.is_empty() {
        can_change(loop_)?;
    }
    let seed = document.seed;
    Ok(Load { connections, users, depth, pack, requests_per_connection, loop_, stages, seed })
}

/// Are streams of one connection held side by side? Of events, and WebSockets over HTTP/2 and HTTP/3.
fn holds_streams(target: &Target) -> bool {
    target.sse || (target.url.scheme == Scheme::WebSocket && target.has_streams())
}

fn stage(document: &StageDocument) -> Result<Stage, PlanError> {
    let StageDocument { for_ns, from, to } = *document;
    if let Some(share) = [from, to].into_iter().find(|share| !(0.0..=1.0).contains(share)) {
        return wrong(format!("load.stages: {share} is no share from 0 to 1"));
    }
    Ok(Stage { time: duration(for_ns, "load.stages.for_ns", 0)?, from, to })
}

/// Is there something that can be more or less over time?
fn can_change(loop_: LoopPlan) -> Result<(), PlanError> {
    match loop_ {
        LoopPlan::Closed
        | LoopPlan::Open { pacing: PacingDocument::Constant | PacingDocument::Poisson, .. } => {
            Ok(())
        }
        LoopPlan::Open { .. } => wrong(
            "load.stages: a rate that changes is constant or poisson, not phased; use another pacing"
                .to_owned(),
        ),
        _ => wrong(
            "load.stages: only a closed loop and an open one change over time; leave stages out, or use one of these"
                .to_owned(),
        ),
    }
}

pub(super) fn stop(
    document: &StopDocument,
    load: &Load,
    is_traffic: bool,
) -> Result<Stop, PlanError> {
    let StopDocument { duration_ns, requests, requests_each, sessions } = *document;
    if is_traffic && (requests.is_some() || requests_each.is_some()) {
        return wrong(
            "stop: traffic ends after a time or a number of sessions; use stop.sessions".to_owned(),
        );
    }
    if sessions.is_some() && !is_traffic {
        return wrong("stop.sessions: only traffic has sessions; use stop.requests".to_owned());
    }
    if sessions == Some(0) {
        return wrong("stop.sessions starts at 1".to_owned());
    }
    if sessions.is_none() && duration_ns.is_none() && requests.is_none() && requests_each.is_none()
    {
        return wrong("stop: neither a duration nor a number of requests; give one".to_owned());
    }
    if requests == Some(0) {
        return wrong("stop.requests starts at 1".to_owned());
    }
    if requests_each == Some(0) {
        return wrong("stop.requests_each starts at 1".to_owned());
    }
    if requests_each.is_some() && load.loop_ != LoopPlan::Closed {
        return wrong(
            "stop.requests_each: an open loop has no messages of a connection; use stop.requests"
                .to_owned(),
        );
    }
    if requests_each.is_some() && !load.stages.is_empty() {
        return wrong(
            "stop.requests_each: connections that come and go send as many as they can; use stop.requests"
                .to_owned(),
        );
    }
    if load.stages.last().is_some_and(|last| last.to == 0.0) && duration_ns.is_none() {
        return wrong(
            "load.stages: behind the last one nothing is sent, so that the run does not end: give stop.duration_ns"
                .to_owned(),
        );
    }
    if requests_each.is_some_and(|each| !each.is_multiple_of(u64::from(load.pack))) {
        return wrong("stop.requests_each must be a multiple of the pack".to_owned());
    }
    let duration = duration_ns.map(|ns| duration(ns, "stop.duration_ns", 1_000_000)).transpose()?;
    Ok(Stop { duration, requests, requests_each, sessions })
}

pub(super) fn phases(document: &PhasesDocument) -> Result<Phases, PlanError> {
    Ok(Phases {
        connect: duration(document.connect_ns, "phases.connect_ns", 1_000_000)?,
        warmup: duration(document.warmup_ns, "phases.warmup_ns", 0)?,
        drain: duration(document.drain_ns, "phases.drain_ns", 0)?,
        timeout: duration(document.timeout_ns, "phases.timeout_ns", 1_000_000)?,
        interval: duration(document.interval_ns, "phases.interval_ns", 10_000_000)?,
    })
}

fn duration(ns: u64, member: &str, least: u64) -> Result<Nanos, PlanError> {
    if !(least..=MAX_DURATION).contains(&ns) {
        return wrong(format!("{member}: {ns} is outside {least} to {MAX_DURATION} (30 days)"));
    }
    Ok(Nanos(ns))
}
