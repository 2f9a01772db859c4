"""Live metrics of a load or a study, beside it: what was asked for, and what is said at the end.

Knows the runner's events and snapshots; must not know how metrics are encoded or sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from wiretrial.cli import output
from wiretrial.report import units
from wiretrial.snapshot import Interval, Snapshot
from wiretrial.studies import events
from wiretrial.studies.events import Used
from wiretrial.studies.spec import Study

if TYPE_CHECKING:
    from wiretrial.metrics.exporter import Exporter, Outcome


class Metrics:
    """Where metrics go, if anywhere. A context manager; leaving it sends what is left."""

    def __init__(self, typed: str | None) -> None:
        """`typed`: the option's value. Raises `UsageProblem`."""
        self._exporter: Exporter | None = None
        if typed is not None:
            # Not at the top: what encodes them is an extra, and few ask for it.
            from wiretrial.metrics.exporter import Exporter

            self._exporter = Exporter.of(typed)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._exporter is not None:
            _tell(self._exporter.close())

    def begin(self, *, study: str, scenario: str, trial: int, subject: str) -> None:
        """What is told from now on is of this trial."""
        if self._exporter is not None:
            from wiretrial.metrics.collector import Trial

            self._exporter.begin(Trial(study, scenario, str(trial), subject))

    def see(
        self,
        snapshot: Snapshot,
        server: Used | None = None,
        agents: Mapping[str, Interval] | None = None,
    ) -> None:
        """Takes in a snapshot of the trial; `server`: what its server used until now."""
        if self._exporter is not None:
            self._exporter.see(snapshot, server.cpu_ns if server else None, agents)

    def event(self, event: events.Event, study: Study) -> None:
        """Takes in an event of a study."""
        match event:
            case events.TrialBegun(slot, number):
                self.begin(
                    study=study.name,
                    scenario=slot.scenario,
                    trial=number,
                    subject=_subject(study, slot.scenario),
                )
            case events.Seen(snapshot, server, agents):
                self.see(snapshot, server, agents)
            case events.TrialFailed() if self._exporter is not None:
                self._exporter.end()


def _subject(study: Study, scenario: str) -> str:
    """The subject of a scenario; a step of a search has a name of its own."""
    for case in study.cases:
        if scenario == case.scenario.name or scenario.startswith(f"{case.scenario.name} at "):
            return case.scenario.subject
    return scenario


def _tell(outcome: Outcome) -> None:
    if not outcome.sent and not outcome.lost:
        return
    cost = f"{outcome.cpu_ns / 1e9:.2g} s of CPU time"
    output.say(
        f"metrics: {units.plural(outcome.sent, 'point')} sent to {outcome.address} in"
        f" {units.plural(outcome.requests, 'request')}, {cost}"
    )
    if outcome.lost:
        why = f": {outcome.problem}" if outcome.problem else ""
        output.say(f"wiretrial: {units.plural(outcome.lost, 'point')} of metrics were lost{why}")
