"""What a trial stands on: a place for its server, the server in it, and the CPUs of both sides.

Knows how these are made and in what order they end; must not know who sends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from wiretrial.engine import Engine
from wiretrial.machine import pinning
from wiretrial.machine.namespaces import Namespace
from wiretrial.studies import environments, servers
from wiretrial.studies.calibration import NOTHING, Calibration
from wiretrial.studies.prepare import Ready
from wiretrial.studies.servers import Running
from wiretrial.studies.spec import Case, Study


@dataclass(frozen=True)
class Bench:
    """What all trials of a study share."""

    study: Study
    engine: Engine
    machine: dict[str, Any]
    alone: Calibration = NOTHING
    """What the generator reaches by itself."""

    @contextmanager
    def stand(self, case: Case, ready: Ready | None, seed: int = 0) -> Iterator[Stand]:
        """The case's server, ready to be asked; `ready` is None where it is the user's own.

        `seed` decides what a link loses.
        """
        threads = self.study.threads_of(case)
        cpus = pinning.choose(threads, self.study.generator_threads)
        with ExitStack() as stack:
            isolation = stack.enter_context(
                environments.make(case.scenario.environment, self.engine.binary, seed)
            )
            running = None
            if ready:
                running = stack.enter_context(
                    servers.started(
                        case,
                        ready,
                        engine=self.engine.binary,
                        threads=threads,
                        cpus=cpus.server,
                        isolation=isolation,
                        host=self.engine.server_host,
                    )
                )
            yield Stand(self, case, ready, cpus, isolation, running)


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
