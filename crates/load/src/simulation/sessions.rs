//! What must hold of the figures of routes and flows, whatever the peers of a world did.
//!
//! Knows sums. Must not know how a run is played.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

use super::scenario::Scenario;
use super::world::Played;
use crate::measure::Class;
use crate::measure::figures::{FlowFigures, RouteFigures, TrafficFigures};
use crate::measure::snapshot::Snapshot;
use crate::plan::traffic::{Deed, Route, Traffic};

/// So many right replies of a route are in the sample, whatever its share.
const FIRST_OF_ROUTE: u64 = 30;

/// Fails with what was expected and what was found.
macro_rules! same {
    ($what:expr, $kept:expr, $found:expr) => {
        if $kept != $found {
            return Err(format!("{}: {:?} were told, {:?} were found", $what, $kept, $found));
        }
    };
}

/// No session is lost, none is counted twice, and routes add up to all messages.
///
/// # Errors
/// What does not hold.
pub(super) fn sessions(scenario: &Scenario, played: &Played) -> Result<(), String> {
    let Some(traffic) = &scenario.plan.traffic else { return Ok(()) };
    let Some(all) = &played.summary.traffic else {
        return Err("there are no figures of traffic".to_owned());
    };
    let counters = &played.summary.counters;
    let sum = |of: fn(&RouteFigures) -> u64| all.routes.iter().map(of).sum::<u64>();
    same!("sent", sum(|it| it.sent), counters.sent);
    same!("ok", sum(|it| it.ok), counters.ok);
    same!("in flight", sum(|it| it.in_flight), counters.in_flight);
    same!("errors", sum(|it| it.errors.values().sum()), counters.errors.values().sum::<u64>());
    let bytes = played.summary.bytes.application_sent;
    same!("bytes sent", sum(|it| it.bytes_sent), bytes);
    let mut so_far = TrafficFigures {
        routes: vec![RouteFigures::default(); traffic.routes.len()],
        flows: vec![FlowFigures::default(); traffic.flows.len()],
        ..TrafficFigures::default()
    };
    for snapshot in &played.snapshots {
        let Snapshot::Interval(interval) = snapshot else { continue };
        let Some(figures) = &interval.traffic else {
            return Err("an interval has none".to_owned());
        };
        let index = interval.index;
        for (sum, of) in so_far.routes.iter_mut().zip(&figures.routes) {
            add_route(sum, of);
            let found = sum.ok + sum.errors.values().sum::<u64>() + sum.in_flight;
            same!(format!("interval {index}: sent on a route"), sum.sent, found);
        }
        for (sum, of) in so_far.flows.iter_mut().zip(&figures.flows) {
            add_flow(sum, of);
            let found = sum.done + sum.failed.values().sum::<u64>() + sum.open;
            same!(format!("interval {index}: sessions that have begun"), sum.begun, found);
        }
        so_far.dropped += figures.dropped;
    }
    so_far.waiting = all.waiting;
    let mut bare = all.clone();
    for (route, of) in bare.routes.iter_mut().zip(&traffic.routes) {
        let times = values(route.histograms.get("service_time"))?;
        same!("service times", times, if is_answered(of) { route.ok } else { 0 });
        let is_shared = scenario.plan.load.users.is_some();
        let blocked = values(route.histograms.get("blocked_time"))?;
        same!("times blocked", blocked, if is_shared { route.sent } else { 0 });
        if is_shared {
            same!("response times", values(route.histograms.get("response_time"))?, route.ok);
        }
        route.examples.clear();
        route.histograms.clear();
    }
    for flow in &mut bare.flows {
        let starved = flow.failed.get(Class::Feed.name()).copied().unwrap_or_default();
        same!("waits", values(flow.histograms.get("session_wait"))?, flow.begun - starved);
        same!("iterations", values(flow.histograms.get("iteration_time"))?, flow.done);
        flow.histograms.clear();
    }
    same!("all intervals", bare, so_far);
    sampled(scenario, traffic, all)?;
    let begun: u64 = all.flows.iter().map(|flow| flow.begun).sum();
    if scenario.plan.stop.sessions.is_some_and(|most| begun > most) {
        return Err(format!("{begun} sessions have begun"));
    }
    if counters.errors.contains_key(Class::Feed.name()) {
        return Err("a message has failed for want of a row".to_owned());
    }
    Ok(())
}

/// Of each route the first replies are in the sample, and all of them where that is its share; nothing else is checked.
fn sampled(scenario: &Scenario, traffic: &Traffic, all: &TrafficFigures) -> Result<(), String> {
    for (route, of) in all.routes.iter().zip(&traffic.routes) {
        let RouteFigures { ok, checked, wrong, left_out, .. } = *route;
        let (drawn, whole) = (checked + left_out, ok + wrong);
        let is_deep = of.checks.iter().any(|check| !check.filters.is_empty());
        let least = match (is_deep, traffic.sample >= 1.0) {
            (false, _) => 0,
            (true, true) => whole,
            (true, false) => whole.min(FIRST_OF_ROUTE),
        };
        if drawn < least || drawn > whole || !is_deep && drawn > 0 {
            let name = &of.name;
            return Err(format!("{name}: {drawn} of {whole} replies were in the sample"));
        }
        let mismatches = route.errors.get(Class::Mismatch.name()).copied().unwrap_or_default();
        if wrong > checked.min(mismatches) || scenario.manners.good && wrong > 0 {
            return Err(format!("{wrong} of {checked} replies were found wrong, {mismatches} are"));
        }
    }
    Ok(())
}

/// Does anybody answer it, so that there is a time?
pub(super) fn is_answered(route: &Route) -> bool {
    let line = route.line.as_ref();
    line.is_none_or(|line| line.deed != Deed::Send || line.listens())
}

fn add_route(sum: &mut RouteFigures, of: &RouteFigures) {
    sum.sent += of.sent;
    sum.ok += of.ok;
    sum.in_flight = of.in_flight;
    sum.followed += of.followed;
    sum.blocked = of.blocked;
    sum.bytes_sent += of.bytes_sent;
    sum.bytes_received += of.bytes_received;
    sum.checked += of.checked;
    sum.wrong += of.wrong;
    sum.left_out += of.left_out;
    for (class, count) in &of.errors {
        *sum.errors.entry(class.clone()).or_default() += count;
    }
}

fn add_flow(sum: &mut FlowFigures, of: &FlowFigures) {
    sum.begun += of.begun;
    sum.done += of.done;
    sum.open = of.open;
    for (kind, count) in &of.unasked {
        *sum.unasked.entry(kind.clone()).or_default() += count;
    }
    for (class, count) in &of.failed {
        *sum.failed.entry(class.clone()).or_default() += count;
    }
}

/// How many values a histogram has, as snapshots carry it.
fn values(text: Option<&String>) -> Result<u64, String> {
    let Some(text) = text else { return Ok(0) };
    let bytes = BASE64_STANDARD.decode(text).map_err(|error| error.to_string())?;
    let read: Result<Histogram<u64>, _> = Deserializer::new().deserialize(&mut bytes.as_slice());
    read.map(|histogram| histogram.len()).map_err(|error| error.to_string())
}
