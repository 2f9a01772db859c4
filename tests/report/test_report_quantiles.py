"""Which quantile needs how many messages is one rule, and every output follows it."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.report.synthetic import DEMO, one_trial
from wiretrial.report import gate, load_json, load_lines, metrics, versus
from wiretrial.report.exports import table
from wiretrial.report.measures import Measured
from wiretrial.report.model import build
from wiretrial.results import quantiles
from wiretrial.results.hdr import HIGHEST_NS, LOWEST_NS, SIGNIFICANT_DIGITS, Hdr
from wiretrial.results.model import Judgement, Trial

VALID = Judgement(verdict="valid", bottleneck="server", evidence="its core was 100 % busy")


FEW, MANY = 2, 20
"""Intervals that count: some hundred messages each."""


def trial(intervals: int, block: int = 0) -> Trial:
    """A closed loop of which so many intervals count."""
    draw = random.Random(block)
    shape = replace(DEMO[2], rate=600)
    return one_trial(shape, block, 0, 1, VALID, 1.0, draw, measured=intervals)


def counted(count: int) -> Hdr:
    histogram = HdrHistogram(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
    for value in range(1, count + 1):
        histogram.record_value(value)
    return Hdr(histogram)


@pytest.mark.parametrize(
    ("q", "name", "needed"),
    [
        (0.5, "p50", 20),
        (0.9, "p90", 100),
        (0.99, "p99", 1_000),
        (0.999, "p99.9", 10_000),
        (0.9999, "p99.99", 100_000),
    ],
)
def test_each_quantile_needs_ten_values_beyond(q: float, name: str, needed: int) -> None:
    assert (quantiles.needed(q), quantiles.name(q)) == (needed, name)
    assert quantiles.withheld(needed, q) is None
    reason = f"{name} needs {needed:,} replies; {needed - 1:,} came"
    assert quantiles.withheld(needed - 1, q) == reason


@settings(deadline=None, max_examples=50)
@given(count=st.integers(1, 2_000), q=st.sampled_from((0.5, 0.9, 0.99)))
def test_a_told_quantile_has_ten_values_beyond(count: int, q: float) -> None:
    times = counted(count)
    beyond = sum(n for value, n in times.values if value > times.quantile(q))
    assert (quantiles.told(times, q) is not None) == (beyond >= 10)


def test_the_outputs_withhold_the_same_quantiles_and_say_why() -> None:
    few = trial(FEW)
    came = Measured(few).service_time.count
    assert 100 < came < 1_000
    reason = f"p99 needs 1,000 replies; {came} came"

    assert f"({reason})" in load_lines.render(few)
    told = load_lines.render(few).splitlines()
    (line,) = (one for one in told if one.startswith("  service time"))
    assert "p99 " not in line.replace(reason, "")

    times = load_json(few)["service_time"]
    assert times["p50"] is not None
    assert times["p90"] is not None
    assert times["p99"] is None
    assert times["p999"] is None
    assert times["withheld"]["p99"] == reason
    assert set(times["withheld"]) == {"p99", "p999"}

    (row,) = table.rows([few])
    assert row["p90"] is not None
    assert row["p99"] is None
    assert reason in str(row["withheld"])

    (decision,) = gate.decide([few], [], [gate.parse("service.p99 <= 1h")])
    assert (decision.outcome, decision.text) == ("cannot tell", reason)

    assert "p99" not in versus.of_trials([few])[few.scenario.name]
    assert versus.withheld([few]) == [f"{few.scenario.name}: {reason}"]

    (scenario,) = build([few], question="", title="", command="").scenarios
    assert "p90" in scenario.estimates
    assert "p99" not in scenario.estimates
    assert all(point.q < 0.99 for point in scenario.curve)


def test_no_output_withholds_what_has_messages_enough() -> None:
    many = trial(MANY)
    assert Measured(many).service_time.count >= 1_000
    assert "p99 " in load_lines.render(many)
    assert load_json(many)["service_time"]["p99"] is not None
    assert table.rows([many])[0]["p99"] is not None
    (decision,) = gate.decide([many, trial(MANY, 1)], [], [gate.parse("service.p99 <= 1h")])
    assert decision.outcome == "kept"


@pytest.mark.parametrize("lengths", [(MANY, MANY, FEW), (FEW, MANY, MANY)])
def test_the_gate_judges_no_quantile_that_one_trial_lacks(lengths: Sequence[int]) -> None:
    """The report gives no estimate then; the trials that have it are no fair choice."""
    runs = [trial(length, block) for block, length in enumerate(lengths)]
    (row,) = gate.decide(runs, [], [gate.parse("service.p99 <= 1h")])
    assert row.outcome == "cannot tell"
    assert row.text.startswith("p99 needs 1,000 replies; ")
    assert row.text.endswith(" came, in 1 of 3 trials")
    (scenario,) = build(runs, question="", title="", command="").scenarios
    assert "p99" not in scenario.estimates


def test_the_gate_names_the_baseline_where_that_is_too_short() -> None:
    new, old = [trial(MANY, n) for n in range(3)], [trial(FEW, n) for n in range(3)]
    (row,) = gate.decide(new, old, [gate.parse("service.p99 <= 1.1x")])
    assert row.outcome == "cannot tell"
    assert row.text.startswith("the baseline: p99 needs 1,000 replies; ")


def test_times_of_connections_count_connections() -> None:
    few = trial(FEW)
    histogram = HdrHistogram(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
    for value in (100, 200, 300):
        histogram.record_value(value)
    histograms = {**few.summary.histograms, "connect_time": Hdr(histogram).text}
    summary = few.summary.model_copy(update={"histograms": histograms})
    short = few.model_copy(update={"summary": summary})
    reason = "p50 needs 20 connections; 3 came"
    assert f"connect max 300 ns   ({reason})" in load_lines.render(short)
    assert load_json(short)["connect_time"]["withheld"]["p50"] == reason
    assert metrics.CONNECT.of(Measured(short)) is None


@pytest.mark.parametrize(
    ("failed", "p50", "p99"),
    [(0, 500, 990), (5, 503, 995), (10, 505, 1000), (11, 506, None), (1000, 1000, None)],
)
def test_a_failed_message_is_slower_than_any_reply(failed: int, p50: int, p99: int | None) -> None:
    """Of 1,000 replies of 1 to 1,000 ns, and so many messages that never were answered."""
    times = counted(1000)
    assert quantiles.of_all(times, failed, 0.5) == p50
    assert quantiles.of_all(times, failed, 0.99) == p99


@given(st.integers(1, 400), st.integers(0, 400), st.sampled_from([0.5, 0.9, 0.99]))
@settings(max_examples=200, deadline=None)
def test_it_is_the_quantile_of_the_list_with_endless_times(
    count: int, failed: int, q: float
) -> None:
    """The value with a share of q at or below it, where failures stand at the end of the list."""
    total = count + failed
    rank = max(1, math.ceil(round(q * total, 9)))
    expected = rank if rank <= count else None
    assert quantiles.of_all(counted(count), failed, q) == expected


def test_failures_move_the_figure_that_is_ranked_and_gated() -> None:
    """With 1 % of timeouts, p99 of the replies alone tells nothing of them."""
    one = trial(MANY)
    base = Measured(one)
    clean = metrics.P99.of(base)
    count = base.waiting_time.count
    assert clean is not None

    def failing(each: int) -> Measured:
        intervals = tuple(
            part.model_copy(
                update={"counters": part.counters.model_copy(update={"errors": {"timeout": each}})}
            )
            for part in one.intervals
        )
        return Measured(one.model_copy(update={"intervals": intervals}))

    some, many = failing(1), failing(count // MANY // 20)
    assert some.failed < count / 100 < many.failed
    slower = metrics.P99.of(some)
    assert slower is not None
    assert slower > clean
    assert metrics.P99.of(many) is None
    assert metrics.P50.of(many) is not None
    for one_of_them, words in ((some, "p99 "), (many, "p99 lies among the ")):
        line = next(
            line
            for line in load_lines.render(one_of_them.trial, width=200).splitlines()
            if line.startswith("  with failures")
        )
        assert words in line, line
        told = load_json(one_of_them.trial)["time_with_failures"]
        assert (told["of"], told["failed"]) == ("service_time", one_of_them.failed)
        assert told["p99"] == metrics.P99.of(one_of_them)
    assert load_json(one)["time_with_failures"] is None
    reason = metrics.P99.withheld(many)
    assert reason == f"p99 lies among the {many.failed:,} of {count + many.failed:,} that failed"
