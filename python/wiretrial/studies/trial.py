"""One trial: a fresh server, the engine beside it, the record of both.

Knows how a case becomes a plan and a server; must not know what comes before or after it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from wiretrial.engine import Engine
from wiretrial.errors import EveryMessageFailed
from wiretrial.machine import listeners, pinning, preflight
from wiretrial.plan import (
    GeneratorSettings,
    Hold,
    Load,
    MatchingContent,
    Phases,
    Plan,
    Stop,
    Target,
)
from wiretrial.results.model import SubjectFacts, Trial
from wiretrial.studies import environments, observed, priming, servers, stall
from wiretrial.studies.calibration import NOTHING, Calibration
from wiretrial.studies.events import Event, Seen
from wiretrial.studies.order import Slot
from wiretrial.studies.prepare import Ready
from wiretrial.studies.recording import Recording
from wiretrial.studies.servers import Running
from wiretrial.studies.spec import Case, Study
from wiretrial.studies.stall import Watch
from wiretrial.studies.workloads import FRESH_SOURCES

NO_DEADLINE_NS = 24 * 3_600_000_000_000
SLOWEST_OPENING_NS = 2_000_000
"""Of a connection, on average: no server of the field takes so long."""
SLOWEST_ANSWER_NS = 500_000
"""Of a message, likewise."""
LEAST_NS = 30_000_000_000
"""For either of them, however few there are."""
SHORTEST_INTERVAL_NS = 100_000_000
INTERVAL_OF_EACH_NS = 500
"""For each held connection."""


@dataclass(frozen=True)
class Bench:
    """What all trials of a study share."""

    study: Study
    engine: Engine
    machine: dict[str, Any]
    alone: Calibration = NOTHING
    """What the generator reaches by itself."""

    def measure(self, case: Case, slot: Slot, ready: Ready | None) -> Generator[Event, None, Trial]:
        """The trial of `case`; `ready` is None where the server is the user's own."""
        threads = self.study.threads_of(case)
        cpus = pinning.choose(threads, self.study.generator_threads)
        if ready is None:
            assert case.url is not None
            plan = plan_of(self.study, case, case.url, cpus)
            return (yield from self._record(case, slot, plan, cpus, None, None))
        with (
            environments.make(
                case.scenario.environment, self.engine.binary, _seed(slot)
            ) as isolation,
            servers.started(
                case,
                ready,
                engine=self.engine.binary,
                threads=threads,
                cpus=cpus.server,
                isolation=isolation,
                host=self.engine.server_host,
            ) as running,
        ):
            endpoint = running.endpoint
            here: dict[str, object] = {}
            if endpoint.tls():
                here["tls"] = case.tls.model_copy(
                    update={"ca_file": str(endpoint.authority), "insecure": False}
                )
            if isolation and case.sources:
                # Loopback's addresses are no use on the link.
                here["sources"] = isolation.sources
            plan = plan_of(
                self.study,
                case.model_copy(update=here),
                endpoint.url(case.path),
                cpus,
                running.addresses,
            )
            addresses = isolation.sources if isolation else FRESH_SOURCES
            yield from priming.prime(self.engine, case, plan, addresses)
            # Told now: what a link has carried by now is no part of the trial.
            subject = running.facts()
            trial = yield from self._record(case, slot, plan, cpus, subject, running)
            environments.require_whole(isolation)
            return trial.model_copy(update={"subject": observed.carried(subject, running.first)})

    def _record(
        self,
        case: Case,
        slot: Slot,
        plan: Plan,
        cpus: pinning.Pinning,
        subject: SubjectFacts | None,
        running: Running | None,
    ) -> Generator[Event, None, Trial]:
        watch = _watch(case)
        found = _server(plan, running)
        with Recording(
            self.engine,
            plan,
            found.pids,
            watch,
            found.unseen,
            keeps_secrets=self.study.keeps_secrets,
        ) as recording:
            for snapshot in recording:
                yield Seen(snapshot, recording.server_used)
        if recording.futile and not recording.server_died:
            raise EveryMessageFailed(recording.futile)
        return recording.trial(
            study=self.study.name,
            study_digest=self.study.digest(),
            block=slot.block,
            position=slot.position,
            order_seed=slot.order_seed,
            scenario=case.scenario
            if running
            else case.scenario.model_copy(update={"environment": recording.environment}),
            subject=subject,
            machine={
                **self.machine,
                "cpus_apart": cpus.problem is None,
                **({"pacing": self.alone.pacing.model_dump()} if self.alone.pacing else {}),
            },
            ceiling=self.alone.ceiling(self.study, case),
            server_end=running.ended() if running else None,
            allowed_errors=self.study.allow_errors,
        )


def require_rules(study: Study, engine: Engine) -> None:
    """Refuses a rule about replies that makes no sense: only the engine can read them."""
    ruled = [case for case in study.cases if isinstance(case.expect.content, MatchingContent)]
    if not ruled:
        return
    # Where it goes, and how, does not matter here.
    url = "{}://127.0.0.1:1/"
    engine.check(
        [
            Plan(
                target=Target(
                    url=case.url or url.format(case.protocol),
                    message=case.message,
                    expect=case.expect,
                ),
                load=Load(connections=1),
                stop=Stop(requests=1),
            )
            for case in ruled
        ]
    )


def _server(plan: Plan, running: Running | None) -> listeners.Found:
    """The processes of the server: of ours, or of whoever listens where the plan goes."""
    if running:
        return listeners.Found(pids=running.pids)
    return listeners.of_url(plan.target.url)


def _watch(case: Case) -> Watch | None:
    """Whoever sees that the server no longer gets on; None where nobody has to."""
    if not stall.is_watched(case):
        return None
    return Watch(stall.patience_ns(case), case.messages or 0)


def _seed(slot: Slot) -> int:
    """Of a link's random choices: each trial has its own, the same in every run of the study."""
    return (slot.order_seed * 1_000_003 + slot.block) * 1_000_003 + slot.position


def plan_of(
    study: Study,
    case: Case,
    url: str,
    cpus: pinning.Pinning,
    addresses: tuple[str, ...] = (),
) -> Plan:
    """The load plan of one trial. `addresses`: where the server's copies are, where it has any."""
    stop, phases, threads = _stop(study, case), _phases(study, case), study.generator_threads
    if case.is_held:
        threads = max(threads, preflight.threads_for(case.load.connections))
    return Plan(
        target=Target(
            url=url,
            addresses=addresses,
            sources=case.sources,
            http=case.http,
            tls=case.tls,
            styx=case.styx,
            websocket=case.websocket,
            message=case.message,
            expect=case.expect,
        ),
        load=case.load,
        stop=stop,
        phases=phases,
        generator=GeneratorSettings(threads=threads, cpus=cpus.generator),
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
    in_flight = case.load.connections * case.load.depth
    return Phases(
        connect_ns=max(usual.connect_ns, opening_ns),
        warmup_ns=0 if case.is_counted else study.warmup_of(case),
        # Who has 100,000 messages before him waits for all of them.
        timeout_ns=max(usual.timeout_ns, in_flight * SLOWEST_ANSWER_NS),
    )
