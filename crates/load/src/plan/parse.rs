//! From the document to the typed plan: every rule that makes a plan runnable stands here.

use super::document::{
    DeflateDocument, ExecutorDocument, GeneratorDocument, LoadDocument, MessageKind,
    OverflowDocument, PLAN_SCHEMA, PLAN_VERSION, PhasesDocument, PlanDocument, ShareDocument,
    StopDocument, StyxDocument, TargetDocument,
};
use super::expect::expect;
use super::message::payload;
use wiretrial_proto::websocket::DeflateConfig;

use super::{
    ContentRule, DELIVERY_WINDOW, GeneratorPlan, Load, LoopPlan, Overflow, PLACEHOLDER,
    PayloadPlan, Phases, Plan, PlanError, Scheme, SharePlan, Stop, StyxPlan, Target, TargetUrl,
    TlsPlan,
};
use crate::clock::Nanos;

/// The most connections of a broadcast: each is told apart from each.
const MOST_IN_BROADCAST: u32 = 1000;
/// Longest duration, nanoseconds: 30 days.
const MAX_DURATION: u64 = 30 * 24 * 3_600_000_000_000;
/// Most workers of all engines together: the number of one is part of its messages'.
const MAX_WORKERS: u32 = 1 << 20;
/// The same where that number stands in JSON, of which whole numbers are read up to 2 to the power of 53.
const MAX_WORKERS_IN_JSON: u32 = 1 << 13;

impl Plan {
    /// Makes a document into a runnable plan.
    ///
    /// # Errors
    /// One line that names the member that is wrong, and the remedy.
    pub fn parse(document: PlanDocument) -> Result<Self, PlanError> {
        if document.schema != PLAN_SCHEMA {
            return wrong(format!("schema: '{}' instead of '{PLAN_SCHEMA}'", document.schema));
        }
        if document.version != PLAN_VERSION {
            return wrong(format!(
                "version: this engine reads plans of version {PLAN_VERSION}, not {}; use matching versions of both halves",
                document.version
            ));
        }
        let generator = generator(document.generator)?;
        let target = target(document.target)?;
        let load = load(&document.load, &generator)?;
        let share = share(document.share.as_ref(), &load, &generator)?;
        if matches!(target.payload, PayloadPlan::Json(_)) && share.workers > MAX_WORKERS_IN_JSON {
            return wrong(format!(
                "share.workers: {} are over {MAX_WORKERS_IN_JSON}, too many for numbers in JSON; write {PLACEHOLDER} inside a string",
                share.workers
            ));
        }
        if let Some(styx) = &target.styx {
            in_company(styx.table_size, ["players", "tables"], &load, &generator)?;
        }
        if target.expect.content == ContentRule::Broadcast {
            in_broadcast(&load, share)?;
            let names = ["the connections of a broadcast", "broadcasts"];
            in_company(load.connections, names, &load, &generator)?;
        }
        Ok(Self {
            target,
            stop: stop(&document.stop, &load)?,
            load,
            phases: phases(&document.phases)?,
            generator,
            share,
        })
    }
}

fn wrong<T>(what: String) -> Result<T, PlanError> {
    Err(PlanError(what))
}

fn target(document: TargetDocument) -> Result<Target, PlanError> {
    let url = TargetUrl::parse(&document.url)?;
    let payload = payload(&document.message, &url)?;
    let styx = match url.scheme {
        Scheme::Styx(..) => Some(styx(document.styx)?),
        _ => None,
    };
    let expect = expect(&document.expect, &url, &payload)?;
    let method = document.http.method.unwrap_or_else(|| {
        if payload == PayloadPlan::None { "GET".to_owned() } else { "POST".to_owned() }
    });
    Ok(Target {
        addresses: parse_all(&document.addresses, "addresses", "IP:PORT, e.g. 127.0.0.1:9001")?,
        sources: parse_all(&document.sources, "sources", "an IP address, e.g. 127.0.1.1")?,
        method,
        headers: document.http.headers,
        tls: url.secure.then(|| TlsPlan {
            insecure: document.tls.insecure,
            ca_file: document.tls.ca_file.map(Into::into),
            server_name: document.tls.server_name.unwrap_or_else(|| url.host.clone()),
            resumption: document.tls.resumption,
        }),
        text: document.message.kind == MessageKind::Text,
        styx,
        deflate: deflate(document.websocket.deflate, url.scheme)?,
        greetings: greetings(document.websocket.greetings, url.scheme)?,
        payload,
        expect,
        url,
    })
}

fn greetings(count: u8, scheme: Scheme) -> Result<u8, PlanError> {
    let why = match scheme {
        Scheme::WebSocket => return Ok(count),
        _ if count == 0 => return Ok(0),
        Scheme::Http => "http replies to requests only",
        Scheme::Stream => "a byte stream has no messages that could be told apart",
        Scheme::Styx(..) => "what styx sends at the beginning is read anyway",
        Scheme::SocketIo => "events that the server emits are read anyway",
    };
    wrong(format!("websocket.greetings: only for ws and wss ({why}); leave --greetings out"))
}

fn deflate(
    document: Option<DeflateDocument>,
    scheme: Scheme,
) -> Result<Option<DeflateConfig>, PlanError> {
    let Some(document) = document else { return Ok(None) };
    if scheme != Scheme::WebSocket {
        return wrong("websocket.deflate: only ws and wss compress messages; leave it out".into());
    }
    let config = DeflateConfig {
        server_no_context_takeover: document.server_no_context_takeover,
        client_no_context_takeover: document.client_no_context_takeover,
        server_max_window_bits: document.server_max_window_bits,
        client_max_window_bits: document.client_max_window_bits,
        level: document.level,
    };
    config.validate().map_err(|error| PlanError(format!("websocket.deflate: {error}")))?;
    Ok(Some(config))
}

fn parse_all<T: std::str::FromStr>(
    texts: &[String],
    member: &str,
    form: &str,
) -> Result<Vec<T>, PlanError> {
    let parse = |text: &String| {
        text.parse().map_err(|_| PlanError(format!("{member}: '{text}' is not {form}")))
    };
    texts.iter().map(parse).collect()
}

fn styx(document: StyxDocument) -> Result<StyxPlan, PlanError> {
    let StyxDocument { table_size, first_table, user, first_player, password, delay_ms, lobby } =
        document;
    if !(1..=1000).contains(&table_size) {
        return wrong(format!("styx.table_size: {table_size} is outside 1 to 1000"));
    }
    let Ok(delay_ms) = i32::try_from(delay_ms) else {
        return wrong(format!("styx.delay_ms: {delay_ms} is over {}", i32::MAX));
    };
    if user.len() > 1000 || password.len() > 1000 {
        return wrong("styx: user and password have at most 1000 bytes".to_owned());
    }
    Ok(StyxPlan { table_size, first_table, user, first_player, password, delay_ms, lobby })
}

/// Who is sent copies of what others send must stay, and one worker must have all of a company, as
/// the players of a table are.
fn in_company(
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
fn in_broadcast(load: &Load, share: SharePlan) -> Result<(), PlanError> {
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

fn load(document: &LoadDocument, generator: &GeneratorPlan) -> Result<Load, PlanError> {
    let LoadDocument { connections, depth, pack, requests_per_connection, .. } = *document;
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
        ExecutorDocument::Hold { .. } if depth > 1 || requests_per_connection.is_some() => {
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
    Ok(Load { connections, depth, pack, requests_per_connection, loop_, seed: document.seed })
}

fn stop(document: &StopDocument, load: &Load) -> Result<Stop, PlanError> {
    let StopDocument { duration_ns, requests, requests_each } = *document;
    if duration_ns.is_none() && requests.is_none() && requests_each.is_none() {
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
    if requests_each.is_some_and(|each| !each.is_multiple_of(u64::from(load.pack))) {
        return wrong("stop.requests_each must be a multiple of the pack".to_owned());
    }
    let duration = duration_ns.map(|ns| duration(ns, "stop.duration_ns", 1_000_000)).transpose()?;
    Ok(Stop { duration, requests, requests_each })
}

fn phases(document: &PhasesDocument) -> Result<Phases, PlanError> {
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

fn generator(document: GeneratorDocument) -> Result<GeneratorPlan, PlanError> {
    let GeneratorDocument { threads, cpus, poller, spin } = document;
    if !(1..=1024).contains(&threads) {
        return wrong(format!("generator.threads: {threads} is outside 1 to 1024"));
    }
    Ok(GeneratorPlan { threads, cpus, poller, spin })
}

fn share(
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
