"""How a case becomes a load plan: what is sent where, how long, and what may take how long.

Pure, but for the engine's own check of rules. Must not know what comes before or after a run.
"""

from __future__ import annotations

from wiretrial.engine import Engine
from wiretrial.machine import links, pinning, preflight
from wiretrial.plan import (
    GeneratorSettings,
    Hold,
    Http,
    Load,
    MatchingContent,
    Phases,
    Plan,
    ShapedContent,
    Stop,
    Target,
)
from wiretrial.studies import stall
from wiretrial.studies.spec import Case, Study
from wiretrial.traffic import loads

NO_DEADLINE_NS = 24 * 3_600_000_000_000
SLOWEST_OPENING_NS = 2_000_000
"""Of a connection, on average: no server of the field takes so long."""
SLOWEST_ANSWER_NS = 500_000
"""Of a message, likewise."""
LEAST_NS = 30_000_000_000
"""For either of them, however few there are."""
SLOWEST_LOSSY_OPENING_NS = 120_000_000_000
"""Of all connections and the first exchange, over a link that loses. A burst that takes a packet
and its repetitions doubles the wait each time: eight in a row make 51 s (RFC 6298, section 5.5)."""
SHORTEST_INTERVAL_NS = 100_000_000
INTERVAL_OF_EACH_NS = 500
"""For each held connection."""


def plan_of(
    study: Study,
    case: Case,
    url: str,
    cpus: pinning.Pinning,
    addresses: tuple[str, ...] = (),
) -> Plan:
    """The load plan of one trial. `addresses`: where the server's copies are, where it has any."""
    stop, phases, threads = _stop(study, case), _phases(study, case), study.generator_threads
    published = case.publishing
    if case.is_held:
        threads = max(threads, preflight.threads_for(case.load.connections))
    return Plan(
        target=case.target(url, addresses=addresses, sources=case.sources),
        traffic=case.traffic,
        load=case.load,
        stop=stop,
        phases=phases,
        generator=GeneratorSettings(threads=threads, cpus=cpus.generator),
        publish=None if published is None else published.plan(url, phases.warmup_ns),
    )


def _stop(study: Study, case: Case) -> Stop:
    if case.is_counted:
        return Stop(requests=case.requests, requests_each=case.requests_each)
    executor, connections = case.load.executor, case.load.connections
    if isinstance(executor, Hold):
        # It is over when each was asked; who does not answer must not keep it for ever.
        longest = executor.idle_ns + LEAST_NS + connections * SLOWEST_ANSWER_NS
        return Stop(duration_ns=longest, requests=connections)
    return Stop(duration_ns=study.duration_of(case))


def _phases(study: Study, case: Case) -> Phases:
    if case.is_held:
        connections = case.load.connections
        return Phases(
            connect_ns=LEAST_NS + connections * SLOWEST_OPENING_NS,
            # Each of many threads tells its own: what waits to be added up must not fill memory.
            interval_ns=max(SHORTEST_INTERVAL_NS, connections * INTERVAL_OF_EACH_NS),
        )
    if stall.is_watched(case):
        # Whoever waits for a thread of the pool may wait long; it is the watch that ends a stall.
        return Phases(timeout_ns=NO_DEADLINE_NS)
    usual = Phases()
    opening_ns = case.load.connections * SLOWEST_OPENING_NS
    link = links.of_environment(case.scenario.environment)
    if link is not None and link.loses:
        opening_ns = max(opening_ns, SLOWEST_LOSSY_OPENING_NS)
    in_flight = case.load.connections * case.load.depth
    return Phases(
        connect_ns=max(usual.connect_ns, opening_ns),
        warmup_ns=0 if case.is_counted else study.warmup_of(case),
        # Who has 100,000 messages before him waits for all of them.
        timeout_ns=max(usual.timeout_ns, in_flight * SLOWEST_ANSWER_NS),
    )


def require_rules(study: Study, engine: Engine) -> None:
    """Refuses a rule about replies that makes no sense: only the engine can read them.

    So it is with the checks of traffic.
    """
    ruled = [
        case
        for case in study.cases
        if case.traffic or isinstance(case.expect.content, MatchingContent | ShapedContent)
    ]
    if not ruled:
        return
    for case in ruled:
        loads.require_one_thread(case.load, study.generator_threads)
    # Where it goes, and how, does not matter here.
    url = "{}://127.0.0.1:1/"
    engine.check(
        [
            Plan(
                target=Target(
                    url=case.url or url.format(case.protocol),
                    http=Http(version=case.http.version),
                    message=case.message,
                    expect=case.expect,
                ),
                traffic=case.traffic,
                load=case.load if case.traffic else Load(connections=1),
                stop=Stop(duration_ns=NO_DEADLINE_NS) if case.traffic else Stop(requests=1),
            )
            for case in ruled
        ]
    )
