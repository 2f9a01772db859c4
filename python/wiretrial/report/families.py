"""Groups of scenarios that are compared, and families: groups that ask the same at several levels.

Knows scenarios and contests; must not know how a family is drawn or put into words.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from wiretrial.report import contest, metrics, units
from wiretrial.report.contest import OUTSIDE, Contest, Pooled
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.results.model import WITHIN
from wiretrial.words import Noun

Level = int | float | str

AXES = {
    "connections": "connections",
    "payload": "bytes per {message}",
    "rate": "{messages}/s offered",
    "depth": "{messages} in flight per connection",
    "streams": "streams on each connection",
    "requests_per_connection": "requests per connection",
    "messages_per_call": "messages per call",
}
CASES = "cases"
BROWSER = "browser"
"""The factor that says that a browser sends."""
SHORTEST_STRETCH = 4
"""Fewer levels that follow each other are told one by one."""


@dataclass(frozen=True)
class Group:
    """Scenarios that are compared with each other."""

    title: str
    is_outside: bool
    scenarios: tuple[ScenarioResult, ...]
    contest: Contest

    @property
    def what(self) -> Noun:
        """What its report's scenarios send."""
        return self.scenarios[0].what

    @property
    def has_labels(self) -> bool:
        """Whether each scenario has a label of its own."""
        return len({scenario.label for scenario in self.scenarios}) == len(self.scenarios)

    @cached_property
    def called(self) -> Mapping[str, str]:
        """What to call each scenario where the group's title stands above."""
        return {s.name: s.label if self.has_labels else s.name for s in self.scenarios}

    @property
    def ranked(self) -> tuple[ScenarioResult, ...]:
        """The scenarios, best first; those without a figure last."""
        by_name = {scenario.name: scenario for scenario in self.scenarios}
        order = [by_name[name] for name in self.contest.ranking.order]
        return (*order, *(s for s in self.scenarios if s.name not in self.contest.ranking.order))


@dataclass(frozen=True)
class Strip:
    """Groups that differ in one numeric factor only, in its order: what a line can join."""

    title: str
    factor: str
    groups: tuple[Group, ...]

    def at(self, group: Group) -> float:
        """Where the group stands on the axis."""
        level = group.scenarios[0].levels[self.factor]
        assert not isinstance(level, str)
        return float(level)

    @property
    def axis(self) -> str:
        """What the factor counts."""
        return self.groups[0].what.in_text(AXES.get(self.factor, self.factor))


@dataclass(frozen=True)
class Family:
    """Groups of one workload that differ in levels; most have one group."""

    title: str
    groups: tuple[Group, ...]
    varied: tuple[str, ...]
    """The factors in which the groups differ."""
    factor: str | None
    """The one of them that a picture shows along its axis."""
    together: Mapping[str, Pooled] = field(default_factory=dict)
    """What its levels show together, by the key of the metric, where they show something."""

    @property
    def metric(self) -> Metric:
        """What all its groups are ranked by."""
        return self.groups[0].contest.metric

    @property
    def what(self) -> Noun:
        """What its report's scenarios send."""
        return self.groups[0].what

    @property
    def workload(self) -> str:
        """What its study calls it; the title where it is of no study."""
        return str(self.groups[0].scenarios[0].levels.get("workload", self.title))

    @property
    def heading(self) -> str:
        """Metric and workload: `Throughput: echo`."""
        browser = self.groups[0].scenarios[0].levels.get(BROWSER)
        if self.is_cases:
            return f"Time per case, {browser}" if browser else "Time per case"
        return f"{self.metric.title}: {self.title}"

    @property
    def is_outside(self) -> bool:
        """Whether it takes no part in the verdict."""
        return self.groups[0].is_outside

    @property
    def is_cases(self) -> bool:
        """Whether its result is a time per case."""
        return self.metric is metrics.ELAPSED

    def is_bound(self, metric: Metric) -> bool:
        """Whether some of its figures are bounds, because the generator was the limit."""
        limited = any(scenario.at_least for group in self.groups for scenario in group.scenarios)
        return limited and metric.bound != "exact"

    @property
    def labels(self) -> tuple[str, ...]:
        """What is compared, each once, in the order of the study."""
        found = dict.fromkeys(g.called[s.name] for g in self.groups for s in g.scenarios)
        return tuple(found)

    @property
    def strips(self) -> tuple[Strip, ...]:
        """The lines' groups, one strip per combination of the other factors; none without one."""
        if self.factor is None:
            return ()
        others = [name for name in self.varied if name != self.factor]
        found: dict[tuple[Level | None, ...], list[Group]] = {}
        for group in self.groups:
            levels = group.scenarios[0].levels
            found.setdefault(tuple(levels.get(name) for name in others), []).append(group)
        factor = self.factor
        strips = []
        for combination, groups in found.items():
            told = [_level(*pair, self.what) for pair in zip(others, combination, strict=True)]
            title = ", ".join([self.title, *filter(None, told)])
            ordered = sorted(groups, key=lambda g: float(g.scenarios[0].levels[factor]))
            strips.append(Strip(title, factor, tuple(ordered)))
        return tuple(strips)

    def level(self, group: Group) -> str:
        """What tells the group from the others of its family, as in `10 connections`."""
        levels = group.scenarios[0].levels
        workload = levels.get("workload")
        if self.is_cases or workload is None:
            return group.title
        title = group.title.removeprefix(f"{workload}, ")
        return title.removeprefix(f"{levels[WITHIN]}, ") if WITHIN in levels else title

    def levels(self, groups: Sequence[Group]) -> str:
        """Several levels in words: `10 and 100 connections`, `10 and 100 to 500 connections`."""
        told = [self.level(group) for group in groups]
        parts = [words.partition(" ") for words in told]
        units_named = {unit for _, _, unit in parts}
        numbers = all(number.replace(",", "").isdigit() for number, _, _ in parts)
        if len(units_named) == 1 and numbers and len(parts) > 1:
            return f"{units.listed(self._stretches(groups))} {units_named.pop()}".strip()
        return units.listed(_apart(words) for words in told)

    def _stretches(self, groups: Sequence[Group]) -> list[str]:
        """The levels' numbers; as `100 to 500` where no level of the family lies between them."""
        places = sorted(self.groups.index(group) for group in groups)
        stretches: list[list[int]] = []
        for place in places:
            if stretches and place == stretches[-1][-1] + 1:
                stretches[-1].append(place)
            else:
                stretches.append([place])
        said = []
        for stretch in stretches:
            numbers = [self.level(self.groups[place]).partition(" ")[0] for place in stretch]
            together = len(numbers) >= SHORTEST_STRETCH
            said += [f"{numbers[0]} to {numbers[-1]}"] if together else numbers
        return said

    def of(self, label: str, group: Group) -> ScenarioResult | None:
        """The group's scenario with that label."""
        return next((s for s in group.scenarios if group.called[s.name] == label), None)


def grouped(
    scenarios: Sequence[ScenarioResult], baselines: Collection[str] = ()
) -> tuple[Group, ...]:
    """Groups in the order of their first scenario, the one outside the verdict last.

    `baselines` names the scenario that the others of its group are declared to be compared with.

    Open and closed loops are never ranked against each other: a group with both becomes two.
    """
    loops: dict[str, set[bool]] = {}
    for scenario in scenarios:
        loops.setdefault(scenario.group, set()).add(scenario.is_open_loop)
    members: dict[tuple[str, str], list[ScenarioResult]] = {}
    for scenario in scenarios:
        loop = "open loop" if scenario.is_open_loop else "closed loop"
        mixed = len(loops[scenario.group]) > 1
        members.setdefault((scenario.group, loop if mixed else ""), []).append(scenario)
    family = contest.run([tuple(group) for group in members.values()], baselines)
    groups = [
        Group(
            title=f"{name}, {loop}" if loop else name,
            is_outside=name == OUTSIDE,
            scenarios=tuple(group),
            contest=found,
        )
        for ((name, loop), group), found in zip(members.items(), family, strict=True)
    ]
    return tuple(sorted(groups, key=lambda group: group.is_outside))


def families(groups: Sequence[Group], chart: str | None) -> tuple[Family, ...]:
    """The groups, put together by workload. `chart`: the factor to draw along, where it varies."""
    members: dict[tuple[object, ...], list[Group]] = {}
    for group in groups:
        members.setdefault(_key(group), []).append(group)
    return tuple(_family(found, chart) for found in members.values())


def unit_of(groups: Sequence[Group], metric: Metric) -> units.Unit:
    """One unit for all that they have of the metric: what fits their medians."""
    medians = (s.median(metric) for group in groups for s in group.scenarios)
    return metric.unit((value for value in medians if value is not None), groups[0].what)


def _apart(words: str) -> str:
    """A level's words within a sentence: in quotes where they would run into it."""
    is_clear = ", " not in words and any(letter.isdigit() for letter in words)
    return words if is_clear else f"“{words}”"


def _level(name: str, level: Level | None, what: Noun) -> str:
    """A level in words: `20 bytes per message`."""
    if level is None or isinstance(level, str):
        return level or ""
    return f"{units.asked(level)} {what.in_text(AXES.get(name, name))}"


def _key(group: Group) -> tuple[object, ...]:
    metric = group.contest.metric
    levels = shared(group)
    if metric is metrics.ELAPSED:
        # A browser's requests are no load: their times stand apart.
        return (CASES, group.is_outside, levels.get(BROWSER))
    workload = levels.get("workload")
    if workload is None:
        return (group.title,)
    loop = group.scenarios[0].is_open_loop
    return (CASES, group.is_outside, workload, levels.get(WITHIN), loop, metric.key)


def _family(groups: Sequence[Group], chart: str | None) -> Family:
    levels = [shared(group) for group in groups]
    names = dict.fromkeys(name for known in levels for name in known)
    varied = tuple(
        name
        for name in names
        if name != "workload" and len({known.get(name) for known in levels}) > 1
    )
    return Family(
        title=_title(groups),
        groups=tuple(groups),
        varied=varied,
        factor=chart if chart in varied and _can_be_drawn(groups, levels, str(chart)) else None,
    )


def _title(groups: Sequence[Group]) -> str:
    first = groups[0]
    levels = shared(first)
    if first.contest.metric is metrics.ELAPSED and len(groups) > 1:
        return f"time per case, {levels[BROWSER]}" if BROWSER in levels else "time per case"
    if len(groups) == 1 or "workload" not in levels:
        return first.title
    return ", ".join(str(levels[name]) for name in ("workload", WITHIN) if name in levels)


def _can_be_drawn(
    groups: Sequence[Group], levels: Sequence[Mapping[str, Level]], factor: str
) -> bool:
    """Whether every group has a place above 0 on the axis, and one line per label."""
    places = [known.get(factor) for known in levels]
    numeric = all(isinstance(place, int | float) and place > 0 for place in places)
    return numeric and all(group.has_labels for group in groups)


def shared(group: Group) -> dict[str, Level]:
    """The levels on which all scenarios of the group stand."""
    first, *rest = group.scenarios
    return {
        name: level
        for name, level in first.levels.items()
        if all(other.levels.get(name) == level for other in rest)
    }
