"""One trial: a fresh server, the engine beside it, the record of both.

Knows how a case becomes a plan and a server; must not know what comes before or after it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from wiretrial.engine import Engine
from wiretrial.machine import pinning
from wiretrial.plan import GeneratorSettings, Phases, Plan, Stop, Target
from wiretrial.results.model import SubjectFacts, Trial
from wiretrial.studies import environments, observed, stall
from wiretrial.studies.calibration import NOTHING, Calibration
from wiretrial.studies.events import Event, Seen
from wiretrial.studies.order import Slot
from wiretrial.studies.prepare import Ready
from wiretrial.studies.recording import Recording
from wiretrial.studies.spec import Case, Study
from wiretrial.studies.stall import Watch
from wiretrial.subjects.process import Server

NO_DEADLINE_NS = 24 * 3_600_000_000_000


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
            Server(
                ready.subject,
                ready.build,
                case.scenario.configuration,
                engine=self.engine.binary,
                threads=threads,
                cpus=cpus.server,
                isolation=isolation,
                delay_ms=case.delay_ms,
            ) as server,
        ):
            assert case.contract is not None
            server.wait_ready([(case.contract, case.protocol)])
            endpoint = server.endpoint(case.protocol)
            tls = case.tls.model_copy(update={"ca_file": str(server.certificate.authority)})
            here: dict[str, object] = {"tls": tls} if endpoint.tls() else {}
            if isolation and case.sources:
                # Loopback's addresses are no use on the link.
                here |= {"sources": isolation.sources}
            plan = plan_of(self.study, case.model_copy(update=here), endpoint.url(case.path), cpus)
            subject = SubjectFacts(
                name=ready.subject.spec.name,
                version=ready.build.version,
                language=ready.subject.spec.language,
                digest=ready.build.digest,
                # As the recipe gives it: ports and folders change from trial to trial.
                command=ready.subject.configuration(case.scenario.configuration).command,
                threads=threads,
                cpus=cpus.server,
                isolation=observed.isolation(server),
            )
            trial = yield from self._record(case, slot, plan, cpus, subject, server)
            environments.require_whole(isolation)
            return trial.model_copy(update={"subject": observed.carried(subject, server)})

    def _record(
        self,
        case: Case,
        slot: Slot,
        plan: Plan,
        cpus: pinning.Pinning,
        subject: SubjectFacts | None,
        server: Server | None,
    ) -> Generator[Event, None, Trial]:
        watch = _watch(case)
        pids = [server.pid] if server else ()
        with Recording(self.engine, plan, pids, watch) as recording:
            for snapshot in recording:
                yield Seen(snapshot)
        return recording.trial(
            study=self.study.name,
            study_digest=self.study.digest(),
            block=slot.block,
            position=slot.position,
            order_seed=slot.order_seed,
            scenario=case.scenario,
            subject=subject,
            machine={
                **self.machine,
                "cpus_apart": cpus.problem is None,
                **({"pacing": self.alone.pacing.model_dump()} if self.alone.pacing else {}),
            },
            ceiling=self.alone.ceiling(self.study, case),
            server_end=server.ended() if server else None,
        )


def _watch(case: Case) -> Watch | None:
    """Whoever sees that the server no longer gets on; None where nobody has to."""
    if not stall.is_watched(case):
        return None
    return Watch(stall.patience_ns(case), case.messages or 0)


def _seed(slot: Slot) -> int:
    """Of a link's random choices: each trial has its own, the same in every run of the study."""
    return (slot.order_seed * 1_000_003 + slot.block) * 1_000_003 + slot.position


def plan_of(study: Study, case: Case, url: str, cpus: pinning.Pinning) -> Plan:
    """The load plan of one trial."""
    stop = (
        Stop(requests=case.requests, requests_each=case.requests_each)
        if case.is_counted
        else Stop(duration_ns=study.duration_of(case))
    )
    phases = Phases(warmup_ns=0 if case.is_counted else study.warmup_of(case))
    if stall.is_watched(case):
        # Whoever waits for a thread of the pool may wait long; it is the watch that ends a stall.
        phases = phases.model_copy(update={"timeout_ns": NO_DEADLINE_NS})
    return Plan(
        target=Target(
            url=url,
            sources=case.sources,
            http=case.http,
            tls=case.tls,
            message=case.message,
            expect=case.expect,
        ),
        load=case.load,
        stop=stop,
        phases=phases,
        generator=GeneratorSettings(threads=study.generator_threads, cpus=cpus.generator),
    )
