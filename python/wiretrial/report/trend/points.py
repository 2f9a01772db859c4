"""A scenario's figure over time: one point per result, commit or day.

Knows how a point is made of trials and of imported figures; must not know what is concluded. Two
lines are never mixed: a line is one scenario of one study, and one figure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from wiretrial import words
from wiretrial.report import metrics, units
from wiretrial.report.metrics import Metric
from wiretrial.report.units import Unit
from wiretrial.results.brief import Brief, Figure
from wiretrial.results.history import Result, Wanted, everything
from wiretrial.results.imported import TOOLS, Imported, instant
from wiretrial.stats.bounds import Bound
from wiretrial.stats.summary import summarise

COMMIT = "commit"
"""The label that tells the revision of one's own server."""
SPEEDS = frozenset(
    metric.key
    for metric in (
        *(metrics.THROUGHPUT, metrics.WALL, metrics.CLIENT, metrics.SERVER, metrics.ELAPSED),
        *(metrics.CONNECT_RATE, metrics.BANDWIDTH, *metrics.WAITING),
    )
)
"""Figures that a slower machine makes worse."""
FIGURES: dict[str, tuple[str, ...]] = {
    "p50": ("p50",),
    "p99": ("p99",),
    "cpu": ("cpu_time",),
    "throughput": ("throughput",),
    "memory": (),
}
"""What imported figures are called, by what is asked for."""
TIMES = Unit("times", "×")
_METRICS: dict[str, tuple[Metric, Metric]] = {
    "p50": (metrics.P50, metrics.WALL),
    "p99": (metrics.P99, metrics.P99),
    "cpu": (metrics.SERVER, metrics.CLIENT),
    "throughput": (metrics.THROUGHPUT, metrics.THROUGHPUT),
    "memory": (metrics.USER_MEMORY, metrics.USER_MEMORY),
}
"""Of a server, and of a client library."""


Others = Mapping[int, Brief]
"""Trials of the scenario that others are divided by, by block."""


@dataclass(frozen=True)
class Point:
    """One result's value. `low`, `high`: its 95 % interval over trials; None: it has none."""

    result: str
    """The name of its folder or file: the last of several."""
    at: str
    value: float
    low: float | None = None
    high: float | None = None
    trials: int = 1
    revision: str | None = None
    """The commit that its label tells, else the subject's version."""
    boot: str | None = None
    terms: Mapping[str, str] = field(default_factory=dict)
    reference: float | None = None
    """Messages per second of the generator against the reference server on the same occasion."""
    bound: Bound = "exact"
    imported: str | None = None
    """The tool whose figure it is; None: ours."""

    @property
    def day(self) -> str:
        """The date on which it was measured."""
        return self.at[:10]

    @property
    def terms_key(self) -> tuple[tuple[str, str], ...]:
        """Alike where its terms are."""
        return tuple(sorted(self.terms.items()))

    @property
    def occasion(self) -> str:
        """What results of one boot share; a result whose boot is not known stands alone."""
        return self.boot or f"{self.result} {self.at}"


@dataclass(frozen=True)
class Line:
    """One figure of one scenario, oldest first."""

    study: str
    scenario: str
    figure: str
    title: str
    units: tuple[Unit, ...]
    higher_is_better: bool
    points: tuple[Point, ...]
    is_speed: bool = True
    left_out: tuple[tuple[str, str], ...] = ()
    """Results without the figure, each with the reason."""

    @property
    def unit(self) -> Unit:
        """The one that fits all values."""
        return units.fitting(self.units, (point.value for point in self.points))


@dataclass(frozen=True)
class Asked:
    """Which lines are made. `metric`: one of `FIGURES`; None: what each is ranked by."""

    metric: str | None = None
    by: str = "result"
    """`result`, `commit` or `day`."""
    wanted: Wanted = everything
    where: Mapping[str, str] = field(default_factory=dict)
    """Labels that a result must have."""
    against: str | None = None
    """The scenario that each is divided by, in pairs within each block; None: none."""
    commits: Sequence[str] = ()
    """Commits, oldest first: then they decide the order, and not the time of measuring."""


def lines(results: Iterable[Result], asked: Asked) -> list[Line]:
    """All lines of these results, each with a point or more."""
    made: dict[tuple[str, str, str], Line] = {}
    for result in results:
        found = _of_imported(result.name, result.imported, asked) if result.imported else []
        for one in (*found, *_of_trials(result, asked)):
            key = (one.study, one.scenario, one.figure)
            known = made.get(key)
            if known is None:
                made[key] = one
            else:
                made[key] = replace(
                    known,
                    points=(*known.points, *one.points),
                    left_out=(*known.left_out, *one.left_out),
                )
    return [
        replace(one, points=tuple(_ordered(one.points, asked)))
        for one in made.values()
        if one.points or one.left_out
    ]


def _ordered(points: Sequence[Point], asked: Asked) -> list[Point]:
    """The points as they are asked for, oldest first."""
    found = sorted(_distinct(points), key=lambda point: _seconds(point.at))
    if asked.commits:
        places = {id(point): _place(point.revision, asked.commits) for point in found}
        found = [point for point in found if places[id(point)] is not None]
        found.sort(key=lambda point: places[id(point)] or 0)
    if asked.by == "result":
        return found
    groups: dict[tuple[object, ...], list[Point]] = {}
    for point in found:
        name = point.day if asked.by == "day" else point.revision or point.result
        groups.setdefault((name, point.terms_key, point.bound), []).append(point)
    return [_joined(group) for group in groups.values()]


def _distinct(points: Sequence[Point]) -> Iterator[Point]:
    """The points without those that were imported again: a growing history holds its old ones."""
    seen: set[tuple[object, ...]] = set()
    for point in points:
        key = (point.imported, point.at, point.revision, point.value)
        if point.imported is None or key not in seen:
            seen.add(key)
            yield point


def _joined(group: Sequence[Point]) -> Point:
    """Several results as one point: the median of theirs."""
    if len(group) == 1:
        return group[0]
    held = summarise([point.value for point in group])
    boots = {point.boot for point in group}
    references = [point.reference for point in group if point.reference]
    revisions = {point.revision for point in group}
    return replace(
        group[-1],
        value=held.median,
        low=held.low,
        high=held.high,
        trials=sum(point.trials for point in group),
        boot=boots.pop() if len(boots) == 1 else None,
        revision=group[-1].revision if len(revisions) == 1 else None,
        reference=_mean(references),
    )


def _place(revision: str | None, commits: Sequence[str]) -> int | None:
    """Where a commit stands; either may be the short form of the other."""
    if not revision:
        return None
    return next(
        (
            place
            for place, commit in enumerate(commits)
            if commit.startswith(revision) or revision.startswith(commit)
        ),
        None,
    )


def _of_trials(result: Result, asked: Asked) -> list[Line]:
    """A line per scenario and occasion, with one point or the reason why there is none."""
    parts: dict[tuple[str, str, int], list[Brief]] = {}
    others: dict[tuple[str, int], dict[int, Brief]] = {}
    for brief in result.briefs:
        if brief.scenario == asked.against:
            others.setdefault((brief.study, brief.occasion), {})[brief.block] = brief
            continue
        if brief.is_twin or not asked.wanted(brief.study, brief.scenario):
            continue
        if any(brief.labels.get(key) != value for key, value in asked.where.items()):
            continue
        parts.setdefault((brief.study, brief.scenario, brief.occasion), []).append(brief)
    return [
        _of_occasion(result.name, trials, asked, others.get((study, occasion), {}))
        for (study, _, occasion), trials in parts.items()
    ]


def _of_occasion(name: str, trials: Sequence[Brief], asked: Asked, others: Others) -> Line:
    first = trials[0]
    metric = _metric(first, asked.metric)
    what = words.of_all(trial.protocol for trial in trials)
    line = Line(
        study=first.study,
        scenario=first.scenario,
        figure=metric.key,
        title=metric.title,
        units=units.rates(what) if metric.units is units.RATES else metric.units,
        higher_is_better=metric.higher_is_better,
        points=(),
        is_speed=metric.key in SPEEDS,
    )
    usable = [trial for trial in trials if trial.is_usable]
    told = [trial.figures.get(metric.key, Figure()) for trial in usable]
    values = [one.value for one in told if one.value is not None and one.value > 0]
    if asked.against:
        line = replace(
            line,
            title=f"{metric.title} over that of {asked.against}",
            units=(TIMES,),
            is_speed=False,
        )
        values = list(_paired(usable, others, metric))
    if reason := _lacking(metric, told, values, asked.against):
        return replace(line, left_out=((name, reason),))
    held = summarise(values)
    limited = any(trial.is_client_bound for trial in usable)
    return replace(
        line,
        points=(
            Point(
                result=name,
                at=min(trial.at for trial in trials),
                value=held.median,
                low=held.low,
                high=held.high,
                trials=len(values),
                revision=first.labels.get(COMMIT) or first.version,
                boot=first.boot,
                terms=first.terms,
                reference=_mean([trial.reference for trial in trials if trial.reference]),
                bound=metric.bound if limited else "exact",
            ),
        ),
    )


def _paired(usable: Sequence[Brief], others: Others, metric: Metric) -> Iterator[float]:
    """Each trial's value over that of the other scenario in its block."""
    for trial in usable:
        other = others.get(trial.block)
        if other is None or not other.is_usable or other.is_client_bound:
            continue
        sides = [one.figures.get(metric.key, Figure()).value for one in (trial, other)]
        if sides[0] and sides[1]:
            yield sides[0] / sides[1]


def _lacking(
    metric: Metric, told: Sequence[Figure], values: Sequence[float], against: str | None
) -> str | None:
    """Why a result has no point."""
    if not told:
        return "no usable trial"
    # As in a report: there is no estimate where one usable trial has too few values for it.
    withheld = (one.withheld for one in told if one.withheld)
    if reason := next(withheld, None):
        return reason
    if values:
        return None
    if against:
        return f"no block has a usable trial of both it and {against}"
    return f"{metric.title} is not known of it"


def _metric(brief: Brief, chosen: str | None) -> Metric:
    if chosen is None:
        return metrics.BY_KEY[brief.ranked_by]
    of_server, of_client = _METRICS[chosen]
    return of_client if brief.is_driven else of_server


def _of_imported(name: str, found: Imported, asked: Asked) -> list[Line]:
    """The lines of another tool's figures: each by its own name."""
    if any(found.labels.get(key) != value for key, value in asked.where.items()):
        return []
    tool, commit = TOOLS[found.source], found.labels.get(COMMIT)
    made: dict[str, list[Line]] = {}
    for series in found.series:
        for figure, title, values in (
            ("real_time", "Time per iteration", series.real_ns),
            ("cpu_time", "CPU per iteration", series.cpu_ns),
        ):
            if min(values) <= 0:
                continue
            held = summarise(values)
            point = Point(
                *(name, found.measured_at, held.median, held.low, held.high, len(values)),
                revision=commit,
                imported=tool,
            )
            line = Line(found.source, series.name, figure, title, units.TIMES, False, (point,))
            made.setdefault(series.name, []).append(line)
    for one in found.histories:
        points = tuple(
            Point(name, past.at, past.value, revision=past.revision or commit, imported=tool)
            for past in one.points
        )
        known = {"ns": units.TIMES, "/s": units.rates(words.REQUEST)}
        unit = known.get(one.unit, (Unit(one.unit or "its own unit", one.unit),))
        line = Line(
            *(found.source, one.name, one.figure, _title(one.figure)),
            *(unit, one.higher_is_better, points),
        )
        made.setdefault(one.name, []).append(line)
    shown = []
    for scenario, own in made.items():
        if asked.wanted(found.source, scenario):
            chosen = FIGURES[asked.metric] if asked.metric else (own[0].figure,)
            shown += [line for line in own if line.figure in chosen]
    return shown


def _title(figure: str) -> str:
    return {"throughput": "Throughput", "value": "Value", "mean": "Mean"}.get(figure, figure)


def _mean(values: Sequence[float]) -> float | None:
    return math.exp(fmean(math.log(value) for value in values)) if values else None


def _seconds(text: str) -> float:
    found = instant(text)
    return found.timestamp() if found else 0.0
