"""What a browser made of the same requests: its ways side by side, one by one and at once.

Knows scenarios in which a browser sent, and what it told; must not know how the rows are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from wiretrial.report import metrics
from wiretrial.report.families import Group
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.results.model import Browsed, Trial

AT_ONCE = "at once"
"""The level of `pattern` on which no request waits for another's reply."""


@dataclass(frozen=True)
class Way:
    """One way to make requests. What the browser told is of those at once, medians over trials."""

    label: str
    alone: ScenarioResult | None
    """One by one; None: not measured so."""
    at_once: ScenarioResult | None
    under_way: int = 0
    """The most requests that were out at once; 0: the browser does not tell."""
    connections: int = 0
    revalidated: int = 0
    """Replies that the browser had in its cache, and asked the server about."""

    @property
    def time(self) -> float | None:
        """All of those at once, nanoseconds; None where no trial is usable."""
        return self.at_once.median(metrics.ELAPSED) if self.at_once else None


@dataclass(frozen=True)
class Place:
    """One server in one environment, and a number of requests at once."""

    environment: str
    subject: str
    program: str
    """The browser with its version."""
    requests: int
    """At once."""
    ways: tuple[Way, ...]
    group: Group
    """The scenarios at once."""

    def way(self, label: str) -> Way | None:
        """The way of that name."""
        return next((way for way in self.ways if way.label == label), None)


def places(groups: Sequence[Group], trials: Sequence[Trial]) -> tuple[Place, ...]:
    """Every group of scenarios in which a browser sent at once, with those one by one beside."""
    told: dict[str, list[Browsed]] = {}
    for trial in trials:
        if trial.browsed:
            told.setdefault(trial.scenario.name, []).append(trial.browsed)
    alone = [
        scenario
        for group in groups
        for scenario in group.scenarios
        if scenario.name in told and not _is_at_once(scenario)
    ]
    found = []
    for group in groups:
        together = [s for s in group.scenarios if s.name in told and _is_at_once(s)]
        if not together:
            continue
        first = together[0]
        beside = [s for s in alone if _place(s) == _place(first)]
        rows = {s.label: _way(s, beside, told[s.name]) for s in together}
        lone = [Way(s.label, s, None) for s in beside if s.label not in rows]
        found.append(
            Place(
                environment=_place(first)[1],
                subject=first.subject,
                program=told[first.name][0].program,
                requests=requests(first),
                ways=(*rows.values(), *lone),
                group=group,
            )
        )
    return tuple(found)


def requests(scenario: ScenarioResult) -> int:
    """How many a trial of it makes."""
    return int(scenario.levels["requests"])


def _way(one: ScenarioResult, beside: Iterable[ScenarioResult], told: Sequence[Browsed]) -> Way:
    return Way(
        label=one.label,
        alone=next((s for s in beside if s.label == one.label), None),
        at_once=one,
        under_way=_middle(told, lambda browsed: browsed.under_way),
        connections=_middle(told, lambda browsed: browsed.connections),
        revalidated=_middle(told, lambda browsed: browsed.revalidated),
    )


def _middle(told: Sequence[Browsed], of: Callable[[Browsed], int]) -> int:
    return round(median(map(of, told)))


def _place(scenario: ScenarioResult) -> tuple[str, str]:
    return scenario.subject, str(scenario.levels.get("environment", "loopback"))


def _is_at_once(scenario: ScenarioResult) -> bool:
    return scenario.levels.get("pattern") == AT_ONCE
