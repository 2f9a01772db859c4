"""Requests from a browser: a row per way, one request beside those at once.

Knows places and their ways; must not know how a table is drawn.
"""

from __future__ import annotations

from wiretrial.report import browsed, metrics, units
from wiretrial.report.blocks import NO_FIGURE, Cell, Table, figures, words
from wiretrial.report.browsed import Place, Way
from wiretrial.report.scenarios import ScenarioResult

KEY = (
    "One request: the mean of those that go one by one. Under way: the most requests that were out"
    " at the same time, as the browser tells. Asked again: replies that its cache held, and of"
    " which it asked the server whether they are still right."
)


def title(place: Place) -> str:
    """Where, of whom, and in which browser."""
    where = place.environment.removeprefix("link:")
    return f"{place.subject} over {where}, in {place.program}"


def table(place: Place) -> Table:
    """The ways of one place, in the order of the study."""
    columns = figures(
        "one request",
        f"{place.requests} at once",
        "under way",
        "connections",
        "asked again",
    )
    return Table((*words("Way"), *columns), tuple(map(_row, place.ways)))


def _row(way: Way) -> tuple[Cell, ...]:
    told = (way.under_way, way.connections, way.revalidated)
    counts = (Cell(str(n), value=n) for n in told) if way.at_once else (NO_FIGURE,) * len(told)
    one = browsed.requests(way.alone) if way.alone else 1
    return (Cell(way.label), _time(way.alone, one), _time(way.at_once, 1), *counts)


def _time(scenario: ScenarioResult | None, parts: int) -> Cell:
    """The time of each of so many parts, with its interval."""
    estimate = scenario.estimates.get(metrics.ELAPSED.key) if scenario else None
    if estimate is None:
        return NO_FIGURE
    each = estimate.median / parts
    unit = units.fitting(units.TIMES, (each,))
    ends = tuple(end / parts for end in estimate.interval or ())
    low, high = ends or (None, None)
    return Cell(
        unit.text(each),
        aside=(" to ".join(map(unit.figure, ends)),) if ends else (),
        value=each,
        low=low,
        high=high,
    )
