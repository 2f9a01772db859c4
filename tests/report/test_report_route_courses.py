"""Routes over the time of a run: which of them are drawn, and where a line is one run's alone."""

from __future__ import annotations

import pytest

from tests.report.test_report_routes import NAMES, SERVERS, report, times, trial
from wiretrial import words
from wiretrial.report import charts, courses, html, moments, route_courses, run
from wiretrial.report.canvas import NARROW, WIDE, Frame
from wiretrial.report.views import route_lines
from wiretrial.results.model import Trial
from wiretrial.snapshot import FlowFigures, RouteFigures, TrafficFigures, TrafficNames


def many(ms: dict[str, float], replies: int = 2000) -> Trial:
    """A trial with so many replies of each route in each interval."""
    made = trial("a", 0)
    figures = TrafficFigures(
        routes=tuple(
            RouteFigures(sent=replies, ok=replies, histograms={"service_time": times(one)})
            for one in ms.values()
        ),
        flows=(FlowFigures(begun=1, done=1),),
    )
    names = TrafficNames(routes=tuple(ms), flows=("shop",))
    intervals = (one.model_copy(update={"traffic": figures}) for one in made.intervals)
    changed = {
        "start": made.start.model_copy(update={"traffic": names}),
        "summary": made.summary.model_copy(update={"traffic": figures}),
        "intervals": tuple(intervals),
    }
    return made.model_copy(update=changed)


def test_the_slowest_routes_are_drawn_and_the_others_counted() -> None:
    found = route_courses.of_trial(many({f"r{n}": float(1 + n) for n in range(9)}))
    assert found
    assert [line.name for line in found.lines] == ["r8", "r7", "r6", "r5", "r4", "r3"]
    assert found.left_out == 3
    assert "not drawn: 3 others" in (route_lines.key(found, words.REQUEST) or "")


def test_a_line_has_the_replies_and_the_times_of_its_route() -> None:
    made = trial("a", 0)
    found = route_courses.of_trial(made)
    assert found
    assert found.time == "p99"
    assert route_lines.key(found, words.REQUEST) is None
    for line in found.lines:
        ms = SERVERS["a"][NAMES.index(line.name)]
        assert [value for _, value in line.times] == pytest.approx(
            [ms * 1e6] * len(line.times), rel=0.01
        )
        inside = moments.inside(made)
        length_s = (inside[-1].end_ns - inside[0].start_ns) / 1e9
        mean = sum(value for _, value in line.rates) / len(line.rates)
        assert mean == pytest.approx(2000 * len(inside) / length_s, rel=0.1)


def test_where_one_route_has_few_replies_all_are_shown_by_their_p50() -> None:
    made = many({"often": 1.0, "seldom": 2.0})
    scarce = [
        one.model_copy(
            update={
                "traffic": one.traffic.model_copy(
                    update={
                        "routes": (
                            one.traffic.routes[0],
                            RouteFigures(sent=1, ok=1, histograms={"service_time": times(2.0, 1)}),
                        )
                    }
                )
            }
        )
        for one in made.intervals
        if one.traffic
    ]
    found = route_courses.of_trial(made.model_copy(update={"intervals": tuple(scarce)}))
    assert found
    assert found.time == "p50"
    assert {line.name: bool(line.times) for line in found.lines} == {"often": True, "seldom": False}


def test_a_single_route_is_the_run_itself() -> None:
    assert route_courses.of_trial(many({"only": 1.0})) is None
    assert route_lines.names(None) == ()


def test_the_page_of_a_load_and_its_files_have_the_pictures() -> None:
    made = run.build(trial("b", 0))
    page = html.render(made)
    course, found = moments.course(made.trials[0]), route_courses.of_trial(made.trials[0])
    assert course
    assert found
    for name in route_lines.names(found):
        assert f"over-time-{name}" in charts.names(made)
        for width in (WIDE, NARROW):
            told = route_lines.picture(course, found, name, Frame(width)).alternative
            assert told in page or width == NARROW
    assert "item 8.00 to 8.00 ms" in page


def test_servers_have_a_panel_for_each_of_the_slowest_routes() -> None:
    made = report("a", "b")
    panels = {one.title: one for one in courses.of_group(made.groups[0], made.trials)}
    assert [title for title in panels if "p99" in title and "time" not in title] == [
        "item, p99",
        "order, p99",
        "list, p99",
    ]
    assert {line.scenario for line in panels["item, p99"].lines} == {"a", "b"}
