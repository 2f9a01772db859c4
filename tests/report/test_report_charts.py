"""The pictures as files."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from wiretrial.report import canvas, charts, metrics, palette, units
from wiretrial.report.model import ReportModel
from wiretrial.report.views import cost, knee, lines
from wiretrial.report.views.axes import LABEL_PITCH, spread, ticks
from wiretrial.report.views.plot import Plot, linear, log
from wiretrial.report.views.ranking import lanes, picture


def test_every_picture_is_a_file_of_both_kinds(report: ReportModel) -> None:
    names = charts.names(report)
    assert names == (
        *(f"{kind}-{n}" for n in (1, 2, 3) for kind in ("ranking", "percentiles")),
        *("cost-server", "cost-generator", "cost-bytes"),
    )
    for name in names:
        root = ElementTree.fromstring(charts.render_svg(report, name))
        assert root.tag.endswith("svg")
        assert (root.findtext("{http://www.w3.org/2000/svg}title") or "").endswith(".")
    assert charts.render_png(report, "ranking-1").startswith(b"\x89PNG\r\n")


def test_a_study_has_a_picture_per_factor_and_search(study: ReportModel) -> None:
    names = charts.names(study)
    for name in ("levels-1-throughput", "levels-1-p99", "levels-1-user_memory", "knee-1"):
        assert name in names
        root = ElementTree.fromstring(charts.render_svg(study, name))
        title = root.findtext("{http://www.w3.org/2000/svg}title") or ""
        assert all(label in title for label in ("uwebsockets", "gorilla", "ws"))


def test_a_figure_on_the_page_keeps_its_digits(report: ReportModel) -> None:
    median = report.groups[0].scenarios[0].estimates["throughput"].median
    unit = units.Unit("of about the first", "x", median / 0.9376)
    metric = replace(metrics.THROUGHPUT, units=(unit,))
    drawn = canvas.inline_svg(
        picture(report.groups[0], canvas.Frame(canvas.WIDE), metric), "picture"
    )
    assert ">0.938 x<" in drawn


def test_a_file_has_no_more_decimals_of_a_place_than_every_processor_gives(
    report: ReportModel,
) -> None:
    for name in charts.names(report):
        places = re.findall(
            r' (?:d|transform|[xy][12]?)="([^"]*)"', charts.render_svg(report, name)
        )
        figures = [figure for place in places for figure in re.findall(r"[\d.]+", place)]
        assert figures
        assert max(len(figure.partition(".")[2]) for figure in figures) <= 3
        assert not any("e-" in place for place in places)


def test_a_file_looks_like_the_page(report: ReportModel) -> None:
    drawn = charts.render_svg(report, "ranking-1")
    assert f'<rect width="{canvas.WIDE}"' in drawn
    assert palette.PAPER in drawn
    assert palette.HAIRLINE in drawn
    assert "role-axis-domain" not in drawn


def test_a_bound_is_one_on_hover_too(report: ReportModel) -> None:
    drawn = charts.render_svg(report, "ranking-1")
    assert re.search(r">≥ [\d.]+ k/s<", drawn)
    assert re.search(r"<title>WebSocket: ≥ [\d.]+ k/s</title>", drawn)
    assert re.search(r"<title>HTTP keep-alive: [\d.]+ k/s, 95 % interval", drawn)


def test_rows_of_costs_fill_their_panel(report: ReportModel) -> None:
    panel = cost.panels(report.groups)[0]
    drawn = canvas.inline_svg(cost.picture(report.groups, panel), "picture")
    names = re.findall(r'translate\(0,([\d.]+)\)" font-size="12.5px"', drawn)
    steps = [float(below) - float(above) for above, below in pairwise(names)]
    assert min(steps) == pytest.approx(cost.PITCH, abs=0.5)


def test_rows_say_how_their_marks_look_unless_the_style_does() -> None:
    rows = [{"x": 1, "y": 10, "colour": "red", "shape": "square", "name": "a", "text": "told"}]
    assert encoded("point", rows) == {"color", "shape", "description"}
    assert encoded("point", rows, color="blue", shape="circle", aria=False) == set()
    assert encoded("line", rows) == {"color", "detail"}
    assert encoded("text", rows, text="name") == {"text"}


def encoded(kind: str, rows: list[canvas.Row], **style: Any) -> set[str]:
    """By what of the rows the marks are drawn, besides their places."""
    plot = plot_of()
    plot.draw(kind, rows, **style)
    (layer,) = plot.picture("A picture.").chart["layer"]
    return set(layer["encoding"]) - {"x", "y"}


def plot_of() -> Plot:
    padding = canvas.Padding(40, 60, 0, 0)
    return Plot(canvas.Frame(300), padding, 100, linear((0, 2)), log((1, 100)))


def test_a_mark_without_rows_is_left_out() -> None:
    plot = plot_of()
    plot.draw("point", [])
    assert plot.picture("A picture.").chart["layer"] == []


def test_a_place_is_known_in_pixels() -> None:
    plot = plot_of()
    assert plot.width == 200
    assert plot.place(1, 10) == pytest.approx((100, 50))
    assert plot.holds(2, 100)
    assert not plot.holds(1, 101)


def test_names_that_would_touch_are_moved_apart() -> None:
    plot = plot_of()
    rows = [
        {"x": x, "y": y, "name": name, "colour": "red"}
        for name, y in (("low", 10), ("high", 10.1))
        for x in (0, 2)
    ]
    plot.names(rows)
    layers = plot.picture("A picture.").chart["layer"]
    at = {
        layer["data"]["values"][0]["name"]: layer["encoding"]["y"]["value"]
        for layer in layers
        if layer["mark"]["type"] == "text"
    }
    assert at["low"] - at["high"] >= LABEL_PITCH
    assert len(layers) == 4


def test_an_unknown_picture_is_a_key_error(report: ReportModel) -> None:
    with pytest.raises(KeyError):
        charts.render_svg(report, "pie")


@pytest.mark.parametrize(
    ("low", "high"), [(15, 190), (20, 47), (64.7, 78.3), (0.0004, 3), (99, 101), (1, 1e6)]
)
def test_ticks_are_few_and_inside(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 2 <= len(found) <= 8
    assert all(low <= tick <= high for tick in found)
    assert found == sorted(found)


def test_brackets_that_share_a_row_stand_side_by_side() -> None:
    assert lanes(()) == []
    assert lanes([(0, 2), (3, 4)]) == [[(0, 2), (3, 4)]]
    assert lanes([(0, 2), (2, 4), (3, 6), (5, 7)]) == [[(0, 2), (3, 6)], [(2, 4), (5, 7)]]


def test_labels_are_moved_apart_in_order() -> None:
    placed = spread({"a": 100, "b": 102, "c": 5, "d": 339}, 17, 340)
    assert sorted(placed, key=placed.__getitem__) == ["c", "a", "b", "d"]
    at = sorted(placed.values())
    assert all(b - a >= 17 for a, b in pairwise(at))
    assert at[-1] <= 340


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1, "1.00"),
        (9.996, "10.0"),
        (0.0123456, "0.0123"),
        (123.4, "123"),
        (999.6, "1,000"),
        (191_204, "191,000"),
        (-2.5, "-2.50"),
    ],
)
def test_three_significant_digits(value: float, text: str) -> None:
    assert units.significant(value) == text


def test_units_fit() -> None:
    assert units.duration(1_310_000) == "1.31 ms"
    assert units.duration(498_000) == "498 µs"
    assert units.duration(0) == "0 s"
    assert units.fitting(units.RATES, [17e3, 170e3]).short == "k/s"
    times = [units.fitting(units.TIMES, [size]).short for size in (1e3, 1e6, 1e9)]
    assert times == ["µs", "ms", "s"]
    assert units.trimmed(2.0) == "2"
    assert units.listed(["a", "b", "c"]) == "a, b and c"
    assert units.plural(1, "trial") == "1 trial"


def test_each_occasion_has_a_line_and_a_knee_of_its_own(study: ReportModel) -> None:
    one = study.knees[0]
    other = replace(one, sustained=one.steps[0].offered)
    layers = knee.picture([replace(one, occasions=(one, other))], canvas.Frame(canvas.WIDE)).chart
    marks = [(layer["mark"], layer["data"]["values"]) for layer in layers["layer"]]
    assert [mark["type"] for mark, _ in marks].count("line") == 2
    (rings,) = (rows for mark, rows in marks if mark.get("size") == knee.RING_SIZE)
    found = [case.sustained for case in (one, other) if case.sustained is not None]
    assert {row["x"] for row in rings} == {load / 1000 for load in found}
    assert len(found) == 2


def test_a_share_of_a_whole_stands_on_a_linear_axis() -> None:
    plot = lines.chart(canvas.Frame(canvas.WIDE), (340, 240), (1, 100), "n", [], up_to=100.0)
    assert plot.place(10, 50) == pytest.approx((plot.width / 2, plot.height / 2))
