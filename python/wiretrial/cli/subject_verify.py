"""Whether every subject keeps what it claims, in each configuration.

Knows what is shown of checks; must not know what is checked.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wiretrial.cli import output
from wiretrial.cli.output import Format
from wiretrial.cli.subject_install import make, use_prefix
from wiretrial.cli.subject_names import Wanted
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, SubjectFailed, SubjectUnavailable
from wiretrial.machine import facts
from wiretrial.subjects import any_connection, verification
from wiretrial.subjects.build import Build
from wiretrial.subjects.page import Entry, page, renewed
from wiretrial.subjects.spec import TRAFFIC, ConfigurationName, Subject
from wiretrial.subjects.verification import Verification
from wiretrial.subjects.verify import Outcome

_PER_CPU = 3
"""Configurations verified at a time: nearly all of a check is waiting for a time limit."""


def verify(
    wanted: Wanted,
    prefix: list[str] | None,
    format_: Format,
    *,
    again: bool,
    page_file: Path | None,
) -> int:
    """Checks every contract that they claim; `again`: unchanged subjects, too."""
    use_prefix(prefix)
    if page_file:
        output.require_writable(page_file)
    engine = Engine.find()
    subjects = wanted.subjects()
    bench = _Bench(engine, anew=again or bool(wanted.names), shown=format_ is Format.TEXT)
    with bench:
        for number, subject in enumerate(subjects, 1):
            bench.take(subject, f"{number}/{len(subjects)}")
    if format_ is Format.JSON:
        document = {
            "schema": "wiretrial-verification",
            "version": 2,
            "checks": bench.rows,
            "problems": bench.problems,
        }
        output.emit(output.as_json(document), None)
    for problem in bench.problems:
        output.say(problem)
    if page_file:
        output.emit(_page(bench.entries, page_file, is_part=bool(wanted.names)), page_file)
    return EXIT_FAILED if bench.problems else EXIT_GOOD


def _page(entries: list[Entry], file: Path, *, is_part: bool) -> str:
    """The page of these subjects; of a part, what the file says of all others stays."""
    system = facts.system() or "this machine"
    old = file.read_text(encoding="utf-8") if is_part and file.is_file() else ""
    return renewed(old, entries, system) if old else page(entries, system)


@dataclass(frozen=True)
class _Task:
    """One configuration that is being verified."""

    subject: Subject
    configuration: ConfigurationName
    found: Future[Verification]
    kept: dict[ConfigurationName, Verification]


class _Bench:
    """Installs in turn, and verifies meanwhile what is installed: most checks wait."""

    def __init__(self, engine: Engine, *, anew: bool, shown: bool) -> None:
        self.rows: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.entries: list[Entry] = []
        self._engine = engine
        self._anew = anew
        self._shown = shown
        self._stopping = threading.Event()
        self._pool = ThreadPoolExecutor(_PER_CPU * len(os.sched_getaffinity(0)), "verify")
        self._tasks: deque[_Task] = deque()

    def __enter__(self) -> _Bench:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                while self._tasks:
                    self._conclude(self._tasks.popleft())
        finally:
            # Whoever stops it waits for the check in progress, which is bounded.
            self._stopping.set()
            self._pool.shutdown(cancel_futures=True)

    def take(self, subject: Subject, place: str) -> None:
        """Installs the subject and has each configuration verified."""
        kept: dict[ConfigurationName, Verification] = {}
        try:
            built = make(subject, place, self._engine)
            any_connection.require(subject.spec.speaks)
        except SubjectUnavailable as error:
            # Not a fault of the subject: it is told, and fails nothing.
            self.entries.append(Entry(subject.spec, None, error.line(), kept))
            output.say(error.line())
            return
        self.entries.append(Entry(subject.spec, built, None, kept))
        for configuration in subject.spec.configurations:
            found = self._pool.submit(self._verify, subject, built, configuration)
            self._tasks.append(_Task(subject, configuration, found, kept))
        while self._tasks and self._tasks[0].found.done():
            self._conclude(self._tasks.popleft())

    def _verify(
        self, subject: Subject, built: Build, configuration: ConfigurationName
    ) -> Verification:
        binary = self._engine.binary
        known = verification.verified(subject, built, configuration, binary)
        if known and not self._anew:
            return known
        return verification.examine(subject, built, configuration, binary, self._go_on)

    def _go_on(self, _: Outcome) -> None:
        if self._stopping.is_set():
            raise CancelledError

    def _conclude(self, task: _Task) -> None:
        name = f"{task.subject.spec.name} ({task.configuration})"
        try:
            found = task.found.result()
        except SubjectFailed as error:
            self.problems.append(error.line())
            return
        task.kept[task.configuration] = found
        self.problems += [f"{name} {problem}" for problem in found.problems(task.subject)]
        self.rows += [
            {
                "subject": task.subject.spec.name,
                "configuration": task.configuration,
                **outcome.model_dump(),
            }
            for outcome in found.outcomes
        ]
        if self._shown:
            output.emit("\n".join([f"{name}: {_passed(found)}", *_entries(found)]), None)


def _entries(found: Verification) -> Iterator[str]:
    """A line for each check of a traffic file: it is the user's own, and not known by heart."""
    for one in found.outcomes:
        if one.contract == TRAFFIC:
            verdict = "known not to hold" if one.known and one.problem else one.problem or "right"
            yield f"  {one.protocol}  {one.check}: {verdict}"


def _passed(found: Verification) -> str:
    failed = found.failed()
    counted = f"{len(found.outcomes) - len(failed)} of {len(found.outcomes)} checks passed"
    known = list(dict.fromkeys(outcome.part for outcome in failed if outcome.known))
    late = [outcome for outcome in found.outcomes if outcome.late and not outcome.problem]
    if known:
        counted += f"; known not to hold: {', '.join(known)}"
    if late:
        counted += f"; only when tried again: {', '.join(one.check for one in late)}"
    return counted
