"""The report's pictures as files: SVG and PNG, without a browser.

Knows which pictures a report has; must not know how one is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from wiretrial.report import canvas, metrics, moments, page_load, page_results, route_courses
from wiretrial.report.canvas import WIDE, Frame, Picture
from wiretrial.report.knees import together
from wiretrial.report.model import ReportModel
from wiretrial.report.views import (
    amortised,
    cost,
    knee,
    levels,
    over_time,
    percentiles,
    predicted,
    ranking,
    route_lines,
)


def names(model: ReportModel) -> tuple[str, ...]:
    """What there is to draw.

    `ranking-1`, `percentiles-1`, … per group, `levels-1-throughput`, … per factor, `knee-1`, … per
    search, `amortised-1-server-cpu`, … per break-even, `browser-1`, … per place of a browser's
    requests at once, `predicted` of capacities, one `cost-…` per panel, and of one run
    `over-time-throughput`, ….
    """
    return tuple(_drawers(model))


def render_svg(model: ReportModel, name: str) -> str:
    """The picture as an SVG file; raises KeyError for a name that `names` does not list."""
    return canvas.file_svg(_drawers(model)[name]())


def render_png(model: ReportModel, name: str) -> bytes:
    """The picture as a PNG file; raises KeyError for a name that `names` does not list."""
    return canvas.file_png(_drawers(model)[name]())


def _drawers(model: ReportModel) -> dict[str, Callable[[], Picture]]:
    found: dict[str, Callable[[], Picture]] = {}
    frame = Frame(WIDE)
    course = moments.course(model.trials[0]) if model.is_run else None
    for name in over_time.names(course) if course else ():
        assert course is not None
        found[f"over-time-{name}"] = partial(over_time.picture, course, name, frame)
    routes = route_courses.of_trial(model.trials[0]) if course else None
    for name in route_lines.names(routes):
        assert course
        assert routes
        found[f"over-time-{name}"] = partial(route_lines.picture, course, routes, name, frame)
    for number, group in enumerate(model.groups, start=1):
        ranked = any(group.contest.metric.key in s.estimates for s in group.scenarios)
        if ranked and not model.is_run:
            found[f"ranking-{number}"] = partial(ranking.picture, group, frame)
        if any(scenario.curve for scenario in group.scenarios):
            found[f"percentiles-{number}"] = partial(percentiles.picture, model, group, frame)
    strips = [strip for family in model.families for strip in family.strips]
    for number, strip in enumerate(strips, start=1):
        wanted = (strip.groups[0].contest.metric, metrics.P99, *page_results.LINES)
        for metric in (*wanted, *(page_load.SERIES if page_load.is_offered(strip) else ())):
            if levels.has(strip, metric):
                found[f"levels-{number}-{metric.key}"] = partial(
                    levels.picture, strip, metric, frame
                )
    for number, knees in enumerate(together(model.knees), start=1):
        if knee.can_be_drawn(knees):
            found[f"knee-{number}"] = partial(knee.picture, knees, frame)
    for number, place in enumerate(model.places, start=1):
        for quantity in amortised.quantities(place):
            found[f"amortised-{number}-{quantity.replace(' ', '-').lower()}"] = partial(
                amortised.picture, model, place, quantity, frame
            )
    for number, browsed in enumerate(model.browsed, start=1):
        found[f"browser-{number}"] = partial(ranking.picture, browsed.group, frame)
    if predicted.can_be_drawn(model.capacities):
        found["predicted"] = partial(predicted.picture, model.capacities, frame)
    for panel in cost.panels(model.groups):
        found[f"cost-{panel.key}"] = partial(cost.picture, model.groups, panel)
    return found
