"""Histograms of routes and flows in trials that are kept: fewer of them, with the same figures."""

from __future__ import annotations

import random

import pytest
from hdrh.histogram import HdrHistogram

from tests.report.test_report_routes import trial
from wiretrial.report import bared, coarse, merged, outlined, timings
from wiretrial.report.measures import Measured
from wiretrial.results.model import Trial
from wiretrial.snapshot import Interval


def scattered(seed: int) -> str:
    source, histogram = random.Random(seed), HdrHistogram(1, 3_600_000_000_000, 3)
    for _ in range(400):
        histogram.record_value(round(source.lognormvariate(14, 1)))
    return str(histogram.encode().decode("ascii"))


@pytest.fixture(scope="module")
def whole() -> Trial:
    """Each route and each flow has other times in each interval."""

    def other(interval: Interval) -> Interval:
        table = timings.of(interval)
        below = {name: scattered(interval.index) for name in table if " " in name}
        return timings.put(interval, {**table, **below})

    made = trial("a", 1)
    return made.model_copy(update={"intervals": tuple(map(other, made.intervals))})


def test_a_table_has_what_each_route_and_each_flow_has(whole: Trial) -> None:
    interval = whole.intervals[0]
    table = timings.of(interval)
    assert set(table) - set(interval.histograms) == {
        "routes 0 service_time",
        "routes 1 service_time",
        "routes 2 service_time",
        "flows 0 iteration_time",
    }
    assert timings.put(interval, table) == interval
    bare = timings.put(interval, {})
    assert timings.of(bare) == {}
    assert bare.traffic is not None
    assert interval.traffic is not None
    assert [one.ok for one in bare.traffic.routes] == [one.ok for one in interval.traffic.routes]


@pytest.mark.parametrize("share", outlined.FIGURES)
def test_routes_and_flows_that_are_kept_tell_the_same(whole: Trial, share: float) -> None:
    joined = merged.of(whole)
    small = outlined.of(coarse.of(joined, 1), outlined.FIGURES)
    assert sum(any(" " in name for name in timings.of(one)) for one in joined.intervals) <= 2
    before, after = Measured(whole).routed, Measured(small).routed
    for one, kept in zip(before.routes, after.routes, strict=True):
        assert (one.ok, one.errors) == (kept.ok, kept.errors)
        assert one.rate == pytest.approx(kept.rate)
        assert one.times.count == kept.times.count
        assert one.times.quantile(share) == kept.times.quantile(share)
    for flow, drawn in zip(before.flows, after.flows, strict=True):
        assert flow.iterations.quantile(share) == drawn.iterations.quantile(share)
    size = len(small.model_dump_json())
    assert size < len(joined.model_dump_json()) / 2


def test_what_no_figure_is_made_of_may_go(whole: Trial) -> None:
    """The distributions of flows stay, and readings around the window's ends."""

    def told(interval: Interval) -> Interval:
        own = dict.fromkeys(("first_byte_time", "iteration_time"), scattered(7))
        return timings.put(interval, {**timings.of(interval), **own})

    full = whole.model_copy(update={"intervals": tuple(map(told, whole.intervals))})
    bare = bared.of(full)
    for told_of, left in zip(full.intervals, bare.intervals, strict=True):
        gone = set(timings.of(told_of)) - set(timings.of(left))
        assert gone == {"first_byte_time", "iteration_time"}
    assert len(bare.subject_samples) < len(full.subject_samples)
    assert bare.subject_samples[-1] == full.subject_samples[-1]
    assert Measured(bare).server_ns == Measured(full).server_ns
    before, after = Measured(full).routed, Measured(bare).routed
    for one, kept in zip(before.routes, after.routes, strict=True):
        assert (one.ok, one.times.text) == (kept.ok, kept.times.text)
    for flow, kept_flow in zip(before.flows, after.flows, strict=True):
        assert flow.iterations.text == kept_flow.iterations.text
