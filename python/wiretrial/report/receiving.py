"""Who pays for receiving: the same scenarios over loopback and where each side takes in its own.

Knows families and their environments; must not know how a table is drawn. Over loopback the CPU of
the sender runs the receiver's TCP, so that a server's CPU holds part of the generator's work, and
the other way round. In the environment `veth-steered` each side's own CPUs take in what comes to
it. A ratio that survives there is no matter of who was charged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wiretrial.report import contest, metrics
from wiretrial.report.families import Family, Group, Level, shared
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.stats.agreement import Agreement, agreement
from wiretrial.stats.compare import Comparison

FACTOR = "environment"
LOOPBACK = "loopback"
STEERED = "veth-steered"
COSTS = (metrics.SERVER, metrics.SERVER_CPUS)
"""Compared of servers in any case."""
COSTS_OF_CLIENTS = (metrics.CLIENT, metrics.CLIENT_CPUS)
AMOUNTS = (metrics.THROUGHPUT, metrics.ELAPSED, metrics.WALL)
"""Compared beside them where scenarios are ranked by it: how much is done in a time."""


@dataclass(frozen=True)
class Side:
    """A scenario in one of both environments. `ratio` to the baseline there, where it is known."""

    scenario: ScenarioResult
    ratio: Comparison | None


@dataclass(frozen=True)
class Row:
    """A scenario in both. `base` is what it is a multiple of; both are None of a baseline."""

    label: str
    base: str | None
    loopback: Side
    steered: Side
    outcome: Agreement | None
    short: tuple[str, ...] = ()
    """Where the scenario itself did not reach its rate: its cost there is of another load."""

    @property
    def resolution(self) -> float | None:
        """The smallest difference that both environments could show, as a share."""
        ratios = (self.loopback.ratio, self.steered.ratio)
        known = [found for ratio in ratios if ratio and (found := ratio.resolution()) is not None]
        return max(known) if len(known) == len(ratios) else None


@dataclass(frozen=True)
class Charged:
    """One metric of one pair of groups that differ in the environment alone."""

    title: str
    metric: Metric
    groups: tuple[Group, Group]
    """Over loopback, and steered."""
    rows: tuple[Row, ...]

    @property
    def offered(self) -> float | None:
        """Messages per second, where all are asked at one stated rate: the load of each cost."""
        rates = {scenario.offered for group in self.groups for scenario in group.scenarios}
        return rates.pop() if len(rates) == 1 else None

    @property
    def base(self) -> str | None:
        """What all ratios are to; None where each has a baseline of its own."""
        bases = {row.base for row in self.rows if row.base}
        return bases.pop() if len(bases) == 1 else None

    @property
    def outcomes(self) -> Mapping[Agreement, int]:
        """How many ratios came to what."""
        return Counter(row.outcome for row in self.rows if row.outcome)


def charged(families: Sequence[Family]) -> tuple[Charged, ...]:
    """A table for each metric of each two groups that were measured in both environments."""
    return tuple(
        table for family in families for pair in _pairs(family) for table in _tables(family, *pair)
    )


def repeated(families: Sequence[Family]) -> frozenset[str]:
    """The titles of groups that were measured to tell who pays, in both environments."""
    return frozenset(
        group.title for family in families for pair in _pairs(family) for group in pair
    )


def _pairs(family: Family) -> Iterator[tuple[Group, Group]]:
    """Groups with the same levels but for the environment."""
    found: dict[tuple[tuple[str, Level], ...], dict[Level, Group]] = {}
    for group in family.groups:
        levels = shared(group)
        place = levels.pop(FACTOR, None)
        if place in (LOOPBACK, STEERED):
            found.setdefault(tuple(sorted(levels.items())), {})[place] = group
    for both in found.values():
        if len(both) == 2:
            yield both[LOOPBACK], both[STEERED]


def _tables(family: Family, loopback: Group, steered: Group) -> Iterator[Charged]:
    ranked = loopback.contest.metric
    costs = COSTS_OF_CLIENTS if loopback.scenarios[0].is_driven else COSTS
    for metric in (*costs, *((ranked,) if ranked in AMOUNTS else ())):
        both = [(scenario, _other(scenario, loopback, steered)) for scenario in loopback.ranked]
        known = {
            one.name: (one, other)
            for one, other in both
            if other and metric.key in one.estimates and metric.key in other.estimates
        }
        rows = tuple(_row(loopback, known, name, metric) for name in known)
        if any(row.base for row in rows):
            yield Charged(_title(family, loopback), metric, (loopback, steered), rows)


def _other(scenario: ScenarioResult, loopback: Group, steered: Group) -> ScenarioResult | None:
    wanted = loopback.called[scenario.name]
    return next((s for s in steered.scenarios if steered.called[s.name] == wanted), None)


Both = tuple[ScenarioResult, ScenarioResult]


def _row(group: Group, known: Mapping[str, Both], name: str, metric: Metric) -> Row:
    own, base = known[name], known.get(_base(known, name) or "")
    label, short = group.called[name], _short(own)
    if base is None:
        return Row(label, None, Side(own[0], None), Side(own[1], None), None, short)
    scatter = group.contest.scatter.get(metric.key, contest.ALONE)
    here, there = (contest.against(a, b, metric, scatter) for a, b in zip(own, base, strict=True))
    outcome = "cannot be told" if short or _short(base) else agreement(here, there)
    called = group.called[base[0].name]
    return Row(label, called, Side(own[0], here), Side(own[1], there), outcome, short)


def _short(both: Both) -> tuple[str, ...]:
    """In which environments it did not reach its rate."""
    places = zip(both, (LOOPBACK, STEERED), strict=True)
    return tuple(place for scenario, place in places if scenario.is_overloaded)


def _base(known: Mapping[str, Both], name: str) -> str | None:
    """Its declared baseline; where nothing is declared, the best over loopback. None: it is that.

    A baseline without a figure leaves those that are compared with it without a ratio.
    """
    if any(one.baseline for one, _ in known.values()):
        return known[name][0].baseline
    best = next(iter(known))
    return None if name == best else best


def _title(family: Family, group: Group) -> str:
    """The group's, without the environment."""
    said = [part for part in group.title.split(", ") if part != f"over {LOOPBACK}"]
    return ", ".join(said) or family.title
