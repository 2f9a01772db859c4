"""What was sent, whoever sent it, and the one record that is made of that.

Knows what a trial's record needs; must not know who sends, nor how: the engine (`recording`), the
driver of a client library (`driven`) or a browser (`browsed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from wiretrial import warnings
from wiretrial.machine import facts
from wiretrial.plan import Plan
from wiretrial.results.ceiling import Ceiling
from wiretrial.results.fleet import Fleet
from wiretrial.results.model import (
    Bottleneck,
    Browsed,
    Driven,
    Judgement,
    Machine,
    ProcessSample,
    Scenario,
    SubjectFacts,
    Trial,
    Window,
)
from wiretrial.results.observation import Observation
from wiretrial.results.watched import WatchedPlace
from wiretrial.snapshot import (
    Blocked,
    Bytes,
    Connections,
    Counters,
    Generator,
    Interval,
    Start,
    Summary,
)
from wiretrial.studies.order import Slot

FAILED = "failed"
"""The one class of errors that a driver or a browser tells apart."""


@dataclass(frozen=True)
class Sent:
    """One run: what its sender told, and what was seen of the server meanwhile.

    But for the first two, the fields are those of a trial.
    """

    environment: str
    troubles: Mapping[str, int | None]
    """What the machine did meanwhile to everybody on it."""
    started_at: str
    plan: Plan
    start: Start
    intervals: tuple[Interval, ...]
    summary: Summary
    window: Window
    judgement: Judgement
    subject: SubjectFacts | None = None
    subject_samples: tuple[ProcessSample, ...] = ()
    observation: Observation | None = None
    places: tuple[WatchedPlace, ...] = ()
    driven: Driven | None = None
    browsed: Browsed | None = None
    fleet: Fleet | None = None
    ceiling: Ceiling | None = None
    keeps_secrets: bool = False


def record(
    sent: Sent,
    scenario: Scenario,
    study: str,
    machine: Mapping[str, Any],
    *,
    study_digest: str = "",
    slot: Slot | None = None,
    command: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Trial:
    """The trial of what was sent. `slot`: its place in a study of several."""
    slot = slot or Slot(0, 0, scenario.name, 0)
    told = {**vars(sent)}
    environment, troubles = told.pop("environment"), told.pop("troubles")
    trial = Trial(
        study=study,
        study_digest=study_digest,
        occasion=slot.occasion,
        block=slot.block,
        position=slot.position,
        order_seed=slot.order_seed,
        scenario=scenario.model_copy(update={"environment": environment}),
        command=command,
        labels=dict(labels or {}),
        machine=Machine(facts={**machine, **troubles}),
        **told,
    )
    return trial.model_copy(update={"warnings": warnings.of_trial(trial)})


def now() -> str:
    """The wall clock, as a record has it."""
    return datetime.now().astimezone().isoformat(timespec="milliseconds")


class Troubles:
    """What the machine does to everybody on it, from now on."""

    def __init__(self) -> None:
        self._steal = facts.steal_ticks()
        self._throttles = facts.throttles()

    def since(self) -> dict[str, int | None]:
        """As facts of a record."""
        return {
            "steal_ticks": _growth(self._steal, facts.steal_ticks()),
            "throttled": _growth(self._throttles, facts.throttles()),
        }


def _growth(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def interval(
    index: int,
    span: tuple[int, int],
    *,
    ok: int,
    failed: int,
    opened: int,
    round_trips: str,
    generator: Generator | None = None,
) -> Interval:
    """What a driver or a browser told of a time, as the engine would have."""
    return Interval(
        index=index,
        start_ns=span[0],
        end_ns=span[1],
        phase="measure",
        counters=_counters(ok, failed),
        connections=Connections(opened=opened),
        bytes=Bytes(),
        generator=generator or Generator(),
        disturbed=False,
        histograms={"service_time": round_trips},
    )


def summary(
    intervals: Sequence[Interval],
    connections: Connections,
    histograms: Mapping[str, str],
    generator: Generator | None = None,
) -> Summary:
    """All of those intervals together."""
    first, last = intervals[0].start_ns, intervals[-1].end_ns
    counters = [one.counters for one in intervals]
    return Summary(
        end="complete",
        signal=None,
        first_send_ns=first,
        measure_start_ns=first,
        measure_end_ns=last,
        end_ns=last,
        counters=_counters(
            sum(one.ok for one in counters), sum(one.errors.get(FAILED, 0) for one in counters)
        ),
        connections=connections,
        bytes=Bytes(),
        generator=generator or Generator(),
        blocked=Blocked(),
        disturbed_intervals=0,
        histograms=dict(histograms),
    )


def window(intervals: Sequence[Interval], after: str) -> Window:
    """All of the run, whose length was given in what follows `after`."""
    return Window(
        start_ns=intervals[0].start_ns,
        end_ns=intervals[-1].end_ns,
        steady=False,
        rule=f"whole run: its length was given in {after}",
    )


def judgement(
    who: Bottleneck, evidence: str, died: str | None, problems: Iterable[str]
) -> Judgement:
    """Invalid for the first problem there is. `died`: how the server ended, where it did."""
    first = next(iter(problems), None)
    problem = f"the server died in the middle: {died}" if died else first
    if problem:
        return Judgement(verdict="invalid", bottleneck=who, evidence=f"{problem}; {evidence}")
    return Judgement(verdict="valid", bottleneck=who, evidence=evidence)


def _counters(ok: int, failed: int) -> Counters:
    return Counters(sent=ok + failed, ok=ok, errors={FAILED: failed} if failed else {})
