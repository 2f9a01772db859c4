"""A group over its time: a line per trial of each scenario, in what can be followed over a run.

Knows trials' intervals and samples; must not know how a line is drawn. Every trial starts at 0 s,
so that trials lie over each other; warm-up is there, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from wiretrial.report import by_route, moments, route_courses, units
from wiretrial.report.families import Group
from wiretrial.report.measures import Measured
from wiretrial.report.moments import Course
from wiretrial.report.units import Unit
from wiretrial.results.model import Trial

STEPS = 24
"""Of a trial: more cannot be told apart where several lie over each other."""
MOST_ROUTES = 4
"""With a panel of their own."""
MOST_TRIALS = 150
"""Of a report with more, no trial is drawn over time: its page would be too large."""
CORES = (Unit("cores", "cores"),)
ERRORS = (Unit("errors/s", "/s"), Unit("thousand errors/s", "k/s", 1e3))

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """One trial of a scenario; seconds since its first message, values in base units."""

    scenario: str
    colour: int
    block: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Panel:
    """One quantity of a group."""

    title: str
    units: tuple[Unit, ...]
    lines: tuple[Line, ...]


def of_group(group: Group, trials: Sequence[Trial]) -> tuple[Panel, ...]:
    """What can be followed: throughput, p50 and p99, errors, the CPU of both sides."""
    by_name: dict[str, list[Trial]] = {}
    for trial in trials:
        by_name.setdefault(trial.scenario.name, []).append(trial)
    found: dict[str, list[Line]] = {}
    kinds: dict[str, tuple[Unit, ...]] = {}
    routes = _slowest(group)
    # To merge the figures of trials takes time, and is of use for routes alone.
    time = route_courses.time_of(
        route
        for scenario in (group.scenarios if routes else ())
        for trial in by_name.get(scenario.name, ())
        for route in Measured(trial).routed.routes
        if route.name in routes
    )
    for scenario in group.scenarios:
        for trial in by_name.get(scenario.name, ()):
            course = moments.course(trial, STEPS)
            if course is None:
                continue
            quantities = (*_quantities(trial, course), *_routes(trial, routes, time))
            for title, unit, points in quantities:
                line = Line(group.called[scenario.name], scenario.colour, trial.block, points)
                found.setdefault(title, []).append(line)
                kinds[title] = unit
    return tuple(Panel(title, kinds[title], tuple(lines)) for title, lines in found.items())


def _slowest(group: Group) -> list[str]:
    """Names of the routes that take longest with any scenario."""
    time = by_route.time_of(scenario.routes for scenario in group.scenarios)
    longest: dict[str, float] = {}
    for scenario in group.scenarios:
        for route in scenario.routes:
            longest[route.name] = max(longest.get(route.name, 0.0), route.median(time) or 0.0)
    slowest = sorted(longest, key=longest.__getitem__, reverse=True)
    return slowest[:MOST_ROUTES] if len(slowest) > 1 else []


def _routes(
    trial: Trial, names: Sequence[str], time: by_route.Time
) -> Iterator[tuple[str, tuple[Unit, ...], tuple[Point, ...]]]:
    until_s = _until_s(trial)
    for line in route_courses.lines(trial, names, time, STEPS):
        points = tuple(point for point in line.times if point[0] <= until_s)
        if len(points) > 1:
            yield f"{line.name}, {time}", units.TIMES, points


def _until_s(trial: Trial) -> float:
    """Behind it nothing is sent, and the last replies come in."""
    return (trial.summary.measure_end_ns - trial.summary.first_send_ns) / 1e9


def _quantities(
    trial: Trial, course: Course
) -> Iterator[tuple[str, tuple[Unit, ...], tuple[Point, ...]]]:
    kind = "response time" if course.from_due else "service time"
    until_s = _until_s(trial)
    rates = [moment for moment in course.rates if moment.end_s <= until_s]
    times = [moment for moment in course.times if moment.end_s <= until_s]
    if len(rates) < moments.FEWEST:
        return
    yield "Throughput", units.rates(course.what), tuple((m.middle_s, m.throughput) for m in rates)
    for name, of in _QUANTILES.items():
        points = tuple((m.middle_s, value) for m in times if (value := of(m)))
        if len(points) > 1:
            yield f"{name} of the {kind}", units.TIMES, points
    if course.has_errors:
        yield "Errors", ERRORS, tuple((m.middle_s, m.errors) for m in rates)
    if server := _server(trial):
        yield "Server CPU", CORES, server
    if generator := _generator(trial):
        yield "Generator CPU", CORES, generator


_QUANTILES: Mapping[str, Callable[[moments.Moment], float | None]] = {
    "p50": lambda moment: moment.p50,
    "p99": lambda moment: moment.p99,
}


def _server(trial: Trial) -> tuple[Point, ...]:
    """CPUs that the server's processes used, between readings of them."""
    samples = trial.subject_samples
    each = max(1, -(-len(samples) // STEPS))
    shown = [*samples[::each], *samples[-1:]] if len(samples) > 1 else []
    used = [(one.offset_ns, one.cpu_user_ns + one.cpu_system_ns) for one in shown]
    return tuple(_rates(used, trial))


def _generator(trial: Trial) -> tuple[Point, ...]:
    begin, total = trial.summary.first_send_ns, 0
    used = [(begin, 0)]
    inside = [one for one in trial.intervals if one.start_ns >= begin]
    for one in inside:
        total += one.generator.cpu_user_ns + one.generator.cpu_system_ns
        used.append((one.end_ns, total))
    each = max(1, -(-len(used) // STEPS))
    return tuple(_rates(used[::each], trial)) if total else ()


def _rates(used: Sequence[tuple[int, int]], trial: Trial) -> Iterator[Point]:
    """CPU time per time between each two readings, in cores, while messages are sent."""
    begin, last = trial.summary.first_send_ns, trial.summary.measure_end_ns
    # A tick of the kernel's clock in a short step would be a spike.
    shortest = (last - begin) / STEPS / 2
    for (start, before), (end, after) in pairwise(used):
        if begin <= start and end <= last and end - start >= shortest and after >= before:
            yield (start + end - 2 * begin) / 2e9, (after - before) / (end - start)
