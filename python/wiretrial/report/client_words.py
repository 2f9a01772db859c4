"""Client libraries in words: who costs least and most, as multiples of the bare socket.

Knows families of driven scenarios and their comparisons; must not know how they are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.report import metrics, units
from wiretrial.report.families import Family, Group
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult

MOST_LEADERS = 3
"""With more of them at the top, nobody is shown to be there."""


def told(family: Family, baselines: Sequence[str]) -> list[str]:
    """The baseline's figures, and who needs least and most CPU as multiples of them."""
    known = [group for group in family.groups if _known(group)]
    with_base = _with_base(family, baselines)
    if not with_base:
        return [f"{_over(family, group)}{'; '.join(_each(group))}." for group in known]
    ends = _ends(family, with_base, metrics.CLIENT, "least CPU", "most")
    return [f"{'; '.join([_base(family, with_base), *ends])}."]


def round_trips(family: Family, baselines: Sequence[str]) -> str | None:
    """Whose round trips are the shortest and the longest; None where nobody is the baseline."""
    with_base = _with_base(family, baselines)
    ends = _ends(family, with_base, metrics.WALL, "the shortest round trip", "the longest")
    return f"{'; '.join(ends)}." if ends else None


def base_of(group: Group, baselines: Sequence[str]) -> ScenarioResult | None:
    """What the others are multiples of; None where the study names nothing in the group."""
    return next((s for s in group.scenarios if s.name in baselines), None)


def ratio(group: Group, scenario: ScenarioResult, base: ScenarioResult, metric: Metric) -> float:
    """How many times the baseline's the scenario's median is; 0 where it can't be told."""
    pairs = group.contest.against(base.name, metric)
    pair = next((pair for pair in pairs if pair.a == scenario.name), None)
    if pair is not None and pair.comparison is not None:
        return pair.comparison.ratio
    own, other = scenario.median(metric), base.median(metric)
    return own / other if own and other else 0.0


@dataclass(frozen=True)
class _Choice:
    """Who stands at one end of a group, and at how many times the baseline's figure."""

    group: Group
    names: tuple[str, ...]
    multiples: tuple[float, ...]

    @property
    def who(self) -> str:
        return units.listed(self.names).replace(" and ", " or ")

    @property
    def times(self) -> str:
        low, high = (units.significant(f(self.multiples)) for f in (min, max))
        return low if low == high else f"{low} to {high}"


def _with_base(family: Family, baselines: Sequence[str]) -> list[tuple[Group, ScenarioResult]]:
    """The groups with their baselines; none where one of them has none."""
    known = [group for group in family.groups if _known(group)]
    found = [(group, base) for group in known if (base := base_of(group, baselines))]
    return found if len(found) == len(known) else []


def _ends(
    family: Family,
    found: Sequence[tuple[Group, ScenarioResult]],
    metric: Metric,
    least: str,
    most: str,
) -> list[str]:
    """Who stands at both ends by this metric, as far as it can be told."""
    first = [_of(group, base, leaders(group, base, metric), metric) for group, base in found]
    last = [_of(group, base, _last(group, base, metric), metric) for group, base in found]
    told = (_choice(family, least, first), _choice(family, most, last))
    return [text for text in told if text is not None]


def _choice(family: Family, what: str, found: Sequence[_Choice]) -> str | None:
    """`least CPU with libcurl-client (1.40 and 1.31 times)`."""
    shown = [one for one in found if 0 < len(one.names) <= MOST_LEADERS]
    tied = [one for one in found if len(one.names) > MOST_LEADERS]
    parts = []
    if shown and len({one.names for one in shown}) == 1 and len(shown) == len(found):
        times = units.listed(one.times for one in shown)
        parts.append(f"{what} with {shown[0].who} ({times} times)")
    elif shown:
        told = (f"{one.who} {_over(family, one.group, '')}({one.times} times)" for one in shown)
        parts.append(f"{what} with {units.listed(told)}")
    if tied:
        where = units.listed(_over(family, one.group, "").strip() for one in tied)
        parts.append(f"{what}{f' {where}' if where else ''} cannot be told from these trials")
    return "; ".join(parts) or None


def _base(family: Family, found: Sequence[tuple[Group, ScenarioResult]]) -> str:
    """`raw-client takes 58 µs over http and 62 µs over https, 21 and 27 µs of them on the CPU`."""
    group, base = found[0]
    walls = [
        f"{units.duration(base.median(metrics.WALL) or 0.0)}{_over(family, group, ' ')}"
        for group, base in found
    ]
    text = f"{group.called[base.name]} takes {units.listed(walls)}"
    cpus = [cpu for _, base in found if (cpu := base.median(metrics.CLIENT))]
    if len(cpus) < len(found):
        return text
    return f"{text}, {units.listed(map(units.duration, cpus))} of them on the CPU"


def _each(group: Group) -> list[str]:
    """Everybody's figures, where nobody is the baseline."""
    told = []
    for scenario in group.ranked:
        wall, cpu = scenario.median(metrics.WALL), scenario.median(metrics.CLIENT)
        if wall is None:
            continue
        text = f"{group.called[scenario.name]} takes {units.duration(wall)}"
        told.append(f"{text}, {units.duration(cpu)} of them on the CPU" if cpu else text)
    return told


def _over(family: Family, group: Group, gap: str | None = None) -> str:
    """Which of the family's groups it is, empty where it is the only one.

    With `gap` it stands inside a sentence, behind that and before a blank.
    """
    if len(family.groups) == 1:
        return ""
    level = family.level(group)
    words = f"over {level}" if level == group.scenarios[0].protocol else level
    if gap is None:
        return f"{words}: "
    return f"{gap}{words}" if gap else f"{words} "


def _known(group: Group) -> list[ScenarioResult]:
    return [s for s in group.scenarios if s.median(metrics.WALL) is not None]


def _of(
    group: Group, base: ScenarioResult, chosen: Sequence[ScenarioResult], metric: Metric
) -> _Choice:
    return _Choice(
        group,
        tuple(group.called[scenario.name] for scenario in chosen),
        tuple(ratio(group, scenario, base, metric) for scenario in chosen),
    )


def _others(group: Group, base: ScenarioResult, metric: Metric) -> list[ScenarioResult]:
    known = (s for s in _known(group) if s is not base and s.median(metric) is not None)
    return sorted(known, key=lambda s: s.median(metric) or 0.0)


def leaders(group: Group, base: ScenarioResult, metric: Metric) -> list[ScenarioResult]:
    """Those that nobody but the baseline is shown to beat, best first."""
    others = _others(group, base, metric)
    names = {scenario.name for scenario in others}
    beaten = {
        pair.a if pair.winner == pair.b else pair.b
        for pair in group.contest.pairs.get(metric.key, ())
        if pair.winner in names
    }
    return [scenario for scenario in others if scenario.name not in beaten]


def _last(group: Group, base: ScenarioResult, metric: Metric) -> list[ScenarioResult]:
    """Whoever needs most, unless it may as well be the first."""
    last = _others(group, base, metric)[-1:]
    return last if last and last[0] not in leaders(group, base, metric) else []
