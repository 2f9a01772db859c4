//! Which part of a load an engine has, and what all who make it together must keep to.

use super::wrong;
use crate::plan::document::{GeneratorDocument, ShareDocument};
use crate::plan::{DELIVERY_WINDOW, GeneratorPlan, Load, LoopPlan, PlanError, SharePlan};

/// The most connections of a broadcast: each is told apart from each.
const MOST_IN_BROADCAST: u32 = 1000;
/// Most workers of all engines together: the number of one is part of its messages'.
const MAX_WORKERS: u32 = 1 << 20;

pub(super) fn generator(document: GeneratorDocument) -> Result<GeneratorPlan, PlanError> {
    let GeneratorDocument { threads, cpus, poller, spin } = document;
    if !(1..=1024).contains(&threads) {
        return wrong(format!("generator.threads: {threads} is outside 1 to 1024"));
    }
    Ok(GeneratorPlan { threads, cpus, poller, spin })
}

pub(super) fn share(
    document: Option<&ShareDocument>,
    load: &Load,
    generator: &GeneratorPlan,
) -> Result<SharePlan, PlanError> {
    let whole = SharePlan {
        first_worker: 0,
        workers: generator.threads,
        first_connection: 0,
        connections: load.connections,
        start: None,
        awaits_begin: false,
    };
    let Some(document) = document else { return Ok(whole) };
    let share = SharePlan {
        first_worker: document.first_worker,
        workers: document.workers,
        first_connection: document.first_connection,
        connections: document.connections,
        start: document.start_monotonic_ns,
        awaits_begin: document.awaits_begin,
    };
    if share.workers > MAX_WORKERS {
        return wrong(format!("share.workers: {} is over {MAX_WORKERS}", share.workers));
    }
    let parts = [
        ("workers", share.first_worker, generator.threads, share.workers),
        ("connections", share.first_connection, load.connections, share.connections),
    ];
    for (what, first, own, all) in parts {
        if u64::from(first) + u64::from(own) > u64::from(all) {
            return wrong(format!(
                "share: {own} {what} from number {first} on are not among {all}"
            ));
        }
    }
    Ok(share)
}

/// Who is sent copies of what others send must stay, and one worker must have all of a company, as
/// the players of a table are.
pub(super) fn in_company(
    size: u32,
    [members, companies]: [&str; 2],
    load: &Load,
    generator: &GeneratorPlan,
) -> Result<(), PlanError> {
    if load.requests_per_connection.is_some() {
        return wrong(format!("load.requests_per_connection: {members} stay; leave it out"));
    }
    if load.depth > DELIVERY_WINDOW {
        return wrong(format!(
            "load.depth: {members} have at most {DELIVERY_WINDOW} messages in flight each"
        ));
    }
    if load.loop_ == LoopPlan::RandomBurst {
        return wrong(format!(
            "load.executor: {members} act by themselves, not in bursts; use another"
        ));
    }
    if !load.stages.is_empty() && load.loop_ == LoopPlan::Closed {
        return wrong(format!(
            "load.stages: {members} are there all the time; give a rate, which may change"
        ));
    }
    let count = load.connections.div_ceil(size);
    if count < generator.threads {
        return wrong(format!(
            "load.connections: {count} {companies} can't be shared by {} threads; use --threads {count}",
            generator.threads
        ));
    }
    Ok(())
}

/// Each one knows what it has heard of each other one.
pub(super) fn in_broadcast(load: &Load, share: SharePlan) -> Result<(), PlanError> {
    if load.connections > MOST_IN_BROADCAST {
        return wrong(format!(
            "load.connections: the copies of a broadcast are told apart among {MOST_IN_BROADCAST} connections at most"
        ));
    }
    if share.connections != load.connections {
        return wrong("share: a broadcast can't be shared by several engines; use one".to_owned());
    }
    Ok(())
}
