//! What must hold of a whole run, whatever its peers did.
//!
//! Knows sums, and what the peers witnessed. Must not know how a run is played.

use super::frames::Seen;
use super::scenario::{MS, Scenario};
use super::sessions::{is_answered, sessions};
use super::spoken::Spoken;
use super::world::Played;
use crate::clock::Nanos;
use crate::connection::FORESEEN;
use crate::measure::Class;
use crate::measure::snapshot::{Counters, Deliveries, Snapshot};
use crate::plan::LoopPlan;

/// After its peers are well again a connection needs a backoff, a connect and a reply.
const SETTLES_IN: u64 = 1_300 * MS;

/// Everything that must hold.
///
/// # Errors
/// What does not.
pub(super) fn check(scenario: &Scenario, played: &Played) -> Result<(), String> {
    sums(played)?;
    sessions(scenario, played)?;
    copies(scenario, played)?;
    due(scenario, played)?;
    truth(scenario, played)?;
    if scenario.manners.spoken == Spoken::Multiplexed {
        alone(scenario, played)?;
    }
    if scenario.manners.good {
        goodness(scenario, played)?;
    }
    liveness(scenario, played)?;
    if played.open_sockets > 0 {
        return Err(format!("{} sockets were left open", played.open_sockets));
    }
    Ok(())
}

fn errors(counters: &Counters) -> u64 {
    counters.errors.values().sum()
}

/// sent = ok + errors + in flight, at the end of each interval; intervals add up to the summary.
pub(super) fn sums(played: &Played) -> Result<(), String> {
    let (mut sent, mut ok, mut failed, mut dropped) = (0, 0, 0, 0);
    for snapshot in &played.snapshots {
        let Snapshot::Interval(interval) = snapshot else { continue };
        let counters = &interval.counters;
        sent += counters.sent;
        ok += counters.ok;
        failed += errors(counters);
        dropped += counters.dropped;
        if sent != ok + failed + counters.in_flight {
            let index = interval.index;
            let in_flight = counters.in_flight;
            return Err(format!(
                "interval {index}: {sent} sent are not {ok} + {failed} + {in_flight}"
            ));
        }
    }
    let all = &played.summary.counters;
    let summed = (sent, ok, failed, dropped);
    let told = (all.sent, all.ok, errors(all), all.dropped);
    if summed != told {
        return Err(format!("intervals add up to {summed:?}, the summary says {told:?}"));
    }
    let connections = &played.summary.connections;
    let closed: u64 = connections.closed.values().sum();
    if connections.opened < closed {
        return Err(format!("{} were opened, {closed} were closed", connections.opened));
    }
    // A refusal by the own machine is no connect of the network's, and is counted all the same.
    if connections.attempted != played.facts.connects {
        let asked = played.facts.connects;
        return Err(format!("{} connects were counted of {asked}", connections.attempted));
    }
    Ok(())
}

/// expected = right + out of order + mismatch + missing + in flight, at the end of each interval;
/// and no more came right than was sent rightly.
fn copies(scenario: &Scenario, played: &Played) -> Result<(), String> {
    let mut sum = Deliveries::default();
    for snapshot in &played.snapshots {
        let Snapshot::Interval(interval) = snapshot else { continue };
        let of = &interval.counters.deliveries;
        sum.add(of);
        sum.in_flight = of.in_flight;
        let found = sum.ok + sum.out_of_order + sum.mismatch + sum.missing + sum.in_flight;
        if sum.expected != found {
            let index = interval.index;
            return Err(format!("interval {index}: copies are {found} of what came of {sum:?}"));
        }
    }
    let Counters { deliveries: all, lobby, .. } = &played.summary.counters;
    if *all != sum {
        return Err(format!("intervals add up to {sum:?}, the summary says {all:?}"));
    }
    let sent = played.facts.copies;
    if all.ok + all.out_of_order > sent {
        return Err(format!("of copies {sent} were right, and {all:?} were counted"));
    }
    if lobby.ok > played.facts.snapshots {
        return Err(format!("{} snapshots were told, {lobby:?} came", played.facts.snapshots));
    }
    let manners = &scenario.manners;
    let lost = all.mismatch + all.out_of_order;
    let lobby_lost = lobby.mismatch + lobby.out_of_order + lobby.missing;
    if !manners.lies && lost + lobby_lost > 0 {
        return Err(format!("honest peers, and yet {all:?}, {lobby:?}"));
    }
    if manners.good && all.missing + all.duplicate + lost + lobby_lost > 0 {
        return Err(format!("good peers, and yet {all:?}, {lobby:?}"));
    }
    if all.expected > 0 && !manners.spoken.has_company() {
        return Err(format!("{} copies are expected of nobody", all.expected));
    }
    Ok(())
}

/// Open loop: due = sent + waiting + dropped.
fn due(scenario: &Scenario, played: &Played) -> Result<(), String> {
    let (Some((least, most)), Some(_)) = (played.due, played.begin) else { return Ok(()) };
    let counters = &played.summary.counters;
    let found = match &played.summary.traffic {
        None => counters.sent + counters.waiting + counters.dropped,
        // Of sessions, not of messages.
        Some(all) => {
            all.flows.iter().map(|flow| flow.begun).sum::<u64>() + all.waiting + all.dropped
        }
    };
    if (least..=most).contains(&found) || scenario.stop_at.is_some() && found <= most {
        return Ok(());
    }
    let (sent, waiting, dropped) = (counters.sent, counters.waiting, counters.dropped);
    Err(format!("due were {least} to {most}, not {sent} + {waiting} + {dropped}"))
}

/// No more is right than was said rightly.
fn truth(scenario: &Scenario, played: &Played) -> Result<(), String> {
    let (ok, right) =
        (played.summary.counters.ok - unanswered(scenario, played), played.facts.right);
    let overlooked = played.facts.subtle.min(unchecked(played));
    if ok > right + overlooked {
        return Err(format!(
            "{ok} replies were taken to be right, {right} were, and {overlooked} may be overlooked"
        ));
    }
    // Peers that admit their faults say nothing that was not asked.
    let foreseen = played.summary.examples.values().any(|text| text == FORESEEN);
    if !scenario.manners.lies && foreseen {
        return Err(format!("honest peers, and yet {FORESEEN}"));
    }
    if played.facts.misunderstood > 0 {
        return Err("a server did not understand what was sent".to_owned());
    }
    let sent = played.summary.counters.sent;
    let requests = scenario.plan.stop.requests;
    if requests.is_some_and(|most| sent > most) {
        return Err(format!("{sent} were sent"));
    }
    Ok(())
}

/// Replies taken to be right of which nobody has made all checks.
fn unchecked(played: &Played) -> u64 {
    let routes = played.summary.traffic.iter().flat_map(|all| &all.routes);
    routes.map(|route| route.ok - (route.checked - route.wrong)).sum()
}

/// Messages that were as right as they can be when they were sent.
fn unanswered(scenario: &Scenario, played: &Played) -> u64 {
    let (Some(traffic), Some(all)) = (&scenario.plan.traffic, &played.summary.traffic) else {
        return 0;
    };
    let routes = traffic.routes.iter().zip(&all.routes);
    routes.filter(|(of, _)| !is_answered(of)).map(|(_, figures)| figures.ok).sum()
}

/// Peers that limit what is in flight, and answer, refuse or ignore messages one by one.
fn alone(scenario: &Scenario, played: &Played) -> Result<(), String> {
    let Counters { ok, errors, .. } = &played.summary.counters;
    let (facts, connections) = (&played.facts, &played.summary.connections);
    let Seen { right, refused, crowded } = facts.seen;
    let of = |class: Class| errors.get(class.name()).copied().unwrap_or_default();
    if crowded > 0 {
        return Err(format!("{crowded} messages came that their peer had no room for"));
    }
    let counted = of(Class::TooBig);
    if counted < refused && !scenario.manners.lies || counted > facts.refused {
        let most = facts.refused;
        return Err(format!(
            "{counted} messages were taken to be refused, {refused} to {most} were"
        ));
    }
    if *ok < right && !scenario.manners.lies {
        return Err(format!(
            "{ok} replies were taken to be right, and {right} that were are there"
        ));
    }
    if connections.closed.contains_key(Class::TooBig.name()) {
        return Err("a refused message has ended its connection".to_owned());
    }
    if !scenario.manners.mild {
        return Ok(());
    }
    let timeouts = of(Class::Timeout);
    let others = errors.values().sum::<u64>() - timeouts - counted;
    // On a connection that is asked for on their behalf, messages may wait for room behind ignored
    // ones; and where the last of its share is ignored, no later reply tells that the peer is there.
    let is_renewed = scenario.plan.load.requests_per_connection.is_some();
    let is_usual = |end: &String| end == "plan" || is_renewed && end == "timeout";
    let is_kept = connections.failed.is_empty() && connections.closed.keys().all(is_usual);
    if others > 0 || timeouts > facts.ignored && !is_renewed || !is_kept {
        let (examples, closed) = (&played.summary.examples, &connections.closed);
        let ignored = facts.ignored;
        return Err(format!(
            "{ignored} messages were ignored, and yet {errors:?}, {closed:?}: {examples:?}"
        ));
    }
    Ok(())
}

/// With good peers nothing fails, and all comes back.
fn goodness(scenario: &Scenario, played: &Played) -> Result<(), String> {
    let counters = &played.summary.counters;
    let connections = &played.summary.connections;
    if errors(counters) > 0 || !connections.failed.is_empty() {
        let examples = &played.summary.examples;
        return Err(format!("good peers, and yet {:?}: {examples:?}", counters.errors));
    }
    // An HTTP server is told that the only request of a connection is its last.
    let closes = scenario.plan.load.requests_per_connection == Some(1);
    if connections.closed.keys().any(|reason| !(reason == "plan" || closes && reason == "server")) {
        return Err(format!("good peers, and yet closed: {:?}", connections.closed));
    }
    // On a connection that is asked for on their behalf, messages may wait for room behind each other.
    let load = &scenario.plan.load;
    let is_in_turn =
        load.requests_per_connection.is_some() && scenario.manners.spoken == Spoken::Multiplexed;
    let turns = if is_in_turn { u64::from(load.depth) } else { 1 };
    let longest = Nanos((scenario.manners.service * turns).max(500 * MS));
    let drains = scenario.stop_at.is_none() && scenario.plan.phases.drain >= longest;
    let left = counters.in_flight + counters.deliveries.in_flight;
    if drains && left > 0 {
        return Err(format!("{left} replies and copies were not awaited"));
    }
    Ok(())
}

/// When all is well again, each connection gets right replies again.
fn liveness(scenario: &Scenario, played: &Played) -> Result<(), String> {
    let Scenario { plan, manners, .. } = scenario;
    // Nor is everybody there all the time.
    if !plan.load.stages.is_empty() {
        return Ok(());
    }
    // Without rows nothing is sent.
    let starves = played.summary.traffic.as_ref().is_some_and(|all| {
        all.flows.iter().any(|flow| flow.failed.contains_key(Class::Feed.name()))
    });
    if starves {
        return Ok(());
    }
    // A burst draws its connections.
    let Some(begin) = played.begin.filter(|_| plan.load.loop_ != LoopPlan::RandomBurst) else {
        return Ok(());
    };
    let calm = manners.calm_at.max(begin.0);
    let pause = match plan.load.loop_ {
        LoopPlan::AfterResponse { pause } => 2 * pause.0,
        _ => 0,
    };
    let settled = calm + plan.phases.timeout.0 * 5 / 4 + SETTLES_IN + pause;
    for (worker, spent) in played.spent.iter().enumerate() {
        let window = played.load_ended[worker].0.saturating_sub(settled);
        if window < 500 * MS || packs_in(window, scenario) < 3.0 {
            continue;
        }
        if plan.load.users.is_some() {
            // Of a pool the one that was used last is used again: others may rest.
            let right = &played.facts.last_right;
            let of_pool = right.iter().filter(|((of, _), _)| *of == worker as u32);
            let last = of_pool.map(|(_, at)| *at).max();
            if last.is_none_or(|at| at < manners.calm_at) {
                return Err(format!(
                    "the pool's last right reply was at {last:?}, all was well from {calm} on"
                ));
            }
            continue;
        }
        for (slot, _) in spent.iter().enumerate().filter(|(_, spent)| !**spent) {
            let last = played.facts.last_right.get(&(worker as u32, slot as u32));
            if last.is_none_or(|&at| at < manners.calm_at) {
                let calm = manners.calm_at;
                return Err(format!(
                    "connection {slot} of worker {worker} had its last right reply at {last:?}, and all was well from {calm} on"
                ));
            }
        }
    }
    Ok(())
}

/// For each slot, packs that fall due in a window; as many as one likes where replies decide.
fn packs_in(window: u64, scenario: &Scenario) -> f64 {
    let load = &scenario.plan.load;
    let (LoopPlan::Open { rate, .. } | LoopPlan::Hold { rate, .. }) = load.loop_ else {
        return f64::INFINITY;
    };
    // The slots of all connections have their turn one after the other.
    let slots = f64::from(load.connections) * f64::from(load.depth / load.pack);
    rate / f64::from(load.pack) * (window as f64 / 1e9) / slots
}
