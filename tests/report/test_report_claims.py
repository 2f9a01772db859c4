"""Claims against what was measured: verdicts by interval, and what a bound can tell."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from wiretrial.report import claims, metrics
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult, TrialRow
from wiretrial.results.claims import Claim, Side
from wiretrial.results.model import Verdict
from wiretrial.stats import summary
from wiretrial.stats.bounds import Bound
from wiretrial.words import MESSAGE

SCATTER = (0.99, 1.0, 1.01, 1.0, 0.99, 1.01)
MACHINE = "2 CPUs, Example CPU, Linux 6.1"


def scenario(
    label: str,
    metric: Metric,
    value: float,
    *,
    bound: bool = False,
    scatter: tuple[float, ...] = SCATTER,
    floor_ns: float | None = None,
) -> ScenarioResult:
    """One side, with a trial per number of `scatter`."""
    verdict: Verdict = "client-bound" if bound else "valid"
    figures = [value * one for one in scatter]
    kind: Bound = metric.bound if bound else "exact"
    estimate = summary.summarise(figures)
    return ScenarioResult(
        name=f"{label}: echo",
        group="echo",
        protocol="ws",
        subject=label,
        version="1.2",
        is_open_loop=False,
        from_due=False,
        ranked_by=metric,
        colour=0,
        trials=tuple(
            TrialRow(block, 0, verdict, "server", "", {metric.key: figure})
            for block, figure in enumerate(figures)
        ),
        estimates={
            metric.key: summary.Estimate(
                estimate.median, estimate.low, estimate.high, len(figures), estimate.rule, kind
            )
        },
        at_least=bound,
        curve=(),
        bottlenecks={},
        what=MESSAGE,
        due=MESSAGE,
        label=label,
        levels={"workload": "echo", "payload": 20},
        twin_of=None,
        baseline=None,
        language="C",
        is_driven=False,
        floor_ns=floor_ns,
        wanted=len(scatter) if floor_ns else None,
    )


def claim(metric: Metric, **told: object) -> Claim:
    ratio = {"to": Side(subject="b", workload="echo")} if "published" in told else {}
    return Claim.model_validate(
        {
            "text": "T",
            "source": "S",
            "metric": metric.key,
            "of": Side(subject="a", workload="echo"),
            **ratio,
            **told,
        }
    )


def judged(
    metric: Metric, published: float, a: ScenarioResult, b: ScenarioResult
) -> claims.ClaimRow:
    (row,) = claims.judge([claim(metric, published=published)], [a, b], MACHINE)
    return row


NO, YES, OPEN = "not reproduced", "reproduced", "cannot be told"


@pytest.mark.parametrize(
    ("metric", "of_bound", "to_bound", "below", "within", "above"),
    [
        # Our ratio is 2; published is 4 (ours lies below it), 2, and 1 (ours lies above it).
        (metrics.THROUGHPUT, False, False, NO, YES, NO),
        (metrics.THROUGHPUT, True, False, OPEN, OPEN, NO),
        (metrics.THROUGHPUT, False, True, NO, OPEN, OPEN),
        (metrics.THROUGHPUT, True, True, OPEN, OPEN, OPEN),
        # A time is at most what it is where the generator was the limit.
        (metrics.ELAPSED, False, False, NO, YES, NO),
        (metrics.ELAPSED, True, False, NO, OPEN, OPEN),
        (metrics.ELAPSED, False, True, OPEN, OPEN, NO),
        (metrics.ELAPSED, True, True, OPEN, OPEN, OPEN),
    ],
)
def test_a_bound_refutes_only_on_its_closed_side(
    metric: Metric, of_bound: bool, to_bound: bool, below: str, within: str, above: str
) -> None:
    a = scenario("a", metric, 2e9, bound=of_bound)
    b = scenario("b", metric, 1e9, bound=to_bound)
    found = [judged(metric, published, a, b).verdict for published in (4.0, 2.0, 1.0)]
    assert found == [below, within, above]


@pytest.mark.parametrize(("bound", "greater", "smaller"), [(False, YES, NO), (True, YES, OPEN)])
def test_a_time_that_is_a_bound_may_keep_a_limit_and_never_breaks_one(
    bound: bool, greater: str, smaller: str
) -> None:
    a = scenario("a", metrics.ELAPSED, 2e9, bound=bound)
    told = [claim(metrics.ELAPSED, below_ms=ms) for ms in (4000, 1000)]
    assert [row.verdict for row in claims.judge(told, [a])] == [greater, smaller]


def test_a_ratio_says_that_it_is_a_bound() -> None:
    a = scenario("a", metrics.THROUGHPUT, 2e5, bound=True)
    row = judged(metrics.THROUGHPUT, 4.0, a, scenario("b", metrics.THROUGHPUT, 1e5))
    assert row.here is not None
    assert row.here.bound == "at least"
    assert row.why == "at least that: the generator was the limit"


@pytest.mark.parametrize(
    ("published", "expected"),
    [(1.55, NO), (1.65, YES), (2.0, YES), (2.45, YES), (2.6, NO)],
)
def test_the_interval_lies_within_a_factor_of_the_published_ratio(
    published: float, expected: str
) -> None:
    a, b = scenario("a", metrics.WALL, 2e3), scenario("b", metrics.WALL, 1e3)
    assert judged(metrics.WALL, published, a, b).verdict == expected


def test_width_confirms_nothing() -> None:
    """A wide interval that holds the published ratio is no reproduction of it."""
    a = scenario("a", metrics.WALL, 2e3, scatter=(0.6, 1.6, 1.0, 0.7, 1.4, 1.0))
    row = judged(metrics.WALL, 2.0, a, scenario("b", metrics.WALL, 1e3))
    assert row.here is not None
    assert row.here.low is not None
    assert row.here.low < 2.0 < (row.here.high or 0.0)
    assert row.verdict == OPEN
    assert row.why == "the interval lies neither within 1.60 to 2.50 nor outside"


def test_what_differs_stands_with_what_is_not_reproduced() -> None:
    a, b = scenario("a", metrics.WALL, 2e3), scenario("b", metrics.WALL, 1e3)
    row = judged(metrics.WALL, 6.0, a, b)
    assert (
        row.why
        == f"the ratio is 3.00 times smaller here; here a 1.2 and b 1.2, 20 bytes, {MACHINE}"
    )
    other = judged(metrics.WALL, 0.5, a, b)
    assert other.why.startswith("the other way round here; here a 1.2")
    # As much on both sides has no direction.
    parity = judged(metrics.WALL, 0.99, a, b)
    assert parity.why.startswith("the ratio is 2.02 times greater here; here a 1.2")


def test_one_trial_without_interval_reproduces_nothing() -> None:
    a = scenario("a", metrics.P50, 2e6, scatter=(1.0,))
    (row,) = claims.judge([claim(metrics.P50, below_ms=5)], [a])
    assert (row.verdict, row.why) == (OPEN, "2.00 ms here; no interval from 1 trial")


def test_a_time_that_mostly_waits_may_scatter_down_to_its_floor() -> None:
    def at(label: str, seconds: float) -> ScenarioResult:
        return scenario(label, metrics.ELAPSED, seconds * 1e9, scatter=(1.0,), floor_ns=100e9)

    near = judged(metrics.ELAPSED, 1.0, at("a", 101), at("b", 102))
    assert near.verdict == YES
    assert near.why.endswith("one trial each, which mostly waits")
    # 26 s above the floor: as much as none, or 52.
    assert judged(metrics.ELAPSED, 1.24, at("a", 126), at("b", 101)).verdict == OPEN
    assert judged(metrics.ELAPSED, 3.4, at("a", 106), at("b", 102)).verdict == NO


def test_arithmetic_explains_only_what_the_source_says() -> None:
    told = {"arithmetic": {"formula": "4 / 2", "value": 2.0}}
    row, *_ = claims.judge([claim(metrics.WALL, published=2.0, **told)], [])
    assert (row.verdict, row.text) == ("arithmetic", "T")
    with pytest.raises(ValidationError, match="the source itself gives"):
        claim(metrics.WALL, published=2.0, is_ours=True, **told)


def test_a_reading_of_ours_is_marked() -> None:
    (row,) = claims.judge([claim(metrics.WALL, published=2.0, is_ours=True)], [])
    assert row.text == "T (our reading)"


def test_a_claim_s_own_factor_is_of_the_past() -> None:
    assert claim(metrics.WALL, published=2.0, within=1.02) == claim(metrics.WALL, published=2.0)
