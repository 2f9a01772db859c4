"""What a trial stands on: a place for its server, the server in it, and the CPUs of both sides.

Knows how these are made and in what order they end; must not know who sends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from wiretrial.engine import Engine
from wiretrial.machine import idle_states, pinning, preflight
from wiretrial.machine.cpu_limits import Group
from wiretrial.machine.namespaces import Namespace
from wiretrial.results.model import BackendFacts, DatabaseFacts, SubjectFacts
from wiretrial.studies import controls, environments, observed
from wiretrial.studies.calibration import NOTHING, Calibration
from wiretrial.studies.fields import FIT
from wiretrial.studies.prepare import Ready
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import database
from wiretrial.subjects.copies import Copies
from wiretrial.subjects.endpoint import Endpoint
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import ContractName, Protocol


@dataclass(frozen=True)
class Bench:
    """What all trials of a study share."""

    study: Study
    engine: Engine
    machine: dict[str, Any]
    alone: Calibration = NOTHING
    """What the generator reaches by itself."""

    @cached_property
    def digest(self) -> str:
        """The study's: to make it takes as long as its cases are many, and each trial tells it."""
        return self.study.digest()

    @contextmanager
    def stand(self, case: Case, ready: Ready | None, seed: int = 0) -> Iterator[Stand]:
        """The case's server, ready to be asked; `ready` is None where it is the user's own.

        `seed` decides what a link loses. Raises `SubjectFailed`.
        """
        engine, threads = self.engine, self.study.threads_of(case)
        cpus = pinning.choose(threads, self.study.generator_threads)
        with ExitStack() as stack:
            if case.idle_states == "off":
                stack.enter_context(idle_states.off())
            isolation = stack.enter_context(
                environments.make(
                    case.scenario.environment,
                    engine.binary,
                    seed,
                    cpus,
                    controls.settings(case.http.congestion),
                )
            )
            running = None
            if ready:
                limit = None
                if _is_limited(case, cpus):
                    assert case.cpus is not None
                    limit = stack.enter_context(Group(case.cpus))
                found, number = ready.answering, case.copies
                if number == FIT:
                    number = preflight.copies_for(case.load.connections)
                copies = Copies(
                    found.subject,
                    found.build,
                    case.answering[1],
                    number,
                    engine=engine.binary,
                    threads=threads,
                    cpus=cpus.server,
                    isolation=isolation,
                    # Where others reach it, not loopback.
                    host=engine.server_host,
                    delay_ms=case.delay_ms,
                    congestion=case.http.congestion,
                    behind_cpus=cpus.others,
                    backend_flags=case.backend,
                )
                stack.enter_context(copies).wait_ready(_claims(case))
                if limit:
                    limit.take(copies.pids)
                running = Running(copies, case, found, cpus.server, limit)
            yield Stand(self, case, ready, cpus, isolation, running)


def _is_limited(case: Case, cpus: pinning.Pinning) -> bool:
    """Whether it takes more than a number of CPUs to which its server is pinned."""
    return case.cpus is not None and case.cpus < len(cpus.server)


def _claims(case: Case) -> list[tuple[ContractName, Protocol]]:
    """What must hold before it is asked; a server of one's own claims nothing."""
    return [(case.contract, case.spoken)] if case.contract else []


@dataclass(frozen=True)
class Stand:
    """A case's server with everything around it, while the context lasts."""

    bench: Bench
    case: Case
    ready: Ready | None
    cpus: pinning.Pinning
    isolation: Namespace | None
    running: Running | None
    """None where the server is the user's own."""


@dataclass(frozen=True)
class Running:
    """One server, or several copies of it on the same port of different addresses."""

    copies: Copies
    case: Case
    ready: Ready
    cpus: Sequence[int]
    limit: Group | None = None
    """Of its CPU time, which holds from `hold` on."""

    def hold(self) -> None:
        """From now on it has no more CPU time than its case says: it is ready, and primed."""
        if self.limit:
            self.limit.hold()

    @property
    def first(self) -> Server:
        """The one that speaks for all where they are alike."""
        return self.copies.servers[0]

    @property
    def endpoint(self) -> Endpoint:
        """Where the first one speaks the case's protocol."""
        return self.first.endpoint(self.case.spoken)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where all of them do, as `HOST:PORT`; none where there is one."""
        found = [server.endpoint(self.case.spoken) for server in self.copies.servers]
        return tuple(f"{one.host}:{one.port}" for one in found) if len(found) > 1 else ()

    def facts(self) -> SubjectFacts:
        """What the record says of it."""
        return self.ready.facts(
            self.case.answering[1],
            threads=self.first.threads,
            cpus=tuple(self.cpus),
            copies=len(self.copies.servers),
            congestion=controls.of_server(self.first, self.case),
            isolation=observed.isolation(self.first),
            primed_ns=self.case.primed_ns,
            limit=observed.limited(self.limit) if self.limit else None,
            database=self._database(),
            backend=self._backend(),
        )

    def _database(self) -> DatabaseFacts | None:
        started = self.copies.database
        if started is None:
            return None
        return DatabaseFacts(
            version=f"PostgreSQL {database.version()}", cpus=started.cpus, connections=database.POOL
        )

    def _backend(self) -> BackendFacts | None:
        started = self.copies.backend
        if started is None:
            return None
        return BackendFacts(
            name=started.subject.spec.name, threads=started.threads, cpus=started.cpus
        )

    def facts_since(self, before: SubjectFacts) -> SubjectFacts:
        """The same, with what its link carried since, and how often its limit held.

        Raises `EngineFailed` where the link ended.
        """
        environments.require_whole(self.first.isolation)
        found = observed.carried(before, self.first)
        if self.limit is None or before.limit is None:
            return found
        limit = observed.limited(self.limit).since(before.limit)
        return found.model_copy(update={"limit": limit})
