"""The server of one trial, or its copies: started, pinned, ready, with what a record says of it.

Knows how a case's server is started and reached; must not know what is asked of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wiretrial.machine import preflight
from wiretrial.machine.namespaces import Namespace
from wiretrial.results.model import SubjectFacts
from wiretrial.studies import environments, observed
from wiretrial.studies.fields import FIT
from wiretrial.studies.prepare import Ready
from wiretrial.studies.spec import Case
from wiretrial.subjects.copies import Copies
from wiretrial.subjects.endpoint import Endpoint
from wiretrial.subjects.process import Server


@dataclass(frozen=True)
class Running:
    """One server, or several copies of it on the same port of different addresses."""

    copies: Copies
    case: Case
    ready: Ready
    cpus: Sequence[int]

    @property
    def first(self) -> Server:
        """The one that speaks for all where they are alike."""
        return self.copies.servers[0]

    @property
    def endpoint(self) -> Endpoint:
        """Where the first one speaks the case's protocol."""
        return self.first.endpoint(self.case.protocol)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where all of them do, as `HOST:PORT`; none where there is one."""
        found = [server.endpoint(self.case.protocol) for server in self.copies.servers]
        return tuple(f"{one.host}:{one.port}" for one in found) if len(found) > 1 else ()

    def facts(self) -> SubjectFacts:
        """What the record says of it."""
        return self.ready.facts(
            self.case.answering[1],
            threads=self.first.threads,
            cpus=tuple(self.cpus),
            copies=len(self.copies.servers),
            isolation=observed.isolation(self.first),
            primed_ns=self.case.priming_ns,
        )

    def facts_since(self, before: SubjectFacts) -> SubjectFacts:
        """The same, with what its link carried since. Raises `EngineFailed` where that ended."""
        environments.require_whole(self.first.isolation)
        return observed.carried(before, self.first)


def copies_of(case: Case) -> int:
    """How many copies of its server the case takes on this machine."""
    return preflight.copies_for(case.load.connections) if case.copies == FIT else case.copies


@contextmanager
def started(
    case: Case,
    ready: Ready,
    *,
    engine: Path,
    threads: int,
    cpus: Sequence[int],
    isolation: Namespace | None,
    host: str | None = None,
) -> Iterator[Running]:
    """The case's server, ready; leaving ends it. `host`: where others reach it, not loopback.

    Raises `SubjectFailed`.
    """
    assert case.contract is not None
    ready = ready.answering
    with Copies(
        ready.subject,
        ready.build,
        case.answering[1],
        copies_of(case),
        engine=engine,
        threads=threads,
        cpus=cpus,
        isolation=isolation,
        host=host,
        delay_ms=case.delay_ms,
    ) as copies:
        copies.wait_ready([(case.contract, case.protocol)])
        yield Running(copies, case, ready, cpus)
