"""Routes over trials: the slowest one, where two servers differ most, and their table."""

from __future__ import annotations

import random

from hdrh.histogram import HdrHistogram

from tests.report.synthetic import DEMO, one_trial
from wiretrial.report import html, model, page, phrases, sent, traffic
from wiretrial.report.blocks import Table
from wiretrial.report.exports import table as exports
from wiretrial.report.model import ReportModel
from wiretrial.results.model import Judgement, Trial
from wiretrial.snapshot import FlowFigures, RouteFigures, TrafficFigures, TrafficNames

HOUR = 3_600_000_000_000
NAMES = ("list", "item", "order")
SERVERS = {"a": (1.0, 2.0, 3.0), "b": (1.0, 8.0, 3.0)}
"""What each route takes, milliseconds."""


def times(ms: float, count: int = 2000) -> str:
    histogram = HdrHistogram(1, HOUR, 3)
    histogram.record_value(round(ms * 1e6), count)
    return str(histogram.encode().decode("ascii"))


def trial(
    server: str, block: int, failed: int = 0, sent: int = 2000, blocked_ms: float | None = None
) -> Trial:
    """One trial, each route a little slower in each block."""
    judgement = Judgement(verdict="valid", bottleneck="server", evidence="its core 99 % busy")
    made: Trial = one_trial(DEMO[0], block, 0, 1, judgement, 1.0, random.Random(block))
    blocked = {} if blocked_ms is None else {"blocked_time": times(blocked_ms)}
    figures = TrafficFigures(
        routes=tuple(
            RouteFigures(
                sent=sent,
                ok=sent - failed * (name == "list"),
                errors={"mismatch": failed} if name == "list" and failed else {},
                bytes_received=200 * sent,
                histograms={"service_time": times(ms * (1 + block / 1000)), **blocked},
            )
            for name, ms in zip(NAMES, SERVERS[server], strict=True)
        ),
        flows=(FlowFigures(begun=sent, done=sent, histograms={"iteration_time": times(12.0)}),),
    )
    names = TrafficNames(routes=NAMES, flows=("shop",))
    called = {"name": server, "group": "shop", "label": server, "file": "shop.toml"}
    intervals = (one.model_copy(update={"traffic": figures}) for one in made.intervals)
    return made.model_copy(
        update={
            "scenario": made.scenario.model_copy(update=called),
            "start": made.start.model_copy(update={"traffic": names}),
            "summary": made.summary.model_copy(update={"traffic": figures}),
            "intervals": tuple(intervals),
        }
    )


def report(*servers: str, failed: int = 0, blocked_ms: float | None = None) -> ReportModel:
    trials = [
        trial(server, block, failed, blocked_ms=blocked_ms)
        for server in servers
        for block in range(4)
    ]
    return model.build(trials, question="q", title="t", command="c")


def table(made: ReportModel, title: str = "Routes") -> Table:
    (section,) = (one for one in page.sections(made) if one.title == title)
    found = section.blocks[0]
    assert isinstance(found, Table)
    return found


def said(made: ReportModel, kind: str) -> list[str]:
    return [phrases.say(one) for one in made.findings if one.kind == kind]


def test_the_slowest_route_is_named() -> None:
    (alone,) = said(report("a"), "slowest")
    assert alone.startswith("Slowest route: order, p99 3.0")
    (both,) = said(report("a", "b"), "slowest")
    assert both.startswith("Slowest routes, by p99: item 8.0")
    assert "order 3.0" in both


def test_the_route_that_differs_most_is_named_with_its_interval() -> None:
    assert said(report("a"), "apart") == []
    (found,) = said(report("a", "b"), "apart")
    assert found.startswith("Largest difference on item: p99 of b 4.0")
    assert "times that of a (2.0" in found


def test_a_row_per_route_and_server_the_failing_and_the_slowest_first() -> None:
    rows = [(row[0].text, row[1].text) for row in table(report("a", "b")).rows]
    assert rows[:2] == [("order", "a"), ("order", "b")]
    assert len(rows) == 6
    failing = table(report("a", failed=3))
    assert failing.columns[1].title == "Share"
    assert [row[0].text for row in failing.rows] == ["list", "order", "item"]
    failed = [column.title for column in failing.columns].index("Failed")
    assert [row[failed].text for row in failing.rows] == ["12", "0", "0"]


def test_the_time_blocked_has_a_column_where_there_is_any() -> None:
    for blocked_ms in (None, 0):
        titles = [column.title for column in table(report("a", blocked_ms=blocked_ms)).columns]
        assert "Blocked p99" not in titles
    made = table(report("a", "b", blocked_ms=7))
    (place,) = (at for at, one in enumerate(made.columns) if one.title == "Blocked p99")
    assert {row[place].text for row in made.rows} == {"7.00 ms"}
    for blocked_ms, times in ((None, 0), (7, 1)):
        shown = html.render(report("a", "b", blocked_ms=blocked_ms))
        assert shown.count(traffic.BLOCKED) == times


def test_sessions_have_a_table_and_the_server_s_cpu_is_told_per_session() -> None:
    (section,) = (one for one in page.sections(report("a")) if one.title == "Routes")
    tables = [block for block in section.blocks if isinstance(block, Table)]
    assert tables[1].rows[0][0].text == "shop"
    texts = " ".join(str(block) for block in section.blocks)
    assert "per session" in texts


def test_sessions_of_one_request_have_no_routes() -> None:
    """What stands above tells all of it."""

    def of_first(figures: TrafficFigures | None) -> TrafficFigures:
        assert figures is not None
        return figures.model_copy(update={"routes": figures.routes[:1]})

    def with_one(whole: Trial) -> Trial:
        intervals = (
            one.model_copy(update={"traffic": of_first(one.traffic)}) for one in whole.intervals
        )
        summary = whole.summary.model_copy(update={"traffic": of_first(whole.summary.traffic)})
        names = TrafficNames(routes=NAMES[:1], flows=("shop",))
        start = whole.start.model_copy(update={"traffic": names})
        changed = {"intervals": tuple(intervals), "summary": summary, "start": start}
        return whole.model_copy(update=changed)

    trials = [with_one(trial(server, block)) for server in SERVERS for block in range(4)]
    made = model.build(trials, question="q", title="t", command="c")
    assert not [one for one in page.sections(made) if one.title == "Routes"]


def test_one_message_has_no_routes() -> None:
    judgement = Judgement(verdict="valid", bottleneck="server", evidence="its core 99 % busy")
    made = one_trial(DEMO[0], 0, 0, 1, judgement, 1.0, random.Random(3))
    found = model.build([made], question="q", title="t", command="c")
    assert not [one for one in page.sections(found) if one.title == "Routes"]
    assert said(found, "slowest") == []


def test_a_get_beside_a_payload_differs_in_it() -> None:
    one, other = trial("a", 0), trial("b", 0)
    start = one.start.model_copy(update={"request_payload_bytes": 0})
    made = model.build(
        [one.model_copy(update={"start": start}), other], question="q", title="t", command="c"
    )
    assert "payload bytes: 64 and none" in dict(sent.rows(made))["Varied"]


def test_the_table_of_trials_has_columns_for_each_route() -> None:
    one, other = exports.rows([trial("a", 0, failed=2), trial("b", 0)])
    assert list(one) == list(other)
    assert one["route.list.errors"] == 2
    item = other["route.item.p99"]
    assert isinstance(item, int | float)
    assert 7.9e6 < item < 8.1e6
