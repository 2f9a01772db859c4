"""Starts servers again and again, to time how long each takes until its first right reply.

Knows which servers of a study are timed, and in what order; must not know how the times are shown.
They take turns, in a random order of each turn, so that whatever the machine does meanwhile meets
all of them alike. A turn before the first is not recorded: after it, programs and libraries are in
the page cache, and each recorded start finds them there.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple

from wiretrial.engine import Engine
from wiretrial.errors import SubjectFailed
from wiretrial.machine import pinning
from wiretrial.results import starts
from wiretrial.results.starts import Start
from wiretrial.results.store import ResultsFolder
from wiretrial.studies.events import Event, Preparing, StartDone, StartFailed
from wiretrial.studies.prepare import Ready
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import contracts, first_reply
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import TRAFFIC, ConfigurationName, ContractName, Protocol
from wiretrial.subjects.tree import Tree

Name = tuple[str, ConfigurationName]
"""A subject in one configuration."""


def is_complete(study: Study, results: ResultsFolder, occasion: int) -> bool:
    """Whether no start of this occasion is missing."""
    return not _missing(study, starts.read(results), occasion)


def measure(
    study: Study,
    results: ResultsFolder,
    engine: Engine,
    ready: Mapping[str, Ready],
    occasion: int,
) -> Generator[Event, None, None]:
    """Measures whatever start of the occasion is missing; each is stored before the next begins.

    `ready`: the scenarios whose subjects are here. A server that does not start is told, kept so,
    and not started again.
    """
    if study.starts is None:
        return
    missing = _missing(study, starts.read(results), occasion)
    able = _able(study, ready)
    lost: set[Name] = set()
    for number in range(study.starts.count + 1):
        turn = [name for name in missing if name in able]
        random.Random(f"{study.seed}/starts/{occasion}/{number}").shuffle(turn)
        for name in turn:
            if name in lost or (number and number not in missing[name]):
                continue
            server = able[name]
            # What goes wrong before the first one that is missing is told of that.
            row = server.row(occasion, number or min(missing[name]))
            yield Preparing(row.called, f"start {number} of {study.starts.count}")
            try:
                found = server.started(row, study, engine)
            except SubjectFailed as error:
                lost.add(name)
                starts.keep(results, [row.model_copy(update={"problem": error.line()})])
                yield StartFailed(row.called, error.line())
                continue
            if number:
                starts.keep(results, [found])
                yield StartDone(found, study.starts.count)


def _missing(study: Study, stored: Sequence[Start], occasion: int) -> dict[Name, set[int]]:
    """The numbers of the starts that each server lacks; one that failed is tried again."""
    if study.starts is None:
        return {}
    done = {row.place for row in stored if row.problem is None}
    numbers = range(1, study.starts.count + 1)
    found = {
        name: {number for number in numbers if (*name, occasion, number) not in done}
        for name in study.starts.subjects
    }
    return {name: lacking for name, lacking in found.items() if lacking}


class _Able(NamedTuple):
    """A server that may be started, and what it is asked first."""

    name: Name
    ready: Ready
    threads: int
    asked: tuple[ContractName, Protocol] | None

    def row(self, occasion: int, number: int) -> Start:
        """What is known of a start before it is made."""
        contract, protocol = self.asked or ("", "")
        return Start(
            subject=self.name[0],
            configuration=self.name[1],
            occasion=occasion,
            number=number,
            contract=contract,
            protocol=protocol,
            threads=self.threads,
            version=self.ready.build.version,
        )

    def started(self, row: Start, study: Study, engine: Engine) -> Start:
        """The row of one start. Raises `SubjectFailed` where it gives no right reply."""
        if self.asked is None:
            raise SubjectFailed(
                f"{self.name[0]} is not timed at its start: it claims no contract", "claim one"
            )
        contract, protocol = self.asked
        subject, build = self.ready.subject, self.ready.build
        cpus = pinning.choose(self.threads, study.generator_threads)
        limit_s = subject.spec.readiness.deadline_s
        with Server(
            subject,
            build,
            self.name[1],
            engine=engine.binary,
            threads=self.threads,
            cpus=cpus.server,
            behind_cpus=cpus.others,
        ) as server:
            endpoint = server.endpoint(protocol).model_copy(update={"deadline_s": limit_s})
            # Whoever asks must not take the CPU on which the server starts.
            with pinning.held_to(cpus.generator):
                reply = first_reply.wait(
                    lambda: contracts.first_reply(contract, endpoint),
                    server.ended,
                    begun_ns=server.begun_ns,
                    limit_s=limit_s,
                )
            if subject.spec.readiness.watched:
                # Only then is it known which processes are its own.
                server.wait_ready([])
            memory = Tree(server.watched).memory()
        return row.model_copy(
            update={
                "first_reply_ns": reply.took_ns,
                "resolution_ns": reply.resolution_ns,
                "pss_bytes": memory.pss_bytes if memory else None,
            }
        )


def _able(study: Study, ready: Mapping[str, Ready]) -> dict[Name, _Able]:
    """Servers that are here, as the first scenario of each has them."""
    found: dict[Name, _Able] = {}
    for case in study.cases:
        name = (case.scenario.subject, case.scenario.configuration)
        here = ready.get(case.scenario.name)
        if here is not None and case.subject_kind == "server" and name not in found:
            found[name] = _Able(name, here, study.threads_of(case), _asked(case, here))
    return found


def _asked(case: Case, here: Ready) -> tuple[ContractName, Protocol] | None:
    """What the scenario asks for; where a file says that, the first contract of the server."""
    if case.contract and case.contract != TRAFFIC:
        return case.contract, case.spoken
    claims = here.subject.spec.claims()
    return next(((name, spoken) for name, spoken in claims if name != TRAFFIC), None)
