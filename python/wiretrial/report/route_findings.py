"""What the routes of traffic show: which is the slowest, and on which two servers differ most.

Knows groups and their routes; must not know how a finding is put into words (`route_words`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wiretrial.report import by_route, leading, metrics
from wiretrial.report.by_route import Apart
from wiretrial.report.families import Family, Group
from wiretrial.report.finding import Finding, Multiple, Slow
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.words import part_of


def of_family(family: Family, baselines: Sequence[str], where: str = "") -> Iterator[Finding]:
    """Of several levels, what the last one shows: there the load is highest."""
    group = family.groups[-1]
    if len(family.groups) > 1:
        where = ", ".join(filter(None, (where, family.level(group))))
    if found := _slowest(group):
        yield Finding("slowest", where, metrics.P99, slow=found)
    apart = against(group, baselines)
    if furthest := by_route.furthest(apart):
        yield _apart(group, furthest, where)


def against(group: Group, baselines: Sequence[str]) -> tuple[Apart, ...]:
    """Each scenario of a group against its baseline, or else its best, route by route."""
    base = _base(group, baselines)
    if base is None or group.is_outside:
        return ()
    others = {one.name: one.routes for one in group.scenarios if one is not base and one.routes}
    return by_route.apart(base.name, base.routes, others)


def _base(group: Group, baselines: Sequence[str]) -> ScenarioResult | None:
    wanted = leading.base_of(group, baselines)
    return wanted or next((one for one in group.ranked if one.routes), None)


def _slowest(group: Group) -> tuple[Slow, ...]:
    by = by_route.time_of(scenario.routes for scenario in group.scenarios)
    found = [
        Slow(group.called[scenario.name], route.name, ns, by, part_of(group.what))
        for scenario in group.ranked
        if (route := by_route.slowest(scenario.routes, by)) and (ns := route.median(by))
    ]
    return tuple(sorted(found, key=lambda one: -one.ns))


def _apart(group: Group, found: Apart, where: str) -> Finding:
    """With the one that is faster as the base, so that the ratio is above 1."""
    base, other, ratio = found.base, found.scenario, found.comparison
    if ratio.ratio < 1:
        base, other, ratio = other, base, ratio.inverse
    (ns,) = (
        route.median(found.figure) or 0.0
        for scenario in group.scenarios
        for route in scenario.routes
        if scenario.name == base and route.name == found.route
    )
    return Finding(
        *("apart", where, metrics.P99),
        base=group.called[base],
        slow=(Slow(group.called[base], found.route, ns, found.figure),),
        others=(Multiple.of(group.called[other], ratio),),
    )
