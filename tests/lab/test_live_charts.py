"""A running study's lines: how they are kept, told by the runner's events, and drawn."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.lab import trials
from tests.lab.test_study import TWO, tiny
from tests.lab.trials import interval
from wiretrial.cli.beacons import Teller
from wiretrial.live import charts, pages
from wiretrial.results import beacon, lines
from wiretrial.results.beacon import Beacon, State
from wiretrial.results.lines import Line, Point
from wiretrial.studies import events
from wiretrial.studies.events import Used
from wiretrial.studies.order import Slot


def point(at_s: float, rate: float = 1000.0, **figures: Any) -> Point:
    """A step of a trial without errors."""
    whole = {"errors": 0.0, "p50_ns": 1e5, "p99_ns": 4e5, "generator": 0.5, "server": 0.9}
    return Point(at_s=at_s, rate=rate, **(whole | figures))


def line(name: str = "one", colour: int = 0, *points: Point, is_http: bool = True) -> Line:
    shown = points or (point(0.5), point(1.0, 2000.0))
    return Line(scenario=name, colour=colour, is_http=is_http, points=shown)


def test_a_long_line_spans_its_whole_trial_in_few_points() -> None:
    found = Line(scenario="one", colour=0)
    for at in range(1000):
        found = found.and_then(point(at / 2, p99_ns=9e6 if at == 40 else 4e5))
        assert len(found.shown) <= lines.MOST_POINTS
    steps = [0.0, *(one.at_s for one in found.shown)]
    assert steps[-1] == 999 / 2
    assert max(b - a for a, b in pairwise(steps)) < 2 * 500 / (lines.MOST_POINTS / 2)
    # The slowest step is not lost among others.
    assert max(one.p99_ns or 0 for one in found.shown) == 9e6
    assert {one.rate for one in found.shown} == {1000.0}


def test_a_scenario_s_new_trial_takes_the_place_of_its_last() -> None:
    kept: tuple[Line, ...] = ()
    for number in range(lines.MOST_LINES + 2):
        kept = lines.with_line(kept, line(f"scenario {number}"))
    assert kept[0].scenario == "scenario 2"
    again = line("scenario 4", 0, point(0.5, 7.0))
    kept = lines.with_line(kept, again)
    assert len(kept) == lines.MOST_LINES
    assert kept[2] == again


def test_events_become_a_line_with_the_cpu_of_both_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tiny(*TWO)
    name = study.cases[0].scenario.name
    monkeypatch.setattr(beacon, "PERIOD_S", 0.0)
    with Beacon(tmp_path) as lamp:
        teller = Teller(lamp, study)
        slot = Slot(scenario=name, block=0, position=0, order_seed=1)
        teller.tell(events.TrialBegun(slot, 1, 4), left_s=9.0)
        # A server is primed before its trial, and the clock of the trial begins anew.
        teller.tell(events.Seen(interval(8), None), left_s=None)
        teller.tell(events.Seen(trials.trial().start), left_s=None)
        for number in range(3):
            used = Used(number * 10**9, number * 5 * 10**8)
            teller.tell(events.Seen(interval(number), used), left_s=None)
        state = beacon.read(tmp_path)
    assert state is not None
    (found,) = state.lines
    assert found.scenario == name
    assert [one.server for one in found.points] == [None, 0.5, 0.5]
    assert all(one.rate > 0 for one in found.points)


def test_each_quantity_is_a_picture_with_a_line_per_scenario() -> None:
    shown = [line("HTTP <keep-alive>"), line("a new connection", 1)]
    found = str(charts.drawn(shown))
    assert found.count("<svg") == 5
    assert found.count("<polyline") == 2 * 5
    assert "HTTP <keep" not in found
    for label in re.findall('aria-label="([^"]*)"', found):
        assert "HTTP &lt;keep-alive&gt;" in label
        assert "over 1 s" in label
    assert "<script" not in found
    assert "http://" not in found


def test_without_a_script_the_last_figures_are_a_table() -> None:
    shown = line("one", 0, point(0.5), point(1.0, 2000.0, errors=3.0, server=None))
    found = str(charts.table([shown]))
    cells = re.findall(r'<td class="num">([^<]*)</td>', found)
    assert cells == ["2.00", "100", "400", "3.00", "0.500", "0.900"]
    page = pages.running("name", "title", State(pid=1, process_started=0, lines=(shown,)), None)
    assert found in page


@pytest.mark.parametrize(("is_http", "what"), [(True, "requests/s"), (False, "messages/s")])
def test_lines_are_in_units_of_what_is_sent(is_http: bool, what: str) -> None:
    found = str(charts.drawn([line(), line("two", 1, is_http=is_http)]))
    assert f"Throughput, thousand {what}" in found
    state = State(
        pid=1, process_started=0, scenario="two", lines=(line("two", 1, is_http=is_http),)
    )
    assert f"<dt>{what}</dt>" in pages.now(state)


def test_errors_are_drawn_where_there_are_some() -> None:
    assert "Errors" not in charts.drawn([line()])
    assert "Errors, per second" in charts.drawn([line("one", 0, point(1.0, errors=2.0))])


def test_before_the_first_point_nothing_is_drawn() -> None:
    assert charts.drawn([]) == charts.drawn([Line(scenario="one", colour=0)]) == ""
    # What is known of nobody, as a server elsewhere, is no picture.
    assert "Server CPU" not in charts.drawn([line("one", 0, point(1.0, server=None))])


@pytest.mark.parametrize(
    ("value", "end"), [(0, 1), (0.95, 1), (1, 1), (1.1, 1.2), (87, 100), (205, 300), (9e5, 1e6)]
)
def test_an_axis_ends_at_a_round_figure(value: float, end: float) -> None:
    assert charts.ceiling(value) == pytest.approx(end)


@pytest.mark.parametrize("end", [0.3, 0.5, 1, 7, 9.99, 10, 12, 59, 100, 3600])
def test_the_axis_of_time_has_few_round_steps(end: float) -> None:
    found = charts.seconds(end)
    assert found[0] == 0
    assert 2 <= len(found) <= 6
    assert found[-1] <= end + 1e-9
