"""A row per route of each scenario, and one per flow of sessions: the failing and slowest first.

Knows the groups of a report; must not know where the tables stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from wiretrial.report import by_route, metrics, traffic, units
from wiretrial.report.blocks import NO_FIGURE, Cell, Column, Mark, Table, Told, heading, key, words
from wiretrial.report.by_route import Apart, Result
from wiretrial.report.families import Group
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.tables import cells
from wiretrial.report.units import Unit
from wiretrial.words import SESSION, counted, part_of

_BLOCKED = "Blocked p99"
NOT_ALONE = "Of a single {} it cannot be told: the server's CPUs work for all of them at once."


def has(group: Group) -> bool:
    """Whether more can be told than of messages: where a session is one request, nothing can."""
    return any(scenario.routes and not _is_one_request(scenario) for scenario in group.scenarios)


def _is_one_request(scenario: ScenarioResult) -> bool:
    is_single = len(scenario.routes) == 1 and len(scenario.flows) == 1
    return is_single and scenario.due != SESSION


def of_group(group: Group, apart: Sequence[Apart]) -> tuple[Told, ...]:
    """Both tables, and what the server's CPU was used for. `apart`: against whom p99 is held."""
    if not has(group):
        return ()
    cost = _cost(group)
    table = routes(group, apart)
    is_blocked = any(column.title == _BLOCKED for column in table.columns)
    return (
        table,
        *([key(traffic.BLOCKED)] if is_blocked else []),
        *([key(cost)] if cost else []),
        heading("Sessions"),
        sessions(group),
    )


def routes(group: Group, apart: Sequence[Apart]) -> Table:
    """A row per route and scenario, those of one route below each other."""
    is_single = len(group.scenarios) == 1
    part = part_of(group.what).one.capitalize()
    columns = [*words(part), *([] if is_single else words("Scenario"))]
    columns += [
        Column("Share", is_spare=True),
        Column(f"{counted(group.what).many.capitalize()}/s"),
    ]
    columns += [Column("p50"), Column("p99"), Column("Failed")]
    is_blocked = any(
        route.median("blocked") for scenario in group.scenarios for route in scenario.routes
    )
    if is_blocked:
        columns.append(Column(_BLOCKED))
    columns.append(Column("Bytes per reply", is_spare=True))
    if apart:
        base = group.called[apart[0].base]
        columns.append(Column(f"{apart[0].figure} as a multiple of\n{base}"))
    ratios = {(one.scenario, one.route): one for one in apart}
    rows = []
    for scenario, route in _ordered(group, lambda scenario: scenario.routes):
        row = [Cell(route.name), *([] if is_single else [_called(group, scenario)])]
        row += [
            _of(route, "share", lambda value: f"{100 * value:.1f} %"),
            _of(route, "rate", units.significant, with_interval=True),
            _of(route, "p50", units.duration),
            _timed(route, "p99"),
            _failed(route),
            *([_of(route, "blocked", units.duration)] if is_blocked else []),
            _of(route, "bytes", units.trimmed),
        ]
        if apart:
            row.append(_ratio(ratios.get((scenario.name, route.name))))
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows), names=1 if is_single else 2)


def sessions(group: Group) -> Table:
    """A row per flow and scenario: whole sessions, from the instant at which each was due."""
    is_single = len(group.scenarios) == 1
    columns = [*words("Flow"), *([] if is_single else words("Scenario"))]
    columns += [Column("Sessions/s"), Column("Failed"), Column("p50"), Column("p99")]
    columns.append(Column("Waited p99", is_spare=True))
    rows = []
    for scenario, flow in _ordered(group, lambda scenario: scenario.flows):
        row = [Cell(flow.name), *([] if is_single else [_called(group, scenario)])]
        row += [_of(flow, "rate", units.significant, with_interval=True), _failed(flow)]
        row += [_of(flow, "p50", units.duration), _timed(flow, "p99")]
        rows.append((*row, _of(flow, "waited", units.duration)))
    return Table(tuple(columns), tuple(rows), names=1 if is_single else 2)


def _ordered(
    group: Group, of: Callable[[ScenarioResult], Sequence[Result]]
) -> Iterator[tuple[ScenarioResult, Result]]:
    """Route by route, as the first scenario has them to be seen; within one, the ranking."""
    first = next((scenario for scenario in group.ranked if of(scenario)), None)
    failed = {one.name for scenario in group.scenarios for one in of(scenario) if one.failed}
    ordered = by_route.first_to_see(of(first)) if first else []
    for named in sorted(ordered, key=lambda one: one.name not in failed):
        for scenario in group.ranked:
            yield from ((scenario, one) for one in of(scenario) if one.name == named.name)


def _called(group: Group, scenario: ScenarioResult) -> Cell:
    return Cell(group.called[scenario.name], colour=scenario.colour)


def _of(
    found: Result, figure: str, told: Callable[[float], str], *, with_interval: bool = False
) -> Cell:
    estimate = found.estimates.get(figure)
    if estimate is None:
        return NO_FIGURE
    low, high = estimate.interval or (None, None)
    shown = estimate.interval if with_interval else None
    aside = (" to ".join(map(told, shown)),) if shown else ()
    return Cell(told(estimate.median), aside, value=estimate.median, low=low, high=high)


def _timed(found: Result, figure: str) -> Cell:
    """A time with its interval, both in the unit that fits it."""
    estimate = found.estimates.get(figure)
    if estimate is None:
        return NO_FIGURE
    unit: Unit = units.fitting(units.TIMES, (estimate.median,))
    return cells.estimated(estimate, unit, unit.text(estimate.median))


def _failed(found: Result) -> Cell:
    return Cell(f"{found.failed:,}", mark="no" if found.failed else "", value=found.failed)


def _ratio(found: Apart | None) -> Cell:
    """How many times as long; marked where one of both is shown to be faster."""
    if found is None:
        return NO_FIGURE
    mark: Mark = "worst" if found.verdict == "B faster" else "best" if found.is_shown else ""
    return cells.compared(found.comparison, mark)


def _cost(group: Group) -> str:
    """`Server CPU: 83.1 µs per request and 332 µs per session (A); ...`."""
    told = []
    for scenario in group.ranked:
        each, whole = scenario.median(metrics.SERVER), scenario.median(metrics.SESSION)
        if each is None or whole is None:
            continue
        unit = units.MICROSECONDS
        text = f"{unit.text(each)} per {counted(group.what).one} and {unit.text(whole)} per session"
        told.append(text if len(group.scenarios) == 1 else f"{group.called[scenario.name]} {text}")
    alone = NOT_ALONE.format(part_of(group.what).one)
    return f"Server CPU: {'; '.join(told)}. {alone}" if told else ""
